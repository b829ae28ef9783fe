package samples_test

import (
	"slices"
	"testing"

	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
)

// TestSilent: of a program that never calls Metal nothing but its time is known, which
// is said of the kinds of runs of which none has called it.
func TestSilent(t *testing.T) {
	arms := []recording.Arm{{Name: "a", Args: []string{"record", "--", "./p"}}, {Name: "b", Args: []string{"record", "--", "./q"}}}
	f := programtest.Plan("sweep", []string{"arm"}, 2, arms, func(arm, block int) *programtest.Recording {
		if arm == 1 && block == 2 {
			return programtest.Marked(programtest.Warm)
		}
		return programtest.Silent()
	})
	if got, want := samples.Silent(f), []string{"The program never called Metal (a), so that only how long it took is known"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
