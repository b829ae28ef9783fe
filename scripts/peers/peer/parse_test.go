package peer

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The first round is the experiment's own, as published.
const experiment = `# anything that an engine says of itself
[cpu round 1] read gguf 130.8 ms, build model 42.2 ms, prefill (13 tokens) 35.5 ms, 20 decode steps 170.8 ms (mean 8.5 ms), total 206.4 ms
[cpu round 1] decode steps (ms): 10.2 7.3 7.6 8.4 7.2 9.7 7.4 8.6 7.2 7.0 8.3 8.5 8.1 8.7 8.5 9.0 9.6 8.9 10.8 10.0
[cpu round 1] text: "Rust is a \"modern\"\nlanguage"
[cpu round 1] ids: 66 467 314
a line of another kind
[cpu round 2] load 61.5 ms, prefill (1 tokens) 5.5 ms, 2 decode steps 8.1 ms (mean 4.1 ms), total 13.6 ms
[cpu round 2] decode steps (ms): 4.0 4.1
[cpu round 2] ids: 66 467 314
`

func TestParseOutput(t *testing.T) {
	got, err := ParseOutput(experiment)
	if err != nil {
		t.Fatal(err)
	}
	want := Output{
		About: []string{"anything that an engine says of itself"},
		Rounds: []Round{
			{Read: 130.8, Load: 173, Prompt: 13, Prefill: 35.5, Decode: 170.8, Steps: []float64{10.2, 7.3, 7.6, 8.4, 7.2, 9.7,
				7.4, 8.6, 7.2, 7.0, 8.3, 8.5, 8.1, 8.7, 8.5, 9.0, 9.6, 8.9, 10.8, 10.0}, announced: 20},
			{Load: 61.5, Prompt: 1, Prefill: 5.5, Decode: 8.1, Steps: []float64{4.0, 4.1}, announced: 2},
		},
		Text: "Rust is a \"modern\"\nlanguage",
		IDs:  []int{66, 467, 314},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestParseOutputRefuses(t *testing.T) {
	round := strings.Split(experiment, "\n")[1]
	steps := strings.Split(experiment, "\n")[2]
	for _, c := range []struct{ name, out, word string }{
		{"nothing", "", "no line of a round"},
		{"an error text", "cannot open the file\n", "no line of a round"},
		{"a round without its steps", round + "\n", "no line of decode steps"},
		{"steps that are missing", round + "\n" + strings.TrimSuffix(steps, " 10.0") + "\n", "19 decode steps are listed"},
		{"steps of another round", round + "\n" + strings.Replace(steps, "round 1", "round 2", 1), "after 1 rounds"},
		{"steps before the round", steps, "after 0 rounds"},
		{"a step that is none", round + "\n" + strings.Replace(steps, "7.3", "fast", 1), "not a number"},
		{"a round too many", strings.Replace(round, "round 1", "round 2", 1) + "\n", "after 0 rounds"},
		{"a text without quotes", round + "\n" + steps + "\n[cpu round 1] text: Rust\n", "not a quoted string"},
		{"a number with two points", strings.Replace(round, "35.5", "3.5.5", 1) + "\n" + steps, "not a number"},
	} {
		if _, err := ParseOutput(c.out); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.word)
		}
	}
}

func FuzzParseOutput(f *testing.F) {
	f.Add(experiment)
	f.Add("[cpu round 1] load 1 ms, prefill (1 token) 1 ms, 99999999999999999999 decode steps 1 ms, total 1 ms")
	f.Fuzz(func(t *testing.T, s string) {
		out, err := ParseOutput(s)
		if err == nil && len(out.Rounds) == 0 {
			t.Error("no rounds and no error")
		}
	})
}

func TestLinesOfMetalAreRead(t *testing.T) {
	out, err := ParseOutput("[metal] Device::new_metal 20.3 ms\n" +
		"[metal round 1] read gguf 0.779 ms, build model 1484.0 ms, prefill (4 tokens) 166.9 ms, 2 decode steps 78.5 ms (mean 39.2 ms), total 245.4 ms\n" +
		"[metal round 1] decode steps (ms): 43.8 34.7\n")
	if err != nil {
		t.Fatal(err)
	}
	if r := out.Rounds[0]; r.Prompt != 4 || r.Prefill != 166.9 || r.Load != 1484.779 || !slices.Equal(r.Steps, []float64{43.8, 34.7}) {
		t.Errorf("got %+v", r)
	}
}
