package shellwords_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/shellwords"
)

// TestSplit compares with what a shell makes of the same line.
func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"":                                {},
		" \t\n ":                          {},
		"cpu --threads 1":                 {"cpu", "--threads", "1"},
		"  cpu   3\t":                     {"cpu", "3"},
		`cpu --prompt 'What is "Rust"?'`:  {"cpu", "--prompt", `What is "Rust"?`},
		`cpu --prompt "it's \"so\" \x"`:   {"cpu", "--prompt", `it's "so" \x`},
		`metal --fault='lib=Gemm,fail;x'`: {"metal", "--fault=lib=Gemm,fail;x"},
		`a\ b '' ""`:                      {"a b", "", ""},
		`'a'"b"c`:                         {"abc"},
		`a=b --x=~`:                       {"a=b", "--x=~"},
	} {
		got, err := shellwords.Split(line)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", line, got, err, want)
		}
		out, err := exec.Command("sh", "-c", "set -- "+line+`; printf '%s\n' "$@"`).Output()
		if err == nil && len(want) > 0 && !strings.Contains(line, "\n") && string(out) != strings.Join(want, "\n")+"\n" {
			t.Errorf("%q: a shell makes %q of it, want %q", line, out, want)
		}
	}
	for line, want := range map[string]string{
		`cpu 'x`: "single quote is not closed", `cpu "x`: "double quote is not closed", `cpu \`: "backslash stands at its end",
		`cpu $HOME`: "would not take $", `cpu "$HOME"`: "use single quotes", "cpu; rm": "would not take ;", "cpu *": "would not take *",
	} {
		if got, err := shellwords.Split(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want %q", line, got, err, want)
		}
	}
}

func TestJoin(t *testing.T) {
	for want, w := range map[string][]string{
		"cpu --threads 1":                  {"cpu", "--threads", "1"},
		`cpu --prompt 'it'\''s'`:           {"cpu", "--prompt", "it's"},
		"metal --fault='lib=A,fail;B' --x": {"metal", "--fault=lib=A,fail;B", "--x"},
		"a=b ''":                           {"a=b", ""},
	} {
		if got := shellwords.Join(w); got != want {
			t.Errorf("%q is joined as %s, want %s", w, got, want)
		}
	}
}

// FuzzSplit: what is joined is split into the same words again.
func FuzzSplit(f *testing.F) {
	f.Add(`cpu --prompt "it's \"so\"" 'a b' x\ y`)
	f.Fuzz(func(t *testing.T, line string) {
		w, err := shellwords.Split(line)
		if err != nil {
			return
		}
		again, err := shellwords.Split(shellwords.Join(w))
		if err != nil || !slices.Equal(w, again) {
			t.Errorf("%q splits into %q, joined %q, split again %q, %v", line, w, shellwords.Join(w), again, err)
		}
	})
}
