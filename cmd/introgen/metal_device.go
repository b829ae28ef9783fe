package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/drivers"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// brief is how long what runs may go on after an interrupt: nearly every command
// buffer has ended by then.
const brief = 250 * time.Millisecond

// stopWith ends what the device runs once ctx has ended, and says what that is,
// until over is called. A kernel without end could not be waited for.
func (m *openedMetal) stopWith(ctx context.Context, g *generation) (over func()) {
	device, can := m.driver.(drivers.Stopper)
	if !can {
		return func() {}
	}
	done, gone := make(chan struct{}), make(chan struct{})
	unhook := context.AfterFunc(ctx, func() {
		defer close(gone)
		select {
		case <-done:
			return
		case <-time.After(brief):
		}
		if what, ran, ok := device.Running(); ok {
			g.note(fmt.Sprintf("interrupted: ending %s, which has run for %s", what, since(ran)))
		}
		device.Stop()
	})
	return func() {
		close(done)
		if !unhook() {
			<-gone
		}
	}
}

// expect tells the device what the run will need, where it compiles by that. Of a
// model that cannot be run the first round says why.
func (m *openedMetal) expect(g *generation, mode metal.Compile, a metal.Arithmetic) {
	if mode.When != metal.Early && !mode.Trim {
		return
	}
	g.enter(names.SpanArguments, "") // what is to be run
	defer g.enter(names.SpanRecord, "")
	model, err := transformer.Load(g.file)
	if err != nil {
		return
	}
	needs, err := metal.Needs(model, g.prompt+g.job.Tokens, m.shim.Info().Architecture, a)
	if err != nil {
		return
	}
	if list, err := needs.Run(g.prompt, g.job.Tokens); err == nil {
		m.device.Expect(list)
	}
}

// close frees everything, and says what was not freed: a leak is a fault of
// ours that must not stay hidden.
func (m *openedMetal) close() error {
	err := m.device.Close()
	m.archive.release()
	if live := m.driver.Live(); live != (metalshim.Counts{}) {
		err = errors.Join(err, fmt.Errorf("the run left Metal objects behind: %+v", live))
	}
	return errors.Join(err, m.driver.Close())
}

// compiled returns a function that tells of the libraries and pipelines that were
// made since it was called last.
func (m *openedMetal) compiled() func(put func(recording.Event)) {
	libs, pipes, operations := 0, 0, 0
	return func(put func(recording.Event)) {
		for _, l := range m.shim.Libraries()[libs:] {
			libs++
			put(&recording.Library{Span: l.Span, Name: l.Name, SourceBytes: l.SourceBytes, Kernels: l.Functions, Cache: l.Evidence.State})
		}
		for _, p := range m.shim.Pipelines()[pipes:] {
			pipes++
			put(&recording.Pipeline{Span: p.Span, Library: p.Library, Function: p.Function, Constants: constants(p.Constants), Cache: p.Evidence.State})
		}
		executed := m.shim.TakeExecuted() // first: what has run was encoded before
		for _, o := range m.shim.OperationsFrom(operations) {
			operations++
			put(operationEvent(operations, o))
		}
		for _, e := range executed {
			put(&recording.Executed{Span: e.Span, Operations: e.Operations, Start: nanoseconds(e.Start), Time: nanoseconds(e.Took)})
		}
	}
}

// operationEvent is an operation of the device with its number. One that nobody has
// named has the name of its kernel.
func operationEvent(n int, o metalshim.OperationRecord) recording.Event {
	size := func(s metalshim.Size) [3]int64 { return [3]int64{int64(s.X), int64(s.Y), int64(s.Z)} }
	return &recording.Operation{ID: n, Layer: o.Layer, Name: cmp.Or(o.Name, o.Kernel), Library: o.Library, Kernel: o.Kernel,
		Grid: size(o.Grid), Group: size(o.Group), Threads: o.Threads, Read: o.Read, Written: o.Written, Ops: o.Ops, Unknown: !o.Known}
}

func nanoseconds(times []time.Duration) []int64 {
	out := make([]int64, len(times))
	for i, t := range times {
		out[i] = int64(t)
	}
	return out
}

// constants writes function constants in words.
func constants(all []metalshim.Constant) string {
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = c.String()
	}
	return strings.Join(words, " ")
}

// summary is what can be told when all rounds are over: the kernels' times, and
// why the run counts as cold or warm.
func (m *openedMetal) summary() []recording.Event {
	var out []recording.Event
	for _, k := range m.shim.KernelTimes() {
		out = append(out, &recording.Kernel{Name: k.Kernel, Dispatches: int64(k.Dispatches), Time: int64(k.Time),
			Read: k.Read, Written: k.Written, Ops: k.Ops, Unknown: int64(k.Unknown)})
	}
	e := &recording.Evidence{What: recording.EvidenceMetalCache, Nonce: m.shim.Nonce()}
	if m.archive != nil {
		e.Archive = m.archive.gave(m.shim)
	}
	count := func(state string, hits, misses *int) {
		switch state {
		case names.CacheArchive: // told by itself
		case names.CacheHit:
			*hits++
		case names.CacheUnknown:
			e.Unknown++
		default:
			*misses++
		}
	}
	for _, l := range m.shim.Libraries() {
		count(l.Evidence.State, &e.LibraryHits, &e.LibraryMisses)
	}
	for _, p := range m.shim.Pipelines() {
		count(p.Evidence.State, &e.PipelineHits, &e.PipelineMisses)
	}
	if now, ok := m.driver.Folder(); ok && m.cached {
		e.Folder = now.Dir
		e.Before, e.After = folder(m.before), folder(now)
	}
	return append(out, e)
}

func folder(f drivers.Folder) *recording.CacheFolder {
	out := &recording.CacheFolder{Entries: f.Entries, Bytes: f.Bytes}
	if !f.Changed.IsZero() {
		out.Changed = f.Changed.UTC().Format(time.RFC3339Nano)
	}
	return out
}
