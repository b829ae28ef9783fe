// Package benchtext is the view of a recording in the Go benchmark format,
// which benchstat reads (https://golang.org/design/14313-benchmark-format).
//
// A line is one sample. What a sample is decides what statistics may say: of a
// file of one run every round is one; of a plan every run is one, since rounds
// of one process are alike in what made that process slow. The first round of a
// process and its later ones never stand under one name: the first one maps,
// compiles and faults.
//
// A name says what is timed and what the plan varies (/cache=cold,
// /per-buffer=50), and nothing else: no device, no driver, no cache of a file
// of one state, so that the rows of two files pair. The machine's kind, the
// model and the workload stand on key: value lines, since samples that differ
// in them are no samples of one thing; benchstat keeps these apart. Everything
// else stands on lines that begin with #, which readers of the format ignore.
package benchtext

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace/names"
)

// Value is a measurement with its unit.
type Value struct {
	Value float64
	Unit  string // one of the Unit constants
}

// Units of the values.
const (
	UnitTime       = "ns/op"
	UnitTokens     = "tok/s"
	UnitRate       = "B/s"
	UnitBytes      = "bytes"
	UnitResident   = "rss-bytes" // the most memory that was resident
	UnitDispatches = "dispatches"
	UnitBuffers    = "command-buffers"
	UnitHits       = "hits" // in the cache of compiled code
	UnitMisses     = "misses"
)

// units are all units in the order in which they are told: which of them is
// better when it is higher, and which are counts that do not scatter.
var units = []unitKind{
	{UnitTime, false, false}, {UnitTokens, true, false}, {UnitRate, true, false}, {UnitResident, false, false},
	{UnitBytes, false, true}, {UnitDispatches, false, true}, {UnitBuffers, false, true},
	{UnitHits, true, true}, {UnitMisses, false, true},
}

// unitKind is a unit, and what is to be known of it.
type unitKind struct {
	name          string
	higher, exact bool
}

// Known says whether a unit is one of these, as benchstat tidies it.
func Known(unit string) bool {
	return slices.ContainsFunc(units, func(u unitKind) bool { return u.name == unit })
}

// LeftOut says whether a unit is one of counts: a line that could have one and
// has none has 0 of it.
func LeftOut(unit string) bool {
	return slices.ContainsFunc(units, func(u unitKind) bool { return u.name == unit && u.exact }) && unit != UnitBytes
}

// mapped is the way to read the model that reads nothing when it is built.
const mapped = "mmap"

// Line is one sample.
type Line struct {
	Name       string // "Decode/step=1/cache=cold", without the leading Benchmark
	Iterations int    // what the values are the median or the sum of: decode steps, or 1
	Values     []Value
	// Of a plan: the block that the sample stands for, from 1, and its arm. Of one
	// whose run was made again the block is 0.
	Block int
	Arm   string
}

// LaterRound is what ends the names of rounds after a process's first one,
// unless they are a state of the plan.
const LaterRound = "/round=later"

// lines are the samples of a recording in the order in which they were taken; of
// a plan arm by arm in the plan's order, since benchstat compares with what it
// reads first. Of a plan only runs that count are samples, of a single run all
// rounds that are whole, however the run ended.
func lines(f *breakdown.File) []Line {
	var out []Line
	suffixed := suffixes(f.File)
	standing := map[string]map[int]*recording.Run{} // for their block, by arm
	if f.Plan != nil {
		for _, a := range f.Plan.Arms {
			standing[a.Name] = recording.LastOfBlocks(f.File.Counted(a.Name), (*recording.Run).Block)
		}
	}
	for _, run := range byArm(f.File) {
		if f.Plan == nil {
			suffix := ""
			if p := run.Header.Program; p != nil && p.Parent != 0 { // no sample of what started it
				suffix = "/child=" + word(filepath.Base(p.Path))
			}
			out = append(append(out, process(run, suffix, true)...), life(f.Run(run), suffix)...)
			for _, r := range wholeRounds(f.Run(run)) {
				out = append(out, round(run, r, laterSuffix(r, suffix))...)
			}
			continue
		}
		if run.Start == nil || !run.Counts() {
			continue
		}
		s, ok := suffixed[run.Start.Arm]
		if !ok {
			continue // of an arm that the plan does not have
		}
		lines := process(run, s.first, s.wantsFirst)
		if s.wantsFirst {
			lines = append(lines, life(f.Run(run), s.first)...)
		}
		var later []Line
		for _, r := range wholeRounds(f.Run(run)) {
			switch {
			case r.Number > 1:
				later = append(later, round(run, r, s.later)...)
			case s.wantsFirst:
				lines = append(lines, round(run, r, s.first)...)
			}
		}
		for _, l := range append(lines, middle(later)...) {
			if l.Arm = run.Start.Arm; standing[l.Arm][run.Start.Block] == run {
				l.Block = run.Start.Block
			}
			out = append(out, l)
		}
	}
	return out
}

