package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/scripts/peers/peer"
)

// values are a figure of an engine in a cell, a value a block, NaN for a block without
// one.
func (m *Measurement) values(model Model, context int, engine string, of func(Sample) float64) []float64 {
	out := make([]float64, m.Blocks)
	for i := range out {
		out[i] = math.NaN()
	}
	for _, s := range m.Samples {
		if s.Model == model && s.Context == context && s.Engine == engine {
			out[s.Block] = of(s)
		}
	}
	return out
}

// limits are those of a model, a value a block.
func (m *Measurement) limits(model Model, of func(Limit) float64) []float64 {
	out := make([]float64, m.Blocks)
	for i := range out {
		out[i] = math.NaN()
	}
	for _, l := range m.Limits {
		if l.Model == model && l.Block < m.Blocks {
			out[l.Block] = of(l)
		}
	}
	return out
}

func bandwidthOf(l Limit) float64  { return l.GBs }
func arithmeticOf(l Limit) float64 { return l.GFLOPs }

// rates are so much in each of the milliseconds, in 10⁹ a second.
func rates(amount float64, ms []float64) []float64 {
	out := make([]float64, len(ms))
	for i := range ms {
		out[i] = amount / ms[i] / 1e6
	}
	return out
}

// cached is how many bytes a key or a value takes in an engine's cache: introgen's CPU
// engine has 16 bits each and a float for 32 of them, llama.cpp's default are binary16,
// and candle's are floats.
var cached = map[string]float64{nameCPU: 68.0 / 32, nameLlama: 2, nameSoft: 4}

// stepBytes is what a decode step of an engine reads: the weights, and the keys and
// values of the positions of the middle step.
func (m *Measurement) stepBytes(model Model, context int, engine string) (weights, cache float64, err error) {
	s, typ, err := model.shape()
	return float64(s.StepBytes(typ)), cached[engine] * float64(s.CacheValues(context+m.Steps/2)), err
}

// faster is how many times as fast introgen is as llama.cpp, block by block.
func (m *Measurement) faster(model Model, context int, of func(Sample) float64) peer.Spread {
	return peer.SpreadOf(peer.Ratios(m.values(model, context, nameLlama, of), m.values(model, context, nameCPU, of)))
}

