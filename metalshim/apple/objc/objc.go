// Package objc sends Objective-C messages from Go without cgo. It is a small
// layer over purego's core (dlopen, calls of C functions, callbacks), and it
// does not care which libraries it is given: on macOS Apple's runtime and
// frameworks, on Linux a stand-in for tests.
//
// Each message is declared with its Go signature and Apple's type encoding
// (see Message); Bind refuses a message whose signature and encoding differ.
// NSExceptions cannot unwind through Go, so a caller validates what it sends.
//
// Ownership is Cocoa's: what a method whose name begins with new, alloc, copy
// or init returns belongs to the caller, who releases it; everything else is
// borrowed, and lives at least until the autorelease pool is drained in which
// it was obtained. Every message that may autorelease is sent within a Pool.
package objc

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// ID is an object or a class, or 0 for nil.
type ID uintptr

// SEL is a registered selector.
type SEL uintptr

// Class is a class, which is itself an object.
type Class = ID

// Block is the address of a block, or 0 for nil.
type Block uintptr

// CString is a C string that belongs to the object it came from.
type CString unsafe.Pointer

// Size is MTLSize: three words, passed and returned in memory.
type Size struct{ Width, Height, Depth uint64 }

// Range is NSRange: two words, passed in registers.
type Range struct{ Location, Length uint64 }

// Version is NSOperatingSystemVersion.
type Version struct{ Major, Minor, Patch int64 }

// Libraries are the paths of what is loaded. They may be the same file.
type Libraries struct{ Runtime, Foundation, Metal string }

// Runtime is a loaded Objective-C runtime. It may be used by several
// goroutines.
type Runtime struct {
	msgSend, msgSendStret       uintptr
	retain, release             uintptr
	poolPush, poolPop           uintptr
	metal                       uintptr // handle of the Metal library
	globalBlock                 uintptr // the class of blocks that capture nothing
	registerName                func(string) SEL
	getClass                    func(string) Class
	classOf                     func(ID) Class
	instanceMethod              func(Class, SEL) uintptr
	typeEncoding                func(uintptr) string
	createDefault, copyAll      func() ID
	m                           Messages
	nsString, nsArray, nsMutDic Class
	nsURL                       Class
}

// Load loads the libraries and binds the messages of this package. What is
// missing is named in the error.
func Load(l Libraries) (*Runtime, error) {
	rt := &Runtime{}
	runtimeLib, err := open("the Objective-C runtime", l.Runtime)
	if err != nil {
		return nil, err
	}
	if _, err := open("Foundation", l.Foundation); err != nil {
		return nil, err
	}
	if rt.metal, err = open("Metal", l.Metal); err != nil {
		return nil, err
	}
	addresses := []struct {
		lib  uintptr
		name string
		to   *uintptr
	}{
		{runtimeLib, "objc_msgSend", &rt.msgSend},
		{runtimeLib, "objc_retain", &rt.retain},
		{runtimeLib, "objc_release", &rt.release},
		{runtimeLib, "objc_autoreleasePoolPush", &rt.poolPush},
		{runtimeLib, "objc_autoreleasePoolPop", &rt.poolPop},
	}
	for _, a := range addresses {
		if *a.to, err = symbol(a.lib, a.name); err != nil {
			return nil, err
		}
	}
	if runtime.GOARCH == "amd64" {
		if rt.msgSendStret, err = symbol(runtimeLib, "objc_msgSend_stret"); err != nil {
			return nil, err
		}
	}
	// macOS has the classes of blocks in libSystem, which is always loaded.
	if rt.globalBlock, err = symbol(runtimeLib, "_NSConcreteGlobalBlock"); err != nil {
		if rt.globalBlock, err = symbol(purego.RTLD_DEFAULT, "_NSConcreteGlobalBlock"); err != nil {
			return nil, err
		}
	}
	functions := []struct {
		lib  uintptr
		name string
		to   any
	}{
		{runtimeLib, "sel_registerName", &rt.registerName},
		{runtimeLib, "objc_getClass", &rt.getClass},
		{runtimeLib, "object_getClass", &rt.classOf},
		{runtimeLib, "class_getInstanceMethod", &rt.instanceMethod},
		{runtimeLib, "method_getTypeEncoding", &rt.typeEncoding},
		{rt.metal, "MTLCreateSystemDefaultDevice", &rt.createDefault},
		{rt.metal, "MTLCopyAllDevices", &rt.copyAll},
	}
	for _, f := range functions {
		address, err := symbol(f.lib, f.name)
		if err != nil {
			return nil, err
		}
		purego.RegisterFunc(f.to, address)
	}
	if err := Bind(rt, &rt.m); err != nil {
		return nil, err
	}
	classes := []struct {
		name string
		to   *Class
	}{{"NSString", &rt.nsString}, {"NSArray", &rt.nsArray}, {"NSMutableDictionary", &rt.nsMutDic}, {"NSURL", &rt.nsURL}}
	for _, c := range classes {
		if *c.to, err = rt.Class(c.name); err != nil {
			return nil, err
		}
	}
	return rt, nil
}

// errNoPath is why a library is not loaded that nobody named.
var errNoPath = errors.New("no path was given")

func open(what, path string) (uintptr, error) {
	if path == "" {
		return 0, fmt.Errorf("objc: load %s: %w", what, errNoPath)
	}
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return 0, fmt.Errorf("objc: load %s: %w", what, err)
	}
	return h, nil
}

func symbol(lib uintptr, name string) (uintptr, error) {
	address, err := purego.Dlsym(lib, name)
	if err != nil {
		return 0, fmt.Errorf("objc: %w", err)
	}
	return address, nil
}

// Class finds a class by its name.
func (rt *Runtime) Class(name string) (Class, error) {
	c := rt.getClass(name)
	if c == 0 {
		return 0, fmt.Errorf("objc: this system has no class %s", name)
	}
	return c, nil
}

// Selector registers a selector.
func (rt *Runtime) Selector(name string) SEL { return rt.registerName(name) }

// CreateSystemDefaultDevice is MTLCreateSystemDefaultDevice(), +1 or nil.
func (rt *Runtime) CreateSystemDefaultDevice() ID { return rt.createDefault() }

// CopyAllDevices is MTLCopyAllDevices(), an NSArray, +1 or nil.
func (rt *Runtime) CopyAllDevices() ID { return rt.copyAll() }

// Retain takes a share of the ownership of o.
func (rt *Runtime) Retain(o ID) ID {
	purego.SyscallN(rt.retain, uintptr(o))
	return o
}

// Release gives a share of the ownership of o back; nil is allowed.
func (rt *Runtime) Release(o ID) {
	if o != 0 {
		purego.SyscallN(rt.release, uintptr(o))
	}
}

// LiveEncoding is the type encoding of the method that o, an object or a
// class, runs for sel, as its class states it, in the form of Encoding; "" if
// it has none.
func (rt *Runtime) LiveEncoding(o ID, sel SEL) string {
	m := rt.instanceMethod(rt.classOf(o), sel)
	if m == 0 {
		return ""
	}
	return Plain(rt.typeEncoding(m), runtime.GOARCH)
}
