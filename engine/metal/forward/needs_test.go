package forward

import (
	"path/filepath"
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

// Over every number of keys a step needs what Run and Next take it to need: that of
// the first step, or of the first in two passes.
func TestNeedsOfEveryStep(t *testing.T) {
	models := map[string]Config{"experiment": smol()}
	files, err := filepath.Glob("testdata/*.gz")
	if err != nil || len(files) == 0 {
		t.Fatal("no traces of candle: ", err)
	}
	for _, file := range files {
		if m, _ := recordedTrace(t, file); m.Layers > 0 {
			models[file] = m.config()
		}
	}
	for name, c := range models {
		c.Layers = 1
		n, err := NewNeeds(c)
		if err != nil {
			t.Fatal(name, err)
		}
		most, _ := c.positions()
		var like []string
		for k := 2; k <= most; k++ {
			p, err := n.Decode(k)
			if err != nil {
				t.Fatal(name, err)
			}
			if k == 2 || k == twoPassKeys {
				like = keys(p)
			} else if !slices.Equal(keys(p), like) {
				t.Fatalf("%s: a step over %d keys needs %q, and others %q", name, k, keys(p), like)
			}
		}
	}
}

// A run needs what its passes need, each pipeline once, in the order of first need.
func TestNeedsOfRuns(t *testing.T) {
	for _, c := range []struct{ prompt, steps int }{{13, 20}, {13, 0}, {1, 1}, {twoPassKeys - 3, 1}, {twoPassKeys - 3, 2}, {twoPassKeys - 3, 9}, {twoPassKeys, 1}, {MaxPositions, 0}} {
		n, err := NewNeeds(smol())
		if err != nil {
			t.Fatal(err)
		}
		next, err := NewNeeds(smol())
		if err != nil {
			t.Fatal(err)
		}
		want := keys(n.Build())
		for i := range c.steps + 1 {
			p, err := n.Prefill(c.prompt)
			tokens, pos := c.prompt, 0
			if i > 0 {
				tokens, pos = 1, c.prompt+i-1
				p, err = n.Decode(c.prompt + i)
			}
			if err != nil {
				t.Fatal(err)
			}
			var added []string
			for _, key := range keys(p) {
				if !slices.Contains(want, key) {
					added = append(added, key)
				}
			}
			want = append(want, added...)
			told, err := next.Next(tokens, pos)
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range added {
				if !slices.Contains(keys(told), key) {
					t.Errorf("prompt %d, pass %d: next tells %q, and not %q", c.prompt, i, keys(told), key)
				}
			}
		}
		got, err := n.Run(c.prompt, c.steps)
		if err != nil || !slices.Equal(keys(got), want) {
			t.Errorf("prompt %d and %d steps need %q, %v; want %q", c.prompt, c.steps, keys(got), err, want)
		}
		if told, err := next.Next(c.prompt, 0); err != nil || told != nil {
			t.Errorf("a pass that was told of is told again: %q, %v", keys(told), err)
		}
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

// Of each model a step over every number of keys needs what the last one did at which
// its kernels change, and other pipelines from there on.
func TestNeedsChange(t *testing.T) {
	for _, model := range Models() {
		for _, dim := range []int{32, 64, 128, 256} {
			for _, window := range []int{0, 37} {
				c := smol()
				c.Model, c.Layers, c.Context, c.Window = model, 2, 1200, func(int) int { return window }
				c.Heads, c.KVHeads, c.HeadDim, c.RopeDim, c.Hidden = 4, 2, dim, dim, 4*dim
				n, err := NewNeeds(c)
				if err != nil {
					t.Fatal(err)
				}
				at := slices.Collect(n.planner.changes(2, c.Context))
				var like []string
				for k := 2; k <= c.Context; k++ {
					p, err := n.Decode(k)
					if err != nil {
						t.Fatal(err)
					}
					if slices.Contains(at, k) {
						like = keys(p)
					} else if !slices.Equal(keys(p), like) {
						t.Fatalf("%s, heads of %d, a window of %d: a step over %d keys needs %q, and before %q", model, dim, window, k, keys(p), like)
					}
				}
			}
		}
	}
}

// What a run of each model needs, told before it, is what its passes launch, by either
// arithmetic, whatever the prompt: of gemma3 a prompt of one token leaves the values in
// another order than a longer one.
func TestNeedsOfModels(t *testing.T) {
	for _, model := range Models() {
		for _, prompt := range []int{1, 2, 13, 40} {
			for _, candle := range []bool{false, true} {
				c := smol()
				c.Model, c.Candle, c.HalfTables, c.Layers, c.Context, c.Positions = model, candle, true, 2, 1200, 100
				c.Window = func(layer int) int { return 16 * (1 - layer) }
				c.Heads, c.KVHeads, c.HeadDim, c.RopeDim, c.Hidden, c.OwnOutput = 4, 2, 64, 64, 256, true
				n, err := NewNeeds(c)
				if err != nil {
					t.Fatal(err)
				}
				const steps = 30
				got, err := n.Run(prompt, steps)
				if err != nil {
					t.Fatal(err)
				}
				p := planner(t, c)
				all := needed(p.Build())
				for pos, tokens := 0, prompt; pos < prompt+steps; pos, tokens = pos+tokens, 1 {
					list, err := p.Step(make([]uint32, tokens), pos)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, needed(list)...)
				}
				want := map[string]bool{}
				for _, k := range keys(all) {
					want[k] = true
				}
				if len(got) != len(want) || slices.ContainsFunc(keys(got), func(k string) bool { return !want[k] }) {
					t.Errorf("%s, candle's arithmetic %v, a prompt of %d: told %q, launched %v", model, candle, prompt, keys(got), want)
				}
			}
		}
	}
}
