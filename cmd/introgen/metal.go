package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/llama"
	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/engine/metal/commands"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/fault"
	"github.com/introgen/introgen/metalshim/soft"
	"github.com/introgen/introgen/metalshim/soft/cache"
	"github.com/introgen/introgen/results"
	"github.com/urfave/cli/v2"
)

// The experiment's own environment variables.
const (
	traceEnv = "INTRO_TRACE"
	nonceEnv = "INTRO_NONCE"
)

func metalCommand() *cli.Command {
	return &cli.Command{
		Name:      "metal",
		Usage:     "generate on Metal and time every phase, library compile and pipeline creation",
		ArgsUsage: "[ROUNDS]",
		Description: "Runs ROUNDS generations (default 2) in one process, dispatch for dispatch as candle 0.11.0 does.\n" +
			"The soft driver compiles the same Metal source with clang 19 and runs it on the CPU, with a cache\n" +
			"on disk as macOS has one: the first run is cold, the next one warm.\n\n" +
			"Examples:\n" +
			"   introgen metal 2 --trace --nonce     a cold run, whatever the cache holds\n" +
			"   introgen metal 2 --trace             a warm one\n" +
			"   introgen metal 2 --commands-per-buffer 1\n" +
			"   for n in 1 10 50 200 100000; do CANDLE_METAL_COMPUTE_PER_BUFFER=$n introgen metal 2; done\n\n" +
			traceEnv + "=1 and " + nonceEnv + " are as in the experiment. INTROGEN_CACHE names another cache folder,\n" +
			"INTROGEN_CLANG another clang 19.",
		Flags: append(generateFlags(),
			&cli.BoolFlag{Name: "trace", Usage: "print every library and pipeline where it is compiled, and tables at the end"},
			&cli.GenericFlag{Name: "nonce", Value: &optionalText{}, DefaultText: "none",
				Usage: "end every source with a comment, so that no cache can match: --nonce takes the time, --nonce=TEXT a text"},
			&cli.StringFlag{Name: "driver", Value: "auto", Usage: "auto, soft or apple"},
			&cli.StringFlag{Name: "kernels", Value: kernels.Own, Usage: "`SET`: own, candle or candle@VERSION (introgen kernels fetch brings it), a folder with candle's .metal files, or a .crate file"},
			&cli.StringFlag{Name: "commands-per-buffer", Usage: "operations `N` a command buffer holds before it is committed; 0 commits every one (default: $" + commands.Env + ", or 50)"},
			&cli.StringFlag{Name: "fault", Hidden: true, Usage: "delay or fail calls: lib=Reduce,delay=2s"},
		),
		Action: runMetal,
	}
}

// metalKnobs are the flags and variables of a metal run, read and checked.
type metalKnobs struct {
	trace       bool
	nonce       string
	perBuffer   int
	perBufferBy string // where that was set
	kernels     string
	faults      fault.Plan
}

func readMetalKnobs(c *cli.Context) (k metalKnobs, err error) {
	switch d := c.String("driver"); d {
	case "auto", "soft":
	case "apple":
		return k, errors.New("--driver apple is not built into this version; soft and auto are allowed")
	default:
		return k, usagef("--driver %s: auto, soft or apple is wanted", d)
	}
	if k.trace = c.Bool("trace"); !c.IsSet("trace") {
		switch v := os.Getenv(traceEnv); v {
		case "", "0":
		case "1":
			k.trace = true
		default:
			return k, usagef("%s=%q: 0 or 1 is wanted", traceEnv, v)
		}
	}
	k.nonce = readNonce(*c.Generic("nonce").(*optionalText), os.Getenv(nonceEnv), time.Now())
	if c.IsSet("commands-per-buffer") {
		k.perBufferBy = "--commands-per-buffer"
		k.perBuffer, err = commands.ParsePerBuffer(k.perBufferBy, c.String("commands-per-buffer"))
	} else {
		k.perBufferBy = "default"
		if _, set := os.LookupEnv(commands.Env); set {
			k.perBufferBy = commands.Env
		}
		k.perBuffer, err = commands.PerBufferFromEnv()
	}
	if err != nil {
		return k, usageError{err}
	}
	if k.kernels = c.String("kernels"); k.kernels == "" {
		return k, usagef("--kernels is empty: %s, candle, a folder or a .crate file is wanted", kernels.Own)
	}
	if text := c.String("fault"); text != "" {
		if k.faults, err = fault.Parse(text); err != nil {
			return k, usageError{fmt.Errorf("--fault: %w", err)}
		}
	}
	return k, nil
}

// readNonce is the text that ends every source: the flag's, else the
// environment's, a time stamp where neither gives one but either asks for it.
func readNonce(flag optionalText, env string, now time.Time) string {
	text := env
	switch {
	case flag.set:
		text = flag.text
	case env == "" || env == "0":
		return ""
	}
	if text == "" || text == "1" {
		text = "nonce " + now.UTC().Format(time.RFC3339Nano)
	}
	return text
}

