package benchtext

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
)

// Write writes a recording in the Go benchmark format.
func Write(w io.Writer, f *recording.File) error {
	text, _ := Text(f)
	_, err := w.Write(text)
	return err
}

// Text is what Write writes, and which of its lines, from 1, is which sample.
func Text(f *recording.File) ([]byte, map[int]Line) {
	var b bytes.Buffer
	taken := breakdown.Of(f)
	lines := lines(taken)
	for _, c := range comments(f) {
		b.WriteString("# " + oneLine(c) + "\n")
	}
	for _, u := range units {
		if !used(lines, u.name) {
			continue
		}
		better := map[bool]string{true: "higher", false: "lower"}[u.higher]
		fmt.Fprintf(&b, "Unit %s better=%s", u.name, better)
		if u.exact && isExact(lines, u.name) {
			b.WriteString(" assume=exact")
		}
		b.WriteByte('\n')
	}
	for _, c := range configuration(taken) {
		if len(lines) == 0 {
			break // of nothing that was measured
		}
		fmt.Fprintf(&b, "%s: %s\n", c.name, c.value)
	}
	at := map[int]Line{}
	n := bytes.Count(b.Bytes(), []byte("\n"))
	for _, l := range lines {
		l.Values = slices.DeleteFunc(l.Values, func(v Value) bool { return v.Value <= 0 }) // times, as add does
		if len(l.Values) == 0 {
			continue
		}
		fmt.Fprintf(&b, "Benchmark%s\t%d", l.Name, l.Iterations)
		for _, v := range l.Values {
			b.WriteString("\t" + figures.Exact(v.Value) + " " + v.Unit)
		}
		b.WriteByte('\n')
		n++
		at[n] = l
	}
	return b.Bytes(), at
}

func used(lines []Line, unit string) bool {
	return slices.ContainsFunc(lines, func(l Line) bool {
		return slices.ContainsFunc(l.Values, func(v Value) bool { return v.Unit == unit })
	})
}

// isExact says whether all samples of one name have the same count. What was
// meant to be exact and is not is judged as a measurement.
func isExact(lines []Line, unit string) bool {
	seen := map[string]float64{}
	for _, l := range lines {
		for _, v := range l.Values {
			if v.Unit != unit {
				continue
			}
			if before, ok := seen[l.Name]; ok && before != v.Value {
				return false
			}
			seen[l.Name] = v.Value
		}
	}
	return true
}

// KeyContent is the key of the line that says what the model file holds, by its
// SHA-256: files of one name and size may be different models.
const KeyContent = "model-sha256"

// KeyPrompt is the key of the line that names the prompt's ids
// (recording.PromptName): prompts of one length may be different ones.
const KeyPrompt = "prompt-ids"

// pair is a line key: value.
type pair struct{ name, value string }

// configuration is what samples must share to be compared. What differs within
// the recording, as a plan may want it, is left to names and comments.
func configuration(f *breakdown.File) []pair {
	var out []pair
	runs := samples(f.File)
	add := func(name string, of func(*recording.Run) string) {
		value := ""
		for i, r := range runs {
			if v := oneLine(of(r)); i == 0 {
				value = v
			} else if v != value {
				return
			}
		}
		if value != "" {
			out = append(out, pair{name, value})
		}
	}
	add("goos", func(r *recording.Run) string { return r.Header.Host.OS })
	add("goarch", func(r *recording.Run) string { return r.Header.Host.Arch })
	add("cpu", func(r *recording.Run) string {
		if r.Header.Host.Cores == 0 {
			return r.Header.Host.CPU
		}
		return strings.TrimSpace(fmt.Sprintf("%s (%d cores)", r.Header.Host.CPU, r.Header.Host.Cores))
	})
	add("model", func(r *recording.Run) string {
		if r.Header.Model.Types == "" {
			return r.Header.Model.File
		}
		return fmt.Sprintf("%s (%s)", r.Header.Model.File, r.Header.Model.Types)
	})
	add("workload", func(r *recording.Run) string { return workload(f.Run(r)) })
	add(KeyContent, func(r *recording.Run) string { return r.Header.Model.Digest })
	add(KeyPrompt, prompt)
	return out
}

