package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/engine/cpu/arithmetic"
	"github.com/introgen/introgen/engine/cpu/bandwidth"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/scripts/growth/shape"
	"github.com/introgen/introgen/scripts/peers/peer"
)

// Model is a file that is measured.
type Model struct {
	Shape string `json:"shape"`
	Type  string `json:"type"`
}

func (m Model) String() string { return m.Shape + " " + m.Type }

// shape is what its file has; the error is of a measurement that was kept by another
// version.
func (m Model) shape() (shape.Shape, quant.Type, error) {
	shapes, err := shape.Find([]string{m.Shape})
	if err != nil {
		return shape.Shape{}, 0, err
	}
	typ, err := quant.ParseType(m.Type)
	return shapes[0], typ, err
}

// shortPrompt is the length of the experiment's prompt: what the first token is
// waited for with.
const shortPrompt = 13

// Sample is one process of an engine: a prompt of Context tokens, and decode steps
// behind it.
type Sample struct {
	Block   int         `json:"block"`
	Model   Model       `json:"model"`
	Context int         `json:"context"`
	Engine  string      `json:"engine"`
	Output  peer.Output `json:"output"`
	PeakMiB float64     `json:"peak_mib"`
}

// Limit is what the probes of memory and arithmetic reach beside a model's engines.
type Limit struct {
	Block  int     `json:"block"`
	Model  Model   `json:"model"`
	GBs    float64 `json:"gb_s"`
	GFLOPs float64 `json:"gflop_s"`
}

// Measurement is everything that a report is made from.
type Measurement struct {
	Date     time.Time        `json:"date"`
	Machine  peer.Machine     `json:"machine"`
	Revision string           `json:"revision"`
	Peer     string           `json:"peer"` // how llama.cpp was built
	Blocks   int              `json:"blocks"`
	Steps    int              `json:"steps"`
	Threads  int              `json:"threads"`
	Models   []Model          `json:"models"`
	Contexts []int            `json:"contexts"`
	Files    map[string]int64 `json:"files"` // bytes, by Model.String
	Samples  []Sample         `json:"samples"`
	Limits   []Limit          `json:"limits"`
	Busy     float64          `json:"busy"`
	Absent   []string         `json:"absent"`
	Failed   []string         `json:"failed"` // what could not be run, and why

	soft []shape.Shape
}

// engine is a way to generate.
type engine struct {
	name    string
	command func(path string, prompt []string, steps, threads int) (argv, env []string)
}

// The engines, by name.
const (
	nameCPU   = "introgen"
	nameLlama = "llama.cpp"
	nameSoft  = "introgen metal, soft driver"
)

// softMost is the most positions that the soft driver is given.
const softMost = 512

func introgenEngine(program string) engine {
	return engine{nameCPU, func(path string, prompt []string, steps, threads int) (argv, env []string) {
		return []string{program, "cpu", "1", "--model", path, "--threads", strconv.Itoa(threads),
			"--tokens", strconv.Itoa(steps), "--prompt-ids", strings.Join(prompt, ",")}, nil
	}}
}

// softEngine makes two rounds: the first one compiles what no cache has.
func softEngine(program string) engine {
	return engine{nameSoft, func(path string, prompt []string, steps, _ int) (argv, env []string) {
		return []string{program, "metal", "2", "--driver", "soft", "--model", path,
			"--tokens", strconv.Itoa(steps), "--prompt-ids", strings.Join(prompt, ",")}, nil
	}}
}

// passed is how many tokens llama.cpp passes at once, its default.
const passed = 512

// llamaEngine warms up before what is timed, as llama.cpp's own tools do, but not where
// the first token is waited for: whoever opens a file waits for that too.
func llamaEngine(llama *peer.Llama) engine {
	return engine{nameLlama, func(path string, prompt []string, steps, threads int) (argv, env []string) {
		warmup := "on"
		if len(prompt) == shortPrompt {
			warmup = "off"
		}
		// llama.cpp rounds a context up to 256.
		return llama.Command("--warmup", warmup, "--model", path, "--rounds", "1", "--steps", strconv.Itoa(steps), "--threads", strconv.Itoa(threads),
			"--ids", strings.Join(prompt, ","), "--context", strconv.Itoa((len(prompt)+steps+255)/256*256), "--ubatch", strconv.Itoa(passed))
	}}
}

// prompt is n ids, the same for all: words of a vocabulary's first characters.
func prompt(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strconv.Itoa(33 + i*7%90)
	}
	return ids
}

// processLimit is how long one process may take.
const processLimit = 30 * time.Minute

// runner makes the processes of a measurement.
type runner struct {
	*Measurement
	log     io.Writer
	engines []engine
	dir     string
}

