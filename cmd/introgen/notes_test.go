package main

import (
	"bytes"
	"fmt"
	"testing"
)

func TestNotesAreFew(t *testing.T) {
	var out bytes.Buffer
	n := newNotes(func(text string) { fmt.Fprintf(&out, "introgen: note: %s\n", text) })
	for i := range 30 {
		n.add("cache: rebuilt", fmt.Sprintf("cache: rebuilt: entry %d: damaged", i))
	}
	n.add("cache: not kept", "cache: not kept: disk full")
	n.add("no cache", "no cache of compiled kernels")
	n.end()
	want := "introgen: note: cache: rebuilt: entry 0: damaged\n" +
		"introgen: note: cache: not kept: disk full\n" +
		"introgen: note: no cache of compiled kernels\n" +
		"introgen: note: cache: rebuilt: 29 more like it\n"
	if got := out.String(); got != want {
		t.Errorf("printed:\n%swant:\n%s", got, want)
	}
}
