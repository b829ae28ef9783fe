package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/scripts/peers/peer"
)

// invented is a measurement of two blocks, in the second of which the machine
// was half as fast: ratios must not see that.
func invented() *Measurement {
	q8, q8one := Setting{"Q8_0", 2}, Setting{"Q8_0", 1}
	m := &Measurement{
		Date: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC), Revision: "abc", Blocks: 2, Rounds: 2,
		Machine: peer.Machine{CPU: "some processor", Cores: 2, System: "linux/amd64"},
		Files:   map[string]int64{"Q8_0": 40_000_000}, Settings: []Setting{q8, q8one}, Busy: [2]float64{2.5, 0},
		Engines: []Engine{{Name: variantDefault, Family: "introgen", Built: "introgen abc"}, {Name: "slow way", Family: "llama.cpp"},
			{Name: "fast way", Family: "llama.cpp"}},
		Absent: []string{"candle"},
	}
	add := func(to *[]Sample, block int, set Setting, engine string, step float64, ids ...int) {
		out, err := peer.ParseOutput(engineLines(2, step))
		if err != nil {
			panic(err)
		}
		out.IDs = ids
		*to = append(*to, Sample{Block: block, Setting: set, Engine: engine, Output: out, PeakMiB: 30})
	}
	for block, slower := range []float64{1, 2} {
		add(&m.Samples, block, q8, variantDefault, 2*slower, 66, 467, 314)
		add(&m.Samples, block, q8, "slow way", 5*slower, 66, 467, 9)
		add(&m.Samples, block, q8, "fast way", 3*slower, 66, 8, 314)
		add(&m.Loaded, block, q8, variantDefault, 6*slower)
		add(&m.Loaded, block, q8one, variantDefault, 5*slower)
		m.Bandwidth = append(m.Bandwidth,
			Bandwidth{block, q8, 2, "4 KiB", 20 / slower, 18 / slower}, Bandwidth{block, q8, 2, "huge", 25 / slower, 24 / slower})
	}
	return m
}

func TestSpeedupIsBlockByBlockAgainstTheBestBuild(t *testing.T) {
	m, q8 := invented(), Setting{"Q8_0", 2}
	if got := m.best(q8, "llama.cpp", Decode); got != "fast way" {
		t.Errorf("the best build is %q", got)
	}
	if got, want := m.speedup(q8, variantDefault, "llama.cpp", Decode), (peer.Spread{N: 2, Mid: 1.5, Min: 1.5, Max: 1.5}); got != want {
		t.Errorf("speed-up is %+v, want %+v", got, want)
	}
	// 40 MB in 2 ms is 20 GB/s, of 25.
	if got, want := m.share(q8, variantDefault), (peer.Spread{N: 2, Mid: 0.8, Min: 0.8, Max: 0.8}); got != want {
		t.Errorf("share is %+v, want %+v", got, want)
	}
	if got := m.slowdown(variantDefault, q8, Setting{"Q8_0", 1}); got.Mid != 1.2 {
		t.Errorf("slow-down beside a neighbour is %+v, want 1.2", got)
	}
	if got := m.speedup(q8, variantDefault, "candle native", Decode); got.N != 0 {
		t.Errorf("a peer that was not measured has the ratio %+v", got)
	}
}

func TestReport(t *testing.T) {
	text := invented().Report()
	for _, want := range []string{
		"Measured on 2026-01-02 03:04 UTC with introgen abc: 2 blocks, 2 rounds in each process.",
		"| processor | some processor |",
		"load average 2.50: **not quiet",
		"| not measured | candle: it could not be had here |",
		"| Q8_0, 2 threads, introgen: peak resident memory by the file's size | ≤ 1.3× | 0.79× (0.79–0.79) | reached |",
		"### Q8_0, 2 threads",
		"| introgen | 3.0 (3.0–3.0) | 30.0 (20.0–40.0) | 3.00 (2.00–4.00) | 80 % (80–80) | 63.0 (43.0–83.0) | 30 (30–30) | 3 of 3 |",
		"| slow way | 3.0 (3.0–3.0) | 75.0 (50.0–100.0) | 7.50 (5.00–10.00) | 32 % (32–32) | 153.0 (103.0–203.0) | 30 (30–30) | 2 of 3 |",
		"| introgen against llama.cpp | 1.00× (1.00–1.00) | 1.50× (1.50–1.50) | 1.50× (1.50–1.50) |",
		"| Q8_0, 2 threads, introgen: decode, against llama.cpp | ≥ 1.05× | 1.50× (1.50–1.50) | reached |",
		"| Q8_0, 2 threads, introgen: open → first token, against llama.cpp | ≥ 5× | 1.47× (1.47–1.48) | **missed** |",
		"| Q8_0, 2 threads, introgen: decode, against candle native | ≥ 2.2× | – | not measured |",
		"| Q8_0, introgen beside a busy neighbour: time of 2 threads by that of 1 | ≤ 1.5× | 1.20× (1.20–1.20) | reached |",
		"| threads 2, huge pages | 18.8 (12.5–25.0) | 18.0 (12.0–24.0) |",
		"| introgen | Q8_0, 2 threads | 270.0 (180.0–360.0) | 1.20× (1.20–1.20) |",
		"- introgen: introgen abc\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if strings.Contains(text, "--pack against") {
		t.Error("the report has a row for what was not measured")
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestReportReplacesOnlyWhatWasMeasured(t *testing.T) {
	m := invented()
	dir := t.TempDir()
	kept, page := filepath.Join(dir, "m.json"), filepath.Join(dir, "peers.md")
	if err := m.save(kept); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(page, []byte("# Peers\n\n"+peer.BeginMark+"\nold\n"+peer.EndMark+"\n\nHow to run.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := options{blocks: 1, rounds: 2, render: kept, out: page}
	for range 2 {
		if err := o.run(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if want := "# Peers\n\n" + peer.BeginMark + "\n\n" + m.Report() + peer.EndMark + "\n\nHow to run.\n"; string(got) != want {
		t.Errorf("the page is\n%s", got)
	}
	if err := os.WriteFile(page, []byte("# Peers\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := o.run(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), peer.EndMark) {
		t.Errorf("a page without marks: error %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []options{{blocks: 0, rounds: 3}, {blocks: 1, rounds: 1}, {blocks: 1, rounds: 2, render: "absent.json"}} {
		if err := o.run(t.Context(), nil, nil); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	if o := (options{engines: "llama,native"}); !o.wanted("llama.cpp, repacking") || !o.wanted("candle native") || o.wanted("candle default") {
		t.Error("-engines does not choose by words")
	}
}
