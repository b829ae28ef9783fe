package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// section is what one run of the experiment printed.
type section struct {
	arm, command string
	lines        []string
}

var (
	heading = regexp.MustCompile(`^# arm (\S+): (.*)$`)
	phases  = regexp.MustCompile(`^\[(?:cpu|metal) round (\d+)\] read gguf (\S+) ms, build model (\S+) ms, prefill \((\d+) tokens\) (\S+) ms, (\d+) decode steps (\S+) ms`)
	steps   = regexp.MustCompile(`^\[(?:cpu|metal) round (\d+)\] decode steps \(ms\): (.*)$`)
	text    = regexp.MustCompile(`^\[(?:cpu|metal) round (\d+)\] text: (".*")$`)
	device  = regexp.MustCompile(`^\[metal\] Device::new_metal (\S+) ms$`)
	phase   = regexp.MustCompile(`^--- metal round 1: (.*)$`)
	lib     = regexp.MustCompile(`^LIB +(\S+) (\S+) ms$`)
	pipe    = regexp.MustCompile(`^PIPE (\S+) (\S+) (\S+) ms$`)
)

// buffersPerStep is how many command buffers a decode step of 605 operations
// makes, by operations a buffer: ⌈605/N⌉.
func buffersPerStep(perBuffer int) int { return (605 + perBuffer - 1) / perBuffer }

const dispatchesPerStep = 604

// convert returns the files by their names.
func convert(text string) (map[string][]byte, error) {
	var sections []section
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := heading.FindStringSubmatch(line); m != nil {
			command, _, _ := strings.Cut(m[2], ",") // what follows is a remark
			sections = append(sections, section{arm: m[1], command: command})
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if len(sections) == 0 {
			return nil, fmt.Errorf("%q stands before the first arm", line)
		}
		last := &sections[len(sections)-1]
		last.lines = append(last.lines, line)
	}
	out := map[string][]byte{}
	for _, f := range []struct {
		name, command, factor string
		sweep                 bool
	}{{"experiment-states.introgen", "compare", "cache", false}, {"experiment-sweep.introgen", "sweep", "per-buffer", true}} {
		var runs []section
		for _, s := range sections {
			if strings.HasPrefix(s.arm, "per-buffer=") == f.sweep {
				runs = append(runs, s)
			}
		}
		lines, err := plan(f.command, f.factor, runs)
		if err != nil {
			return nil, err
		}
		out[f.name] = lines
	}
	return out, nil
}

func header(command string, args ...string) *recording.Header {
	return &recording.Header{
		Format: recording.Format, Version: recording.Version, Tool: recording.Tool{Version: "figures of the experiment"},
		Command: command, Args: append([]string{}, args...), Knobs: []recording.Knob{}, Clock: 1, Host: recording.Host{OS: "darwin", Arch: "arm64"},
		Model: recording.Model{File: "SmolLM2-135M-Instruct-Q8_0.gguf", Bytes: 144811360, Types: "211 Q8_0 + 61 F32"},
	}
}

