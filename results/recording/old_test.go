package recording

import (
	"reflect"
	"strings"
	"testing"
)

// TestOldRecordings: of recordings with sentences alone the codes follow from
// other facts, or from the two sentences that no fact stands beside; what has
// codes keeps them.
func TestOldRecordings(t *testing.T) {
	read := func(engine, exit string, code string) *Run {
		t.Helper()
		f, err := Read(strings.NewReader(`{"k":"header","format":"introgen recording","version":1,"tool":{"version":"v","go":"g"},"command":"compare","args":[],"started":"2026-01-01T00:00:00Z","clock_ns":0,"pid":1,"host":{"os":"linux","arch":"amd64","os_build":"","cpu":"","cores":2,"memory_bytes":0},"model":{"file":"m.gguf","bytes":1,"types":""},"knobs":[],"view":{"label":""}}
{"k":"plan","arms":[{"name":"warm-cache","state":"warm-cache","args":["cpu"]}],"blocks":1,"order":"random","seed":1,"factors":[]}
{"k":"start","run":1,"block":1,"arm":"warm-cache"}
{"k":"subject","io":"mmap","page_cache":"","tokenizer":"go","engine":"`+engine+`"}
{"k":"end","at_ns":5,"code":`+code+`,"major_faults":0,"minor_faults":0,"span_cost_ps":0}
{"k":"exit","run":1,"spawned_ns":1,"reaped_ns":2,`+exit+`}
`), "old.introgen")
		if err != nil || len(f.Runs) != 1 || f.Runs[0].Exit == nil || f.Runs[0].Subject == nil {
			t.Fatalf("%v: %+v", err, f)
		}
		return f.Runs[0]
	}
	for _, c := range []struct{ exit, end, want string }{
		{`"code":0`, "0", ""},
		{`"code":0,"refused":"was labelled warm-cache: 10 of 10 libraries and 21 of 21 pipelines were compiled"`, "0", RefusedEvidence},
		{`"code":-1,"signal":"SIGSEGV","refused":"was ended by the signal SIGSEGV"`, "0", RefusedSignal},
		{`"code":-1,"refused":"could not be started: fork: no memory"`, "0", RefusedStart},
		{`"code":1,"refused":"ended with exit code 1: no memory"`, "1", RefusedExit},
		{`"code":0,"refused":"left a recording that ends with code 1"`, "1", RefusedRecording},
		{`"code":130,"refused":"was interrupted","refused_code":"interrupted"`, "130", RefusedInterrupted},
	} {
		if got := read("cpu: avx512", c.exit, c.end).Exit.RefusedCode; got != c.want {
			t.Errorf("%s: %q, want %q", c.exit, got, c.want)
		}
	}
	for _, c := range []struct {
		exit string
		want []Taint
	}{
		{`"code":0`, nil},
		{`"code":0,"flags":["load: other processes kept 0.930 of 2 cores busy","idle: 250 ms between passes, before decode step 2"]`,
			[]Taint{{TaintLoad, 0.93, "other processes kept 0.930 of 2 cores busy"}, {TaintIdle, 250, "250 ms between passes, before decode step 2"}}},
		{`"code":0,"flags":["load: others"],"taints":[{"code":"load","value":0.5,"text":"others"}]`, []Taint{{TaintLoad, 0.5, "others"}}},
	} {
		if got := read("cpu: avx512", c.exit, "0").Exit.Taints; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.exit, got, c.want)
		}
	}
	for engine, want := range map[string]string{
		"cpu: avx512, 2 threads, weights packed, which 300 steps repay (134.3 MB in 20.1 ms)": WeightsPacked,
		"cpu: avx512, 2 threads, weights packed":                                              WeightsPacked,
		"cpu: avx512, 2 threads, weights as the file has them":                                "",
		"metal: soft":                    "",
		`cpu: avx512","weights":"stored`: WeightsStored,
	} {
		if got := read(engine, `"code":0`, "0").Subject.Weights; got != want {
			t.Errorf("%s: %q, want %q", engine, got, want)
		}
	}
}
