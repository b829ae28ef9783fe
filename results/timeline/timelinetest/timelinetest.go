// Package timelinetest reads a file of the Trace Event Format by the rules of
// Perfetto's importer, and tells what that would complain of. The rules are those
// of src/trace_processor at commit ec5d16b of github.com/google/perfetto:
// importers/json/json_trace_tokenizer.cc (events, times, which are rounded to the
// nanosecond), importers/json/json_trace_parser.cc (what each phase of an event
// does), importers/common/slice_tracker.cc (which slices nest) and
// importers/common/flow_tracker.cc (which slice an arrow belongs to). It is for
// tests, and shares no code with what writes timelines.
package timelinetest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
)

// Trace is what was imported.
type Trace struct {
	Slices   []*Slice
	Arrows   []Arrow
	Counters map[string][]float64 // by the counter's name behind that of its process
	Names    map[Track]string     // of tracks and, with Thread 0, of processes
	Metadata map[string]any
	// Complaints are what the importer counts as errors.
	Complaints []string
}

// Track is a thread of a process.
type Track struct{ Process, Thread int64 }

// Slice is an event that takes time.
type Slice struct {
	Track      Track
	Async      string // tells slices apart that overlap; "" of a thread's
	Name, Kind string
	Start, End time.Duration
	Depth      int
	In         *Slice // nil of none
	Args       map[string]any
	Instant    bool
}

// Arrow leads from one slice to another.
type Arrow struct{ From, To *Slice }

type event struct {
	Phase string       `json:"ph"`
	PID   int64        `json:"pid"`
	TID   int64        `json:"tid"`
	Name  string       `json:"name"`
	Kind  string       `json:"cat"`
	TS    *json.Number `json:"ts"`
	Dur   *json.Number `json:"dur"`
	ID    any          `json:"id"`
	Own   struct {
		ID string `json:"local"`
	} `json:"id2"`
	Bind  string         `json:"bp"`
	Scope string         `json:"s"`
	Color string         `json:"cname"`
	Args  map[string]any `json:"args"`

	at int64
}

// deepest is SliceTracker::kMaxDepth.
const deepest = 512

// Read imports a file. It fails where it is no JSON of the format.
func Read(r io.Reader) (*Trace, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields() // a key that no viewer knows is a mistake
	d.UseNumber()
	var file struct {
		Metadata map[string]any `json:"metadata"`
		Events   []*event       `json:"traceEvents"`
	}
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("no file of the trace event format: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the trace")
	}
	i := &importer{Trace: &Trace{Counters: map[string][]float64{}, Names: map[Track]string{}, Metadata: file.Metadata},
		open: map[string][]*Slice{}, flows: map[string]*Slice{}}
	for _, e := range file.Events {
		i.time(e)
	}
	// The sorter of the trace processor keeps the order of events of one time.
	slices.SortStableFunc(file.Events, func(a, b *event) int { return cmp.Compare(a.at, b.at) })
	for _, e := range file.Events {
		i.take(e)
	}
	return i.Trace, nil
}

type importer struct {
	*Trace
	open  map[string][]*Slice // by track
	flows map[string]*Slice   // by kind, name and number, where the arrow begins
}

func (i *importer) complain(e *event, format string, a ...any) {
	i.Complaints = append(i.Complaints, fmt.Sprintf("%s %q at %d ns: ", e.Phase, e.Name, e.at)+fmt.Sprintf(format, a...))
}

// nanoseconds is CoerceToTs.
func nanoseconds(n *json.Number) (int64, bool) {
	if n == nil {
		return 0, false
	}
	if whole, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return 1000 * whole, true
	}
	f, err := n.Float64()
	return int64(math.Round(1000 * f)), err == nil
}

func (i *importer) time(e *event) {
	ts, ok := nanoseconds(e.TS)
	if e.at = ts; !ok && e.Phase != "M" {
		i.complain(e, "json_tokenizer_failure: it has no time")
	}
	if e.Name == "" || e.PID <= 0 || e.TID <= 0 || e.PID > math.MaxUint32 || e.TID > math.MaxUint32 {
		i.complain(e, "an event of process %d and thread %d without a name or a number", e.PID, e.TID)
	}
	if ts < 0 {
		i.complain(e, "it begins before 0")
	}
}

func (i *importer) take(e *event) {
	t := Track{e.PID, e.TID}
	key := fmt.Sprint(t)
	switch e.Phase {
	case "M":
		i.meta(e, t)
	case "X":
		dur, ok := nanoseconds(e.Dur)
		if !ok || dur < 0 {
			i.complain(e, "json_parser_failure: it takes %v", e.Dur)
			return
		}
		i.put(e, key, &Slice{Track: t, Name: e.Name, Kind: e.Kind, Start: time.Duration(e.at), End: time.Duration(e.at + dur), Args: e.Args})
	case "i":
		if e.Scope != "t" {
			i.complain(e, "its scope is %q", e.Scope)
		}
		i.put(e, key, &Slice{Track: t, Name: e.Name, Kind: e.Kind, Start: time.Duration(e.at), End: time.Duration(e.at), Args: e.Args, Instant: true})
	case "b", "e":
		i.async(e, t)
	case "C":
		i.counter(e)
	case "s", "t", "f":
		i.flow(e, key)
	default:
		i.complain(e, "no event of a phase that timelines have")
	}
}

