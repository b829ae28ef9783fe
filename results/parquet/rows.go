package parquet

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/answers/sweep"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/results/view"
)

// Of are the columns that say which run a row is of. Both tables have them.
type Of struct {
	File    string  `parquet:"file,dict"`
	Run     int32   `parquet:"run"`     // its number in the plan, or in the file
	Process int32   `parquet:"process"` // 0; of those that a recorded program started from 1 on
	Plan    *string `parquet:"plan,optional,dict"`
	Block   *int32  `parquet:"block,optional"`
	Arm     *string `parquet:"arm,optional,dict"`
	Counts  bool    `parquet:"counts"`
	Command string  `parquet:"command,dict"`
	Model   *string `parquet:"model,optional,dict"`  // a recorded program has none
	Device  *string `parquet:"device,optional,dict"` // "cpu", or the Metal driver; a program that never used Metal has none
	State   string  `parquet:"state,dict"`           // that its arm claims, else that its evidence shows
	// CommandsPerBuffer is how many operations a command buffer holds; of runs to
	// which that was said.
	CommandsPerBuffer *int64            `parquet:"commands_per_buffer,optional"`
	Knobs             map[string]string `parquet:"knobs" parquet-key:",dict" parquet-value:",dict"`
	Levels            map[string]string `parquet:"levels" parquet-key:",dict" parquet-value:",dict"`
}

// Sample is a row of the table of samples.
type Sample struct {
	Of
	Round  *int32 `parquet:"round,optional"`
	Speaks bool   `parquet:"speaks"`
	What   string `parquet:"what,dict"`
	Name   string `parquet:"name,dict"`
	Number *int64 `parquet:"number,optional"`
	Time   int64  `parquet:"ns"`
	Cache  string `parquet:"cache,dict"`
}

// columns are those of a run; its plan is told by outer, which is the run itself or
// that whose program started it.
func columns(f *recording.File, outer, r *recording.Run, number int) Of {
	o := Of{Run: int32(number), Counts: r.Counts(), Command: sanitize.Line(r.Header.Command), Model: said(r.Header.Model.File),
		Device: device(r), Knobs: map[string]string{}, Levels: map[string]string{}}
	if outer != r {
		o.Counts = outer.Counts() && o.Counts
	}
	for _, k := range r.Header.Knobs {
		o.Knobs[sanitize.Line(k.Name)] = sanitize.Line(k.Value)
	}
	arm := recording.Arm{}
	if s := outer.Start; s != nil {
		block := int32(s.Block)
		o.Run, o.Block, o.Arm = int32(s.Run), &block, said(s.Arm)
		if f.Plan != nil {
			if i := slices.IndexFunc(f.Plan.Arms, func(a recording.Arm) bool { return a.Name == s.Arm }); i >= 0 {
				arm = f.Plan.Arms[i]
			}
		}
	}
	if f.Header != nil {
		o.Plan = said(f.Header.Command)
	}
	o.State = sanitize.Line(cmp.Or(arm.State, samples.Shown(r)))
	for factor, level := range arm.Levels {
		o.Levels[sanitize.Line(factor)] = sanitize.Line(level)
	}
	o.CommandsPerBuffer = perBuffer(r, arm)
	return o
}

// device is what a run computed on: of an engine of introgen its command, where
// nothing says more.
func device(r *recording.Run) *string {
	switch {
	case r.Device != nil:
		return said(r.Device.Driver)
	case r.Header.Program != nil:
		return nil
	}
	return said(r.Header.Command)
}

// said is a text, sanitized, or nil where it is none.
func said(s string) *string {
	if s == "" {
		return nil
	}
	s = sanitize.Line(s)
	return &s
}

// candleVariable says to candle what --commands-per-buffer says to introgen.
const candleVariable = "CANDLE_METAL_COMPUTE_PER_BUFFER"

// perBuffer is how many operations a command buffer holds: as the run's own knob
// says, else as its plan does, by a level or a variable of the program.
func perBuffer(r *recording.Run, arm recording.Arm) *int64 {
	knob, _ := r.Header.Knob("commands-per-buffer")
	for _, text := range []string{knob, arm.Levels[sweep.PerBuffer], arm.Levels[candleVariable], arm.Env[candleVariable], r.Header.Environment[candleVariable]} {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return &n
		}
	}
	return nil
}

// samples puts the rows of the run: those of the view of that name.
func (r *run) samples(put func(Sample) error) error {
	speak := map[int]bool{}
	for _, round := range r.taken.Later() {
		speak[round.Number] = true
	}
	for s := range view.Samples(r.taken) {
		row := Sample{Of: r.of, Round: positive[int32](s.Round), Speaks: speak[s.Round], What: sanitize.Line(s.What), Name: sanitize.Line(s.Name),
			Number: positive[int64](s.Number), Time: int64(s.Time), Cache: sanitize.Line(s.Cache)}
		if err := put(row); err != nil {
			return err
		}
	}
	return nil
}

// positive is a number from 1 on, or nil where it is none.
func positive[N int32 | int64](n int) *N {
	if n < 1 {
		return nil
	}
	v := N(n)
	return &v
}
