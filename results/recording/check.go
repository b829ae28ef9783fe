package recording

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// check refuses events that contradict themselves, so that no reader has to
// look out for them.
func check(e Event) error {
	if err := checkAmounts(e); err != nil {
		return err
	}
	switch e := e.(type) {
	case *Span:
		switch {
		case e.ID < 1 || e.Parent < 0 || e.Parent >= e.ID:
			return fmt.Errorf("span %d in span %d: numbers begin at 1, and a span is younger than what it is in", e.ID, e.Parent)
		case e.Name == "":
			return fmt.Errorf("span %d has no name", e.ID)
		case e.Track < 0:
			return fmt.Errorf("span %d on track %d: tracks begin at 0", e.ID, e.Track)
		case e.Start < 0 || e.End < -1 || e.End >= 0 && e.End < e.Start:
			return fmt.Errorf("span %d from %d to %d ns: it ends before it begins", e.ID, e.Start, e.End)
		}
	case *Count:
		if e.Span < 0 || e.At < 0 || e.Name == "" {
			return fmt.Errorf("count %q in span %d at %d ns: a name, and no negative number, is wanted", e.Name, e.Span, e.At)
		}
	case *Header:
		if e.Format != Format {
			return fmt.Errorf("header of the format %q: %q is wanted", e.Format, Format)
		}
		if e.Version < 1 {
			return fmt.Errorf("header of version %d: 1 to %d are known", e.Version, Version)
		}
		if p := e.Program; p != nil && (p.Path == "" || p.PID < 0 || p.Parent < 0) {
			return fmt.Errorf("header of the program %q with process %d of %d: a path, and no negative number, is wanted", p.Path, p.PID, p.Parent)
		}
	case *Library:
		if e.SourceBytes < 0 || e.Kernels < 0 {
			return fmt.Errorf("library %q of %d bytes with %d kernels: no negative number is wanted", e.Name, e.SourceBytes, e.Kernels)
		}
		return checkMade("library", e.Name, e.Name, e.Span, e.Cache)
	case *Pipeline:
		return checkMade("pipeline", e.Library+" "+e.Function, e.Function, e.Span, e.Cache)
	case *Dispatch:
		if e.Span < 1 || slices.Min(e.Grid[:]) < 0 || slices.Min(e.Group[:]) < 0 {
			return fmt.Errorf("dispatch of %q in span %d of %v in groups of %v: no negative number, and a span, is wanted", e.Function, e.Span, e.Grid, e.Group)
		}
	case *Barrier:
		if e.Span < 1 {
			return fmt.Errorf("barrier of %q in span %d: numbers begin at 1", e.Scope, e.Span)
		}
	case *Output:
		if e.At < 0 || e.Bytes < 0 || e.More < 0 || e.Stream != StreamOut && e.Stream != StreamErr {
			return fmt.Errorf("output of %d bytes on %q at %d ns, with %d more: %q or %q, and no negative number, is wanted", e.Bytes, e.Stream, e.At, e.More, StreamOut, StreamErr)
		}
	case *Kernel:
		if e.Dispatches < 0 || e.Time < 0 {
			return fmt.Errorf("kernel %q: %d dispatches in %d ns cannot be", e.Name, e.Dispatches, e.Time)
		}
		return e.kernelCost()
	case *Operation:
		return e.check()
	case *Executed:
		return e.check()
	case *Limit:
		return e.check()
	case *Round:
		if e.Number < 1 || e.Span < 1 || e.Prompt < 0 {
			return fmt.Errorf("round %d of span %d with a prompt of %d tokens: numbers begin at 1, and no prompt is shorter than nothing", e.Number, e.Span, e.Prompt)
		}
		if n := len(e.PromptIDs); n > 0 && n != e.Prompt {
			return fmt.Errorf("round %d has %d ids of a prompt of %d tokens", e.Number, n, e.Prompt)
		}
	case *Start:
		if e.Run < 1 || e.Block < 0 {
			return fmt.Errorf("run %d of block %d: numbers begin at 1", e.Run, e.Block)
		}
	case *Exit:
		if e.Run < 1 || e.Reaped < e.Spawned || e.MaxRSS < 0 || slices.ContainsFunc(e.Prepared, func(ns int64) bool { return ns < 0 }) {
			return fmt.Errorf("run %d from %d to %d ns with %d bytes of memory: it ends before it begins, or takes less than nothing", e.Run, e.Spawned, e.Reaped, e.MaxRSS)
		}
	case *Evidence:
		return checkEvidence(e)
	case *End:
		if e.At < 0 || e.SpanCost < 0 || e.MaxRSS < 0 || e.Lost < 0 || e.LostSlots < 0 {
			return fmt.Errorf("end at %d ns, a span costs %d ps, %d bytes of memory, %d events and %d slots lost: no negative number is wanted", e.At, e.SpanCost, e.MaxRSS, e.Lost, e.LostSlots)
		}
	case *Machine:
		if e.At < 0 || math.IsNaN(e.Load) || math.IsNaN(e.OtherCores) || math.IsNaN(e.MHz) {
			return fmt.Errorf("the machine at %d ns: no negative number is wanted", e.At)
		}
	}
	return nil
}