// put is SliceTracker::StartSlice with MaybeCloseStack.
func (i *importer) put(e *event, track string, s *Slice) {
	stack := i.open[track]
	for n := len(stack); n > 0; n = len(stack) {
		top := stack[n-1]
		instants := top.Start == top.End && s.Start == s.End
		if top.End < s.Start || top.End == s.Start && !instants {
			stack = stack[:n-1]
			continue
		}
		break
	}
	for _, o := range stack {
		if s.Start < o.End && s.End > o.End {
			i.complain(e, "slice_spill_overlapping_complete_event: it goes on until %d ns, and %q ends at %d", int64(s.End), o.Name, int64(o.End))
			return
		}
	}
	if len(stack) >= deepest {
		i.complain(e, "slice_max_depth_exceeded")
		return
	}
	if n := len(stack); n > 0 {
		s.In = stack[n-1]
	}
	s.Depth = len(stack)
	i.open[track] = append(stack, s)
	i.Slices = append(i.Slices, s)
}

// async is what begins and ends slices that overlap, each on a track of its own.
func (i *importer) async(e *event, t Track) {
	id := e.Own.ID
	if id == "" {
		i.complain(e, "json_parser_failure: it has no id in its process")
		return
	}
	key := fmt.Sprint(t.Process, e.Kind, id)
	stack := i.open[key]
	if e.Phase == "b" {
		if len(stack) > 0 {
			i.complain(e, "there is another of its id")
		}
		i.put(e, key, &Slice{Track: t, Async: id, Name: e.Name, Kind: e.Kind, Start: time.Duration(e.at), End: math.MaxInt64, Args: e.Args})
		return
	}
	if len(stack) != 1 || stack[0].Name != e.Name {
		i.complain(e, "nothing of its id has begun")
		return
	}
	stack[0].End = time.Duration(e.at)
	delete(i.open, key)
}

func (i *importer) meta(e *event, t Track) {
	switch e.Name {
	case "process_name", "thread_name":
		name, ok := e.Args["name"].(string)
		if !ok || name == "" {
			i.complain(e, "json_parser_failure: it names nothing")
			return
		}
		if e.Name == "process_name" {
			t.Thread = 0
		}
		if _, twice := i.Names[t]; twice {
			i.complain(e, "it has a name already")
		}
		i.Names[t] = name
	case "process_sort_index", "thread_sort_index":
		n, ok := e.Args["sort_index"].(json.Number)
		if _, err := n.Int64(); !ok || err != nil {
			i.complain(e, "json_parser_failure: it has no number")
		}
	default:
		i.complain(e, "metadata that nobody reads")
	}
}

func (i *importer) counter(e *event) {
	if len(e.Args) == 0 {
		i.complain(e, "json_parser_failure: it counts nothing")
	}
	for key, value := range e.Args {
		n, ok := value.(json.Number)
		x, err := n.Float64()
		if !ok || err != nil {
			i.complain(e, "json_parser_failure: %v is no number", value)
			continue
		}
		name := fmt.Sprintf("%d %s %s", e.PID, e.Name, key)
		i.Counters[name] = append(i.Counters[name], x)
	}
}

// flow is FlowTracker: an arrow belongs to the slice that is the innermost on its
// track when its event comes.
func (i *importer) flow(e *event, track string) {
	n, ok := e.ID.(json.Number)
	if !ok {
		i.complain(e, "flow_invalid_id: %v", e.ID)
		return
	}
	key := fmt.Sprint(n, e.Kind, e.Name)
	stack := i.open[track]
	if len(stack) == 0 || stack[len(stack)-1].End < time.Duration(e.at) {
		i.complain(e, "flow_no_enclosing_slice")
		return
	}
	s, from := stack[len(stack)-1], i.flows[key]
	switch {
	case e.Phase == "s" && from != nil:
		i.complain(e, "flow_duplicate_id")
		return
	case e.Phase != "s" && from == nil:
		i.complain(e, "flow_end_without_start")
		return
	case e.Phase == "f" && e.Bind != "e":
		i.complain(e, "it does not end at the slice that it lies in")
	case e.Phase != "s" && from.Start > s.Start:
		i.complain(e, "the arrow goes back in time")
	}
	if from != nil {
		i.Arrows = append(i.Arrows, Arrow{from, s})
	}
	i.flows[key] = s
}

// Totals are the times of all slices, by their kind.
func (t *Trace) Totals() map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, s := range t.Slices {
		out[s.Kind] += s.End - s.Start
	}
	return out
}

// Overlap finds two slices of one track of which neither lies in the other, nor
// behind it. It compares each with each that began before it and goes on.
func (t *Trace) Overlap() (a, b *Slice) {
	by := map[Track][]*Slice{}
	for _, s := range t.Slices {
		if s.Async == "" {
			by[s.Track] = append(by[s.Track], s)
		}
	}
	for _, all := range by {
		slices.SortStableFunc(all, func(a, b *Slice) int { return cmp.Compare(a.Start, b.Start) })
		var going []*Slice
		for _, s := range all {
			going = slices.DeleteFunc(going, func(o *Slice) bool { return o.End <= s.Start })
			for _, o := range going {
				if s.End > o.End && s.Start > o.Start {
					return o, s
				}
			}
			going = append(going, s)
		}
	}
	return nil, nil
}
