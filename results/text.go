package results

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/recording"
)

// ms is short for Milliseconds.
func ms(d time.Duration) string { return Milliseconds(d) }

// None is what stands where a figure is missing.
const None = "–"

// Milliseconds prints a duration in milliseconds as the experiment does, with
// one decimal, and with more where fewer than three digits would count; None
// where it is Missing. Lines, tables and the console agree to the last digit
// because all print through it.
func Milliseconds(d time.Duration) string {
	if d == Missing {
		return None
	}
	return figures.Milliseconds(d)
}

// WritePhases writes a round in the experiment's own format: the line of the
// phases and, with steps, that of every decode step. label is what ran: "cpu",
// "metal". Of a step that is missing it says so: "2 of 3 decode steps".
func WritePhases(w io.Writer, label string, p Phases, steps bool) error {
	mean, known := "", p.Known()
	if n := len(known); n > 0 {
		mean = fmt.Sprintf(" (mean %s ms)", ms(p.Decode()/time.Duration(n)))
	}
	number := strconv.Itoa(len(p.Steps))
	if len(known) < len(p.Steps) {
		number = fmt.Sprintf("%d of %d", len(known), len(p.Steps))
	}
	tokens := None
	if p.Prefill != Missing {
		tokens = strconv.Itoa(p.PromptTokens)
	}
	_, err := fmt.Fprintf(w, "[%s round %d] read gguf %s ms, build model %s ms, prefill (%s tokens) %s ms, %s decode steps %s ms%s, total %s ms\n",
		label, p.Round, ms(p.Read), ms(p.Build), tokens, ms(p.Prefill), number, ms(p.Decode()), mean, ms(p.Total()))
	if err != nil || !steps || len(p.Steps) == 0 {
		return err
	}
	each := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		each[i] = ms(s)
	}
	_, err = fmt.Fprintf(w, "[%s round %d] decode steps (ms): %s\n", label, p.Round, strings.Join(each, " "))
	return err
}

// WriteText writes the generated text as a quoted line, so that line breaks
// and control characters in it cannot be taken for output of the tool.
func WriteText(w io.Writer, label string, round int, text string) error {
	_, err := fmt.Fprintf(w, "[%s round %d] text: %s\n", label, round, strconv.Quote(text))
	return err
}

// WriteIDs writes the new ids in the order in which they were generated.
func WriteIDs(w io.Writer, label string, round int, ids []int32) error {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(int(id))
	}
	_, err := fmt.Fprintf(w, "[%s round %d] ids: %s\n", label, round, strings.Join(words, " "))
	return err
}

// Logit is a vocabulary entry's logit, to be printed.
type Logit = recording.Logit

// WriteLogits writes the largest logits after a pass, with six decimals, or
// more where fewer than three digits would count.
func WriteLogits(w io.Writer, label string, round int, pass string, top []Logit) error {
	words := make([]string, len(top))
	for i, l := range top {
		words[i] = fmt.Sprintf("%d %s", l.ID, figures.Text(float64(l.Value), 6))
	}
	_, err := fmt.Fprintf(w, "[%s round %d] logits after %s: %s\n", label, round, pass, strings.Join(words, ", "))
	return err
}
