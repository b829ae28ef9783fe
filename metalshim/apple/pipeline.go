package apple

import (
	"context"
	"fmt"
	"slices"

	"github.com/introgen/introgen/metalshim"
)

// pipeline is an MTLComputePipelineState.
type pipeline struct {
	metalshim.Compiled
	shared
	p mtlPipeline
}

// NewPipeline makes a pipeline, as candle does: from the function, without a
// descriptor. It cannot be cancelled once it has begun.
func (l *library) NewPipeline(ctx context.Context, function string, constants []metalshim.Constant) (metalshim.Pipeline, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := l.d.usable("pipeline " + function); err != nil {
		return nil, err
	}
	defer l.d.a.Push().Pop()
	if l.archive != nil {
		return l.archive.pipeline(l, function, constants)
	}
	f, err := l.function(function, constants)
	if err != nil {
		return nil, err
	}
	defer f.release()
	p, err := aloneOrBeside(l.d,
		func() (mtlPipeline, error) { return l.d.d.newPipelineWithFunction(f) },
		func() (mtlPipeline, error) { return l.d.d.newPipelineBeside(f) })
	if err != nil {
		return nil, l.pipelineError(function, err)
	}
	return l.pipeline(p, function, constants, metalshim.Evidence{}), nil
}

// pipelineError is why a function did not become a pipeline. A device that
// lacks simdgroups refuses kernels that use them, and its own words do not say
// so.
func (l *library) pipelineError(function string, err error) error {
	out := compileError(l.name, function, l.file, err)
	if family := l.d.Simdgroups(); family != nil {
		return fmt.Errorf("%w (%w)", out, family)
	}
	return out
}

// pipeline reads what a new pipeline is like, and counts it.
func (l *library) pipeline(p mtlPipeline, function string, constants []metalshim.Constant, e metalshim.Evidence) *pipeline {
	out := &pipeline{shared: shared{a: l.d.a}, p: p}
	out.Compiled = metalshim.Compiled{
		Function: function, Of: l.name, With: slices.Clone(constants), Threads: p.maxTotalThreadsPerThreadgroup(),
		Lanes: p.threadExecutionWidth(), Memory: p.staticThreadgroupMemoryLength(), How: e,
	}
	out.Begin(&l.d.live.Pipelines, p.release)
	return out
}
