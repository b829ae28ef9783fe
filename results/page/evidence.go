package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/foreign"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/shellwords"
)

// evidence is what the recording's figures rest on: where, with what and how it was
// made, what contradicts it, and what did not count.
func (s subject) evidence() []block {
	out := []block{{Facts: s.machine()}}
	if d := s.knobs(); len(d.Blocks) > 0 {
		out = append(out, block{Details: d})
	}
	if t := s.states(); len(t.Rows) > 0 {
		out = append(out, block{Table: &t})
	}
	if t := s.readings(); len(t.Rows) > 0 {
		out = append(out, block{Details: &details{"Readings of the machine", []block{{Table: &t}}}})
	}
	if bad := s.uncounted(); len(bad) > 0 {
		out = append(out, block{Details: &details{fmt.Sprintf("Runs that do not count, or that something tainted (%d)", len(bad)), []block{{List: limited(bad)}}}})
	}
	warnings := slices.Clone(s.file.Warnings)
	if s.file.Broken != "" {
		warnings = append(warnings, s.file.Broken)
	}
	var notes []string
	for _, r := range s.file.Runs {
		for _, n := range r.Notes {
			notes = append(notes, n.Text)
		}
		if text := foreign.Lost(r); text != "" {
			warnings = append(warnings, text)
		}
		if n := r.LostSpans(); n > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %d spans are missing", runName(r, samples.Shown(r)), n))
		}
	}
	if s.file.Parent != nil {
		for _, n := range s.file.Parent.Notes {
			notes = append(notes, n.Text)
		}
	}
	if len(warnings) > 0 {
		out = append(out, block{Details: &details{fmt.Sprintf("Warnings of reading the recording (%d)", len(warnings)), []block{{List: limited(warnings)}}}})
	}
	if notes = slices.Compact(notes); len(notes) > 0 {
		out = append(out, block{Details: &details{fmt.Sprintf("What was said while it ran (%d)", len(notes)), []block{{List: limited(notes)}}}})
	}
	return out
}

// limited are texts as sentences, not more of them than a reader can take.
func limited(texts []string) []string {
	more := len(texts) - mostNotes
	if more > 0 {
		texts = texts[:mostNotes]
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = sentence(capital(t))
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("%d more are not shown here.", more))
	}
	return out
}

