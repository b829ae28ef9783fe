package record

import (
	"errors"
	"os"

	"github.com/introgen/introgen/results/recording"
)

// store keeps the events of a process until it is known where they belong: few in
// memory, many in a temporary file.
type store struct {
	few  []recording.Event
	many *os.File
	w    *recording.Writer
	on   func(recording.Event) // where they go at once; nil while that is not known
	err  error
}

// mostFew is how many events are kept in memory.
const mostFew = 10_000

func (s *store) put(e recording.Event) {
	if s.on != nil {
		s.on(e)
		return
	}
	if s.w == nil && len(s.few) < mostFew {
		s.few = append(s.few, e)
		return
	}
	if s.err != nil {
		return
	}
	if s.w == nil {
		if s.many, s.err = os.CreateTemp("", "introgen-record-*"+recording.Ending); s.err != nil {
			return
		}
		_ = os.Remove(s.many.Name()) // it goes with the process
		s.w = recording.NewWriter(s.many)
		if s.err = s.w.Put(s.few[0]); s.err != nil { // the header, with which every recording begins
			return
		}
	}
	s.err = s.w.Put(e)
}

// live hands all that was kept to put, and from now on what comes.
func (s *store) live(put func(recording.Event)) {
	s.err = s.give(put)
	s.on = put
}

// give hands all that was kept to put.
func (s *store) give(put func(recording.Event)) error {
	for _, e := range s.few {
		put(e)
	}
	s.few = nil
	again := true
	if s.w == nil || s.err != nil {
		return s.err
	}
	if err := s.w.Flush(); err != nil {
		return err
	}
	if _, err := s.many.Seek(0, 0); err != nil {
		return err
	}
	for e, err := range recording.Events(s.many) {
		if err != nil {
			return err
		}
		if !again {
			put(e)
		}
		again = false // the header was among the few
	}
	return nil
}

func (s *store) close() error {
	if s.many == nil {
		return s.err
	}
	return errors.Join(s.err, s.many.Close())
}