// plan is the file of a plan of one block.
func plan(command, factor string, sections []section) ([]byte, error) {
	p := &recording.Plan{Blocks: 1, Order: "random", Factors: []string{factor}}
	events := []recording.Event{header(command), p,
		&recording.Note{Text: "made from the figures that the experiment printed; no recording of a run of introgen"}}
	for i, s := range sections {
		arm := recording.Arm{Name: s.arm, Args: strings.Fields(s.command), Levels: map[string]string{factor: s.arm}}
		if name, level, ok := strings.Cut(s.arm, "="); ok {
			arm.State, arm.Levels = recording.StateWarmCache, map[string]string{name: level}
		} else {
			arm.State = s.arm
		}
		p.Arms = append(p.Arms, arm)
		run, end, err := s.run()
		if err != nil {
			return nil, fmt.Errorf("arm %s: %w", s.arm, err)
		}
		events = append(events, &recording.Start{Run: i + 1, Block: 1, Arm: s.arm})
		events = append(events, run...)
		events = append(events, &recording.End{At: end}, &recording.Exit{Run: i + 1, Spawned: 1, Reaped: 1 + end})
	}
	events = append(events, &recording.End{})
	var out []byte
	for _, e := range events {
		var err error
		if out, err = recording.Encode(out, e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// writer lays out spans one after the other.
type writer struct {
	events []recording.Event
	next   trace.ID
	at     int64
}

func (w *writer) span(parent trace.ID, name, detail string, n, from, to int64) trace.ID {
	w.next++
	w.events = append(w.events, &recording.Span{Record: trace.Record{
		ID: w.next, Parent: parent, Name: name, Detail: detail, N: n, Start: time.Duration(from), End: time.Duration(to)}})
	return w.next
}

// ns turns printed milliseconds into nanoseconds.
func ns(ms string) (int64, error) {
	f, err := strconv.ParseFloat(ms, 64)
	return int64(f*1e6 + 0.5), err
}

// figures are what one round's lines say.
type figures struct {
	read, build, prefill, decode int64
	prompt, count                int
	steps                        []int64
	text                         string
}

// run is the events of one section, and the time at its end.
func (s section) run() ([]recording.Event, int64, error) {
	rounds, compiles, opened, err := s.read()
	if err != nil {
		return nil, 0, err
	}
	fields := strings.Fields(s.command)
	at := slices.IndexFunc(fields, func(f string) bool { return f == "cpu" || f == "metal" })
	w := &writer{events: []recording.Event{header(fields[at], fields[at:]...)}}
	if opened > 0 {
		w.span(0, names.SpanDevice, "", 0, 0, opened)
		w.at = opened
	}
	for _, n := range slices.Sorted(maps.Keys(rounds)) {
		r := rounds[n]
		if r.steps == nil {
			for range r.count {
				r.steps = append(r.steps, r.decode/int64(r.count))
			}
		}
		if n > 1 {
			compiles = nil
		}
		w.round(n, r, compiles, s.arm)
	}
	return w.events, w.at, nil
}

func (w *writer) round(n int, r *figures, compiles map[string][]compile, arm string) {
	whole := r.read + r.build + r.prefill
	for _, d := range r.steps {
		whole += d
	}
	round := w.span(0, names.SpanRound, "", int64(n), w.at, w.at+whole)
	phase := func(name, key string, n, took int64) trace.ID {
		id := w.span(round, name, "", n, w.at, w.at+took)
		at := w.at
		for _, c := range compiles[key] {
			span := w.span(id, c.kind, c.detail, 0, at, at+c.took)
			library, function, isPipe := strings.Cut(c.detail, " ")
			if isPipe {
				w.events = append(w.events, &recording.Pipeline{Span: span, Library: library, Function: function, Cache: "miss"})
			} else {
				w.events = append(w.events, &recording.Library{Span: span, Name: library, Cache: "miss"})
			}
			at += c.took
		}
		w.at += took
		return id
	}
	phase(names.SpanRead, names.SpanRead, 0, r.read)
	phase(names.SpanBuild, names.SpanBuild, 0, r.build)
	phase(names.SpanPrefill, names.SpanPrefill, int64(r.prompt), r.prefill)
	_, level, sweep := strings.Cut(arm, "=")
	perBuffer, _ := strconv.Atoi(level)
	for i, took := range r.steps {
		id := phase(names.SpanStep, fmt.Sprintf("%s %d", names.SpanStep, i+1), int64(i+1), took)
		if sweep {
			for _, c := range []trace.Sample{{Name: names.CountCommandBuffers, Value: int64(buffersPerStep(perBuffer))}, {Name: names.CountDispatches, Value: dispatchesPerStep}} {
				c.Span, c.At = id, time.Duration(w.at)
				w.events = append(w.events, &recording.Count{Sample: c})
			}
		}
	}
	w.events = append(w.events, &recording.Round{Number: n, Span: round, Prompt: r.prompt, Text: r.text})
}
