//go:build linux && (amd64 || arm64)

package standin_test

import (
	"errors"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/introgen/introgen/metalshim/apple/objc"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/shimtest"
)

// Messages whose arguments or results are more than words, by purego's typed
// calls.
type typed struct {
	MaxThreads objc.Message[func(objc.ID, objc.SEL) objc.Size]                   `objc:"MTLDevice - maxThreadsPerThreadgroup {?=QQQ}@:"`
	Unified    objc.Message[func(objc.ID, objc.SEL) bool]                        `objc:"MTLDevice - hasUnifiedMemory B@:"`
	LowPower   objc.Message[func(objc.ID, objc.SEL) bool]                        `objc:"MTLDevice - isLowPower B@:"`
	Threads    objc.Message[func(objc.ID, objc.SEL, objc.Size, objc.Size)]       `objc:"MTLComputeCommandEncoder - dispatchThreads:threadsPerThreadgroup: v@:{?=QQQ}{?=QQQ}"`
	Groups     objc.Message[func(objc.ID, objc.SEL, objc.Size, objc.Size)]       `objc:"MTLComputeCommandEncoder - dispatchThreadgroups:threadsPerThreadgroup: v@:{?=QQQ}{?=QQQ}"`
	Fill       objc.Message[func(objc.ID, objc.SEL, objc.ID, objc.Range, uint8)] `objc:"MTLBlitCommandEncoder - fillBuffer:range:value: v@:@{_NSRange=QQ}C"`
	Start      objc.Message[func(objc.ID, objc.SEL) float64]                     `objc:"MTLCommandBuffer - GPUStartTime d@:"`
	End        objc.Message[func(objc.ID, objc.SEL) float64]                     `objc:"MTLCommandBuffer - GPUEndTime d@:"`
	Double     objc.Message[func(objc.ID, objc.SEL, float64) objc.ID]            `objc:"NSNumber + numberWithDouble: @@:d"`
	Version    objc.Message[func(objc.ID, objc.SEL) objc.Version]                `objc:"NSProcessInfo - operatingSystemVersion {?=qqq}@:"`
}

func (w *world) typed() *typed {
	path := built(w.t)
	rt, err := objc.Load(objc.Libraries{Runtime: path, Foundation: path, Metal: path})
	if err != nil {
		w.t.Fatal(err)
	}
	m := &typed{}
	if err := objc.Bind(rt, m); err != nil {
		w.t.Fatal(err)
	}
	return m
}

// What the messages say arrives at the device, and the other way round.
func TestValues(t *testing.T) {
	dev := &recorder{}
	w := begun(t, dev, standin.Options{Version: [3]int64{14, 6, 1}})
	m := w.typed()
	fence := w.send(w.dev, "newFence")
	w.pooled(func() {
		c, e := w.open()
		w.dispatch(e)
		w.send(e, "setBuffer:offset:atIndex:", w.buf, 60, 30)
		w.send(e, "setBuffer:offset:atIndex:", 0, 0, 1)
		w.send(e, "setBufferOffset:atIndex:", 8, 30)
		w.send(e, "setBytes:length:atIndex:", address(&[4]byte{1, 2, 3, 255}), 4, 2)
		w.send(e, "setThreadgroupMemoryLength:atIndex:", 4096, 3)
		w.send(e, "memoryBarrierWithScope:", 1)
		w.send(e, "waitForFence:", fence)
		w.send(e, "updateFence:", fence)
		m.Threads.Send(objc.ID(e), m.Threads.SEL, objc.Size{Width: 1<<32 - 1, Height: 2, Depth: 3}, objc.Size{Width: 64, Height: 4, Depth: 1})
		m.Groups.Send(objc.ID(e), m.Groups.SEL, objc.Size{Width: 7, Height: 8, Depth: 9}, objc.Size{Width: 10, Height: 11, Depth: 2})
		w.sizes(e, threads, [3]uintptr{21, 22, 23}, [3]uintptr{24, 25, 1})
		w.send(e, "endEncoding")
		b := w.send(c, "blitCommandEncoder")
		m.Fill.Send(objc.ID(b), m.Fill.SEL, objc.ID(w.buf), objc.Range{Location: 4, Length: 48}, 250)
		w.send(b, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", w.buf, 0, w.buf, 32, 16)
		w.send(b, "endEncoding")
		w.send(c, "commit")
		w.send(c, "waitUntilCompleted")
		if status := w.send(c, "status"); status != 4 || w.send(c, "error") != 0 {
			t.Errorf("status %d", status)
		}
		start, end := m.Start.Send(objc.ID(c), m.Start.SEL), m.End.Send(objc.ID(c), m.End.SEL)
		if now := monotonic(t); start <= now-60 || start > end || end > now {
			t.Errorf("GPU times %v to %v, now %v", start, end, now)
		}
	})
	w.release(fence)
	want := strings.Split(`library, math 2 0, version , macros map[]
pipeline a []
compute 0
buffer 0: 64+0
buffer 30: 64+60
buffer 1: 0+0
buffer 30: 64+8
bytes 2: 010203ff
memory 3: 4096
barrier 1
wait for fence
update fence
threads {4294967295 2 3} per {64 4 1}
groups {7 8 9} per {10 11 2}
threads {21 22 23} per {24 25 1}
blit
fill 64+4, 48 bytes of 250
copy 64+0 to 64+32, 16 bytes`, "\n")
	if !slices.Equal(dev.lines, want) {
		t.Errorf("the device was told\n%s\nwant\n%s", strings.Join(dev.lines, "\n"), strings.Join(want, "\n"))
	}
	if got := m.MaxThreads.Send(objc.ID(w.dev), m.MaxThreads.SEL); got != (objc.Size{Width: 1024, Height: 1024, Depth: 64}) {
		t.Errorf("maxThreadsPerThreadgroup %v", got)
	}
	if got := uint64(w.send(w.dev, "registryID")); got != 0x1122334455667788 {
		t.Errorf("registryID %#x", got)
	}
	info := w.send(w.class("NSProcessInfo"), "processInfo")
	if got := m.Version.Send(objc.ID(info), m.Version.SEL); got != (objc.Version{Major: 14, Minor: 6, Patch: 1}) {
		t.Errorf("operatingSystemVersion %v", got)
	}
	w.pooled(func() { m.Double.Send(objc.ID(w.class("NSNumber")), m.Double.SEL, math.Pi) })
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

// monotonic is the clock of the stand-in's times, in seconds.
func monotonic(t *testing.T) float64 {
	var at syscall.Timespec
	const clockMonotonic = 1
	if _, _, e := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&at)), 0); e != 0 {
		t.Fatal(e)
	}
	return float64(at.Nano()) / 1e9
}

