package timeline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// MostBytes is how long what Write writes becomes at most, where nobody says
// otherwise: viewers hold all of it in memory, several times over.
const MostBytes = 50_000_000

// View writes a recording as its timeline.
func View(w io.Writer, f *recording.File) error { return Together(w, []*recording.File{f}) }

// Together writes several recordings as one timeline.
func Together(w io.Writer, files []*recording.File) error {
	t := Of(files...)
	t.Thin(MostBytes)
	return t.Write(w)
}

// colors are by what chrome://tracing knows its colours; Perfetto takes one by a
// slice's name. Both stay what they are from one timeline to the next.
var colors = map[string]string{
	names.SpanLibrary: "bad", names.SpanPipeline: "terrible",
	names.SpanWeights: "thread_state_iowait", names.SpanEncoder: "thread_state_running", names.SpanCommit: "rail_response",
	names.SpanWait: "thread_state_sleeping", names.SpanQueued: "grey", names.SpanGPU: "rail_animation",
	names.SpanRecord: "generic_work", names.SpanPrefill: "rail_load", names.SpanStep: "good", names.SpanRepeat: "good",
	names.SpanRead: "rail_idle", names.SpanBuild: "startup", KindOperation: "cq_build_passed",
}

// Write writes the timeline in the Trace Event Format: JSON, times in microseconds.
// The Trace Event Format is described in
// docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU; what is
// written is what Perfetto's importer makes no complaint of.
func (t *Timeline) Write(w io.Writer) error {
	e := &encoder{w: bufio.NewWriter(w)}
	e.head(t)
	for _, p := range t.Processes {
		e.process(p)
		for i, r := range p.Tracks {
			e.track(p, r, i)
			for _, s := range r.Slices {
				e.slice(p, r, s)
			}
		}
		for _, c := range p.Counters {
			for _, x := range c.Points {
				e.point(p, c, x)
			}
		}
	}
	e.notes(t)
	e.text("\n]}\n")
	if e.err == nil {
		e.err = e.w.Flush()
	}
	return e.err
}

// encoder writes events. Its first error stays.
type encoder struct {
	w    *bufio.Writer
	buf  []byte
	some bool
	err  error
}

func (e *encoder) text(s string) {
	if e.err == nil {
		_, e.err = e.w.WriteString(s)
	}
}

// end writes the event that has been put together.
func (e *encoder) end() {
	if e.some {
		e.text(",\n")
	}
	e.some = true
	if e.err == nil {
		_, e.err = e.w.Write(e.buf)
	}
	e.buf = e.buf[:0]
}

// head writes what is known of the timeline, which viewers show as metadata.
func (e *encoder) head(t *Timeline) {
	about := struct {
		Tool    string    `json:"introgen"`
		Notes   []string  `json:"notes,omitempty"`
		LeftOut []LeftOut `json:"left_out,omitempty"`
	}{"timeline", t.Notes, t.LeftOut}
	text, err := json.Marshal(about)
	if err != nil {
		e.err = fmt.Errorf("cannot write a timeline's notes: %w", err)
		return
	}
	e.text(`{"metadata":` + string(text) + `,"traceEvents":[` + "\n")
}

func (e *encoder) process(p *Process) {
	e.meta("process_name", p.ID, p.ID, "name", p.Name, 0)
	e.meta("process_sort_index", p.ID, p.ID, "sort_index", "", p.ID)
}

func (e *encoder) track(p *Process, r *Track, i int) {
	if r.Beside {
		return // it has its name from its slices
	}
	e.meta("thread_name", p.ID, r.ID, "name", r.Name, 0)
	e.meta("thread_sort_index", p.ID, r.ID, "sort_index", "", i)
}

func (e *encoder) meta(what string, pid, tid int, key, text string, n int) {
	b := e.begin("M", what, "", pid, tid)
	b = append(b, `,"args":{"`+key+`":`...)
	if key == "name" {
		b = quoted(b, text)
	} else {
		b = strconv.AppendInt(b, int64(n), 10)
	}
	e.buf = append(b, "}}"...)
	e.end()
}

// begin begins an event with what all have.
func (e *encoder) begin(phase, name, kind string, pid, tid int) []byte {
	b := append(e.buf, `{"ph":"`+phase+`","pid":`...)
	b = strconv.AppendInt(b, int64(pid), 10)
	b = append(b, `,"tid":`...)
	b = strconv.AppendInt(b, int64(tid), 10)
	b = append(b, `,"name":`...)
	b = quoted(b, name)
	if kind != "" {
		b = append(b, `,"cat":`...)
		b = quoted(b, kind)
	}
	return b
}

