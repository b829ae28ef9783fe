package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/rogpeppe/go-internal/testscript"
)

// The tables of compare and sweep are recomputed here in another way than the
// code does: from the lines of the recording as encoding/json reads them into
// maps, with what is inside of what found by times, not by parents.

// rawRun is one run's lines.
type rawRun struct {
	arm   string
	spans []map[string]any
	count []map[string]any
	lead  float64 // from the parent's call until the run's clock begins
}

// rawPlan reads the runs that count.
func rawPlan(text []byte) ([]rawRun, error) {
	var out []rawRun
	var now *rawRun
	ended := false
	for n, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		switch m["k"] {
		case "start":
			now, ended = &rawRun{arm: m["arm"].(string)}, false
		case "header":
			if now != nil {
				now.lead = num(m, "clock_ns")
			}
		case "span":
			if now == nil {
				continue
			}
			// A span that was open when others were written is told again.
			if i := slices.IndexFunc(now.spans, func(s map[string]any) bool { return s["id"] == m["id"] }); i >= 0 {
				now.spans[i] = m
			} else {
				now.spans = append(now.spans, m)
			}
		case "count":
			if now != nil {
				now.count = append(now.count, m)
			}
		case "end":
			ended = m["code"] == 0.0
		case "exit":
			if now != nil && now.lead > 0 {
				now.lead -= num(m, "spawned_ns")
			}
			if m["refused"] == nil && ended {
				out = append(out, *now)
			}
			now = nil
		}
	}
	return out, nil
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func num(m map[string]any, key string) float64 {
	v, _ := m[key].(float64)
	return v
}

// within lists a run's spans of a name that lie in a stretch of time.
func (r rawRun) within(name string, from, to float64) []map[string]any {
	var out []map[string]any
	for _, s := range r.spans {
		if text(s, "name") == name && num(s, "start") >= from && num(s, "start") < to {
			out = append(out, s)
		}
	}
	return out
}

func took(s map[string]any) float64 { return num(s, "end") - num(s, "start") }

func middle(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	if n := len(s); n == 0 {
		return math.NaN()
	} else if n%2 == 1 {
		return s[n/2]
	}
	return (s[len(s)/2-1] + s[len(s)/2]) / 2
}

// hundredths is a percentile: the place of the smallest of n values is 0 and that of
// the largest 100·(n−1), and between two of them it goes straight.
func hundredths(v []float64, percent int) float64 {
	s := slices.Sorted(slices.Values(v))
	place := (len(s) - 1) * percent
	below, more := place/100, place%100
	if more == 0 {
		return s[below]
	}
	return (s[below]*float64(100-more) + s[below+1]*float64(more)) / 100
}

// instrument is the time that the instrument took for itself between from and
// to, inside of no phase.
func (r rawRun) instrument(from, to float64) float64 {
	sum := 0.0
	for _, name := range []string{"recording", "evict", "model digest"} {
		for _, s := range r.within(name, from, to) {
			if !slices.ContainsFunc(r.spans, func(p map[string]any) bool {
				return text(p, "name") != "round" && text(p, "name") != name && num(p, "start") <= num(s, "start") && num(p, "end") >= num(s, "end")
			}) {
				sum += took(s)
			}
		}
	}
	return sum
}

// figuresOf are the rows of compare's table for one round.
func (r rawRun) figuresOf(round map[string]any) map[string]float64 {
	from, to := num(round, "start"), num(round, "end")
	out := map[string]float64{}
	for _, name := range []string{"read gguf", "build model", "encode prompt", "prefill"} {
		for _, s := range r.within(name, from, to) {
			out[name] = took(s)
		}
	}
	if p := r.within("prefill", from, to); len(p) > 0 {
		out["to token 1"] = num(p[0], "end") - from - r.instrument(from, num(p[0], "end"))
		if num(round, "n") == 1 && len(r.within("arguments", 0, from)) > 0 {
			out["start to token 1"] = r.lead + num(p[0], "end") - r.instrument(0, num(p[0], "end"))
		}
	}
	var later []float64
	sum := 0.0
	for i, s := range r.within("decode step", from, to) {
		if i == 0 {
			out["first decode step"], out["to token 2"] = took(s), num(s, "end")-from-r.instrument(from, num(s, "end"))
			continue
		}
		later = append(later, took(s))
		sum += took(s)
	}
	if len(later) > 0 {
		out["later steps"], out["tokens/s"] = middle(later), float64(len(later))/(sum/1e9)
	}
	if len(later) > 1 {
		out["step p90"], out["step p99"], out["longest step"] = hundredths(later, 90), hundredths(later, 99), slices.Max(later)
	}
	return out
}

