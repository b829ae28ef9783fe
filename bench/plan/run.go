package plan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/bench/plan/taint"
	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/system/machine"
)

// runner carries a plan out.
type runner struct {
	Options
	file    *recording.File
	parent  *recording.Run
	runs    int // begun
	refused int
	started bool              // whether anything has run: a cooldown comes between runs
	before  recording.Machine // the latest reading
	waited  bool              // since then
	left    map[string]string // arms that were left out, and why their last run did not count
	barren  map[string]int    // blocks in which an arm had no run that counts, so far without any that does
	counted map[string]int    // runs, by arm
	mhz     []float64         // the clock after each run
	pace    pace
	origin  time.Duration // the executor's time when the plan began
}

func newRunner(o Options) *runner {
	parent := &recording.Run{Header: o.Header}
	return &runner{
		Options: o,
		parent:  parent,
		file:    &recording.File{Header: &parent.Header, Plan: &o.Plan, Parent: parent},
		left:    map[string]string{},
		barren:  map[string]int{},
		counted: map[string]int{},
		pace:    newPace(o),
		origin:  o.Executor.Now(),
	}
}

// write writes to the plan's recording, where there is one.
func (r *runner) write(what func(Sink) error) error {
	if r.Out == nil {
		return nil
	}
	if err := what(r.Out); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	return nil
}

// put writes an event of the plan's own.
func (r *runner) put(e recording.Event) error {
	return r.write(func(s Sink) error { return s.Put(e) })
}

func (r *runner) flush() error { return r.write(Sink.Flush) }

// note keeps something that a reader of the plan must know.
func (r *runner) note(format string, a ...any) error {
	n := recording.Note{Text: fmt.Sprintf(format, a...)}
	r.parent.Notes = append(r.parent.Notes, n)
	return r.put(&n)
}

// reading takes a reading of the machine between runs.
func (r *runner) reading() error {
	return r.keep(r.Executor.Machine())
}

// keep keeps a reading, which stands before what comes next.
func (r *runner) keep(m recording.Machine) error {
	m.At = r.now()
	r.before, r.waited = m, false
	r.parent.Machine = append(r.parent.Machine, m)
	return r.put(&m)
}

// elapsed is the time since the plan began.
func (r *runner) elapsed() time.Duration { return r.Executor.Now() - r.origin }

// now is the time on the clock of the plan's own recording.
func (r *runner) now() int64 {
	if clock := machine.Clock(); clock > 0 && r.Header.Clock > 0 {
		return clock - r.Header.Clock
	}
	return int64(r.elapsed())
}

func (r *runner) begin() error {
	return errors.Join(r.put(&r.parent.Header), r.put(r.file.Plan), r.reading(), r.flush())
}

// end writes the last event. The error of the plan is err.
func (r *runner) end(ctx context.Context, err error) error {
	code, text := 0, ""
	if err != nil {
		code, text = 1, err.Error()
		if ctx.Err() != nil {
			code, text = 130, "interrupted"
		}
	}
	e := &recording.End{At: r.now(), Code: code, Error: text}
	e.MajorFaults, e.MinorFaults = machine.Faults()
	r.parent.End, r.file.PlanEnd = e, e
	r.tell("end", recording.Arm{}, 0)
	failed := r.put(e)
	if failed == nil {
		failed = r.flush()
	}
	if err != nil {
		failed = nil // what ended the plan is said once
	}
	return errors.Join(failed, r.Executor.Close())
}

func (r *runner) tell(doing string, arm recording.Arm, block int) {
	if r.Progress == nil {
		return
	}
	elapsed := r.elapsed()
	r.Progress(Progress{Doing: doing, Arm: arm.Name, Block: block, Blocks: r.Max, Run: r.runs, Refused: r.refused,
		Elapsed: elapsed, Left: r.pace.left(elapsed)})
}

