package remedy

import (
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/start"
)

// What a library takes is a fixed part, which a source without kernels would take too,
// and a part for each kernel in it. The fixed part is not recorded. It is no more than
// what the quickest library takes, and these parts of that. On the soft driver trimming
// took a quarter of its libraries' time.
var (
	fixedApple = [outlooks]float64{1, 0.5, 0}
	fixedSoft  = [outlooks]float64{1, 0.75, 0.4}
)

// heavier is by how much the kernels that are used may take more than the others of
// their library.
var heavier = [outlooks]float64{4, 1, 0.5}

// fixed is the fixed part of a library of the start.
func (m *model) fixed(s *start.Start) (out [outlooks]time.Duration) {
	quickest := time.Duration(-1)
	for _, c := range s.Compiles {
		if c.IsLibrary() && !c.FromCache() && (quickest < 0 || c.Time < quickest) {
			quickest = c.Time
		}
	}
	part := fixedApple
	if m.soft() {
		part = fixedSoft
	}
	for o := range outlooks {
		out[o] = time.Duration(part[o] * float64(max(0, quickest)))
	}
	return out
}

// candleKernels are how many kernels a library of candle 0.11.0 has, for recordings
// that do not say; `introgen kernels show candle` counts them.
var candleKernels = map[string]int{"Affine": 24, "Binary": 648, "Cast": 72, "Conv": 43, "Fill": 6, "Gemm": 60, "Gemv": 144, "Indexing": 70,
	"MlxSort": 86, "Quantized": 185, "Random": 6, "Reduce": 90, "Sdpa": 118, "Sort": 12, "Ternary": 18, "Unary": 152}

// kernels is how many a library has; 0 where nobody knows.
func (m *model) kernels(c start.Compile) (n int, told bool) {
	if c.Kernels > 0 {
		return c.Kernels, true
	}
	return candleKernels[c.Library], false
}

// used are how many kernels of a library the run made pipelines of.
func (r *run) used(c start.Compile) int { return r.uses[c.Library] }

// usesOf counts by library the kernels that pipelines were made of.
func usesOf(s *start.Start) map[string]int {
	type kernel struct{ library, function string }
	seen, out := map[kernel]bool{}, map[string]int{}
	for _, x := range s.Compiles {
		if k := (kernel{x.Library, x.Function}); !x.IsLibrary() && !seen[k] {
			seen[k] = true
			out[x.Library]++
		}
	}
	return out
}

// cut is what a library takes with so many of its kernels.
func (m *model) cut(r *run, o outlook, c start.Compile, took time.Duration, used int) time.Duration {
	all, _ := m.kernels(c)
	if c.FromCache() || used == 0 || all <= used {
		return took
	}
	fixed := min(r.fixed[o], took)
	part := min(1, heavier[o]*float64(used)/float64(all))
	return fixed + time.Duration(part*float64(took-fixed))
}

func (m *model) trim() (candidate, bool) {
	c := m.of(Trim, "compile libraries with only the kernels that are used", change{compile: func(r *run, o outlook, x start.Compile, t time.Duration) time.Duration {
		if !x.IsLibrary() {
			return t
		}
		return m.cut(r, o, x, t, r.used(x))
	}})
	c.Costs = "nothing at run time; a kernel that turns out to be needed is a library of its own"
	c.Needs = "to know beforehand which kernels are used; `introgen kernels trim` cuts a source"
	c.Rests = fmt.Sprintf("a library takes a fixed part (%s ms, as the quickest of them shows) and the same for each of its kernels; %s", m.fixedWords(), m.usedWords())
	c.Sure = Assumption
	return c, m.trims()
}

// trims says whether a library has kernels that are not used.
func (m *model) trims() bool {
	r := m.runs[0]
	return slices.ContainsFunc(r.start.Compiles, func(c start.Compile) bool {
		all, _ := m.kernels(c)
		used := r.used(c)
		return c.IsLibrary() && !c.FromCache() && used > 0 && all > used
	})
}

