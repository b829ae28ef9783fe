package explain_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/answers/explain"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// made is something compiled in a phase.
type made struct {
	phase, library, function string
	ms                       float64
	cache                    string
}

// spec describes runs of one arm; its zero value is a quick warm run on a
// device, of which no rule has anything to say.
type spec struct {
	state   string
	runs    int // default 6
	rounds  int // default 2
	read    float64
	steps   func(run, i int) float64
	made    []made // in round 1
	buffers int    // a step; default 13
	// Of a step, in ms: encoding, committing, waiting, and from when the device
	// runs, relative to its begin.
	encode, commit, wait, gpuFrom, gpu float64
	knobs                              map[string]string
	faults                             int64
	evidence                           []recording.Evidence
	taints                             []recording.Taint
	refused, code                      string // why runs do not count
	others                             float64
	alone                              bool // a recording of one run, without a plan
	tokenizer                          float64
	weights                            float64 // of round 1, brought to the device
	build                              float64 // default 20
	weightsAre, command                string
}

func at(ms float64) time.Duration { return time.Duration(ms * 1e6) }

func (s spec) run(n int) *recording.Run {
	r := &recording.Run{Header: recording.Header{Command: "metal", Host: recording.Host{Cores: 2}}, Evidence: s.evidence}
	if s.command != "" {
		r.Header.Command, r.Header.Model.Bytes = s.command, 145e6
	}
	r.Subject = &recording.Subject{Weights: s.weightsAre, Tokenizer: "hf"}
	for _, k := range []string{"io", "threads", "weights"} {
		if v, ok := s.knobs[k]; ok {
			r.Header.Knobs = append(r.Header.Knobs, recording.Knob{Name: k, Value: v})
		}
	}
	clock := 0.0
	add := func(parent trace.ID, name, detail string, n int64, from, took float64) trace.ID {
		id := trace.ID(len(r.Spans) + 1)
		r.Spans = append(r.Spans, trace.Record{ID: id, Parent: parent, Name: name, Detail: detail, N: n, Start: at(from), End: at(from + took)})
		return id
	}
	if s.tokenizer > 0 {
		add(0, names.SpanArguments, "", 0, 0, 1)
		add(0, names.SpanTokenizer, "auto", 0, 1, s.tokenizer)
		clock = 1 + s.tokenizer
	}
	for round := 1; round <= max(1, s.rounds); round++ {
		id := add(0, names.SpanRound, "", int64(round), clock, 0)
		phase := func(name, key string, n int64, own float64) trace.ID {
			p := add(id, name, "", n, clock, 0)
			at := clock
			for _, m := range s.made {
				if round > 1 || m.phase != key {
					continue
				}
				if m.function == "" {
					l := add(p, "LIB", m.library, 0, at, m.ms)
					r.Libraries = append(r.Libraries, recording.Library{Span: l, Name: m.library, Cache: m.cache})
				} else {
					l := add(p, "PIPE", m.library+" "+m.function, 0, at, m.ms)
					r.Pipelines = append(r.Pipelines, recording.Pipeline{Span: l, Library: m.library, Function: m.function, Cache: m.cache})
				}
				at += m.ms
			}
			clock = at + own
			r.Spans[p-1].End = time.Duration(clock * 1e6)
			return p
		}
		read := s.read
		if round > 1 && s.knobs == nil {
			read = 0 // of a file that is in memory by then
		}
		phase(names.SpanRead, names.SpanRead, 0, read)
		build := s.build
		if build == 0 {
			build = 20
		}
		begin := clock
		built := phase(names.SpanBuild, names.SpanBuild, 0, build)
		if s.weights > 0 {
			add(built, names.SpanWeights, "norm", 0, begin, s.weights)
		}
		phase(names.SpanPrefill, names.SpanPrefill, 13, 30)
		for i := range 5 {
			begin := clock
			took := 8.0
			if s.steps != nil {
				took = s.steps(n, i)
			}
			step := phase(names.SpanStep, fmt.Sprintf("%s %d", names.SpanStep, i+1), int64(i+1), took)
			add(step, "encode", "compute", 604, begin, s.encode)
			add(step, "commit", "", 0, begin+s.encode, s.commit)
			add(step, "wait", "", 0, begin+s.encode+s.commit, s.wait)
			add(step, "gpu", "", 0, begin+s.gpuFrom, s.gpu)
			for name, v := range map[string]int{"metal command buffers": s.buffers, "metal dispatches": 604} {
				r.Samples = append(r.Samples, trace.Sample{Span: step, Name: name, Value: int64(v)})
			}
		}
		r.Spans[id-1].End = at(clock)
	}
	r.End = &recording.End{At: int64(at(clock)), MajorFaults: s.faults}
	r.Machine = []recording.Machine{{OtherCores: s.others}}
	if !s.alone {
		r.Start = &recording.Start{Run: n, Block: n, Arm: "arm"}
		r.Exit = &recording.Exit{Run: n, Refused: s.refused, RefusedCode: s.code}
		r.Exit.Taint(s.taints...)
	}
	return r
}

