package benchtext

import (
	"slices"
	"strings"

	"github.com/introgen/introgen/results/recording"
)

// suffix is what ends the names of an arm's samples.
type suffix struct {
	first, later string // of a process's first round, and of its later ones
	wantsFirst   bool   // whether the first round is of the arm's state
}

// FactorCache is the factor whose levels are the states of the cache of
// compiled code.
const FactorCache = "cache"

// suffixes names the arms of a plan by their levels, in the order of the plan's
// factors. Where that does not tell two arms apart, as in a comparison of a
// build with itself, the arm's own name does.
//
// Rounds after the first one of a process are the state warm-process. Where the
// plan varies the cache they stand under that level: those of the arm that
// claims the state, else of the first that fills its cache beforehand, else of
// the first with something to compile. Only one arm's, since later rounds of
// several would be samples of several things under one name.
func suffixes(f *recording.File) map[string]suffix {
	out := map[string]suffix{}
	if f.Plan == nil {
		return out
	}
	p := f.Plan
	plain := alike(p)
	warm := warmProcess(f)
	for _, a := range p.Arms {
		tail := ""
		if plain[levels(p, a, "")] > 1 {
			tail = "/arm=" + word(a.Name)
		}
		s := suffix{first: levels(p, a, "") + tail, wantsFirst: true}
		switch {
		case a.State == recording.StateWarmProcess:
			s.later, s.wantsFirst = s.first, false
		case a.Name == warm:
			s.later = levels(p, a, recording.StateWarmProcess) + tail
		default:
			s.later = LaterRound + s.first
		}
		out[a.Name] = s
	}
	return out
}

// alike counts the arms that have the same levels.
func alike(p *recording.Plan) map[string]int {
	n := map[string]int{}
	for _, a := range p.Arms {
		n[levels(p, a, "")]++
	}
	return n
}

// Varies is what tells the arms of a plan apart in names, as a list of keys for
// benchstat's -col: "/cache", "/per-buffer,/threads", "/arm"; "" where there is
// no plan.
func Varies(f *recording.File) string {
	if f.Plan == nil {
		return ""
	}
	var keys []string
	for _, factor := range f.Plan.Factors {
		keys = append(keys, "/"+key(factor))
	}
	for _, n := range alike(f.Plan) {
		if n > 1 {
			return strings.Join(append(keys, "/arm"), ",")
		}
	}
	return strings.Join(keys, ",")
}

// levels are an arm's levels as parts of a name; cache, where not empty, stands
// in for that of the cache.
func levels(p *recording.Plan, a recording.Arm, cache string) string {
	var b strings.Builder
	for _, factor := range p.Factors {
		level, ok := a.Levels[factor]
		if factor == FactorCache && cache != "" {
			level, ok = cache, true
		}
		if ok {
			b.WriteString("/" + key(factor) + "=" + word(level))
		}
	}
	return b.String()
}

// warmProcess is the arm whose later rounds stand for the state warm-process,
// or "".
func warmProcess(f *recording.File) string {
	p := f.Plan
	if !slices.Contains(p.Factors, FactorCache) ||
		slices.ContainsFunc(p.Arms, func(a recording.Arm) bool { return a.State == recording.StateWarmProcess }) {
		return ""
	}
	for _, state := range []string{recording.StateWarmCache, recording.StateColdNatural, recording.StateCold} {
		for _, a := range p.Arms {
			if a.State == state && a.Levels[FactorCache] == state {
				return a.Name
			}
		}
	}
	return ""
}
