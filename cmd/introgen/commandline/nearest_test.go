package commandline

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"cpu", "metal", "explain", "doctor", "o", "output", "threads", "version"}
	for word, want := range map[string]string{
		"cpy": "cpu", "pcu": "cpu", "cp": "cpu", "mteal": "metal", "explian": "explain", "thread": "threads", "outputs": "output",
		"foo": "", "versions": "version", "bogus": "", "x": "", "": "", "ooo": "",
	} {
		if got := nearest(word, names); got != want {
			t.Errorf("%q is taken for %q, want %q", word, got, want)
		}
	}
}
