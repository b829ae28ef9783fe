// Package compile makes libraries and pipelines where they are needed, or beside
// the thread that needs them: what was begun is made by threads of its own, each
// pipeline as soon as its library is there, and whoever needs one waits for that one
// alone. What nobody has begun is made by whoever needs it.
package compile

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/metalshim"
)

// Options say how a Scheduler works.
type Options struct {
	// Library makes the library of a name.
	Library func(ctx context.Context, name string) (metalshim.Library, error)
	// Await calls wait, which waits for what is made beside the caller; what is
	// "library function". nil calls it, and nothing else.
	Await func(what string, wait func())
	// Threads is how many are made at once beside who needs them, at least 1.
	Threads int
	// LibrariesFirst has a library made before the pipelines that could be made
	// instead; else all are made in the order in which they were begun.
	LibrariesFirst bool
}

// Scheduler makes libraries and pipelines, each once, and keeps them until Release.
// Its methods are called by one goroutine at a time.
type Scheduler struct {
	o    Options
	ctx  context.Context // ends what is made beside the caller
	stop context.CancelFunc

	threads sync.WaitGroup
	mu      sync.Mutex // guards what follows, and the fields of tasks
	tasks   map[string]*task
	order   []*task // in which they were begun
	ready   []*task // that a thread can make now, in the order of order
	idle    []int32 // tracks that no thread has, the smallest last
	stopped bool
}

// task is a library or a pipeline that is to be made.
type task struct {
	number   int   // by which it comes before others
	library  *task // that it is made of; nil of a library
	name     string
	pipeline forward.Pipeline
	needed   []*task // the pipelines that wait for this library

	done   chan struct{} // closed when what follows is set
	lib    metalshim.Library
	made   metalshim.Pipeline
	err    error
	judged bool // the error has been returned to somebody
}

// New returns a scheduler that has begun nothing. ctx ends what is made beside the
// caller.
func New(ctx context.Context, o Options) *Scheduler {
	if o.Await == nil {
		o.Await = func(_ string, wait func()) { wait() }
	}
	s := &Scheduler{o: o, tasks: map[string]*task{}}
	s.ctx, s.stop = context.WithCancel(ctx)
	for n := max(1, o.Threads); n >= 1; n-- {
		s.idle = append(s.idle, int32(n))
	}
	return s
}

// key tells a pipeline from others, and from libraries.
func key(p forward.Pipeline) string { return p.Library + "\x00" + p.Key() }

// add keeps a new task. s.mu is held.
func (s *Scheduler) add(key string, t *task) *task {
	t.number, t.done = len(s.order), make(chan struct{})
	s.tasks[key], s.order = t, append(s.order, t)
	return t
}

// Begin has the pipelines of the list made, and before them their libraries, and
// does not wait for that. What has been begun or made is left as it is.
func (s *Scheduler) Begin(list []forward.Pipeline) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	for _, p := range list {
		if s.tasks[key(p)] != nil {
			continue
		}
		library := s.tasks[p.Library]
		if library == nil {
			library = s.add(p.Library, &task{name: p.Library})
			s.ready = append(s.ready, library)
		}
		t := s.add(key(p), &task{library: library, pipeline: p})
		select {
		case <-library.done:
			s.follow(library, t)
		default:
			library.needed = append(library.needed, t)
		}
	}
	s.employ()
}

// follow lets the pipeline t be made of its library, which is there or has failed.
// s.mu is held.
func (s *Scheduler) follow(library, t *task) {
	if library.err != nil {
		t.err = library.err
		close(t.done)
		return
	}
	s.ready = append(s.ready, t)
}

// employ starts threads for what can be made. s.mu is held.
func (s *Scheduler) employ() {
	for i := 0; i < len(s.ready) && len(s.idle) > 0; i++ {
		track := s.idle[len(s.idle)-1]
		s.idle = s.idle[:len(s.idle)-1]
		s.threads.Go(func() { s.work(track) })
	}
}

// work makes what can be made, until nothing can.
func (s *Scheduler) work(track int32) {
	ctx := metalshim.OnTrack(s.ctx, track)
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := s.next(); t != nil; t = s.next() {
		s.mu.Unlock()
		var lib metalshim.Library
		var made metalshim.Pipeline
		err := ctx.Err()
		if err == nil {
			lib, made, err = s.make(ctx, t)
		}
		s.mu.Lock()
		s.finish(t, lib, made, err)
	}
	s.idle = append(s.idle, track)
}

