package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/kernel"
	"github.com/introgen/introgen/kernel/array"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/drivers"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/system/files"
	"github.com/urfave/cli/v2"
)

// launchFlags are those that state what a kernel is run with.
func launchFlags() []cli.Flag {
	return append(sourceFlags(),
		&cli.StringFlag{Name: "kernel", Usage: "the kernel to run, by its `NAME`; not needed where the file has one alone"},
		&cli.StringFlag{Name: "grid", Usage: "how many threads there are in all, `XxYxZ`"},
		&cli.StringFlag{Name: "threadgroups", Usage: "how many threadgroups there are, `XxYxZ`, in place of --grid"},
		&cli.StringFlag{Name: "threads", Usage: "how many threads a threadgroup has, `XxYxZ`", DefaultText: "a simdgroup"},
		&cli.StringSliceFlag{Name: "buffer", Usage: "`ARG=ARRAY`: buffer ARG, an index or a name, holds " + array.Forms},
		&cli.StringSliceFlag{Name: "bytes", Usage: "`ARG=ARRAY`: the same as setBytes gives it, at most 4096 bytes: n=u32:64"},
		&cli.StringSliceFlag{Name: "constant", Usage: "`CONSTANT=VALUE`: a function constant, by its index or name"},
		&cli.StringSliceFlag{Name: "threadgroup-memory", Usage: "`ARG=BYTES` of a threadgroup argument"},
		&cli.StringFlag{Name: "math", Value: "fast", Usage: "the math mode: fast, relaxed or safe"},
		timeoutFlag(),
		driverFlag(),
	)
}

func kernelRunCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "run a kernel of a .metal file on arrays",
		ArgsUsage: "FILE.metal",
		Description: "Types are bool, i8 to i64, u8 to u64, f16, bf16 and f32. Arrays are held to the kernel's arguments,\n" +
			"as far as the source says their types. rand is uniform in [0, 1) for floats, and the same for the\n" +
			"same seed. `introgen kernel list FILE.metal` shows what a kernel takes.\n\n" +
			"Examples:\n" +
			"   introgen kernel run twice.metal --kernel twice --grid 64 --threads 32 \\\n" +
			"      --buffer 0=in.npy --buffer '1=zeros:f32[64]' --bytes 2=u32:64 --constant 0=true -o 1=out.npy\n" +
			"   introgen kernel run twice.metal --grid 8 --buffer 'x=iota:f32[8]' --buffer 'y=zeros:f32[8]' \\\n" +
			"      --bytes n=u32:8 --constant negative=false -o y=-",
		Flags: append(launchFlags(),
			&cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, Usage: "`ARG=FILE`: write what buffer ARG holds afterwards to FILE.npy, to another FILE as it lies in memory, or to - as text"},
		),
		Action: runKernelRun,
	}
}

func timeoutFlag() cli.Flag {
	return &cli.StringFlag{Name: "timeout", DefaultText: "$" + drivers.EnvTimeout + ", or 20s in which no threadgroup completes",
		Usage: "the soft driver ends a command buffer that runs longer than `T`; 0 never does"}
}

// readLaunch reads launchFlags but those of the driver.
func readLaunch(c *cli.Context) (l kernel.Launch, o kernel.Options, err error) {
	if o, err = readSource(c); err != nil {
		return l, o, err
	}
	if o.Math, err = kernel.ParseMath(c.String("math")); err != nil {
		return l, o, usagef("--math %w", err)
	}
	l.Kernel = c.String("kernel")
	for _, f := range []struct {
		name string
		to   *metalshim.Size
	}{{"grid", &l.Grid}, {"threadgroups", &l.Groups}, {"threads", &l.Threads}} {
		if !c.IsSet(f.name) {
			continue
		}
		if *f.to, err = kernel.ParseSize(c.String(f.name)); err != nil {
			return l, o, usagef("--%s %w", f.name, err)
		}
	}
	if c.IsSet("grid") == c.IsSet("threadgroups") {
		return l, o, usagef("one of --grid, how many threads, and --threadgroups, how many threadgroups, is wanted")
	}
	for _, f := range []struct {
		name string
		to   *[]kernel.Value
	}{{"buffer", &l.Buffers}, {"bytes", &l.Bytes}, {"constant", &l.Constants}, {"threadgroup-memory", &l.ThreadgroupMemory}} {
		if *f.to, err = readValues(c, f.name); err != nil {
			return l, o, err
		}
	}
	return l, o, nil
}