// A BOOL is the low byte of a register, whose other bytes are anything.
func TestBool(t *testing.T) {
	w := begun(t, &shimtest.Device{}, standin.Options{})
	m := w.typed()
	if m.Unified.Send(objc.ID(w.dev), m.Unified.SEL) || m.LowPower.Send(objc.ID(w.dev), m.LowPower.SEL) {
		t.Error("a NO was taken for a YES")
	}
	if whole := uint64(w.send(w.dev, "hasUnifiedMemory")); whole == 0 || whole&0xff != 0 {
		t.Errorf("the whole register of a NO is %#x, which a careless reader does not stumble over", whole)
	}
	if whole := uint64(w.send(w.dev, "supportsFamily:", 1007)); whole&0xff != 1 || whole == 1 {
		t.Errorf("the whole register of a YES is %#x", whole)
	}
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

// The place of an NSError holds anything after a success; after a failure an
// error that belongs to the pool, with all of its text.
func TestError(t *testing.T) {
	long := "program_source:7:3: error: no\n" + strings.Repeat("é", 10<<10)
	w := begun(t, &shimtest.Device{}, standin.Options{Plant: func(p standin.Point, n int, _ string) *standin.Failure {
		if p == standin.AtLibrary && n == 2 {
			return &standin.Failure{Domain: "MTLLibraryErrorDomain", Code: -3, Text: long}
		}
		return nil
	}})
	source := w.str("kernel")
	e := new(uintptr)
	w.pooled(func() {
		p := w.send(w.dev, "newComputePipelineStateWithFunction:error:", w.function, 0)
		if p == 0 {
			t.Error("a place for an error is needed")
		}
		w.release(p)
		if l := w.send(w.dev, "newLibraryWithSource:options:error:", source, 0, address(e)); l != 0 || *e == 0 {
			t.Fatalf("library %#x, error %#x", l, *e)
		}
		if got := w.text(w.send(*e, "localizedDescription")); got != long {
			t.Errorf("%d bytes of description, want %d", len(got), len(long))
		}
		if got := w.text(w.send(*e, "domain")); got != "MTLLibraryErrorDomain" || int64(w.send(*e, "code")) != -3 {
			t.Errorf("%s %d", got, int64(w.send(*e, "code")))
		}
		*e = 0
		l := w.send(w.dev, "newLibraryWithSource:options:error:", source, 0, address(e))
		if l == 0 || *e == 0 {
			t.Errorf("library %#x, and the place of its error was left alone", l)
		}
		w.release(l)
	})
	w.release(source)
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

// What nobody released is named at the end, and what it kept.
func TestLeaks(t *testing.T) {
	runtime.LockOSThread() // the pool outlives its server
	defer runtime.UnlockOSThread()
	w := begun(t, &shimtest.Device{}, standin.Options{})
	w.make("MTLCompileOptions")
	w.send(w.buf, "retain")
	pool := w.call("objc_autoreleasePoolPush")
	err := w.end()
	var leaks *standin.LeakError
	if !errors.As(err, &leaks) || leaks.Pools != 1 || leaks.Backing != 1 {
		t.Fatalf("%v", err)
	}
	want := regexp.MustCompile(`^StandinDevice #\d+, made by MTLCreateSystemDefaultDevice, references: 1
StandinBuffer #\d+, made by newBufferWithLength:options:, references: 1
MTLCompileOptions #\d+, made by new, references: 1$`)
	if got := strings.Join(leaks.Objects, "\n"); !want.MatchString(got) {
		t.Errorf("%s", got)
	}
	w.call("objc_autoreleasePoolPop", pool)
	// The next server begins with nothing.
	if err := begun(t, &shimtest.Device{}, standin.Options{}).end(); err != nil {
		t.Error(err)
	}
}

// A block that holds more than words is copied and given back by its own
// helpers, once each.
func TestBlockHelpers(t *testing.T) {
	w := begun(t, &shimtest.Device{}, standin.Options{})
	var copies, disposals, called int
	block := &[5]uintptr{w.symbol("_NSConcreteStackBlock"), 1 << 25, purego.NewCallback(func(_, _ uintptr) { called++ }), address(&[4]uintptr{0, 40,
		purego.NewCallback(func(to, from *[5]uintptr) {
			copies++
			if to == from || to[4] != 0x5eed || from[4] != 0x5eed {
				t.Errorf("copied from %#x to %#x", *from, *to)
			}
		}),
		purego.NewCallback(func(b *[5]uintptr) {
			disposals++
			if b[4] != 0x5eed {
				t.Errorf("given back: %#x", *b)
			}
		})}), 0x5eed}
	w.pooled(func() {
		c := w.commands()
		w.send(c, "addCompletedHandler:", address(block))
		w.send(c, "commit")
		w.send(c, "waitUntilCompleted")
	})
	if err := w.end(); err != nil {
		t.Error(err)
	}
	if copies != 1 || disposals != 1 || called != 1 {
		t.Errorf("copied %d times, given back %d times, called %d times", copies, disposals, called)
	}
}

// blockWith is a global or a stack block that calls f.
func (w *world) blockWith(isa string, flags uint64, f uintptr) uintptr {
	return address(&[5]uintptr{w.symbol(isa), uintptr(flags), f, address(&[2]uintptr{0, 40}), 0x5eed})
}

// Completed handlers are called once, on a thread that the caller does not
// know, with the command buffer, and with the block's own memory or, for a
// stack block, a copy of it.
func TestHandlers(t *testing.T) {
	w := begun(t, &shimtest.Device{}, standin.Options{})
	type call struct {
		block, commands uintptr
		captured        uintptr
		status, thread  int
	}
	calls := make(chan call, 8)
	f := purego.NewCallback(func(block *[5]uintptr, commands uintptr) {
		calls <- call{uintptr(unsafe.Pointer(block)), commands, block[4], int(w.send(commands, "status")), syscall.Gettid()}
	})
	global := w.blockWith("_NSConcreteGlobalBlock", 1<<28, f)
	stack := w.blockWith("_NSConcreteStackBlock", 0, f)
	w.pooled(func() {
		c := w.commands()
		w.send(c, "addCompletedHandler:", global)
		w.send(c, "addCompletedHandler:", stack)
		w.send(c, "commit")
		w.send(c, "waitUntilCompleted")
		for i := range 2 {
			got := <-calls
			if got.commands != c || got.captured != 0x5eed || got.status != 4 || got.thread == syscall.Gettid() {
				t.Errorf("%+v", got)
			}
			if (got.block == global) != (i == 0) || got.block == stack {
				t.Errorf("the block at %#x was called, want the global one itself and a copy of the other", got.block)
			}
		}
	})
	if len(calls) > 0 {
		t.Error("called again")
	}
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

// Encodings are Apple's, with offsets; those of Intel's Macs say c for BOOL.
func TestEncodings(t *testing.T) {
	w := begun(t, &shimtest.Device{}, standin.Options{AppleFamily: 5, Lacks: []string{"newFence"}})
	class := w.call("object_getClass", w.dev)
	encoding := func(selector string) string {
		at := w.call("method_getTypeEncoding", w.call("class_getInstanceMethod", class, w.sel(selector)))
		return cText(at)
	}
	if got := encoding("newBufferWithLength:options:"); got != "@32@0:8Q16Q24" {
		t.Error(got)
	}
	if got := encoding("supportsFamily:"); got != boolCode+"24@0:8q16" {
		t.Error(got)
	}
	if encoding("newFence") != "" || w.call("class_respondsToSelector", class, w.sel("newFence"))&0xff != 0 {
		t.Error("a selector that is lacking was found")
	}
	if w.send(w.dev, "respondsToSelector:", w.sel("newEvent"))&0xff != 1 || w.send(w.dev, "respondsToSelector:", w.sel("newHeapWithDescriptor:"))&0xff != 0 {
		t.Error("respondsToSelector:")
	}
	for family, want := range map[uintptr]uintptr{1005: 1, 1006: 0, 3003: 1, 5001: 0} {
		if got := w.send(w.dev, "supportsFamily:", family) & 0xff; got != want {
			t.Errorf("supportsFamily:%d is %d", family, got)
		}
	}
	if name := cText(w.call("class_getName", class)); name != "StandinDevice" {
		t.Error(name)
	}
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

// cText is a C string's text.
func cText(at uintptr) string {
	if at == 0 {
		return ""
	}
	p := *(**byte)(unsafe.Pointer(&at))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
