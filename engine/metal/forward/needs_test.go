package forward

import (
	"slices"
	"strings"
	"testing"
)

func keys(p []Pipeline) []string {
	out := make([]string, len(p))
	for i := range p {
		out[i] = p[i].Key()
	}
	return out
}

// Passes apart need what they need in a run: build, a prompt, and decode steps
// after one another on one planner, also across the number of keys from which
// attention runs in two passes.
func TestNeedsAreThoseOfRuns(t *testing.T) {
	for _, c := range []struct{ prompt, steps int }{{13, 3}, {1, 2}, {16, 1}, {32, 2}, {40, 1}, {64, 1}, {twoPassKeys - 2, 3}} {
		n, err := NewNeeds(smol())
		if err != nil {
			t.Fatal(err)
		}
		p := planner(t, smol())
		want := needed(p.Build())
		if got := n.Build(); !slices.Equal(keys(got), keys(want)) {
			t.Errorf("build needs %q, want %q", keys(got), keys(want))
		}
		tokens, pos := c.prompt, 0
		for i := range c.steps + 1 {
			steps, err := p.Step(make([]uint32, tokens), pos)
			if err != nil {
				t.Fatal(err)
			}
			want := needed(steps)
			pos += tokens
			tokens = 1
			got, err := n.Prefill(c.prompt)
			if i > 0 {
				got, err = n.Decode(pos)
			}
			if err != nil || !slices.Equal(keys(got), keys(want)) {
				t.Errorf("prompt %d, pass %d needs %q, %v; want %q", c.prompt, i, keys(got), err, keys(want))
			}
		}
	}
}

// The experiment's run needs ten libraries and 21 functions; only decoding
// needs the tenth.
func TestNeedsOfTheExperiment(t *testing.T) {
	n, err := NewNeeds(smol())
	if err != nil {
		t.Fatal(err)
	}
	libraries, functions := map[string]bool{}, map[string]bool{}
	count := func(p []Pipeline, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range p {
			libraries[x.Library], functions[x.Function] = true, true
		}
	}
	count(n.Build(), nil)
	count(n.Prefill(13))
	if len(libraries) != 9 || len(functions) != 20 || libraries["Sdpa"] {
		t.Errorf("until the first token: %d libraries, %d functions", len(libraries), len(functions))
	}
	count(n.Decode(14))
	if len(libraries) != 10 || len(functions) != 21 || !libraries["Sdpa"] {
		t.Errorf("until the second: %d libraries, %d functions", len(libraries), len(functions))
	}
}

func TestNeedsLimits(t *testing.T) {
	n, err := NewNeeds(smol())
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []int{0, -1, MaxPositions + 1} {
		if _, err := n.Prefill(bad); err == nil || !strings.Contains(err.Error(), "1 to 4096") {
			t.Errorf("a prompt of %d: %v", bad, err)
		}
		if _, err := n.Decode(bad); err == nil || !strings.Contains(err.Error(), "2 to 4096") {
			t.Errorf("%d keys: %v", bad, err)
		}
	}
	if _, err := NewNeeds(Config{}); err == nil {
		t.Error("a model without layers")
	}
}