// machine is what the header says.
func (s subject) machine() []fact {
	h := s.header()
	if h == nil {
		return []fact{{"recording", "it has no header"}}
	}
	args, recorded, cores := h.Args, "", ""
	if len(args) == 0 && h.Command != "" {
		args = []string{h.Command}
	}
	if !h.Started.IsZero() {
		recorded = h.Started.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	if h.Host.Cores > 0 {
		cores = figures.Number(h.Host.Cores, "core")
	}
	facts := []fact{
		{"command", clean(shellwords.Join(slices.Concat([]string{"introgen"}, args)))},
		{"recorded", recorded},
		{"machine", clean(strings.Join(slices.DeleteFunc([]string{h.Host.Name, h.Host.CPU, cores, memory(h.Host.MemoryBytes)}, empty), ", "))},
		{"system", clean(strings.TrimSpace(h.Host.OS + " " + h.Host.Arch + " " + h.Host.Build))},
		{"introgen", clean(strings.Join(slices.DeleteFunc([]string{h.Tool.Version, h.Tool.Commit, h.Tool.Go}, empty), ", "))},
	}
	var program *recording.Program
	model, subject, device := h.Model, (*recording.Subject)(nil), (*recording.Device)(nil)
	for _, r := range s.file.Runs {
		if model.File == "" {
			model = r.Header.Model
		}
		if subject == nil {
			subject = r.Subject
		}
		if device == nil {
			device = r.Device
		}
		if program == nil {
			program = r.Header.Program
		}
	}
	if program != nil {
		facts = append(facts, fact{"program", clean(shellwords.Join(slices.Concat([]string{program.Path}, program.Args)))})
	}
	if model.File != "" {
		text := fmt.Sprintf("%s, %s, %s", model.File, figures.Size(model.Bytes), model.Types)
		facts = append(facts, fact{"model", clean(text)})
		if model.Digest != "" {
			facts = append(facts, fact{"model's SHA-256", clean(model.Digest)})
		}
	}
	if subject != nil {
		facts = append(facts, fact{"engine", clean(subject.Engine)}, fact{"model is read by", clean(subject.IO + ", " + subject.PageCache)}, fact{"tokenizer", clean(subject.TokenizerWords())})
		if subject.Template != "" {
			facts = append(facts, fact{"chat template", clean(subject.TemplateWords())})
		}
	}
	if device != nil {
		facts = append(facts, fact{"Metal device", clean(strings.Join(slices.DeleteFunc([]string{device.Name, "driver " + device.Driver, device.Compiler, device.System, "kernels " + device.Kernels}, empty), ", "))})
	}
	if p := s.file.Plan; p != nil {
		text := fmt.Sprintf("%s of %s each, order %s, seed %d", figures.Number(len(p.Arms), "kind"), figures.Number(p.Blocks, "run"), p.Order, p.Seed)
		facts = append(facts, fact{"plan", clean(text)})
	}
	counted := len(s.file.Counted(""))
	facts = append(facts, fact{"runs", fmt.Sprintf("%d, of which %d count", len(s.file.Runs), counted)})
	return slices.DeleteFunc(facts, func(f fact) bool { return f.Value == "" })
}

func empty(s string) bool { return strings.TrimSpace(s) == "" }

func memory(n int64) string {
	if n <= 0 {
		return ""
	}
	return figures.Size(n) + " of memory"
}

// knobs are the settings of the command and the variables that change what runs do.
func (s subject) knobs() *details {
	h := s.header()
	d := &details{Summary: "Settings and environment"}
	if h == nil {
		return d
	}
	t := grid{Caption: "Settings, and where each is from", Head: words("setting", "value", "from")}
	for i, k := range h.Knobs {
		if i == mostNotes*2 {
			t.Rows = append(t.Rows, []string{fmt.Sprintf("%d more", len(h.Knobs)-i), "", ""})
			break
		}
		from := k.Origin
		if k.Source != "" {
			from += " " + k.Source
		}
		t.Rows = append(t.Rows, []string{clean(k.Name), clean(k.Value), clean(from)})
	}
	if len(t.Rows) > 0 {
		d.Blocks = append(d.Blocks, block{Table: &t})
	}
	e := grid{Caption: "Variables of the environment", Head: words("variable", "value")}
	for _, name := range slices.Sorted(maps.Keys(h.Environment)) {
		if len(e.Rows) == mostNotes*2 {
			break
		}
		e.Rows = append(e.Rows, []string{clean(name), clean(h.Environment[name])})
	}
	if len(e.Rows) > 0 {
		d.Blocks = append(d.Blocks, block{Table: &e})
	}
	return d
}

// states has for each kind of run what its label rests on.
func (s subject) states() grid {
	t := grid{Caption: "What labels rest on: the cache of compiled code, and the model's part in the page cache before the first round, by kind of run",
		Head: append(words("kind of run"), numbers("runs", "count", "libraries from the cache", "compiled", "pipelines from the cache", "compiled ", "in the page cache")...)}
	for _, x := range samples.Of(s.file) {
		if x.State == recording.StateWarmProcess {
			continue
		}
		var hits, misses, pipelineHits, pipelineMisses int
		resident, known := []float64{}, false
		for _, r := range x.Runs {
			for _, e := range r.Evidence {
				switch {
				case e.What == recording.EvidenceMetalCache:
					hits, misses, pipelineHits, pipelineMisses, known = hits+e.LibraryHits, misses+e.LibraryMisses, pipelineHits+e.PipelineHits, pipelineMisses+e.PipelineMisses, true
				case e.What == recording.EvidencePageCache && e.Round <= 1 && e.Resident >= 0:
					resident = append(resident, e.Resident)
				}
			}
		}
		row := []string{clean(x.Name), fmt.Sprint(len(x.Runs)), fmt.Sprint(x.Counted), "", "", "", "", ""}
		if known {
			for i, n := range []int{hits, misses, pipelineHits, pipelineMisses} {
				row[3+i] = fmt.Sprint(n)
			}
		}
		if len(resident) > 0 {
			lo, hi := slices.Min(resident), slices.Max(resident)
			if row[7] = figures.Percent(lo); hi > lo {
				row[7] += " to " + figures.Percent(hi)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// readings are those of the machine around the runs.
func (s subject) readings() grid {
	t := grid{Caption: "The machine around each run", Head: append(words("run"), numbers("at ms", "load", "cores of others", "MHz", "throttled")...)}
	runs := s.file.Runs
	if s.file.Parent != nil {
		runs = append(slices.Clone(runs), s.file.Parent)
	}
	for _, r := range runs {
		for _, m := range r.Machine {
			if len(t.Rows) == mostNotes*4 {
				return t
			}
			name := "the plan itself"
			if r != s.file.Parent {
				name = clean(runName(r, samples.Shown(r)))
			}
			t.Rows = append(t.Rows, []string{name, figures.Milliseconds(time.Duration(m.At)), reading(m.Load, 2), reading(m.OtherCores, 2), reading(m.MHz, 0), reading(float64(m.Throttled), 0)})
		}
	}
	return t
}

// reading is one of the machine; "" where it could not be read.
func reading(v float64, decimals int) string {
	switch {
	case v < 0:
		return ""
	case v == 0:
		return "0"
	}
	return figures.Text(v, decimals)
}

// uncounted says of each run that does not count why, and of each other what tainted
// it.
func (s subject) uncounted() []string {
	var out []string
	for i, r := range s.file.Runs {
		name := cmp.Or(runName(r, samples.Shown(r)), fmt.Sprintf("run %d", i+1))
		if s.running(r) {
			continue
		}
		if !r.Counts() {
			out = append(out, name+" does not count: "+r.Uncounted())
			continue
		}
		if r.Exit != nil {
			for _, f := range r.Exit.Flags {
				out = append(out, name+": "+f)
			}
		}
	}
	return out
}
