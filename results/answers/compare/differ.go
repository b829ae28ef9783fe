package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
)

// Difference is what makes one arm take longer than another, part by part, from
// the runs of the same block.
type Difference struct {
	From, To string        // "To takes longer than From by"
	Blocks   int           // with a run of each
	Wall     stats.Summary // of the whole run, ns; negative where To is faster
	Parts    []Part        // those that are decided first, of both kinds the largest
}

// Part is what a line of the account contributes to a difference, in ns.
type Part struct {
	Name string
	Time stats.Summary
}

// decided says whether repetition does not explain the part: its interval is
// without 0.
func (p Part) decided() bool { return excludesZero(p.Time) }

func excludesZero(s stats.Summary) bool { return s.Decidable && (s.Lo > 0 || s.Hi < 0) }

// pairs compares every arm with the first one that claims the same state.
func (a *Answer) pairs() {
	a.Pairs = Differences(a.Series, func(x, s samples.Series) bool {
		return x.State == s.State && s.State != "" && s.State != recording.StateWarmProcess
	}, &a.Notes)
}

// Differences are what makes each series take longer than the first that it is to be
// compared with, in the order of all. Where nothing can be said of two a note is
// added.
func Differences(all []samples.Series, compared func(first, s samples.Series) bool, notes *table.Notes) []Difference {
	var out []Difference
	for i, s := range all {
		first := slices.IndexFunc(all, func(x samples.Series) bool { return compared(x, s) })
		if first < 0 || first == i {
			continue
		}
		d, err := Differ(all[first], s)
		if err != nil {
			notes.Add("%s and %s: %v", all[first].Name, s.Name, err)
			continue
		}
		out = append(out, *d)
	}
	return out
}

// Differ says what makes b take longer than a.
func Differ(a, b samples.Series) (*Difference, error) {
	d := &Difference{From: a.Name, To: b.Name}
	var walls []float64
	times := map[string][]float64{}
	as, bs := recording.Paired(a.Samples, b.Samples, samples.Block)
	for i, x := range as {
		ax, err := x.Run.Account()
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", x.Block, err)
		}
		bx, err := bs[i].Run.Account()
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", x.Block, err)
		}
		ta, tb := byName(ax), byName(bx)
		walls = append(walls, float64(bx.Wall-ax.Wall))
		for name := range ta {
			tb[name] += 0 // so that what only one has is there
		}
		for name, t := range tb {
			for len(times[name]) < len(walls)-1 { // blocks in which neither had it
				times[name] = append(times[name], 0)
			}
			times[name] = append(times[name], float64(t-ta[name]))
		}
	}
	if len(walls) == 0 {
		return nil, fmt.Errorf("no block has a run of both")
	}
	d.Blocks, d.Wall = len(walls), stats.Summarize(walls)
	for name, v := range times {
		for len(v) < len(walls) {
			v = append(v, 0)
		}
		d.Parts = append(d.Parts, Part{Name: name, Time: stats.Summarize(v)})
	}
	slices.SortFunc(d.Parts, func(x, y Part) int {
		if x.decided() != y.decided() {
			if x.decided() {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(math.Abs(y.Time.Median), math.Abs(x.Time.Median)), cmp.Compare(x.Name, y.Name))
	})
	return d, nil
}

// byName is an account's time by the name of what took it. What the phases did
// on a device is together over the whole run: a commit that is slow is slow in
// every phase.
func byName(a *breakdown.Account) map[string]time.Duration {
	times := map[string]time.Duration{breakdown.Unattributed: a.Unattributed}
	for _, l := range a.Lines {
		times[Name(l)] += l.Time
	}
	return times
}

// Name is how a line of an account is called where it stands alone.
func Name(l breakdown.Line) string {
	name := l.Phase
	switch l.What {
	case breakdown.KindLibrary:
		name = "library " + l.Library
	case breakdown.KindPipeline:
		name = "pipeline " + l.Library + " " + l.Function
	case breakdown.KindWeights, breakdown.KindEncode, breakdown.KindCommit, breakdown.KindWait:
		return l.What
	case breakdown.KindRecording:
		name = l.What
	case breakdown.Unattributed:
		name += ", unattributed"
	}
	if l.Round > 1 {
		name += " of later rounds"
	}
	return name
}

// worthNaming is how large a part must be, as a part of the difference of the
// whole run or of the largest part, to stand in the sentence.
const worthNaming = 0.05

// Sentence says what differs: "slow takes 2.0 s longer than cold: library
// Reduce 2.0 s more". Where the whole is not decided, since other things vary
// more, a part can be all the same.
func (d *Difference) Sentence() string {
	least := math.Abs(d.Wall.Median)
	if len(d.Parts) > 0 {
		least = max(least, math.Abs(d.Parts[0].Time.Median))
	}
	var named []string
	for _, p := range d.Parts {
		if len(named) < 3 && math.Abs(p.Time.Median) >= worthNaming*least && p.Time.Median != 0 && (p.decided() || !p.Time.Decidable) {
			named = append(named, p.String())
		}
	}
	parts := strings.Join(named, ", ")
	if d.Wall.Decidable && !excludesZero(d.Wall) {
		text := fmt.Sprintf("As a whole %s and %s do not differ by more than repetition changes (%s ms, from %s to %s)", d.To, d.From,
			signed(d.Wall.Median), signed(d.Wall.Lo), signed(d.Wall.Hi))
		if parts != "" {
			text += "; of its parts " + d.To + " has " + parts
		}
		return text
	}
	direction := "longer"
	if d.Wall.Median < 0 {
		direction = "less"
	}
	text := fmt.Sprintf("%s takes %s %s than %s", d.To, seconds(math.Abs(d.Wall.Median)), direction, d.From)
	if parts != "" {
		text += ": " + parts
	}
	if !d.Wall.Decidable {
		text += fmt.Sprintf(" (undecided by %s)", figures.Number(d.Blocks, "block"))
	}
	return text
}

// String is "library Reduce 2.0 s more".
func (p Part) String() string {
	word := "more"
	if p.Time.Median < 0 {
		word = "less"
	}
	return fmt.Sprintf("%s %s %s", p.Name, seconds(math.Abs(p.Time.Median)), word)
}

// seconds prints nanoseconds in seconds or milliseconds.
func seconds(ns float64) string {
	switch {
	case ns >= 1e9:
		return figures.Text(ns/1e9, 1) + " s"
	case ns >= 10e6:
		return figures.Text(ns/1e6, 0) + " ms"
	}
	return figures.Text(ns/1e6, 1) + " ms"
}
