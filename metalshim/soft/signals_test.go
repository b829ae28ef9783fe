//go:build linux

package soft

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/trace/names"
)

// Kernels run on threads that Go does not know, under a collector that never
// rests and signals that never stop: neither disturbs the other.
func TestCollectorAndSignals(t *testing.T) {
	d := testDevice(t)
	p := pipe(t, compile(t, d, "basics", basics), "sums")
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGUSR1)
	defer signal.Stop(got)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		var keep [][]byte
		for {
			select {
			case <-stop:
				return
			default:
			}
			if keep = append(keep, make([]byte, 1<<16)); len(keep) > 50 {
				keep = nil
				runtime.GC()
			}
		}
	})
	wg.Go(func() {
		for range 2000 {
			syscall.Kill(os.Getpid(), syscall.SIGUSR1)
			select {
			case <-got:
			case <-stop:
				return
			}
		}
	})
	x := buffer32(t, d, make([]float32, 64*32)...)
	for round := range 40 {
		for i := range 64 * 32 {
			x.Contents()[4*i+3] = 0x3f // 1.0 is 0x3f800000
			x.Contents()[4*i+2] = 0x80
			x.Contents()[4*i+1], x.Contents()[4*i] = 0, 0
		}
		if err := run(t, d, func(e metalshim.Encoder) error {
			e.SetPipeline(p)
			e.SetBuffer(0, x, 0)
			for range 2 {
				if err := e.DispatchThreads(one(64*32), one(64)); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i, v := range floats(x) {
			if v != 32*32 {
				t.Fatalf("round %d: element %d is %v, want 1024", round, i, v)
			}
		}
	}
	close(stop)
	wg.Wait()
}

// Faults of Go's own code stay Go's, although the runtime has put its handler
// in front.
func TestFaultsOfGo(t *testing.T) {
	testDevice(t)
	caught := func(f func()) (err error) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() { err, _ = recover().(error) }()
		f()
		return nil
	}
	if err := caught(func() {
		var p *int
		runtime.KeepAlive(*p)
	}); err == nil || !strings.Contains(err.Error(), "nil pointer") {
		t.Errorf("nil: %v", err)
	}
	path := t.TempDir() + "/f"
	if err := os.WriteFile(path, make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := syscall.Mmap(int(f.Fd()), 0, 8192, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(m)
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if err := caught(func() { runtime.KeepAlive(*(*byte)(unsafe.Pointer(&m[5000]))) }); err == nil {
		t.Error("reading a mapping of a file that shrank gave no fault")
	}
}

// A folder that goes away under an open cache costs the cache, not the run.
func TestCacheVanishes(t *testing.T) {
	dir := t.TempDir() + "/cache"
	var notes []string
	d := openAt(t, Options{CacheDir: dir, Workers: 1, Note: func(_, s string) { notes = append(notes, s) }})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	lib, pipe := states(t, d, tiny)
	for _, e := range []metalshim.Evidence{lib, pipe} {
		if e.State != names.CacheMiss || !strings.Contains(e.Note, "not kept") {
			t.Errorf("evidence %+v", e)
		}
	}
	if len(notes) != 2 {
		t.Errorf("notes %q", notes)
	}
}

// Wait can be given up; the work goes on.
func TestWaitCancelled(t *testing.T) {
	d := testDevice(t)
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	defer q.Release()
	b, err := d.NewBuffer(32<<20, metalshim.Shared)
	if err != nil {
		t.Fatal(err)
	}
	cb, err := q.NewCommandBuffer()
	if err != nil {
		t.Fatal(err)
	}
	defer cb.Release()
	blit, err := cb.NewBlit()
	if err != nil {
		t.Fatal(err)
	}
	blit.Fill(b, 0, b.Len(), 3)
	b.Release()
	if err := blit.EndEncoding(); err != nil {
		t.Fatal(err)
	}
	if err := cb.Commit(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := cb.Wait(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := cb.Wait(context.Background()); err != nil || cb.Status() != metalshim.Completed {
		t.Errorf("after it: %v, %v", err, cb.Status())
	}
}
