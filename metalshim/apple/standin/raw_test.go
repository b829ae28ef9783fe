//go:build linux && (amd64 || arm64)

package standin_test

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/shimtest"
)

// world is a served stand-in that is spoken to directly, word by word, as no
// driver would.
type world struct {
	t        testing.TB
	s        *standin.Server
	handle   uintptr
	dev      uintptr
	library  uintptr
	function uintptr
	pipeline uintptr
	queue    uintptr
	buf      uintptr // 64 bytes, shared
}

// call calls an exported C function.
func (w *world) call(name string, args ...uintptr) uintptr {
	f, err := purego.Dlsym(w.handle, name)
	if err != nil {
		w.t.Fatal(err)
	}
	r, _, _ := purego.SyscallN(f, args...)
	return r
}

func (w *world) sel(name string) uintptr { return w.call("sel_registerName", cString(name)) }

// send sends a message whose arguments are words.
func (w *world) send(o uintptr, selector string, args ...uintptr) uintptr {
	return w.call("objc_msgSend", append([]uintptr{o, w.sel(selector)}, args...)...)
}

func (w *world) class(name string) uintptr { return w.call("objc_getClass", cString(name)) }
func (w *world) make(class string) uintptr { return w.send(w.class(class), "new") }
func (w *world) release(objects ...uintptr) {
	for _, o := range objects {
		w.send(o, "release")
	}
}

// pooled calls f with a pool in place.
func (w *world) pooled(f func()) {
	pool := w.call("objc_autoreleasePoolPush")
	f()
	w.call("objc_autoreleasePoolPop", pool)
}

// str is an NSString with +1.
func (w *world) str(s string) uintptr {
	return w.send(w.send(w.class("NSString"), "alloc"), "initWithBytes:length:encoding:", cString(s), uintptr(len(s)), 4)
}

// text is what an NSString holds.
func (w *world) text(o uintptr) string {
	n := w.send(o, "lengthOfBytesUsingEncoding:", 4)
	p := w.send(o, "UTF8String")
	return string(unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n))
}

// commands is an autoreleased command buffer.
func (w *world) commands() uintptr { return w.send(w.queue, "commandBuffer") }

// kept keeps what C is given the address of.
var kept []any

func address[T any](p *T) uintptr {
	kept = append(kept, p)
	return uintptr(unsafe.Pointer(p))
}

func cString(s string) uintptr {
	b := append([]byte(s), 0)
	kept = append(kept, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

// begun makes a world over dev, with one object of each kind, on a thread of
// its own.
func begun(t testing.TB, dev metalshim.Device, o standin.Options) *world {
	path := built(t)
	runtime.LockOSThread()
	s, err := standin.Serve(path, dev, o)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, s: s}
	if w.handle, err = purego.Dlopen(path, purego.RTLD_NOW); err != nil {
		t.Fatal(err)
	}
	w.dev = w.call("MTLCreateSystemDefaultDevice")
	source, name := w.str("kernel"), w.str("a")
	var e uintptr
	w.pooled(func() {
		w.library = w.send(w.dev, "newLibraryWithSource:options:error:", source, 0, address(&e))
		w.function = w.send(w.library, "newFunctionWithName:", name)
		w.pipeline = w.send(w.dev, "newComputePipelineStateWithFunction:error:", w.function, address(&e))
	})
	w.release(source, name)
	w.queue = w.send(w.dev, "newCommandQueue")
	w.buf = w.send(w.dev, "newBufferWithLength:options:", 64, 0)
	return w
}

// end releases what begun made, and closes.
func (w *world) end() error {
	w.release(w.buf, w.queue, w.pipeline, w.function, w.library, w.dev)
	err := w.s.Close()
	runtime.UnlockOSThread()
	return err
}

func TestWorld(t *testing.T) {
	dev := &shimtest.Device{}
	w := begun(t, dev, standin.Options{})
	if err := w.end(); err != nil {
		t.Error(err)
	}
	if n := dev.Live(); n != (metalshim.Counts{}) {
		t.Errorf("%+v", n)
	}
}
