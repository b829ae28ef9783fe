package main

import (
	"context"
	"errors"

	"github.com/introgen/introgen/kernel"
	"github.com/introgen/introgen/metalshim/drivers"
	"github.com/urfave/cli/v2"
)

func kernelCommand() *cli.Command {
	return &cli.Command{
		Name:        "kernel",
		Usage:       "list, and compile Metal kernels of your own .metal files",
		Subcommands: []*cli.Command{kernelListCommand(), kernelRunCommand(), kernelTestCommand()},
	}
}

// sourceFlags are those of every command that reads a .metal file.
func sourceFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "include", Aliases: []string{"I"}, Usage: "look for headers in the folder `DIR` too, after the folder of the file that includes them"},
		&cli.StringSliceFlag{Name: "define", Aliases: []string{"D"}, Usage: "define the macro `NAME=VALUE`, or NAME as 1"},
	}
}

// readSource reads sourceFlags.
func readSource(c *cli.Context) (o kernel.Options, err error) {
	o.Folders = c.StringSlice("include")
	for _, text := range c.StringSlice("define") {
		m, err := kernel.ParseMacro(text)
		if err != nil {
			return o, usagef("--define %w", err)
		}
		for _, other := range o.Macros {
			if other.Name == m.Name {
				return o, usagef("--define %s is given twice", m.Name)
			}
		}
		o.Macros = append(o.Macros, m)
	}
	return o, nil
}

func driverFlag() cli.Flag {
	return &cli.StringFlag{Name: "driver", Value: drivers.Auto, Usage: "auto (apple on macOS, else soft), soft, apple, or apple:GPU by its name or registry ID"}
}

// openDriver opens the driver that --driver names.
func openDriver(c *cli.Context, o drivers.Options) (d drivers.Driver, over func() error, err error) {
	name := c.String("driver")
	if err := drivers.Known(name); err != nil {
		return nil, nil, usagef("--driver: %v", err)
	}
	notes := newNotes(func(text string) { noteTo(c.App.ErrWriter, "%s", text) })
	o.Note = notes.add
	if d, err = drivers.Open(c.Context, name, o); err != nil {
		notes.end()
		if errors.Is(err, drivers.ErrTimeout) {
			err = usagef("--timeout: %w", err)
		}
		return nil, nil, err
	}
	unhook := context.AfterFunc(c.Context, func() {
		if stopper, can := d.(drivers.Stopper); can {
			stopper.Stop()
		}
	})
	return d, func() error {
		unhook()
		notes.end()
		return d.Close()
	}, nil
}

// compileThreads is how many pipelines a driver is to be given at once.
func compileThreads(d drivers.Driver) int {
	if n, says := d.(interface{ CompileThreads() int }); says {
		return n.CompileThreads()
	}
	return 1
}