func (s spec) file() *recording.File {
	if s.runs == 0 {
		s.runs = 6
	}
	if s.rounds == 0 {
		s.rounds = 2
	}
	if s.buffers == 0 {
		s.buffers = 13
	}
	if s.state == "" {
		s.state = recording.StateWarmCache
	}
	if s.encode == 0 {
		s.encode, s.commit, s.wait, s.gpuFrom, s.gpu = 1, 0.1, 6, 0.2, 6.5
	}
	f := &recording.File{}
	if !s.alone {
		f.Plan = &recording.Plan{Arms: []recording.Arm{{Name: "arm", State: s.state}}, Blocks: s.runs}
	}
	for n := 1; n <= s.runs; n++ {
		f.Runs = append(f.Runs, s.run(n))
	}
	return f
}

func evidence(hits, misses, entries int) []recording.Evidence {
	return []recording.Evidence{{What: recording.EvidenceMetalCache, LibraryHits: hits, LibraryMisses: misses, Folder: "cache", Before: &recording.CacheFolder{Entries: entries}}}
}

func rising(run, _ int) float64 { return 8 + 0.3*float64(run) }

// A ruleCase is a recording in which a rule finds something, with figures that
// the text must have, and one close to it in which it must find nothing.
type ruleCase struct {
	rule       string
	finds, not spec
	want       []string // in the text
	cost       float64  // ms
}

