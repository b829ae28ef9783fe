package metal

import (
	"context"
	"slices"
	"strings"

	"github.com/introgen/introgen/engine/metal/compile"
	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/msl/trim"
)

// startCompiler makes what compiles for the device, by the rules of Options.
func (d *Device) startCompiler(threads int) {
	if threads == 0 {
		threads = metalshim.CompileThreads(d.metal)
	}
	d.threads = threads
	d.compiler = compile.New(d.ctx, compile.Options{
		Library: d.library,
		Await:   func(what string, wait func()) { metalshim.Await(d.metal, strings.Replace(what, whole, "", 1), wait) },
		Threads: threads, LibrariesFirst: d.compile.When == Concurrent,
	})
}

// CompileThreads is how many compile beside the thread that generates; 0 where each
// library and pipeline is compiled by that one.
func (d *Device) CompileThreads() int {
	if d.compile.When == Serial {
		return 0
	}
	return d.threads
}

// library compiles a library. Several goroutines may call it at once.
func (d *Device) library(ctx context.Context, name string) (metalshim.Library, error) {
	name, all := strings.CutSuffix(name, whole)
	text, file, err := d.set.Library(name)
	if err != nil {
		return nil, err
	}
	if keep := d.keep.of(name); len(keep) > 0 && !all {
		// What cannot be trimmed is compiled as it is: of a kernel that is not there its
		// compiler tells.
		if trimmed, err := trim.Trim(file, text, keep); err == nil {
			text = trimmed
		}
	}
	// The options are candle's default.
	return d.from.NewLibrary(ctx, metalshim.Source{
		Name: name, Text: text, File: file,
		CompileOptions: metalshim.CompileOptions{MathMode: metalshim.MathFast, MathFunctions: metalshim.FastFunctions},
	})
}

// Expect tells what will be needed, in the order of first need. By the rules of
// Options.Compile it is begun at once, and libraries are compiled with these of
// their kernels. It is called before anything is compiled, and what is needed beyond
// the list is compiled where it is needed.
func (d *Device) Expect(list []forward.Pipeline) {
	if d.compile.Trim {
		d.keep.add(list)
	}
	if d.compile.When == Early {
		d.begin(list)
	}
}

// begin has the list compiled beside the caller.
func (d *Device) begin(list []forward.Pipeline) {
	all := make([]forward.Pipeline, len(list))
	for i, p := range list {
		all[i] = d.keep.in(p)
	}
	d.compiler.Begin(all)
}

// Warm makes all of the list, by the rules of Options.Compile, and waits for it.
// ctx ends the wait.
func (d *Device) Warm(ctx context.Context, list []forward.Pipeline) error {
	if d.failed != nil {
		return d.failed
	}
	if d.compile.Trim {
		d.keep.add(list)
	}
	if d.compile.When != Serial {
		d.begin(list)
	}
	for _, p := range list {
		if _, err := d.pipeline(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// foresee begins what building the model needs where that is done by phases.
func (e *Engine) foresee(m *transformer.Model) (err error) {
	if e.d.compile.When != Concurrent {
		return nil
	}
	if e.needs, err = forward.NewNeeds(e.d.plan().config(m, e.weights)); err == nil {
		e.d.begin(e.needs.Build())
	}
	return err
}

// pipeline finds a pipeline, or waits for it where it is being compiled, or else
// compiles it, and before it its library, here where it is needed for the first time.
func (d *Device) pipeline(ctx context.Context, p forward.Pipeline) (metalshim.Pipeline, error) {
	for _, known := range d.pipelines {
		if known.function == p.Function && slices.Equal(known.constants, p.Constants) {
			return known.pipeline, nil
		}
	}
	p.Constants = slices.Clone(p.Constants)
	made, err := d.compiler.Pipeline(ctx, d.keep.in(p))
	if err != nil {
		return nil, err
	}
	d.pipelines = append(d.pipelines, pipelineEntry{p.Function, p.Constants, made})
	return made, nil
}
