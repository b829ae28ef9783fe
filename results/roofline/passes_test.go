package roofline

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/passes"
	"github.com/introgen/introgen/results/passes/passestest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

// TestPasses: shares are those of the limits, and weights count as in the cache only
// where all of a pass fits.
func TestPasses(t *testing.T) {
	r := passestest.Run()
	write := func() string {
		t.Helper()
		d, b := &table.Document{}, strings.Builder{}
		AddPasses(d, passes.Of(breakdown.Take(r)))
		if err := d.Write(&b, table.Plain); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	has := func(text, want string) bool { // whatever the widths
		return strings.Contains(" "+strings.Join(strings.Fields(text), " ")+" ", strings.Join(strings.Fields(want), " "))
	}
	text := write()
	for _, want := range []string{
		"decode step, 2 times, operations over all layers and 2 threads",
		// 16 MB in 21 ms are 0.762 GB/s of 2; 32 million operations 1.52 GFLOP/s of 100.
		// 50 operations for a byte come to both limits at once.
		"ffn_down mul_q8_0 22.0 78.6 % 0.762 38 1.52 2 memory",
		// 2000 bytes in 3 ms.
		"attn_norm rms_norm 4.00 14.3 % <0.01 <1 <0.01 <1 cache",
		// 8 MB in 15 ms, 1600 million operations, 200 for a byte.
		"ffn_down pack_tile_q8_0 22.0 91.7 % 0.533 27 106.7 107 floats",
		"0 10.0 33.3 % 24.0 80.0 %",
		"1 14.0 46.7 % 4.00 13.3 %",
		"18 observations of 1000 ns took 0.0150 % of the threads' time",
		"2.00 GB/s that 2 threads read", "Beyond the limit of floats: ffn_down pack_tile_q8_0. Quantized weights",
	} {
		if !has(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if len(line) > table.Width {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
	r.Limits[0].Best = 0.5e9 // less than what ffn_down reads: 152 %
	r.Limits[0].Cache = 8e6  // a layer's weights, and not quite a pass
	if text := write(); !has(text, "0.762 152 1.52 2 memory") || !has(text, "Beyond a limit: ffn_down mul_q8_0. The machine") {
		t.Errorf("a pass is said to fit into a cache of 8 MB:\n%s", text)
	}
	r.Limits[0].Cache = 8e6 + 1400 // 2 × 4 MB, 1000 of the norm, 400 of the tokens
	if text := write(); !has(text, "0.762 152 1.52 2 cache") || has(text, "Beyond a limit: ffn_down mul") {
		t.Errorf("a pass is not said to fit into a cache of its size:\n%s", text)
	}
	r.Limits = nil
	if text := write(); strings.Contains(text, "memory") || strings.Contains(text, "float") || strings.Contains(text, "tracing") || !has(text, "ffn_down mul_q8_0 22.0 78.6 % 0.762 1.52") {
		t.Errorf("without limits:\n%s", text)
	}
}

// TestOfPasses: the roofline of a run of the CPU engine has its operations, by the wall
// clock.
func TestOfPasses(t *testing.T) {
	r := Of(breakdown.Take(passestest.Run()))
	if r.Memory != 2e9 || r.Arithmetic != 100e9 || len(r.Kernels) != 5 {
		t.Fatalf("%+v", r)
	}
	k := r.Kernels[0]
	if k.Library != "decode step" || k.Name != "ffn_down mul_q8_0" || k.Dispatches != 4 || k.Time != 21e6 || !k.Known || k.Read+k.Written != 16e6 || k.Bound != Memory || k.InCache {
		t.Errorf("%+v", k)
	}
}

// TestManyThreads: a file may name a thread that no engine has.
func TestManyThreads(t *testing.T) {
	r := passestest.Run()
	r.Executed = append(r.Executed, &recording.Executed{Span: 4, Track: 1 << 16, Operations: []int{1}, Start: []int64{50e6}, Time: []int64{1}})
	if rows := len(busy(passes.Of(breakdown.Take(r))).Rows); rows != mostThreads {
		t.Errorf("%d threads are shown", rows)
	}
}
