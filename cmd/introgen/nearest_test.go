package main

import (
	"bytes"
	"strings"
	"testing"
)

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

// TestOnlyCloseNamesAreSuggested: what is meant is guessed only where it is close.
func TestOnlyCloseNamesAreSuggested(t *testing.T) {
	for line, want := range map[string]string{
		"foo":                "introgen: introgen has no command \"foo\"; see `introgen --help`\n",
		"version":            "introgen: introgen has no command \"version\": did you mean \"--version\"; see `introgen --help`\n",
		"cache stats":        "introgen: introgen cache has no command \"stats\": did you mean \"status\"; see `introgen cache --help`\n",
		"cpu --bogus":        "introgen: introgen cpu has no flag \"--bogus\"; see `introgen cpu --help`\n",
		"cpu --tokns 3":      "introgen: introgen cpu has no flag \"--tokns\": did you mean \"--tokens\"; see `introgen cpu --help`\n",
		"sweep --max-time 5": "introgen: --max-time \"5\": a time with its unit is wanted, such as 5m or 90s; see `introgen sweep --help`\n",
		"sweep --runs many":  "introgen: --runs \"many\": a whole number is wanted, such as 2; see `introgen sweep --help`\n",
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{"introgen"}, strings.Fields(line)...), &out, &errs); code != exitUsage || errs.String() != want {
			t.Errorf("%s: exit code %d, %q, want %q", line, code, &errs, want)
		}
	}
}
