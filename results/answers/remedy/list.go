package remedy

import (
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/start"
	"github.com/introgen/introgen/trace/names"
)

// candidate is a remedy and what it changes.
type candidate struct {
	Remedy
	change
}

// remedies look for one each; it is not ok where the start has nothing of the kind.
var remedies = []func(*model) (candidate, bool){
	(*model).concurrent, (*model).early, (*model).behind, (*model).trim, (*model).split, (*model).join,
	(*model).once, (*model).unused,
	(*model).archive, (*model).metallib, (*model).warmUp, (*model).mapped, (*model).perBuffer, (*model).tokenizer,
}

// of is a remedy that is measured by a run of introgen's own engine, where that ran.
func (m *model) of(key, title string, c change) candidate {
	r := Remedy{Key: key, Title: title}
	if args := Arguments(key); len(args) > 0 && m.own() {
		r.Command = append(m.command(), args...)
	}
	return candidate{Remedy: r, change: c}
}

// own says whether introgen's own engine ran on a device.
func (m *model) own() bool { return m.header.Program == nil && m.header.Command == "metal" }

// command is the plain run that a remedy is measured with.
func (m *model) command() []string {
	out := []string{"metal", "1"}
	if k, ok := m.header.Knob("kernels"); ok && k != "" && k != "own" {
		out = append(out, "--kernels", k)
	}
	return out
}

func (m *model) count() int { return len(m.runs[0].start.Compiles) }

// serial says that the run compiled as candle does: one behind the other.
func (m *model) serial() bool { return m.runs[0].start.Mode <= start.Serial }

func (m *model) concurrent() (candidate, bool) {
	c := m.of(Concurrent, "compile side by side what a phase needs, when it begins", change{when: start.Concurrent})
	c.Costs = fmt.Sprintf("the memory of up to %s at once", figures.Number(m.threads, "compile"))
	c.Needs = "newLibraryWithSource and newComputePipelineState with completion handlers (macOS 10.11); from macOS 13.3 on shouldMaximizeConcurrentCompilation, and maximumConcurrentCompilationTaskCount says how many go on at once"
	c.Rests = m.restsOnThreads() + m.restsOnPhases()
	c.Sure = Arithmetic
	return c, m.count() > 1 && m.serial()
}

func (m *model) early() (candidate, bool) {
	c := m.of(Early, "compile all of it from the moment there is a device, in the order of first need", change{when: start.Early})
	c.Costs = fmt.Sprintf("the memory of up to %s at once, beside reading the weights", figures.Number(m.threads, "compile"))
	c.Needs = "a list of what will be needed, before it is: `introgen remedy --plan` writes one; else as concurrent"
	c.Rests = m.restsOnThreads()
	c.Sure = Arithmetic
	return c, m.count() > 0 && m.runs[0].start.Mode != start.Early
}

func (m *model) behind() (candidate, bool) {
	goals := m.runs[0].start.Goals
	c := m.of(Behind, "compile on one more thread what the first token does not need", change{when: start.Behind, threads: 1})
	c.Command = nil
	c.Costs = "one thread and the memory of one compile"
	c.Needs = "as early, for a shorter list"
	c.Sure = Arithmetic
	if len(goals) < 2 || !m.serial() {
		return c, false
	}
	s := m.runs[0].start
	var late []string
	for _, i := range s.Until(goals[1])[len(s.Until(goals[0])):] {
		late = append(late, title(s.Compiles[i]))
	}
	c.Rests = "what the second token needs first: " + firstOf(late, 4)
	return c, len(late) > 0
}

func (m *model) restsOnThreads() string {
	if r := &m.runs[0]; r.start.Mode > start.Serial || r.start.Program && r.beside() {
		return "compiles slow each other down as much as they did in the run, where they went on beside each other already"
	}
	return fmt.Sprintf("a compile beside others takes %g times as long as alone, between %g and %g", slow[middling], slow[good], slow[poor])
}

