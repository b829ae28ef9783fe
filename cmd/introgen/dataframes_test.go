package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/shellwords"
	"github.com/introgen/introgen/system/pythontest"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// viewsDoc are the blocks of a language in the docs' section.
func viewsDoc(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/views.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## For data people\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var out []string
	for _, block := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(section, -1) {
		out = append(out, block[1])
	}
	if !ok || len(out) == 0 {
		t.Fatalf("docs/views.md has no %s for data people", language)
	}
	return out
}

// sweepOfThree is a sweep of three values over four blocks, with two rounds of five
// steps. What would be seen in a median that took the wrong ones is far off: first
// rounds are slow, and one run of each value does not count.
func sweepOfThree() []byte {
	levels := []string{"5", "25", "70000"}
	var out []byte
	put := func(e recording.Event) {
		var err error
		if out, err = recording.Encode(out, e); err != nil {
			panic(err)
		}
	}
	header := func(command string, run int) *recording.Header {
		return &recording.Header{Format: recording.Format, Version: recording.Version, Command: command, Args: []string{command}, Started: time.Date(2026, 11, 30, 0, 0, run, 0, time.UTC),
			Clock: int64(1+run) * 1e9, PID: 100 + run, Host: recording.Host{Name: "h", OS: "linux", Arch: "amd64", Cores: 2}, Model: recording.Model{File: "m.gguf"}, Knobs: []recording.Knob{}}
	}
	put(header("sweep", 0))
	plan := &recording.Plan{Blocks: 4, Order: "random", Factors: []string{"per-buffer"}}
	for _, l := range levels {
		plan.Arms = append(plan.Arms, recording.Arm{Name: "per-buffer=" + l, State: recording.StateWarmCache, Args: []string{"metal", "2"}, Levels: map[string]string{"per-buffer": l}})
	}
	put(plan)
	run := 0
	for block := 1; block <= 4; block++ {
		for i, l := range levels {
			run++
			put(&recording.Start{Run: run, Block: block, Arm: "per-buffer=" + l})
			h := header("metal", run)
			h.Knobs = append(h.Knobs, recording.Knob{Name: "commands-per-buffer", Value: l, Origin: recording.FromFlag})
			put(h)
			at, id := time.Duration(0), trace.ID(0)
			for round := 1; round <= 2; round++ {
				id++
				outer := trace.Record{ID: id, Name: names.SpanRound, N: int64(round), Start: at}
				var steps []trace.Record
				for n := 1; n <= 5; n++ {
					id++
					took := time.Duration((i+1)*1_000_000 + block*30_011 + n*n*1_013 + 40_000_000/(round*round*round*round*round))
					steps = append(steps, trace.Record{ID: id, Parent: outer.ID, Name: names.SpanStep, N: int64(n), Start: at, End: at + took})
					at += took
				}
				outer.End = at
				put(&recording.Span{Record: outer})
				for _, s := range steps {
					put(&recording.Span{Record: s})
				}
				put(&recording.Round{Number: round, Span: outer.ID, IDs: make([]int32, 6)})
			}
			put(&recording.End{At: int64(at)})
			x := &recording.Exit{Run: run, Spawned: int64(1+run) * 1e9, Reaped: int64(1+run)*1e9 + int64(at)}
			if block == 2 {
				x.Refused, x.RefusedCode = "its evidence says otherwise", recording.RefusedEvidence
			}
			put(x)
		}
	}
	put(&recording.End{At: 1e12})
	return out
}

// tracedRun is a run whose first command buffer of ten dispatches was traced: by
// turns one that is known and one that is not.
func tracedRun() []byte {
	r := programtest.Engine(programtest.Warm)
	i := slices.IndexFunc(r.Events, func(e recording.Event) bool {
		s, ok := e.(*recording.Span)
		return ok && s.Name == names.SpanGPU
	})
	gpu := r.Events[i].(*recording.Span)
	ran := &recording.Executed{Span: gpu.ID}
	for k := range gpu.N {
		ran.Operations, ran.Start, ran.Time = append(ran.Operations, 1+int(k)%2), append(ran.Start, int64(gpu.Start)+k*1000), append(ran.Time, 900)
	}
	r.Events = slices.Insert(r.Events, i+1, recording.Event(&recording.Operation{ID: 1, Layer: 3, Name: "attn_q", Library: "Quantized", Kernel: "kernel_mul_mv_q8_0_f32", Read: 352512, Written: 2304, Ops: 663552}),
		recording.Event(&recording.Operation{ID: 2, Layer: recording.NoLayer, Name: "output", Kernel: "k", Unknown: true}), recording.Event(ran))
	return programtest.Bytes(r)
}

