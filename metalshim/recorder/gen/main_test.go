package main

import (
	"os"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/apple/abi"
)

func list(t testing.TB) []hook {
	t.Helper()
	text, err := os.ReadFile("../hooks.tsv")
	if err != nil {
		t.Fatal(err)
	}
	hooks, err := read(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return hooks
}

func TestCommittedIsUpToDate(t *testing.T) {
	committed, err := os.ReadFile("../c/hooks.h")
	if err != nil {
		t.Fatal(err)
	}
	if string(committed) != write(list(t)) {
		t.Error("c/hooks.h is not what the generator writes now: run go generate ./metalshim/recorder")
	}
}

// Encodings are Apple's: those of methods in the table of Apple's interfaces
// are the table's, and the others say where they are from.
func TestEncodings(t *testing.T) {
	table, err := abi.LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range list(t) {
		found := 0
		for i := range table.Methods {
			m := &table.Methods[i]
			if m.Selector != h.selector {
				continue
			}
			found++
			if got := strings.Join(h.types, ""); got != m.Encoding() {
				t.Errorf("%s: %s, the table has %s of %s", h.selector, got, m.Encoding(), m.Owner)
			}
		}
		if (h.source == "abi") != (found > 0) && !strings.HasPrefix(h.source, "objc2-metal/src/generated/") {
			t.Errorf("%s: from %q, and the table has it %d times", h.selector, h.source, found)
		}
	}
}

// What a program may call and no hook sees, with the reason.
func TestNothingIsForgotten(t *testing.T) {
	table, err := abi.LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	hooked := map[string]bool{}
	for _, h := range list(t) {
		hooked[h.selector] = true
	}
	used := map[string]bool{}
	for i := range table.Methods {
		m := &table.Methods[i]
		if !strings.HasPrefix(m.Owner, "MTL") || hooked[m.Selector] {
			continue
		}
		if why := reason(m); why == "" {
			t.Errorf("%s is not hooked, and no reason is given", m.Key())
		} else {
			used[why] = true
		}
	}
	for _, r := range reasons {
		if !used[r.why] {
			t.Errorf("no method is left out because %s", r.why)
		}
	}
}

var reasons = []struct {
	why     string
	matches func(m *abi.Method) bool
}{
	{"it asks and changes nothing", func(m *abi.Method) bool {
		return len(m.Args) == 0 && m.Return != "v" && !strings.HasPrefix(m.Selector, "new") && m.Selector != "init" && !strings.Contains(m.Selector, "ncoder")
	}},
	{"it asks about a value", func(m *abi.Method) bool {
		return strings.HasPrefix(m.Selector, "supports") || m.Selector == "heapBufferSizeAndAlignWithLength:options:" || m.Selector == "containsAllocation:" || m.Selector == "sampleTimestamps:gpuTimestamp:"
	}},
	{"its descriptor is read when it is used", func(m *abi.Method) bool {
		return strings.HasSuffix(m.Owner, "Descriptor") || m.Owner == "MTLCompileOptions"
	}},
	{"arguments of a dispatch are no events: a hook would cost as much as the call", func(m *abi.Method) bool {
		switch m.Selector {
		case "setBuffer:offset:atIndex:", "setBufferOffset:atIndex:", "setBuffers:offsets:withRange:", "setBytes:length:atIndex:", "setThreadgroupMemoryLength:atIndex:", "useResource:usage:", "useResources:count:usage:":
			return true
		}
		return false
	}},
	{"residency has no event: nothing is compiled, encoded or waited for", func(m *abi.Method) bool {
		return strings.Contains(m.Owner, "Residency") || strings.Contains(m.Selector, "ResidencySet")
	}},
	{"it says how many threads compile, and compiles nothing", func(m *abi.Method) bool {
		return m.Selector == "setShouldMaximizeConcurrentCompilation:"
	}},
	{"GPU counters are the program's own measurement", func(m *abi.Method) bool {
		return strings.Contains(m.Selector, "Counter") || strings.HasPrefix(m.Owner, "MTLCounter")
	}},
	{"a fence or an event is told where it is used", func(m *abi.Method) bool {
		return m.Selector == "newFence" || m.Selector == "newEvent" || m.Selector == "setSignaledValue:"
	}},
	{"marks for Xcode are the program's own", func(m *abi.Method) bool {
		return strings.Contains(m.Selector, "ebug")
	}},
	{"dynamic libraries have no event yet", func(m *abi.Method) bool {
		return strings.Contains(m.Selector, "DynamicLibrary") || m.Owner == "MTLDynamicLibrary"
	}},
	{"it tells the driver about memory that is there", func(m *abi.Method) bool {
		return m.Selector == "didModifyRange:" || m.Selector == "setPurgeableState:"
	}},
}

func reason(m *abi.Method) string {
	for _, r := range reasons {
		if r.matches(m) {
			return r.why
		}
	}
	return ""
}

func TestErrors(t *testing.T) {
	const line = "DEVICE\tMTLDevice\tnewFence\t@@:\t-\tabi\n"
	for text, want := range map[string]string{
		"# nothing\n" + line + line:                "line 3: newFence is there already",
		"a\tb\n":                                   "line 1: 2 columns",
		strings.Replace(line, "@@:", "@@:Q", 1):    "is not that of newFence",
		strings.Replace(line, "@@:", "@", 1):       "is not that of newFence",
		strings.Replace(line, "@@:", "{x=@@:", 1):  "no type at",
		strings.Replace(line, "@@:", "{x=d}@:", 1): "no C type for {x=d}",
		strings.Replace(line, "\t-\t", "\t0\t", 1): `"0" copies`,
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
