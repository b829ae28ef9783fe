package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/bench"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/view"
)

// TestViewsAgree looks at every figure that more than one view shows, of kept
// recordings and of some that are made up to bring differences out, and holds the
// views to each other: one figure has one definition.
func TestViewsAgree(t *testing.T) {
	all := madeUps(t, t.TempDir())
	for _, name := range []string{"experiment-states", "experiment-sweep"} {
		all[name] = filepath.Join("..", "..", "results", "recorded", name+recording.Ending)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := seen{}
		s.all(t, all[name])
		if differ := s.differences(); len(differ) > 0 || len(s) < 30 {
			t.Errorf("%s: of %d figures views do not agree about\n\t%s", name, len(s), strings.Join(differ, "\n\t"))
		}
	}
}

// seen is what views show: figure, view, text. A text that begins with = is a
// number of nanoseconds with all its digits.
type seen map[string]map[string]string

func (s seen) add(figure, view, text string) {
	if text == "" {
		return
	}
	if s[figure] == nil {
		s[figure] = map[string]string{}
	}
	s[figure][view] = text
}

func (s seen) exact(figure, view string, ns float64) {
	s.add(figure, view, "="+strconv.FormatFloat(ns, 'f', -1, 64))
}

// ms adds what a view shows in milliseconds with all digits.
func (s seen) ms(figure, view, text string) {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		s.exact(figure, view, v*1e6)
	}
}

// ratio adds a ratio to nine digits.
func (s seen) ratio(figure, view, text string) {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		s.add(figure, view, strconv.FormatFloat(v, 'g', 9, 64))
	}
}

// agree says whether two texts may be one figure.
func agree(a, b string) bool {
	numberA, exactA := strings.CutPrefix(a, "=")
	numberB, exactB := strings.CutPrefix(b, "=")
	x, _ := strconv.ParseFloat(numberA, 64)
	y, _ := strconv.ParseFloat(numberB, 64)
	switch {
	case exactA && exactB:
		return math.Abs(x-y) < 0.6+1e-9*math.Abs(x) // half a nanosecond may be left out
	case exactA:
		return inWords(x) == b
	case exactB:
		return inWords(y) == a
	}
	return a == b
}

func inWords(ns float64) string { return figures.Milliseconds(time.Duration(math.Round(ns))) }

func (s seen) differences() []string {
	var out []string
	for _, figure := range slices.Sorted(maps.Keys(s)) {
		views := slices.Sorted(maps.Keys(s[figure]))
		same := true
		for i, v := range views {
			for _, w := range views[:i] {
				same = same && agree(s[figure][v], s[figure][w])
			}
		}
		if same {
			continue
		}
		for i, v := range views {
			text := s[figure][v]
			if number, ok := strings.CutPrefix(text, "="); ok {
				ns, _ := strconv.ParseFloat(number, 64)
				text = inWords(ns)
			}
			views[i] = v + " " + text
		}
		out = append(out, figure+": "+strings.Join(views, ", "))
	}
	return out
}

// printed is what a command prints; "" where it refuses.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if run(t.Context(), append([]string{"introgen"}, args...), &out, &errs) != exitOK {
		return ""
	}
	return out.String()
}

