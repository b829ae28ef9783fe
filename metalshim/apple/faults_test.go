package apple

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/objc"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/shimtest"
)

// shown opens a device of a machine that only the stand-in can show. Nothing
// may be left of it at the end, as in all tests here.
func shown(t *testing.T, machine standin.Options, o Options) *Device {
	t.Helper()
	o.Libraries = serve(t, machine)
	return open(t, o)
}

// at plants a failure at the nth call of a point.
func at(point standin.Point, nth int, f standin.Failure) standin.Options {
	return standin.Options{Plant: func(p standin.Point, n int, _ string) *standin.Failure {
		if p == point && n == nth {
			return &f
		}
		return nil
	}}
}

func TestNoDevice(t *testing.T) {
	l := serve(t, standin.Options{Plant: func(p standin.Point, _ int, _ string) *standin.Failure {
		if p == standin.AtDefaultDevice || p == standin.AtAllDevices {
			return &standin.Failure{}
		}
		return nil
	}})
	if _, err := Open(t.Context(), Options{Libraries: l}); !errors.Is(err, metalshim.ErrNoDevice) || !strings.Contains(err.Error(), "virtual machine") {
		t.Errorf("%v", err)
	}
	if list, err := Devices(t.Context(), Options{Libraries: l}); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// A process without a window may get no default device.
func TestNoDefaultDevice(t *testing.T) {
	d := shown(t, at(standin.AtDefaultDevice, 1, standin.Failure{}), Options{})
	testRun(t, d)
}

func TestFailures(t *testing.T) {
	t.Run("library", func(t *testing.T) {
		d := shown(t, at(standin.AtLibrary, 1, standin.Failure{Text: "program_source:7:3: error: no\n" + strings.Repeat("x", 100<<10)}), Options{})
		_, err := d.NewLibrary(t.Context(), metalshim.Source{Name: "L", Text: addSource})
		var e *metalshim.CompileError
		if !errors.As(err, &e) || len(e.Log) < 100<<10 || len(e.Diagnostics) != 1 || e.Diagnostics[0].Line != 7 {
			t.Errorf("%.200v", err)
		}
	})
	t.Run("function", func(t *testing.T) {
		d := shown(t, at(standin.AtFunction, 1, standin.Failure{Text: "not today"}), Options{})
		l := compile(t, d)
		defer l.Release()
		_, err := l.NewPipeline(t.Context(), "scaled", []metalshim.Constant{metalshim.BoolConstant(3, true)})
		var e *metalshim.FunctionError
		if !errors.As(err, &e) || !strings.Contains(e.Reason, "not today") {
			t.Errorf("%v", err)
		}
	})
	t.Run("pipeline", func(t *testing.T) {
		d := shown(t, at(standin.AtPipeline, 1, standin.Failure{Domain: "AGXMetal", Code: 3, Text: "encountered unlowered function call"}), Options{})
		l := compile(t, d)
		defer l.Release()
		_, err := l.NewPipeline(t.Context(), "add", nil)
		var e *metalshim.CompileError
		var f *FamilyError
		if !errors.As(err, &e) || e.Function != "add" || !strings.Contains(e.Log, "AGXMetal 3: encountered") || errors.As(err, &f) {
			t.Errorf("%v", err)
		}
	})
	t.Run("buffer", func(t *testing.T) {
		d := shown(t, at(standin.AtBuffer, 1, standin.Failure{}), Options{})
		_, err := d.NewBufferWithBytes([]byte{1})
		var e *metalshim.AllocationError
		if !errors.As(err, &e) || !errors.Is(err, metalshim.ErrOutOfMemory) || e.Length != 1 {
			t.Errorf("%v", err)
		}
	})
	t.Run("queue", func(t *testing.T) {
		d := shown(t, at(standin.AtQueue, 1, standin.Failure{}), Options{})
		if _, err := d.NewQueue(); err == nil || !strings.Contains(err.Error(), "metal queue") {
			t.Errorf("%v", err)
		}
	})
	t.Run("fence", func(t *testing.T) {
		d := shown(t, at(standin.AtFence, 1, standin.Failure{}), Options{})
		if _, err := d.NewFence(); err == nil || !strings.Contains(err.Error(), "metal fence") {
			t.Errorf("%v", err)
		}
	})
}

func TestCommandBufferFails(t *testing.T) {
	domain := "MTLCommandBufferErrorDomain"
	for name, c := range map[string]struct {
		failure standin.Failure
		kind    error
	}{
		"device lost": {standin.DeviceLost, metalshim.ErrDeviceLost},
		"time limit":  {standin.Failure{Domain: domain, Code: 2, Text: "Caused GPU Timeout Error"}, metalshim.ErrTimeout},
		"page fault":  {standin.Failure{Domain: domain, Code: 3, Text: "Caused GPU Address Fault Error"}, metalshim.ErrPageFault},
		"no memory":   {standin.Failure{Domain: domain, Code: 8, Text: "Insufficient Memory"}, metalshim.ErrOutOfMemory},
	} {
		t.Run(name, func(t *testing.T) {
			d := shown(t, at(standin.AtCommit, 1, c.failure), Options{})
			q := must(d.NewQueue())(t)
			defer q.Release()
			b := must(d.NewBuffer(64, metalshim.Private))(t)
			cb := must(q.NewCommandBuffer())(t)
			defer cb.Release()
			blit := must(cb.NewBlit())(t)
			blit.Fill(b, 0, 64, 1)
			b.Release()
			called := make(chan error, 1)
			cb.OnCompleted(func(c metalshim.CommandBuffer) { called <- c.Err() })
			if err := errors.Join(blit.EndEncoding(), cb.Commit()); err != nil {
				t.Fatal(err)
			}
			err := cb.Wait(t.Context())
			var e *metalshim.CommandError
			var cause *objc.Error
			if !errors.As(err, &e) || !errors.Is(err, c.kind) || !errors.As(err, &cause) || cause.Code != c.failure.Code || !strings.Contains(err.Error(), c.failure.Text) {
				t.Errorf("%v", err)
			}
			if got := <-called; cb.Status() != metalshim.Failed || cb.Err() != err || got != err {
				t.Errorf("status %v, error %v, to the handler %v", cb.Status(), cb.Err(), got)
			}
		})
	}
}

// What a system before macOS 15, or before 14, does not have.
func TestOlderSystem(t *testing.T) {
	old := standin.Options{Version: [3]int64{13, 6, 1}, Lacks: []string{"setMathMode:", "mathMode", "setMathFloatingPointFunctions:",
		"architecture", "newResidencySetWithDescriptor:error:", "addResidencySet:", "removeResidencySet:"}}
	d := shown(t, old, Options{})
	if f := must(d.Facts())(t); f.System != "13.6.1" || f.Language != "3.0" || f.NoResidency != "this system has none" || f.Architecture != "" {
		t.Errorf("%+v", f)
	}
	testRun(t, d)
}

func TestMachine(t *testing.T) {
	d := shown(t, standin.Options{Name: "Apple M9", Architecture: "applegpu_g99g", AppleFamily: 9, Version: [3]int64{15, 1, 2}, LowPowerMode: true, ThermalState: 2}, Options{})
	f := must(d.Facts())(t)
	if f.Device != "Apple M9" || f.Architecture != "applegpu_g99g" || f.Family.Apple != 9 || !f.LowPower || f.Thermal != ThermalSerious || f.NoResidency != "" || f.Language != "3.2" || f.Build == "" {
		t.Errorf("%+v", f)
	}
	if i := d.Info(); i.Architecture != "applegpu_g99g" || !strings.HasPrefix(i.Detail, "Apple M9, Apple9") || !strings.HasSuffix(i.Detail, "macOS 15.1.2") || d.Simdgroups() != nil {
		t.Errorf("%+v, %v", i, d.Simdgroups())
	}
}

// The virtual device of hosted runners is told so, and runs what it can.
func TestBelowApple7(t *testing.T) {
	for name, machine := range map[string]standin.Options{"Apple5": {AppleFamily: 5}, "Mac2": {Intel: true}} {
		t.Run(name, func(t *testing.T) {
			machine.Plant = func(p standin.Point, n int, _ string) *standin.Failure {
				if p == standin.AtPipeline && n == 1 {
					return &standin.Failure{Domain: "AGX", Code: 2, Text: "unsupported"}
				}
				return nil
			}
			d := shown(t, machine, Options{})
			var e *FamilyError
			if err := d.Simdgroups(); !errors.As(err, &e) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "Apple7") {
				t.Errorf("%v", err)
			}
			l := compile(t, d)
			_, err := l.NewPipeline(t.Context(), "add", nil)
			var ce *metalshim.CompileError
			if !errors.As(err, &ce) || !errors.As(err, &e) {
				t.Errorf("a refused pipeline: %v", err)
			}
			l.Release()
			testRun(t, d)
		})
	}
}