func (m *model) restsOnPhases() string {
	if m.header.Program != nil {
		return "; and that the program knows at the begin of a phase what the phase needs"
	}
	return ""
}

// archive takes pipelines from an archive: on Apple's driver libraries that are made
// from source still are.
func (m *model) archive() (candidate, bool) {
	all := m.soft()
	c := m.of(Archive, "take pipelines from an archive that an earlier run wrote", change{compile: func(_ *run, o outlook, x start.Compile, t time.Duration) time.Duration {
		if x.IsLibrary() && !all {
			return t
		}
		return m.hit(o, x, t)
	}})
	c.Needs = "MTLBinaryArchive (macOS 11); one of another system or device is refused and has to be written again"
	c.Rests = "what is in it is loaded as quickly as from the system's cache; libraries are still compiled from source"
	if all {
		c.Title = "take libraries and pipelines from an archive that an earlier run wrote"
		c.Needs = "one of another compiler or processor is not used and has to be written again"
		c.Rests = "what is in it is loaded as quickly as from the cache"
	}
	c.Costs = "a file, and one run that writes it" + m.disk()
	c.Install = m.install(1, func(x start.Compile) bool { return true })
	c.Sure = m.sureOfHits()
	return c, m.fresh() > 0
}

// metallib takes libraries that were compiled beforehand.
func (m *model) metallib() (candidate, bool) {
	c := m.of(Metallib, "ship libraries that Apple's tools have compiled", change{compile: func(_ *run, o outlook, x start.Compile, t time.Duration) time.Duration {
		if x.IsLibrary() {
			return m.hit(o, x, t)
		}
		return t
	}})
	c.Costs = "a file beside the program, and Xcode where it is built"
	c.Needs = "xcrun metal and metallib where it is built; newLibraryWithURL (macOS 10.13)"
	c.Rests = "a library is loaded as quickly as from the system's cache, and pipelines take as long as recorded: with a metallib mlx-swift#399 reports 9 to 10 s of them"
	c.Sure = Assumption
	return c, m.fresh() > 0 && !m.soft()
}

func (m *model) warmUp() (candidate, bool) {
	c := m.of(WarmUp, "compile everything at install or first launch, into the system's cache", change{compile: func(_ *run, o outlook, x start.Compile, t time.Duration) time.Duration {
		return m.hit(o, x, t)
	}})
	if m.own() {
		c.Command = nil // it takes two runs: `introgen remedy --measure` makes them
	}
	c.Install = m.install(1, func(start.Compile) bool { return true })
	c.Costs = fmt.Sprintf("%s ms at install, one after the other; on %s %s ms", figures.Milliseconds(c.Install), figures.Number(m.threads, "thread"),
		figures.Milliseconds(m.install(m.threads, func(start.Compile) bool { return true })))
	c.Needs = fmt.Sprintf("a run until %s, or a plan of %s and %s; after an update of the system, or where its cache was emptied, it has to be made again",
		m.lastNeed(), m.librariesWords(), figures.Number(m.count()-m.libraries(), "pipeline"))
	c.Rests = "what is in the cache is loaded as quickly as it was where this could be seen"
	if m.warm != nil {
		c.Rests = fmt.Sprintf("the runs of %s, which took everything from the cache: %s ms to %s", m.warm.name, figures.Milliseconds(m.warm.goals[len(m.warm.goals)-1]), m.lastGoal())
	}
	c.Sure = m.sureOfHits()
	return c, m.fresh() > 0
}

func (m *model) lastGoal() string {
	g := m.runs[0].start.Goals
	return g[len(g)-1].Name
}

// lastNeed is the phase by whose end all was made.
func (m *model) lastNeed() string {
	s := m.runs[0].start
	last := 0
	for _, c := range s.Compiles {
		last = max(last, c.Phase)
	}
	return fmt.Sprintf("the end of %q", s.Phases[last].Title)
}

