package forward

import (
	"bufio"
	"compress/gzip"
	"os"
	"slices"
	"strings"
	"testing"
)

// prompt is any 13 tokens: what they are leaves no mark on a trace.
var prompt = []uint32{1, 4093, 198, 1780, 314, 36828, 47, 2, 198, 1, 520, 9531, 198}

// section is a part of candle's trace.
type section struct {
	name   string
	events []string
}

// candleTrace reads the events of candle 0.11.0 itself over a prompt of 13
// tokens and 4 more, at 50 commands a buffer (scripts/reference/candletrace).
func candleTrace(t *testing.T) []section {
	t.Helper()
	f, err := os.Open("testdata/candle-13+4.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var sections []section
	lines := bufio.NewScanner(zip)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "section "); ok {
			sections = append(sections, section{name: name})
			continue
		}
		last := &sections[len(sections)-1]
		last.events = append(last.events, lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return sections
}

// ownTrace is the same run by this package's plan.
// The program that recorded candle's trace kept the logits of the prefill to
// its end; keepLogits does the same.
func ownTrace(t *testing.T, c Config, tokens []uint32, decode, perBuffer int, keepLogits bool) []section {
	t.Helper()
	passes := []int{len(tokens)}
	for range decode {
		passes = append(passes, 1)
	}
	return ownPasses(t, c, passes, perBuffer, keepLogits)
}

// ownPasses is passes of so many tokens after one another.
func ownPasses(t *testing.T, c Config, passes []int, perBuffer int, keepLogits bool) []section {
	t.Helper()
	p, r := planner(t, c), newReplay(t, perBuffer)
	var sections []section
	cut := func(name string) {
		sections = append(sections, section{name, r.events})
		r.events = nil
	}
	r.run(p.Build())
	cut("build")
	pos := 0
	for i, n := range passes {
		steps, err := p.Step(make([]uint32, n), pos)
		if err != nil {
			t.Fatal(err)
		}
		r.run(steps)
		pos += n
		if i == 0 {
			cut("prefill")
			if keepLogits {
				p.logits = 0
			}
		} else {
			cut("decode")
		}
	}
	return sections
}

// merged joins candle's sections to one for each phase, as ownTrace has them,
// and drops the buffer of the random seed, which this project does not need.
func merged(all []section) []section {
	var out []section
	for _, s := range all {
		switch name, _, _ := strings.Cut(s.name, " "); name {
		case "build", "prefill", "decode":
			out = append(out, section{name, s.events})
		case "synchronize", "readback":
			last := &out[len(out)-1]
			last.events = append(last.events, s.events...)
		}
	}
	return out
}

// TestEqualsCandle holds the whole run, build, prefill and four steps, against
// candle's trace: every library, pipeline and constant, buffer and its length,
// dispatch with its grid, threadgroup, arguments and offsets, every barrier,
// command buffer, encoder, copy and wait.
func TestEqualsCandle(t *testing.T) {
	want, got := merged(candleTrace(t)), ownTrace(t, smol(), prompt, 4, 50, true)
	if len(want) != len(got) {
		t.Fatalf("candle has %d phases, the plan %d", len(want), len(got))
	}
	var wantAll, gotAll []string
	for i := range want {
		if want[i].name != got[i].name {
			t.Fatalf("phase %d: candle has %s, the plan %s", i, want[i].name, got[i].name)
		}
		wantAll = append(append(wantAll, "section "+want[i].name), want[i].events...)
		gotAll = append(append(gotAll, "section "+got[i].name), got[i].events...)
	}
	for _, kinds := range eventKinds {
		compare(t, kinds, only(kinds, renamed(t, wantAll)), only(kinds, renamed(t, gotAll)))
	}
}

// eventKinds are the kinds of events that are compared together. candle opens an
// encoder before it makes the result of some operations and after it with
// others, so the order between making buffers and opening encoders is left out
// by comparing several times.
var eventKinds = [][]string{
	{"section", "upload", "new", "lib", "pipe", "barrier", "run", "copy", "copyat", "fill"},
	{"section", "upload", "new", "run", "copy", "copyat", "fill", "wait"},
	{"section", "lib", "pipe", "encoder", "barrier", "commit", "wait", "run-names"},
}

// only keeps the events of the kinds; run-names stands for dispatches without
// their arguments.
func only(kinds, events []string) []string {
	var out []string
	for _, e := range events {
		f := strings.Fields(e)
		switch {
		case slices.Contains(kinds, f[0]):
			out = append(out, e)
		case f[0] == "run" && slices.Contains(kinds, "run-names"):
			out = append(out, "run "+f[1])
		}
	}
	return out
}

func compare(t *testing.T, kinds, want, got []string) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Errorf("%v, event %d:\ncandle %s\nplan   %s\nbefore it: %s", kinds, i, want[i], got[i], strings.Join(want[max(0, i-3):i], "\n\t"))
			return
		}
	}
	if len(want) != len(got) {
		t.Errorf("%v: candle has %d events, the plan %d", kinds, len(want), len(got))
	}
}
