//go:build linux && (amd64 || arm64)

package standin_test

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple"
	"github.com/introgen/introgen/metalshim/apple/standin"
)

// gate holds the first call at a point while others go on.
type gate struct {
	mu    sync.Mutex
	armed bool
	at    standin.Point
	held  chan bool
	open  chan bool
}

func (g *gate) pass(p standin.Point) {
	g.mu.Lock()
	here := g.armed && g.at == p
	if here {
		g.armed = false
	}
	g.mu.Unlock()
	if here {
		close(g.held)
		<-g.open
	}
}

// during runs f while first is held at a point.
func (g *gate) during(t testing.TB, p standin.Point, first, f func()) {
	t.Helper()
	g.mu.Lock()
	g.armed, g.at, g.held, g.open = true, p, make(chan bool), make(chan bool)
	g.mu.Unlock()
	over := make(chan bool)
	go func() {
		defer close(over)
		first()
	}()
	select {
	case <-g.held:
		f()
	case <-time.After(time.Minute):
		t.Error("the first compile does not begin")
	}
	close(g.open)
	<-over
}

// asynchronous are Metal's calls that compile beside the caller.
var asynchronous = []string{"-[MTLDevice newLibraryWithSource:options:completionHandler:]", "-[MTLDevice newComputePipelineStateWithFunction:completionHandler:]",
	"-[MTLDevice newComputePipelineStateWithDescriptor:options:completionHandler:]"}

// beside compiles while something else is compiled: that goes by the asynchronous
// calls, and gives what the others give. On a system that can it is told to compile
// on more threads.
func beside(t *testing.T, s *standin.Server, d *apple.Device, g *gate, can bool) {
	ctx := t.Context()
	if n := d.CompileThreads(); n < 1 || can != (n > 1) {
		t.Errorf("%d threads compile", n)
	}
	sent := func() (n [3]int64, maximized int64) {
		calls := s.Calls()
		for i, name := range asynchronous {
			n[i] = calls[name]
		}
		return n, calls["-[MTLDevice setShouldMaximizeConcurrentCompilation:]"]
	}
	before, told := sent()
	if before != [3]int64{} {
		t.Errorf("what is compiled by itself was sent as %v", before)
	}
	src := metalshim.Source{Name: "Add", Text: addSource}
	var one, two metalshim.Library
	g.during(t, standin.AtLibrary, func() { one = must(d.NewLibrary(ctx, src))(t) }, func() {
		two = must(d.NewLibrary(ctx, src))(t)
		_, err := d.NewLibrary(ctx, metalshim.Source{Name: "Bad", Text: "kernel void x( {"})
		var e *metalshim.CompileError
		if !errors.As(err, &e) || e.Library != "Bad" || len(e.Diagnostics) == 0 {
			t.Errorf("a source that does not compile: %v", err)
		}
	})
	var first, second metalshim.Pipeline
	g.during(t, standin.AtPipeline, func() { first = must(one.NewPipeline(ctx, "add", nil))(t) }, func() {
		second = must(two.NewPipeline(ctx, "add", nil))(t)
	})
	if second.MaxThreadsPerThreadgroup() != first.MaxThreadsPerThreadgroup() || two.SourceBytes() != len(addSource) {
		t.Errorf("%d threads, %d bytes", second.MaxThreadsPerThreadgroup(), two.SourceBytes())
	}
	path := filepath.Join(t.TempDir(), "a")
	x := must(d.NewArchive(path))(t)
	kept := must(x.NewLibrary(ctx, src))(t)
	var third, fourth metalshim.Pipeline
	g.during(t, standin.AtPipeline, func() { third = must(one.NewPipeline(ctx, "add", nil))(t) }, func() {
		fourth = must(kept.NewPipeline(ctx, "add", nil))(t)
	})
	if fourth.Evidence().Archive != "it is new" {
		t.Errorf("%+v", fourth.Evidence())
	}
	if after, now := sent(); after != [3]int64{2, 1, 2} || (now > told) != can {
		t.Errorf("sent %v times, and told to compile on more threads %d times", after, now-told)
	}
	for _, o := range []interface{ Release() }{first, second, third, fourth, kept, x, one, two} {
		o.Release()
	}
	// Where nothing else is compiled, nothing goes that way.
	alone := must(d.NewLibrary(ctx, src))(t)
	must(alone.NewPipeline(ctx, "add", nil))(t).Release()
	alone.Release()
	if after, _ := sent(); after != [3]int64{2, 1, 2} {
		t.Errorf("alone: %v", after)
	}
}
