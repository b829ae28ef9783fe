package console

import (
	"fmt"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// tracing prints libraries and pipelines where they were compiled.
type tracing struct {
	label  string
	round  int
	phase  trace.ID // the phase that began last
	header string   // its header, until it is printed
}

// headedSteps is how many decode steps of the first round have a header even
// where nothing is compiled, as in the experiment's trace.
const headedSteps = 2

func (t *tracing) event(p *Printer, e recording.Event) {
	s, ok := e.(*recording.Span)
	if !ok {
		return
	}
	switch s.Name {
	case names.SpanRound:
		t.round = int(s.N)
	case names.SpanBuild, names.SpanPrefill, names.SpanStep:
		if s.ID > t.phase {
			t.begin(p, s.Record)
		}
	case names.SpanLibrary, names.SpanPipeline:
		if s.End >= 0 {
			t.head(p)
			beside := ""
			if recording.Beside(s.Record) {
				beside = ", beside"
			}
			p.printf("%-4s %s %s ms%s\n", s.Name, s.Detail, ms(s.Duration()), beside) // as the experiment's trace does
		}
	}
}

func (t *tracing) begin(p *Printer, s trace.Record) {
	t.phase, t.header = s.ID, fmt.Sprintf("--- %s round %d: %s", t.label, t.round, names.Title(s.Name, s.N))
	if t.round == 1 && (s.Name != names.SpanStep || s.N <= headedSteps) {
		t.head(p)
	}
}

// head prints the header of the phase under way unless it has been printed.
func (t *tracing) head(p *Printer) {
	if t.header != "" {
		p.printf("%s\n", t.header)
	}
	t.header = ""
}
