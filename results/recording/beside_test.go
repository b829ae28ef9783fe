package recording_test

import (
	"slices"
	"testing"

	"github.com/introgen/introgen/results/recording"
)

// TestNamesBeside: no two files that are shown beside each other have one name.
func TestNamesBeside(t *testing.T) {
	for _, c := range []struct{ paths, want []string }{
		{nil, []string{}},
		{[]string{"/a/b/run"}, []string{"run"}},
		{[]string{"cold", "/a/warm", ""}, []string{"cold", "warm", ""}},
		{[]string{"old/run", "new/run", "new/other"}, []string{"old/run", "new/run", "other"}},
		{[]string{"old/x/run", "new/x/run", "new/y/run"}, []string{"old/x/run", "new/x/run", "y/run"}},
		{[]string{"run", "new/run", "./new/../new/run"}, []string{"run", "new/run", "new/run (2)"}},
		{[]string{"x/run", "/x/run", "run"}, []string{"x/run", "/x/run", "run"}},
		{[]string{"/dev/stdin", "/dev/stdin", "", ""}, []string{"/dev/stdin", "/dev/stdin (2)", "", ""}},
	} {
		if got := recording.NamesBeside(c.paths...); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.paths, got, c.want)
		}
	}
}