// next takes out what is to be made next, nil where nothing can be. s.mu is held.
func (s *Scheduler) next() *task {
	first := -1
	before := func(a, b *task) bool {
		if s.o.LibrariesFirst && (a.library == nil) != (b.library == nil) {
			return a.library == nil
		}
		return a.number < b.number
	}
	for i, t := range s.ready {
		if first < 0 || before(t, s.ready[first]) {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	t := s.ready[first]
	s.ready = append(s.ready[:first], s.ready[first+1:]...)
	return t
}

// make makes t, whose library is there. s.mu is not held.
func (s *Scheduler) make(ctx context.Context, t *task) (metalshim.Library, metalshim.Pipeline, error) {
	if t.library == nil {
		lib, err := s.o.Library(ctx, t.name)
		return lib, nil, err
	}
	made, err := t.library.lib.NewPipeline(ctx, t.pipeline.Function, t.pipeline.Constants)
	return nil, made, err
}

// finish tells all who wait for t, and has made what needs it. s.mu is held.
func (s *Scheduler) finish(t *task, lib metalshim.Library, made metalshim.Pipeline, err error) {
	t.lib, t.made, t.err = lib, made, err
	close(t.done)
	for _, p := range t.needed {
		s.follow(t, p)
	}
	t.needed = nil
	s.employ()
}

// Pipeline gives a pipeline: one that was begun when it is made, and another one it
// makes itself. The error of one is that of making it, or of its library. ctx ends
// the wait.
func (s *Scheduler) Pipeline(ctx context.Context, p forward.Pipeline) (metalshim.Pipeline, error) {
	t, err := s.obtain(ctx, key(p), p, func() (*task, error) {
		library, err := s.obtain(ctx, p.Library, p, func() (*task, error) { return &task{name: p.Library}, nil })
		if err != nil {
			return nil, err
		}
		return &task{library: library, pipeline: p}, nil
	})
	if err != nil {
		return nil, err
	}
	return t.made, nil
}

// obtain is the task of the key when it is done: where there is none, that of
// begin, made here and now. p is for whom.
func (s *Scheduler) obtain(ctx context.Context, key string, p forward.Pipeline, begin func() (*task, error)) (*task, error) {
	s.mu.Lock()
	t := s.tasks[key]
	s.mu.Unlock()
	if t == nil {
		t, err := begin()
		if err != nil {
			return nil, err
		}
		lib, made, err := s.make(ctx, t)
		if err != nil {
			return nil, err // it is not kept: who asks again has it made again
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.finish(s.add(key, t), lib, made, nil)
		return t, nil
	}
	if err := s.await(ctx, t, p); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.err != nil {
		t.judged = true
		if t.library != nil {
			t.library.judged = true
		}
		return nil, t.err
	}
	return t, nil
}

// await waits for t where it is not done.
func (s *Scheduler) await(ctx context.Context, t *task, p forward.Pipeline) (err error) {
	select {
	case <-t.done:
		return nil
	default:
	}
	s.o.Await(p.Library+" "+p.Function, func() {
		select {
		case <-t.done:
		case <-ctx.Done():
			err = ctx.Err()
		}
	})
	return err
}

// mostTold is how many errors of what nobody asked for are told one by one: where
// the compiler is lacking, or memory, all have the same.
const mostTold = 3

// Stop ends what is being made beside the caller, waits for that, and begins nothing
// more. It returns why something could not be made that nobody asked for.
func (s *Scheduler) Stop() error {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.stop()
	s.threads.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []error
	more := 0
	for _, t := range s.order {
		ofLibrary := t.library != nil && t.library.err != nil // which is told by itself
		ended := errors.Is(t.err, s.ctx.Err()) || errors.Is(t.err, context.Cause(s.ctx))
		if t.err == nil || t.judged || ofLibrary || ended {
			continue
		}
		t.judged = true
		if len(all) < mostTold {
			all = append(all, t.err)
		} else {
			more++
		}
	}
	if more > 0 {
		all = append(all, fmt.Errorf("%d more that were begun could not be made either", more))
	}
	return errors.Join(all...)
}

// Release gives back all that was made, behind Stop.
func (s *Scheduler) Release() {
	for _, t := range s.order {
		if t.made != nil {
			t.made.Release()
		}
	}
	for _, t := range s.order {
		if t.lib != nil {
			t.lib.Release()
		}
	}
	s.order, s.tasks = nil, map[string]*task{}
}
