package compare

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// compiling is a program that compiles some libraries one after the other, each for
// so many of the 1000 ms to its end.
func compiling(each float64, libraries string) *programtest.Recording {
	r := programtest.New(4711, 0, "./p")
	r.Device("nonce")
	round := r.Span(0, names.SpanRound, "", 1, 0, 1000)
	start := r.Span(round, names.SpanPhase, "start", 1, 0, 1000)
	for i, name := range strings.Fields(libraries) {
		r.Library(0, start, name, names.CacheMiss, float64(i)*each, float64(i+1)*each)
	}
	r.End(round, 1000, 0)
	return r
}

// TestShares: what takes long in one run takes no time in another. Each of three
// libraries takes 450 ms in two of three runs, so that their medians are 1350 ms, and
// in each run two of them are 900 of its 1000 ms.
func TestShares(t *testing.T) {
	arms := []recording.Arm{{Name: recording.StateCold, State: recording.StateCold, Args: []string{"record", "--", "./p"}, Levels: map[string]string{"cache": recording.StateCold}}}
	f := programtest.Plan("compare", []string{"cache"}, 6, arms, func(_, block int) *programtest.Recording {
		return compiling(450, []string{"A B", "B C", "A C"}[block%3])
	})
	a, err := Of(breakdown.Of(f))
	if err != nil {
		t.Fatal(err)
	}
	if want := "cold: 1.00 s to the end of the program, 90.0 % of it compiling; "; !strings.HasPrefix(a.Verdict, want) {
		t.Errorf("the verdict is %q, want %q", a.Verdict, want)
	}
	if want := "90.0 % of the cold time to the end of the program is 2 library compiles; "; len(a.Causes) != 1 || !strings.HasPrefix(a.Causes[0], want) {
		t.Errorf("the causes are %q, want %q", a.Causes, want)
	}
}
