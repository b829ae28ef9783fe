// Package profile writes recordings in the format of pprof: where wall clock, the
// CPU's threads, the device and the compiler spent their time, by stacks of phase,
// layer, operation, library and kernel. `go tool pprof` answers by it which of them
// took how long, and draws flame graphs.
//
// It times nothing: each value is a span of the recording, a part of a phase as
// package breakdown has it, or an operation. The wall clock adds up to that of the
// run, with what nothing explains as "unattributed".
package profile

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
)

// Types of samples, in their order. All are nanoseconds.
const (
	wall    = iota // the run's wall clock, each moment once
	cpu            // operations of the CPU engine's threads, added up over them
	gpu            // the device
	compile        // libraries and pipelines, also those of threads beside each other
	types
)

var typeNames = [types]string{"wall", "cpu", "gpu", "compile"}

// Frames that are no names of a recording.
const (
	frameCompile = "compile"
	frameDevice  = "device"
	frameKernels = "kernels of the run"
	frameBetween = "between kernels"
)

// View writes a recording as a profile.
func View(w io.Writer, f *recording.File) error { return Together(w, []*recording.File{f}) }

// Together writes several recordings as one profile.
func Together(w io.Writer, files []*recording.File) error {
	p, err := Of(files...)
	if err != nil {
		return err
	}
	return p.Write(w)
}

// Of makes the profile of all runs of the files. It fails where no run can be
// accounted for.
func Of(files ...*recording.File) (*profile.Profile, error) {
	b := &builder{profile: &profile.Profile{DefaultSampleType: typeNames[wall]}, functions: map[frame]*profile.Location{}, samples: map[sampleKey]*profile.Sample{},
		stacks: map[string]*locations{}, places: map[placeKey]map[string][]string{}}
	// pprof looks for the program of a profile, and says where it has none.
	b.profile.Mapping = []*profile.Mapping{{ID: 1, Limit: math.MaxInt64, File: "introgen", HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}}
	for _, name := range typeNames {
		b.profile.SampleType = append(b.profile.SampleType, &profile.ValueType{Type: name, Unit: "nanoseconds"})
	}
	runs, failed := 0, error(nil)
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	beside := recording.NamesBeside(paths...)
	for i, f := range files {
		for _, r := range f.Runs {
			for _, r := range append([]*recording.Run{r}, r.Children...) {
				b.number++
				b.labels = labelsOf(f, r)
				if len(files) > 1 && f.Path != "" {
					b.labels["file"] = short(beside[i])
				}
				if b.profile.TimeNanos == 0 && !r.Header.Started.IsZero() {
					b.profile.TimeNanos = r.Header.Started.UnixNano()
				}
				if err := b.run(breakdown.Take(r)); err != nil {
					failed = fmt.Errorf("%s: %w", title(r), err)
					b.comment("%v: it is left out", failed)
					continue
				}
				runs++
			}
		}
	}
	switch {
	case runs > 0:
	case failed != nil:
		return nil, fmt.Errorf("no run can be put into a profile: %w", failed)
	default:
		b.comment("no run is recorded: the profile is empty")
	}
	b.profile.DurationNanos = b.duration.Nanoseconds()
	if err := b.profile.CheckValid(); err != nil {
		return nil, fmt.Errorf("cannot make the profile: %w", err)
	}
	return b.profile, nil
}

// frame is a function of a stack: its name, and what it is, which stands as its
// file, so that a library and a kernel of one name are two.
type frame struct{ name, is string }

type stack []frame

// then is the stack with another frame on it, the innermost of it so far.
func (s stack) then(is, name string) stack {
	if name == "" {
		return s
	}
	return append(slices.Clip(s), frame{short(name), is})
}

// key tells stacks apart.
func (s stack) key() string {
	var b strings.Builder
	for _, f := range s {
		b.WriteString(f.is)
		b.WriteByte(0)
		b.WriteString(f.name)
		b.WriteByte(0)
	}
	return b.String()
}

// sampleKey tells samples apart.
type sampleKey struct {
	stack *locations
	place placeKey
}

// locations are those of a stack, from the innermost on, which all of its samples
// share: a plan of traced runs has a sample for each operation of each step.
type locations struct{ all []*profile.Location }

// placeKey tells places in runs apart. All samples of one share their labels.
type placeKey struct {
	run   int
	where where
}

// builder adds samples up.
type builder struct {
	profile   *profile.Profile
	functions map[frame]*profile.Location
	samples   map[sampleKey]*profile.Sample
	stacks    map[string]*locations
	places    map[placeKey]map[string][]string
	number    int               // of the run
	labels    map[string]string // of the run
	duration  time.Duration
}

func (b *builder) comment(format string, a ...any) {
	text := short(fmt.Sprintf(format, a...))
	if !slices.Contains(b.profile.Comments, text) {
		b.profile.Comments = append(b.profile.Comments, text)
	}
}

// where is the round and the step of a sample, 0 outside of them, and the state of
// the cache that it is of.
type where struct {
	round, step int64
	state       string
}

// add adds times to a stack, whose outermost frame comes first.
func (b *builder) add(s stack, w where, values map[int]time.Duration) {
	key := sampleKey{b.stack(s), placeKey{b.number, w}}
	x := b.samples[key]
	if x == nil {
		x = &profile.Sample{Value: make([]int64, types), Label: b.labelled(key.place), Location: key.stack.all}
		b.samples[key] = x
		b.profile.Sample = append(b.profile.Sample, x)
	}
	for i, v := range values {
		x.Value[i] += v.Nanoseconds()
	}
}

func (b *builder) stack(s stack) *locations {
	key := s.key()
	l := b.stacks[key]
	if l == nil {
		l = &locations{}
		for _, f := range slices.Backward(s) {
			l.all = append(l.all, b.location(f))
		}
		b.stacks[key] = l
	}
	return l
}

// labelled are the labels of the run with those of a place in it.
func (b *builder) labelled(p placeKey) map[string][]string {
	labels, w := b.places[p], p.where
	if labels != nil {
		return labels
	}
	labels = map[string][]string{}
	b.places[p] = labels
	for key, value := range b.labels {
		labels[key] = []string{value}
	}
	if w.state != "" {
		labels["state"] = []string{w.state}
	}
	if w.round > 0 {
		labels["round"] = []string{strconv.FormatInt(w.round, 10)}
	}
	if w.step > 0 {
		labels["step"] = []string{strconv.FormatInt(w.step, 10)}
	}
	return labels
}

func (b *builder) location(f frame) *profile.Location {
	if l := b.functions[f]; l != nil {
		return l
	}
	id := uint64(len(b.functions) + 1)
	function := &profile.Function{ID: id, Name: f.name, SystemName: f.name, Filename: f.is}
	l := &profile.Location{ID: id, Mapping: b.profile.Mapping[0], Address: id, Line: []profile.Line{{Function: function}}}
	b.profile.Function = append(b.profile.Function, function)
	b.profile.Location = append(b.profile.Location, l)
	b.functions[f] = l
	return l
}

// longest is how many characters a text out of a recording has at most.
const longest = 200

// short is a text of a recording as a part of one line, cut where it is long.
func short(s string) string {
	if len(s) > 4*longest {
		s = s[:4*longest]
	}
	s = sanitize.Line(strings.ToValidUTF8(s, "\ufffd"))
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return s
}
