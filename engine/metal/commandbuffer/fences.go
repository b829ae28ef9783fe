package commandbuffer

import "sync"

// Fences remembers which encoder wrote each buffer last, by that encoder's
// fence. A new encoder waits for all of them: buffers are untracked, so Metal
// orders nothing by itself, not even across command buffers. It may be used by
// several goroutines, since command buffers complete on their own.
//
// candle never forgets the fence of a blit until it synchronizes, so that its
// list grows with every token. Here Forget drops it with the buffer it wrote.
type Fences[F comparable] struct {
	// Release is called when nothing refers to a fence any more.
	Release func(F)

	mu     sync.Mutex
	writer map[int]F
	refs   map[F]int
	seen   map[F]bool
}

// Open notes that an encoder with fence f is under way and calls wait for each
// of the fences that it must wait for, each once. None of them is released
// before wait has returned, whichever command buffer completes meanwhile.
func (s *Fences[F]) Open(f F, wait func(F)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer == nil {
		s.writer, s.refs, s.seen = map[int]F{}, map[F]int{}, map[F]bool{}
	}
	s.refs[f]++
	clear(s.seen)
	for _, w := range s.writer {
		if !s.seen[w] {
			s.seen[w] = true
			wait(w)
		}
	}
}

// Wrote notes that the encoder with fence f writes the buffers.
func (s *Fences[F]) Wrote(f F, buffers []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range buffers {
		old, had := s.writer[b]
		s.writer[b] = f
		s.refs[f]++
		if had {
			s.drop(old)
		}
	}
}

// Completed notes that the command buffer of the encoder with fence f is done.
// If its writes are of no more concern to later encoders, as with compute
// encoders, buffers are the ones it wrote; else there are none.
func (s *Fences[F]) Completed(f F, buffers []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range buffers {
		if w, ok := s.writer[b]; ok && w == f {
			delete(s.writer, b)
			s.drop(f)
		}
	}
	s.drop(f)
}

// Forget notes that a buffer is no more.
func (s *Fences[F]) Forget(buffer int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w, ok := s.writer[buffer]; ok {
		delete(s.writer, buffer)
		s.drop(w)
	}
}

// Clear forgets all buffers and encoders, those too whose command buffer was
// never committed and so will never complete.
func (s *Fences[F]) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.writer)
	for f := range s.refs {
		s.refs[f] = 1
		s.drop(f)
	}
}

// drop takes one reference from f. A fence that Clear has forgotten has none:
// its command buffer may still complete after that.
func (s *Fences[F]) drop(f F) {
	if s.refs[f] == 0 {
		return
	}
	s.refs[f]--
	if s.refs[f] == 0 {
		delete(s.refs, f)
		if s.Release != nil {
			s.Release(f)
		}
	}
}
