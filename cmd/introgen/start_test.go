package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/introgen/introgen/engine/tokenizer"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/store"
	"github.com/introgen/introgen/system/machine"
	"github.com/introgen/introgen/trace/names"
)

// BenchmarkStart is a process's start: from right before it is spawned until its first
// token is known, with the real model, and what the parts of that take. The Metal cache
// and the page cache are warm after the first run of each, which does not count.
func BenchmarkStart(b *testing.B) {
	model := modeltest.Path(b, models.StandIn)
	b.Setenv(store.KeepEnv, "0")
	for _, c := range []struct {
		name string
		args []string
	}{
		{"cpu", []string{"cpu", "1"}},
		{"cpu-hf", []string{"cpu", "1", "--tokenizer", "hf"}},
		{"metal", []string{"metal", "1"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			if c.name == "cpu-hf" && !tokenizer.HFBuiltIn() {
				b.Skip("SKIP: needs the tokenizer hf")
			}
			if state, detail := checkClang(b.Context()); c.name == "metal" && runtime.GOOS == "linux" && state != stateOK {
				b.Skipf("SKIP: needs clang 19: %s", detail)
			}
			path := filepath.Join(b.TempDir(), "start.introgen")
			args := append(c.args, "--tokens", "0", "--model", model, "-o", path)
			starting(b, args, path)
			parts := map[string]time.Duration{}
			for b.Loop() {
				for name, took := range starting(b, args, path) {
					parts[name] += took
				}
			}
			for name, took := range parts {
				b.ReportMetric(took.Seconds()*1e3/float64(b.N), name+"-ms/op")
			}
		})
	}
}

// starting runs introgen and returns how long it took until its first token, by parts.
func starting(b *testing.B, args []string, path string) map[string]time.Duration {
	b.Helper()
	before := machine.Clock()
	if out, err := exec.Command("introgen", args...).CombinedOutput(); err != nil {
		b.Fatalf("%v: %v: %s", args, err, out)
	}
	f, err := recording.Open(path)
	if err != nil || len(f.Runs) != 1 {
		b.Fatalf("%v: %d runs, %v", args, len(f.Runs), err)
	}
	run := f.Runs[0]
	spawned := time.Duration(run.Header.Clock - before)
	parts := map[string]time.Duration{"process": spawned}
	for _, s := range run.Spans {
		switch {
		case s.Name == names.SpanTokenizer:
			parts["tokenizer"] = s.Duration()
		case s.Name == names.SpanRound:
			parts["before-round"] = spawned + s.Start
		case s.Name == names.SpanPrefill:
			parts["prefill"] = s.Duration()
			parts["to-token-1"] = spawned + s.End
		}
	}
	if parts["to-token-1"] == 0 {
		b.Fatalf("%v: no token", args)
	}
	return parts
}
