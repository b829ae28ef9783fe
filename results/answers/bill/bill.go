// Package bill answers what a start is made of: every named part of a run's
// wall clock, as the parent process takes it, each library and each pipeline on
// a line of its own, and what no line explains.
package bill

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace/names"
)

// Wanted is the part of the wall clock that named lines should explain.
const Wanted = 0.98

// Bill is the account of one run, that with the median wall clock of its arm,
// since the lines of one run add up and medians of lines do not.
type Bill struct {
	Arm   string
	Runs  int // that count; the ranges are over them
	Run   int // the number of the run shown, from 1 in the order of execution
	Lines []Line
	Wall  Line
	// Unattributed is what no line explains.
	Unattributed Line
	ByParent     bool
	Program      bool    // that was recorded, by whose clock it is
	Named        float64 // the part of the wall clock that lines explain
	Lost         int     // spans that are missing of the run shown
	// Compiling is the time of all libraries and pipelines, one after the
	// other as they were made, or as a program made them, or as an engine did beside
	// the thread that generates, what of the wall clock they took; Chain the longest that had to be: a library and
	// the slowest pipeline of it.
	Compiling, Chain time.Duration
	ChainOf          string        // "Gemm and gemm_nn"
	Libraries        int           // that were compiled
	Token1           time.Duration // of the run shown, from the process's start, else from opening the file; 0 where there is none
	FromStart        bool          // whether it is from the process's start
	atOnce           time.Duration // of a program, or beside an engine, what libraries and pipelines took, also beside each other
	pipelines        int           // that were made
	beside           bool          // an engine's were made beside the thread that generates
	saved            time.Duration // of Token1, if compiling for it took as long as the longest chain of what it needs
}

// Line is a line of the bill, with its range over all runs of the arm.
type Line struct {
	breakdown.Line
	Min, Max time.Duration
}

// Of makes the bill of each arm whose runs count, in the order of the plan. A
// run whose parts exceed the whole is an error.
func Of(f *breakdown.File) ([]*Bill, error) {
	var out []*Bill
	for _, s := range samples.Of(f) {
		if s.State == recording.StateWarmProcess || len(s.Samples) == 0 {
			continue
		}
		b, err := of(s)
		if err != nil {
			return out, fmt.Errorf("%s: %w", s.Name, err)
		}
		out = append(out, b)
	}
	if len(out) == 0 && slices.ContainsFunc(f.Runs, (*recording.Run).Counts) {
		why := append(samples.Uncounted(f.File), "no run that counts has its first round")
		return nil, fmt.Errorf("there is nothing to make a bill of: %s", strings.Join(why, "; "))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no run counts, so there is nothing to make a bill of: %s", strings.Join(samples.Uncounted(f.File), "; "))
	}
	return out, nil
}

func of(s samples.Series) (*Bill, error) {
	accounts := make([]*breakdown.Account, len(s.Samples))
	order := make([]int, len(s.Samples))
	for i, x := range s.Samples {
		a, err := x.Run.Account()
		if err != nil {
			return nil, fmt.Errorf("run %d: %w", number(x), err)
		}
		accounts[i], order[i] = fold(a), i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(accounts[i].Wall, accounts[j].Wall) })
	median := order[stats.Lower(len(order))]
	a := accounts[median]
	b := &Bill{
		Arm: s.Name, Runs: len(accounts), Run: number(s.Samples[median]), ByParent: a.ByParent, Named: a.Named(), Lost: a.Lost,
		Wall:         Line{Line: breakdown.Line{Phase: "wall clock", Time: a.Wall}},
		Unattributed: Line{Line: breakdown.Line{Phase: "unattributed", Time: a.Unattributed}},
	}
	for _, l := range a.Lines {
		b.Lines = append(b.Lines, Line{Line: l})
	}
	for i := range b.Lines {
		b.Lines[i].span(accounts, func(a *breakdown.Account) time.Duration {
			k := slices.IndexFunc(a.Lines, func(l breakdown.Line) bool { return l.Key() == b.Lines[i].Key() })
			if k < 0 {
				return 0
			}
			return a.Lines[k].Time
		})
	}
	b.Wall.span(accounts, func(a *breakdown.Account) time.Duration { return a.Wall })
	b.Unattributed.span(accounts, func(a *breakdown.Account) time.Duration { return a.Unattributed })
	first := s.Samples[median].Rounds[0]
	b.Program = first.Program()
	b.chain(a.Compiles, first)
	if b.Token1, b.FromStart = first.FromStart(1); !b.FromStart {
		b.Token1, _ = first.Token(1)
	}
	return b, nil
}

