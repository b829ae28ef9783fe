package console

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/draw"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/steps"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace/names"
)

// ms is short for figures.Milliseconds.
func ms(d time.Duration) string { return figures.Milliseconds(d) }

// phases prints a round in the experiment's own format: the line of the phases
// and, where they are listed, that of every decode step. label is what ran: "cpu", "metal".
// Of a step that is missing it says so: "2 of 3 decode steps".
func (p *Printer) phases(label string, r breakdown.Round, listed bool) {
	times := r.StepTimes()
	mean, number := "", strconv.Itoa(len(times))
	sum, known := r.Decode()
	if known > 0 {
		mean = fmt.Sprintf(" (mean %s ms)", ms(sum/time.Duration(known)))
	}
	if known < len(times) {
		number = fmt.Sprintf("%d of %d", known, len(times))
	}
	tokens := figures.None
	if prefill, ok := r.Phase(names.SpanPrefill); ok && !prefill.Open {
		tokens = strconv.FormatInt(prefill.N, 10)
	}
	p.printf("[%s round %d] read gguf %s ms, build model %s ms, prefill (%s tokens) %s ms, %s decode steps %s ms%s, total %s ms\n",
		label, r.Number, ms(r.Took(names.SpanRead)), ms(r.Took(names.SpanBuild)), tokens, ms(r.Took(names.SpanPrefill)), number, ms(sum), mean, ms(r.Total()))
	if !listed || len(times) == 0 {
		return
	}
	each := make([]string, len(times))
	for i, t := range times {
		each[i] = ms(t)
	}
	p.printf("[%s round %d] decode steps (ms): %s\n", label, r.Number, strings.Join(each, " "))
}

// leastDrawn is how many columns the steps are drawn in at least, also where the line
// then is wider than a terminal of 80.
const leastDrawn = 8

// percentiles prints how the decode steps after the first are distributed, and draws
// them in their order; nothing of a round that has too few.
func (p *Printer) percentiles(label string, r breakdown.Round) {
	s := steps.Of(r)
	if !s.Enough() {
		return
	}
	of := func(q stats.Quantile) string { return ms(time.Duration(math.Round(q.Value))) }
	line := fmt.Sprintf("[%s round %d] decode steps p50 %s, p90 %s, p99 %s, max %s ms ", label, r.Number, of(s.P50), of(s.P90), of(s.P99), ms(s.Max))
	p.printf("%s%s\n", line, draw.Sparkline(s.Values(), max(leastDrawn, table.Width-len(line)), p.Unicode))
}

// text prints the generated text as a quoted line, so that line breaks and
// control characters in it cannot be taken for output of the tool.
func (p *Printer) text(label string, round int, text string) {
	p.printf("[%s round %d] text: %s\n", label, round, strconv.Quote(text))
}

// ids prints the new ids in the order in which they were generated.
func (p *Printer) ids(label string, round int, ids []int32) {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(int(id))
	}
	p.printf("[%s round %d] ids: %s\n", label, round, strings.Join(words, " "))
}

// logits prints the largest logits after a pass, with six decimals, or more
// where fewer than three digits would count.
func (p *Printer) logits(label string, round int, pass string, top []recording.Logit) {
	words := make([]string, len(top))
	for i, l := range top {
		words[i] = fmt.Sprintf("%d %s", l.ID, figures.Text(float64(l.Value), 6))
	}
	p.printf("[%s round %d] logits after %s: %s\n", label, round, pass, strings.Join(words, ", "))
}
