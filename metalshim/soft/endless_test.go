package soft

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
)

// endless are kernels without end, each in another way: where the loop stands,
// who is in it, and whether the compiler may think that it does nothing.
const endless = `
#include <metal_stdlib>
using namespace metal;
kernel void idle(device float* x [[buffer(0)]]) { while (true) {} }
kernel void idle_after(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) { x[t] = 1; for (;;); }
kernel void counts(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  while (x[t] != 9) { x[t] += 1; if (x[t] > 3) x[t] = 0; }
}
kernel void waits(device atomic_uint* x [[buffer(0)]]) { while (atomic_load_explicit(x, memory_order_relaxed) != 77) {} }
kernel void one_lane(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  if (t == 5) { while (x[t] != 9) { x[t] = x[t] > 3 ? 0 : x[t] + 1; } }
  x[t] = 2;
}
kernel void one_group(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]], uint g [[threadgroup_position_in_grid]]) {
  while (g == 2 && x[t] != 9) { x[t] = x[t] > 3 ? 0 : x[t] + 1; }
}
kernel void barriers(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  threadgroup float y[1];
  while (y[0] != 9) { threadgroup_barrier(mem_flags::mem_threadgroup); if (t == 0) y[0] = 1; threadgroup_barrier(mem_flags::mem_threadgroup); }
}
kernel void simd(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  float y = float(t);
  while (simd_sum(y) != -1) { y = simd_shuffle_xor(y, 1); }
  x[t] = y;
}
kernel void nested(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  for (uint i = 0; ; i++) { for (uint k = 0; k < 1000 + t; k++) { x[t] = x[t] * 0.5f + float(k); } }
}
kernel void wraps(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  for (uint i = 0; i < 0xffffffffu; i++) { if (i == 0xfffffffeu) i = 0; x[t] = float(i); }
}
kernel void far(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  for (ulong i = 0; i < 0xfffffffffffful; i++) { x[t] = sin(x[t]) + float(i); }
}
kernel void switches(device uint* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  uint s = t & 3;
  while (s != 9) { switch (s) { case 0: s = 1; break; case 1: s = 2; x[t]++; break; case 2: s = 3; break; default: s = 0; } }
}
kernel void good(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) { x[t] = float(t); }
`

var endlessNames = []string{"idle", "idle_after", "counts", "waits", "one_lane", "one_group", "barriers", "simd", "nested", "wraps", "far", "switches"}

