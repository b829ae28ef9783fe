package page

import (
	"bytes"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
)

// TestRunning: that a run which is recorded just now has not ended is no news; that one
// had not when its recording ended is.
func TestRunning(t *testing.T) {
	whole := programtest.Bytes(programtest.Engine(programtest.Cold))
	half := whole[:bytes.LastIndexByte(whole[:len(whole)*2/3], '\n')+1]
	pageOf := func(text []byte, live string) string {
		f, err := recording.Read(bytes.NewReader(text), "half")
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := Write(&b, []Recording{{Name: "run", File: f}}, Options{Live: live}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for live, want := range map[string]bool{"events": false, "": true} {
		text := pageOf(half, live)
		if got := strings.Contains(text, "cut off"); got != want {
			t.Errorf("the page whose events are at %q says %t that the run was cut off", live, got)
		}
		if got := strings.Contains(text, "does not count"); got != want {
			t.Errorf("the page whose events are at %q says %t that the run does not count", live, got)
		}
		if got := strings.Contains(text, "No run has ended yet."); got == want {
			t.Errorf("the page whose events are at %q says %t that no run has ended", live, got)
		}
		if !strings.Contains(text, "library Gemm") {
			t.Errorf("the page whose events are at %q lacks what was compiled", live)
		}
	}
	if text := pageOf(whole, "events"); strings.Contains(text, "No run has ended yet.") {
		t.Error("a run that has ended is said not to have")
	}
}