// Report is the measured part of the page.
func (m *Measurement) Report() (string, error) {
	b := new(strings.Builder)
	fmt.Fprintf(b, "Measured on %s with introgen %s: %s, %s, %d decode steps a run.\n\n",
		m.Date.Format("2006-01-02 15:04 MST"), m.Revision, figures.Number(m.Blocks, "block"), figures.Number(m.Threads, "thread"), m.Steps)
	m.Machine.WriteTable(b, m.Busy, m.Absent)
	for _, part := range []struct {
		title string
		write func(*strings.Builder) error
	}{
		{"Goals", m.writeGoals}, {"Time by bytes", m.writeFits}, {"Decode", m.writeDecode}, {"Prefill", m.writePrefill}, {"First token and memory", m.writeFirst},
	} {
		fmt.Fprintf(b, "### %s\n\n", part.title)
		if err := part.write(b); err != nil {
			return "", err
		}
	}
	if m.Peer != "" {
		fmt.Fprintf(b, "llama.cpp: %s\n\n", m.Peer)
	}
	for _, f := range m.Failed {
		fmt.Fprintf(b, "- not run: %s\n", strings.ReplaceAll(f, "\n", " "))
	}
	if len(m.Failed) > 0 {
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// writeDecode has a row for each model and context.
func (m *Measurement) writeDecode(b *strings.Builder) error {
	var rows [][]string
	for _, model := range m.Models {
		for _, n := range m.Contexts {
			weights, cache, err := m.stepBytes(model, n, nameCPU)
			if err != nil {
				return err
			}
			bytes := weights + cache
			own := m.values(model, n, nameCPU, Sample.decode)
			reached := rates(bytes, own)
			row := []string{model.String(), fmt.Sprint(n), figures.Text(bytes/1e6, 0), peer.SpreadOf(own).Cell(2, ""), peer.SpreadOf(reached).Cell(1, ""),
				peer.SpreadOf(peer.Ratios(reached, m.limits(model, bandwidthOf))).Percent(),
				peer.SpreadOf(m.values(model, n, nameLlama, Sample.decode)).Cell(2, ""), m.faster(model, n, Sample.decode).Times()}
			rows = append(rows, append(row, peer.SpreadOf(m.values(model, n, nameSoft, Sample.decode)).Cell(1, "")))
		}
	}
	peer.Table(b, []string{"model", "positions", "MB a step", "introgen, ms a token", "GB/s", "of the memory's best speed",
		"llama.cpp, ms a token", "as fast as llama.cpp", "soft driver, ms a token"}, rows)
	return nil
}

// writePrefill has a row for each model and length of a prompt.
func (m *Measurement) writePrefill(b *strings.Builder) error {
	var rows [][]string
	for _, model := range m.Models {
		s, _, err := model.shape()
		if err != nil {
			return err
		}
		for _, n := range m.Contexts {
			own := m.values(model, n, nameCPU, Sample.prefill)
			reached := rates(s.PrefillOps(n), own)
			tokens := func(ms []float64) string {
				return peer.SpreadOf(rates(float64(n)*1e9, ms)).Cell(0, "")
			}
			rows = append(rows, []string{model.String(), fmt.Sprint(n), tokens(own), peer.SpreadOf(reached).Cell(0, ""),
				peer.SpreadOf(peer.Ratios(reached, m.limits(model, arithmeticOf))).Percent(),
				tokens(m.values(model, n, nameLlama, Sample.prefill)), m.faster(model, n, Sample.prefill).Times(),
				tokens(m.values(model, n, nameSoft, Sample.prefill))})
		}
	}
	peer.Table(b, []string{"model", "tokens", "introgen, tokens a second", "GFLOP/s", "of the registers' best float32 rate",
		"llama.cpp, tokens a second", "as fast as llama.cpp", "soft driver, tokens a second"}, rows)
	return nil
}

func firstToken(s Sample) float64 { return s.load() + s.Output.Rounds[0].Prefill }

// peakMiB is NaN where the process's peak is not known.
func peakMiB(s Sample) float64 {
	if s.PeakMiB == 0 {
		return math.NaN()
	}
	return s.PeakMiB
}

// byFile are peaks as a part of the file's size.
func (m *Measurement) byFile(model Model, context int, engine string) peer.Spread {
	v := m.values(model, context, engine, peakMiB)
	for i := range v {
		v[i] *= (1 << 20) / float64(m.Files[model.String()])
	}
	return peer.SpreadOf(v)
}

// besideCache is introgen's peak without what its keys and values take, as a part of the
// file's size.
func (m *Measurement) besideCache(model Model, context int) peer.Spread {
	s, _, err := model.shape()
	if err != nil {
		return peer.Spread{}
	}
	v := m.values(model, context, nameCPU, peakMiB)
	for i := range v {
		v[i] = (v[i]*(1<<20) - cached[nameCPU]*float64(s.CacheValues(context+m.Steps))) / float64(m.Files[model.String()])
	}
	return peer.SpreadOf(v)
}

func (m *Measurement) writeFirst(b *strings.Builder) error {
	longest := slices.Max(m.Contexts)
	var rows [][]string
	for _, model := range m.Models {
		rows = append(rows, []string{model.String(), figures.Text(float64(m.Files[model.String()])/(1<<20), 0),
			peer.SpreadOf(m.values(model, shortPrompt, nameCPU, firstToken)).Cell(1, ""),
			peer.SpreadOf(m.values(model, shortPrompt, nameLlama, firstToken)).Cell(1, ""),
			m.faster(model, shortPrompt, firstToken).Times(),
			m.byFile(model, shortPrompt, nameCPU).Times(), m.byFile(model, longest, nameCPU).Times(), m.byFile(model, longest, nameLlama).Times()})
	}
	peer.Table(b, []string{"model", "file, MiB", "introgen, open → first token of 13, ms", "llama.cpp, ms", "as fast as llama.cpp",
		"introgen: peak memory by the file", fmt.Sprintf("with %d positions", longest), "llama.cpp's"}, rows)
	return nil
}

// planeOf fits milliseconds to megabytes of weights and of the cache, over all models of
// a type, or of all where it is empty, and all contexts.
func (m *Measurement) planeOf(typ, engine string, values func(Model, int) float64) (stats.Plane, error) {
	var u, v, y []float64
	for _, model := range m.Models {
		if typ != "" && model.Type != typ {
			continue
		}
		for _, n := range m.Contexts {
			weights, cache, err := m.stepBytes(model, n, engine)
			if err != nil {
				return stats.Plane{}, err
			}
			if ms := values(model, n); !math.IsNaN(ms) {
				u, v, y = append(u, weights/1e6), append(v, cache/1e6), append(y, ms)
			}
		}
	}
	return stats.FitPlane(u, v, y), nil
}

// plane is that through the medians of the blocks, with the rates of the blocks' own, in
// GB/s.
func (m *Measurement) plane(typ, engine string) (p stats.Plane, weights, cache []float64, err error) {
	p, err = m.planeOf(typ, engine, func(model Model, n int) float64 {
		s := peer.SpreadOf(m.values(model, n, engine, Sample.decode))
		if s.N == 0 {
			return math.NaN()
		}
		return s.Mid
	})
	for block := range m.Blocks {
		own, err := m.planeOf(typ, engine, func(model Model, n int) float64 { return m.values(model, n, engine, Sample.decode)[block] })
		if err == nil && own.N > 0 && own.U > 0 && own.V > 0 {
			weights, cache = append(weights, 1/own.U), append(cache, 1/own.V)
		}
	}
	return p, weights, cache, err
}

// leastPoints is how many points a plane needs to say anything: three have always one.
const leastPoints = 4

// types are those of the measured models, and "" for all where there are several.
func (m *Measurement) types() []string {
	var out []string
	for _, model := range m.Models {
		if !slices.Contains(out, model.Type) {
			out = append(out, model.Type)
		}
	}
	if len(out) > 1 {
		out = append(out, "")
	}
	return out
}

func (m *Measurement) writeFits(b *strings.Builder) error {
	var gbs []float64
	for _, l := range m.Limits {
		gbs = append(gbs, l.GBs)
	}
	limit := peer.Median(gbs)
	var rows [][]string
	for _, engine := range []string{nameCPU, nameLlama} {
		for _, typ := range m.types() {
			p, weights, cache, err := m.plane(typ, engine)
			if err != nil {
				return err
			}
			name := typ
			if typ == "" {
				name = "all"
			}
			row := []string{engine, name, fmt.Sprint(p.N)}
			if p.N < leastPoints || len(weights) == 0 {
				rows = append(rows, append(row, peer.None, peer.None, peer.None, peer.None, peer.None, peer.None))
				continue
			}
			of := func(slope float64) string { return fmt.Sprintf("%.0f %%", 100/slope/limit) }
			rows = append(rows, append(row, fmt.Sprintf("%.2f", p.Intercept), peer.SpreadOf(weights).Cell(1, ""), of(p.U),
				peer.SpreadOf(cache).Cell(1, ""), of(p.V), fmt.Sprintf("%.1f %%", 100*p.Worst)))
		}
	}
	b.WriteString("ms a token = a + bytes of weights / rate + bytes of the cache / rate, through the medians of the blocks; the rates' spread is that of fits to single blocks.\n\n")
	peer.Table(b, []string{"engine", "types", "points", "a, ms", "weights, GB/s", "of the memory's best speed", "cache, GB/s", "of the memory's best speed", "farthest point"}, rows)
	return nil
}
