//go:build linux && (amd64 || arm64)

package standin_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebitengine/purego"

	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/shimtest"
)

const forever = ^uintptr(0) // DISPATCH_TIME_FOREVER

func TestDispatchSemaphore(t *testing.T) {
	w := begun(t, &shimtest.Device{}, standin.Options{})
	s := w.call("dispatch_semaphore_create", 1)
	w.is("wait for one that is there", w.call("dispatch_semaphore_wait", s, forever), 0)
	if w.call("dispatch_semaphore_wait", s, 0) == 0 {
		t.Error("a second one was there")
	}
	began := time.Now()
	if w.call("dispatch_semaphore_wait", s, w.call("dispatch_time", 0, uintptr(20*time.Millisecond))) == 0 {
		t.Error("one was there after a wait")
	}
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("a wait of 20 ms took %v", took)
	}
	var signaller sync.WaitGroup
	signaller.Go(func() {
		time.Sleep(5 * time.Millisecond)
		w.call("dispatch_semaphore_signal", s)
	})
	w.is("wait for a signal", w.call("dispatch_semaphore_wait", s, forever), 0)
	signaller.Wait()
	w.call("dispatch_release", s)
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

// settled waits until no thread of a queue holds it any more: it lets go after
// its last job is known to be done.
func (w *world) settled() {
	for range 1000 {
		leaks := w.s.Leaks()
		if leaks == nil || !slices.ContainsFunc(leaks.Objects, func(s string) bool { return strings.HasPrefix(s, "OS_dispatch") }) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// A serial queue runs its jobs in their order, one at a time; a group knows when
// all are done.
func TestDispatchQueues(t *testing.T) {
	w := begun(t, &shimtest.Device{}, standin.Options{})
	var mu sync.Mutex
	var order []uintptr
	var inside atomic.Int32
	job := purego.NewCallback(func(context uintptr) uintptr {
		if inside.Add(1) > 1 {
			t.Error("two jobs of a serial queue run at once")
		}
		mu.Lock()
		order = append(order, context)
		mu.Unlock()
		inside.Add(-1)
		return 0
	})
	main, err := purego.Dlsym(w.handle, "_dispatch_main_q")
	if err != nil {
		t.Fatal(err)
	}
	made := w.call("dispatch_queue_create", cString("serial"), 0)
	for _, q := range []uintptr{made, main} {
		order = nil
		group := w.call("dispatch_group_create")
		for i := range uintptr(100) {
			w.call("dispatch_group_async_f", group, q, i, job)
		}
		w.is("wait for the group", w.call("dispatch_group_wait", group, forever), 0)
		w.call("dispatch_sync_f", q, 100, job)
		w.call("dispatch_release", group)
		if len(order) != 101 || !slices.IsSorted(order) {
			t.Errorf("order %v", order)
		}
		w.call("dispatch_release", q)
	}
	w.settled()
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

// dispatch_apply calls once for each number, on a concurrent queue too, and
// dispatch_once once for all.
func TestDispatchApplyAndOnce(t *testing.T) {
	w := begun(t, &shimtest.Device{}, standin.Options{})
	var calls [1000]atomic.Int32
	each := purego.NewCallback(func(context, i uintptr) uintptr {
		calls[i].Add(int32(context))
		return 0
	})
	w.call("dispatch_apply_f", 1000, w.call("dispatch_get_global_queue", 0, 0), 1, each)
	w.call("dispatch_apply_f", 1000, 0, 1, each)
	for i := range calls {
		if n := calls[i].Load(); n != 2 {
			t.Fatalf("number %d was called %d times", i, n)
		}
	}
	w.settled()
	var times atomic.Int32
	first := purego.NewCallback(func(uintptr) uintptr {
		times.Add(1)
		return 0
	})
	flag := address(new(int64))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { w.call("dispatch_once_f", flag, 0, first) })
	}
	all.Wait()
	if n := times.Load(); n != 1 {
		t.Errorf("once was %d times", n)
	}
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

func TestDispatchData(t *testing.T) {
	w := begun(t, &shimtest.Device{}, standin.Options{})
	d := w.data("four")
	w.is("size", w.call("dispatch_data_get_size", d), 4)
	var at, n uintptr
	w.is("map", w.call("dispatch_data_create_map", d, address(&at), address(&n)), d)
	if text := cText(at); text != "four" || n != 4 {
		t.Errorf("%q of %d bytes", text, n)
	}
	w.call("dispatch_retain", d)
	w.release(d, d)
	w.call("dispatch_release", d)
	if err := w.end(); err != nil {
		t.Error(err)
	}
}