func (m *model) fixedWords() string {
	f := m.runs[0].fixed
	return fmt.Sprintf("%s, between %s and %s", figures.Milliseconds(f[middling]), figures.Milliseconds(f[good]), figures.Milliseconds(f[poor]))
}

// usedWords say how many of how many kernels are used, and whose count that is.
func (m *model) usedWords() string {
	r := m.runs[0]
	used, all, untold, unknown := 0, 0, 0, 0
	for _, c := range r.start.Compiles {
		if !c.IsLibrary() {
			continue
		}
		n, told := m.kernels(c)
		switch {
		case n == 0:
			unknown++
			continue
		case !told:
			untold++
		}
		used, all = used+r.used(c), all+n
	}
	text := fmt.Sprintf("%d of %d kernels are used", used, all)
	if untold > 0 {
		text += ", as candle 0.11.0 has them: the recording does not say"
	}
	if unknown > 0 {
		text += fmt.Sprintf("; of %d other %s that is not known", unknown, figures.Verb(unknown, "library", "libraries"))
	}
	return text
}

// split makes a library of each kernel that is used. They are compiled side by side:
// one behind the other it is worth nothing that trim is not.
func (m *model) split() (candidate, bool) {
	c := m.of(Split, "one library for each kernel that is used, compiled early", change{when: start.Early, rewrite: func(r *run, o outlook) *start.Start {
		return r.start.OneEach(func(x start.Compile) time.Duration { return m.cut(r, o, x, x.Time, 1) })
	}})
	c.Command = nil
	c.Costs = "as early; what several kernels share is compiled with each"
	c.Needs = "as early and trim"
	c.Rests = "as trim; " + m.restsOnThreads()
	c.Sure = Assumption
	several := slices.ContainsFunc(m.runs[0].start.Compiles, func(x start.Compile) bool { return x.IsLibrary() && m.runs[0].used(x) > 1 })
	return c, several && m.trims()
}

// join makes one library of all.
func (m *model) join() (candidate, bool) {
	c := m.of(Join, "all libraries as one source", change{when: start.Serial, rewrite: func(r *run, o outlook) *start.Start {
		fixed := r.fixed[o]
		return r.start.OneOfAll(fixed, func(x start.Compile) time.Duration { return max(0, x.Time-fixed) })
	}})
	c.Command = nil
	c.Costs = "that the first token waits for what only the second needs, and that nothing can be compiled side by side"
	c.Needs = "sources whose names do not clash"
	c.Rests = fmt.Sprintf("the fixed part of a library (%s ms) is there once", m.fixedWords())
	c.Sure = Assumption
	return c, m.libraries() > 1 && m.serial() && !m.runs[0].start.Program && m.fresh() > 0
}

// macros says what function constants as macros would cost; "" where no pipelines
// differ in them alone.
func (m *model) macros() string {
	r := &m.runs[0]
	type kernel struct{ library, function string }
	variants := map[kernel]map[string]bool{}
	for _, c := range r.start.Compiles {
		if c.IsLibrary() {
			continue
		}
		k := kernel{c.Library, c.Function}
		if variants[k] == nil {
			variants[k] = map[string]bool{}
		}
		variants[k][c.Constants] = true
	}
	var more time.Duration
	functions, pipelines := 0, 0
	for k, all := range variants {
		if len(all) < 2 {
			continue
		}
		functions, pipelines = functions+1, pipelines+len(all)
		for _, c := range r.start.Compiles {
			if c.IsLibrary() && c.Library == k.library {
				more += time.Duration(len(all)-1) * m.cut(r, middling, c, c.Time, 1)
				break
			}
		}
	}
	if functions == 0 {
		return ""
	}
	return fmt.Sprintf("%d pipelines of %s differ in function constants alone; as macros each would need a library of its own, %s ms more one behind the other, so that function constants stay the better way",
		pipelines, figures.Number(functions, "kernel"), figures.Milliseconds(more))
}
