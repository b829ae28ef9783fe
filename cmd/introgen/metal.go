package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/introgen/introgen/cmd/introgen/commandline"
	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/engine/metal/commandbuffer"
	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/drivers"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
	"github.com/urfave/cli/v2"
)

// The experiment's own environment variables.
const (
	traceEnv = "INTRO_TRACE"
	nonceEnv = "INTRO_NONCE"
)

// What --weights can be.
const (
	weightsCopy = "copy"
	weightsMap  = "map"
)

func metalCommand() *cli.Command {
	return &cli.Command{
		Name:      "metal",
		Usage:     "generate on Metal and time every phase, library compile and pipeline creation",
		ArgsUsage: "[ROUNDS]",
		Description: "Runs ROUNDS generations (default 2) in one process, dispatch for dispatch as candle 0.11.0 does:\n" +
			"matrices of F32, F16 and BF16 are expanded to float32, and of llama heads have 32, 64, 96, 128, 256\n" +
			"or 512 values, and a text ends at 4096 positions. Where candle leaves out what a model asks for, or\n" +
			"computes something else, this is added (--arithmetic model), and a line says what.\n" +
			"The soft driver compiles the same Metal source with clang 19 and runs it on the CPU, with a cache\n" +
			"on disk as macOS has one: the first run is cold, the next one warm.\n\n" +
			"Examples:\n" +
			"   introgen metal 2 --trace --nonce     a cold run, whatever the cache holds\n" +
			"   introgen metal 2 --trace             a warm one\n" +
			"   introgen metal 2 -o warm.introgen    what was measured, for `introgen show`, `explain` and others\n" +
			"   introgen metal 2 --commands-per-buffer 1\n" +
			"   introgen metal 2 --weights map       the device reads the model's file where it is mapped\n" +
			"   introgen metal 1 --nonce --compile early   what compiling beside reading the weights saves\n" +
			"   introgen metal 2 --archive a.archive         compiled code is kept in a file, and taken from it the next time\n" +
			"   introgen metal 0 --warmup plan.json  compile what is in a plan, as an installer would\n" +
			"   introgen metal 1 --keep-generated generated/\n" +
			"   for n in 1 10 50 200 100000; do CANDLE_METAL_COMPUTE_PER_BUFFER=$n introgen metal 2; done\n\n" +
			traceEnv + "=1 and " + nonceEnv + " are as in the experiment. INTROGEN_CACHE names another cache folder,\n" +
			"INTROGEN_CLANG another clang 19.",
		Flags: append(generateFlags(),
			&cli.BoolFlag{Name: "trace", Usage: "print every library and pipeline where it is compiled, and tables at the end"},
			&cli.GenericFlag{Name: "nonce", Value: &commandline.OptionalText{}, DefaultText: "none",
				Usage: "end every source with a comment, so that no cache can match: --nonce takes the time, --nonce=TEXT a text"},
			&cli.StringFlag{Name: "driver", Value: drivers.Auto, Usage: "auto (apple on macOS, else soft), soft, apple, or apple:GPU by its name or registry ID"},
			&cli.StringFlag{Name: "kernels", Value: kernels.Own, Usage: "`SET`: own, candle or candle@VERSION (introgen kernels fetch brings it), a folder with candle's .metal files, or a .crate file"},
			arithmeticFlag(),
			&cli.StringFlag{Name: "commands-per-buffer", Usage: "operations `N` a command buffer holds before it is committed; 0 commits every one", DefaultText: "$" + commandbuffer.Env + ", or 50"},
			&cli.StringFlag{Name: "command-buffer-timeout", DefaultText: "$" + drivers.EnvTimeout + ", or 20s in which no threadgroup completes",
				Usage: "the soft driver ends a command buffer that runs longer than `T`, as Metal does; 0 never does"},
			&cli.StringFlag{Name: "keep-generated", DefaultText: "none",
				Usage: "the soft driver compiles everything anew, and leaves in the new or empty folder `DIR` the rewritten source, LLVM's text before and after the lanes pass, and the machine code"},
			&cli.StringFlag{Name: "compile", Value: metal.Compile{}.String(),
				Usage: "`MODE`: serial (one by one where it is needed, as candle does), concurrent (what a phase needs is begun side by side when it begins), early (what the run needs, as soon as the prompt is known), trim (of sources with only the kernels that are used), concurrent,trim or early,trim"},
			&cli.IntFlag{Name: "compile-threads", Usage: "how many are compiled at once, `N`; 0 is as many as the device says: of the soft driver's one for each CPU"},
			archiveFlag(),
			warmupFlag(),
			&cli.StringFlag{Name: "weights", Value: weightsCopy, Usage: "copy (a buffer of each tensor, as candle does) or map (no-copy buffers over the mapped file, which must not change meanwhile; needs --io mmap)"},
		),
		Action: runMetal,
	}
}

