package main

import (
	"errors"
	"fmt"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/llama"
	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/kernels/candle"
	"github.com/urfave/cli/v2"
)

const candleRef = candle.Name + "@" + candle.Experiment

func kernelsCommand() *cli.Command {
	return &cli.Command{
		Name:  "kernels",
		Usage: "get, list and show sets of Metal kernels",
		Subcommands: []*cli.Command{
			{
				Name:      "fetch",
				Usage:     "bring candle's own kernels, on which the experiment was made",
				ArgsUsage: "[candle@VERSION]",
				Description: "The Rust crate candle-metal-kernels comes through cargo, held by the checksum of cargo's\n" +
					"index; nothing of it is built. What is there already is not fetched again. Without cargo,\n" +
					"--kernels takes a folder with the crate's .metal files, or the .crate file itself.\n" +
					candle.DirEnv + " names another folder than the cache's.\n\n" +
					"Examples:\n" +
					"   introgen kernels fetch " + candleRef + "\n" +
					"   introgen metal 1 --trace --nonce --kernels candle",
				Flags: []cli.Flag{&cli.StringFlag{Name: "progress", Value: "auto",
					Usage: "how far it is, on stderr: lines, none, or auto (one line on a terminal, none elsewhere)"}},
				Action: runKernelsFetch,
			},
			{
				Name:        "list",
				Usage:       "print the sets that are there",
				Description: "Example:\n   introgen kernels list",
				Action:      runKernelsList,
			},
			{
				Name:      "show",
				Usage:     "print the libraries of a set, and the names of their kernels",
				ArgsUsage: "[SET]",
				Description: "SET is what --kernels of the other commands takes: own (the default), candle, candle@VERSION,\n" +
					"a folder or a .crate file. What of it does not fit the dispatches is printed too.\n\n" +
					"Examples:\n" +
					"   introgen kernels show\n" +
					"   introgen kernels show candle@" + candle.Experiment,
				Action: runKernelsShow,
			},
		},
	}
}

// openKernels opens the set that --kernels names. Names win over folders, which
// can be written ./candle.
func openKernels(name string) (*kernels.Set, error) {
	version, ok, err := candle.ParseRef(name)
	if err != nil {
		return nil, usagef("--kernels %w", err)
	}
	if !ok {
		return kernels.Open(name)
	}
	dir, err := candle.Dir()
	if err != nil {
		return nil, err
	}
	return candle.Open(dir, version)
}

// fitKernels says, before anything is compiled, why a set cannot serve the
// model of the file. The project's own kernels are held by tests. A map of its
// own, which it gives back, makes it read no weights, however of is open.
func fitKernels(set *kernels.Set, of *gguf.File) (err error) {
	if set.String() == kernels.Own {
		return nil
	}
	f, err := gguf.Open(of.Path, gguf.MMap)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	m, err := llama.Load(f)
	if err != nil {
		return err
	}
	return metal.Fit(set, m)
}

func runKernelsFetch(c *cli.Context) error {
	if c.NArg() > 1 {
		return usagef("kernels fetch takes one argument, %q is too many", c.Args().Get(1))
	}
	name := c.Args().First()
	if c.NArg() == 0 {
		name = candleRef
	}
	version, ok, err := candle.ParseRef(name)
	if err == nil && !ok {
		err = fmt.Errorf("%q cannot be fetched: %s is wanted, or another version of it", name, candleRef)
	}
	if err != nil {
		return usagef("kernels fetch: %w", err)
	}
	meter, err := newMeter(c)
	if err != nil {
		return err
	}
	set, err := candle.Fetch(c.Context, candle.Options{Version: version, Meter: meter})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.App.Writer, set.Path())
	return err
}
