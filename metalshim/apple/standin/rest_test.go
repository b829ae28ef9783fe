//go:build linux && (amd64 || arm64)

package standin_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/introgen/introgen/metalshim/apple"
	"github.com/introgen/introgen/metalshim/apple/objc"
	"github.com/introgen/introgen/metalshim/apple/standin"
)

// is compares a word.
func (w *world) is(what string, got, want uintptr) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %#x, want %#x", what, got, want)
	}
}

// says compares an NSString.
func (w *world) says(what string, got uintptr, want string) {
	w.t.Helper()
	if text := w.text(got); text != want {
		w.t.Errorf("%s: %q, want %q", what, text, want)
	}
}

// initialised is a new object by alloc and init.
func (w *world) initialised(class string) uintptr {
	return w.send(w.send(w.class(class), "alloc"), "init")
}

// TestEveryBody calls each method that the driver does not use, too, and sees
// that every body was called by these tests or is called by the driver's.
func TestEveryBody(t *testing.T) {
	dev := &recorder{}
	w := begun(t, dev, standin.Options{})
	for _, part := range []func(*world){
		(*world).strings, (*world).collections, (*world).objects, (*world).device, (*world).libraries, (*world).pipelines, (*world).beside, (*world).same,
		(*world).buffers, (*world).residency, (*world).queues, (*world).commandBuffers, (*world).encoders,
	} {
		w.pooled(func() { part(w) })
	}
	want := []string{
		"library, math 0 1, version 3.1, macros map[A:-3 B:7 C:8 D:1 E:2 F:x]",
		"pipeline a [4:int=5 5:int=6]",
		"pipeline a []",
		"buffer 1: 64+4", "buffer 2: 64+8", "buffer 2: 64+12",
	}
	for _, line := range want {
		if !slices.Contains(dev.lines, line) {
			t.Errorf("the device was not told %q:\n%s", line, strings.Join(dev.lines, "\n"))
		}
	}
	selectors, err := apple.Selectors()
	if err != nil {
		t.Fatal(err)
	}
	calls := w.s.Calls()
	for _, s := range selectors {
		delete(calls, s.String())
	}
	for name, n := range calls {
		if n == 0 {
			t.Errorf("%s has a body that no test calls", name)
		}
	}
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

func (w *world) strings() {
	w.is("length of nothing", w.send(w.send(w.make("NSString"), "autorelease"), "length"), 0)
	w.is("length of nothing", w.send(w.send(w.initialised("NSString"), "autorelease"), "length"), 0)
	text := w.send(w.class("NSString"), "stringWithUTF8String:", cString("aé😀"))
	w.is("UTF-16 units", w.send(text, "length"), 4)
	w.says("text", text, "aé😀")
	w.says("text", w.send(w.class("NSString"), "stringWithCString:encoding:", cString("aé"), 4), "aé")
	copied := w.send(w.send(w.class("NSString"), "alloc"), "initWithUTF8String:", cString("x"))
	w.says("text", copied, "x")
	w.release(copied)
	for _, bad := range []string{"\xff", "a\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82"} {
		w.is("text that is not UTF-8", w.str(bad), 0)
		w.is("text that is not UTF-8", w.send(w.class("NSString"), "stringWithUTF8String:", cString(bad)), 0)
	}
	url := w.send(w.class("NSURL"), "fileURLWithPath:isDirectory:", text, 0)
	w.says("path", w.send(url, "path"), "aé😀")
}

func (w *world) collections() {
	a, b := w.send(w.str("a"), "autorelease"), w.send(w.str("b"), "autorelease")
	w.is("count", w.send(w.send(w.class("NSArray"), "array"), "count"), 0)
	for _, array := range []uintptr{w.send(w.class("NSMutableArray"), "array"), w.send(w.make("NSMutableArray"), "autorelease"), w.send(w.initialised("NSMutableArray"), "autorelease")} {
		w.send(array, "addObject:", a)
		w.send(array, "addObject:", b)
		w.is("count", w.send(array, "count"), 2)
		w.is("item", w.send(array, "objectAtIndex:", 1), b)
	}
	pair := address(&[2]uintptr{a, b})
	both := w.send(w.send(w.send(w.class("NSArray"), "alloc"), "initWithObjects:count:", pair, 2), "autorelease")
	w.is("item", w.send(both, "objectAtIndex:", 1), b)
	got := new([2]uintptr)
	w.send(both, "getObjects:", address(got))
	w.is("first object", got[0], a)
	w.is("second object", got[1], b)
	for _, d := range []uintptr{
		w.send(w.class("NSDictionary"), "dictionaryWithObjects:forKeys:count:", pair, pair, 2),
		w.send(w.send(w.send(w.class("NSDictionary"), "alloc"), "initWithObjects:forKeys:count:", pair, pair, 2), "autorelease"),
	} {
		w.is("count", w.send(d, "count"), 2)
		w.is("object", w.send(d, "objectForKey:", b), b)
		w.is("keys", w.send(w.send(d, "allKeys"), "count"), 2)
	}
	for _, d := range []uintptr{w.send(w.class("NSMutableDictionary"), "dictionary"), w.send(w.class("NSMutableDictionary"), "dictionaryWithCapacity:", 9), w.send(w.initialised("NSMutableDictionary"), "autorelease")} {
		w.send(d, "setObject:forKey:", a, b)
		w.send(d, "setObject:forKey:", b, b)
		w.is("count", w.send(d, "count"), 1)
		w.is("object", w.send(d, "objectForKey:", b), b)
		w.is("object of no key", w.send(d, "objectForKey:", a), 0)
	}
	bytes := cString("123")
	w.is("length", w.send(w.send(w.class("NSData"), "dataWithBytes:length:", bytes, 3), "length"), 3)
	w.is("length", w.send(w.send(w.send(w.send(w.class("NSData"), "alloc"), "initWithBytes:length:", bytes, 2), "autorelease"), "length"), 2)
}

func (w *world) objects() {
	w.release(w.initialised("NSNumber"))
	number := w.make("NSNumber")
	w.is("retain", w.send(number, "retain"), number)
	w.release(number)
	if text := w.text(w.send(number, "description")); !strings.HasPrefix(text, "NSNumber #") {
		w.t.Errorf("description %q", text)
	}
	w.send(number, "autorelease")
	protocol := w.call("objc_getProtocol", cString("MTLResource"))
	w.is("the same protocol", w.call("objc_getProtocol", cString("MTLResource")), protocol)
	w.is("no protocol", w.call("objc_getProtocol", cString("MTLTeapot")), 0)
	w.is("buffer is a resource", w.send(w.buf, "conformsToProtocol:", protocol)&0xff, 1)
	w.is("queue is a resource", w.send(w.queue, "conformsToProtocol:", protocol)&0xff, 0)
	w.is("no class", w.class("NSTeapot"), 0)
	for _, begin := range []func(string) uintptr{w.make, w.initialised} {
		pool := begin("NSAutoreleasePool")
		w.commands()
		w.send(pool, "drain")
	}
	values := w.send(w.initialised("MTLFunctionConstantValues"), "autorelease")
	missing := w.send(w.str("missing"), "autorelease")
	e := new(uintptr)
	w.is("function", w.send(w.library, "newFunctionWithName:constantValues:error:", missing, values, address(e)), 0)
	key := w.send(w.str("NSLocalizedDescription"), "autorelease")
	w.says("userInfo", w.send(w.send(*e, "userInfo"), "objectForKey:", key), "Function missing was not found in the library")
}

func (w *world) device() {
	w.is("counterSets", w.send(w.dev, "counterSets"), 0)
	w.is("location", w.send(w.dev, "location"), 0)
	w.is("maxTransferRate", w.send(w.dev, "maxTransferRate"), 0)
	w.is("readWriteTextureSupport", w.send(w.dev, "readWriteTextureSupport"), 2)
	w.is("supportsCounterSampling", w.send(w.dev, "supportsCounterSampling:", 2)&0xff, 0)
	w.release(w.send(w.dev, "newEvent"))
	event := w.send(w.dev, "newSharedEvent")
	w.send(event, "setSignaledValue:", 1<<40)
	w.is("signaledValue", w.send(event, "signaledValue"), 1<<40)
	w.is("signalled", w.send(event, "waitUntilSignaledValue:timeoutMS:", 1<<40, 0)&0xff, 1)
	w.is("not signalled", w.send(event, "waitUntilSignaledValue:timeoutMS:", 1<<40+1, 2)&0xff, 0)
	c := w.commands()
	w.send(c, "encodeSignalEvent:value:", event, 1<<41)
	w.send(c, "commit")
	w.completed(c)
	w.is("signalled by a command buffer", w.send(event, "waitUntilSignaledValue:timeoutMS:", 1<<41, 0)&0xff, 1)
	w.release(event)
}

// data is what libdispatch calls data, with +1.
func (w *world) data(s string) uintptr {
	return w.call("dispatch_data_create", cString(s), uintptr(len(s)), 0, 0)
}

// completed waits for c.
func (w *world) completed(c uintptr) { w.send(c, "waitUntilCompleted") }

func (w *world) libraries() {
	good, bad := w.data("MTLBkernel"), w.data("kernel")
	var e uintptr
	library := w.send(w.dev, "newLibraryWithData:error:", good, address(&e))
	w.is("functions of data", w.send(w.send(library, "functionNames"), "count"), w.send(w.send(w.library, "functionNames"), "count"))
	w.is("library of other data", w.send(w.dev, "newLibraryWithData:error:", bad, address(&e)), 0)
	w.says("why", w.send(e, "localizedDescription"), "Invalid library file")
	w.release(library)
	w.call("dispatch_release", good)
	w.call("dispatch_release", bad)
	macros := w.send(w.class("NSMutableDictionary"), "dictionary")
	for key, value := range map[string]uintptr{
		"A": w.send(w.class("NSNumber"), "numberWithInt:", ^uintptr(2)), // -3
		"B": w.send(w.class("NSNumber"), "numberWithInteger:", 7),
		"C": w.send(w.class("NSNumber"), "numberWithUnsignedInteger:", 8),
		"D": w.send(w.class("NSNumber"), "numberWithBool:", 1),
		"F": w.send(w.str("x"), "autorelease"),
	} {
		w.send(macros, "setObject:forKey:", value, w.send(w.str(key), "autorelease"))
	}
	m := w.typed()
	double := m.Double.Send(objc.ID(w.class("NSNumber")), m.Double.SEL, math.E)
	w.send(macros, "setObject:forKey:", uintptr(double), w.send(w.str("E"), "autorelease"))
	o := w.initialised("MTLCompileOptions")
	w.send(o, "setPreprocessorMacros:", macros)
	w.is("macros", w.send(o, "preprocessorMacros"), macros)
	w.send(o, "setOptimizationLevel:", 1)
	w.send(o, "setLanguageVersion:", 3<<16|1)
	w.send(o, "setFastMathEnabled:", 0)
	w.is("mathMode", w.send(o, "mathMode"), 0)
	w.send(o, "setMathFloatingPointFunctions:", 1)
	label, source := w.send(w.str("label"), "autorelease"), w.send(w.str("kernel"), "autorelease")
	l := w.send(w.dev, "newLibraryWithSource:options:error:", source, o, 0)
	w.send(l, "setLabel:", label)
	w.says("label", w.send(l, "label"), "label")
	w.is("device", w.send(l, "device"), w.dev)
	w.release(l, o)
	w.says("name", w.send(w.function, "name"), "a")
	w.is("functionType", w.send(w.function, "functionType"), 3)
}

// beside has a library and pipelines compiled beside this thread, and waits until
// nothing is left of it.
func (w *world) beside() {
	before := w.s.Leaks()
	type made struct{ object, error uintptr }
	told := make(chan made, 1)
	plain := w.blockWith("_NSConcreteStackBlock", 0, purego.NewCallback(func(_, object, e uintptr) { told <- made{object, e} }))
	reflected := w.blockWith("_NSConcreteStackBlock", 0, purego.NewCallback(func(_, object, reflection, e uintptr) {
		w.is("reflection", reflection, 0)
		told <- made{object, e}
	}))
	d := w.initialised("MTLComputePipelineDescriptor")
	w.send(d, "setComputeFunction:", w.function)
	source := w.str("kernel")
	for selector, args := range map[string][]uintptr{
		"newLibraryWithSource:options:completionHandler:":                   {source, 0, plain},
		"newComputePipelineStateWithFunction:completionHandler:":            {w.function, plain},
		"newComputePipelineStateWithFunction:options:completionHandler:":    {w.function, 0, reflected},
		"newComputePipelineStateWithDescriptor:options:completionHandler:":  {d, 0, reflected},
		"newComputePipelineStateWithDescriptor:options:completionHandler: ": {d, 4, reflected},
	} {
		w.send(w.dev, strings.TrimSuffix(selector, " "), args...)
		got := <-told
		if miss := strings.HasSuffix(selector, " "); (got.object == 0) != miss || (got.error == 0) == miss {
			w.t.Errorf("%s gave %#x and the error %#x", selector, got.object, got.error)
		}
	}
	// The values are read before the call returns, and what is wrong is told beside too.
	w.pooled(func() {
		for name, missing := range map[string]bool{"a": false, "no such function": true} {
			values, of := w.make("MTLFunctionConstantValues"), w.str(name)
			w.send(values, "setConstantValue:type:atIndex:", cString("\x01"), 53, 9)
			w.send(w.library, "newFunctionWithName:constantValues:completionHandler:", of, values, plain)
			w.send(values, "reset")
			if got := <-told; (got.object == 0) != missing || (got.error == 0) == missing {
				w.t.Errorf("function %q: %#x and the error %#x", name, got.object, got.error)
			}
			w.release(values, of)
		}
	})
	w.release(d, source)
	for range 1000 {
		if now := w.s.Leaks(); len(now.Objects) == len(before.Objects) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	w.t.Errorf("what was compiled is still there: %v", w.s.Leaks())
}

// same is what every program is told.
func (w *world) same() {
	w.is("newDefaultLibrary", w.send(w.dev, "newDefaultLibrary"), 0)
	w.is("barycentric", w.send(w.dev, "supportsShaderBarycentricCoordinates")&0xff, 0)
	w.is("heap bytes", w.send(w.dev, "heapBufferSizeAndAlignWithLength:options:", 1, 0)%uintptr(os.Getpagesize()), 0)
	w.is("purgeable state", w.send(w.buf, "setPurgeableState:", 3), 2)
	w.is("logs", w.send(w.commands(), "logs"), 0)
	o := w.initialised("MTLCompileOptions")
	w.send(o, "setPreserveInvariance:", 1)
	w.send(o, "setMaxTotalThreadsPerThreadgroup:", 1024)
	w.release(o)
}

func (w *world) pipelines() {
	values := w.make("MTLFunctionConstantValues")
	w.send(values, "setConstantValue:type:atIndex:", cString("\x01"), 53, 9)
	w.send(values, "reset")
	// Two ints from index 4 on: a range by value, which on both systems is two
	// words.
	w.send(values, "setConstantValues:type:withRange:", address(&[2]int32{5, 6}), 29, 4, 2)
	name, label := w.send(w.str("a"), "autorelease"), w.send(w.str("label"), "autorelease")
	f := w.send(w.library, "newFunctionWithName:constantValues:error:", name, values, 0)
	p := w.send(w.dev, "newComputePipelineStateWithFunction:options:reflection:error:", f, 0, 0, 0)
	w.is("device", w.send(p, "device"), w.dev)
	w.is("label", w.send(p, "label"), 0)
	w.is("allocatedSize", w.send(p, "allocatedSize"), 0)
	w.release(p)
	d := w.initialised("MTLComputePipelineDescriptor")
	w.send(d, "setLabel:", label)
	w.says("label", w.send(d, "label"), "label")
	w.send(d, "setMaxTotalThreadsPerThreadgroup:", 64)
	w.send(d, "setThreadGroupSizeIsMultipleOfThreadExecutionWidth:", 1)
	w.send(d, "reset")
	w.is("label", w.send(d, "label"), 0)
	w.send(d, "setComputeFunction:", w.function)
	w.is("computeFunction", w.send(d, "computeFunction"), w.function)
	w.is("binaryArchives", w.send(d, "binaryArchives"), 0)

	ad := w.initialised("MTLBinaryArchiveDescriptor")
	w.is("url", w.send(ad, "url"), 0)
	x := w.send(w.dev, "newBinaryArchiveWithDescriptor:error:", ad, 0)
	w.send(x, "setLabel:", label)
	w.says("label", w.send(x, "label"), "label")
	w.is("device", w.send(x, "device"), w.dev)
	path := filepath.Join(w.t.TempDir(), "archive")
	file := w.send(w.class("NSURL"), "fileURLWithPath:", w.send(w.str(path), "autorelease"))
	e := new(uintptr)
	w.is("an empty archive", w.send(x, "serializeToURL:error:", file, address(e))&0xff, 0)
	w.is("code", w.send(*e, "code"), 4)
	w.send(d, "setBinaryArchives:", w.send(w.class("NSArray"), "arrayWithObjects:count:", address(&[1]uintptr{x}), 1))
	newPipeline := "newComputePipelineStateWithDescriptor:options:reflection:error:"
	w.is("a miss", w.send(w.dev, newPipeline, d, 4, 0, address(e)), 0)
	w.is("add", w.send(x, "addComputePipelineFunctionsWithDescriptor:error:", d, 0)&0xff, 1)
	hit := w.send(w.dev, newPipeline, d, 4, 0, address(e))
	w.release(hit, x)
	if err := os.WriteFile(path, []byte("standin archive 1\n0123"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.send(ad, "setUrl:", file)
	w.is("a damaged archive", w.send(w.dev, "newBinaryArchiveWithDescriptor:error:", ad, address(e)), 0)
	w.is("code", w.send(*e, "code"), 1)
	w.release(ad, d, f, values)
}

func (w *world) buffers() {
	b := w.send(w.dev, "newBufferWithBytes:length:options:", cString("1234"), 4, 0x111)
	at := w.send(b, "contents")
	if got := string(unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), 4)); got != "1234" {
		w.t.Errorf("contents %q", got)
	}
	for selector, want := range map[string]uintptr{"cpuCacheMode": 1, "storageMode": 1, "hazardTrackingMode": 1, "resourceOptions": 0x111, "allocatedSize": 4, "device": w.dev} {
		w.is(selector, w.send(b, selector), want)
	}
	label := w.send(w.str("label"), "autorelease")
	w.send(b, "setLabel:", label)
	w.says("label", w.send(b, "label"), "label")
	w.send(b, "didModifyRange:", 1, 3)
	w.send(b, "addDebugMarker:range:", label, 0, 4)
	w.send(b, "removeAllDebugMarkers")
	if w.send(b, "gpuAddress") == w.send(w.buf, "gpuAddress") {
		w.t.Error("two buffers have the same address")
	}
	w.release(b)
	w.is("a buffer of nothing", w.send(w.dev, "newBufferWithLength:options:", 0, 0), 0)
	w.is("a buffer that is too large", w.send(w.dev, "newBufferWithLength:options:", 1<<40, 0), 0)
	// The deallocator is called with what it has to free.
	page := os.Getpagesize()
	memory := address(&make([]byte, 2*page)[0])
	memory = (memory + uintptr(page) - 1) / uintptr(page) * uintptr(page)
	var freed, length uintptr
	f := purego.NewCallback(func(_, at, n uintptr) { freed, length = at, n })
	b = w.send(w.dev, "newBufferWithBytesNoCopy:length:options:deallocator:", memory, uintptr(page), 0, w.blockWith("_NSConcreteGlobalBlock", 1<<28, f))
	w.is("contents", w.send(b, "contents"), memory)
	w.is("freed too early", freed, 0)
	w.release(b)
	w.is("freed", freed, memory)
	w.is("bytes", length, uintptr(page))
}

func (w *world) residency() {
	d := w.initialised("MTLResidencySetDescriptor")
	w.send(d, "setLabel:", w.send(w.str("label"), "autorelease"))
	w.send(d, "setInitialCapacity:", 8)
	s := w.send(w.dev, "newResidencySetWithDescriptor:error:", d, 0)
	w.send(s, "addAllocations:count:", address(&[3]uintptr{w.buf, w.pipeline, w.buf}), 3)
	w.is("allocationCount", w.send(s, "allocationCount"), 2)
	w.is("allocatedSize", w.send(s, "allocatedSize"), 64)
	w.send(s, "removeAllocation:", w.pipeline)
	w.is("contains the buffer", w.send(s, "containsAllocation:", w.buf)&0xff, 1)
	w.is("contains the pipeline", w.send(s, "containsAllocation:", w.pipeline)&0xff, 0)
	c := w.commands()
	w.send(c, "useResidencySet:", s)
	w.send(c, "commit")
	w.completed(c)
	w.send(s, "removeAllAllocations")
	w.is("allocationCount", w.send(s, "allocationCount"), 0)
	w.release(s, d)
}
