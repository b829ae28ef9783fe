package peer

import (
	"bufio"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Round is one generation as an engine printed it. Times are milliseconds,
// with the one decimal of the experiment's format.
type Round struct {
	Read    float64   `json:"read"`    // opening until the directory is known; 0 where the engine does not tell it apart
	Load    float64   `json:"load"`    // read and build: from opening to a model that can run
	Prompt  int       `json:"prompt"`  // tokens of the prompt
	Prefill float64   `json:"prefill"` // the prompt, until the first new token
	Decode  float64   `json:"decode"`  // all decode steps
	Steps   []float64 `json:"steps"`   // each decode step

	announced int // decode steps, as the round's line says
}

// Output is what one process of an engine printed.
type Output struct {
	About  []string `json:"about"` // the lines that begin with "# ", without it
	Rounds []Round  `json:"rounds"`
	Text   string   `json:"text"`
	IDs    []int    `json:"ids"`
}

var (
	roundLine = regexp.MustCompile(`^\[(?:cpu|metal) round (\d+)\] (?:read gguf ([\d.]+) ms, build model ([\d.]+) ms|load ([\d.]+) ms), ` +
		`prefill \((\d+) tokens?\) ([\d.]+) ms, (\d+) decode steps ([\d.]+) ms(?: \(mean [\d.]+ ms\))?, total ([\d.]+) ms$`)
	detailLine = regexp.MustCompile(`^\[(?:cpu|metal) round (\d+)\] (decode steps \(ms\)|text|ids): (.*)$`)
)

// ParseOutput reads the lines that `introgen cpu`, `introgen metal` and the peers print. It takes
// only whole rounds, numbered from 1, each with one time for every decode step:
// an engine that printed less did not do the work.
func ParseOutput(s string) (Output, error) {
	var out Output
	lines := bufio.NewScanner(strings.NewReader(s))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if about, ok := strings.CutPrefix(line, "# "); ok {
			out.About = append(out.About, about)
			continue
		}
		if err := out.line(line); err != nil {
			return Output{}, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return Output{}, err
	}
	if len(out.Rounds) == 0 {
		return Output{}, fmt.Errorf("no line of a round among %d bytes of output", len(s))
	}
	for i, r := range out.Rounds {
		if len(r.Steps) == 0 {
			return Output{}, fmt.Errorf("round %d has no line of decode steps", i+1)
		}
	}
	return out, nil
}

// line takes one line. Lines of another form are let pass: an engine may print
// more than is read here.
func (o *Output) line(line string) error {
	if m := roundLine.FindStringSubmatch(line); m != nil {
		return o.round(m)
	}
	m := detailLine.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	if number, _ := strconv.Atoi(m[1]); number != len(o.Rounds) || number == 0 {
		return fmt.Errorf("%s of round %s after %d rounds", m[2], m[1], len(o.Rounds))
	}
	switch m[2] {
	case "text":
		text, err := strconv.Unquote(m[3])
		if err != nil {
			return fmt.Errorf("text is not a quoted string: %s", m[3])
		}
		o.Text = text
	case "ids":
		if len(o.Rounds) > 1 {
			return nil // one round's ids are enough: greedy rounds repeat
		}
		for _, word := range strings.Fields(m[3]) {
			id, err := strconv.Atoi(word)
			if err != nil {
				return fmt.Errorf("id %q is not a number", word)
			}
			o.IDs = append(o.IDs, id)
		}
	default:
		return o.Rounds[len(o.Rounds)-1].steps(m[3])
	}
	return nil
}

func (o *Output) round(m []string) error {
	var f [10]float64
	for i, word := range m[1:] {
		if word == "" {
			continue // the other form of reading and building
		}
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", word)
		}
		f[i+1] = v
	}
	if int(f[1]) != len(o.Rounds)+1 {
		return fmt.Errorf("round %d comes after %d rounds", int(f[1]), len(o.Rounds))
	}
	o.Rounds = append(o.Rounds, Round{
		Read: f[2], Load: f[2] + f[3] + f[4], Prompt: int(f[5]), Prefill: f[6], Decode: f[8], announced: int(f[7])})
	return nil
}

// steps takes the times of the decode steps, as many as the round's line said.
func (r *Round) steps(words string) error {
	for _, word := range strings.Fields(words) {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return fmt.Errorf("decode step %q is not a number", word)
		}
		r.Steps = append(r.Steps, v)
	}
	if len(r.Steps) != r.announced {
		return fmt.Errorf("%d decode steps are listed, %d were announced", len(r.Steps), r.announced)
	}
	return nil
}