// prompt names the ids of the rounds' prompt, if all rounds have the same.
func prompt(r *recording.Run) string {
	name := ""
	for i, round := range r.Rounds {
		one := recording.PromptName(r.PromptIDs(round.Number))
		if i > 0 && one != name {
			return ""
		}
		name = one
	}
	return name
}

// workload is what the rounds of a run did, if all did the same.
func workload(r *breakdown.Run) string {
	if p := r.Header.Program; p != nil {
		return strings.Join(append([]string{filepath.Base(p.Path)}, p.Args...), " ")
	}
	value := ""
	prompts := map[int]int{}
	for _, x := range r.Run.Rounds {
		prompts[x.Number] = x.Prompt
	}
	for i, round := range wholeRounds(r) {
		made := round.Made()
		if made < 0 {
			made = len(round.Steps())
		}
		v := fmt.Sprintf("%d prompt tokens, %d decode steps", prompts[round.Number], made)
		if i > 0 && v != value {
			return ""
		}
		value = v
	}
	return value
}

// samples are the runs that lines takes samples of.
func samples(f *recording.File) []*recording.Run {
	if f.Plan == nil {
		return f.Runs
	}
	return f.Counted("")
}

// comments say what stands behind the samples, for people.
func comments(f *recording.File) []string {
	var out []string
	head := f.Header
	if head == nil && len(f.Runs) > 0 {
		head = &f.Runs[0].Header
	}
	if head != nil {
		tool := strings.TrimSpace("introgen " + head.Tool.Version + " " + head.Tool.Commit)
		out = append(out, fmt.Sprintf("%s: %s", tool, strings.Join(head.Args, " ")))
		if !head.Started.IsZero() {
			out = append(out, fmt.Sprintf("started %s on %s, %s", head.Started.UTC().Format("2006-01-02 15:04:05 UTC"), head.Host.Name, head.Host.Build))
		}
	}
	if p := f.Plan; p != nil {
		out = append(out, fmt.Sprintf("a plan of %s; %s, of which %d count; a line is a run", figures.Number(len(p.Arms), "arm"), figures.Number(len(f.Runs), "run"), len(f.Counted(""))))
	} else {
		if head != nil && head.Program != nil {
			out = append(out, "a program that was recorded, and those that it started; a line is a process")
		} else {
			out = append(out, "a run of one process; a line is a round")
		}
		for _, r := range f.Runs {
			if r.End != nil && r.End.Code != 0 {
				out = append(out, "it "+r.Ending())
			}
		}
	}
	seen := map[string]bool{}
	for _, r := range samples(f) {
		for _, c := range about(r) {
			if !seen[c] && len(seen) < maxComments {
				seen[c] = true
				out = append(out, c)
			}
		}
	}
	if f.Broken != "" {
		out = append(out, "the recording is not whole: "+f.Broken)
	}
	for _, w := range f.Warnings[:min(len(f.Warnings), maxComments)] {
		out = append(out, "the recording: "+w)
	}
	return out
}

// maxComments bounds what is said of many runs that all differ, as nonces do.
const maxComments = 20

// about says what a run ran on and under which state of which cache.
func about(r *recording.Run) []string {
	arm := ""
	if r.Start != nil {
		arm = r.Start.Arm + ": "
	}
	var out []string
	if s := r.Subject; s != nil {
		out = append(out, fmt.Sprintf("%s%s; read by %s; tokenizer %s", arm, s.Engine, s.IO, s.Tokenizer))
	}
	if d := r.Device; d != nil {
		kernels := ""
		if d.Kernels != "" {
			kernels = "; kernels " + d.Kernels
		}
		about := []string{d.Driver, d.Name, d.Compiler}
		if d.Compiler == "" {
			about = about[:2]
		}
		out = append(out, arm+"driver "+strings.Join(about, ", ")+kernels)
	}
	for _, e := range r.Evidence {
		if e.What == recording.EvidenceMetalCache {
			out = append(out, fmt.Sprintf("%scache: libraries %d hits and %d misses, pipelines %d and %d",
				arm, e.LibraryHits, e.LibraryMisses, e.PipelineHits, e.PipelineMisses))
			if e.Archive != nil {
				out = append(out, fmt.Sprintf("%sarchive: %d libraries and %d pipelines", arm, e.Archive.Libraries, e.Archive.Pipelines))
			}
		}
	}
	return out
}

func oneLine(s string) string {
	return strings.TrimSpace(sanitize.Line(s))
}