var cases = []ruleCase{
	{rule: "cold compile",
		finds: spec{state: recording.StateCold, made: []made{{"build model", "Gemm", "", 300, "miss"}, {"build model", "Gemm", "gemm_nn", 100, "miss"}, {"prefill", "Reduce", "", 500, "miss"}}},
		want:  []string{"93.9 % of the 958.0 ms", "libraries 2, pipelines 1", "Gemm (400.0 ms), Reduce (500.0 ms)"}, cost: 900,
		not: spec{made: []made{{"build model", "Gemm", "", 300, "hit"}}}},
	{rule: "tokenizer",
		finds: spec{tokenizer: 180}, want: []string{"(hf) ready takes 180.0 of the 239.0 ms"}, cost: 180,
		not: spec{tokenizer: 6}},
	{rule: "weights copied",
		finds: spec{build: 140, weights: 120, knobs: map[string]string{"weights": "copy"}}, want: []string{"120.0 of the 178.0 ms"}, cost: 120,
		not: spec{build: 140, weights: 120, knobs: map[string]string{"weights": "map"}}},
	{rule: "weights packed",
		finds: spec{command: "cpu", build: 36, weightsAre: recording.WeightsPacked}, want: []string{"36.0 of the 74.0 ms"}, cost: 36,
		not: spec{command: "cpu", build: 36, weightsAre: recording.WeightsStored}},
	{rule: "refused runs",
		finds: spec{state: recording.StateCold, refused: "crashed", code: recording.RefusedExit}, want: []string{"6 of 6 runs do not count: the last one crashed"}, cost: 0,
		not: spec{refused: "was labelled warm-cache: 10 of 10 libraries and 21 of 21 pipelines were compiled", code: recording.RefusedEvidence}},
	{rule: "evicted, and still in memory", // also where a plan refused the runs for it
		finds: spec{state: recording.StateColdFile, refused: "was labelled cold-file: 100 % of it was in memory", code: recording.RefusedEvidence,
			evidence: []recording.Evidence{{What: recording.EvidencePageCache, Round: 1, Resident: 1, Evicted: true}}}, want: []string{"100 % of it lay there"}, cost: 0,
		not: spec{state: recording.StateColdFile, refused: "crashed", code: recording.RefusedExit}},
	{rule: "memory limit",
		finds: spec{command: "cpu"}, want: []string{"takes 8.00 ms", "145 MB: 18.1 GB/s"}, cost: 0,
		not: spec{command: "cpu", steps: func(int, int) float64 { return 80 }}},
	{rule: "file not in memory",
		finds: spec{evidence: []recording.Evidence{{What: recording.EvidencePageCache, Round: 1, Resident: 0.13}}}, want: []string{"13.0 % of the model"}, cost: 0,
		not: spec{evidence: []recording.Evidence{{What: recording.EvidencePageCache, Round: 1, Resident: 1}}}},
	{rule: "evicted, and still in memory",
		finds: spec{evidence: []recording.Evidence{{What: recording.EvidencePageCache, Round: 1, Resident: 1, Evicted: true}}}, want: []string{"100 % of it lay there"}, cost: 0,
		not: spec{evidence: []recording.Evidence{{What: recording.EvidencePageCache, Round: 1, Resident: 0, Evicted: true}}}},
	{rule: "warm that is not warm", // a plan that wants a half-filled cache has made it so
		finds: spec{alone: true, runs: 1, evidence: evidence(0, 10, 400)}, want: []string{"held 400 entries"}, cost: 0,
		not: spec{state: recording.StateColdNatural, evidence: evidence(0, 10, 400)}},
	{rule: "slow commits", // commits that are too many are one cause, not two
		finds: spec{encode: 1, commit: 2.6, wait: 4, gpuFrom: 1, gpu: 6}, want: []string{"2.60 of the 8.00 ms"}, cost: 2.6,
		not: spec{buffers: 605, encode: 1, commit: 2.6, wait: 4, gpuFrom: 1, gpu: 6}},
	{rule: "prefill-only warm-up",
		finds: spec{state: recording.StateColdNatural, made: []made{{"prefill", "Reduce", "", 2, "hit"}, {"decode step 1", "Sdpa", "", 2130, "miss"}}},
		want:  []string{"library Sdpa was compiled in decode step 1"}, cost: 2130,
		not: spec{made: []made{{"prefill", "Reduce", "", 2, "miss"}, {"decode step 1", "Sdpa", "", 2130, "miss"}}}},
	{rule: "slow first round",
		finds: spec{read: 200}, want: []string{"258.0 ms in the first round and 58.0 ms", "the other 200.0 ms"}, cost: 200,
		not: spec{made: []made{{"build model", "Gemm", "", 300, "hit"}}}},
	{rule: "too many commits",
		finds: spec{buffers: 605, encode: 4, commit: 0.5, wait: 2, gpuFrom: 1, gpu: 5},
		want:  []string{"605 command buffers of 0.998 operations", "5.00 of its 8.00 ms"}, cost: 3,
		not: spec{buffers: 61}},
	{rule: "one commit too late",
		finds: spec{buffers: 1, encode: 2, commit: 0.1, wait: 5, gpuFrom: 2.2, gpu: 4.5},
		want:  []string{"all of its 604 operations in 1 command buffer", "2.00 ms"}, cost: 2,
		not: spec{buffers: 4, encode: 2, commit: 0.1, wait: 5, gpuFrom: 2.2, gpu: 4.5}},
	{rule: "slow commits",
		finds: spec{encode: 1, commit: 2.6, wait: 4, gpuFrom: 1, gpu: 6},
		want:  []string{"2.60 of the 8.00 ms", "0.200 ms for each of 13"}, cost: 2.6,
		not: spec{encode: 1, commit: 0.5, wait: 6, gpuFrom: 1, gpu: 6}},
	{rule: "small reads",
		finds: spec{read: 129, knobs: map[string]string{"io": "file"}}, want: []string{"129.0 ms"}, cost: 129,
		not: spec{read: 129, knobs: map[string]string{"io": "mmap"}}},
	{rule: "slow read",
		finds: spec{read: 300, knobs: map[string]string{"io": "mmap"}}, want: []string{"300.0 ms", "by mmap"}, cost: 300,
		not: spec{read: 2, knobs: map[string]string{"io": "mmap"}}},
	{rule: "page faults",
		finds: spec{faults: 2000, evidence: []recording.Evidence{{What: recording.EvidencePageCache, Round: 1, Resident: 0.13}}},
		want:  []string{"2000 page faults", "13.0 % of the model"}, cost: 0,
		not: spec{faults: 3, evidence: []recording.Evidence{{What: recording.EvidencePageCache, Round: 1, Resident: 1}}}},
	{rule: "thermal drift",
		finds: spec{runs: 8, steps: rising, taints: []recording.Taint{{Code: recording.TaintThrottled, Value: 5, Text: "5 times for heat"}}}, want: []string{"+22.5 %", "last of 8", "5 times for heat"}, cost: 2.1,
		not: spec{runs: 8, steps: func(run, _ int) float64 { return 8 + 0.3*float64(run%2) }}},
	{rule: "two modes",
		finds: spec{runs: 12, steps: func(run, _ int) float64 { return 8 + 4*float64(run%2) + 0.01*float64(run*7%12) }},
		want:  []string{"of 12 runs", "around 8.05 and 12.1 ms", "50.0 %"}, cost: 0,
		not: spec{runs: 12, steps: func(run, _ int) float64 { return 8 + 0.4*float64(run*7%12) }}},
	{rule: "stalled steps", // of 4 later steps in each of 2 rounds of 6 runs: 16 of 48 ms
		finds: spec{steps: func(_, i int) float64 { return []float64{8, 8, 24.1, 8, 8}[i] }},
		want:  []string{"12 of 48 decode steps took over 3 ×", "up to 24.1 ms", "33.5 % of the decode time", "what is in none of the parts took longer (12)"}, cost: 32.2,
		not: spec{steps: func(_, i int) float64 { return []float64{8, 8, 24, 8, 8}[i] }}},
	{rule: "oversubscribed threads",
		finds: spec{knobs: map[string]string{"threads": "8"}}, want: []string{"8 threads share 2 cores"}, cost: 0,
		not: spec{knobs: map[string]string{"threads": "2"}}},
	{rule: "warm that is not warm",
		finds: spec{refused: "was labelled warm-cache: 10 of 10 libraries and 21 of 21 pipelines were compiled", code: recording.RefusedEvidence}, want: []string{"6 of 6 runs were refused", "10 of 10 libraries"}, cost: 0,
		not: spec{refused: "it crashed"}},
	{rule: "warm that is not warm",
		finds: spec{alone: true, runs: 1, evidence: evidence(0, 10, 400)}, want: []string{"held 400 entries (cache)", "all 10"}, cost: 0,
		not: spec{alone: true, runs: 1, evidence: evidence(0, 10, 0)}},
	{rule: "warm that is not warm",
		finds: spec{made: []made{{"prefill", "Reduce", "", 800, "hit"}}}, want: []string{"as long as compiling: Reduce (800.0 ms)"}, cost: 800,
		not: spec{made: []made{{"prefill", "Reduce", "", 3, "hit"}}}},
	{rule: "duplicate compiles",
		finds: spec{made: []made{{"build model", "Gemm", "", 30, "miss"}, {"prefill", "Gemm", "", 31, "miss"}, {"prefill", "Gemm", "gemm_nn", 5, "miss"}}}, want: []string{"more than once: 1", "Gemm 2 times"}, cost: 31,
		not: spec{made: []made{{"build model", "Gemm", "", 30, "miss"}, {"prefill", "Gemm", "gemm_nn", 5, "miss"}, {"prefill", "Gemm", "gemm_nt", 5, "miss"}}}},
	{rule: "other load",
		finds: spec{taints: []recording.Taint{{Code: recording.TaintLoad, Value: 0.93, Text: "other processes kept 0.930 of 2 cores busy"}}}, want: []string{"in 6 of 6 runs other processes kept 0.930 of 2 cores busy"}, cost: 0,
		not: spec{taints: []recording.Taint{{Code: recording.TaintIdle, Value: 250, Text: "250 ms between passes, before decode step 2"}}}},
	{rule: "other load",
		finds: spec{alone: true, runs: 1, others: 0.93}, want: []string{"in 1 of 1 runs other processes kept 0.930 of 2 cores busy"}, cost: 0,
		not: spec{alone: true, runs: 1, others: 0.1}},
	{rule: "idle gaps",
		finds: spec{taints: []recording.Taint{{Code: recording.TaintIdle, Value: 250, Text: "250 ms between passes, before decode step 2"}}}, want: []string{"in 6 runs", "250 ms between passes"}, cost: 0,
		not: spec{taints: []recording.Taint{{Code: recording.TaintLoad, Value: 0.93, Text: "other processes kept 0.930 of 2 cores busy"}}}},
}

