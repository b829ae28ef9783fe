package plan

import (
	"errors"
	"fmt"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// states are those that an arm may claim; the first claims none.
var states = []string{"", recording.StateCold, recording.StateColdNatural, recording.StateWarmCache,
	recording.StateArchive, recording.StateWarmProcess, recording.StateColdFile, recording.StateCPU}

// mostResident is the part of the model file that may lie in memory where it
// is to be cold: what reading its header before the first round brought in.
const mostResident = 0.02

// Check holds a run's evidence against the state that it claims to have begun
// in, and says what contradicts it. A state of which there is no evidence is
// not believed.
func Check(state string, arm recording.Arm, r *recording.Run) error {
	if state == "" {
		return nil
	}
	if n := r.LostSpans(); n > 0 {
		return fmt.Errorf("labelled %s: %d spans of its recording are missing, so that its evidence is not whole", state, n)
	}
	if e := r.End; e != nil && e.Lost+e.LostSlots > 0 {
		return fmt.Errorf("labelled %s: its recorder lost %d events and %d slots of the ring, so that its evidence is not whole", state, e.Lost, e.LostSlots)
	}
	var err error
	switch state {
	case recording.StateCPU:
		if r.Device != nil || len(r.Libraries) > 0 || r.Header.Command != "cpu" {
			err = fmt.Errorf("it was a run of %q on a Metal device", r.Header.Command)
		}
	case recording.StateColdFile:
		err = checkColdFile(r)
	case recording.StateWarmProcess:
		err = checkWarmProcess(r)
	case recording.StateCold, recording.StateColdNatural, recording.StateWarmCache, recording.StateArchive:
		err = checkCache(state, arm, r)
	default:
		err = errors.New("no such state is known")
	}
	if err != nil {
		return fmt.Errorf("labelled %s: %w", state, err)
	}
	return nil
}

func checkColdFile(r *recording.Run) error {
	seen := false
	for _, e := range r.Evidence {
		if e.What != recording.EvidencePageCache {
			continue
		}
		seen = true
		switch {
		case !e.Evicted:
			return fmt.Errorf("the model was not evicted from the page cache before round %d", e.Round)
		case e.Resident < 0:
			return errors.New("nobody can tell how much of the model lay in the page cache")
		case e.Resident > mostResident:
			return fmt.Errorf("%s of the model still lay in the page cache before round %d", figures.Percent(e.Resident), e.Round)
		}
	}
	if !seen {
		return errors.New("the run says nothing of the page cache")
	}
	return nil
}

// checkWarmProcess wants later rounds in which nothing was compiled.
func checkWarmProcess(r *recording.Run) error {
	if len(r.Rounds) < 2 {
		return fmt.Errorf("only later rounds of a process are warm, and the run has %d", len(r.Rounds))
	}
	began, round := time.Duration(-1), int64(0)
	for _, s := range r.Spans {
		if s.Name == names.SpanRound && s.N >= 2 && (began < 0 || s.Start < began) {
			began, round = s.Start, s.N
		}
	}
	compiled := compiledAfter(r, began)
	if began < 0 || compiled == 0 {
		return nil
	}
	return fmt.Errorf("%d libraries or pipelines were compiled from round %d on", compiled, round)
}

// compiledAfter counts libraries and pipelines that were compiled since then,
// not taken from the cache.
func compiledAfter(r *recording.Run, since time.Duration) int {
	start := map[int]time.Duration{}
	for _, s := range r.Spans {
		start[int(s.ID)] = s.Start
	}
	n := 0
	for _, l := range r.Libraries {
		if !names.IsTaken(l.Cache) && start[int(l.Span)] >= since {
			n++
		}
	}
	for _, p := range r.Pipelines {
		if !names.IsTaken(p.Cache) && start[int(p.Span)] >= since {
			n++
		}
	}
	return n
}

// cacheEvidence is the last that a run has of a cache of compiled code. Of a
// program that uses Metal in a process of its own alone it is that one's.
func cacheEvidence(r *recording.Run) *recording.Evidence {
	var own *recording.Evidence
	for i := range r.Evidence {
		if r.Evidence[i].What == recording.EvidenceMetalCache {
			own = &r.Evidence[i]
		}
	}
	if needed(own) > 0 {
		return own
	}
	for _, child := range r.Children {
		if e := cacheEvidence(child); needed(e) > 0 {
			return e
		}
	}
	return own
}

// needed is how many libraries and pipelines the evidence is of.
func needed(e *recording.Evidence) int {
	if e == nil {
		return 0
	}
	return e.LibraryHits + e.LibraryMisses + e.PipelineHits + e.PipelineMisses + e.Unknown + e.Archive.Given()
}

// made is how many libraries and pipelines a run made, and those that its program
// started.
func made(r *recording.Run) int {
	n := len(r.Libraries) + len(r.Pipelines)
	for _, child := range r.Children {
		n += made(child)
	}
	return n
}

func checkCache(state string, arm recording.Arm, r *recording.Run) error {
	e := cacheEvidence(r)
	if r.Header.Program != nil && state == recording.StateWarmCache && made(r) == 0 && needed(e) == 0 {
		return nil // what compiles nothing needs no cache
	}
	if e == nil && r.Header.Program != nil && made(r) == 0 {
		if r.Device == nil {
			return errors.New("the program compiled nothing: it never called Metal")
		}
		return errors.New("the program compiled nothing: it made no library and no pipeline")
	}
	if e == nil {
		return errors.New("the run says nothing of a cache of compiled code")
	}
	hits, misses := e.LibraryHits+e.PipelineHits, e.LibraryMisses+e.PipelineMisses
	held := ""
	if e.Before != nil && e.Folder != "" {
		held = fmt.Sprintf(" (%s held %d entries before)", e.Folder, e.Before.Entries)
	}
	grown := e.After.Grew(e.Before)
	switch {
	case needed(e) == 0:
		return errors.New("no library and no pipeline was needed")
	case state == recording.StateArchive && e.Archive.Given() == 0:
		return errors.New("no library and no pipeline came from an archive")
	case state == recording.StateArchive && misses > 0:
		return fmt.Errorf("%d libraries and %d pipelines were compiled, since the archive did not have them", e.LibraryMisses, e.PipelineMisses)
	case state != recording.StateArchive && e.Archive != nil:
		return fmt.Errorf("it was given the archive %s, which gave %d libraries and %d pipelines", e.Archive.File, e.Archive.Libraries, e.Archive.Pipelines)
	case state == recording.StateCold && e.Nonce == "":
		return errors.New("its sources had no nonce")
	case state == recording.StateCold && hits > 0:
		return fmt.Errorf("%d libraries and %d pipelines came from the cache%s", e.LibraryHits, e.PipelineHits, held)
	case state != recording.StateCold && e.Nonce != "":
		return fmt.Errorf("its sources ended in the nonce %q", e.Nonce)
	case state == recording.StateWarmCache && misses > 0:
		return fmt.Errorf("%d of %d libraries and %d of %d pipelines were compiled%s", e.LibraryMisses, e.LibraryHits+e.LibraryMisses,
			e.PipelineMisses, e.PipelineHits+e.PipelineMisses, held)
	case state == recording.StateWarmCache && e.Unknown > 0 && grown:
		return fmt.Errorf("%s grew from %d to %d entries: something was compiled", e.Folder, e.Before.Entries, e.After.Entries)
	case state == recording.StateColdNatural && e.Unknown > 0 && !grown:
		return fmt.Errorf("nothing was compiled: the cache is as it was%s", held)
	case state == recording.StateColdNatural && e.Unknown == 0 && misses == 0:
		return fmt.Errorf("everything came from the cache%s", held)
	case state == recording.StateColdNatural && arm.Cache == CacheEmpty && hits > 0:
		// That it held entries is no matter: a driver keeps some for itself.
		return fmt.Errorf("its cache was not empty: %d libraries and %d pipelines came from it%s", e.LibraryHits, e.PipelineHits, held)
	case state == recording.StateColdNatural && arm.Cache == CacheHalf && hits == 0:
		return fmt.Errorf("nothing came from its half-filled cache%s", held)
	}
	return nil
}