// all measures one model after the other: its file is written, run in all blocks, and
// removed.
func (r *runner) all(ctx context.Context) error {
	r.Files = map[string]int64{}
	for _, m := range r.Models {
		if err := r.model(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) model(ctx context.Context, m Model) (err error) {
	s, typ, err := m.shape()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(r.dir, "introgen-growth-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, fmt.Sprintf("%s.%s.gguf", s.Name, typ))
	start := time.Now()
	size, err := s.Write(path, typ)
	if err != nil {
		return err
	}
	r.Files[m.String()] = size
	fmt.Fprintf(r.log, "%s: %s written in %.1f s\n", m, figures.Size(size), time.Since(start).Seconds())
	for block := range r.Blocks {
		if err := r.probe(ctx, m, block, size); err != nil {
			return err
		}
		for _, n := range slices.Concat([]int{shortPrompt}, r.Contexts) {
			for _, e := range peer.Ordered(r.engines, block) {
				if e.name == nameSoft && (n > softMost || !slices.ContainsFunc(r.soft, func(x shape.Shape) bool { return x.Name == s.Name })) {
					continue
				}
				if err := r.one(ctx, e, m, path, block, n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// one runs a process. That an engine cannot is noted, and the others go on: a row of
// the table is then missing.
func (r *runner) one(ctx context.Context, e engine, m Model, path string, block, n int) error {
	argv, env := e.command(path, prompt(n), r.Steps, r.Threads)
	stdout, peak, err := peer.Capture(ctx, processLimit, argv, env)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s := Sample{Block: block, Model: m, Context: n, Engine: e.name, PeakMiB: peak}
	if err == nil {
		s.Output, err = peer.ParseOutput(stdout)
	}
	if err == nil {
		err = s.check(n, r.Steps)
	}
	if err != nil {
		text := fmt.Sprintf("%s, %s, %d positions: %v", e.name, m, n, err)
		fmt.Fprintln(r.log, text)
		r.Failed = append(r.Failed, text)
		return nil
	}
	s.Output.Text, s.Output.IDs = "", nil // of random weights
	r.Samples = append(r.Samples, s)
	fmt.Fprintf(r.log, "block %d of %d, %s, %5d positions, %-28s load %7s  prefill %8s  decode %7s ms  peak %6.0f MiB\n",
		block+1, r.Blocks, m, n, e.name, figures.Text(s.load(), 1), figures.Text(s.prefill(), 1), figures.Text(s.decode(), 2), peak)
	return nil
}

// check says that a process did not do the work.
func (s Sample) check(tokens, steps int) error {
	last := s.Output.Rounds[len(s.Output.Rounds)-1]
	if last.Prompt != tokens || len(last.Steps) != steps {
		return fmt.Errorf("a prompt of %d and %d decode steps came out, %d and %d were asked for", last.Prompt, len(last.Steps), tokens, steps)
	}
	return nil
}

// The figures of a sample, in ms.
func (s Sample) last() peer.Round { return s.Output.Rounds[len(s.Output.Rounds)-1] }
func (s Sample) load() float64    { return s.Output.Rounds[0].Load }
func (s Sample) prefill() float64 { return s.last().Prefill }
func (s Sample) decode() float64  { return peer.Median(s.last().Steps[1:]) }

// probe measures the memory's speed and the arithmetic's. Memory is read as much of as
// the model has, up to a gigabyte.
func (r *runner) probe(ctx context.Context, m Model, block int, size int64) error {
	l := Limit{Block: block, Model: m}
	for _, huge := range []bool{false, true} {
		b, err := bandwidth.Run(ctx, bandwidth.Options{Bytes: int(min(size, 1<<30)), Threads: r.Threads, Huge: huge, Rounds: bandwidth.DefaultRounds})
		if err != nil {
			return err
		}
		l.GBs = max(l.GBs, b.Best)
	}
	a, err := arithmetic.Run(ctx, arithmetic.Options{Threads: r.Threads, Rounds: arithmetic.DefaultRounds})
	if err != nil {
		return err
	}
	l.GFLOPs = a.Best
	r.Limits = append(r.Limits, l)
	fmt.Fprintf(r.log, "block %d of %d, %s: the memory gives %s GB/s, registers %s GFLOP/s\n", block+1, r.Blocks, m, figures.Text(l.GBs, 1), figures.Text(l.GFLOPs, 1))
	return nil
}

// save keeps everything measured, so that the report can be written again.
func (m *Measurement) save(path string) error { return peer.Save(path, m) }

func loadMeasurement(path string) (*Measurement, error) {
	m := new(Measurement)
	if err := peer.Load(path, m); err != nil {
		return nil, err
	}
	if len(m.Samples) == 0 {
		return nil, fmt.Errorf("%s holds no measurement: it has no samples", path)
	}
	for _, s := range m.Samples {
		if len(s.Output.Rounds) == 0 || len(s.last().Steps) < 2 || s.Block < 0 || s.Block >= m.Blocks {
			return nil, fmt.Errorf("%s holds a sample of %s without decode steps, or of block %d of %d", path, s.Model, s.Block+1, m.Blocks)
		}
	}
	return m, nil
}
