package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// cancelling cancels a context when a word is written to it.
type cancelling struct {
	bytes.Buffer
	word   string
	cancel context.CancelFunc
}

func (c *cancelling) Write(p []byte) (int, error) {
	n, err := c.Buffer.Write(p)
	if strings.Contains(c.String(), c.word) {
		c.cancel()
	}
	return n, err
}

// TestInterruptKeepsWhatWasMeasured stands for Ctrl-C, which cancels the
// context that run is given.
func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out := &cancelling{word: "round 2] decode steps", cancel: cancel}
	var errs bytes.Buffer
	code := run(ctx, []string{"introgen", "cpu", "100000", "--tokens", "2"}, out, &errs)
	if code != exitInterrupted {
		t.Errorf("exit code %d, want %d: %s", code, exitInterrupted, &errs)
	}
	if got := out.String(); !strings.Contains(got, "round 1] decode steps") || strings.Contains(got, "round 3]") {
		t.Errorf("what was measured is not what is printed:\n%s", got)
	}
	if !strings.Contains(errs.String(), "interrupted") || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("stderr is %q, want one line that says so", &errs)
	}
}
