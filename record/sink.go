package record

import (
	"time"

	"github.com/introgen/introgen/results/recording"
)

// sink takes events in portions to whoever writes them, who has a goroutine of its
// own: while a disk is slow, rings are read on.
type sink struct {
	portion  []recording.Event
	portions chan []recording.Event
	done     chan struct{}
}

// mostPortions is how much may wait to be written. Then rings are not read any
// more, and what a program does beyond their size is lost and counted.
const mostPortions = 64

// largest is how many events a portion has at most.
const largest = 1 << 14

// flushes is how often what was put is written at the latest.
const flushes = 200 * time.Millisecond

func newSink(put func(recording.Event), flush func()) *sink {
	s := &sink{portions: make(chan []recording.Event, mostPortions), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		flushed := time.Now()
		for portion := range s.portions {
			for _, e := range portion {
				put(e)
			}
			if time.Since(flushed) >= flushes {
				flushed = time.Now()
				flush()
			}
		}
		flush()
	}()
	return s
}

// add takes an event.
func (s *sink) add(e recording.Event) {
	s.portion = append(s.portion, e)
	if len(s.portion) == largest {
		s.pass()
	}
}

// pass hands on what was added.
func (s *sink) pass() {
	if len(s.portion) > 0 {
		s.portions <- s.portion
		s.portion = nil
	}
}

// close waits until all is written.
func (s *sink) close() {
	s.pass()
	close(s.portions)
	<-s.done
}
