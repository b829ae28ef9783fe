package main

import (
	"bytes"
	"strings"
	"testing"
)

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
