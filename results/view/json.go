package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// JSON writes a recording as one JSON object, without its spans: those of each
// run put together to phases. Times are in nanoseconds, null where they are not
// recorded.
func JSON(w io.Writer, f *recording.File) error {
	type phases struct {
		Round        int                 `json:"round"`
		PromptTokens int                 `json:"prompt_tokens"`
		PromptIDs    []int32             `json:"prompt_ids,omitempty"`
		Wall         *time.Duration      `json:"wall_ns"`
		Read         *time.Duration      `json:"read_ns"`
		Build        *time.Duration      `json:"build_ns"`
		Prefill      *time.Duration      `json:"prefill_ns"`
		Steps        []*time.Duration    `json:"steps_ns"` // step n at n-1
		IDs          []int32             `json:"ids"`
		Text         string              `json:"text"`
		Bytes        []byte              `json:"text_bytes,omitempty"` // where they are no UTF-8
		Top          [][]recording.Logit `json:"top,omitempty"`
		Error        string              `json:"error,omitempty"`
	}
	type compiled struct {
		Library   string        `json:"library"`
		Function  string        `json:"function,omitempty"`
		Constants string        `json:"constants,omitempty"`
		Bytes     int           `json:"source_bytes,omitempty"`
		Kernels   int           `json:"kernels,omitempty"`
		Time      time.Duration `json:"ns"`
		Cache     string        `json:"cache"`
	}
	// device is what a phase did on the device.
	type device struct {
		Round      int           `json:"round"`
		Phase      string        `json:"phase"` // with the number of a decode step
		Compile    time.Duration `json:"compile_ns"`
		Weights    time.Duration `json:"weights_ns"`
		Encode     time.Duration `json:"encode_ns"`
		Commit     time.Duration `json:"commit_ns"`
		Wait       time.Duration `json:"wait_ns"`
		GPU        time.Duration `json:"gpu_ns"`
		Dispatches int64         `json:"dispatches"`
		Encoders   int64         `json:"encoders"`
		Buffers    int64         `json:"command_buffers"`
		Barriers   int64         `json:"barriers,omitempty"`
		Waits      int64         `json:"waits,omitempty"`
	}
	type programPhase struct {
		Phase string        `json:"phase"`
		Start time.Duration `json:"start_ns"`
		Wall  time.Duration `json:"wall_ns"`
	}
	type program struct {
		Wall        *time.Duration       `json:"wall_ns"`
		FirstMetal  *time.Duration       `json:"first_metal_ns"`
		FirstOutput *time.Duration       `json:"first_output_ns"`
		Outputs     []recording.Output   `json:"outputs,omitempty"`
		Phases      []programPhase       `json:"phases"`
		Dispatches  []recording.Dispatch `json:"dispatches,omitempty"`
		Barriers    []recording.Barrier  `json:"barriers,omitempty"`
	}
	type run struct {
		Start      *recording.Start     `json:"start,omitempty"`
		Exit       *recording.Exit      `json:"exit,omitempty"`
		Header     recording.Header     `json:"header"`
		Counts     bool                 `json:"counts"`
		Doubt      string               `json:"doubt,omitempty"` // why it does not, where its plan does not say
		Lost       int                  `json:"lost_spans,omitempty"`
		Subject    *recording.Subject   `json:"subject,omitempty"`
		Device     *recording.Device    `json:"device,omitempty"`
		Rounds     []phases             `json:"rounds"`
		Program    *program             `json:"program,omitempty"` // where one was recorded, which has no rounds
		Libraries  []compiled           `json:"libraries,omitempty"`
		Pipelines  []compiled           `json:"pipelines,omitempty"`
		Phases     []device             `json:"device_phases,omitempty"`
		Kernels    []recording.Kernel   `json:"kernels,omitempty"`
		Operations []ran                `json:"operations,omitempty"`
		Tracks     []busy               `json:"tracks,omitempty"`
		Limits     []*recording.Limit   `json:"limits,omitempty"`
		Evidence   []recording.Evidence `json:"evidence,omitempty"`
		Machine    []recording.Machine  `json:"machine,omitempty"`
		Notes      []recording.Note     `json:"notes,omitempty"`
		End        *recording.End       `json:"end,omitempty"`
		Children   []run                `json:"children,omitempty"` // of a plan's run of a program, those that it started
	}
	out := struct {
		Plan    *recording.Plan     `json:"plan,omitempty"`
		Header  *recording.Header   `json:"header,omitempty"` // of the plan's process, as the next three
		Machine []recording.Machine `json:"machine,omitempty"`
		Notes   []recording.Note    `json:"notes,omitempty"`
		End     *recording.End      `json:"end,omitempty"`
		Runs    []run               `json:"runs"`
		Broken  string              `json:"broken,omitempty"`
		// Warnings are what was skipped, is missing or cannot be.
		Warnings []string `json:"warnings,omitempty"`
	}{Plan: f.Plan, Header: f.Header, Runs: []run{}, Broken: f.Broken, Warnings: f.Warnings}
	if f.Parent != nil {
		out.Machine, out.Notes, out.End = f.Parent.Machine, f.Parent.Notes, f.PlanEnd
	}
	var runOf func(r *recording.Run) run
	runOf = func(r *recording.Run) run {
		one := run{Start: r.Start, Exit: r.Exit, Header: r.Header, Counts: r.Counts(), Doubt: r.Doubt, Lost: r.LostSpans(), Subject: r.Subject, Device: r.Device, Rounds: []phases{},
			Kernels: r.Kernels, Limits: r.Limits, Evidence: r.Evidence, Machine: r.Machine, Notes: r.Notes, End: r.End}
		one.Operations, one.Tracks = executed(r)
		taken := breakdown.Take(r)
		for _, p := range taken.Rounds {
			if !p.Program() {
				continue
			}
			if one.Program == nil {
				one.Program = &program{Wall: recorded(taken.Life()), FirstMetal: recorded(p.FirstMetal), FirstOutput: recorded(p.FirstOutput),
					Outputs: r.Outputs, Phases: []programPhase{}, Dispatches: r.Dispatches, Barriers: r.Barriers}
			}
			for _, x := range p.Phases {
				one.Program.Phases = append(one.Program.Phases, programPhase{x.Title(), x.Start, x.Time()})
			}
		}
		for i, p := range taken.Told {
			if p.Program() {
				break // nobody knows of prompts and tokens
			}
			of, times := p.Event, p.StepTimes()
			steps := make([]*time.Duration, len(times))
			for i, t := range times {
				steps[i] = recorded(t)
			}
			one.Rounds = append(one.Rounds, phases{p.Number, of.Prompt, r.PromptIDs(of.Number), recorded(p.Wall()), recorded(p.Took(names.SpanRead)),
				recorded(p.Took(names.SpanBuild)), recorded(p.Took(names.SpanPrefill)), steps, of.IDs, strings.ToValidUTF8(of.Text, "\uFFFD"), nil, of.Top, of.Error})
			if !utf8.ValidString(of.Text) {
				one.Rounds[i].Bytes = []byte(of.Text)
			}
		}
		m := taken.Metal()
		for _, l := range m.Libraries {
			one.Libraries = append(one.Libraries, compiled{Library: l.Library, Bytes: l.SourceBytes, Kernels: l.Kernels, Time: l.Time, Cache: l.Cache})
		}
		for _, p := range m.Pipelines {
			one.Pipelines = append(one.Pipelines, compiled{Library: p.Library, Function: p.Function, Constants: p.Constants, Time: p.Time, Cache: p.Cache})
		}
		for _, p := range m.Phases {
			d := device{p.Round, p.Title, p.Compiling(), p.Weights, p.Encode, p.Commit, p.Wait, p.GPU, p.Dispatches, p.Encoders, p.CommandBuffers, p.Barriers, p.Waits}
			if d != (device{Round: p.Round, Phase: p.Title}) {
				one.Phases = append(one.Phases, d)
			}
		}
		for _, child := range r.Children {
			one.Children = append(one.Children, runOf(child))
		}
		return one
	}
	for _, r := range f.Runs {
		out.Runs = append(out.Runs, runOf(r))
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	_, err := w.Write(escaped(text.Bytes()))
	return err
}

// recorded is a time, or nil where it is missing.
func recorded(d time.Duration) *time.Duration {
	if d == figures.Missing {
		return nil
	}
	return &d
}

// escaped writes as \u what is no graphic character. Package json does so with
// the control characters of ASCII only; such a rune stands only in strings.
func escaped(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r < 0x7f || unicode.IsGraphic(r) {
			out = append(out, text[:n]...)
		} else {
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		}
		text = text[n:]
	}
	return out
}
