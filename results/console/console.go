// Package console makes the lines that a run prints from its events: the
// experiment's own format, with lines that begin with # beside it. The command
// feeds it while the run goes on, and `introgen show` feeds it the same events
// from a recording, so that both print the same bytes.
package console

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/benchtext"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/foreign"
	"github.com/introgen/introgen/results/passes"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/roofline"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// cpuCommand is the command of the CPU engine, which compiles nothing and has no
// device.
const cpuCommand = "cpu"

// Printer prints runs. Its first error to write stays, and nothing is written
// behind it.
type Printer struct {
	// Unicode says that what is drawn may have characters beyond ASCII.
	Unicode bool

	w   io.Writer
	err error

	run *running // nil before the first header, and between the runs of a plan
}

// running is the run whose events come.
type running struct {
	header    recording.Header
	device    time.Duration        // of the span device; Missing while unknown, as the next
	tokenizer time.Duration        // of the span tokenizer
	textless  bool                 // whether there is no tokenizer
	round     trace.Record         // that began last
	rounds    *breakdown.Builder   // of what came since the last round that ended
	trace     *tracing             // nil where none is asked for
	bench     bool                 // whether benchstat's lines are to follow at the end
	all       *recording.Collector // of the run, where what is printed at the end needs all of it
	ended     bool
}

// New returns a printer to w.
func New(w io.Writer) *Printer { return &Printer{w: w} }

// Err is the first error to write.
func (p *Printer) Err() error { return p.err }

// printf prints lines whose breaks stand in the format: a recording may hold
// anything in its names.
func (p *Printer) printf(format string, a ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, sanitize.Args(a)...)
	}
}

// table prints a table.
func (p *Printer) table(t *table.Table) {
	if p.err == nil {
		p.err = t.Write(p.w, table.Plain)
	}
}

// document prints tables and sentences.
func (p *Printer) document(d *table.Document) {
	if p.err == nil {
		p.err = d.Write(p.w, table.Plain)
	}
}

// Event prints what the next event gives to print.
func (p *Printer) Event(e recording.Event) error {
	switch e := e.(type) {
	case *recording.Header:
		p.begin(e)
		return p.err
	case *recording.Start:
		p.printf("# run %d, block %d: %s\n", e.Run, e.Block, e.Arm)
		p.run = nil
		return p.err
	case *recording.Exit:
		p.exit(e)
		return p.err
	}
	r := p.run
	if r == nil || r.ended {
		return p.err
	}
	if _, ended := e.(*recording.End); !ended || r.header.Program != nil { // what is printed at the end comes before it is put together
		if r.trace != nil && r.header.Program == nil {
			r.trace.event(p, e)
		}
		if r.all != nil {
			r.all.Add(e)
		}
	}
	switch e := e.(type) {
	case *recording.Span:
		r.span(e)
		if e.Name == names.SpanWarmUp && e.End >= 0 && e.Parent == 0 && !r.header.View.Quiet {
			p.warmUp(e.Record)
		}
	case *recording.Device:
		if r.header.Program != nil {
			break // it is told with the program
		}
		p.printf("[metal] Device::new_metal %s ms\n", ms(r.device)) // as the experiment does
	case *recording.Subject:
		p.subject(e)
	case *recording.Round:
		p.round(e)
	case *recording.Evidence:
		if e.What == recording.EvidenceMetalCache && !r.header.View.Quiet && r.header.Program == nil {
			p.printf("%s\n", cacheLine(e))
		}
	case *recording.End:
		r.end(p)
	}
	return p.err
}

// Close prints what is still due where a recording was cut off.
func (p *Printer) Close() error {
	if p.run != nil {
		p.run.end(p)
	}
	return p.err
}

func (p *Printer) begin(h *recording.Header) {
	if p.run != nil {
		p.run.end(p) // cut off, and another one follows
	}
	p.run = &running{header: *h, device: figures.Missing, tokenizer: figures.Missing, rounds: breakdown.NewBuilder()}
	p.run.header.View.Label = sanitize.Line(h.View.Label)
	if h.View.Trace && h.Command != cpuCommand {
		p.run.trace = &tracing{label: p.run.header.View.Label}
	}
	if p.run.bench = h.View.Bench; p.run.bench || h.View.Trace || h.Program != nil {
		p.run.all = recording.NewCollector()
		p.run.all.Add(h)
	}
}

func (p *Printer) exit(e *recording.Exit) {
	if p.run != nil {
		p.run.end(p)
	}
	switch {
	case e.Refused != "":
		p.printf("# run %d does not count: %s\n", e.Run, e.Refused)
	case len(e.Flags) > 0:
		p.printf("# run %d: %s\n", e.Run, strings.Join(e.Flags, "; "))
	}
	p.run = nil
}