// number is that of the sample's run: its plan's, or its place among the runs of
// its kind.
func number(x samples.Sample) int {
	if x.Run.Start == nil {
		return x.Block
	}
	return x.Run.Start.Run
}

// span sets a line's range.
func (l *Line) span(accounts []*breakdown.Account, of func(*breakdown.Account) time.Duration) {
	l.Min, l.Max = of(accounts[0]), of(accounts[0])
	for _, a := range accounts[1:] {
		l.Min, l.Max = min(l.Min, of(a)), max(l.Max, of(a))
	}
}

// fold makes one line of all rounds after the first, and one of all times in
// which the recording was written.
func fold(a *breakdown.Account) *breakdown.Account {
	out := *a
	out.Lines = nil
	later, recorded := -1, breakdown.Line{Phase: breakdown.KindRecording}
	rest := breakdown.Line{Round: 2, Phase: breakdown.LaterRounds, What: breakdown.Unattributed}
	rounds := map[int]bool{}
	for _, l := range a.Lines {
		switch {
		case l.What == breakdown.KindRecording || l.Phase == breakdown.KindRecording:
			recorded.Time += l.Time
			recorded.Count += l.Count
		case l.Round > 1:
			if later < 0 {
				later = len(out.Lines)
				out.Lines = append(out.Lines, breakdown.Line{Round: 2, Phase: breakdown.LaterRounds})
			}
			rounds[l.Round] = true
			if l.What == breakdown.Unattributed {
				rest.Time += l.Time
				rest.Count += l.Count
				continue
			}
			out.Lines[later].Time += l.Time
		default:
			out.Lines = append(out.Lines, l)
		}
	}
	if later >= 0 {
		out.Lines[later].Count = len(rounds)
		if rest.Count > 0 {
			out.Lines = slices.Insert(out.Lines, later+1, rest)
		}
	}
	if recorded.Count > 0 {
		at := len(out.Lines)
		if at > 0 && out.Lines[at-1].Phase == breakdown.ProcessExit {
			at--
		}
		out.Lines = slices.Insert(out.Lines, at, recorded)
	}
	return &out
}

// chain finds what would be left of compiling if all libraries were compiled at
// once, and then all pipelines: of all that the bill has, and of what token 1 needs.
func (b *Bill) chain(compiles []breakdown.Compile, first breakdown.Round) {
	b.Compiling = breakdown.Compiling(compiles)
	b.beside = slices.ContainsFunc(compiles, func(c breakdown.Compile) bool { return c.Beside })
	if b.Program || b.beside {
		b.Compiling, b.atOnce = 0, breakdown.Compiling(compiles)
		for _, l := range b.Lines {
			if l.What == breakdown.KindLibrary || l.What == breakdown.KindPipeline {
				b.Compiling += l.Time
			}
		}
	}
	for _, c := range compiles {
		if c.IsLibrary() {
			b.Libraries++
		} else {
			b.pipelines++
		}
	}
	longest := breakdown.LongestChain(breakdown.Libraries(compiles))
	b.Chain, b.ChainOf = longest.Time, longest.Library
	if longest.Function != "" {
		b.ChainOf += " and " + longest.Function
	}
	var until []breakdown.Compile
	for _, p := range first.Phases {
		if p.Name == names.SpanBuild || p.Name == names.SpanPrefill {
			until = append(until, p.Compiles...)
		}
	}
	b.saved = breakdown.Compiling(until) - breakdown.LongestChain(breakdown.Libraries(until)).Time
}

// label is how a line is called on the bill.
func (l Line) label() string {
	switch l.What {
	case breakdown.KindLibrary:
		return "    LIB  " + l.Library + l.beside()
	case breakdown.KindPipeline:
		return "    PIPE " + l.Library + " " + l.Function + l.beside()
	case "":
		return l.phase()
	}
	if l.Round == 1 {
		return "    " + l.What
	}
	return "  " + l.What
}

// beside says of a library or a pipeline that it was made beside the thread that
// generates, whose wait for it the line is.
func (l Line) beside() string {
	if l.Beside {
		return ", awaited"
	}
	return ""
}

// phase is how the line's phase is called.
func (l Line) phase() string {
	name := l.Phase
	switch name {
	case names.SpanPrefill:
		name += " (token 1)"
	case names.SpanStep:
		name += " 1 (token 2)"
	case names.SpanRepeat:
		name += " 1"
	case breakdown.LaterSteps, breakdown.LaterRepeats, breakdown.LaterRounds:
		name = fmt.Sprintf("%s (%d)", name, l.Count)
	}
	if l.Round == 1 {
		name = "  " + name
	}
	return name
}
