package profile

import (
	"bytes"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/breakdown/breakdowntest"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// read is a profile as pprof reads it.
func read(t *testing.T, files ...*recording.File) *profile.Profile {
	t.Helper()
	var b bytes.Buffer
	if err := Together(&b, files); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// totals are the sums of all samples.
func totals(p *profile.Profile) (out [types]time.Duration) {
	for _, s := range p.Sample {
		for i, v := range s.Value {
			out[i] += time.Duration(v)
		}
	}
	return out
}

// by is the time of a type by stack, the outermost frame first.
func by(p *profile.Profile, of int) map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, s := range p.Sample {
		var frames []string
		for _, l := range slices.Backward(s.Location) {
			frames = append(frames, l.Line[0].Function.Name)
		}
		if s.Value[of] > 0 {
			out[strings.Join(frames, " > ")] += time.Duration(s.Value[of])
		}
	}
	return out
}

func experiment(t testing.TB) *recording.File {
	t.Helper()
	f, err := recording.Open(filepath.Join("..", "recorded", "experiment-states.introgen"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func metal(rounds, steps, buffers int) *recording.File {
	r := breakdowntest.Metal(rounds, steps, buffers)
	r.Device = &recording.Device{Driver: "soft"}
	r.Operations = []*recording.Operation{
		{ID: 1, Layer: 4, Name: "attn_q", Library: "Quantized", Kernel: "mul_mv"},
		{ID: 2, Layer: recording.NoLayer, Name: "output", Library: "Quantized", Kernel: "mul_mm"},
	}
	for _, s := range r.Spans {
		if s.Name == names.SpanGPU {
			r.Executed = append(r.Executed, &recording.Executed{Span: s.ID, Operations: []int{1, 2}, Start: []int64{int64(s.Start), int64(s.Start) + 9}, Time: []int64{8, 10}})
		}
	}
	return &recording.File{Runs: []*recording.Run{r}}
}

func near(a, b time.Duration) bool { return math.Abs(float64(a-b)) <= 0.001*float64(b) }

// TestTotals: of every kind of recording the wall clock adds up to that of its runs,
// and compiling and the device to their spans.
func TestTotals(t *testing.T) {
	parent, child := programtest.Child()
	for name, f := range map[string]*recording.File{
		"experiment": experiment(t), "metal": metal(2, 3, 5), "child": programtest.File(parent, child), "threads": programtest.File(programtest.Threads()),
		"across": programtest.File(programtest.Across()), "silent": programtest.File(programtest.Silent()), "marked": programtest.File(programtest.Marked(programtest.Cold)),
		"steps": programtest.File(programtest.Steps(20, 4, false)),
	} {
		var want [types]time.Duration
		for _, r := range f.Runs {
			a, err := breakdown.Take(r).Account()
			if err != nil {
				t.Fatal(err)
			}
			want[wall] += a.Wall
			for _, s := range r.Spans {
				switch s.Name {
				case names.SpanLibrary, names.SpanPipeline:
					want[compile] += s.Duration()
				case names.SpanGPU: // of none of these recordings two run at once
					want[gpu] += s.Duration()
				}
			}
		}
		got := totals(read(t, f))
		for i, name2 := range typeNames {
			if !near(got[i], want[i]) {
				t.Errorf("%s: %s adds up to %v, and %v was recorded", name, name2, got[i], want[i])
			}
		}
	}
}

// TestStacks: a stack goes from the phase over layer, operation and library to the
// kernel.
func TestStacks(t *testing.T) {
	p := read(t, metal(1, 1, 1))
	if got, want := by(p, gpu), map[string]time.Duration{
		"prefill > layer 4 > attn_q > Quantized > mul_mv": 8, "prefill > output > Quantized > mul_mm": 10, "prefill > device > between kernels": 2,
		"decode step > layer 4 > attn_q > Quantized > mul_mv": 8, "decode step > output > Quantized > mul_mm": 10, "decode step > device > between kernels": 2,
	}; !maps.Equal(got, want) {
		t.Errorf("the device did %v, want %v", got, want)
	}
	if got, want := by(p, compile), map[string]time.Duration{"prefill > compile > L0": time.Millisecond, "prefill > compile > L0 > f0": time.Millisecond}; !maps.Equal(got, want) {
		t.Errorf("compiled was %v, want %v", got, want)
	}
	// Of a step of 140 ns 10 encode, 10 commit, 20 are the device's, which nobody
	// waits for, and 100 wait.
	if got, want := by(p, wall), map[string]time.Duration{"read gguf": 100, "build model": 100,
		"prefill > compile > L0": time.Millisecond, "prefill > compile > L0 > f0": time.Millisecond,
		"prefill > encoding": 10, "prefill > committing": 10, "prefill > waiting for the device": 100, "prefill > unattributed": 20,
		"decode step > encoding": 10, "decode step > committing": 10, "decode step > waiting for the device": 100, "decode step > unattributed": 20,
	}; !maps.Equal(got, want) {
		t.Errorf("the wall clock went to %v, want %v", got, want)
	}

	// What the CPU engine's threads computed adds up over them.
	run := &recording.Run{Header: recording.Header{Command: "cpu"},
		Spans:      []trace.Record{{ID: 1, Name: names.SpanRound, N: 1, Start: 0, End: 1000}, {ID: 2, Parent: 1, Name: names.SpanStep, N: 1, Start: 100, End: 900}},
		Operations: []*recording.Operation{{ID: 1, Layer: 3, Name: "ffn_down", Kernel: "mul avx2"}},
		Executed: []*recording.Executed{{Span: 2, Operations: []int{1, 1}, Start: []int64{110, 500}, Time: []int64{390, 390}},
			{Span: 2, Track: 1, Operations: []int{1}, Start: []int64{120}, Time: []int64{700}}}}
	p = read(t, &recording.File{Runs: []*recording.Run{run}})
	if got, want := by(p, cpu), map[string]time.Duration{"decode step > layer 3 > ffn_down > mul avx2": 1480}; !maps.Equal(got, want) {
		t.Errorf("threads computed %v, want %v", got, want)
	}
}

// TestKernelsOfRun: where nobody knows which operation a kernel's time was of, it is
// told over the run, and the device's time stays whole.
func TestKernelsOfRun(t *testing.T) {
	f := metal(1, 1, 1)
	f.Runs[0].Executed, f.Runs[0].Kernels = nil, []recording.Kernel{{Name: "mul_mv", Dispatches: 2, Time: 33}}
	p := read(t, f)
	if got, want := by(p, gpu), map[string]time.Duration{"kernels of the run > mul_mv": 33, "kernels of the run > between kernels": 7}; !maps.Equal(got, want) {
		t.Errorf("the device did %v, want %v", got, want)
	}
	if !strings.Contains(strings.Join(p.Comments, "\n"), "not by phase and layer") {
		t.Errorf("comments are %q", p.Comments)
	}
}

// TestLabels: device, state, round and step tell samples apart, and of a plan run and
// arm.
func TestLabels(t *testing.T) {
	of := func(p *profile.Profile, key string) map[string]int64 {
		out := map[string]int64{}
		for _, s := range p.Sample {
			for _, value := range s.Label[key] {
				out[value] += s.Value[wall]
			}
		}
		return out
	}
	p := read(t, metal(2, 3, 1))
	if got := of(p, "device"); len(got) != 1 || got["metal soft"] != int64(totals(p)[wall]) {
		t.Errorf("devices are %v", got)
	}
	// Each round has three steps of 140 ns; the second is that of a process that has
	// all that it needs.
	if got, want := of(p, "step"), (map[string]int64{"1": 280, "2": 280, "3": 280}); !maps.Equal(got, want) {
		t.Errorf("steps are %v, want %v", got, want)
	}
	if got := of(p, "round"); got["2"] != 760 || got["1"] != 2_000_760 || len(got) != 2 {
		t.Errorf("rounds are %v", got)
	}
	if got := of(p, "state"); got["warm-process"] != 760 {
		t.Errorf("states are %v", got)
	}
	p = read(t, experiment(t))
	if got := of(p, "arm"); len(got) != 4 || of(p, "run")["1"] != got["cold"] {
		t.Errorf("arms are %v, runs %v", got, of(p, "run"))
	}
	if got := of(p, "state"); got[recording.StateCold] == 0 || got[recording.StateCPU] == 0 {
		t.Errorf("states are %v", got)
	}
}

// TestFilesOfOneName: the label of a file tells it from those of its name.
func TestFilesOfOneName(t *testing.T) {
	old, recent := metal(1, 1, 1), metal(1, 1, 1)
	old.Path, recent.Path = "old/run.introgen", "new/run.introgen"
	got := map[string]bool{}
	for _, s := range read(t, old, recent).Sample {
		got[strings.Join(s.Label["file"], " ")] = true
	}
	if want := map[string]bool{"old/run.introgen": true, "new/run.introgen": true}; !maps.Equal(got, want) {
		t.Errorf("files are %v, want %v", got, want)
	}
}

// TestPprof: go tool pprof names the libraries of the experiment's cold run, the
// slowest first.
func TestPprof(t *testing.T) {
	f := experiment(t)
	path := filepath.Join(t.TempDir(), "x.pb.gz")
	var b bytes.Buffer
	if err := View(&b, f); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=1000", "-nodefraction=0", "-sample_index=compile", "-tagfocus=arm=^cold$", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) == 6 && strings.HasSuffix(words[1], "%") {
			got = append(got, words[5])
		}
	}
	var want []string
	took := map[string]time.Duration{}
	for _, s := range f.Runs[0].Spans {
		if s.Name == names.SpanLibrary {
			took[s.Detail] += s.Duration()
		}
	}
	for name := range took {
		want = append(want, name)
	}
	slices.SortFunc(want, func(a, b string) int { return int(took[b] - took[a]) })
	got = slices.DeleteFunc(got, func(name string) bool { return took[name] == 0 })
	if len(want) != 10 || !slices.Equal(got, want) {
		t.Errorf("pprof names %q, want %q; it says\n%s", got, want, out)
	}
}

// TestNothing: where no run can be believed there is no profile; where there is none
// at all it is an empty one, as the other views are.
func TestNothing(t *testing.T) {
	var out bytes.Buffer
	if err := View(&out, &recording.File{}); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&out)
	if err != nil || len(p.Sample) != 0 || len(p.Comments) != 1 || !strings.Contains(p.Comments[0], "no run is recorded") {
		t.Errorf("%v, %v; want no samples, and a comment that says why", p, err)
	}
	for want, f := range map[string]*recording.File{
		"no run can be put into a profile: the": {Runs: []*recording.Run{{Header: recording.Header{Command: "cpu"}, Spans: []trace.Record{{ID: 1, Name: names.SpanRound, N: 1, End: 10}}, Overlaps: []trace.Record{{ID: 2, Name: names.SpanRead, Parent: 1, End: time.Hour}}}}},
	} {
		if err := View(&bytes.Buffer{}, f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// FuzzProfile: no recording makes a profile that pprof does not read.
func FuzzProfile(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("..", "recorded", "experiment-states.introgen"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[:20_000])
	f.Add(programtest.Bytes(programtest.Unmarked(programtest.Cold)))
	f.Add(programtest.Bytes(programtest.Across()))
	f.Add([]byte(`{"k":"header","format":"introgen recording","version":1}` + "\n" + `{"k":"span","id":1,"in":0,"name":"LIB","detail":"\u0000</script>","start":1,"end":9}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := recording.Read(bytes.NewReader(b), "x")
		if err != nil {
			return
		}
		var out bytes.Buffer
		if View(&out, file) != nil {
			return
		}
		p, err := profile.Parse(&out)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Sample {
			if slices.Min(s.Value) < 0 {
				t.Fatalf("a sample of %v", s.Value)
			}
		}
	})
}