func byArm(f *recording.File) []*recording.Run {
	if f.Plan == nil {
		return f.Runs
	}
	place := func(r *recording.Run) int {
		return slices.IndexFunc(f.Plan.Arms, func(a recording.Arm) bool { return r.Start != nil && a.Name == r.Start.Arm })
	}
	runs := slices.Clone(f.Runs)
	slices.SortStableFunc(runs, func(a, b *recording.Run) int { return cmp.Compare(place(a), place(b)) })
	return runs
}

func laterSuffix(r breakdown.Round, suffix string) string {
	if r.Number > 1 {
		return LaterRound + suffix
	}
	return suffix
}

// wholeRounds are those that ended well.
func wholeRounds(run *breakdown.Run) []breakdown.Round {
	return slices.DeleteFunc(slices.Clone(run.Rounds), func(r breakdown.Round) bool { return r.Event == nil || r.Event.Error != "" })
}

// reached says whether the run came to a token. One that failed before it has
// measured nothing.
func reached(run *recording.Run) bool {
	return slices.ContainsFunc(run.Rounds, func(r recording.Round) bool { return len(r.IDs) > 0 })
}

// process are the samples that a process gives once.
func process(run *recording.Run, suffix string, wanted bool) []Line {
	if !wanted || !run.Counts() && !reached(run) {
		return nil
	}
	var out []Line
	if x := run.Exit; x != nil && x.Reaped > x.Spawned && run.Header.Program == nil {
		l := timed(metrics.Process.Bench+suffix, time.Duration(x.Reaped-x.Spawned))
		l.add(float64(x.MaxRSS), UnitResident)
		out = append(out, l)
	}
	for _, s := range run.Spans {
		if s.Parent != 0 || s.End < 0 {
			continue
		}
		switch s.Name {
		case names.SpanDevice:
			out = append(out, timed("Device"+suffix, s.Duration()))
		case names.SpanTokenizer:
			if madeTokenizer(run) {
				out = append(out, timed("Tokenizer"+suffix, s.Duration()))
			}
		}
	}
	return out
}

// ofRound are the figures of a round that are samples, in the order in which they
// are written.
var ofRound = []metrics.Metric{metrics.Read, metrics.Build, metrics.Prefill, metrics.First, metrics.Later, metrics.P90, metrics.P99, metrics.Max, metrics.Token1, metrics.Token2, metrics.Total}

// round are the samples of one round.
func round(run *recording.Run, r breakdown.Round, suffix string) []Line {
	var out []Line
	for _, m := range ofRound {
		took, ok := m.Of(r)
		if !ok {
			continue
		}
		l := Line{Name: m.Bench + suffix, Iterations: 1, Values: []Value{{took, UnitTime}}}
		switch m.Bench {
		case metrics.Build.Bench:
			p, _ := r.Phase(names.SpanBuild)
			l.counts(p)
			if readBy(run) != mapped { // a map is read later, page by page
				l.addRate(float64(run.Header.Model.Bytes), p.Time(), UnitRate)
			}
		case metrics.Prefill.Bench:
			p, _ := r.Phase(names.SpanPrefill)
			l.counts(p)
			l.addRate(float64(p.N), p.Time(), UnitTokens)
		case metrics.First.Bench:
			p, _ := r.Step(1)
			l.counts(p)
		case metrics.P90.Bench, metrics.P99.Bench, metrics.Max.Bench:
			l.Iterations = len(r.Later())
		case metrics.Later.Bench:
			later := r.Later()
			l.Iterations = len(later)
			if rate, ok := metrics.Rate.Of(r); ok {
				l.add(rate, UnitTokens)
			}
			l.add(usual(later, func(p breakdown.Phase) int64 { return p.Dispatches }), UnitDispatches)
			l.add(usual(later, func(p breakdown.Phase) int64 { return p.CommandBuffers }), UnitBuffers)
		}
		out = append(out, l)
	}
	if r.Program() {
		out = append(out, program(r, suffix)...)
	}
	return append(out, compiled(run, r, suffix)...)
}

// usual is the count in the middle of those that steps have; 0 where none was
// counted.
func usual(steps []breakdown.Phase, count func(breakdown.Phase) int64) float64 {
	var counts []int64
	for _, s := range steps {
		if c := count(s); c > 0 { // else it was not counted
			counts = append(counts, c)
		}
	}
	if len(counts) == 0 {
		return 0
	}
	slices.Sort(counts)
	return float64(counts[stats.Lower(len(counts))])
}

// readBy is the way in which the model was read: as the run says, or where its
// subject is missing as it was told to.
func readBy(run *recording.Run) string {
	if run.Subject != nil {
		return run.Subject.IO
	}
	io, _ := run.Header.Knob("io")
	return io
}