// expected are the samples of each column of compare's table, by row.
func expected(runs []rawRun) map[string]map[string][]float64 {
	out := map[string]map[string][]float64{}
	for _, r := range runs {
		first := r.within("round", 0, math.Inf(1))
		later := map[string][]float64{}
		for _, round := range first {
			if num(round, "n") == 1 {
				add(out, r.arm, r.figuresOf(round))
				continue
			}
			for row, v := range r.figuresOf(round) {
				later[row] = append(later[row], v)
			}
		}
		if r.arm == "warm-cache" && len(later) > 0 {
			one := map[string]float64{}
			for row, v := range later {
				one[row] = middle(v)
			}
			add(out, "warm-process", one)
		}
	}
	return out
}

func add(to map[string]map[string][]float64, column string, figures map[string]float64) {
	if to[column] == nil {
		to[column] = map[string][]float64{}
	}
	for row, v := range figures {
		to[column][row] = append(to[column][row], v)
	}
}

// recomputeCompare holds `introgen compare FILE --style csv` against the
// recording's own lines.
func recomputeCompare(t failer, file, out string) {
	lines, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v", err)
	}
	runs, err := rawPlan(lines)
	if err != nil {
		t.Fatalf("%v", err)
	}
	want, tables := expected(runs), csvTables(t, out)
	checked := 0
	for column, rows := range want {
		for _, line := range tables["ms:"] {
			row := line["stage"]
			if row == "runs" {
				if line[column] != strconv.Itoa(len(rows["to token 1"])) {
					t.Fatalf("%s: %s runs in the table, %d in the recording", column, line[column], len(rows["to token 1"]))
				}
				continue
			}
			v := rows[row]
			if len(v) == 0 {
				continue
			}
			scale := 1e-6
			if row == "tokens/s" {
				scale = 1
			}
			near(t, column+", "+row, line[column], middle(v)*scale)
			if n := len(v); n >= 6 && n <= 8 { // the interval is then from the least to the most
				near(t, column+" lo, "+row, line[column+" lo"], slices.Min(v)*scale)
				near(t, column+" hi, "+row, line[column+" hi"], slices.Max(v)*scale)
			}
			checked++
		}
	}
	if checked == 0 {
		t.Fatalf("nothing was compared")
	}
	recomputeStages(t, runs, tables["what"])
}

// recomputeStages adds up libraries and pipelines by the stages that they lie
// in.
func recomputeStages(t failer, runs []rawRun, table []map[string]string) {
	type place struct{ stage, library string }
	libs, pipes := map[string]map[place][]float64{}, map[string]map[place][]float64{}
	for _, r := range runs {
		lib, pipe := map[place]float64{}, map[place]float64{}
		for _, round := range r.within("round", 0, math.Inf(1)) {
			if num(round, "n") != 1 {
				continue
			}
			for stage, name := range map[string]string{"build model": "build model", "prefill": "prefill", "first decode step": "decode step"} {
				spans := r.within(name, num(round, "start"), num(round, "end"))
				if len(spans) == 0 {
					continue
				}
				for _, s := range r.within("LIB", num(spans[0], "start"), num(spans[0], "end")) {
					lib[place{stage, text(s, "detail")}] += took(s)
					lib[place{stage, ""}] += took(s)
				}
				for _, s := range r.within("PIPE", num(spans[0], "start"), num(spans[0], "end")) {
					library, _, _ := strings.Cut(text(s, "detail"), " ")
					pipe[place{stage, library}] += took(s)
					pipe[place{stage, ""}] += took(s)
				}
			}
		}
		for to, from := range map[*map[string]map[place][]float64]map[place]float64{&libs: lib, &pipes: pipe} {
			if (*to)[r.arm] == nil {
				(*to)[r.arm] = map[place][]float64{}
			}
			for p, v := range from {
				(*to)[r.arm][p] = append((*to)[r.arm][p], v)
			}
		}
	}
	for arm := range libs {
		for _, line := range table {
			p := place{line["stage"], line["stage library"]}
			if v := libs[arm][p]; len(v) > 0 {
				near(t, fmt.Sprint(arm, " LIB, ", p), line[arm+" LIB ms"], middle(v)/1e6)
			}
			if v := pipes[arm][p]; len(v) > 0 {
				near(t, fmt.Sprint(arm, " PIPE, ", p), line[arm+" PIPE ms"], middle(v)/1e6)
			}
		}
		if len(libs[arm]) > 0 && len(table) < 4 {
			t.Fatalf("%s has %d places with libraries, the table %d lines", arm, len(libs[arm]), len(table))
		}
	}
}