func (m *model) libraries() (n int) {
	for _, c := range m.runs[0].start.Compiles {
		if c.IsLibrary() {
			n++
		}
	}
	return n
}

func (m *model) librariesWords() string {
	n := m.libraries()
	return fmt.Sprintf("%d %s", n, figures.Verb(n, "library", "libraries"))
}

// fresh is how long the first of the runs compiled from source.
func (m *model) fresh() (sum time.Duration) {
	for _, c := range m.runs[0].start.Compiles {
		if !c.FromCache() {
			sum += c.Time
		}
	}
	return sum
}

func (m *model) sureOfHits() Sure {
	if m.warm != nil && len(m.warm.takes) > 0 {
		return Measured
	}
	return Assumption
}

// install is how long it takes to compile what is wanted, and nothing else.
func (m *model) install(threads int, wanted func(start.Compile) bool) time.Duration {
	var all []time.Duration
	for _, r := range m.runs {
		rules := start.Rules{When: start.Early, Threads: threads, Slow: slow[middling], Piece: func(start.Piece) time.Duration { return 0 },
			Compile: func(c start.Compile) time.Duration {
				if !wanted(c) {
					return 0
				}
				return c.Time
			}}
		if threads == 1 {
			rules.When = start.Serial
		}
		all = append(all, r.start.Replay(rules).Wall)
	}
	return median(all)
}

// disk is what the cache grew by in a run, where that was seen.
func (m *model) disk() string {
	for _, e := range m.runs[0].taken.Evidence {
		if e.What == recording.EvidenceMetalCache && e.After.Grew(e.Before) && e.After.Bytes > e.Before.Bytes {
			return fmt.Sprintf("; the cache grew by %s", figures.Size(e.After.Bytes-e.Before.Bytes))
		}
	}
	return ""
}

// Parts of copying the weights that mapping them saves: what is not copied, the first
// pass meets for the first time.
var mappedSaves = [outlooks]float64{0.3, 0.7, 1}

func (m *model) mapped() (candidate, bool) {
	c := m.of(Map, "map the weights instead of copying them", change{piece: func(_ *run, o outlook, p start.Piece, t time.Duration) time.Duration {
		if p.Kind == breakdown.KindWeights {
			return t - time.Duration(mappedSaves[o]*float64(t))
		}
		return t
	}})
	c.Costs = "the file must not change meanwhile; the first pass reads what was not copied"
	c.Needs = "newBufferWithBytesNoCopy (macOS 10.11), and tensors of the file at addresses that it takes"
	c.Rests = fmt.Sprintf("of the time that copying takes %s is saved, between %s and %s", figures.Percent(mappedSaves[middling]), figures.Percent(mappedSaves[poor]), figures.Percent(mappedSaves[good]))
	c.Sure = Assumption
	knob, _ := m.header.Knob("weights")
	return c, knob != "map" && slices.ContainsFunc(m.runs[0].start.Pieces, func(p start.Piece) bool { return p.Kind == breakdown.KindWeights })
}

// goTokenizer is what the Go tokenizer takes to get ready, where no run tells.
const goTokenizer = 10 * time.Millisecond

func (m *model) tokenizer() (candidate, bool) {
	c := m.of(Tokenizer, "make the tokenizer ready without its library", change{piece: func(r *run, o outlook, p start.Piece, t time.Duration) time.Duration {
		if r.start.Phases[p.Phase].Title == names.SpanTokenizer {
			return min(t, goTokenizer)
		}
		return t
	}})
	c.Command = nil
	if m.header.Program == nil {
		c.Command = append([]string{m.header.Command, "1"}, Arguments(Tokenizer)...)
	}
	c.Costs = "nothing: the ids are the same"
	c.Rests = fmt.Sprintf("the Go tokenizer is ready in %s ms", figures.Milliseconds(goTokenizer))
	c.Sure = Assumption
	return c, m.subject != nil && m.subject.Tokenizer == "hf"
}
