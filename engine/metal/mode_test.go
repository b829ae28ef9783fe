package metal

import (
	"slices"
	"strings"
	"testing"
)

func TestParseCompile(t *testing.T) {
	for text, want := range map[string]Compile{
		"serial": {}, "concurrent": {When: Concurrent}, "early": {When: Early}, "trim": {Trim: true}, "serial,trim": {Trim: true},
		"early,trim": {Early, true}, "trim,concurrent": {Concurrent, true},
	} {
		if got, err := ParseCompile("--compile", text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "late", "Early", "early,", ",", "trim,trim", "serial,early", "early,early", "early trim"} {
		if _, err := ParseCompile("--compile", bad); err == nil || !strings.HasPrefix(err.Error(), "--compile ") || !strings.Contains(err.Error(), "concurrent,trim") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if want := []string{"serial", "concurrent", "early", "trim", "concurrent,trim", "early,trim"}; !slices.Equal(CompileModes(), want) {
		t.Errorf("modes are %q, want %q", CompileModes(), want)
	}
	for _, text := range CompileModes() {
		if c, err := ParseCompile("", text); err != nil || c.String() != text {
			t.Errorf("%q is written %q, %v", text, c, err)
		}
	}
}
