package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/kernels/candle"
	"github.com/introgen/introgen/engine/metal/signatures"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/metalshim/msl"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/system/terminal"
	"github.com/urfave/cli/v2"
)

const candleRef = candle.Name + "@" + candle.Experiment

func kernelsCommand() *cli.Command {
	return &cli.Command{
		Name:  "kernels",
		Usage: "get, list and show sets of Metal kernels, and trim sources to what is used",
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
				Flags:  []cli.Flag{progressFlag()},
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
			kernelsTrimCommand(),
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
func fitKernels(set *kernels.Set, of *gguf.File, a metal.Arithmetic) (err error) {
	if set.String() == kernels.Own {
		return nil
	}
	f, err := gguf.OpenWhole(of.Path, gguf.MMap)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	m, err := transformer.Load(f)
	if err != nil {
		return err
	}
	return metal.Fit(set, m, a)
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

// declared is a library's source and what it declares; library is empty where
// unread says why.
type declared struct {
	kernels.File
	library *msl.Library
	unread  error
}

func declarations(s *kernels.Set) []declared {
	var out []declared
	for _, f := range s.Files() {
		l, err := msl.Read(f.Name, f.Text)
		if err != nil {
			l = &msl.Library{}
		}
		out = append(out, declared{f, l, err})
	}
	return out
}

// sums are a set's kernels and bytes.
func sums(all []declared) (functions, bytes int) {
	for _, d := range all {
		functions += len(d.library.Kernels)
		bytes += len(d.Text)
	}
	return functions, bytes
}

// unstated stands for the licence of a set that says none.
const unstated = "not stated"

func runKernelsList(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("kernels list takes no argument, got %q", c.Args().First())
	}
	dir, err := candle.Dir()
	if err != nil {
		return err
	}
	fetched, err := candle.List(dir)
	if err != nil {
		return err
	}
	t := table.Table{Columns: []table.Column{{Name: "set", Left: true}, {Name: "libraries"}, {Name: "kernels"},
		{Name: "bytes"}, {Name: "licence", Left: true}, {Name: "path", Left: true}}}
	add := func(s *kernels.Set, path string) {
		functions, bytes := sums(declarations(s))
		t.Add(table.Texts(s.String(), strconv.Itoa(len(s.Files())), strconv.Itoa(functions), strconv.Itoa(bytes), cmp.Or(s.Licence(), unstated), path)...)
	}
	add(kernels.OwnSet(), "in this program")
	for _, e := range fetched {
		if e.Err == nil {
			add(e.Set, e.Path)
			continue
		}
		t.Add(table.Texts(candle.Name+"@"+e.Version, "", "", "", "damaged", e.Path)...)
	}
	w := c.App.Writer
	if err := t.Write(w, table.Plain); err != nil {
		return err
	}
	for _, e := range fetched {
		if e.Err != nil {
			if _, err := fmt.Fprintf(w, "# %v\n", e.Err); err != nil {
				return err
			}
		}
	}
	if len(fetched) == 0 {
		_, err = fmt.Fprintf(w, "# candle's own kernels are not there: `introgen kernels fetch %s` brings them to %s\n", candleRef, dir)
	}
	return err
}

func runKernelsShow(c *cli.Context) error {
	if c.NArg() > 1 {
		return usagef("kernels show takes one argument, %q is too many", c.Args().Get(1))
	}
	set, err := openKernels(c.Args().First())
	if err != nil {
		return err
	}
	w, all := c.App.Writer, declarations(set)
	functions, bytes := sums(all)
	text := fmt.Sprintf("# %s: %d libraries, %d kernels, %d bytes; licence %s\n", set, len(all), functions, bytes, cmp.Or(set.Licence(), unstated))
	if set.Path() != "" {
		text += "# in " + set.Path() + "\n"
	}
	text += "# SHA-256 of all " + set.Digest() + "\n"
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	t := table.Table{Columns: []table.Column{{Name: "library", Left: true}, {Name: "file", Left: true}, {Name: "kernels"},
		{Name: "bytes"}, {Name: "licence line", Left: true}}}
	for _, d := range all {
		line := d.LicenceLine()
		if d.unread != nil {
			line = "cannot be read: " + d.unread.Error()
		}
		t.Add(table.Texts(d.Library, d.Name, strconv.Itoa(len(d.library.Kernels)), strconv.Itoa(len(d.Text)), line)...)
	}
	if err := t.Write(w, table.Plain); err != nil {
		return err
	}
	if err := writeFit(w, set); err != nil {
		return err
	}
	for _, d := range all {
		if _, err := io.WriteString(w, "\n"+kernelNames(d)); err != nil {
			return err
		}
	}
	return nil
}

// kernelNames is the names of a library's kernels, in lines that fit a terminal.
func kernelNames(d declared) string {
	text := d.Library + ":"
	for _, k := range d.library.Kernels {
		text += " " + k.Name
	}
	return strings.Join(terminal.Fold(text, "", "  ", terminal.Columns), "\n") + "\n"
}

// writeFit prints what of a set does not fit the experiment's dispatches.
func writeFit(w io.Writer, set *kernels.Set) error {
	found, err := signatures.Differences(set, forward.Experiment())
	if err != nil {
		return err
	}
	if len(found) == 0 {
		_, err = fmt.Fprintln(w, "# fits the experiment's dispatches, those of candle "+candle.Experiment)
		return err
	}
	if _, err := fmt.Fprintf(w, "# does not fit the experiment's dispatches, those of candle %s:\n", candle.Experiment); err != nil {
		return err
	}
	for _, d := range found {
		if _, err := fmt.Fprintln(w, d); err != nil {
			return err
		}
	}
	return nil
}
