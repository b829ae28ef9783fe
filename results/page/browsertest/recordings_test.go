package browsertest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown/breakdowntest"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// recorded is one of results/recorded.
func recorded(t *testing.T, name string) *recording.File {
	t.Helper()
	f, err := recording.Open(filepath.Join("..", "..", "recorded", name+recording.Ending))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// blocks is how many a plan has here: enough for intervals.
const blocks = 8

// compared is a comparison with as many runs as an interval needs; slower makes all
// of its times longer.
func compared(slower float64) *recording.File {
	arms := []recording.Arm{{Name: "cold", State: recording.StateCold, Args: []string{"metal", "1", "--nonce"}, Levels: map[string]string{"cache": "cold"}},
		{Name: "warm-cache", State: recording.StateWarmCache, Args: []string{"metal", "1"}, Levels: map[string]string{"cache": "warm"}}}
	return programtest.Plan("compare", []string{"cache"}, blocks, arms, func(arm, block int) *programtest.Recording {
		s := programtest.Cold
		if arm == 1 {
			s = programtest.Warm
		}
		s.Quick *= (1 + 0.01*float64(block)) / slower
		return programtest.Engine(s)
	})
}

// swept is a sweep with as many runs as an interval needs.
func swept() *recording.File {
	var arms []recording.Arm
	levels := []int{1, 2, 4, 8}
	for _, n := range levels {
		arms = append(arms, recording.Arm{Name: fmt.Sprintf("N=%d", n), Args: []string{"record", "--", "./generate"}, Levels: map[string]string{"N": fmt.Sprint(n)}})
	}
	return programtest.Plan("sweep", []string{"N"}, blocks, arms, func(arm, block int) *programtest.Recording {
		return programtest.Steps(levels[arm], 8, block%2 == 0)
	})
}

// crashed is a recording that ends in the middle of a line.
func crashed(t *testing.T) *recording.File {
	t.Helper()
	all := programtest.Bytes(programtest.Engine(programtest.Cold))
	f, err := recording.Read(bytes.NewReader(all[:len(all)*2/3]), "crashed.introgen")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// single is a run of the engine with so many rounds and steps.
func single(rounds, steps, buffers int) *recording.File {
	return &recording.File{Runs: []*recording.Run{breakdowntest.Metal(rounds, steps, buffers)}}
}

// limits are 10 GB and 100 G operations a second, and a cache of a kilobyte.
func limits() []*recording.Limit {
	return []*recording.Limit{{What: recording.LimitMemory, Threads: 2, Best: 10e9, Median: 9e9, Samples: 3, Kernel: "avx2", Cache: 1000},
		{What: recording.LimitFloat32, Threads: 2, Best: 100e9, Median: 90e9, Samples: 3, Kernel: "avx2"}}
}

// kernels is a run on Metal with a kernel that takes 2 s for 4 GB and 8 G operations,
// and one of which nobody knows these.
func kernels() *recording.File {
	f := single(1, 5, 3)
	f.Runs[0].Kernels = []recording.Kernel{{Name: "mul", Dispatches: 10, Time: 2e9, Read: 3e9, Written: 1e9, Ops: 8e9}, {Name: "strange", Dispatches: 1, Time: 5e8, Unknown: 1}}
	f.Runs[0].Limits = limits()
	return f
}

// operations is a run on the CPU of a prefill and a decode step. Of the prefill's
// product two threads make 4 ms each, the second 2 ms after the first: in 6 ms 12 MB
// and 60 M operations.
func operations() *recording.File {
	const ms = time.Millisecond
	span := func(id, in trace.ID, name string, n int64, start, end time.Duration) trace.Record {
		return trace.Record{ID: id, Parent: in, Name: name, N: n, Start: start * ms, End: end * ms}
	}
	of := func(in trace.ID, track, operation int, start, took time.Duration) *recording.Executed {
		return &recording.Executed{Span: in, Track: track, Operations: []int{operation}, Start: []int64{int64(start * ms)}, Time: []int64{int64(took * ms)}}
	}
	return &recording.File{Runs: []*recording.Run{{
		Header: recording.Header{Command: "cpu"}, End: &recording.End{At: int64(100 * ms)},
		Spans: []trace.Record{span(1, 0, names.SpanRound, 1, 0, 100), span(2, 1, names.SpanRead, 0, 0, 5), span(3, 1, names.SpanBuild, 0, 5, 10),
			span(4, 1, names.SpanPrefill, 13, 10, 40), span(5, 1, names.SpanStep, 1, 50, 60), span(6, 1, names.SpanStep, 2, 60, 80), span(7, 1, names.SpanStep, 3, 80, 90)},
		Rounds: []recording.Round{{Number: 1, Span: 1, Prompt: 13, IDs: []int32{1, 2, 3, 4}}},
		Operations: []*recording.Operation{{ID: 1, Layer: 0, Name: "ffn_down", Kernel: "tile avx2", Read: 11e6, Written: 1e6, Ops: 60e6},
			{ID: 2, Layer: 0, Name: "ffn_down", Kernel: "mul avx2", Read: 4e6, Written: 200, Ops: 8e6}},
		Executed: []*recording.Executed{of(4, 0, 1, 10, 4), of(4, 1, 1, 12, 4), of(5, 0, 2, 50, 4), of(5, 1, 2, 50, 4)},
		Limits:   limits(),
	}}}
}

// subjects are one of each kind of recording.
func subjects(t *testing.T) map[string]*recording.File {
	t.Helper()
	return map[string]*recording.File{
		"a compare of the experiment": recorded(t, "experiment-states"),
		"a compare with intervals":    compared(1),
		"a sweep of the experiment":   recorded(t, "experiment-sweep"),
		"a sweep with intervals":      swept(),
		"a single run":                single(2, 20, 5),
		"a marked program":            programtest.File(programtest.Marked(programtest.Cold)),
		"an unmarked program":         programtest.File(programtest.Unmarked(programtest.Cold)),
		"a program of threads":        programtest.File(programtest.Detailed()),
		"a crashed run":               crashed(t),
		"kernels of a device":         kernels(),
		"operations of threads":       operations(),
	}
}