func (r *running) end(p *Printer) {
	if r.ended {
		return
	}
	r.ended = true
	if r.all == nil {
		return
	}
	all := r.all.File() // one run: the header is the first event
	if r.header.Program != nil && !r.header.View.Quiet {
		d := &table.Document{}
		foreign.Add(d, breakdown.Take(all.Runs[0]))
		p.document(d)
	}
	if r.trace != nil && r.header.Program == nil {
		p.metal(breakdown.Take(all.Runs[0]).Metal())
	}
	if r.header.View.Trace && r.header.Command == cpuCommand {
		if t := passes.Of(breakdown.Take(all.Runs[0])); t != nil {
			d := &table.Document{}
			roofline.AddPasses(d, t)
			p.document(d)
		}
	}
	if r.bench {
		if text, lines := benchtext.Text(all); len(lines) > 0 && p.err == nil {
			_, p.err = p.w.Write(text)
		}
	}
}

// span gathers the phases of the round under way.
func (r *running) span(e *recording.Span) {
	switch s := e.Record; {
	case s.Name == names.SpanRound && s.ID != r.round.ID:
		r.round = s
	case s.End >= 0 && s.Name == names.SpanTokenizer && s.Parent == 0:
		r.tokenizer = s.Duration()
	case s.End >= 0 && s.Name == names.SpanDevice && s.Parent == 0:
		r.device = s.Duration()
	}
	r.rounds.Event(e)
}

// warmUp prints how long a warm-up took, and was to take.
func (p *Printer) warmUp(s trace.Record) {
	predicted := ""
	if s.N > 0 {
		predicted = fmt.Sprintf(", predicted %s ms where nothing is cached", ms(time.Duration(s.N)))
	}
	p.printf("[%s] warm-up %s %s ms%s\n", p.run.header.View.Label, s.Detail, ms(s.Duration()), predicted)
}

// subject prints the line that says what is measured.
func (p *Printer) subject(s *recording.Subject) {
	r := p.run
	r.textless = s.Tokenizer == recording.NoTokenizer
	if r.header.View.Quiet {
		return
	}
	tokenizer := fmt.Sprintf("tokenizer %s, ready in %s ms", s.Tokenizer, figures.Milliseconds(r.tokenizer))
	if s.TokenizerWhy != "" {
		tokenizer += ", since " + s.TokenizerWhy
	}
	if r.textless {
		tokenizer = "no tokenizer"
	}
	if s.Template != "" && s.TemplateWords() != recording.NoTemplate { // which is what was asked for
		tokenizer += "; template " + s.TemplateWords()
	}
	p.printf("# %s: %s, read by %s, %s; %s; %s\n", r.header.Model.File, r.header.Model.Types, s.IO, s.PageCache, s.Engine, tokenizer)
}

// round prints a round that has ended. One that an error cut short is printed as
// far as it came, if it came to a token.
func (p *Printer) round(e *recording.Round) {
	r, view := p.run, p.run.header.View
	if len(e.IDs) == 0 || e.Span != r.round.ID || int64(e.Number) != r.round.N {
		return
	}
	round := r.rounds.Ended(e)
	r.rounds = breakdown.NewBuilder()
	p.phases(view.Label, round, !view.Quiet)
	if view.Steps {
		p.percentiles(view.Label, round)
	}
	if view.IDs {
		p.ids(view.Label, e.Number, e.IDs)
	}
	for i, top := range e.Top {
		pass := "prefill"
		if i > 0 {
			pass = fmt.Sprintf("step %d", i)
		}
		p.logits(view.Label, e.Number, pass, top)
	}
	if e.Number == 1 && !view.Quiet {
		if r.textless {
			p.printf("[%s round %d] text: not available, since there is no tokenizer\n", view.Label, e.Number)
			return
		}
		p.text(view.Label, e.Number, e.Text)
	}
}

// archiveText says what an archive gave, and why not the rest.
func archiveText(a *recording.Archive) string {
	if a == nil {
		return ""
	}
	text := fmt.Sprintf("the archive %s gave %d libraries and %d pipelines", sanitize.Line(a.File), a.Libraries, a.Pipelines)
	for _, m := range a.Missed {
		text += fmt.Sprintf(", not %d: %s", m.Number, sanitize.Line(m.Why))
	}
	return text + "; "
}

// cacheLine says in one line why the run counts as cold or warm.
func cacheLine(e *recording.Evidence) string {
	line := fmt.Sprintf("# cache: libraries %d from the cache and %d compiled, pipelines %d from the cache and %d compiled; ",
		e.LibraryHits, e.LibraryMisses, e.PipelineHits, e.PipelineMisses)
	if e.Unknown > 0 {
		line = fmt.Sprintf("# cache: of %d libraries and pipelines the driver does not say whether it had them; ", e.Unknown)
	}
	line += archiveText(e.Archive)
	if e.Nonce != "" {
		line += fmt.Sprintf("nonce %q; ", e.Nonce)
	} else {
		line += "no nonce; "
	}
	if e.Folder == "" || e.Before == nil || e.After == nil {
		return line + "no cache folder in use"
	}
	line += fmt.Sprintf("%s held %d entries (%s MB) before and %d (%s MB) after",
		e.Folder, e.Before.Entries, figures.Text(float64(e.Before.Bytes)/1e6, 1), e.After.Entries, figures.Text(float64(e.After.Bytes)/1e6, 1))
	if e.After.Changed != "" {
		line += ", changed last at " + e.After.Changed
		if e.After.Changed == e.Before.Changed {
			line += ", before the run"
		}
	}
	return line
}