// recomputeSweep does the same for `introgen sweep FILE --style csv`.
func recomputeSweep(t failer, file, out string) {
	lines, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v", err)
	}
	runs, err := rawPlan(lines)
	if err != nil {
		t.Fatalf("%v", err)
	}
	steps, buffers, waits := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for _, r := range runs {
		var ofSteps, ofBuffers, ofWaits []float64
		for _, round := range r.within("round", 0, math.Inf(1)) {
			if num(round, "n") < 2 {
				continue
			}
			for _, s := range r.within("decode step", num(round, "start"), num(round, "end")) {
				ofSteps = append(ofSteps, took(s))
				n, wait := 0.0, 0.0
				for _, c := range r.count {
					if at := num(c, "at"); text(c, "name") == "metal command buffers" && at > num(s, "start") && at <= num(s, "end") {
						n += num(c, "value")
					}
				}
				for _, w := range r.within("wait", num(s, "start"), num(s, "end")) {
					wait += took(w)
				}
				ofBuffers, ofWaits = append(ofBuffers, n), append(ofWaits, wait)
			}
		}
		_, level, _ := strings.Cut(r.arm, "=")
		steps[level] = append(steps[level], middle(ofSteps))
		buffers[level], waits[level] = append(buffers[level], middle(ofBuffers)), append(waits[level], middle(ofWaits))
	}
	table := csvTables(t, out)["ms:"]
	if len(table) != len(steps) || len(steps) == 0 {
		t.Fatalf("the table has %d lines, the recording %d arms", len(table), len(steps))
	}
	for _, line := range table {
		level := line["per-buffer"]
		near(t, level+", decode", line["decode step ms"], middle(steps[level])/1e6)
		if line["bufs"] != fmt.Sprint(middle(buffers[level])) {
			t.Fatalf("%s: %s buffers in the table, %v in the recording", level, line["bufs"], middle(buffers[level]))
		}
		if w, ok := line["wait ms"]; ok {
			near(t, level+", wait", w, middle(waits[level])/1e6)
		}
	}
}

// recompute is the command of that name in scripts: recompute compare FILE
// holds the standard output of the command before it against the recording.
func recompute(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: recompute compare|sweep FILE")
	}
	out := ts.ReadFile("stdout")
	switch file := ts.MkAbs(args[1]); args[0] {
	case "compare":
		recomputeCompare(ts, file, out)
	case "sweep":
		recomputeSweep(ts, file, out)
	default:
		ts.Fatalf("recompute %s: compare or sweep", args[0])
	}
}

// answerOf runs the program.
func answerOf(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{"introgen"}, args...), &out, &errs); code != exitOK {
		t.Fatalf("introgen %s ends with %d: %s", strings.Join(args, " "), code, errs.String())
	}
	return out.String()
}

