package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/system/terminal"
)

// statusAfter is how long a run lasts before a line says how far it is.
const statusAfter = 2 * time.Second

// newStatus returns the line that says how far a run is; nil where stderr is no
// terminal.
func newStatus(stderr io.Writer) *terminal.Line {
	if !terminal.Is(stderr) {
		return nil
	}
	return terminal.NewLine(stderr, statusAfter)
}

// teller says on the status line how far a plan is: when something begins, and
// then every second, since a run may take minutes.
type teller struct {
	status *terminal.Line
	lasts  time.Duration // of a run, as far as known beforehand
	done   chan struct{}
	over   sync.WaitGroup

	mu    sync.Mutex
	at    plan.Progress
	since time.Time
}

// newTeller begins to tell. Where there is no terminal it does nothing.
func newTeller(s *terminal.Line, lasts time.Duration) *teller {
	t := &teller{status: s, lasts: lasts, done: make(chan struct{})}
	if s == nil {
		return t
	}
	t.over.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-t.done:
				return
			case <-tick.C:
				t.show()
			}
		}
	})
	return t
}

// tell takes what begins now.
func (t *teller) tell(at plan.Progress) {
	t.mu.Lock()
	t.at, t.since = at, time.Now()
	t.mu.Unlock()
	t.show()
}

func (t *teller) show() {
	if text := t.text(); text != "" {
		t.status.Set("%s", text)
	}
}

// text says how far the plan is.
func (t *teller) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return progressLine(t.at, time.Since(t.since), t.lasts)
}

// end takes the line away.
func (t *teller) end() {
	close(t.done)
	t.over.Wait()
	t.status.Clear()
}

// progressLine says how far a plan is, some time after it said so itself. Times
// to go are estimates from what has run so far, or from what is known of a run
// before any has.
func progressLine(at plan.Progress, ago, lasts time.Duration) string {
	if at.Doing == "" || at.Doing == "end" {
		return ""
	}
	took := ""
	if ago >= time.Second {
		took = fmt.Sprintf(", for %v", ago.Round(time.Second))
	}
	if at.Doing == "fill" {
		return fmt.Sprintf("filling the cache of %s, uncounted%s", at.Arm, took)
	}
	refused, left := "", at.Left
	if at.Refused > 0 {
		refused = fmt.Sprintf(", %d not counted", at.Refused)
	}
	if left < 0 && lasts > 0 && at.Doing == "run" {
		left = lasts
	}
	togo := ""
	if left > ago {
		togo = fmt.Sprintf("; about %v to go", (left - ago).Round(time.Second))
	}
	doing := fmt.Sprintf("%s before %s", at.Doing, at.Arm)
	if at.Doing == "run" {
		doing = fmt.Sprintf("run %d, %s", at.Run, at.Arm)
	}
	return fmt.Sprintf("block %d of %d: %s%s%s%s", at.Block, at.Blocks, doing, took, refused, togo)
}