// prime fills the caches that arms are to find full or half full. Arms with one
// command line and environment share a run.
func (r *runner) prime(ctx context.Context) error {
	done := map[string]bool{}
	for _, arm := range r.Plan.Arms {
		if arm.State != recording.StateWarmCache && arm.Cache != CacheHalf || arm.Cache == CachePrepared {
			continue
		}
		key := fillKey(arm)
		if done[key] {
			continue
		}
		done[key] = true
		r.tell("fill", arm, 0)
		out := r.Executor.Run(ctx, Child{Arm: arm, Fill: true, Timeout: r.Timeout})
		r.started = true
		if ctx.Err() != nil {
			return ctx.Err()
		}
		why := failure(out, r.Timeout)
		if out.Code == usageCode {
			return &UsageError{arm.Name, why.text}
		}
		if why.code != "" {
			if err := r.note("arm %q: the run that fills its cache %s", arm.Name, why.text); err != nil {
				return err
			}
		}
	}
	return r.reading()
}

// fillKey is the same for arms that the same run fills the cache of.
func fillKey(arm recording.Arm) string {
	return fmt.Sprintf("%q %v %s", arm.Args, arm.Env, arm.Cache)
}

// blocks runs block after block until there are enough.
func (r *runner) blocks(ctx context.Context) error {
	r.pace.began = r.elapsed()
	for block := 1; ; block++ {
		for _, i := range Sequence(r.Plan.Order, r.Plan.Seed, block, len(r.Plan.Arms)) {
			arm := r.Plan.Arms[i]
			if _, left := r.left[arm.Name]; left {
				continue
			}
			if err := r.slot(ctx, block, arm); err != nil {
				return err
			}
		}
		if len(r.left) == len(r.Plan.Arms) {
			return r.nothingCounts()
		}
		r.pace.blockDone(r.elapsed())
		if done, err := r.enough(block); done {
			return err
		}
	}
}

// nothingCounts says why no arm has a run that counts, each reason once.
func (r *runner) nothingCounts() error {
	var told, why []string
	for _, arm := range r.Plan.Arms {
		if reason := r.left[arm.Name]; !slices.Contains(told, reason) {
			told = append(told, reason)
			why = append(why, fmt.Sprintf("the last of %q %s", arm.Name, reason))
		}
	}
	return fmt.Errorf("no arm has a run that counts: %s", strings.Join(why, "; "))
}

// slot makes the run of an arm in a block, and makes it again where it does
// not count, unless it hung.
func (r *runner) slot(ctx context.Context, block int, arm recording.Arm) error {
	for try := 0; ; try++ {
		if err := r.pauseBefore(ctx, block, arm); err != nil {
			return err
		}
		run, hung, err := r.once(ctx, block, arm)
		if err != nil {
			return err
		}
		if run.Counts() {
			r.counted[arm.Name]++
			r.barren[arm.Name] = 0
			return nil
		}
		if try < repeats && !hung {
			continue
		}
		r.barren[arm.Name]++
		if r.counted[arm.Name] == 0 && r.barren[arm.Name] == giveUp {
			r.left[arm.Name] = run.Exit.Refused
			return r.note("arm %q is left out from here on: in %d blocks no run of it counts, the last because it %s",
				arm.Name, giveUp, run.Exit.Refused)
		}
		return nil
	}
}

