package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/compileplan"
	"github.com/introgen/introgen/results/compileplan/code"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/store"
	"github.com/introgen/introgen/system/files"
	"github.com/urfave/cli/v2"
)

// compilePlanFlags are those of `introgen remedy --plan`.
func compilePlanFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "plan", Usage: "write to `FILE` what the recording's run compiled, in the order of first need, as JSON, or as code where it ends in " + codeEndings()},
		&cli.StringSliceFlag{Name: "code", Usage: "with --plan, also a page of code beside FILE in the `LANGUAGE` " + strings.Join(codeNames(), ", ") + "; may be given several times"},
	}
}

func codeNames() []string {
	var all []string
	for _, l := range code.Languages {
		all = append(all, l.Name)
	}
	return all
}

func codeEndings() string {
	var all []string
	for _, l := range code.Languages {
		all = append(all, l.Ending)
	}
	return strings.Join(all, ", ")
}

// writtenPlan is a file that --plan writes: the plan, or with a language a page.
type writtenPlan struct {
	path     string
	language *code.Language
}

// planFiles reads --plan and --code.
func planFiles(c *cli.Context) ([]writtenPlan, error) {
	path := c.String("plan")
	if path == "" {
		return nil, usagef("--plan is empty: a file for the plan is wanted, such as --plan warm-up.json")
	}
	first := writtenPlan{path: path}
	ending := filepath.Ext(path)
	for i := range code.Languages {
		if ending == code.Languages[i].Ending {
			first.language = &code.Languages[i]
		}
	}
	out := []writtenPlan{first}
	for _, name := range c.StringSlice("code") {
		i := slices.IndexFunc(code.Languages, func(l code.Language) bool { return l.Name == name })
		if i < 0 {
			return nil, usagef("--code %q is not known: %s are allowed", name, strings.Join(codeNames(), ", "))
		}
		l := &code.Languages[i]
		w := writtenPlan{strings.TrimSuffix(path, ending) + l.Ending, l}
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out, nil
}

// compilePlanInstead writes a plan where that is asked for.
func compilePlanInstead(c *cli.Context) (done bool, err error) {
	if !c.IsSet("plan") {
		if c.IsSet("code") {
			return false, usagef("--code is a page of the plan that --plan writes: give --plan too")
		}
		return false, nil
	}
	return true, runCompilePlan(c)
}

// runCompilePlan is `introgen remedy --plan`.
func runCompilePlan(c *cli.Context) error {
	out, err := planFiles(c)
	if err != nil {
		return err
	}
	if err := onlyPlan(c); err != nil {
		return err
	}
	if err := keepRecording(c, out); err != nil {
		return err
	}
	p, err := planOfArgument(c)
	if err != nil {
		return err
	}
	for i, w := range out {
		var b bytes.Buffer
		if w.language != nil {
			err = w.language.Write(&b, p)
		} else {
			err = p.Write(&b)
		}
		if err != nil {
			return err
		}
		if err := files.Write(w.path, b.Bytes(), files.Options{}); err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintf(c.App.Writer, "%s: the same as a page of code\n", w.path)
			continue
		}
		fmt.Fprintf(c.App.Writer, "%s: %s%s\n", w.path, p.Size(), compilingOf(p))
	}
	for _, l := range p.Left {
		noteTo(c.App.ErrWriter, "not in the plan: %s: %s", strings.TrimSpace(l.Library+" "+l.Function+" "+l.Constants), l.Why)
	}
	return nil
}

// onlyPlan refuses the flags that say nothing about a plan: whoever gives them expects
// something else to be done.
func onlyPlan(c *cli.Context) error {
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if c.IsSet(name) && !slices.Contains([]string{"plan", "code", "mixed", "help"}, name) {
			return usagef("--%s and --plan: a plan is written of a recording as it is, and no run is made; give one of them", name)
		}
	}
	return nil
}

// keepRecording refuses to write over the recording that the plan is made of, or to
// give a plan the name of one.
func keepRecording(c *cli.Context, out []writtenPlan) error {
	var from os.FileInfo
	if arg := c.Args().First(); arg != "" && !strings.HasSuffix(arg, compileplan.Ending) {
		if path, err := store.Find(arg); err == nil {
			from, _ = os.Stat(path) // what is wrong with it is told where it is read
		}
	}
	for _, w := range out {
		if is, err := os.Stat(w.path); err == nil && from != nil && os.SameFile(is, from) {
			return usagef("--plan %s is the recording %s, which would be lost: name another file", w.path, c.Args().First())
		}
		if filepath.Ext(w.path) == recording.Ending {
			return usagef("--plan %s: a plan is no recording; let its name end in %s, %s", w.path, compileplan.Ending, codeEndings())
		}
	}
	return nil
}

func compilingOf(p *compileplan.Plan) string {
	sum, whole := p.Compiling()
	switch {
	case sum == 0:
		return "; the recording does not say how long they take, as nothing was compiled anew"
	case !whole:
		return fmt.Sprintf(", of which those that were compiled anew took %s ms", figures.Milliseconds(sum))
	}
	return fmt.Sprintf(", which took %s ms one after another", figures.Milliseconds(sum))
}

// planOfArgument is the plan of the recording that the argument names, or the plan
// itself where that is one.
func planOfArgument(c *cli.Context) (*compileplan.Plan, error) {
	switch {
	case c.NArg() > 1:
		return nil, usagef("remedy --plan takes one recording, %q is too many", c.Args().Get(1))
	case c.NArg() == 0:
		return nil, usagef("remedy --plan wants a recording, or its number in `introgen list`: `introgen remedy --plan %s 1` is of the last run", c.String("plan"))
	case strings.HasSuffix(c.Args().First(), compileplan.Ending):
		return readCompilePlan(c.Args().First())
	}
	f, err := openRecordings(c)
	if err != nil {
		return nil, err
	}
	run, err := compileplan.Run(breakdown.Of(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Args().First(), err)
	}
	p, err := compileplan.Of(run)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Args().First(), err)
	}
	nameSources(p)
	return p, nil
}

func readCompilePlan(path string) (*compileplan.Plan, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := compileplan.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// nameSources adds the files of the sources and their digests, where the kernels of the
// run are here.
func nameSources(p *compileplan.Plan) {
	if p.Kernels == "" {
		return
	}
	set, err := openKernels(p.Kernels)
	if err != nil || set.Digest() != p.Digest {
		return // the plan is whole without them
	}
	for i := range p.Libraries {
		l := &p.Libraries[i]
		for _, f := range set.Files() {
			if f.Library == l.Name {
				l.File, l.Digest = f.Name, f.Digest()
			}
		}
	}
}
