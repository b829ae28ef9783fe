package remedy

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/start"
)

// model is an arm with the starts of its runs.
type model struct {
	name           string
	state          string
	runs           []run
	header         *recording.Header
	device         *recording.Device // nil where none was told
	subject        *recording.Subject
	threads, cores int
	assumed        bool
	warm           *warm
}

// run is one run's start.
type run struct {
	start     *start.Start
	taken     *breakdown.Run
	compiling time.Duration
	unchanged []time.Duration // the goals, replayed unchanged
	fixed     [outlooks]time.Duration
	uses      map[string]int // by library, how many of its kernels it made pipelines of
}

// outlook is how well what is not known turns out.
type outlook int

// The outlooks: a prediction is the middle one, the others are its bounds.
const (
	poor outlook = iota
	middling
	good
	outlooks
)

// slow is by what a compile beside something else takes longer than alone. Compiling
// concurrently took godotengine/godot#96052 from 150 s to 30, a fifth; on 8 cores that
// is 1.6.
var slow = [outlooks]float64{1.6, 1.25, 1}

// assumedThreads are taken where neither the recording nor anybody says how many
// compiles go on beside each other.
const assumedThreads = 2

func modelOf(s samples.Series, o Options) (*model, error) {
	m := &model{name: s.Name, state: s.State}
	var failed error
	for _, x := range s.Samples {
		st, err := start.Of(x.Run)
		if err != nil {
			failed = err
			continue
		}
		if len(m.runs) > 0 && !slices.EqualFunc(st.Goals, m.runs[0].start.Goals, func(a, b start.Goal) bool { return a.Name == b.Name }) {
			failed = errors.New("its runs did not all get to the same")
			continue
		}
		r := run{start: st, taken: x.Run, unchanged: st.Replay(start.Rules{}).Goals, uses: usesOf(st)}
		for _, c := range st.Compiles {
			r.compiling += c.Time
		}
		m.runs = append(m.runs, r)
	}
	if len(m.runs) == 0 {
		return nil, failed
	}
	first := m.runs[0].taken
	m.header, m.device, m.subject = &first.Header, first.Device, first.Subject
	m.cores = m.header.Host.Cores
	knob, _ := m.header.Knob("compile-threads")
	said, err := strconv.Atoi(knob)
	switch {
	case o.Threads > 0:
		m.threads = o.Threads
		if m.cores > 0 {
			m.cores = max(m.cores, o.Threads) // a machine that has them
		}
	case err == nil && said > 0 && said <= start.MostThreads:
		m.threads = said
	case m.cores > 0:
		m.threads = min(m.cores, start.MostThreads)
	default:
		m.threads, m.assumed = assumedThreads, true
	}
	for i := range m.runs {
		m.runs[i].fixed = m.fixed(m.runs[i].start)
	}
	return m, nil
}

// compiles says whether compiling from source is a good part of the start.
func (m *model) compiles() bool {
	r := m.runs[0]
	last := r.start.Goals[len(r.start.Goals)-1]
	var fresh time.Duration
	for _, i := range r.start.Until(last) {
		if c := r.start.Compiles[i]; !c.FromCache() {
			fresh += c.Time
		}
	}
	return float64(fresh) >= Worth*float64(last.Recorded) && fresh > 0
}

// checks are those of the run that is furthest off. A run that compiled beside its main
// thread is scheduled anew as well, by the rules by which it ran.
func (m *model) checks() []start.Check {
	var worst []start.Check
	for i := range m.runs {
		r := &m.runs[i]
		c := r.start.Check()
		if r.start.Mode > start.Serial {
			anew := r.start.Replay(m.rules(r, change{when: r.start.Mode}, middling))
			for g, goal := range r.start.Goals {
				c = append(c, start.Check{What: goal.Name + " scheduled anew", Recorded: goal.Recorded, Replay: anew.Goals[g]})
			}
		}
		if worst == nil || furthest(c) > furthest(worst) {
			worst = c
		}
	}
	return worst
}

func furthest(checks []start.Check) (off float64) {
	for _, c := range checks {
		off = max(off, c.Off())
	}
	return off
}

// change is what a remedy changes of a start.
type change struct {
	when    start.When
	threads int // 0: those of the model
	// compile and piece are how long something takes then, of what it took before.
	compile func(*run, outlook, start.Compile, time.Duration) time.Duration
	piece   func(*run, outlook, start.Piece, time.Duration) time.Duration
	// rewrite makes another graph of the start.
	rewrite func(*run, outlook) *start.Start
}

// with is both changes, one behind the other.
func (c change) with(d change) change {
	out := c
	if d.when != start.AsRecorded {
		out.when, out.threads = d.when, d.threads
	}
	if d.rewrite != nil {
		out.rewrite = d.rewrite
	}
	if first, then := c.compile, d.compile; first != nil && then != nil {
		out.compile = func(r *run, o outlook, x start.Compile, t time.Duration) time.Duration {
			return then(r, o, x, first(r, o, x, t))
		}
	} else if then != nil {
		out.compile = then
	}
	if first, then := c.piece, d.piece; first != nil && then != nil {
		out.piece = func(r *run, o outlook, x start.Piece, t time.Duration) time.Duration {
			return then(r, o, x, first(r, o, x, t))
		}
	} else if then != nil {
		out.piece = then
	}
	return out
}

// replay is a run with the change.
func (m *model) replay(r *run, c change, o outlook) start.Schedule {
	s := r.start
	if c.rewrite != nil {
		s = c.rewrite(r, o)
	}
	return s.Replay(m.rules(r, c, o))
}

func (m *model) rules(r *run, c change, o outlook) start.Rules {
	rules := start.Rules{When: c.when, Threads: m.threads, Cores: m.cores, Slow: slow[o]}
	if c.threads > 0 {
		rules.Threads = c.threads
	}
	if r.start.Mode > start.Serial || r.start.Program && r.beside() {
		rules.Slow, rules.Cores = 1, 0 // what was recorded went on beside others, on the cores that there were
	}
	if rules.When == start.AsRecorded && (c.compile != nil || c.rewrite != nil) {
		rules.When = start.Serial
		if r.start.Program && r.beside() || r.start.Mode > start.Serial {
			rules.When = max(start.Concurrent, r.start.Mode)
		}
	}
	if c.compile != nil {
		rules.Compile = func(x start.Compile) time.Duration { return c.compile(r, o, x, x.Time) }
	}
	if c.piece != nil {
		rules.Piece = func(x start.Piece) time.Duration { return c.piece(r, o, x, x.Time) }
	}
	return rules
}

// beside says whether the run compiled anything beside something else.
func (r *run) beside() bool {
	return slices.ContainsFunc(r.start.Compiles, func(c start.Compile) bool { return c.Wall() < c.Time })
}

// savings are what a change saves of each goal: the median of the runs, and between
// the least of them where all turns out poor and the most where all turns out well.
func (m *model) savings(c change) []Saving {
	out := make([]Saving, len(m.runs[0].start.Goals))
	for g := range out {
		var all []time.Duration
		for i := range m.runs {
			r := &m.runs[i]
			for o := range outlooks {
				saves := r.unchanged[g] - m.replay(r, c, o).Goals[g]
				if o == middling {
					all = append(all, saves)
				}
				if i == 0 && o == poor {
					out[g].Lo, out[g].Hi = saves, saves
				}
				out[g].Lo, out[g].Hi = min(out[g].Lo, saves), max(out[g].Hi, saves)
			}
		}
		out[g].Saves = median(all)
	}
	return out
}
