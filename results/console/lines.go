package console

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// ms is short for figures.Milliseconds.
func ms(d time.Duration) string { return figures.Milliseconds(d) }

// writePhases writes a round in the experiment's own format: the line of the
// phases and, with steps, that of every decode step. label is what ran: "cpu",
// "metal". Of a step that is missing it says so: "2 of 3 decode steps".
func writePhases(w io.Writer, label string, r breakdown.Round, steps bool) error {
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
	if p, ok := r.Phase(names.SpanPrefill); ok && !p.Open {
		tokens = strconv.FormatInt(p.N, 10)
	}
	_, err := fmt.Fprintf(w, "[%s round %d] read gguf %s ms, build model %s ms, prefill (%s tokens) %s ms, %s decode steps %s ms%s, total %s ms\n",
		label, r.Number, ms(r.Took(names.SpanRead)), ms(r.Took(names.SpanBuild)), tokens, ms(r.Took(names.SpanPrefill)), number, ms(sum), mean, ms(r.Total()))
	if err != nil || !steps || len(times) == 0 {
		return err
	}
	each := make([]string, len(times))
	for i, t := range times {
		each[i] = ms(t)
	}
	_, err = fmt.Fprintf(w, "[%s round %d] decode steps (ms): %s\n", label, r.Number, strings.Join(each, " "))
	return err
}

// writeText writes the generated text as a quoted line, so that line breaks
// and control characters in it cannot be taken for output of the tool.
func writeText(w io.Writer, label string, round int, text string) error {
	_, err := fmt.Fprintf(w, "[%s round %d] text: %s\n", label, round, strconv.Quote(text))
	return err
}

// writeIDs writes the new ids in the order in which they were generated.
func writeIDs(w io.Writer, label string, round int, ids []int32) error {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(int(id))
	}
	_, err := fmt.Fprintf(w, "[%s round %d] ids: %s\n", label, round, strings.Join(words, " "))
	return err
}

// writeLogits writes the largest logits after a pass, with six decimals, or
// more where fewer than three digits would count.
func writeLogits(w io.Writer, label string, round int, pass string, top []recording.Logit) error {
	words := make([]string, len(top))
	for i, l := range top {
		words[i] = fmt.Sprintf("%d %s", l.ID, figures.Text(float64(l.Value), 6))
	}
	_, err := fmt.Fprintf(w, "[%s round %d] logits after %s: %s\n", label, round, pass, strings.Join(words, ", "))
	return err
}

// writeLibrary writes the line of one library as the experiment's trace does.
func writeLibrary(w io.Writer, name string, took time.Duration) error {
	_, err := fmt.Fprintf(w, "LIB  %s %s ms\n", name, ms(took))
	return err
}

// writePipeline writes the line of one pipeline; name is "library function".
func writePipeline(w io.Writer, name string, took time.Duration) error {
	_, err := fmt.Fprintf(w, "PIPE %s %s ms\n", name, ms(took))
	return err
}

// writeDevice writes how long it took to have a device, as the experiment does.
func writeDevice(w io.Writer, took time.Duration) error {
	_, err := fmt.Fprintf(w, "[metal] Device::new_metal %s ms\n", ms(took))
	return err
}
