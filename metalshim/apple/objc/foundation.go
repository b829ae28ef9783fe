package objc

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Messages are the methods of Foundation that this package sends.
type Messages struct {
	Alloc              Message[func(ID, SEL) ID]                                 `objc:"NSObject + alloc @@:"`
	RespondsToSelector Message[func(ID, SEL, SEL) bool]                          `objc:"NSObject - respondsToSelector: B@::"`
	InitWithBytes      Message[func(ID, SEL, unsafe.Pointer, uint64, uint64) ID] `objc:"NSString - initWithBytes:length:encoding: @@:^vQQ"`
	UTF8String         Message[func(ID, SEL) CString]                            `objc:"NSString - UTF8String *@:"`
	LengthOfBytes      Message[func(ID, SEL, uint64) uint64]                     `objc:"NSString - lengthOfBytesUsingEncoding: Q@:Q"`
	Description        Message[func(ID, SEL) ID]                                 `objc:"NSError - localizedDescription @@:"`
	FailureReason      Message[func(ID, SEL) ID]                                 `objc:"NSError - localizedFailureReason @@:"`
	Code               Message[func(ID, SEL) int64]                              `objc:"NSError - code q@:"`
	Domain             Message[func(ID, SEL) ID]                                 `objc:"NSError - domain @@:"`
	ArrayCount         Message[func(ID, SEL) uint64]                             `objc:"NSArray - count Q@:"`
	ObjectAtIndex      Message[func(ID, SEL, uint64) ID]                         `objc:"NSArray - objectAtIndex: @@:Q"`
	ArrayWithObjects   Message[func(ID, SEL, *ID, uint64) ID]                    `objc:"NSArray + arrayWithObjects:count: @@:^@Q"`
	DictionaryNew      Message[func(ID, SEL) ID]                                 `objc:"NSMutableDictionary + new @@:"`
	SetObjectForKey    Message[func(ID, SEL, ID, ID)]                            `objc:"NSMutableDictionary - setObject:forKey: v@:@@"`
	FileURLWithPath    Message[func(ID, SEL, ID) ID]                             `objc:"NSURL + fileURLWithPath: @@:@"`
}

// utf8 is NSUTF8StringEncoding.
const utf8 = 4

// Pool is an autorelease pool on the calling goroutine's thread, which stays
// its thread until Pop. Pools nest.
type Pool struct {
	rt    *Runtime
	token uintptr
}

// Push opens a pool: defer rt.Push().Pop().
func (rt *Runtime) Push() Pool {
	runtime.LockOSThread()
	return Pool{rt, call(rt.poolPush, 0)}
}

// Pop releases what was autoreleased since Push. The pools opened since then
// must have been popped.
func (p Pool) Pop() {
	call(p.rt.poolPop, p.token)
	runtime.UnlockOSThread()
}

func call(function, argument uintptr) uintptr {
	r, _, _ := purego.SyscallN(function, argument)
	return r
}

// RespondsTo tells whether o, an object or a class, has a method. It is how a
// newer system is told from an older one.
func (rt *Runtime) RespondsTo(o ID, sel SEL) bool {
	return rt.m.RespondsToSelector.Send(o, rt.m.RespondsToSelector.SEL, sel)
}

// NewString makes an NSString of s, +1. Text that is not UTF-8 is an error.
func (rt *Runtime) NewString(s string) (ID, error) {
	at := unsafe.Pointer(unsafe.StringData(s))
	if len(s) == 0 {
		at = unsafe.Pointer(&[1]byte{})
	}
	o := Get(&rt.m.Alloc, rt.nsString)
	o = rt.m.InitWithBytes.Send(o, rt.m.InitWithBytes.SEL, at, uint64(len(s)), utf8)
	if o == 0 {
		return 0, fmt.Errorf("objc: %.40q is not UTF-8, or there is no memory for its %d bytes", s, len(s))
	}
	return o, nil
}

// String copies an NSString, all of it, NUL bytes too; "" for nil. It is
// called within a pool.
func (rt *Runtime) String(o ID) string {
	if o == 0 {
		return ""
	}
	n := rt.m.LengthOfBytes.Send(o, rt.m.LengthOfBytes.SEL, utf8)
	at := Get(&rt.m.UTF8String, o)
	if at == nil {
		return ""
	}
	return string(unsafe.Slice((*byte)(at), n))
}

// Count is the number of objects in an NSArray; 0 for nil.
func (rt *Runtime) Count(array ID) int {
	if array == 0 {
		return 0
	}
	return int(Get(&rt.m.ArrayCount, array))
}

// At is the object at place i, borrowed from the array. i < Count(array).
func (rt *Runtime) At(array ID, i int) ID {
	return rt.m.ObjectAtIndex.Send(array, rt.m.ObjectAtIndex.SEL, uint64(i))
}

// Strings copies an NSArray of NSString. It is called within a pool.
func (rt *Runtime) Strings(array ID) []string {
	out := make([]string, rt.Count(array))
	for i := range out {
		out[i] = rt.String(rt.At(array, i))
	}
	return out
}

// Array makes an NSArray of one object or more, autoreleased.
func (rt *Runtime) Array(objects ...ID) ID {
	return rt.m.ArrayWithObjects.Send(rt.nsArray, rt.m.ArrayWithObjects.SEL, &objects[0], uint64(len(objects)))
}

// NewDictionary makes an NSMutableDictionary of strings, +1.
func (rt *Runtime) NewDictionary(m map[string]string) (ID, error) {
	dict := Get(&rt.m.DictionaryNew, rt.nsMutDic)
	for k, v := range m {
		if err := rt.set(dict, k, v); err != nil {
			rt.Release(dict)
			return 0, err
		}
	}
	return dict, nil
}

func (rt *Runtime) set(dict ID, k, v string) error {
	key, err := rt.NewString(k)
	if err != nil {
		return err
	}
	defer rt.Release(key)
	value, err := rt.NewString(v)
	if err != nil {
		return err
	}
	defer rt.Release(value)
	rt.m.SetObjectForKey.Send(dict, rt.m.SetObjectForKey.SEL, value, key)
	return nil
}

// FileURL makes an NSURL of a path, autoreleased.
func (rt *Runtime) FileURL(path string) (ID, error) {
	s, err := rt.NewString(path)
	if err != nil {
		return 0, err
	}
	defer rt.Release(s)
	return rt.m.FileURLWithPath.Send(rt.nsURL, rt.m.FileURLWithPath.SEL, s), nil
}

// Error is an NSError.
type Error struct {
	Domain string // "MTLLibraryErrorDomain"
	Code   int64
	Text   string // its whole description; for a compile error the compiler's log
}

func (e *Error) Error() string {
	if e.Domain == "" {
		return "the system gave no reason"
	}
	return fmt.Sprintf("%s %d: %s", e.Domain, e.Code, strings.TrimSpace(e.Text))
}

// Error copies an NSError; nil gives an Error without a reason. It is called
// only once a result has said that something failed, because the place where
// an error would be holds anything after a success, and within a pool.
func (rt *Runtime) Error(o ID) *Error {
	if o == 0 {
		return &Error{}
	}
	e := &Error{
		Domain: rt.String(Get(&rt.m.Domain, o)),
		Code:   Get(&rt.m.Code, o),
		Text:   rt.String(Get(&rt.m.Description, o)),
	}
	if why := rt.String(Get(&rt.m.FailureReason, o)); why != "" && !strings.Contains(e.Text, why) {
		e.Text = strings.TrimRight(e.Text, "\n") + "\n" + why
	}
	return e
}