func readValues(c *cli.Context, flag string) (out []kernel.Value, err error) {
	for _, text := range c.StringSlice(flag) {
		v, err := kernel.ParseValue(text)
		if err != nil {
			return nil, usagef("--%s %w", flag, err)
		}
		out = append(out, v)
	}
	return out, nil
}

// kernelDriver opens the driver of a command that runs kernels.
func kernelDriver(c *cli.Context) (drivers.Driver, func() error, error) {
	var o drivers.Options
	if c.IsSet("timeout") {
		limit, err := drivers.ParseTimeout("--timeout", c.String("timeout"))
		if err != nil {
			return nil, nil, misuse(err)
		}
		o.Timeout = &limit
	}
	return openDriver(c, o)
}

// launchError is an error of package kernel: what the author of a launch has to
// change is a wrong command line.
func launchError(err error) error {
	var m kernel.Misuse
	if errors.As(err, &m) {
		return misuse(err)
	}
	return err
}

func runKernelRun(c *cli.Context) (err error) {
	if c.NArg() != 1 {
		return usagef("kernel run takes one .metal file, and got %d; `introgen kernel run --help` has examples", c.NArg())
	}
	l, o, err := readLaunch(c)
	if err != nil {
		return err
	}
	outputs, err := readValues(c, "output")
	if err != nil {
		return err
	}
	s, err := kernel.Open(c.Args().First(), o)
	if err != nil {
		return fmt.Errorf("kernel run: %w", err)
	}
	d, over, err := kernelDriver(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, over()) }()
	p, err := s.Prepare(c.Context, d, l)
	if err != nil {
		return launchError(err)
	}
	defer p.Close()
	for _, v := range outputs { // before anything runs
		if _, err := p.Result(v.Of); err != nil {
			return launchError(err)
		}
	}
	took, err := p.Run(c.Context, 1)
	if err != nil {
		return launchError(err)
	}
	w := c.App.Writer
	if slices.ContainsFunc(outputs, func(v kernel.Value) bool { return v.Text == "-" }) {
		w = c.App.ErrWriter // what is asked for on standard output stands there alone
	}
	if _, err := io.WriteString(w, ranLines(d.Info(), p, took)); err != nil {
		return err
	}
	for _, v := range outputs {
		if err := writeResult(c.App.Writer, w, p, v); err != nil {
			return err
		}
	}
	return nil
}

// ranLines say what was made and run, and how long it took.
func ranLines(info metalshim.Info, p *kernel.Prepared, took kernel.Took) string {
	text := fmt.Sprintf("# %s; kernel %s, %s\n", info, sanitize.Line(p.Kernel), p.Groups())
	text += fmt.Sprintf("library %s ms (cache %s), pipeline %s ms (cache %s), run %s ms",
		figures.Milliseconds(p.Library), cmp.Or(p.LibraryCache, "unknown"), figures.Milliseconds(p.Pipeline), cmp.Or(p.PipelineCache, "unknown"), figures.Milliseconds(took.Whole))
	if took.GPU > 0 {
		text += fmt.Sprintf(" (%s ms on the device)", figures.Milliseconds(took.GPU))
	}
	return text + "\n"
}

// writeResult writes a buffer, and says so where that is not on standard output.
func writeResult(out, say io.Writer, p *kernel.Prepared, v kernel.Value) error {
	a, err := p.Result(v.Of)
	if err != nil {
		return err
	}
	content := a.Data
	switch {
	case v.Text == "-":
		_, err := io.WriteString(out, a.Lines())
		return err
	case strings.HasSuffix(v.Text, ".npy"):
		content = a.EncodeNPY()
	}
	if err := files.Write(v.Text, content, files.Options{Unsynced: true}); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	_, err = fmt.Fprintf(say, "%s: %s\n", v.Text, a)
	return err
}
