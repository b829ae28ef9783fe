package results

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/results/recording"
)

// ms is short for Milliseconds.
func ms(d time.Duration) string { return Milliseconds(d) }

// Milliseconds prints a duration in milliseconds as the experiment does, with
// one decimal. Lines, tables and the console agree to the last digit because
// all print through it.
func Milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Nanoseconds())/1e6, 'f', 1, 64)
}

// WritePhases writes a round in the experiment's own format: the line of the
// phases and, with steps, that of every decode step. label is what ran: "cpu",
// "metal".
func WritePhases(w io.Writer, label string, p Phases, steps bool) error {
	mean := ""
	if n := len(p.Steps); n > 0 {
		mean = fmt.Sprintf(" (mean %s ms)", ms(p.Decode()/time.Duration(n)))
	}
	_, err := fmt.Fprintf(w, "[%s round %d] read gguf %s ms, build model %s ms, prefill (%d tokens) %s ms, %d decode steps %s ms%s, total %s ms\n",
		label, p.Round, ms(p.Read), ms(p.Build), p.PromptTokens, ms(p.Prefill), len(p.Steps), ms(p.Decode()), mean, ms(p.Total()))
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

// WriteLogits writes the largest logits after a pass, with six decimals.
func WriteLogits(w io.Writer, label string, round int, pass string, top []Logit) error {
	words := make([]string, len(top))
	for i, l := range top {
		words[i] = fmt.Sprintf("%d %.6f", l.ID, l.Value)
	}
	_, err := fmt.Fprintf(w, "[%s round %d] logits after %s: %s\n", label, round, pass, strings.Join(words, ", "))
	return err
}