func (r *runner) pauseBefore(ctx context.Context, block int, arm recording.Arm) error {
	r.waited = r.waited || r.started && r.Cooldown > 0 || r.Prepare != ""
	if r.started && r.Cooldown > 0 {
		r.tell("cooldown", arm, block)
		if err := r.Executor.Pause(ctx, r.Cooldown); err != nil {
			return err
		}
	}
	r.started = true
	if r.Prepare != "" {
		r.tell("prepare", arm, block)
		if err := r.prepare(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// prepare runs the user's command, which may take as long as a run.
func (r *runner) prepare(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	err := r.Executor.Prepare(limited, r.Prepare)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("it had not ended after %v", r.Timeout)
	}
	return fmt.Errorf("the command to prepare a run, %q: %w", r.Prepare, err)
}

// once makes one run and keeps it, whatever came of it.
func (r *runner) once(ctx context.Context, block int, arm recording.Arm) (run *recording.Run, hung bool, err error) {
	if r.waited {
		if err := r.reading(); err != nil {
			return nil, false, err
		}
	}
	before := r.before
	r.runs++
	start := &recording.Start{Run: r.runs, Block: block, Arm: arm.Name}
	if err := errors.Join(r.put(start), r.flush()); err != nil {
		return nil, false, err
	}
	r.tell("run", arm, block)
	began := r.elapsed()
	out := r.Executor.Run(ctx, Child{Run: r.runs, Block: block, Arm: arm, Timeout: r.Timeout})
	r.pace.ran(arm.Name, r.elapsed()-began)

	after := r.Executor.Machine()
	run, broken := read(out.Recording)
	run.Start = start
	run.Exit = &recording.Exit{Run: r.runs, Spawned: out.Spawned, Reaped: out.Reaped, Code: out.Code,
		Signal: out.Signal, Error: out.Error, MaxRSS: out.MaxRSS, Prepared: out.Prepared}
	interrupted := ctx.Err() != nil
	if why := r.refusal(arm, run, out, broken); why.code != "" {
		r.refused++
		if interrupted {
			why = refusal{recording.RefusedInterrupted, "was interrupted"}
		}
		run.Exit.RefusedCode, run.Exit.Refused = why.code, why.text
	} else {
		run.Exit.Taint(taint.Of(taint.Ended{Run: run, Cores: r.Header.Host.Cores, Before: before, After: after, MHz: r.mhz})...)
	}
	r.mhz = append(r.mhz, after.MHz)
	r.file.Runs = append(r.file.Runs, run)
	if err := r.copy(out.Recording, run.Exit); err != nil {
		return nil, false, err
	}
	if err := r.keep(after); err != nil {
		return nil, false, err
	}
	if err := r.flush(); err != nil {
		return nil, false, err
	}
	if interrupted {
		return nil, false, ctx.Err()
	}
	if out.Code == usageCode && r.counted[arm.Name] == 0 && run.Header.Program == nil { // a program's codes are its own
		return nil, false, &UsageError{arm.Name, lastLine(out.Error)}
	}
	return run, out.Hung, nil
}

// usageCode is the exit code of introgen where the command line is wrong.
const usageCode = 2

// refusal is why a run does not count: one of the recording's codes, and a
// sentence whose subject is the run. The zero value is that it does.
type refusal struct{ code, text string }

func (r *runner) refusal(arm recording.Arm, run *recording.Run, out Outcome, broken string) refusal {
	why := failure(out, r.Timeout)
	switch {
	case why.code == recording.RefusedExit && run.Header.Program != nil && run.End != nil && run.End.Signal != "":
		return refusal{recording.RefusedSignal, "was ended by the signal " + run.End.Signal + behind(out.Error)}
	case why.code != "":
		return why
	case broken != "":
		return refusal{recording.RefusedRecording, "left a recording that cannot be used: " + broken}
	case run.End == nil:
		return refusal{recording.RefusedRecording, "left a recording without an end"}
	case run.End.Code != 0:
		return refusal{recording.RefusedRecording, fmt.Sprintf("left a recording that ends with code %d", run.End.Code)}
	}
	if err := Check(arm.State, arm, run); err != nil {
		return refusal{recording.RefusedEvidence, "was " + err.Error()}
	}
	return refusal{}
}

// failure is what went wrong with a process.
func failure(out Outcome, timeout time.Duration) refusal {
	said := behind(out.Error)
	switch {
	case out.Hung:
		return refusal{recording.RefusedHung, fmt.Sprintf("hung: it had not ended after %v", timeout)}
	case out.Signal != "":
		return refusal{recording.RefusedSignal, "was ended by the signal " + out.Signal + said}
	case out.Code < 0:
		return refusal{recording.RefusedStart, "could not be started" + said}
	case out.Code != 0:
		return refusal{recording.RefusedExit, fmt.Sprintf("ended with exit code %d%s", out.Code, said)}
	}
	return refusal{}
}

// behind is what a process said last, as it stands behind how it ended.
func behind(text string) string {
	if said := lastLine(text); said != "" {
		return ": " + said
	}
	return ""
}

// own begins the lines that introgen writes on stderr, and note those by which it
// explains a run: it says them last, and they are not why a program failed.
const (
	own  = "introgen: "
	note = own + "note: "
)

// where are the lines of a Rust program's backtrace, which stand behind what went
// wrong and say where.
var where = regexp.MustCompile(`^(\s+[0-9]+: |\s+at |(?i:stack backtrace:)|note: )`)

// lastLine is what a process said last on stderr, as it is shown to people; of
// introgen without its name. What went wrong is told by the exit code.
func lastLine(text string) string {
	last := ""
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, note) {
			continue
		}
		if !where.MatchString(line) {
			return strings.TrimSpace(strings.TrimPrefix(line, own))
		}
		if last == "" {
			last = strings.TrimSpace(line) // all that there is, it may be
		}
	}
	return last
}

