package terminal

import "testing"

func TestUnicode(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang, term string
		want                   bool
	}{
		{"", "", "en_US.UTF-8", "xterm-256color", true},
		{"", "UTF-8", "", "xterm", true},
		{"", "", "de_DE.utf8@euro", "screen", true},
		{"C", "", "en_US.UTF-8", "xterm", false},
		{"", "POSIX", "en_US.UTF-8", "xterm", false},
		{"C.UTF-8", "C", "C", "", true},
		{"", "", "", "xterm", false},
		{"", "", "de_DE.ISO-8859-1", "xterm", false},
		{"", "", "en_US.UTF-8", "dumb", false},
		{"", "", "en_US.UTF-8", "linux", false},
	} {
		env := map[string]string{"LC_ALL": c.all, "LC_CTYPE": c.ctype, "LANG": c.lang, "TERM": c.term}
		if got := unicodeBy(func(name string) string { return env[name] }); got != c.want {
			t.Errorf("%v: %v, want %v", env, got, c.want)
		}
	}
}