// TestTablesInTheDocs: the lines that docs/views.md has for DuckDB, pandas and polars
// run over a folder of recordings, and the medians that they give are those of
// `introgen sweep`, to the digits that it shows.
func TestTablesInTheDocs(t *testing.T) {
	dir := t.TempDir()
	sweeps := []string{"experiment-sweep", "three"}
	for name, text := range map[string][]byte{"three": sweepOfThree(), "experiment-sweep": recorded(t, "experiment-sweep"), "experiment-states": recorded(t, "experiment-states"), "traced": tracedRun()} {
		if err := os.WriteFile(filepath.Join(dir, name+recording.Ending), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	line, queries, frames := viewsDoc(t, "sh")[0], viewsDoc(t, "sql"), viewsDoc(t, "python")
	t.Chdir(dir)
	words, err := shellwords.Split(strings.ReplaceAll(line, "*.introgen", "three.introgen experiment-sweep.introgen experiment-states.introgen traced.introgen"))
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), words, &out, &errs); code != exitOK || strings.Count(out.String(), "\n") != 8 {
		t.Fatalf("%s: exit code %d, %s%s", line, code, &out, &errs)
	}
	type row struct {
		shown string
		runs  int
	}
	want := map[string]row{}
	for i, name := range sweeps {
		var out, errs bytes.Buffer
		if code := run(t.Context(), []string{"introgen", "sweep", name + recording.Ending}, &out, &errs); code != exitOK {
			t.Fatalf("sweep %s: exit code %d, %s", name, code, &errs)
		}
		for _, m := range regexp.MustCompile(`(?m)^ +(\d+) +([\d.]+) `).FindAllStringSubmatch(out.String(), -1) {
			want[m[1]] = row{m[2], []int{1, 3}[i]}
		}
	}
	if len(want) != 8 {
		t.Fatalf("the tables of sweep have %d rows, want 8", len(want))
	}
	hold := func(t *testing.T, by string, got [][]any) {
		t.Helper()
		if len(got) != len(want) {
			t.Errorf("%s gives %d rows, want %d: %v", by, len(got), len(want), got)
		}
		for _, r := range got {
			level, ms, runs := fmt.Sprint(r[0]), r[1].(float64), int(r[2].(float64))
			w := want[level]
			_, decimals, _ := strings.Cut(w.shown, ".")
			scale := math.Pow(10, float64(len(decimals)))
			if shown := strconv.FormatFloat(math.Round(ms*scale)/scale, 'f', len(decimals), 64); shown != w.shown || runs != w.runs {
				t.Errorf("%s: %s commands a buffer take %s ms in %d runs, in sweep's table %s in %d", by, level, shown, runs, w.shown, w.runs)
			}
		}
	}
	ask := func(t *testing.T, script, input string, modules ...string) [][]any {
		t.Helper()
		cmd := pythontest.Command(t, script, modules...)
		cmd.Stdin = strings.NewReader(input)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, &errs)
		}
		var rows [][]any
		if err := json.Unmarshal(text, &rows); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return rows
	}
	const duck = "import duckdb, json, sys; print(json.dumps(duckdb.sql(sys.stdin.read()).fetchall()))"
	t.Run("DuckDB", func(t *testing.T) {
		hold(t, "DuckDB", ask(t, duck, queries[0], "duckdb"))
		libraries := ask(t, duck, queries[1], "duckdb")
		if len(libraries) == 0 || libraries[0][2] != "Reduce" || libraries[0][3] != 4333.7 { // as the experiment printed
			t.Errorf("the libraries are %v", libraries)
		}
		// 354816 bytes and 663552 operations in 900 ns, five times; of the other nobody
		// knows what it does.
		if kernels := ask(t, duck, queries[2], "duckdb"); fmt.Sprint(kernels) != "[[traced kernel_mul_mv_q8_0_f32 5 0.0045 394.24 737.28]]" {
			t.Errorf("the kernels are %v", kernels)
		}
		if got := ask(t, duck, "SELECT DISTINCT knobs['commands-per-buffer'], levels['per-buffer'] FROM 'tables/three.samples.parquet' ORDER BY ALL", "duckdb"); fmt.Sprint(got) != "[[25 25] [5 5] [70000 70000]]" {
			t.Errorf("the knobs and levels are %v", got)
		}
	})
	t.Run("pandas", func(t *testing.T) {
		hold(t, "pandas", ask(t, "import glob, json, pandas\n"+frames[0]+`
s = samples[(samples.plan == "sweep") & (samples.what == "decode step") & samples.counts & samples.speaks]
run = ["commands_per_buffer", "file", "run"]
s = s.groupby(run + ["round"]).ns.median().groupby(run).median().groupby("commands_per_buffer")
print(json.dumps([[int(k), v / 1e6, n] for k, v, n in zip(s.median().index, s.median(), s.count().tolist())]))
`, "", "pandas", "pyarrow"))
	})
	t.Run("polars", func(t *testing.T) {
		hold(t, "polars", ask(t, "import json, polars\n"+frames[1]+`
s = samples.filter(plan="sweep", what="decode step", counts=True, speaks=True)
run = ["commands_per_buffer", "file", "run"]
s = s.group_by(run + ["round"]).agg(polars.col("ns").median()).group_by(run).agg(polars.col("ns").median())
s = s.group_by("commands_per_buffer").agg(polars.col("ns").median() / 1e6, polars.len())
print(json.dumps(s.rows()))
`, "", "polars"))
	})
}

// recorded is the text of a recording that is kept.
func recorded(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "results", "recorded", name+recording.Ending))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