// found are the findings of one rule, applied alone.
func found(t *testing.T, rule string, f *recording.File) []explain.Finding {
	t.Helper()
	i := slices.IndexFunc(explain.Rules, func(r explain.Rule) bool { return r.Name == rule })
	if i < 0 {
		t.Fatalf("there is no rule %q", rule)
	}
	var out []explain.Finding
	for _, c := range explain.Cases(breakdown.Of(f)) {
		out = append(out, explain.Find(explain.Rules[i:i+1], c)...)
	}
	return out
}

func TestRules(t *testing.T) {
	for _, c := range cases {
		got := found(t, c.rule, c.finds.file())
		if len(got) != 1 {
			t.Errorf("%s: %d findings", c.rule, len(got))
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(got[0].Text, w) {
				t.Errorf("%s: %q is without %q", c.rule, got[0].Text, w)
			}
		}
		if strings.Contains(got[0].Text+got[0].Advice, "%!") || got[0].Advice == "" {
			t.Errorf("%s: %q, %q", c.rule, got[0].Text, got[0].Advice)
		}
		if facts, err := json.Marshal(got[0].Facts); err != nil || string(facts) == "{}" { // programs have them by name
			t.Errorf("%s: the facts are %s, %v", c.rule, facts, err)
		}
		if d := got[0].Cost - at(c.cost); d > time.Microsecond || d < -time.Microsecond {
			t.Errorf("%s costs %v, want %v ms", c.rule, got[0].Cost, c.cost)
		}
		if not := found(t, c.rule, c.not.file()); len(not) != 0 {
			t.Errorf("%s is found where it is not: %+v", c.rule, not)
		}
	}
	for _, r := range explain.Rules {
		if slices.ContainsFunc(programCases, func(c programCase) bool { return c.rule == r.Name }) {
			continue
		}
		if !slices.ContainsFunc(cases, func(c ruleCase) bool { return c.rule == r.Name }) {
			t.Errorf("the rule %q has no test", r.Name)
		}
	}
}

