package main

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// The lines are those that go test -json prints (go doc test2json).
func TestJudgeTests(t *testing.T) {
	text := `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:3: SKIP: needs simdgroups: no\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:9: wrong\n"}
{"Action":"fail","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p"}
`
	o := judgeTests(text, errors.New("exit status 1"))
	if o.Passed != 1 || o.Skipped != 1 || o.Failed != 2 || !slices.Contains(o.Notes, "SKIP: needs simdgroups: no") || !slices.Contains(o.Notes, "failed: p TestC") || !slices.Contains(o.Notes, "    c_test.go:9: wrong") {
		t.Errorf("%+v", o)
	}
	o = judgeTests("# p\nx.go:1:1: syntax error\n", errors.New("exit status 1"))
	if o.Failed != 1 || !slices.Contains(o.Notes, "x.go:1:1: syntax error") {
		t.Errorf("no build: %+v", o)
	}
	if o := judgeTests(`{"Action":"pass","Package":"p","Test":"T"}`, nil); !reflect.DeepEqual(o, outcome{Passed: 1, Leaks: -1}) {
		t.Errorf("%+v", o)
	}
}

// TestNothingChecked: where no test has the name it is no pass, and where all is
// skipped it is said.
func TestNothingChecked(t *testing.T) {
	for _, text := range []string{"", `{"Action":"output","Package":"p","Output":"testing: warning: no tests to run\n"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\n"} {
		if o := judgeTests(text, nil); o.Failed != 1 || !slices.Contains(o.Notes, "no test ran: no test of the packages has such a name") {
			t.Errorf("%q: %+v", text, o)
		}
	}
	if o := judgeLeaks("testing: warning: no tests to run\nPASS\nProcess 71: 0 leaks for 0 total leaked bytes.\n", nil); o.Failed != 1 {
		t.Errorf("leaks of no test: %+v", o)
	}
	r := &report{}
	if r.ok() || !strings.Contains(r.headline(), "; nothing was checked") {
		t.Errorf("no step: %v", r)
	}
	r.add(step{name: "a"}, outcome{Skipped: 3, Leaks: -1})
	if !r.ok() || !strings.Contains(r.headline(), "0 passed, 0 failed, 3 skipped; device: ; nothing was checked") {
		t.Errorf("all skipped: %v", r)
	}
	r.add(step{name: "b"}, outcome{Passed: 1, Leaks: -1})
	if !r.ok() || strings.Contains(r.headline(), "nothing") {
		t.Errorf("one passed: %v", r)
	}
	r.add(step{name: "c"}, outcome{Failed: 1, Leaks: -1})
	if r.ok() {
		t.Errorf("one failed: %v", r)
	}
}

// The lines are those that leaks(1) prints.
func TestLeaks(t *testing.T) {
	one := judgeLeaks("Process 71: 123 nodes malloced for 45 KB\nProcess 71: 2 leaks for 96 total leaked bytes.\n", errors.New("exit status 1"))
	if one.Passed != 1 || one.Leaks != 2 {
		t.Errorf("%+v", one)
	}
	if o := judgeLeaks("it crashed\n", errors.New("signal: abort trap")); o.Failed != 1 || o.Leaks != -1 || !slices.Contains(o.Notes, "it crashed") {
		t.Errorf("%+v", o)
	}
	if o := judgeLeaks("--- FAIL: TestRun (0.1s)\nProcess 71: 0 leaks for 0 total leaked bytes.\n", nil); o.Failed != 1 || o.Leaks != -1 {
		t.Errorf("a failed test: %+v", o)
	}
	r := &report{}
	r.add(step{name: "run"}, outcome{Passed: 1, Leaks: -1})
	r.add(step{name: "leaks 1", leaks: "leaks"}, one)
	r.add(step{name: "leaks 3", leaks: "leaks"}, one)
	if r.sum().Failed != 0 {
		t.Errorf("as many as before: %v", r)
	}
	other := one
	other.Leaks = 7
	r.add(step{name: "others", leaks: "others"}, other)
	more := one
	more.Leaks = 5
	r.add(step{name: "leaks 9", leaks: "leaks"}, more)
	if r.sum().Failed != 1 || !strings.Contains(r.String(), "3 more than leaks 1") {
		t.Errorf("more than before: %v", r)
	}
}

func TestJudgeRefusal(t *testing.T) {
	failed := errors.New("exit status 1")
	for _, c := range []struct {
		output string
		err    error
		passed int
	}{
		{"introgen: metal device \"P\" is of family Apple5: matrices … need Apple7 or later", failed, 1},
		{"introgen: metal device \"P\" is of family Apple5: matrices … need Apple7 or later", nil, 0},
		{"LIB Cast 1.0 ms\nintrogen: … need Apple7 or later", failed, 0},
		{"introgen: something else", failed, 0},
	} {
		if o := judgeRefusal(c.output, c.err); o.Passed != c.passed || o.Failed != 1-c.passed {
			t.Errorf("%s, %v: %+v", c.output, c.err, o)
		}
	}
}

// These are what libobjc, Metal's layers and Foundation print.
func TestComplaints(t *testing.T) {
	for _, bad := range []string{
		"objc[812]: MISSING POOLS: (0x16fdd) Object 0x600 of class NSString autoreleased with no pool in place - just leaking - break on objc_autoreleaseNoPool() to debug",
		"-[MTLDebugComputeCommandEncoder setBuffer:offset:atIndex:]:341: failed assertion `offset(8) must be < [buffer length](4).'",
		"*** -[MTLFoo bar]: message sent to deallocated instance 0x600003",
		"Invalid device load executing kernel function \"add\" encoder: \"0\"",
	} {
		if got := complaints("before\n" + bad + "\nafter\n" + bad + "\n"); !slices.Equal(got, []string{bad}) {
			t.Errorf("%q", got)
		}
	}
	if got := complaints("Metal API Validation Enabled\n"); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestReport(t *testing.T) {
	r := &report{Device: "metal (apple: Apple M2)", Machine: "darwin/arm64", System: "macOS 15", Begun: time.Unix(0, 0), Took: time.Minute}
	r.add(step{name: "a", argv: []string{"x", "y"}}, outcome{Passed: 3, Skipped: 1, Leaks: -1, Notes: []string{"SKIP: needs z"}})
	r.add(step{name: "b"}, outcome{Failed: 1, Leaks: -1})
	r.add(step{name: "c"}, outcome{Skipped: 1, Leaks: -1, Notes: []string{"SKIP: needs a Mac"}})
	text := r.String()
	for _, want := range []string{
		"metal-check: 3 passed, 1 failed, 2 skipped; device: metal (apple: Apple M2)\n",
		"\npass  a ", "\nFAIL  b ", "\nskip  c ", "SKIP: needs a Mac\n", "\na: x y\n    SKIP: needs z\n", "begun 1970-01-01T00:00:00Z, took 1m0s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestSteps(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range steps("introgen", "folder") {
		if seen[s.name] || s.judge == nil || s.limit == 0 || len(s.argv) == 0 {
			t.Errorf("%+v", s)
		}
		seen[s.name] = true
	}
	for none, w := range map[string]world{"needs a Metal device": {none: "nothing"}, "needs simdgroups": {device: "d"}} {
		if got := w.lacks(step{model: true}); !strings.Contains(got, none) {
			t.Errorf("%+v: %q", w, got)
		}
	}
	if got := (world{simd: true}).lacks(step{without: true}); !strings.Contains(got, "has simdgroups") {
		t.Errorf("a step for other devices: %q", got)
	}
	if got := (world{}).lacks(step{}); got != "" {
		t.Errorf("a step that needs nothing: %q", got)
	}
}
