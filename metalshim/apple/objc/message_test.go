package objc

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// The encodings are what clang emits for Apple's declarations.
func TestEncoding(t *testing.T) {
	for _, c := range []struct {
		f    any
		want string
	}{
		{func(ID, SEL) {}, "v@:"},
		{func(ID, SEL) ID { return 0 }, "@@:"},
		{func(ID, SEL, int64) bool { return false }, "B@:q"},
		{func(ID, SEL, ID, ID, *ID) ID { return 0 }, "@@:@@^@"},
		{func(ID, SEL, Size, Size) {}, "v@:{?=QQQ}{?=QQQ}"},
		{func(ID, SEL, ID, Range, uint8) {}, "v@:@{_NSRange=QQ}C"},
		{func(ID, SEL) Version { return Version{} }, "{?=qqq}@:"},
		{func(ID, SEL) float64 { return 0 }, "d@:"},
		{func(ID, SEL, Block) {}, "v@:@?"},
		{func(ID, SEL) CString { return nil }, "*@:"},
		{func(ID, SEL, unsafe.Pointer, uint64) unsafe.Pointer { return nil }, "^v@:^vQ"},
		{func(ID, SEL, SEL) bool { return false }, "B@::"},
	} {
		if got, err := Encoding(reflect.TypeOf(c.f)); err != nil || got != c.want {
			t.Errorf("%T: %q, %v; want %q", c.f, got, err, c.want)
		}
	}
	for _, f := range []any{1, func() {}, func(ID, SEL) (ID, error) { return 0, nil }, func(ID, SEL, int) {}, func(SEL, ID) {}} {
		if got, err := Encoding(reflect.TypeOf(f)); err == nil {
			t.Errorf("%T: %q, want an error", f, got)
		}
	}
}

// The left sides are of the forms that clang and Apple's runtimes give.
func TestPlain(t *testing.T) {
	for _, c := range []struct{ arch, live, want string }{
		{"arm64", "@16@0:8", "@@:"},
		{"arm64", `@"NSString"16@0:8`, "@@:"},
		{"arm64", "v64@0:8{?=QQQ}16{?=QQQ}40", "v@:{?=QQQ}{?=QQQ}"},
		{"arm64", "v24@0:8@?<v@?@\"<MTLCommandBuffer>\">16", "v@:@?"},
		{"arm64", `@40@0:8@"NSString"16@"MTLCompileOptions"24^@32`, "@@:@@^@"},
		{"arm64", "r*16@0:8", "*@:"},
		{"arm64", "v40@0:8r^v16Q24Q32", "v@:^vQQ"},
		{"arm64", "v44@0:8@16{_NSRange=QQ}24C40", "v@:@{_NSRange=QQ}C"},
		{"arm64", "B24@0:8q16", "B@:q"},
		{"amd64", "c24@0:8q16", "B@:q"},
		{"arm64", "c24@0:8q16", "c@:q"},
		{"arm64", "{?=qqq}16@0:8", "{?=qqq}@:"},
	} {
		if got := Plain(c.live, c.arch); got != c.want {
			t.Errorf("%s: %s, want %s", c.live, got, c.want)
		}
	}
}

func TestSelectors(t *testing.T) {
	var good struct {
		A Message[func(ID, SEL) ID] `objc:"MTLDevice - name @@:"`
		B Fast[func(ID, SEL)]       `objc:"MTLThing + new: v@:"`
	}
	got, err := Selectors(&good)
	want := []Selector{{"MTLDevice", false, "name", "@@:"}, {"MTLThing", true, "new:", "v@:"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if s := got[1].String(); s != "+[MTLThing new:]" {
		t.Errorf("it prints as %s", s)
	}
	for name, table := range map[string]any{
		"not a message": &struct{ A int }{},
		"its tag": &struct {
			A Message[func(ID, SEL) ID] `objc:"MTLDevice name @@:"`
		}{},
		"the Go signature is Q@:, the encoding @@:": &struct {
			A Message[func(ID, SEL) uint64] `objc:"MTLDevice - name @@:"`
		}{},
		"no encoding": &struct {
			A Fast[func(ID, SEL, string)] `objc:"MTLDevice - name v@:*"`
		}{},
	} {
		if _, err := Selectors(table); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoadSaysWhatIsMissing(t *testing.T) {
	if _, err := Load(Libraries{}); err == nil || !strings.Contains(err.Error(), "the Objective-C runtime: no path was given") {
		t.Errorf("no path: %v", err)
	}
	if _, err := Load(Libraries{Runtime: "/no/such/libobjc"}); err == nil || !strings.Contains(err.Error(), "/no/such/libobjc") {
		t.Errorf("no such file: %v", err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	l := Libraries{Runtime: "libc.so.6", Foundation: "libc.so.6", Metal: "libc.so.6"}
	if _, err := Load(l); err == nil || !strings.Contains(err.Error(), "objc_msgSend") {
		t.Errorf("a library that is no runtime: %v", err)
	}
}

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		e    Error
		want string
	}{
		{Error{}, "the system gave no reason"},
		{Error{"MTLLibraryErrorDomain", 3, "program_source:1:1: error: x\n"}, "MTLLibraryErrorDomain 3: program_source:1:1: error: x"},
	} {
		if got := c.e.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Whatever an encoding is, it becomes no longer.
func FuzzPlain(f *testing.F) {
	f.Add("v24@0:8@?<v@?@\"<MTLCommandBuffer>\">16", "arm64")
	f.Add("c24@0:8q16{<", "amd64")
	f.Fuzz(func(t *testing.T, encoding, arch string) {
		once := Plain(encoding, arch)
		if len(once) > len(encoding) {
			t.Errorf("%q became %q", encoding, once)
		}
		if twice := Plain(once, arch); len(twice) > len(once) {
			t.Errorf("%q became %q, and that %q", encoding, once, twice)
		}
	})
}