// What an advice takes from the figures is filled in.
func TestAdvice(t *testing.T) {
	if got := found(t, "oversubscribed threads", spec{knobs: map[string]string{"threads": "8"}}.file()); !strings.HasSuffix(got[0].Advice, "--threads 2") {
		t.Errorf("the advice is %q", got[0].Advice)
	}
	if got := found(t, "slow first round", spec{read: 200, command: "cpu"}.file()); !strings.Contains(got[0].Advice, "a file that is not in memory") {
		t.Errorf("the advice is %q", got[0].Advice)
	}
	if got := found(t, "slow first round", spec{read: 200}.file()); strings.Contains(got[0].Advice, "introgen metal") || !strings.Contains(got[0].Advice, "of which this recording has nothing") {
		t.Errorf("the advice is %q", got[0].Advice)
	}
}

// Another arm of the recording says what another tokenizer saves.
func TestTokenizerSaves(t *testing.T) {
	f, other := spec{tokenizer: 180}.file(), spec{tokenizer: 6}.file()
	f.Plan.Arms = append(f.Plan.Arms, recording.Arm{Name: "go"})
	for _, r := range other.Runs {
		r.Start.Arm, r.Subject.Tokenizer = "go", "go"
	}
	f.Runs = append(f.Runs, other.Runs...)
	if got := found(t, "tokenizer", f); len(got) != 1 || !strings.Contains(got[0].Text, "; go, in go, takes 6.00 ms and so saves 174.0") {
		t.Errorf("found %+v", got)
	}
}