// read is the child's own recording; a run without any event where nothing can
// be read of it.
func read(text []byte) (run *recording.Run, broken string) {
	f, err := recording.Read(bytes.NewReader(text), "the child's recording")
	switch {
	case err != nil:
		return &recording.Run{}, err.Error()
	case len(f.Runs) == 0:
		return &recording.Run{}, "nothing is in it"
	case len(f.Runs) > 1 && f.Plan == nil && childrenOnly(f.Runs[1:]):
		f.Runs[0].Children = f.Runs[1:]
	case len(f.Runs) != 1 || f.Plan != nil:
		return &recording.Run{}, fmt.Sprintf("it holds %d runs", len(f.Runs))
	}
	return f.Runs[0], f.Broken
}

// childrenOnly says whether all runs are of processes that a recorded program
// started itself.
func childrenOnly(runs []*recording.Run) bool {
	return !slices.ContainsFunc(runs, func(r *recording.Run) bool { return r.Header.Program == nil || r.Header.Program.Parent == 0 })
}

// copy writes the child's whole lines as they are, and its exit behind them.
func (r *runner) copy(text []byte, exit *recording.Exit) error {
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // cut off; the exit says so
		}
		if err := r.write(func(s Sink) error { return s.PutLine(line) }); err != nil {
			return err
		}
	}
	return r.put(exit)
}

// enough says whether the plan ends after so many blocks.
func (r *runner) enough(block int) (done bool, err error) {
	if r.Plan.Until > 0 && block >= r.Min {
		width, known := Width(r.file, r.Metric)
		if known && width <= r.Plan.Until {
			return true, nil
		}
		if block >= r.Max {
			return true, r.undecided(fmt.Sprintf("the most blocks, %d, are done", block), width, known)
		}
	}
	if block >= r.Max {
		return true, nil
	}
	if r.MaxTime > 0 && r.elapsed()+r.pace.block() > r.MaxTime {
		why := fmt.Sprintf("another block would not end within %v (--max-time)", r.MaxTime)
		if r.Plan.Until > 0 {
			width, known := Width(r.file, r.Metric)
			return true, r.undecided(why, width, known)
		}
		return true, r.note("ended after %d of %d blocks: %s", block, r.Max, why)
	}
	return false, nil
}

// undecided ends a plan that did not reach the width it was to reach.
func (r *runner) undecided(why string, width float64, known bool) error {
	is := "no interval exists yet"
	if known {
		is = fmt.Sprintf("the widest interval is %s of its middle, %s was wanted", figures.Percent(width), figures.Percent(r.Plan.Until))
	}
	return r.note("not decided: %s; %s", why, is)
}
