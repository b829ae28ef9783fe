package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// actAs makes this test program an engine, the bandwidth probe or the busy
// neighbour, so that real processes are run.
const actAs = "PEERS_TEST_ACT_AS"

func TestMain(m *testing.M) {
	switch os.Getenv(actAs) {
	case "":
		if d := len(os.Args); d == 3 && os.Args[1] == "-neighbour" {
			beNeighbour(context.Background(), 30*time.Second) // ended by the test
			return
		}
		os.Exit(m.Run())
	case "engine":
		fmt.Print(engineLines(2, 4.0))
	case "short":
		fmt.Print(engineLines(1, 4.0))
	case "probe":
		fmt.Println("2 threads, huge pages: 20.0 GB/s best, 19.0 GB/s median of 20")
	case "failing":
		fmt.Fprintln(os.Stderr, "first\nno such model")
		os.Exit(3)
	case "hanging":
		time.Sleep(time.Minute)
	}
}

// engineLines are rounds of decodeSteps steps of so many milliseconds, after a
// first one that is twice as slow.
func engineLines(rounds int, step float64) string {
	var b strings.Builder
	for n := 1; n <= rounds; n++ {
		ms := step
		if n == 1 {
			ms *= 2
		}
		fmt.Fprintf(&b, "[cpu round %d] read gguf 1.0 ms, build model 2.0 ms, prefill (13 tokens) %.1f ms, 20 decode steps %.1f ms (mean %.1f ms), total %.1f ms\n",
			n, 10*ms, 20*ms, ms, 30*ms)
		fmt.Fprintf(&b, "[cpu round %d] decode steps (ms):%s\n", n, strings.Repeat(fmt.Sprintf(" %.1f", ms), 20))
	}
	return b.String()
}

func acting(role string) Engine {
	return Engine{Name: role, Family: role, command: func(Setting, string, int) (argv, env []string) {
		return []string{os.Args[0]}, []string{actAs + "=" + role}
	}}
}

func TestProcesses(t *testing.T) {
	m := &Measurement{Blocks: 2, Rounds: 2, Settings: []Setting{{"Q8_0", 2}, {"Q8_0", 1}}, Engines: []Engine{acting("engine")}}
	r := Runner{Log: io.Discard, Timeout: time.Minute}
	if err := r.processes(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if len(m.Samples) != 4 {
		t.Fatalf("%d samples, want 4", len(m.Samples))
	}
	s := m.Samples[3]
	if s.Block != 1 || s.Setting.Threads != 1 || Decode.Of(s) != 4 || FirstToken.Of(s) != 83 || Total.Of(s) != 120 {
		t.Errorf("last sample is %+v", s)
	}
}

func TestTimesStandWithoutTheProbe(t *testing.T) {
	m := &Measurement{Blocks: 2, Rounds: 2, Settings: []Setting{{"Q8_0", 1}}, Engines: []Engine{acting("engine")}}
	r := Runner{Log: io.Discard, Timeout: time.Minute, Probe: func(context.Context, int) ([]Bandwidth, error) {
		return nil, errors.New("no memory for it")
	}}
	if err := r.processes(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if len(m.Samples) != 2 || len(m.Absent) != 1 || m.Absent[0] != "the memory's speed" {
		t.Errorf("%d samples, absent: %q", len(m.Samples), m.Absent)
	}
}

func TestFailuresNameTheEngine(t *testing.T) {
	r := Runner{Log: io.Discard, Timeout: 2 * time.Second}
	for _, c := range []struct{ role, word string }{
		{"failing", "no such model"},
		{"short", "1 rounds came out, 2 were asked for"},
		{"probe", "output not understood"},
		{"hanging", "stopped after 2s"},
	} {
		_, err := r.one(t.Context(), acting(c.role), Setting{"Q8_0", 1}, 0, 2)
		if err == nil || !strings.Contains(err.Error(), c.word) || !strings.HasPrefix(err.Error(), c.role+", Q8_0, 1 thread: ") {
			t.Errorf("%s: error %v", c.role, err)
		}
	}
}

func TestTheProbeRunsBesideEverySetting(t *testing.T) {
	m := &Measurement{Blocks: 1}
	r := Runner{Log: io.Discard, Timeout: time.Minute, Probe: func(_ context.Context, threads int) ([]Bandwidth, error) {
		return []Bandwidth{{Threads: threads, Pages: "huge", Best: 20, Median: 19}}, nil
	}}
	set := Setting{"Q8_0", 2}
	if err := r.probe(t.Context(), m, set, 0); err != nil {
		t.Fatal(err)
	}
	if len(m.Bandwidth) != 1 || m.Bandwidth[0] != (Bandwidth{0, set, 2, "huge", 20, 19}) {
		t.Errorf("got %+v", m.Bandwidth)
	}
}

func TestLoadedRunsBesideANeighbour(t *testing.T) {
	own := acting("engine")
	own.Family = "introgen"
	m := &Measurement{Blocks: 1, Rounds: 2, Settings: []Setting{{"Q8_0", 2}, {"Q8_0", 1}, {"Q4_1", 1}}, Engines: []Engine{own}}
	r := Runner{Log: io.Discard, Timeout: time.Minute}
	if err := r.loaded(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if len(m.Loaded) != 2 {
		t.Errorf("%d samples beside a neighbour, want those of 2 and 1 thread", len(m.Loaded))
	}
}

func TestNeighbourEndsByItself(t *testing.T) {
	start := time.Now()
	beNeighbour(t.Context(), 50*time.Millisecond)
	if d := time.Since(start); d < 50*time.Millisecond || d > 10*time.Second {
		t.Errorf("ended after %v, not after 50 ms", d)
	}
}