// slice writes a slice, and behind it where the way of a command buffer touches it:
// an arrow belongs to the slice that began last on its track.
func (e *encoder) slice(p *Process, r *Track, s *Slice) {
	switch {
	case r.Beside:
		b := e.begin("b", s.Name, s.Kind, p.ID, r.ID)
		b = id(at(b, "ts", s.Start), r, s)
		e.buf = e.args(b, s)
		e.end()
		b = e.begin("e", s.Name, s.Kind, p.ID, r.ID)
		e.buf = append(id(at(b, "ts", s.End), r, s), '}')
		e.end()
		return
	case s.Instant:
		b := append(at(e.begin("i", s.Name, s.Kind, p.ID, r.ID), "ts", s.Start), `,"s":"t"`...)
		e.buf = e.args(b, s)
		e.end()
		return
	}
	b := at(e.begin("X", s.Name, s.Kind, p.ID, r.ID), "ts", s.Start)
	b = at(b, "dur", s.End-s.Start)
	if c := colors[s.Kind]; c != "" {
		b = append(b, `,"cname":"`+c+`"`...)
	}
	e.buf = e.args(b, s)
	e.end()
	if s.Flow == 0 {
		return
	}
	phase := map[Way]string{WayBegin: "s", WayStep: "t", WayEnd: "f"}[s.Way]
	b = at(e.begin(phase, "command buffer", "flow", p.ID, r.ID), "ts", s.Start)
	b = append(b, `,"id":`...)
	b = strconv.AppendInt(b, int64(s.Flow), 10)
	if s.Way == WayEnd {
		b = append(b, `,"bp":"e"`...)
	}
	e.buf = append(b, '}')
	e.end()
}

// id tells slices of a track apart on which they overlap, within their process.
func id(b []byte, r *Track, s *Slice) []byte {
	b = append(b, `,"id2":{"local":"`...)
	b = strconv.AppendInt(b, int64(r.ID), 16)
	b = append(b, '-')
	b = strconv.AppendInt(b, int64(s.number), 16)
	return append(b, `"}`...)
}

// args writes what is known of a slice, and ends the event.
func (e *encoder) args(b []byte, s *Slice) []byte {
	if len(s.Args) > 0 {
		b = append(b, `,"args":{`...)
		for i, a := range s.Args {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(quoted(b, a.Key), ':')
			if a.IsText {
				b = quoted(b, a.Text)
			} else {
				b = strconv.AppendInt(b, a.Number, 10)
			}
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

func (e *encoder) point(p *Process, c *Counter, x Point) {
	if math.IsNaN(x.Value) || math.IsInf(x.Value, 0) {
		return // JSON has no number for it
	}
	b := at(e.begin("C", c.Name, "", p.ID, p.ID), "ts", x.At)
	b = append(quoted(append(b, `,"args":{`...), c.Unit), ':')
	b = strconv.AppendFloat(b, x.Value, 'f', -1, 64)
	e.buf = append(b, "}}"...)
	e.end()
}

// notes writes the notes as a process of its own too, since not every viewer shows
// the metadata.
func (e *encoder) notes(t *Timeline) {
	if len(t.Notes) == 0 {
		return
	}
	const most = 30
	p := &Process{ID: len(t.Processes) + 1, Name: "notes of introgen"}
	r := &Track{ID: t.trackID(), Name: "notes"}
	e.process(p)
	e.track(p, r, 0)
	for i, note := range t.Notes[:min(most, len(t.Notes))] {
		e.slice(p, r, &Slice{Name: fmt.Sprintf("note %d", i+1), Kind: KindNote, Instant: true, Start: time.Duration(i), Args: []Arg{text("note", note)}})
	}
}

// at writes a time in microseconds, to the nanosecond.
func at(b []byte, key string, t time.Duration) []byte {
	b = append(b, `,"`+key+`":`...)
	if t < 0 { // the run began before its plan did, as a clock that was changed has it
		b, t = append(b, '-'), -max(t, -math.MaxInt64)
	}
	b = strconv.AppendInt(b, int64(t/time.Microsecond), 10)
	if ns := int64(t % time.Microsecond); ns != 0 {
		b = append(b, '.', byte('0'+ns/100), byte('0'+ns/10%10), byte('0'+ns%10))
	}
	return b
}

// quoted writes a text as JSON does. Most texts are names without anything that
// would have to be escaped.
func quoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil { // of a string there is none
				text = []byte(`""`)
			}
			return append(b, text...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
