// Package bench decides what is run, in which order and until when. It drives
// an engine through whole generations and has every phase of them recorded by
// package trace; it prints nothing and computes no statistics.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Job is what a run generates, and with what.
type Job struct {
	ModelPath string
	IO        gguf.IO
	Rounds    int // generations in this process, at least 1
	Tokens    int // decode steps of each, at least 0; Tokens+1 new ids come out
	TopLogits int // how many of the largest logits to keep of the first two passes
	Prompt    func() ([]int32, error)
	Build     func(*gguf.File) (engine.Model, error)

	// BeforeRound runs before the clock of round n starts, when nothing of
	// the model is open: to evict it from the page cache, or to print.
	// It may be nil.
	BeforeRound func(n int) error
	// Built is called outside of all phases with the model of each round, to
	// let its description be read. It may be nil.
	Built func(n int, m engine.Model)
	// Passed is called between two passes, outside of all phases, with the
	// round and the decode steps done in it. It may be nil.
	Passed func(round, steps int)
	// Untraced has decode steps, and what happens between them, recorded as one
	// stretch of time: to see what recording them costs.
	Untraced bool
	// Around, where it is not nil, does the work of a phase, inside of its
	// span: to disturb it. phase is the span's name.
	Around func(phase string, work func() error) error
}

// around does the work of a phase.
func (j *Job) around(phase string, work func() error) error {
	if j.Around == nil {
		return work()
	}
	return j.Around(phase, work)
}

// pass is one forward pass. Where nothing is around it, nothing is allocated.
func (j *Job) pass(m engine.Model, phase string, ids []int32, pos int) (int32, error) {
	if j.Around == nil {
		return m.Step(ids, pos)
	}
	return j.passAround(m, phase, ids, pos)
}

func (j *Job) passAround(m engine.Model, phase string, ids []int32, pos int) (next int32, err error) {
	err = j.Around(phase, func() (err error) {
		next, err = m.Step(ids, pos)
		return err
	})
	return next, err
}

// Round is one generation: from opening the file to the last token. Its times
// are the spans below the span Span.
type Round struct {
	Number int
	Span   trace.ID
	Prompt []int32             // ids of the prompt
	IDs    []int32             // the new ids in order; as far as it came
	Top    [][]recording.Logit // largest logits after prefill and after step 1, descending
}

// Run performs the job's rounds one after the other in this process, calling
// each with every round that ended, and with the error that cut it short, if one
// did. The rounds measured so far are returned with the error that ended the
// run; a cancelled context ends it between two passes with context.Canceled.
func Run(ctx context.Context, j Job, rec *trace.Recorder, each func(Round, error)) ([]Round, error) {
	if j.Rounds < 1 || j.Tokens < 0 {
		return nil, fmt.Errorf("a run has at least one round and no negative number of tokens, not %d and %d", j.Rounds, j.Tokens)
	}
	var rounds []Round
	for n := 1; n <= j.Rounds; n++ {
		if err := ctx.Err(); err != nil {
			return rounds, err
		}
		if j.BeforeRound != nil {
			if err := j.BeforeRound(n); err != nil {
				return rounds, err
			}
		}
		r, err := runRound(ctx, j, n, rec)
		rounds = append(rounds, r)
		if each != nil {
			each(r, err)
		}
		if err != nil {
			return rounds, err
		}
	}
	return rounds, nil
}

func runRound(ctx context.Context, j Job, n int, rec *trace.Recorder) (r Round, err error) {
	round := rec.Begin(names.SpanRound, "", int64(n))
	defer round.End()
	r = Round{Number: n, Span: round.ID()}

	phase := func(name, detail string, work func() error) error {
		sp := rec.Begin(name, detail, 0)
		defer sp.End()
		return j.around(name, work)
	}
	closing := func(c io.Closer) {
		sp := rec.Begin(names.SpanClose, "", 0)
		err = errors.Join(err, c.Close())
		sp.End()
	}

	var f *gguf.File
	if err := phase(names.SpanRead, string(j.IO), func() (err error) {
		f, err = gguf.OpenWhole(j.ModelPath, j.IO)
		return err
	}); err != nil {
		return r, err
	}
	defer closing(f)

	var m engine.Model
	if err := phase(names.SpanBuild, "", func() (err error) {
		m, err = j.Build(f)
		return err
	}); err != nil {
		return r, err
	}
	defer closing(m)
	if j.Built != nil {
		j.Built(n, m)
	}

	var ids []int32
	if err := phase(names.SpanEncodePrompt, "", func() (err error) {
		ids, err = j.Prompt()
		return err
	}); err != nil {
		return r, err
	}
	whose := ""
	if b, ok := m.(engine.Bounded); ok {
		whose = b.ContextLimit()
	}
	if err := Fits(len(ids), j.Tokens, m.Context(), whose); err != nil {
		return r, err
	}
	r.Prompt = ids
	return r, blame(f, generate(ctx, j, m, ids, rec, &r))
}

