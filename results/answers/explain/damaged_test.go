package explain_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/answers/bill"
	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/answers/explain"
	"github.com/introgen/introgen/results/answers/sweep"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

// answer has every answer given to a recording, and written. None may panic or
// print what is no number.
func answer(t *testing.T, text []byte) {
	t.Helper()
	f, err := recording.Read(bytes.NewReader(text), "test")
	if err != nil {
		return
	}
	var out strings.Builder
	write := func(d *table.Document, err error) {
		if err == nil {
			err = d.Write(&out, table.Plain)
			if err == nil {
				err = d.Write(io.Discard, table.CSV)
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	if bills, err := bill.Of(breakdown.Of(f)); err == nil {
		write(bill.Document(bills), nil)
	}
	if a, err := compare.Of(breakdown.Of(f)); err == nil {
		write(a.Document(), nil)
	}
	if a, err := sweep.Of(breakdown.Of(f), metrics.Decode); err == nil {
		write(a.Document(), nil)
	}
	write(explain.Of(breakdown.Of(f)).Document(), nil)
	if s := out.String(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") || strings.Contains(s, "%!") {
		t.Errorf("an answer has what is no number:\n%s", s)
	}
}

func kept(tb testing.TB, name string) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "recorded", name))
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// A recording may end anywhere.
func TestCutAnywhere(t *testing.T) {
	for _, name := range []string{"experiment-states.introgen", "experiment-sweep.introgen"} {
		text := kept(t, name)
		for n := 0; n < len(text); n += 523 { // 523 is prime: cuts fall everywhere in lines
			answer(t, text[:n])
		}
	}
}

// Any line of a recording may be missing, or have other figures in it; every
// seventh is tried.
func TestLinesMissing(t *testing.T) {
	lines := bytes.SplitAfter(kept(t, "experiment-states.introgen"), []byte("\n"))
	for i := 0; i < len(lines); i += 7 {
		answer(t, bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil))
		for _, by := range []string{`"end":-1`, `"end":9223372036854775807`, `"end":0`} {
			if at := bytes.Index(lines[i], []byte(`"end":`)); at > 0 {
				changed := append(append([]byte{}, lines[i][:at]...), by+"}\n"...)
				answer(t, bytes.Join(append(append(append([][]byte{}, lines[:i]...), changed), lines[i+1:]...), nil))
			}
		}
	}
}

// FuzzAnswers gives answers to lines in any order and with anything in them.
func FuzzAnswers(f *testing.F) {
	text := kept(f, "experiment-sweep.introgen")
	f.Add(text[:4000])
	f.Add(kept(f, "experiment-states.introgen")[:6000])
	f.Add(programtest.Bytes(programtest.Marked(programtest.Cold)))
	f.Add(programtest.Bytes(programtest.Detailed()))
	f.Fuzz(func(t *testing.T, text []byte) { answer(t, text) })
}
