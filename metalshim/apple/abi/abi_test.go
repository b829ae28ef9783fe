package abi

import (
	"reflect"
	"strings"
	"testing"
)

// The counts are those of the table's description; the encodings are what
// clang emits for the declarations in Apple's headers.
func TestTable(t *testing.T) {
	table, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if m, f, e := len(table.Methods), len(table.Functions), len(table.Enums); m != 287 || f != 14 || e != 231 {
		t.Errorf("%d methods, %d functions, %d enum constants; want 287, 14, 231", m, f, e)
	}
	for _, c := range []struct {
		key, encoding string
		owned         bool
	}{
		{"-[MTLComputeCommandEncoder dispatchThreads:threadsPerThreadgroup:]", "v@:{?=QQQ}{?=QQQ}", false},
		{"-[MTLDevice newLibraryWithSource:options:error:]", "@@:@@^@", true},
		{"-[MTLBlitCommandEncoder fillBuffer:range:value:]", "v@:@{_NSRange=QQ}C", false},
		{"-[MTLCommandBuffer addCompletedHandler:]", "v@:@?", false},
		{"-[MTLCommandBuffer GPUStartTime]", "d@:", false},
		{"-[MTLCommandQueue commandBuffer]", "@@:", false},
		{"+[NSObject alloc]", "@@:", true},
		{"-[NSObject respondsToSelector:]", "B@::", false},
		{"+[NSDictionary dictionaryWithObjects:forKeys:count:]", "@@:^@^@Q", false},
	} {
		m := table.Find(c.key)
		if m == nil {
			t.Errorf("%s is absent", c.key)
		} else if m.Encoding() != c.encoding || m.Owned != c.owned {
			t.Errorf("%s: %s, owned %v; want %s, %v", c.key, m.Encoding(), m.Owned, c.encoding, c.owned)
		}
	}
	for name, want := range map[string]int64{
		"MTLGPUFamilyApple7": 1007, "MTLDataTypeBool": 53, "MTLCommandBufferErrorDeviceRemoved": 11,
		"MTLLanguageVersion3_1": 3<<16 | 1, "MTLDeviceLocationUnspecified": -1,
	} {
		if got, ok := table.Enums[name]; !ok || got != want {
			t.Errorf("%s = %d (%v), want %d", name, got, ok, want)
		}
	}
	if got := table.Functions["class_getInstanceMethod"]; got != "^v#:" {
		t.Errorf("class_getInstanceMethod: %q", got)
	}
}

// What other programs send is beside it and not in it. The encodings are those
// of the methods' declarations in Apple's headers.
func TestLoadAll(t *testing.T) {
	own, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	all, err := LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"-[NSArray initWithObjects:count:]": "@@:^@Q", "-[NSArray getObjects:]": "v@:^@",
	} {
		if m := all.Find(key); m == nil || m.Encoding() != want || own.Find(key) != nil {
			t.Errorf("%s: %v, want %s in the table of programs only", key, m, want)
		}
	}
	for _, m := range own.Methods {
		if all.Find(m.Key()) == nil {
			t.Errorf("%s is in Load's table and not in LoadAll's", m.Key())
		}
	}
}

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		encoding string
		want     []string
	}{
		{"v@:@?{?=QQ}", []string{"v", "@", ":", "@?", "{?=QQ}"}},
		{"^^@{a={b=Q}}*", []string{"^^@", "{a={b=Q}}", "*"}},
	} {
		if got, err := Types(c.encoding); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, %v; want %q", c.encoding, got, err, c.want)
		}
	}
	for _, bad := range []string{"^", "{?=Q", "x", "v@:?"} {
		if got, err := Types(bad); err == nil {
			t.Errorf("%s was taken for %q", bad, got)
		}
	}
}

func TestParseErrors(t *testing.T) {
	row := func(kind, name, value, encoding string) string {
		return strings.Join([]string{kind, "O", "-", name, value, "", "", "-", encoding, "", "-", "-", "here"}, "\t") + "\n"
	}
	for text, want := range map[string]string{
		"protocol\tx\n":                                             "line 1 has 2 columns",
		row("protocol", "a:", "", "v@:"):                            "0 arguments, the selector 1",
		row("protocol", "a", "", "vQ"):                              "no receiver",
		row("protocol", "a", "", "v@:!"):                            "no type",
		row("enum", "a", "many", ""):                                `value "many"`,
		row("macro", "a", "", ""):                                   `kind "macro"`,
		row("class", "a", "", "v@:") + row("class", "a", "", "Q@:"): "2 methods, but 1 different",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzTypes(f *testing.F) {
	f.Add("v@:{?=QQQ}{?=QQQ}")
	f.Add("@?^@{_NSRange=QQ}C")
	f.Fuzz(func(t *testing.T, s string) {
		if types, err := Types(s); err == nil && strings.Join(types, "") != s {
			t.Errorf("%q: %q", s, types)
		}
	})
}
