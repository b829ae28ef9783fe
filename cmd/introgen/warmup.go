package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/results/compileplan"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/trace/names"
	"github.com/urfave/cli/v2"
)

const warmupName = "warmup"

func warmupFlag() cli.Flag {
	return &cli.StringFlag{Name: warmupName, DefaultText: "none",
		Usage: "before the first round make all that is in the `PLAN` of introgen remedy --plan; with ROUNDS 0 nothing else"}
}

// warmUp is what is made before the first round.
type warmUp struct {
	name      string // of the plan's file, as it is shown
	plan      *compileplan.Plan
	pipelines []forward.Pipeline // in the order of first need
}

// readWarmUp reads --warmup; nil where there is none.
func (k *metalKnobs) readWarmUp(c *cli.Context) error {
	path := c.String(warmupName)
	if path == "" {
		if c.IsSet(warmupName) {
			return usagef("--%s is empty: a plan is wanted, which `introgen remedy --plan FILE` writes", warmupName)
		}
		return nil
	}
	p, err := readCompilePlan(path)
	if err != nil {
		return usagef("--%s: %w", warmupName, err)
	}
	k.warmUp = &warmUp{name: sanitize.Line(filepath.Base(path)), plan: p}
	k.origins[warmupName] = recording.Knob{Name: warmupName, Value: k.warmUp.name, Origin: recording.FromFlag}
	return nil
}

// another says how a plan that does not fit is made anew.
const another = "record a run with these kernels, and make another plan of it by `introgen remedy --plan`"

// fit refuses a plan of other kernels than those of set, before anything is compiled.
// A nil warm-up is none.
func (w *warmUp) fit(set *kernels.Set) error {
	if w == nil {
		return nil
	}
	if w.plan.Digest != "" && w.plan.Digest != set.Digest() {
		return usagef("--%s %s is of the kernels %s with the SHA-256 %.12s…, and --kernels %s has %.12s…: %s", warmupName, w.name, w.plan.Kernels, w.plan.Digest, set, set.Digest(), another)
	}
	var err error
	if w.pipelines, err = pipelinesOf(w.plan); err != nil {
		return usagef("--%s %s: %w", warmupName, w.name, err)
	}
	for _, p := range w.pipelines {
		if _, _, err := set.Library(p.Library); err != nil {
			return usagef("--%s %s: the kernels %s have no library %q: %s", warmupName, w.name, set, p.Library, another)
		}
	}
	return nil
}

// pipelinesOf are the pipelines of a plan as the engine takes them.
func pipelinesOf(p *compileplan.Plan) ([]forward.Pipeline, error) {
	var out []forward.Pipeline
	for _, r := range p.Order() {
		l := p.Libraries[r.Library]
		x := l.Pipelines[r.Pipeline]
		one := forward.Pipeline{Library: l.Name, Function: x.Function}
		for _, c := range x.Constants {
			data, _ := c.DataType()
			kind, known := metalshim.TypeOf(data)
			bits, err := c.Bits()
			switch {
			case err != nil:
				return nil, fmt.Errorf("%s %s: %w", l.Name, x.Function, err)
			case c.Name != "":
				return nil, fmt.Errorf("%s %s has the constant %q by its name: introgen sets constants by their index", l.Name, x.Function, c.Name)
			case !known:
				return nil, fmt.Errorf("%s %s has a constant of the type %s, which introgen's drivers do not set", l.Name, x.Function, c.Type)
			}
			one.Constants = append(one.Constants, metalshim.Constant{Index: c.Index, Type: kind, Bits: bits})
		}
		out = append(out, one)
	}
	return out, nil
}

// warmed makes what the warm-up has, in a span of its own.
func (m *openedMetal) warmed(ctx context.Context, g *generation, k metalKnobs) error {
	w := k.warmUp
	if w == nil {
		return nil
	}
	g.leave()
	g.top = g.rec.Begin(names.SpanWarmUp, w.name, w.predicted(k.compile))
	err := m.device.Warm(ctx, w.pipelines)
	g.enter(names.SpanRecord, "")
	g.catchUp()
	var missing *metalshim.FunctionError
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("--%s %s: %w; the plan is of other kernels than %s: %s", warmupName, w.name, err, m.device.Kernels(), another)
	case err != nil:
		return fmt.Errorf("--%s %s: %w", warmupName, w.name, err)
	}
	return nil
}

// predicted is how long the warm-up takes by the recording that its plan is of; 0 where
// that does not say it: of compiles beside each other the sum is no prediction.
func (w *warmUp) predicted(c metal.Compile) int64 {
	sum, whole := w.plan.Compiling()
	if !whole || c.When != metal.Serial || slices.ContainsFunc(w.plan.Libraries, func(l compileplan.Library) bool { return len(l.Pipelines) == 0 }) {
		return 0
	}
	return int64(sum)
}
