// Command growth measures how the cost of a token grows with the size of the model
// and with the context, of introgen and of llama.cpp: it writes models of the shapes
// of real ones with random weights, runs both interleaved, block by block, and writes
// what came out into docs/growth.md. See `go run ./scripts/growth -h`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/scripts/growth/shape"
	"github.com/introgen/introgen/scripts/peers/peer"
	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/machine"
)

// options are the command line.
type options struct {
	models, types, contexts string
	soft                    string
	blocks, steps, threads  int
	dir, introgen           string
	out, samples, render    string
}

func main() {
	var o options
	flag.StringVar(&o.models, "models", "SmolLM2-135M,SmolLM2-360M,Qwen2.5-0.5B,Llama-3.2-1B,SmolLM2-1.7B,Llama-3.2-3B", "`SHAPES` to measure, of "+shape.Names())
	flag.StringVar(&o.types, "types", "Q8_0,Q4_K", "`TYPES` of the matrices")
	flag.StringVar(&o.contexts, "contexts", "128,512,1024,4096", "`NUMBERS` of positions that a decode step finds in the cache, and tokens of the prompt that brings them there")
	flag.StringVar(&o.soft, "soft", "SmolLM2-135M", "`SHAPES` to run on Metal's soft driver too, with up to "+strconv.Itoa(softMost)+" positions; empty for none")
	flag.IntVar(&o.blocks, "blocks", 3, "how often everything is run")
	flag.IntVar(&o.steps, "steps", 16, "decode steps of a run, at least 2: the first is left out")
	flag.IntVar(&o.threads, "threads", min(2, machine.Host().Cores), "threads of introgen and of llama.cpp")
	flag.StringVar(&o.dir, "dir", os.TempDir(), "`FOLDER` for the model files: one at a time, removed when it was measured")
	flag.StringVar(&o.introgen, "introgen", "", "the introgen `PROGRAM` to measure (default: built from this module)")
	flag.StringVar(&o.out, "out", filepath.Join("docs", "growth.md"), "`FILE` whose measured part is replaced; - is standard output")
	flag.StringVar(&o.samples, "samples", "", "`FILE` to keep everything measured in, as JSON (default: growth/last.json in introgen's cache folder)")
	flag.StringVar(&o.render, "render", "", "measure nothing: write the report from the `FILE` of an earlier run")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "growth: %v\n", err)
		os.Exit(1)
	}
}

func (o options) run(ctx context.Context, stdout, log io.Writer) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is not expected: there are only flags, see -h", flag.Arg(0))
	}
	if o.render != "" {
		m, err := loadMeasurement(o.render)
		if err != nil {
			return err
		}
		return o.report(m, stdout)
	}
	m, err := o.plan()
	if err != nil {
		return err
	}
	if err := o.measure(ctx, m, log); err != nil {
		return err
	}
	return o.report(m, stdout)
}

// mostContext is the longest context: a prompt of it is given on a command line.
const mostContext = 16384

// plan is what the options ask for.
func (o options) plan() (*Measurement, error) {
	m := &Measurement{Blocks: o.blocks, Steps: o.steps, Threads: o.threads}
	switch {
	case o.blocks < 1 || o.steps < 2:
		return nil, fmt.Errorf("-blocks %d -steps %d: at least 1 block and 2 steps are needed", o.blocks, o.steps)
	case o.threads < 1:
		return nil, fmt.Errorf("-threads %d: at least 1 is needed", o.threads)
	}
	shapes, err := shape.Find(words(o.models))
	if err != nil {
		return nil, fmt.Errorf("-models: %w", err)
	}
	if len(shapes) == 0 {
		return nil, errors.New("-models names none")
	}
	if m.soft, err = shape.Find(words(o.soft)); err != nil {
		return nil, fmt.Errorf("-soft: %w", err)
	}
	for _, w := range words(o.contexts) {
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 || n > mostContext {
			return nil, fmt.Errorf("-contexts: %q: numbers from 1 to %d are wanted", w, mostContext)
		}
		m.Contexts = append(m.Contexts, n)
	}
	for _, s := range shapes {
		for _, w := range words(o.types) {
			typ, err := quant.ParseType(w)
			if _, bytes := typ.Block(); err != nil || bytes == 0 || !drawable(typ) {
				return nil, fmt.Errorf("-types: %q: Q8_0 and Q4_K are wanted", w)
			}
			m.Models = append(m.Models, Model{s.Name, typ.String()})
		}
	}
	if len(m.Models) == 0 || len(m.Contexts) == 0 {
		return nil, errors.New("-types or -contexts names none")
	}
	return m, nil
}

func drawable(typ quant.Type) bool {
	for _, t := range shape.Types {
		if t == typ {
			return true
		}
	}
	return false
}

// words are those between commas.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// measure builds what is missing, runs everything, and keeps the samples.
func (o options) measure(ctx context.Context, m *Measurement, log io.Writer) error {
	cache, err := files.Cache()
	if err != nil {
		return err
	}
	m.Date, m.Machine = time.Now().UTC(), peer.ThisMachine()
	setup := &peer.Setup{Cache: cache, Machine: m.Machine, Log: log}
	program := o.introgen
	if program == "" {
		if program, err = setup.Introgen(ctx, "growth"); err != nil {
			return err
		}
	}
	m.Revision = peer.Revision(ctx, program)
	r := runner{Measurement: m, log: log, engines: []engine{introgenEngine(program)}, dir: o.dir}
	llama, err := setup.Llama(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		fmt.Fprintf(log, "llama.cpp is left out: %v\n", err)
		m.Absent = append(m.Absent, "llama.cpp")
	default:
		r.engines, m.Peer = append(r.engines, llamaEngine(llama)), llama.Built
	}
	r.engines = append(r.engines, softEngine(program))
	m.Busy = max(0, machine.Load())
	if m.Busy > peer.Quiet {
		fmt.Fprintf(log, "note: this machine is not quiet (load average %s): the ratios will spread\n", figures.Text(m.Busy, 1))
	}
	path := o.samples
	if path == "" {
		path = filepath.Join(cache, "growth", "last.json")
	}
	err = r.all(ctx)
	if len(m.Samples) > 0 {
		err = errors.Join(err, m.save(path))
		fmt.Fprintf(log, "everything measured is kept in %s\n", path)
	}
	return err
}

// report writes the measured part of the page.
func (o options) report(m *Measurement, stdout io.Writer) error {
	text, err := m.Report()
	if err != nil {
		return err
	}
	if o.out == "-" {
		_, err := io.WriteString(stdout, text)
		return err
	}
	return peer.ReplaceMeasured(o.out, text)
}