// The figures of the experiment, and seven blocks of made-up runs.
func TestTablesRecomputed(t *testing.T) {
	kept := filepath.Join("..", "..", "results", "recorded")
	states, swept := filepath.Join(kept, "experiment-states.introgen"), filepath.Join(kept, "experiment-sweep.introgen")
	recomputeCompare(t, states, answerOf(t, "compare", states, "--style", "csv"))
	recomputeSweep(t, swept, answerOf(t, "sweep", swept, "--style", "csv"))
	for seed := range uint64(5) {
		made := filepath.Join(t.TempDir(), "made.introgen")
		if err := os.WriteFile(made, madeUpPlan(t, seed), 0o644); err != nil {
			t.Fatal(err)
		}
		recomputeCompare(t, made, answerOf(t, "compare", made, "--style", "csv"))
	}
}

// madeUpPlan is a plan of seven blocks whose times are random, one run of which
// is refused.
func madeUpPlan(t *testing.T, seed uint64) []byte {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 1))
	var out []byte
	put := func(e recording.Event) {
		var err error
		if out, err = recording.Encode(out, e); err != nil {
			t.Fatal(err)
		}
	}
	header := recording.Header{Format: recording.Format, Version: recording.Version, Args: []string{}, Knobs: []recording.Knob{}, Command: "compare"}
	plan := &recording.Plan{Blocks: 7, Order: "random", Factors: []string{"cache"}}
	rounds := map[string]int{"cold": 1, "warm-cache": 3, "cpu": 1}
	for _, a := range []string{"cold", "warm-cache", "cpu"} {
		plan.Arms = append(plan.Arms, recording.Arm{Name: a, State: a, Args: []string{"x"}, Levels: map[string]string{"cache": a}})
	}
	put(&header)
	put(plan)
	for n := range 21 {
		arm := plan.Arms[n%3].Name
		put(&recording.Start{Run: n + 1, Block: n/3 + 1, Arm: arm})
		header.Command, header.Clock = "metal", 1e12+rnd.Int64N(1e9)
		put(&header)
		id, clock := trace.ID(0), 20_000_000+rnd.Int64N(5_000_000)
		span := func(parent trace.ID, name, detail string, n, from, to int64) trace.ID {
			id++
			s := &recording.Span{}
			s.ID, s.Parent, s.Name, s.Detail, s.N, s.Start, s.End = id, parent, name, detail, n, time.Duration(from), time.Duration(to)
			put(s)
			return id
		}
		span(0, "arguments", "", 0, 0, 1_000_000)
		span(0, "tokenizer", "", 0, 1_000_000, 15_000_000)
		span(0, "recording", "", 0, 15_000_000, 19_000_000)
		for round := 1; round <= rounds[arm]; round++ {
			type piece struct {
				name     string
				n, took  int64
				compiles []string
			}
			pieces := []piece{{name: "read gguf"}, {name: "build model", compiles: []string{"Cast", "Gemm"}}, {name: "recording"}, {name: "encode prompt"}, {name: "prefill", n: 13, compiles: []string{"Reduce", "Gemm x"}}}
			for i := range int64(6) {
				pieces = append(pieces, piece{name: "decode step", n: i + 1})
			}
			pieces[5].compiles = []string{"Sdpa"}
			whole := int64(0)
			for i := range pieces {
				pieces[i].took = 1_000_000 + rnd.Int64N(40_000_000)
				whole += pieces[i].took
			}
			r := span(0, "round", "", int64(round), clock, clock+whole)
			for _, p := range pieces {
				parent := span(r, p.name, "", p.n, clock, clock+p.took)
				at := clock
				for _, c := range p.compiles {
					if round > 1 || arm == "cpu" {
						continue
					}
					lib, _, again := strings.Cut(c, " ")
					length := rnd.Int64N(p.took / 5)
					if !again {
						span(parent, "LIB", lib, 100, at, at+length)
						at += length
					}
					span(parent, "PIPE", lib+" f", 0, at, at+length/2)
					at += length / 2
				}
				clock += p.took
			}
		}
		put(&recording.End{At: clock})
		exit := &recording.Exit{Run: n + 1, Spawned: header.Clock - 7_000_000 - rnd.Int64N(3_000_000), Reaped: header.Clock + clock + 1_000_000}
		if n == 9 {
			exit.Refused = "for the test"
		}
		put(exit)
	}
	put(&recording.End{})
	return out
}
