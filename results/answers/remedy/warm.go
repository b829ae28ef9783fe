package remedy

import (
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/start"
)

// warm is what is known of a start after everything was compiled.
type warm struct {
	name  string
	goals []time.Duration // the medians of its runs
	takes map[made]time.Duration
}

// made is a library, or a pipeline.
type made struct{ library, function, constants string }

func madeOf(c start.Compile) made { return made{c.Library, c.Function, c.Constants} }

// warmOf is the arm of the recording that took all of what m compiles from a cache;
// nil where there is none.
func warmOf(m *model, all []*model) *warm {
	for _, w := range all {
		if w == m || w.state != recording.StateWarmCache && w.state != "" || w.header.Command != m.header.Command || len(w.runs[0].start.Goals) != len(m.runs[0].start.Goals) {
			continue
		}
		out := &warm{name: w.name, takes: map[made]time.Duration{}}
		whole := w.state == recording.StateWarmCache
		took := map[made][]time.Duration{}
		for _, r := range w.runs {
			for _, c := range r.start.Compiles {
				whole = whole && c.FromCache()
				took[madeOf(c)] = append(took[madeOf(c)], c.Time)
			}
		}
		if !whole {
			continue
		}
		for k, all := range took {
			out.takes[k] = median(all)
		}
		for g := range w.runs[0].start.Goals {
			var all []time.Duration
			for _, r := range w.runs {
				all = append(all, r.start.Goals[g].Recorded)
			}
			out.goals = append(out.goals, median(all))
		}
		return out
	}
	return nil
}

// What a library and a pipeline take that come from a cache or an archive, where no
// run of the recording tells: of the soft driver as measured on two cores, of Apple's
// as the experiment printed it. It may be up to careful times as much.
const (
	libraryHit  = 2500 * time.Microsecond
	pipelineHit = 200 * time.Microsecond
	careful     = 4
)

// hit is what it takes from a cache, and never more than it took.
func (m *model) hit(o outlook, c start.Compile, took time.Duration) time.Duration {
	hit := pipelineHit
	if c.IsLibrary() {
		hit = libraryHit
	}
	if m.warm != nil {
		if t, ok := m.warm.takes[madeOf(c)]; ok {
			return min(took, t)
		}
	}
	switch o {
	case poor:
		hit *= careful
	case good:
		hit /= careful
	}
	return min(took, hit)
}

// soft says whether the soft driver ran.
func (m *model) soft() bool { return m.device != nil && m.device.Driver == "soft" }