func runMetal(c *cli.Context) (err error) {
	k, err := readMetalKnobs(c)
	if err != nil {
		return err
	}
	set, err := openKernels(k.kernels)
	if err != nil {
		return err
	}
	g, err := newGeneration(c, "metal", 2)
	if err != nil {
		return err
	}
	notes := newNotes(c.App.ErrWriter)
	defer notes.end()
	m, err := openMetal(c.Context, g, k, set, notes.add)
	if err != nil {
		return errors.Join(err, g.close())
	}
	defer func() { err = errors.Join(err, m.close()) }()

	g.engine = fmt.Sprintf("%s; %d commands a buffer (%s), kernels %s", m.shim.Info(), k.perBuffer, k.perBufferBy, m.device.Kernels())
	tracer := &metalTracer{g: g, shim: m.shim, on: k.trace}
	g.after = tracer.after
	defer tracer.listen()()
	err = g.run(c.Context, func(f *gguf.File) (engine.Model, error) {
		model, err := llama.Load(f)
		if err != nil {
			return nil, err
		}
		return m.device.New(model)
	})
	if !g.quiet {
		g.write("%s\n", m.evidence())
	}
	if k.trace && g.writeErr == nil {
		g.writeErr = results.WriteMetalTrace(g.out, tracer.trace())
	}
	return g.written(err)
}

// openedMetal is the device that all rounds of a run share, as candle's is.
type openedMetal struct {
	soft   *soft.Device
	shim   *metalshim.Instrumented
	device *metal.Device
	before cache.Status
	cached bool // whether there is a cache to look at
}

// openMetal opens the driver, wraps it (faults inside, timing outside, so that
// a delay is measured), and prints how long that took.
func openMetal(ctx context.Context, g *generation, k metalKnobs, set *kernels.Set, note func(string)) (*openedMetal, error) {
	m := &openedMetal{}
	sp := g.rec.Begin(results.SpanDevice, "", 0)
	defer sp.End()
	var err error
	if m.soft, err = soft.Open(ctx, soft.Options{Note: note}); err != nil {
		return nil, err
	}
	var dev metalshim.Device = m.soft
	if len(k.faults) > 0 {
		dev = fault.Wrap(dev, k.faults)
	}
	m.shim, err = metalshim.Instrument(dev, metalshim.InstrumentOptions{Recorder: g.rec, Nonce: k.nonce})
	if err != nil {
		return nil, errors.Join(usageError{err}, m.soft.Close())
	}
	m.device, err = metal.NewDevice(ctx, m.shim, metal.Options{CommandsPerBuffer: k.perBuffer, Kernels: set})
	if err != nil {
		return nil, errors.Join(err, m.soft.Close())
	}
	took := sp.End()
	m.before, m.cached = m.soft.CacheStatus()
	return m, results.WriteDevice(g.out, took)
}

// close frees everything, and says what was not freed: a leak is a fault of
// ours that must not stay hidden.
func (m *openedMetal) close() error {
	err := m.device.Close()
	if live := m.soft.Live(); live != (metalshim.Counts{}) {
		err = errors.Join(err, fmt.Errorf("the run left Metal objects behind: %+v", live))
	}
	return errors.Join(err, m.soft.Close())
}

// evidence says in one line why the run counts as cold or warm.
func (m *openedMetal) evidence() string {
	count := func(n int, state func(int) metalshim.CacheState) string {
		by := map[metalshim.CacheState]int{}
		for i := range n {
			by[state(i)]++
		}
		return fmt.Sprintf("%d from the cache and %d compiled", by[metalshim.CacheHit], n-by[metalshim.CacheHit])
	}
	libs, pipes := m.shim.Libraries(), m.shim.Pipelines()
	var b strings.Builder
	fmt.Fprintf(&b, "# cache: libraries %s, pipelines %s; ",
		count(len(libs), func(i int) metalshim.CacheState { return libs[i].Evidence.State }),
		count(len(pipes), func(i int) metalshim.CacheState { return pipes[i].Evidence.State }))
	if n := m.shim.Nonce(); n != "" {
		fmt.Fprintf(&b, "nonce %q; ", n)
	} else {
		b.WriteString("no nonce; ")
	}
	if now, ok := m.soft.CacheStatus(); ok && m.cached {
		fmt.Fprintf(&b, "%s held %d entries (%.1f MB) before and %d (%.1f MB) after",
			now.Dir, len(m.before.Items), float64(m.before.Bytes)/1e6, len(now.Items), float64(now.Bytes)/1e6)
	} else {
		b.WriteString("no cache folder in use")
	}
	return b.String()
}
