package standin

import (
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text, path string
		want       Options // without Plant and Lacks
		lacks      int
	}{
		{"build", "build", Options{}, 0},
		{"/a/b.so,family=5", "/a/b.so", Options{AppleFamily: 5}, 0},
		{"x,intel,macos=13.5", "x", Options{Intel: true, Version: [3]int64{13, 5, 0}}, 8},
		{"x,macos=14.0", "x", Options{Version: [3]int64{14, 0, 0}}, 7},
		{"x,macos=15.2", "x", Options{Version: [3]int64{15, 2, 0}}, 0},
	} {
		path, o, err := Parse(c.text)
		if err != nil || path != c.path || len(o.Lacks) != c.lacks || o.Plant != nil {
			t.Errorf("%s: %s, %+v, %v", c.text, path, o, err)
		}
		o.Lacks = nil
		if !reflect.DeepEqual(o, c.want) {
			t.Errorf("%s: %+v, want %+v", c.text, o, c.want)
		}
	}
	for text, want := range map[string]string{
		"":                "want the path",
		",family=5":       "want the path",
		"x,family=11":     `family="11"`,
		"x,family":        `family=""`,
		"x,macos=ten":     `macos="ten"`,
		"x,commit=0":      `commit="0"`,
		"x,commit=1++":    `commit="1++"`,
		"x,teapot=1":      `unknown part "teapot=1"`,
		"x,intel=1":       `unknown part "intel=1"`,
		"x,":              `unknown part ""`,
		"x,buffer=2,fail": `unknown part "fail"`,
	} {
		if _, _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestParsePlants(t *testing.T) {
	_, o, err := Parse("build,buffer=2,lost=3+,device=1,library=1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p    Point
		n    int
		code int64 // of the failure; -1: none
	}{
		{AtBuffer, 1, -1}, {AtBuffer, 2, 0}, {AtBuffer, 3, -1},
		{AtCommit, 2, -1}, {AtCommit, 3, 11}, {AtCommit, 30, 11},
		{AtDefaultDevice, 1, 0}, {AtAllDevices, 1, 0}, {AtAllDevices, 2, -1},
		{AtLibrary, 1, 3}, {AtPipeline, 1, -1},
	} {
		code := int64(-1)
		if f := o.Plant(c.p, c.n, ""); f != nil {
			code = f.Code
		}
		if code != c.code {
			t.Errorf("point %d, call %d: code %d, want %d", c.p, c.n, code, c.code)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("build,family=5")
	f.Add("x,commit=3+,macos=14.1,intel")
	f.Fuzz(func(t *testing.T, text string) {
		path, o, err := Parse(text)
		if err != nil {
			return
		}
		if path == "" || strings.Contains(path, ",") || o.AppleFamily < 0 || o.AppleFamily > 10 {
			t.Errorf("%q: %q, %+v", text, path, o)
		}
		if o.Plant != nil {
			o.Plant(AtCommit, 1, "")
		}
	})
}
