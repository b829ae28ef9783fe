package terminal

import (
	"os"
	"strings"
)

// Unicode says whether the terminal shows characters beyond ASCII, blocks above
// all: the locale's characters are UTF-8 (POSIX.1-2017, 8.2: LC_ALL decides, then
// LC_CTYPE, then LANG), and TERM is none that has few of them.
func Unicode() bool { return unicodeBy(os.Getenv) }

func unicodeBy(env func(string) string) bool {
	switch env("TERM") {
	case "dumb", "linux", "vt100", "vt102", "vt220", "cons25":
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := env(name); locale != "" {
			locale, _, _ = strings.Cut(strings.ToLower(locale), "@")
			return strings.HasSuffix(locale, ".utf-8") || strings.HasSuffix(locale, ".utf8") || locale == "utf-8" // macOS sets LC_CTYPE=UTF-8
		}
	}
	return false
}