func checkEvidence(e *Evidence) error {
	for _, n := range []int{e.Round, e.LibraryHits, e.LibraryMisses, e.PipelineHits, e.PipelineMisses, e.Unknown} {
		if n < 0 {
			return fmt.Errorf("evidence of the %s holds %d: no negative number is wanted", e.What, n)
		}
	}
	if e.What != EvidenceMetalCache && e.What != EvidencePageCache {
		return fmt.Errorf("evidence of %q: %q and %q are known", e.What, EvidenceMetalCache, EvidencePageCache)
	}
	if e.Resident > 1 {
		return fmt.Errorf("evidence of the %s: a part of %v of the file was in memory, which is at most 1", e.What, e.Resident)
	}
	if a := e.Archive; a != nil {
		if a.Libraries < 0 || a.Pipelines < 0 || a.Before < 0 || a.After < 0 || slices.ContainsFunc(a.Missed, func(m Missed) bool { return m.Number < 1 }) {
			return fmt.Errorf("evidence of the archive %s: %d libraries and %d pipelines, %d and %d bytes, and not %v: no negative number is wanted", a.File, a.Libraries, a.Pipelines, a.Before, a.After, a.Missed)
		}
	}
	for _, f := range []*CacheFolder{e.Before, e.After} {
		if f != nil && (f.Entries < 0 || f.Bytes < 0) {
			return fmt.Errorf("evidence of the %s: a folder of %d entries and %d bytes", e.What, f.Entries, f.Bytes)
		}
	}
	return nil
}

// checkMade looks at a library or a pipeline, by its whole name and a short one.
func checkMade(what, name, short string, span trace.ID, cache string) error {
	var number, state error
	if span < 1 {
		number = fmt.Errorf("%s %q belongs to span %d: numbers begin at 1", what, name, span)
	}
	if !names.IsCacheState(cache) {
		state = fmt.Errorf(`%s %q has the cache state %q: "hit", "archive", "miss", "off" and nothing are known`, what, short, cache)
	}
	return errors.Join(number, state)
}

// maxAmount bounds times (104 days) and counts, so that sums of many do not
// overflow. It is also the largest number that every reader of JSON takes as it
// is.
const maxAmount = 1 << 53

// checkAmounts refuses numbers beyond maxAmount where others are added to them.
// The machine's clock is only subtracted: it may be older than 104 days.
func checkAmounts(e Event) error {
	switch e := e.(type) {
	case *Span:
		return within(e, int64(e.Start), int64(e.End), e.N)
	case *Count:
		return within(e, int64(e.At), e.Value)
	case *Kernel:
		return within(e, e.Time, e.Dispatches, e.Read, e.Written, e.Ops)
	case *Machine:
		return within(e, e.At)
	case *Exit:
		return within(e, append([]int64{e.Reaped - e.Spawned, e.MaxRSS}, e.Prepared...)...)
	case *Output:
		return within(e, e.At, e.Bytes, e.More)
	case *Dispatch:
		return within(e, slices.Concat(e.Grid[:], e.Group[:])...)
	case *End:
		return within(e, e.At, e.SpanCost, e.MaxRSS, e.Lost, e.LostSlots)
	}
	return nil
}

func within(e Event, amounts ...int64) error {
	for _, n := range amounts {
		if n > maxAmount || n < -maxAmount {
			return fmt.Errorf("event %q holds %d: at most %d is taken", e.Kind(), n, int64(maxAmount))
		}
	}
	return nil
}