// Where the recording has the default value too, and the steps are not told
// apart from it, nothing is advised that the sweep would not.
func TestAsTheSweep(t *testing.T) {
	late := spec{buffers: 1, encode: 2, commit: 0.1, wait: 5, gpuFrom: 2.2, gpu: 4.5}
	base := spec{}
	for _, c := range []struct {
		slower float64
		want   int
	}{{0, 0}, {1, 1}} {
		late.steps = func(run, i int) float64 { return 8 + c.slower + 0.01*float64((run*5+i)%7) }
		base.steps = func(run, i int) float64 { return 8 + 0.01*float64((run*3+i)%7) }
		f, with := late.file(), base.file()
		f.Plan.Arms[0].Levels = map[string]string{"per-buffer": "100000"}
		f.Plan.Arms = append(f.Plan.Arms, recording.Arm{Name: "50", Levels: map[string]string{"per-buffer": "50"}})
		for _, r := range with.Runs {
			r.Start.Arm = "50"
		}
		f.Runs = append(f.Runs, with.Runs...)
		if got := found(t, "one commit too late", f); len(got) != c.want {
			t.Errorf("%v ms slower: found %+v", c.slower, got)
		}
	}
}

// A long run drifts from round to round.
func TestDriftInOneRun(t *testing.T) {
	f := spec{alone: true, runs: 1, rounds: 9}.file()
	var later time.Duration
	for i := range f.Runs[0].Spans {
		if s := &f.Runs[0].Spans[i]; s.Name == names.SpanStep {
			s.End += later
			later += at(0.1)
		}
	}
	if got := found(t, "thermal drift", f); len(got) != 1 || !strings.Contains(got[0].Text, "last of 8") {
		t.Errorf("found %+v", got)
	}
}

// A quick warm run has nothing to find.
func TestNothing(t *testing.T) {
	a := explain.Of(breakdown.Of(spec{}.file()))
	if len(a.Arms) != 1 || len(a.Arms[0].Findings) != 0 {
		t.Errorf("found %+v", a.Arms)
	}
	explain.Of(breakdown.Of(&recording.File{}))
	empty := explain.Of(breakdown.Of(&recording.File{Runs: []*recording.Run{{}}, Broken: "cut off in line 2"}))
	if len(empty.Notes) != 1 {
		t.Errorf("notes are %q", empty.Notes)
	}
}
