package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

const (
	// deepest is how deep slices nest on one track: Perfetto takes 512.
	deepest = 256
	// mostLanes is how many tracks one of them may become where its slices overlap.
	mostLanes = 64
)

// lay puts slices on a track of the name. On it each lies in another or beside it;
// where slices overlap, those that began later go to further tracks of the name,
// which is said.
func (t *Timeline) lay(p *Process, name string, all []*Slice) {
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b *Slice) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	var lanes []*lane
	on := map[*Slice]*lane{}
	moved, lost := 0, 0
	var lostTime time.Duration
	for _, s := range all {
		l := on[s.in] // where what it lies in is, if that is on a track of the name
		if l == nil || !l.takes(s) {
			i := slices.IndexFunc(lanes, func(l *lane) bool { return l.takes(s) })
			switch {
			case i >= 0:
				l = lanes[i]
			case len(lanes) == mostLanes:
				lost, lostTime = lost+1, lostTime+s.End-s.Start
				continue
			default:
				l = &lane{track: &Track{ID: t.trackID(), Name: name}}
				if len(lanes) > 0 {
					l.track.Name = fmt.Sprintf("%s %d", name, len(lanes)+1)
				}
				lanes = append(lanes, l)
			}
		}
		if l != lanes[0] {
			moved++
		}
		l.put(s)
		on[s] = l
	}
	for _, l := range lanes {
		p.Tracks = append(p.Tracks, l.track)
	}
	if moved > 0 {
		t.note("%s: of the track %q %d of %d slices overlap others without lying in them: they are on %d further tracks", p.Name, name, moved, len(all), len(lanes)-1)
	}
	if lost > 0 {
		t.note("%s: of the track %q %d slices, %v together, have no place on %d tracks: they are left out", p.Name, name, lost, lostTime, mostLanes)
	}
}

// lane is a track that is being filled.
type lane struct {
	track *Track
	open  []*Slice
}

// takes says whether the slice, which begins no earlier than those on the track,
// lies in what is open there or behind it.
func (l *lane) takes(s *Slice) bool {
	for n := len(l.open); n > 0; n = len(l.open) {
		top := l.open[n-1]
		if top.End > s.Start || top.Start == top.End && s.Start == s.End && top.End == s.Start {
			break
		}
		l.open = l.open[:n-1]
	}
	n := len(l.open)
	return n == 0 || s.End <= l.open[n-1].End && n < deepest
}

func (l *lane) put(s *Slice) {
	s.number = len(l.track.Slices)
	l.open = append(l.open, s)
	l.track.Slices = append(l.track.Slices, s)
}

// beside puts slices that overlap freely on one track.
func (t *Timeline) beside(p *Process, name string, all []*Slice) {
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b *Slice) int { return cmp.Compare(a.Start, b.Start) })
	for i, s := range all {
		s.number = i
	}
	p.Tracks = append(p.Tracks, &Track{ID: t.trackID(), Name: name, Slices: all, Beside: true})
}
