package metalshim

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Stages is what a driver's command buffer knows of how far it is, and gives a
// CommandBuffer its OnCompleted, Wait, Status, Err and Times. The driver moves
// it on: Advance and CommittedNow, Settle, Finish. It is made by Begin.
type Stages struct {
	status   atomic.Int32
	handlers []func(CommandBuffer)
	ended    chan struct{}
	mu       sync.Mutex // guards what follows
	times    Times
	err      error
}

// Begin readies s for a command buffer that is not enqueued.
func (s *Stages) Begin() { s.ended = make(chan struct{}) }

// Status is its stage.
func (s *Stages) Status() Status { return Status(s.status.Load()) }

// Err is why it failed.
func (s *Stages) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Times is when it passed its stages.
func (s *Stages) Times() Times {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.times
}

// OnCompleted registers f.
func (s *Stages) OnCompleted(f func(CommandBuffer)) { s.handlers = append(s.handlers, f) }

// Wait returns when it has ended, or ctx has.
func (s *Stages) Wait(ctx context.Context) error {
	if s.Status() == NotEnqueued {
		return &EncodeError{Reason: "wait before commit"}
	}
	select {
	case <-s.ended:
		return s.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Advance moves it to a stage, unless it is not at the one before.
func (s *Stages) Advance(from, to Status) bool {
	return s.status.CompareAndSwap(int32(from), int32(to))
}

// CommittedNow notes the time of its commit.
func (s *Stages) CommittedNow() {
	s.mu.Lock()
	s.times.Committed = time.Now()
	s.mu.Unlock()
}

// Settle notes what came of it: the times but for the commit's, and why it
// failed, if it did.
func (s *Stages) Settle(scheduled, start, end time.Time, err error) {
	s.mu.Lock()
	s.times.Scheduled, s.times.GPUStart, s.times.GPUEnd = scheduled, start, end
	s.err = err
	s.mu.Unlock()
}

// Finish moves it to the last stage, which is Failed where Settle had an error,
// and tells whoever waits. c is the command buffer that handlers are told of.
func (s *Stages) Finish(c CommandBuffer) {
	status := Completed
	if s.Err() != nil {
		status = Failed
	}
	s.status.Store(int32(status))
	for _, f := range s.handlers {
		f(c)
	}
	close(s.ended)
}
