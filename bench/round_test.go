package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// fake is a model that answers with the position of its last token, and writes
// down what it was asked.
type fake struct {
	context int
	pause   time.Duration
	failAt  int // the pass that fails, or 0
	passes  []string
	logits  []float32
	closed  bool
	closeBy error
	badBy   error // what Logits answers
}

func (f *fake) Step(ids []int32, pos int) (int32, error) {
	f.passes = append(f.passes, fmt.Sprint(ids, "@", pos))
	time.Sleep(f.pause)
	if len(f.passes) == f.failAt {
		return 0, &engine.NonFiniteError{Layer: 4, Where: "attention", Value: float32(math.NaN())}
	}
	return int32(pos + len(ids)), nil
}

func (f *fake) Logits() ([]float32, error) { return f.logits, f.badBy }
func (f *fake) Context() int               { return f.context }
func (f *fake) Close() error               { f.closed = true; return f.closeBy }

func job(t *testing.T, m *fake) Job {
	return Job{
		ModelPath: modeltest.Path(t, models.Source), IO: gguf.MMap, Rounds: 1, Tokens: 3,
		Prompt: func() ([]int32, error) { return []int32{7, 8, 9}, nil },
		Build:  func(*gguf.File) (engine.Model, error) { return m, nil },
	}
}