// written is what a document has in CSV.
func written(t *testing.T, doc *table.Document, err error) string {
	t.Helper()
	if err != nil {
		return ""
	}
	var b strings.Builder
	if err := doc.Write(&b, table.CSV); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (s seen) all(t *testing.T, path string) {
	t.Helper()
	f, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	arms := s.compare(t, printed(t, "compare", path, "--style", "csv"))
	s.benchText(t, f, arms, printed(t, "show", path, "--as", "bench"))
	if f.Plan == nil {
		arm := arms[0]
		columns := about(path)
		s.add(arm+": to token 1", "list", columns[4])
		s.add(arm+": decode step", "list", columns[5])
		if s[arm+": to token 1"]["compare"] == "" {
			s.add(arm+": to token 1", "compare", figures.None)
		}
		s.console(arm, printed(t, "show", path))
		s.phases(t, arm, written(t, view.Document(f), nil))
		s.json(t, arm, printed(t, "show", path, "--as", "json"))
	} else {
		a, err := bench.Of(breakdown.Of(f), bench.Metrics)
		if err != nil {
			t.Fatal(err)
		}
		doc := a.Document()
		s.bench(t, written(t, doc, nil))
		s.diff(t, printed(t, "diff", path, "--style", "csv"))
		s.reasons(f, "bench", written(t, doc, nil))
		s.reasons(f, "compare", printed(t, "compare", path, "--style", "csv"))
	}
	s.sweep(t, printed(t, "sweep", path, "--style", "csv"))
	out := printed(t, "bill", path, "--style", "csv")
	s.bill(t, f, out)
	if len(arms) > 0 && f.Plan == nil {
		s.add(arms[0]+": its parts add up", "bill", strconv.FormatBool(out != ""))
	}
}

// compare returns the arms.
func (s seen) compare(t *testing.T, out string) []string {
	t.Helper()
	tables := csvTables(t, out)
	var arms []string
	for _, row := range tables["ms:"] {
		for column, text := range row {
			if _, ok := row[column+" lo"]; !ok {
				continue
			}
			arm := column
			if before, ok := strings.CutSuffix(column, "warm-process"); ok {
				arm = strings.TrimSpace(before) + ", later rounds"
				if before == "" {
					arm = "warm-cache, later rounds"
				}
			}
			if row["stage"] == "runs" {
				arms = append(arms, arm)
			} else if row["stage unit"] == "ms" {
				s.ms(arm+": "+row["stage"], "compare", text)
			}
		}
	}
	for _, row := range tables["multiples"] {
		for column, text := range row {
			if column != "stage" && row[column+" lo"] != "" {
				s.ratio(column+" against the first: "+row["stage"], "compare", text)
			}
		}
	}
	slices.Sort(arms)
	return arms
}

// benchNames are the names of figures in the Go benchmark format.
var benchNames = map[string]string{"FirstToken": "to token 1", "SecondToken": "to token 2", "Decode/step=1": "first decode step", "Decode/step=later": "later steps",
	"ReadGGUF": "read gguf", "Build": "build model", "Prefill": "prefill", "Total": "total", "Process": "process"}

func (s seen) benchText(t *testing.T, f *recording.File, arms []string, out string) {
	t.Helper()
	of := map[string][]float64{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != "ns/op" {
			continue
		}
		ns, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(fields[0], "Benchmark")
		of[name] = append(of[name], ns)
	}
	for name, figure := range benchNames {
		if f.Plan == nil {
			for _, ns := range of[name] {
				s.exact(arms[0]+": "+figure, "bench text", ns)
				s.exact(arms[0]+", round 1: "+figure, "bench text", ns)
			}
			for i, ns := range of[name+"/round=later"] {
				s.exact(fmt.Sprintf("%s, round %d: %s", arms[0], i+2, figure), "bench text", ns)
			}
			continue
		}
		for _, a := range f.Plan.Arms {
			suffix := "/arm=" + a.Name
			for factor, level := range a.Levels {
				suffix = "/" + factor + "=" + level
			}
			for arm, name := range map[string]string{a.Name: name + suffix, a.Name + ", later rounds": name + "/round=later" + suffix} {
				if v := of[name]; len(v) > 0 {
					s.exact(arm+": "+figure, "bench text", middle(v))
				}
			}
		}
		if v := of[name+"/cache=warm-process"]; len(v) > 0 {
			s.exact("warm-cache, later rounds: "+figure, "bench text", middle(v))
		}
	}
}

var (
	roundLine = regexp.MustCompile(`(?m)^\[\S+ round (\d+)\] read gguf (\S+) ms, build model (\S+) ms, prefill \(\S+ tokens\) (\S+) ms, .* decode steps (\S+) ms.*, total (\S+) ms$`)
	phaseLine = regexp.MustCompile(`(?m)^(\d+) +(build model|prefill|decode step \d+|median of \d+ more)  +(.*)$`)
	chainLine = regexp.MustCompile(`longest chain: (.*), (\S+) of (\S+) ms:`)
	leftLine  = regexp.MustCompile(`Compiling takes (\S+) ms.* (\S+) ms would be left: (.*?)(; token 1|\.$)`)
)

func (s seen) console(arm, out string) {
	for _, m := range roundLine.FindAllStringSubmatch(out, -1) {
		for i, figure := range []string{"read gguf", "build model", "prefill", "decode steps", "total"} {
			if m[i+2] != figures.None { // what is missing is nowhere
				s.add(fmt.Sprintf("%s, round %s: %s", arm, m[1], figure), "console", m[i+2])
			}
		}
	}
	for _, m := range phaseLine.FindAllStringSubmatch(out, -1) {
		s.add(arm+": its parts add up", "console", "true")
		for i, text := range strings.Fields(m[3]) {
			names := []string{"wall", "compile", "weights", "encode", "commit", "wait", "unattr.", "GPU", "dispatches", "encoders", "buffers"}
			s.add(fmt.Sprintf("%s, %s of round %s: %s", arm, m[2], m[1], names[i]), "console", text)
		}
	}
	if m := chainLine.FindStringSubmatch(out); m != nil {
		s.add(arm+": longest chain", "console", m[1]+" "+m[2])
		s.add(arm+": compiling", "console", m[3])
	}
}

func (s seen) phases(t *testing.T, arm, out string) {
	t.Helper()
	tables := csvTables(t, out)
	for _, row := range tables["phases"] {
		for column, figure := range map[string]string{"read": "read gguf", "build": "build model", "prefill": "prefill", "step 1": "first decode step", "median of later": "later steps", "decode": "decode steps"} {
			if row[column] != figures.None {
				s.add(fmt.Sprintf("%s, round %s: %s", arm, row["round"], figure), "table", row[column])
			}
		}
	}
	for _, row := range tables["what"] {
		round, phase, _ := strings.Cut(row["round, phase"], ", ")
		for _, column := range []string{"wall", "compile", "weights", "encode", "commit", "wait", "unattr.", "GPU"} {
			s.add(fmt.Sprintf("%s, %s of round %s: %s", arm, phase, round, column), "table", row[column])
		}
	}
}

func (s seen) json(t *testing.T, arm, out string) {
	t.Helper()
	var file struct {
		Runs []struct {
			Rounds []struct {
				Round                int
				Read, Build, Prefill *float64
				Steps                []*float64 `json:"steps_ns"`
			}
			Phases []map[string]any `json:"device_phases"`
		}
	}
	out = regexp.MustCompile(`"(read|build|prefill)_ns"`).ReplaceAllString(out, `"$1"`)
	if err := json.Unmarshal([]byte(out), &file); err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Runs[0].Rounds {
		for figure, ns := range map[string]*float64{"read gguf": r.Read, "build model": r.Build, "prefill": r.Prefill} {
			if ns != nil {
				s.exact(fmt.Sprintf("%s, round %d: %s", arm, r.Round, figure), "json", *ns)
			}
		}
	}
	later := map[string][]float64{} // of steps of later rounds
	for _, p := range file.Runs[0].Phases {
		for key, v := range p {
			name, ok := strings.CutSuffix(key, "_ns")
			if name == "gpu" {
				name = "GPU"
			}
			if !ok {
				continue
			}
			s.exact(fmt.Sprintf("%s, %v of round %v: %s", arm, p["phase"], p["round"], name), "json", v.(float64))
			if p["round"].(float64) > 1 && strings.HasPrefix(p["phase"].(string), "decode step") {
				later[name] = append(later[name], v.(float64))
			}
		}
	}
	for name, v := range later {
		s.exact(arm+", of a decode step: "+name, "json", middle(v))
	}
}

func (s seen) bench(t *testing.T, out string) {
	t.Helper()
	for _, row := range csvTables(t, out)["ms:"] {
		s.ms(row["arm"]+": "+row["metric"], "bench", row["median ms"])
		if row["ratio lo"] != "" {
			s.ratio(row["arm"]+" against the first: "+row["metric"], "bench", row["ratio"])
		}
	}
}

// diff has the pairs of two arms, times before rates.
func (s seen) diff(t *testing.T, out string) {
	t.Helper()
	for _, row := range csvTables(t, out)["the"] {
		figure := "b against the first: " + benchNames[row["pairs"]]
		if s[figure]["diff"] == "" && benchNames[row["pairs"]] != "" { // else a rate
			s.ratio(figure, "diff", row["ratio"])
		}
	}
}

// reasons are the sentences that say why runs do not count.
func (s seen) reasons(f *recording.File, view, out string) {
	var said []string
	for line := range strings.Lines(out) {
		for _, r := range f.Runs {
			if why := r.Uncounted(); why != "" && strings.Contains(line, why) && !slices.Contains(said, line) {
				said = append(said, line)
			}
		}
	}
	s.add("why runs do not count", view, fmt.Sprintf("%q", said))
}

func (s seen) sweep(t *testing.T, out string) {
	t.Helper()
	for _, row := range csvTables(t, out)["ms:"] {
		arm := cmp.Or(row["arm"], "per-buffer="+row["per-buffer"])
		s.ms(arm+": decode step", "sweep", row["decode step ms"])
		for column, name := range map[string]string{"encode ms": "encode", "commit ms": "commit", "wait ms": "wait", "GPU ms": "GPU"} {
			s.ms(arm+", of a decode step: "+name, "sweep", row[column])
		}
	}
}

func (s seen) bill(t *testing.T, f *recording.File, out string) {
	t.Helper()
	for _, block := range strings.Split(out, "\n\n") {
		title, _, _ := strings.Cut(strings.TrimPrefix(block, "# "), ": ")
		if f.Plan == nil {
			compile := map[string]float64{}
			for _, row := range csvTables(t, strings.Split(block, "\n# Named")[0])[title+":"] {
				phase := strings.Replace(row["part of"], "decode step", "decode step 1", 1)
				if strings.HasPrefix(row["part"], "LIB ") || strings.HasPrefix(row["part"], "PIPE ") {
					ns, _ := strconv.ParseFloat(row["ms"], 64)
					compile[phase] += ns * 1e6
				}
				kind := map[string]string{"weights to the device": "weights", "encoding": "encode", "committing": "commit", "waiting for the device": "wait"}[row["part"]]
				if kind != "" && !strings.HasPrefix(phase, "later") {
					s.ms(fmt.Sprintf("%s, %s of round 1: %s", title, phase, kind), "bill", row["ms"])
				}
			}
			for phase, ns := range compile {
				s.exact(fmt.Sprintf("%s, %s of round 1: compile", title, phase), "bill", ns)
			}
		}
		if m := leftLine.FindStringSubmatch(block); m != nil {
			s.add(title+": longest chain", "bill", m[3]+" "+m[2])
			s.add(title+": compiling", "bill", m[1])
		}
	}
}
