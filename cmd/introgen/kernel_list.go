package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/kernel"
	"github.com/introgen/introgen/metalshim/drivers"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/results/table"
	"github.com/urfave/cli/v2"
)

func kernelListCommand() *cli.Command {
	return &cli.Command{
		Name:      "list",
		Usage:     "print the kernels of .metal files, their arguments and function constants",
		ArgsUsage: "FILE.metal…",
		Description: "Headers are read too: those beside the file, and those of -I. Without --compile no compiler is\n" +
			"needed. With it every library and every pipeline is made, and a line says of each that is not why;\n" +
			"the exit code is 1 then. A kernel that wants function constants is made with zeros for them.\n\n" +
			"Examples:\n" +
			"   introgen kernel list softmax.metal\n" +
			"   introgen kernel list kernels/*.metal -I include -D N=4 --compile --quiet\n" +
			"   introgen kernel list softmax.metal --json | jq '.[].kernels[].name'",
		Flags: append(sourceFlags(),
			&cli.BoolFlag{Name: "compile", Usage: "make every library and pipeline, and say of what threads and memory they are"},
			&cli.BoolFlag{Name: "quiet", Usage: "print what is not made and the sums alone"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
			driverFlag(),
		),
		Action: runKernelList,
	}
}

// listedKernels counts what kernel list has seen.
type listedKernels struct {
	files, unread, libraries, unmadeLibraries, kernels, pipelines, unmadePipelines, wanting int
}

func runKernelList(c *cli.Context) (err error) {
	if c.NArg() == 0 {
		return usagef("kernel list takes .metal files, and got none; `introgen kernel list softmax.metal` is one")
	}
	o, err := readSource(c)
	if err != nil {
		return err
	}
	if c.Bool("json") && c.Bool("quiet") {
		return usagef("--json and --quiet: one of them, since JSON is whole")
	}
	if c.IsSet("driver") && !c.Bool("compile") {
		return usagef("--driver %s without --compile: no driver is asked then", c.String("driver"))
	}
	var device drivers.Driver
	if c.Bool("compile") {
		d, over, err := openDriver(c, drivers.Options{})
		if err != nil {
			return err
		}
		device = d
		defer func() { err = errors.Join(err, over()) }()
	}
	status := newStatus(c.App.ErrWriter)
	defer status.Clear()
	var sum listedKernels
	all := []kernel.Listing{}
	for _, path := range c.Args().Slice() {
		status.Set("%s", path)
		l, err := listOne(c, device, path, o)
		if err != nil {
			return err
		}
		status.Clear()
		sum.add(&l)
		if c.Bool("json") {
			all = append(all, l)
			continue
		}
		if err := writeListing(c.App.Writer, &l, c.Bool("quiet")); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		e := json.NewEncoder(c.App.Writer)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(all); err != nil {
			return err
		}
	} else if c.NArg() > 1 || c.Bool("compile") {
		if _, err := io.WriteString(c.App.Writer, sum.line(device != nil)); err != nil {
			return err
		}
	}
	switch {
	case device != nil && sum.unmadeLibraries+sum.unmadePipelines > 0:
		return fmt.Errorf("kernel list: not made: %s, %s; the lines above say why",
			figures.Number(sum.unmadeLibraries, "file"), figures.Number(sum.unmadePipelines, "pipeline"))
	case sum.unread > 0 && device == nil:
		return fmt.Errorf("kernel list: %s cannot be read; the lines above say why", figures.Number(sum.unread, "file"))
	}
	return nil
}

func listOne(c *cli.Context, device drivers.Driver, path string, o kernel.Options) (kernel.Listing, error) {
	s, err := kernel.Open(path, o)
	if err != nil {
		return kernel.Unreadable(path, err), nil
	}
	l := s.List()
	if device != nil {
		if err := s.Compile(c.Context, device, compileThreads(device), &l); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (s *listedKernels) add(l *kernel.Listing) {
	s.files++
	s.kernels += len(l.Kernels)
	if l.Unread != "" {
		s.unread++
	}
	if l.Failed != "" || l.NoFile {
		s.unmadeLibraries++
	}
	if l.Compiled {
		s.libraries++
	}
	for _, k := range l.Kernels {
		switch {
		case k.Pipeline == nil:
		case k.Pipeline.Failed != "" && k.Pipeline.Wants == "":
			s.unmadePipelines++
		case k.Pipeline.Failed != "":
			s.wanting++
		default:
			s.pipelines++
		}
	}
}

func (s *listedKernels) line(compiled bool) string {
	text := fmt.Sprintf("# %s, %s", figures.Number(s.files, "file"), figures.Number(s.kernels, "kernel"))
	if compiled {
		text += fmt.Sprintf("; made: %d of %d libraries, %d of %s", s.libraries, s.files, s.pipelines, figures.Number(s.pipelines+s.unmadePipelines+s.wanting, "pipeline"))
		if s.wanting > 0 {
			text += fmt.Sprintf(" (%d want other constants than zeros)", s.wanting)
		}
	} else if s.unread > 0 {
		text += fmt.Sprintf("; %d cannot be read", s.unread)
	}
	return text + "\n"
}

// writeListing prints a file's kernels, a table of their arguments, and one of the
// constants; quiet is what was not made alone.
func writeListing(w io.Writer, l *kernel.Listing, quiet bool) error {
	var b strings.Builder
	problem := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", sanitize.Args(a)...) }
	if !quiet {
		problem("# %s: %s, %s", l.File, figures.Number(len(l.Kernels), "kernel"), figures.Number(len(l.Constants), "function constant"))
	}
	if l.Failed != "" {
		problem("%s: not made: %s", l.File, l.Failed)
	} else if l.Unread != "" {
		problem("%s: cannot be read: %s", l.File, l.Unread)
	}
	for _, k := range l.Kernels {
		switch p := k.Pipeline; {
		case p != nil && p.Failed != "" && p.Wants != "":
			if !quiet {
				problem("%s: kernel %s: wants constants: %s; with zeros for all: %s", l.File, k.Name, p.Wants, p.Failed)
			}
		case p != nil && p.Failed != "":
			problem("%s: kernel %s: not made: %s", l.File, k.Name, p.Failed)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil || quiet {
		return err
	}
	if len(l.Kernels) > 0 {
		if err := argumentTable(l).Write(w, table.Plain); err != nil {
			return err
		}
	}
	if len(l.Constants) == 0 {
		return nil
	}
	t := table.Table{Columns: []table.Column{{Name: "constant"}, {Name: "type", Left: true}, {Name: "name", Left: true}}}
	for _, k := range l.Constants {
		t.Add(table.Texts(strconv.Itoa(k.Index), k.Type, k.Name)...)
	}
	return t.Write(w, table.Plain)
}

func argumentTable(l *kernel.Listing) *table.Table {
	t := &table.Table{Columns: []table.Column{{Name: "kernel", Left: true, Narrow: 32}, {Name: "argument", Left: true, Narrow: 24}, {Name: "index"}, {Name: "type and name", Left: true}}}
	made := l.Compiled
	if made {
		t.Columns = append(t.Columns[:1], append([]table.Column{{Name: "threads"}, {Name: "memory"}}, t.Columns[1:]...)...)
	}
	for _, k := range l.Kernels {
		head := []string{k.Name}
		if made {
			head = append(head, "", "")
			if p := k.Pipeline; p != nil && p.MaxThreads > 0 {
				head[1], head[2] = strconv.Itoa(p.MaxThreads), strconv.Itoa(p.ThreadgroupMemory)
			}
		}
		if len(k.Arguments) == 0 {
			t.Add(table.Texts(append(head, "", "", "")...)...)
		}
		for _, a := range k.Arguments {
			index := ""
			if a.Index >= 0 {
				index = strconv.Itoa(a.Index)
			}
			text := strings.TrimSpace(a.Type + " " + a.Name)
			if a.Optional {
				text += " (by a constant)"
			}
			t.Add(table.Texts(append(head, cmp.Or(a.Kind, "?"), index, text)...)...)
			head = make([]string, len(head))
		}
	}
	return t
}