// dispatchOf runs kernel name as the third of four dispatches, the others being
// good, on 128 threads in groups of 32.
func dispatchOf(t *testing.T, d *Device, lib metalshim.Library, name string, x metalshim.Buffer) error {
	t.Helper()
	return run(t, d, func(e metalshim.Encoder) error {
		for i := range 4 {
			kernel := "good"
			if i == 2 {
				kernel = name
			}
			e.SetPipeline(pipe(t, lib, kernel))
			e.SetBuffer(0, x, 0)
			if err := e.DispatchThreads(one(128), one(32)); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestEndless: a kernel without end, of whatever kind, is ended by either limit,
// and by Stop; the error names it and its dispatch; and the device goes on.
func TestEndless(t *testing.T) {
	testDevice(t)
	for _, form := range []string{"lanes", "scalar"} {
		for _, how := range []string{"stall", "total", "stop"} {
			o := Options{CacheDir: shared.dir, Form: form, Workers: 2, KernelLimit: -1, BufferLimit: -1}
			want, is := "", metalshim.ErrTimeout
			switch how {
			case "stall":
				o.KernelLimit, want = 100*time.Millisecond, "no threadgroup completed in 100ms"
			case "total":
				o.BufferLimit, want = 100*time.Millisecond, "the command buffer has run for its time limit, 100ms"
			case "stop":
				is, want = context.Canceled, "it was stopped"
			}
			d := openAt(t, o)
			lib := compile(t, d, "endless", endless)
			x := buffer32(t, d, make([]float32, 128)...)
			for _, name := range endlessNames {
				if form == "scalar" && how != "total" && name != "barriers" && name != "counts" {
					continue // each form and each end, but not each with each
				}
				t.Run(form+" "+how+" "+name, func(t *testing.T) {
					pipe(t, lib, name) // compiled beforehand
					if how == "stop" {
						stopSoon(t, d, name)
						defer func() { d.stopped = false }()
					}
					err := dispatchOf(t, d, lib, name, x)
					var e *metalshim.CommandError
					if !errors.As(err, &e) || !errors.Is(err, is) || !strings.Contains(err.Error(), want) {
						t.Fatalf("error %v, want %q", err, want)
					}
					if where := "in kernel " + name + " of library endless, dispatch 3 of 4 of its command buffer: "; !strings.Contains(err.Error(), where) {
						t.Errorf("error %v, want %q", err, where)
					}
				})
			}
			if err := dispatchOf(t, d, lib, "good", x); err != nil {
				t.Fatalf("%s %s: after them: %v", form, how, err)
			}
			for i, v := range floats(x) {
				if v != float32(i) {
					t.Fatalf("%s %s: after them element %d is %v", form, how, i, v)
				}
			}
			if what, _, ok := d.Running(); ok {
				t.Errorf("%s runs", what)
			}
		}
	}
}

// stopSoon stops the device once it runs the kernel.
func stopSoon(t *testing.T, d *Device, name string) {
	t.Helper()
	go func() {
		for {
			what, ran, ok := d.Running()
			if ok && what == fmt.Sprintf("kernel %s of library endless, dispatch 3 of 4 of its command buffer", name) && ran > 20*time.Millisecond {
				d.Stop()
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
}

// TestBehindAnEndlessOne: what stands behind a command buffer that reaches its time
// limit is not run, and what is committed afterwards is.
func TestBehindAnEndlessOne(t *testing.T) {
	testDevice(t)
	d := openAt(t, Options{CacheDir: shared.dir, Workers: 1, BufferLimit: 300 * time.Millisecond})
	lib := compile(t, d, "endless", endless)
	x := buffer32(t, d, make([]float32, 128)...)
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	defer q.Release()
	commit := func(name string) metalshim.CommandBuffer {
		t.Helper()
		cb, err := q.NewCommandBuffer()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cb.Release)
		e, err := cb.NewEncoder(metalshim.Concurrent)
		if err != nil {
			t.Fatal(err)
		}
		e.SetPipeline(pipe(t, lib, name))
		e.SetBuffer(0, x, 0)
		if err := errors.Join(e.DispatchThreads(one(128), one(32)), e.EndEncoding(), cb.Commit()); err != nil {
			t.Fatal(err)
		}
		return cb
	}
	pipe(t, lib, "good")
	first := commit("counts")
	behind := []metalshim.CommandBuffer{commit("counts"), commit("good"), commit("counts")}
	if err := first.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "its time limit, 300ms") {
		t.Errorf("the first: %v", err)
	}
	for _, cb := range behind {
		if err := cb.Wait(t.Context()); !errors.Is(err, metalshim.ErrTimeout) || !strings.Contains(err.Error(), "it was not run, since one before it in its queue") {
			t.Errorf("one behind it: %v", err)
		}
	}
	if err := commit("good").Wait(t.Context()); err != nil || floats(x)[127] != 127 {
		t.Errorf("one after it: %v, %v", err, floats(x))
	}
}

// TestStopped: what was committed and has not begun does not begin.
func TestStopped(t *testing.T) {
	testDevice(t)
	d := openAt(t, Options{CacheDir: shared.dir, Workers: 1})
	lib := compile(t, d, "endless", endless)
	x := buffer32(t, d, make([]float32, 128)...)
	d.Stop()
	if err := dispatchOf(t, d, lib, "good", x); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "before it began") {
		t.Errorf("error %v", err)
	}
}

// TestLongButWithinLimits: threadgroups that go on completing have no limit, and a
// command buffer may take longer than any of its dispatches would be given. A busy
// machine may keep a thread waiting for longer than the limit: then the same is
// tried with four times as much of both.
func TestLongButWithinLimits(t *testing.T) {
	testDevice(t)
	const attempts = 3
	limit, threads := 500*time.Millisecond, 2048
	for attempt := 1; ; attempt++ {
		took, err := slowly(t, limit, threads)
		switch {
		case err == nil && took > limit:
			return
		case err == nil: // a fast machine: nothing was shown
			threads *= 4
		case attempt >= attempts || !errors.Is(err, metalshim.ErrTimeout):
			t.Fatalf("attempt %d, a limit of %v, after %v: %v", attempt, limit, took, err)
		default:
			limit, threads = 4*limit, 4*threads
		}
	}
}

// slowly runs a kernel that takes some 30 ms for each 32 of the threads.
func slowly(t *testing.T, limit time.Duration, threads int) (time.Duration, error) {
	d := openAt(t, Options{CacheDir: shared.dir, Workers: 1, KernelLimit: limit})
	lib := compile(t, d, "slow", `
kernel void slow(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
  for (uint i = 0; i < 20000000u; i++) { x[t] = x[t] * 0.5f + 1; }
}`)
	x := buffer32(t, d, make([]float32, threads)...)
	begun := time.Now()
	err := run(t, d, func(e metalshim.Encoder) error {
		e.SetPipeline(pipe(t, lib, "slow"))
		e.SetBuffer(0, x, 0)
		return e.DispatchThreads(one(threads), one(32))
	})
	return time.Since(begun), err
}

func TestTimeoutFromEnv(t *testing.T) {
	testDevice(t)
	for text, want := range map[string]string{
		"5": `INTROGEN_COMMAND_BUFFER_TIMEOUT "5": how long a command buffer may run is a time with its unit, such as 10s or 5m, or 0 for no limit`,
		"":  `INTROGEN_COMMAND_BUFFER_TIMEOUT ""`, "-1s": `"-1s"`, "soon": `"soon"`, "1e3s": `"1e3s"`, "NaN": `"NaN"`,
	} {
		t.Setenv(EnvTimeout, text)
		if _, err := Open(context.Background(), Options{CacheDir: shared.dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
	t.Setenv(EnvTimeout, "80ms")
	d := openAt(t, Options{CacheDir: shared.dir, Workers: 1})
	x := buffer32(t, d, make([]float32, 128)...)
	if err := dispatchOf(t, d, compile(t, d, "endless", endless), "counts", x); err == nil || !strings.Contains(err.Error(), "its time limit, 80ms") {
		t.Errorf("error %v", err)
	}
	t.Setenv(EnvTimeout, "0")
	if d := openAt(t, Options{CacheDir: shared.dir, Workers: 1}); d.limits().Stall != 0 || d.limits().Total != 0 {
		t.Errorf("limits %+v", d.limits())
	}
}
