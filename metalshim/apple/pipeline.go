package apple

import (
	"context"
	"fmt"
	"slices"

	"github.com/introgen/introgen/metalshim"
)

// pipeline is an MTLComputePipelineState.
type pipeline struct {
	shared
	p             mtlPipeline
	name, library string
	constants     []metalshim.Constant
	threads       int
	width         int
	memory        int // bytes, static
	evidence      metalshim.Evidence
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
	f, err := l.function(function, constants)
	if err != nil {
		return nil, err
	}
	defer f.release()
	p, err := l.d.d.newPipelineWithFunction(f)
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
	out := &pipeline{
		p: p, name: function, library: l.name, constants: slices.Clone(constants),
		threads: p.maxTotalThreadsPerThreadgroup(), width: p.threadExecutionWidth(),
		memory: p.staticThreadgroupMemoryLength(), evidence: e,
	}
	out.begin(&l.d.live.Pipelines, p.release)
	return out
}

// Name is the function's name.
func (p *pipeline) Name() string { return p.name }

// Library is the name of the library.
func (p *pipeline) Library() string { return p.library }

// Constants are the values it was made with.
func (p *pipeline) Constants() []metalshim.Constant { return p.constants }

// MaxThreadsPerThreadgroup is what the kernel's registers allow.
func (p *pipeline) MaxThreadsPerThreadgroup() int { return p.threads }

// ThreadExecutionWidth is the number of lanes of a simdgroup.
func (p *pipeline) ThreadExecutionWidth() int { return p.width }

// StaticThreadgroupMemory is in bytes.
func (p *pipeline) StaticThreadgroupMemory() int { return p.memory }

// Evidence says whether a binary archive had it; otherwise it is unknown.
func (p *pipeline) Evidence() metalshim.Evidence { return p.evidence }

// Release gives it back; it stays until no command buffer needs it.
func (p *pipeline) Release() {
	if p.end() {
		defer p.p.a.Push().Pop()
		p.drop()
	}
}