// Nothing that is wrong is sent: the stand-in would end the process.
func TestMisuse(t *testing.T) {
	d := open(t, Options{})
	other, err := (&shimtest.Device{}).NewBuffer(64, metalshim.Shared)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Release()
	l := compile(t, d)
	defer l.Release()
	add := must(l.NewPipeline(t.Context(), "add", nil))(t)
	defer add.Release()
	gone := must(l.NewPipeline(t.Context(), "add", nil))(t)
	gone.Release()
	b := must(d.NewBuffer(64, metalshim.Shared))(t)
	defer b.Release()
	old := must(d.NewBuffer(64, metalshim.Shared))(t)
	old.Release()
	f := must(d.NewFence())(t)
	f.Release()
	q := must(d.NewQueue())(t)
	defer q.Release()
	big := metalshim.Size{X: 2000, Y: 1, Z: 1}
	compute := map[string]func(metalshim.Encoder){
		"index 31":               func(e metalshim.Encoder) { e.SetBuffer(31, b, 0) },
		"index -1":               func(e metalshim.Encoder) { e.SetBytes(-1, []byte{1}) },
		"offset 64":              func(e metalshim.Encoder) { e.SetBuffer(0, b, 64) },
		"offset -4":              func(e metalshim.Encoder) { e.SetBuffer(0, b, -4) },
		"buffer is released":     func(e metalshim.Encoder) { e.SetBuffer(0, old, 0) },
		"buffer is of another":   func(e metalshim.Encoder) { e.SetBuffer(0, other, 0) },
		"0 bytes":                func(e metalshim.Encoder) { e.SetBytes(0, nil) },
		"4097 bytes":             func(e metalshim.Encoder) { e.SetBytes(0, make([]byte, 4097)) },
		"multiple of 16":         func(e metalshim.Encoder) { e.SetThreadgroupMemory(0, 8) },
		"pipeline is of another": func(e metalshim.Encoder) { e.SetPipeline(nil) },
		"pipeline is released":   func(e metalshim.Encoder) { e.SetPipeline(gone) },
		"fence is released":      func(e metalshim.Encoder) { e.WaitForFence(f) },
		"fence is of another":    func(e metalshim.Encoder) { e.UpdateFence(nil) },
		"barrier scope":          func(e metalshim.Encoder) { e.MemoryBarrier(7) },
		"at least 1": func(e metalshim.Encoder) {
			e.SetPipeline(add)
			_ = e.DispatchThreads(metalshim.Size{X: 1, Y: 0, Z: 1}, threads(1))
		},
		"has 2000 threads": func(e metalshim.Encoder) {
			e.SetPipeline(add)
			_ = e.DispatchThreadgroups(threads(1), big)
		},
		"no pipeline": func(e metalshim.Encoder) { _ = e.DispatchThreadgroups(threads(1), threads(1)) },
		"label":       func(e metalshim.Encoder) { e.SetLabel("\xff") },
		"bytes of threadgroup memory, the": func(e metalshim.Encoder) {
			e.SetPipeline(add)
			e.SetThreadgroupMemory(0, d.Info().MaxThreadgroupMemory)
			e.SetThreadgroupMemory(1, 16)
			_ = e.DispatchThreadgroups(threads(1), threads(1))
		},
	}
	for want, f := range compute {
		c := must(q.NewCommandBuffer())(t)
		e := must(c.NewEncoder(metalshim.Serial))(t)
		f(e)
		if err := e.DispatchThreads(threads(1), threads(1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the next dispatch gives %v", want, err)
		}
		var ee *metalshim.EncodeError
		if err := e.EndEncoding(); !errors.As(err, &ee) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		c.Release()
	}
	for want, f := range map[string]func(metalshim.Blit){
		"length 68":          func(e metalshim.Blit) { e.Copy(b, 0, b, 0, 68) },
		"multiples of 4":     func(e metalshim.Blit) { e.Copy(b, 2, b, 8, 4) },
		"fill with 6":        func(e metalshim.Blit) { e.Fill(b, 0, 6, 0) },
		"length -4":          func(e metalshim.Blit) { e.Fill(b, 0, -4, 0) },
		"buffer is released": func(e metalshim.Blit) { e.Fill(old, 0, 4, 0) },
	} {
		c := must(q.NewCommandBuffer())(t)
		e := must(c.NewBlit())(t)
		f(e)
		if err := e.EndEncoding(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		c.Release()
	}
}

// The order of what is done with a command buffer.
func TestOrder(t *testing.T) {
	d := open(t, Options{})
	q := must(d.NewQueue())(t)
	c := must(q.NewCommandBuffer())(t)
	check := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	check(c.Wait(t.Context()), "wait before commit")
	_, err := c.NewEncoder(7)
	check(err, "dispatch type 7")
	e := must(c.NewEncoder(metalshim.Concurrent))(t)
	_, err = c.NewBlit()
	check(err, "another is open")
	check(c.Commit(), "encoder is open")
	if err := e.EndEncoding(); err != nil {
		t.Error(err)
	}
	check(e.EndEncoding(), "ended twice")
	e.SetBytes(0, []byte{1})
	check(e.DispatchThreads(threads(1), threads(1)), "ended twice")
	if err := c.Commit(); err != nil {
		t.Error(err)
	}
	check(c.Commit(), "committed before")
	_, err = c.NewEncoder(metalshim.Serial)
	check(err, "after commit")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Wait(gone); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	c.Release() // perhaps in flight

	open := must(q.NewCommandBuffer())(t)
	must(open.NewEncoder(metalshim.Serial))(t)
	open.Release() // ends the encoder
	check(open.Commit(), "already released")
	_, err = open.NewBlit()
	check(err, "already released")

	late := must(q.NewCommandBuffer())(t)
	q.Release()
	q.Release()
	check(late.Commit(), "queue is released")
	late.Release()
	_, err = q.NewCommandBuffer()
	check(err, "queue is released")
}

func TestUseAfterClose(t *testing.T) {
	d := must(Open(t.Context(), options(t, Options{})))(t)
	b := must(d.NewBuffer(4, metalshim.Shared))(t)
	q := must(d.NewQueue())(t)
	if err := errors.Join(d.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	b.Release() // harmless
	q.Release()
	_, err1 := d.NewBuffer(4, metalshim.Shared)
	_, err2 := d.NewQueue()
	_, err3 := d.NewLibrary(t.Context(), metalshim.Source{Name: "L"})
	_, err4 := d.NewFence()
	_, err5 := d.NewArchive("x")
	_, err6 := d.Facts()
	_, err7 := d.NewBufferNoCopy(make([]byte, 1))
	_, err8 := d.NewLibraryFromFile(t.Context(), "L", "x")
	for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8} {
		if !errors.Is(err, metalshim.ErrReleased) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestRounds goes from device to commit 1,000 times; open and serve find what
// is left.
func TestRounds(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 50
	}
	o := options(t, Options{})
	for range rounds {
		d := must(Open(t.Context(), o))(t)
		l := compile(t, d)
		p := must(l.NewPipeline(t.Context(), "add", nil))(t)
		q := must(d.NewQueue())(t)
		a := must(d.NewBufferWithBytes(floats(1, 2)))(t)
		b := must(d.NewBufferWithBytes(floats(3, 4)))(t)
		addOnce(t, q, p, a, b, 2).Release()
		if string(b.Contents()) != string(floats(4, 6)) {
			t.Fatalf("%x", b.Contents())
		}
		for _, o := range []interface{ Release() }{a, b, q, p, l} {
			o.Release()
		}
		if live := d.Live(); live != (metalshim.Counts{}) {
			t.Fatalf("left behind: %+v", live)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
