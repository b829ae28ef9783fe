package sanitize

import (
	"errors"
	"fmt"
	"testing"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"gemm_nn f32, 100 %":          "gemm_nn f32, 100 %",
		"ü 日本 – ± …\u00a0·":           "ü 日本 – ± …\u00a0·",
		"\x1b[2J\x1b]0;title\x07":     "\uFFFD[2J\uFFFD]0;title\uFFFD",
		"a\nBenchmarkX 1 5 ns/op":     "a BenchmarkX 1 5 ns/op",
		"a\r\n\tb":                    "a   b",
		"a\u2028b\u2029c\u0085d":      "a b c d",
		"\u009b31m":                   "\uFFFD31m",
		"\u202egnp.exe \u2066x\u200b": "\uFFFDgnp.exe \uFFFDx\uFFFD",
		"cut \xf0\x9f":                "cut \uFFFD\uFFFD",
		"\x7f\x00":                    "\uFFFD\uFFFD",
	} {
		if got := Line(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

func TestArgs(t *testing.T) {
	got := fmt.Sprintf("%s\n%d: %v", Args([]any{"a\nb", 7, errors.New("c\x1b")})...)
	if want := "a b\n7: c\uFFFD"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestField: a number is one, and no text is a formula; what was written can be
// told from what it was made of.
func TestField(t *testing.T) {
	for in, want := range map[string]string{"": "", "cold": "cold", "-1.5": "-1.5", "+3": "+3", "1e-9": "1e-9", "=1+1": "'=1+1", "-x": "'-x", "+": "'+",
		"@SUM(A1)": "'@SUM(A1)", "-1+2": "'-1+2", "'=1": "''=1", "'": "'", "'a": "'a", "a=b": "a=b", "–": "–"} {
		if got := Field(in); got != want {
			t.Errorf("%q is the field %q, want %q", in, got, want)
		}
	}
}

// TestComment: no cell of a comment, as a spreadsheet divides it, begins a formula.
func TestComment(t *testing.T) {
	for in, want := range map[string]string{
		"cold: 1,234 ms, of which 3; \"a\"": "cold: 1,234 ms, of which 3; \"a\"",
		"a,=1+1":                            "a, =1+1",
		"a;-1,@x":                           "a; -1, @x",
		"a,\"=1+1\"":                        "a, \"=1+1\"",
		"a\t+1":                             "a\t +1",
		",,=1":                              ",, =1",
		"a,'=1":                             "a, '=1",
	} {
		if got := Comment(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
