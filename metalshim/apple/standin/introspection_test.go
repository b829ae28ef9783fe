//go:build linux && (amd64 || arm64)

package standin_test

import (
	"testing"

	"github.com/ebitengine/purego"

	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/shimtest"
)

// lookup sends a message as a program for GNUstep does: it asks for the body,
// and calls it.
func (w *world) lookup(o uintptr, selector string, args ...uintptr) uintptr {
	body := w.call("objc_msg_lookup", o, w.sel(selector))
	r, _, _ := purego.SyscallN(body, append([]uintptr{o, w.sel(selector)}, args...)...)
	return r
}

// A body that is replaced is called from then on, by both ways to send, and by
// nothing else: the class next to it keeps its own.
func TestReplacedBody(t *testing.T) {
	w := begun(t, &shimtest.Device{}, standin.Options{})
	class := w.call("object_getClass", w.queue)
	label := w.str("by the original")
	w.send(w.queue, "setLabel:", label)
	w.send(w.buf, "setLabel:", label)
	method := w.call("class_getInstanceMethod", class, w.sel("label"))
	w.is("method's selector", w.call("method_getName", method), w.sel("label"))
	w.is("arguments", w.call("method_getNumberOfArguments", method), 2)
	old := w.call("method_getImplementation", method)
	w.is("body by class and selector", w.call("class_getMethodImplementation", class, w.sel("label")), old)
	var seen []uintptr
	body := purego.NewCallback(func(self, cmd uintptr) uintptr {
		seen = append(seen, self, cmd)
		return 42
	})
	w.is("body that was there", w.call("method_setImplementation", method, body), old)
	w.is("sent", w.send(w.queue, "label"), 42)
	w.is("looked up", w.lookup(w.queue, "label"), 42)
	if want := []uintptr{w.queue, w.sel("label")}; len(seen) != 4 || seen[0] != want[0] || seen[1] != want[1] || seen[2] != want[0] || seen[3] != want[1] {
		t.Errorf("called with %#x, want twice %#x", seen, want)
	}
	w.is("body that was there", w.call("class_replaceMethod", class, w.sel("label"), old, 0), body)
	w.pooled(func() {
		w.says("label", w.lookup(w.queue, "label"), "by the original")
		w.says("label of another class", w.send(w.buf, "label"), "by the original")
	})
	w.release(label)
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

// The class of a class has the class's own methods.
func TestMetaclass(t *testing.T) {
	w := begun(t, &shimtest.Device{}, standin.Options{})
	class := w.class("NSString")
	meta := w.call("object_getClass", class)
	w.is("metaclass", w.call("class_isMetaClass", meta)&0xff, 1)
	w.is("class", w.call("class_isMetaClass", class)&0xff, 0)
	w.is("metaclass again", w.call("object_getClass", class), meta)
	if meta == w.call("object_getClass", w.class("NSArray")) {
		t.Error("two classes have one metaclass")
	}
	if name := cText(w.call("class_getName", meta)); name != "NSString" {
		t.Error(name)
	}
	if name := cText(w.call("object_getClassName", w.dev)); name != "StandinDevice" {
		t.Error(name)
	}
	ofClass := w.sel("stringWithUTF8String:")
	w.is("a class method among the instances'", w.call("class_getInstanceMethod", class, ofClass), 0)
	method := w.call("class_getInstanceMethod", meta, ofClass)
	w.is("class method", w.call("class_getClassMethod", class, ofClass), method)
	if types := cText(w.call("method_getTypeEncoding", method)); types != "@24@0:8*16" {
		t.Error(types)
	}
	w.is("an instance's method among the class's", w.call("class_getInstanceMethod", meta, w.sel("length")), 0)
	w.is("responds", w.call("class_respondsToSelector", meta, ofClass)&0xff, 1)
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

// Classes are data symbols of the names that GNUstep's two ABIs give them.
func TestClassSymbols(t *testing.T) {
	w := begun(t, &shimtest.Device{}, standin.Options{})
	for _, name := range []string{
		"NSString", "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSError", "NSURL", "NSNumber", "NSData",
		"NSProcessInfo", "NSAutoreleasePool", "MTLCompileOptions", "MTLFunctionConstantValues", "MTLComputePipelineDescriptor",
		"MTLBinaryArchiveDescriptor", "MTLResidencySetDescriptor", "MTLCommandQueueDescriptor", "MTLCommandBufferDescriptor",
	} {
		for _, symbol := range []string{"._OBJC_CLASS_" + name, "_OBJC_CLASS_" + name} {
			at, err := purego.Dlsym(w.handle, symbol)
			if err != nil {
				t.Fatal(err)
			}
			w.is(symbol, at, w.class(name))
		}
	}
	w.is("equal selectors", w.call("sel_isEqual", w.sel("label"), w.sel("label"))&0xff, 1)
	w.is("other selectors", w.call("sel_isEqual", w.sel("label"), w.sel("device"))&0xff, 0)
	if err := w.end(); err != nil {
		t.Error(err)
	}
}