// metalKnobs are the flags and variables of a metal run, read and checked.
type metalKnobs struct {
	driver      string
	origins     map[string]recording.Knob // of those that the environment can set
	trace       bool
	nonce       string
	perBuffer   int
	perBufferBy string // where that was set
	kernels     string
	arithmetic  metal.Arithmetic
	compile     metal.Compile
	threads     int            // that compile; 0: as the device says
	mapped      bool           // the weights are not copied
	timeout     *time.Duration // of a command buffer; nil: as the driver thinks right
	archive     string         // file of compiled code; "": none
	warmUp      *warmUp        // nil: none
	keep        string         // folder for what the driver generates; "": none
}

func readMetalKnobs(c *cli.Context) (k metalKnobs, err error) {
	k.driver = c.String("driver")
	if err := drivers.Known(k.driver); err != nil {
		return k, usagef("--driver: %v", err)
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
	k.origins = map[string]recording.Knob{
		"trace": origin(c, "trace", traceEnv, strconv.FormatBool(k.trace), k.trace),
	}
	k.nonce = readNonce(*c.Generic("nonce").(*commandline.OptionalText), os.Getenv(nonceEnv), time.Now())
	k.perBuffer, k.perBufferBy = commandbuffer.DefaultPerBuffer, "default"
	if text, by := flagOrVariable(c, "commands-per-buffer", commandbuffer.Env); by != "" {
		if k.perBuffer, err = commandbuffer.ParsePerBuffer(by, text); err != nil {
			return k, misuse(err)
		}
		k.perBufferBy = by
	}
	k.origins["nonce"] = origin(c, "nonce", nonceEnv, k.nonce, k.nonce != "")
	k.origins["commands-per-buffer"] = origin(c, "commands-per-buffer", commandbuffer.Env, strconv.Itoa(k.perBuffer), k.perBufferBy == commandbuffer.Env)
	if err := k.readTimeout(c); err != nil {
		return k, err
	}
	if k.keep = c.String("keep-generated"); k.keep == "" && c.IsSet("keep-generated") {
		return k, usagef("--keep-generated is empty: a new or empty folder is wanted")
	}
	if k.arithmetic, err = readArithmetic(c); err != nil {
		return k, err
	}
	if err := k.readCompile(c); err != nil {
		return k, err
	}
	if err := k.readArchive(c); err != nil {
		return k, err
	}
	if err := k.readWarmUp(c); err != nil {
		return k, err
	}
	if k.mapped, err = readWeights(c.String("weights"), c.String("io")); err != nil {
		return k, err
	}
	if k.kernels = c.String("kernels"); k.kernels == "" {
		return k, usagef("--kernels is empty: %s, candle, a folder or a .crate file is wanted", kernels.Own)
	}
	return k, nil
}

// maxCompileThreads is far beyond any use.
const maxCompileThreads = 1024

// readCompile reads how libraries and pipelines are compiled.
func (k *metalKnobs) readCompile(c *cli.Context) (err error) {
	if k.compile, err = metal.ParseCompile("--compile", c.String("compile")); err != nil {
		return misuse(err)
	}
	if k.threads = c.Int("compile-threads"); k.threads < 0 || k.threads > maxCompileThreads {
		return usagef("--compile-threads %d: 0 to %d are possible, and 0 is as many as the device says", k.threads, maxCompileThreads)
	}
	if k.threads > 0 && k.compile.When == metal.Serial {
		return usagef("--compile-threads %d: with --compile %v one is compiled after another; --compile concurrent and --compile early compile several at once", k.threads, k.compile)
	}
	return nil
}

// readTimeout reads the time limit of a command buffer.
func (k *metalKnobs) readTimeout(c *cli.Context) error {
	const name = "command-buffer-timeout"
	text, by := flagOrVariable(c, name, drivers.EnvTimeout)
	if by != "" {
		limit, err := drivers.ParseTimeout(by, text)
		if err != nil {
			return misuse(err)
		}
		if c.IsSet(name) {
			k.timeout = &limit // the variable is the driver's
		}
	}
	k.origins[name] = origin(c, name, drivers.EnvTimeout, text, by == drivers.EnvTimeout)
	return nil
}

// flagOrVariable is what a flag says, or else a variable of the environment, and which of
// them it was; by is "" where neither says anything.
func flagOrVariable(c *cli.Context, name, variable string) (text, by string) {
	if c.IsSet(name) {
		return c.String(name), "--" + name
	}
	if text, set := os.LookupEnv(variable); set {
		return text, variable
	}
	return "", ""
}

// readWeights says whether the weights are mapped, which goes with one reader only.
func readWeights(weights, reader string) (mapped bool, err error) {
	switch weights {
	case weightsCopy:
		return false, nil
	case weightsMap:
		if reader != string(gguf.MMap) {
			return false, usagef("--weights %s needs a mapped file, --io %s, not --io %s; --weights %s goes with every --io", weightsMap, gguf.MMap, reader, weightsCopy)
		}
		return true, nil
	}
	return false, usagef("--weights %q: %s or %s is wanted", weights, weightsCopy, weightsMap)
}

// origin says where a knob's value comes from: its flag, the variable where that
// has set it, or else the default.
func origin(c *cli.Context, name, variable, value string, bySet bool) recording.Knob {
	k := recording.Knob{Name: name, Value: value, Origin: recording.FromDefault}
	switch {
	case c.IsSet(name):
		k.Origin = recording.FromFlag
	case bySet:
		k.Origin, k.Source = recording.FromEnvironment, variable
	}
	return k
}

// readNonce is the text that ends every source: the flag's, else the
// environment's, a time stamp where neither gives one but either asks for it.
func readNonce(flag commandline.OptionalText, env string, now time.Time) string {
	text := env
	switch {
	case flag.Given:
		text = flag.Text
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
	if err := k.warmUp.fit(set); err != nil {
		return err
	}
	before := drivers.BeginFolder(k.driver) // beside the tokenizer
	g, err := newGeneration(c, generating{rounds: 2, none: k.warmUp != nil, trace: k.trace, origins: k.origins,
		positions: forward.Positions,
		footprint: func(p *transformer.Params, f *gguf.File, positions int) engine.Footprint {
			return metal.Footprint(p, f.Whole(), rows(f), positions)
		}})
	if err != nil {
		return err
	}
	if err := fitKernels(set, g.file, k.arithmetic); err != nil {
		return errors.Join(err, g.close())
	}
	notes := newNotes(g.note)
	defer notes.end()
	m, err := openMetal(c.Context, g, k, set, before, notes.add)
	if err != nil {
		return errors.Join(err, g.close())
	}
	stopped := m.stopWith(c.Context, g)
	defer func() {
		g.enter(names.SpanClose, "")
		err = errors.Join(err, m.close())
		stopped()
	}()

	name := fmt.Sprintf("%s; %d commands a buffer (%s), kernels %s", m.shim.Info(), k.perBuffer, k.perBufferBy, m.device.Kernels())
	if k.compile != (metal.Compile{}) {
		name += fmt.Sprintf(", compile %v", k.compile)
	}
	if n := m.device.CompileThreads(); n > 0 {
		name += " on " + figures.Number(n, "thread")
	}
	if k.mapped {
		name += fmt.Sprintf(", %s", metal.Place(g.file, m.shim.Info().MaxBufferLength))
	}
	g.more = m.compiled()
	if err := m.warmed(c.Context, g, k); err != nil {
		g.enter(names.SpanRecord, "")
		g.catchUp(m.summary()...)
		return g.written(errors.Join(err, g.close()))
	}
	err = g.run(c.Context, runner{name: name, build: func(f *gguf.File) (engine.Model, error) {
		model, err := transformer.Load(f)
		if err != nil {
			return nil, err
		}
		if said := leftOut(model, k.arithmetic); said != "" {
			notes.once("arithmetic", said)
		}
		if said := madeRoom(model, k.arithmetic); said != "" {
			notes.once("room", said)
		}
		if k.mapped {
			return m.device.NewMapped(model, f)
		}
		return m.device.New(model)
	}})
	if err == nil {
		err = m.saveArchive(g)
	}
	g.enter(names.SpanRecord, "")
	told := m.summary()
	if k.trace && err == nil && onProcessor(m.shim.Info()) {
		var limits []recording.Event
		limits, err = g.limits(c.Context, false)
		told = append(told, limits...)
	}
	g.catchUp(told...)
	return g.written(err)
}

// slowCompile is how long a library or pipeline takes at least after which the
// recording is written at once: beside it, the writing is nothing.
const slowCompile = 10 * time.Millisecond

// openedMetal is the device that all rounds of a run share, as candle's is.
type openedMetal struct {
	driver  drivers.Driver
	shim    *metalshim.Instrumented
	device  *metal.Device
	archive *usedArchive // nil: none
	before  drivers.Folder
	cached  bool // whether there is a cache to look at
}

// openMetal opens the driver, wraps it (faults inside, timing outside, so that
// a delay is measured), and prints how long that took.
func openMetal(ctx context.Context, g *generation, k metalKnobs, set *kernels.Set, before func() (drivers.Folder, bool), note func(kind, text string)) (*openedMetal, error) {
	m := &openedMetal{}
	g.enter(names.SpanDevice, "")
	var err error
	if m.driver, err = drivers.Open(ctx, k.driver, drivers.Options{Note: note, Timeout: k.timeout, Keep: k.keep}); err != nil {
		if errors.Is(err, drivers.ErrTimeout) {
			err = usagef("--command-buffer-timeout: %w", err)
		}
		if errors.Is(err, drivers.ErrKeep) {
			err = usagef("--keep-generated: %w", err)
		}
		return nil, err
	}
	if err := m.driver.Models(); err != nil {
		return nil, errors.Join(err, m.driver.Close())
	}
	var dev metalshim.Device = m.driver
	if g.disturb.calls != nil {
		dev = g.disturb.calls.Wrap(dev)
	}
	rec := g.rec
	if g.disturb.untraced {
		rec = nil
	}
	m.shim, err = metalshim.Instrument(dev, metalshim.InstrumentOptions{Recorder: rec, Nonce: k.nonce, Operations: k.trace, Compiled: func(took time.Duration) {
		if took >= slowCompile {
			g.between()
		}
	}})
	if err != nil {
		return nil, errors.Join(misuse(err), m.driver.Close())
	}
	if m.archive, err = openArchive(g, m.shim, k.archive); err != nil {
		return nil, errors.Join(err, m.driver.Close())
	}
	m.device, err = metal.NewDevice(ctx, m.shim, metal.Options{CommandsPerBuffer: k.perBuffer, Kernels: set, Arithmetic: k.arithmetic, Positions: g.prompt + g.job.Tokens, Compile: k.compile, Threads: k.threads, Archive: m.archive.use()})
	if err != nil {
		m.archive.release()
		return nil, errors.Join(err, m.driver.Close())
	}
	g.enter(names.SpanRecord, "")
	m.before, m.cached = before()
	m.expect(g, k.compile, k.arithmetic) // behind that: what is begun there changes the folder
	info := m.shim.Info()
	g.catchUp(&recording.Device{Driver: info.Driver, Name: info.String(), Compiler: m.driver.Compiler(), System: m.driver.System(), Nonce: k.nonce,
		Kernels: set.String(), Digest: set.Digest()})
	return m, nil
}
