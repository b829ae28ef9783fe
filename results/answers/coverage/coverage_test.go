package coverage_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/results/answers/coverage"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

// model is the planner's view of the experiment's model.
type model struct {
	n               *forward.Needs
	prefill, decode map[int][]coverage.Use // what has been asked for
}

func newModel(t *testing.T, architecture string) model {
	t.Helper()
	n, err := forward.NewNeeds(forward.Config{
		Layers: 30, Heads: 9, KVHeads: 3, HeadDim: 64, Hidden: 576, FFN: 1536, Vocab: 49152, Context: 8192, RMSEps: 1e-5, RopeBase: 100000, RopeDim: 64,
		Architecture: architecture,
		Format: func(name string) (forward.Format, error) {
			if strings.HasSuffix(name, "norm.weight") {
				return forward.FormatOf("F32")
			}
			return forward.FormatOf("Q8_0")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return model{n, map[int][]coverage.Use{}, map[int][]coverage.Use{}}
}

func uses(p []forward.Pipeline, err error) ([]coverage.Use, error) {
	var out []coverage.Use
	for _, x := range p {
		_, constants, _ := strings.Cut(x.Key(), " ")
		out = append(out, coverage.Use{Library: x.Library, Function: x.Function, Constants: constants})
	}
	return out, err
}

func (m model) Build() []coverage.Use {
	u, _ := uses(m.n.Build(), nil)
	return u
}

func (m model) Prefill(n int) ([]coverage.Use, error) { return once(m.prefill, n, m.n.Prefill) }
func (m model) Decode(n int) ([]coverage.Use, error)  { return once(m.decode, n, m.n.Decode) }

func once(asked map[int][]coverage.Use, n int, of func(int) ([]forward.Pipeline, error)) ([]coverage.Use, error) {
	if u, ok := asked[n]; ok {
		return u, nil
	}
	u, err := uses(of(n))
	if err == nil {
		asked[n] = u
	}
	return u, err
}

func answer(n coverage.Needs, full, warm coverage.Run) (*coverage.Answer, error) {
	c, err := coverage.Foretell(n, full, warm)
	if err != nil {
		return nil, err
	}
	return coverage.Of(c), nil
}

// needed are the pipelines that a run needs.
func needed(t *testing.T, n coverage.Needs, r coverage.Run) []recording.Need {
	t.Helper()
	c, err := coverage.Foretell(n, r, r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Full.Needs {
		c.Full.Needs[i].Phase, c.Full.Needs[i].Step = "", 0 // runs need them in other phases
	}
	return c.Full.Needs
}

// The experiment's own point: a warm-up that only prefills misses Sdpa, and one
// decode step more misses nothing.
func TestExperiment(t *testing.T) {
	m := newModel(t, "")
	a, err := answer(m, coverage.Run{Prompt: 13, Steps: 20}, coverage.Run{Prompt: 13, Steps: 0})
	if err != nil {
		t.Fatal(err)
	}
	if a.All != (coverage.Count{Libraries: 10, Pipelines: 21}) || a.Covered != (coverage.Count{Libraries: 9, Pipelines: 20}) {
		t.Errorf("%+v of %+v", a.Covered, a.All)
	}
	if len(a.Missing) != 1 || a.Missing[0].Function != "sdpa_vector_float_64" || !a.Missing[0].Library || a.Missing[0].Phase != "decode step 1" {
		t.Errorf("missing is %+v", a.Missing)
	}
	if l := coverage.Libraries(a.PrefillOnly); len(l) != 1 || l[0] != "Sdpa" {
		t.Errorf("prefill alone misses %v", l)
	}
	// Found by trying every smaller run, below.
	if want := (coverage.Run{Prompt: 2, Steps: 1}); a.Smallest != want {
		t.Errorf("the smallest warm-up is %v, want %v", a.Smallest, want)
	}
	var b strings.Builder
	if err := a.Document().Write(&b, table.Plain); err != nil {
		t.Fatal(err)
	}
	want := `A warm-up of 13 prompt tokens and 0 decode steps touches 9 of the 10 libraries
  and 20 of the 21 pipelines of a run of 13 prompt tokens and 20 decode steps.

what the run still compiles after it
in             library  compiled           pipeline
decode step 1  Sdpa     library, pipeline  sdpa_vector_float_64
The smallest warm-up that covers all: --warmup 2,1 (2 prompt tokens, 1 decode
  step).
Prefill alone, even with the run's own prompt, misses Sdpa.
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// covers tries a warm-up in the plainest way.
func covers(t *testing.T, m model, full, warm coverage.Run) bool {
	t.Helper()
	touched := needed(t, m, warm)
	return !slices.ContainsFunc(needed(t, m, full), func(n recording.Need) bool { return !slices.Contains(touched, n) })
}

// The smallest warm-up covers all, and none with fewer tokens does: prompts on
// both sides of where candle changes its tiles, and where they divide evenly.
func TestSmallest(t *testing.T) {
	for _, c := range []struct {
		architecture string
		full         coverage.Run
	}{
		{"", coverage.Run{Prompt: 13, Steps: 2}}, {"", coverage.Run{Prompt: 1, Steps: 3}}, {"", coverage.Run{Prompt: 2, Steps: 0}},
		{"", coverage.Run{Prompt: 16, Steps: 1}}, {"", coverage.Run{Prompt: 20, Steps: 0}}, {"", coverage.Run{Prompt: 32, Steps: 1}},
		{"applegpu_g13g", coverage.Run{Prompt: 20, Steps: 1}}, {"applegpu_g13g", coverage.Run{Prompt: 13, Steps: 1}},
	} {
		m := newModel(t, c.architecture)
		a, err := answer(m, c.full, coverage.Run{Prompt: 1})
		if err != nil {
			t.Fatal(err)
		}
		s := a.Smallest
		if !covers(t, m, c.full, s) {
			t.Errorf("%v on %q: %v does not cover it", c.full, c.architecture, s)
		}
		for prompt := 1; prompt < s.Prompt+s.Steps; prompt++ {
			for steps := 0; prompt+steps < s.Prompt+s.Steps; steps++ {
				if covers(t, m, c.full, coverage.Run{Prompt: prompt, Steps: steps}) {
					t.Errorf("%v on %q: %d,%d covers it, and is smaller than %v", c.full, c.architecture, prompt, steps, s)
				}
			}
		}
	}
}

// Beyond 1024 keys attention runs in two passes, which a short warm-up misses.
func TestLongText(t *testing.T) {
	m := newModel(t, "")
	a, err := answer(m, coverage.Run{Prompt: 1020, Steps: 5}, coverage.Run{Prompt: 40, Steps: 5})
	if err != nil {
		t.Fatal(err)
	}
	var late []string
	for _, x := range a.Missing {
		if strings.HasPrefix(x.Phase, "decode step") {
			late = append(late, x.Function)
		}
	}
	if strings.Join(late, " ") != "sdpa_vector_2pass_1_float_64 sdpa_vector_2pass_2_float_64" {
		t.Errorf("missing late: %v", late)
	}
}

func TestMistakes(t *testing.T) {
	m := newModel(t, "")
	for _, c := range [][2]coverage.Run{
		{{Prompt: 0, Steps: 1}, {Prompt: 1}}, {{Prompt: 1, Steps: -1}, {Prompt: 1}}, {{Prompt: 1}, {Prompt: 0}}, {{Prompt: 5000}, {Prompt: 1}},
		{{Prompt: 4096, Steps: 1}, {Prompt: 1}}, {{Prompt: 1}, {Prompt: 4096, Steps: 1}},
	} {
		if _, err := coverage.Foretell(m, c[0], c[1]); err == nil {
			t.Errorf("%v is accepted", c)
		}
	}
	if _, err := coverage.Foretell(broken{}, coverage.Run{Prompt: 1}, coverage.Run{Prompt: 1}); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Build() []coverage.Use               { return nil }
func (broken) Prefill(int) ([]coverage.Use, error) { return nil, errBroken }
func (broken) Decode(int) ([]coverage.Use, error)  { return nil, errBroken }