func TestRoundFeedsEveryNewTokenBack(t *testing.T) {
	m := &fake{context: 6, logits: []float32{1, 3, 3, 2}}
	j := job(t, m)
	j.TopLogits = 3
	var order []string
	j.BeforeRound = func(n int) error { order = append(order, fmt.Sprint("before ", n)); return nil }
	j.Built = func(n int, _ engine.Model) { order = append(order, fmt.Sprint("built ", n)) }
	j.Passed = func(n, s int) { order = append(order, fmt.Sprint("passed ", n, " ", s)) }
	rounds, err := Run(context.Background(), j, trace.New(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"[7 8 9]@0", "[3]@3", "[4]@4", "[5]@5"}; !slices.Equal(m.passes, want) {
		t.Errorf("passes were %q, want %q", m.passes, want)
	}
	if want := []int32{3, 4, 5, 6}; !slices.Equal(rounds[0].IDs, want) {
		t.Errorf("new ids are %v, want %v", rounds[0].IDs, want)
	}
	if !m.closed {
		t.Error("the model was not closed")
	}
	if len(rounds[0].Top) != 2 {
		t.Fatalf("logits of %d passes, want 2", len(rounds[0].Top))
	}
	if want := []recording.Logit{{ID: 1, Value: 3}, {ID: 2, Value: 3}, {ID: 3, Value: 2}}; !slices.Equal(rounds[0].Top[0], want) {
		t.Errorf("largest logits are %v, want %v", rounds[0].Top[0], want)
	}
	if got, want := strings.Join(order, ", "), "before 1, built 1, passed 1 0, passed 1 1, passed 1 2, passed 1 3"; got != want {
		t.Errorf("hooks ran as %s, want %s", got, want)
	}
}

// TestLogitsAreLookedAt: an engine that hands out indices without a look at
// numbers that are not finite is asked for them, once a round.
func TestLogitsAreLookedAt(t *testing.T) {
	m := &fake{context: 100, badBy: &engine.NonFiniteError{Layer: -1, Where: "output", Value: float32(math.NaN())}}
	rounds, err := Run(context.Background(), job(t, m), trace.New(), nil)
	if err == nil || !errors.Is(err, m.badBy) || !strings.Contains(err.Error(), "after decode step 3: output is NaN") {
		t.Errorf("error %v", err)
	}
	if len(rounds) != 1 || len(rounds[0].IDs) != 4 {
		t.Errorf("rounds %+v, want what was measured", rounds)
	}
}

func TestPhasesAddUpToTheWall(t *testing.T) {
	m := &fake{context: 100, pause: 3 * time.Millisecond}
	j := job(t, m)
	j.Rounds = 2
	rec := trace.New()
	rounds, err := Run(context.Background(), j, rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rounds {
		p := breakdown.Rounds(&recording.Run{Spans: rec.Spans()})[i]
		prefill, _ := p.Phase(names.SpanPrefill)
		if p.Number != i+1 || p.ID != r.Span || prefill.N != 3 || len(p.Steps()) != 3 {
			t.Fatalf("round %d has phases %+v", i+1, p)
		}
		if prefill.Time() < 3*time.Millisecond || slices.Min(p.StepTimes()) < 3*time.Millisecond {
			t.Errorf("passes that sleep 3 ms took %v and %v", prefill.Time(), p.StepTimes())
		}
		at, unattributed := p.Start, p.Wall()
		for _, x := range p.Phases {
			if unattributed -= x.Time(); x.Start < at || x.End > p.End {
				t.Errorf("%s from %v to %v overlaps what is before it, or reaches out of the round that ends at %v", x.Name, x.Start, x.End, p.End)
			}
			at = x.End
		}
		if unattributed < 0 {
			t.Errorf("the phases are longer than the round of %v", p.Wall())
		}
	}
}

func TestErrorsKeepWhatWasMeasured(t *testing.T) {
	boom := errors.New("boom")
	ctx, cancel := context.WithCancel(context.Background())
	for _, c := range []struct {
		name   string
		change func(*Job, *fake)
		ids    int
		want   string
	}{
		{"a step that is not finite", func(_ *Job, m *fake) { m.failAt = 3 }, 2, "decode step 2: attention of layer 4 is NaN"},
		{"a prefill that is not finite", func(_ *Job, m *fake) { m.failAt = 1 }, 0, "prefill: attention"},
		{"a context that is too small", func(j *Job, m *fake) { m.context = 5 }, 0, "3 tokens and 3 decode steps do not fit into the context of 5 positions: at most 2"},
		{"an empty prompt", func(j *Job, _ *fake) { j.Prompt = func() ([]int32, error) { return nil, nil } }, 0, "prompt is empty"},
		{"a prompt that fails", func(j *Job, _ *fake) { j.Prompt = func() ([]int32, error) { return nil, boom } }, 0, "boom"},
		{"a build that fails", func(j *Job, _ *fake) { j.Build = func(*gguf.File) (engine.Model, error) { return nil, boom } }, 0, "boom"},
		{"a close that fails", func(_ *Job, m *fake) { m.closeBy = boom }, 4, "boom"},
		{"a hook that fails", func(j *Job, _ *fake) { j.BeforeRound = func(int) error { return boom } }, -1, "boom"},
		{"an absent file", func(j *Job, _ *fake) { j.ModelPath = "/nowhere/x.gguf" }, 0, "/nowhere/x.gguf"},
		{"an interrupt", func(j *Job, _ *fake) {
			j.Passed = func(_, step int) {
				if step == 1 {
					cancel()
				}
			}
		}, 2, "context canceled"},
		{"no round", func(j *Job, _ *fake) { j.Rounds = 0 }, -1, "at least one round"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &fake{context: 100}
			j := job(t, m)
			c.change(&j, m)
			rec, told := trace.New(), 0
			rounds, err := Run(ctx, j, rec, func(_ Round, cut error) {
				told++
				if cut == nil {
					t.Error("the round does not say what cut it short")
				}
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error is %v, want one with %q", err, c.want)
			}
			if c.ids < 0 {
				if len(rounds) != 0 {
					t.Fatalf("%d rounds, want none", len(rounds))
				}
				return
			}
			if len(rounds) != 1 || told != 1 || len(rounds[0].IDs) != c.ids {
				t.Errorf("rounds are %+v, told %d times; want one with %d ids", rounds, told, c.ids)
			}
			if len(m.passes) > 0 && !m.closed {
				t.Error("the model was left open")
			}
			if rec.Current() != 0 {
				t.Error("a span was left open")
			}
		})
		ctx, cancel = context.WithCancel(context.Background())
	}
	cancel()
}

func TestDamagedTensorIsNamed(t *testing.T) {
	m := &fake{context: 100, failAt: 2}
	j := job(t, m)
	j.ModelPath = gguftest.File{Tensors: []gguftest.Tensor{
		{Name: "blk.0.sound.weight", Dims: []uint64{2}, Type: 0, Data: gguftest.F32(1, 2)},
		{Name: "blk.1.damaged.weight", Dims: []uint64{2}, Type: 0, Data: gguftest.F32(1, float32(math.NaN()))},
	}}.Write(t)
	_, err := Run(context.Background(), j, trace.New(), nil)
	if err == nil || !strings.Contains(err.Error(), "decode step 1: attention of layer 4") || !strings.Contains(err.Error(), "blk.1.damaged.weight") {
		t.Errorf("the error names not both the pass and the tensor: %v", err)
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		prompt, tokens, context int
		fits                    bool
	}{
		{13, 20, 33, true}, {13, 20, 32, false}, {1, 0, 1, true}, {2, 0, 1, false}, {0, 1, 10, false},
		{1, math.MaxInt, 100, false},
	} {
		err := Fits(c.prompt, c.tokens, c.context, "that is somebody's limit")
		if (err == nil) != c.fits {
			t.Errorf("a prompt of %d and %d steps in %d positions: %v", c.prompt, c.tokens, c.context, err)
		}
		if err != nil && c.prompt > 0 != strings.HasSuffix(err.Error(), "; that is somebody's limit") {
			t.Errorf("whose limit it is: %v", err)
		}
	}
}

func TestParseIDs(t *testing.T) {
	if got, err := ParseIDs(" 1,4093 198\n0 ", 49152); err != nil || !slices.Equal(got, []int32{1, 4093, 198, 0}) {
		t.Errorf("got %v, %v", got, err)
	}
	for in, want := range map[string]string{
		"": "empty", " \n": "empty", " , ": `prompt id 1 is ""`, "1,,2": `prompt id 2 is ""`, "1,": `prompt id 2 is ""`, "1,x": `prompt id 2 is "x"`, "-1": "outside the vocabulary", "49152": "0 to 49151",
		"99999999999999999999": "whole number",
	} {
		if _, err := ParseIDs(in, 49152); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", in, err, want)
		}
	}
}