// blame adds to the error of a pass that met numbers that are not finite the
// tensor that holds such a number, if one does. Looking for it reads the whole
// file, so it is only done when there is a reason.
func blame(f *gguf.File, err error) error {
	var bad *engine.NonFiniteError
	if !errors.As(err, &bad) {
		return err
	}
	if cause := f.CheckScales(); cause != nil {
		return fmt.Errorf("%w; %w", err, cause)
	}
	return err
}

// Fits says whether a prompt and the tokens to generate fit into the context,
// and whose limit that is where whose says so. The last new id is never fed
// back, so it takes no position.
func Fits(prompt, tokens, context int, whose string) error {
	if prompt == 0 {
		return errors.New("the prompt is empty: at least one token is needed to begin with")
	}
	if prompt > context || tokens > context-prompt {
		if whose != "" {
			whose = "; " + whose
		}
		return fmt.Errorf("a prompt of %d tokens and %d decode steps do not fit into the context of %d positions: at most %d steps are left%s",
			prompt, tokens, context, max(0, context-prompt), whose)
	}
	return nil
}

func generate(ctx context.Context, j Job, m engine.Model, ids []int32, rec *trace.Recorder, r *Round) error {
	r.IDs = make([]int32, 0, j.Tokens+1)
	input, pos := ids, 0
	next := make([]int32, 1)
	for step := 0; step <= j.Tokens; step++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		phase, n := names.SpanStep, step
		if step == 0 {
			phase, n = names.SpanPrefill, len(ids)
		}
		var sp trace.Span
		if step == 0 || !j.Untraced {
			sp = rec.Begin(phase, "", int64(n))
		}
		id, err := j.pass(m, phase, input, pos)
		sp.End()
		if err != nil {
			if step == 0 {
				return fmt.Errorf("prefill: %w", err)
			}
			return fmt.Errorf("decode step %d: %w", step, err)
		}
		pos += len(input)
		if c, ok := m.(engine.Cached); ok && !j.Untraced {
			rec.Count(names.CountCache, c.CacheBytes())
		}
		r.IDs = append(r.IDs, id)
		if j.Passed != nil {
			j.Passed(r.Number, step)
		}
		next[0], input = id, next
		if j.TopLogits > 0 && step < 2 {
			sp := rec.Begin(names.SpanCheck, "", 0)
			logits, err := m.Logits()
			if err != nil {
				sp.End()
				return err
			}
			r.Top = append(r.Top, Top(logits, j.TopLogits))
			sp.End()
		}
	}
	// An engine may hand out the largest logit's index without a look at the
	// logits: once a round, outside of all phases, they are looked at. What is
	// not finite stays so to the last step, through the keys and values.
	sp := rec.Begin(names.SpanCheck, "", 0)
	defer sp.End()
	if _, err := m.Logits(); err != nil {
		return fmt.Errorf("after decode step %d: %w", j.Tokens, err)
	}
	return nil
}

// Top returns the k largest of logits in descending order, equal ones in
// ascending order of their index.
func Top(logits []float32, k int) []recording.Logit {
	all := make([]recording.Logit, len(logits))
	for i, v := range logits {
		all[i] = recording.Logit{ID: int32(i), Value: v}
	}
	slices.SortStableFunc(all, func(a, b recording.Logit) int {
		switch {
		case a.Value > b.Value:
			return -1
		case a.Value < b.Value:
			return 1
		}
		return 0
	})
	return all[:min(k, len(all))]
}