// madeTokenizer says whether the run made a tokenizer in the time that is called
// so. A run of introgen whose subject is missing does not tell.
func madeTokenizer(run *recording.Run) bool {
	if run.Subject != nil {
		return run.Subject.Tokenizer != recording.NoTokenizer
	}
	return len(run.Header.Knobs) == 0
}

// compiled are the libraries and pipelines of a round, one sample each, and their
// sum. What was made more than once, as pipelines of one function with other
// constants are, is one sample too. Where spans of the round are missing there is
// no sum, and no sample of what may have been made more often.
func compiled(run *recording.Run, r breakdown.Round, suffix string) []Line {
	var out []Line
	at, unmade := map[string]int{}, map[string]bool{}
	for _, m := range run.Unmade {
		unmade[compileName(breakdown.Compile{Library: m.Library, Function: m.Function})+suffix] = true
	}
	var sum time.Duration
	var hits, misses, n, told int
	for _, p := range r.Phases {
		sum += p.Compiling()
		for _, c := range p.Compiles {
			n++
			if c.Told {
				told++
			}
			switch c.Cache {
			case names.CacheHit:
				hits++
			case names.CacheMiss:
				misses++
			}
			name := compileName(c) + suffix
			i, ok := at[name]
			if !ok {
				i, at[name] = len(out), len(out)
				out = append(out, Line{Name: name, Values: []Value{{0, UnitTime}}})
				if c.IsLibrary() {
					out[i].add(sourceBytes(run, c.Library), UnitBytes)
				}
			}
			out[i].Iterations++
			out[i].Values[0].Value += float64(c.Time)
		}
	}
	out = slices.DeleteFunc(out, func(l Line) bool { return unmade[l.Name] })
	if n == 0 || r.Lost() {
		return out
	}
	all := timed("Compile"+suffix, sum)
	all.Iterations = n
	if told == n || told == 0 {
		all.add(float64(hits), UnitHits)
		all.add(float64(misses), UnitMisses)
	}
	return append([]Line{all}, out...)
}

func compileName(c breakdown.Compile) string {
	if c.IsLibrary() {
		return libraryName + word(c.Library)
	}
	return pipelineName + word(c.Library) + functionPart + word(c.Function)
}

func sourceBytes(run *recording.Run, library string) float64 {
	for _, l := range run.Libraries {
		if l.Name == library {
			return float64(l.SourceBytes)
		}
	}
	return 0
}

func timed(name string, took time.Duration) Line {
	return Line{Name: name, Iterations: 1, Values: []Value{{float64(took), UnitTime}}}
}

// counts adds what a phase counted on the device.
func (l *Line) counts(p breakdown.Phase) {
	l.add(float64(p.Dispatches), UnitDispatches)
	l.add(float64(p.CommandBuffers), UnitBuffers)
}

// add adds a value. A zero is left out: it means that there was nothing to
// count, or that it was shorter than the clock can tell; and benchstat warns of
// zeros, which have no geometric mean.
func (l *Line) add(v float64, unit string) {
	if v > 0 {
		l.Values = append(l.Values, Value{v, unit})
	}
}

func (l *Line) addRate(amount float64, took time.Duration, unit string) {
	if took > 0 {
		l.add(amount/took.Seconds(), unit)
	}
}

// middle makes one sample a name of the rounds of one run, which are not
// independent: the median of the values of each unit, of the rounds that have it.
func middle(lines []Line) []Line {
	var out []Line
	at := map[string]int{}
	values := map[[2]string][]float64{} // by name and unit
	for _, l := range lines {
		i, ok := at[l.Name]
		if !ok {
			i, at[l.Name] = len(out), len(out)
			out = append(out, l)
			out[i].Values = nil
		}
		for _, v := range l.Values {
			key := [2]string{l.Name, v.Unit}
			if values[key] == nil {
				out[i].Values = append(out[i].Values, v)
			}
			values[key] = append(values[key], v.Value)
		}
	}
	for _, l := range out {
		for i := range l.Values {
			l.Values[i].Value = stats.Median(values[[2]string{l.Name, l.Values[i].Unit}])
		}
	}
	return out
}

// word makes a text a part of a benchmark name: what would end the name or the
// part is written as in a URL, a % and its bytes in hexadecimal digits, so that
// texts that differ stay two names.
func word(s string) string {
	// Digits behind a hyphen at the end of a name are taken for GOMAXPROCS.
	procs := -1
	if i := strings.LastIndexByte(s, '-'); i >= 0 && strings.Trim(s[i+1:], "0123456789") == "" {
		procs = i
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c == '/' || c == '%' || c > '~' || i == procs {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// key is a text as the key of a part, which the first = ends.
func key(s string) string { return strings.ReplaceAll(word(s), "=", "%3D") }
