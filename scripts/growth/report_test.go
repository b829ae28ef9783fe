package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/scripts/growth/shape"
	"github.com/introgen/introgen/scripts/peers/peer"
)

// invented is a measurement of two blocks, in the second of which the machine was half
// as fast: introgen takes 1 ms, what 20 GB/s take for weights and what 10 take for the
// cache; llama.cpp takes twice that, and has 2 bytes for each of its keys and values.
func invented(t *testing.T) *Measurement {
	m := &Measurement{Date: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC), Revision: "abc", Blocks: 2, Steps: 4, Threads: 2,
		Models:   []Model{{"SmolLM2-135M", "Q8_0"}, {"Llama-3.2-1B", "Q8_0"}},
		Contexts: []int{512, 1024}, Files: map[string]int64{"SmolLM2-135M Q8_0": 100 << 20, "Llama-3.2-1B Q8_0": 1000 << 20},
		Machine: peer.Machine{CPU: "some processor", Cores: 2}, Absent: []string{"the weather"}, Failed: []string{"llama.cpp, so: no"}}
	for block, slower := range []float64{1, 2} {
		for _, model := range m.Models {
			m.Limits = append(m.Limits, Limit{block, model, 25 / slower, 400 / slower})
			for _, n := range []int{shortPrompt, 512, 1024} {
				for engine, times := range map[string]float64{nameCPU: 1, nameLlama: 2} {
					weights, cache, err := m.stepBytes(model, n, engine)
					if err != nil {
						t.Fatal(err)
					}
					ms := slower * times * (1 + weights/20e6 + cache/10e6)
					r := peer.Round{Load: 3 * slower * times, Prompt: n, Prefill: 100 * slower * times, Steps: []float64{9 * ms, ms, ms, ms}}
					m.Samples = append(m.Samples, Sample{Block: block, Model: model, Context: n, Engine: engine, PeakMiB: 110, Output: peer.Output{Rounds: []peer.Round{r}}})
				}
			}
		}
	}
	return m
}

// Bytes of SmolLM2-135M by hand: 134479872 values of matrices in 34 bytes for 32 and
// 61 · 576 of norms are 143025408 bytes, which 20 GB/s take 7.151 ms. 514 positions of 30
// layers and 2 vectors of 192 values are 5921280 values, of 68 bytes for 32 12582720 bytes,
// which 10 GB/s take 1.258 ms: 9.41 ms with the one. Of 2 bytes each they take 1.184, and
// all of it twice 18.67.
func TestReport(t *testing.T) {
	text, err := invented(t).Report()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Measured on 2026-01-02 03:04 UTC with introgen abc: 2 blocks, 2 threads, 4 decode steps a run.",
		"| not measured | the weather: it could not be had here |",
		"| decode against llama.cpp, at every size and context | ≥ 1.1× | 1.97× (1.97–1.97) | SmolLM2-135M Q8_0, 1024 | reached |",
		"| ms a token of Q8_0: farthest from linear in bytes | ≤ 10 % | 0.0 % |",
		"| peak memory by the file's size | ≤ 1.2× | 1.10× (1.10–1.10) | SmolLM2-135M Q8_0, 512 | reached |",
		// 110 MiB less 516 positions of 12582720/514 bytes.
		"| the same without the keys and values of the positions, which are no part of the file | ≤ 1.2× | 0.98× (0.98–0.98) | SmolLM2-135M Q8_0, 512 | reached |",
		"| open → first token of Llama-3.2-1B, against llama.cpp | ≥ 5× | 2.00× (2.00–2.00) | Llama-3.2-1B Q8_0 | **missed** |",
		// The medians of blocks of 1 and 2 are 1.5 times the first block: 20/1.5 GB/s
		// of a limit of (25 + 12.5)/2.
		"| introgen | Q8_0 | 4 | 1.50 | 15.0 (10.0–20.0) | 71 % | 7.5 (5.0–10.0) | 36 % | 0.0 % |",
		"| llama.cpp | Q8_0 | 4 | 3.00 | 7.5 (5.0–10.0) | 36 % | 3.8 (2.5–5.0) | 18 % | 0.0 % |",
		"| SmolLM2-135M Q8_0 | 512 | 156 | 14.11 (9.41–18.82) | 12.4 (8.3–16.5) | 66 % (66–66) | 28.01 (18.67–37.34) | 1.98× (1.98–1.98) | – |",
		// 512 tokens in 100 ms and 200 ms.
		"| SmolLM2-135M Q8_0 | 512 | 3840 (2560–5120) |",
		"| SmolLM2-135M Q8_0 | 100 | 154.5 (103.0–206.0) | 309.0 (206.0–412.0) | 2.00× (2.00–2.00) | 1.10× (1.10–1.10) |",
		"- not run: llama.cpp, so: no\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestMeasurementsAreKept(t *testing.T) {
	m := invented(t)
	path := filepath.Join(t.TempDir(), "m.json")
	if err := m.save(path); err != nil {
		t.Fatal(err)
	}
	got, err := loadMeasurement(path)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := m.Report()
	if text, err := got.Report(); err != nil || text != want {
		t.Errorf("the report of what was kept is another one: %v", err)
	}
	m.Samples[0].Block = 7
	if err := m.save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := loadMeasurement(path); err == nil || !strings.Contains(err.Error(), "block 8 of 2") {
		t.Errorf("a sample of no block: error %v", err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := loadMeasurement(path); err == nil {
		t.Error("a measurement without samples was taken")
	}
}

func TestPlan(t *testing.T) {
	good := options{models: "Llama-3.2-1B,SmolLM2-135M", types: "Q8_0,Q4_K", contexts: "128,4096", blocks: 1, steps: 2, threads: 2, soft: "SmolLM2-135M"}
	m, err := good.plan()
	if err != nil || len(m.Models) != 4 || m.Models[3] != (Model{"Llama-3.2-1B", "Q4_K"}) || m.Contexts[1] != 4096 || m.soft[0].Name != shape.Shapes[0].Name {
		t.Errorf("got %+v, %v", m, err)
	}
	for word, edit := range map[string]func(*options){
		"-blocks 0":     func(o *options) { o.blocks = 0 },
		"-threads 0":    func(o *options) { o.threads = 0 },
		"-models":       func(o *options) { o.models = "GPT-5" },
		"-models names": func(o *options) { o.models = "" },
		"-types: \"F3":  func(o *options) { o.types = "F32" },
		"-contexts: \"": func(o *options) { o.contexts = "128,many" },
		"1 to 16384":    func(o *options) { o.contexts = "99999" },
		"names none":    func(o *options) { o.contexts = "" },
		"-soft":         func(o *options) { o.soft = "GPT-5" },
	} {
		o := good
		edit(&o)
		if _, err := o.plan(); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: error %v", word, err)
		}
	}
}
