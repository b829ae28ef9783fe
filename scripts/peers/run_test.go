package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/system/machine"
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

func TestOnceBuildsOnceAndAgainAfterAFailure(t *testing.T) {
	s := Setup{Cache: t.TempDir(), Log: io.Discard}
	dir := s.folder("peer", "1", "-O2")
	if dir != s.folder("peer", "1", "-O2") || dir == s.folder("peer", "1-O2") || dir == s.folder("peer", "2", "-O2") {
		t.Error("a folder does not tell builds apart")
	}
	broken := errors.New("no compiler")
	calls := 0
	step := func(err error) func(io.Writer) error {
		return func(log io.Writer) error {
			calls++
			if _, err := os.Stat(filepath.Join(dir, "half")); err == nil {
				t.Error("the rest of a failed build is still there")
			}
			fmt.Fprintln(log, "compiling")
			return errors.Join(os.WriteFile(filepath.Join(dir, "half"), nil, 0o644), err)
		}
	}
	err := s.once(dir, "the peer", step(broken))
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), dir+".log") {
		t.Errorf("error %v does not say why, or where the log is", err)
	}
	for range 2 {
		if err := s.once(dir, "the peer", step(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if calls != 2 {
		t.Errorf("built %d times, want once after one failure", calls)
	}
	if log, err := os.ReadFile(dir + ".log"); err != nil || !bytes.Equal(log, []byte("compiling\n")) {
		t.Errorf("log is %q, %v", log, err)
	}
}

func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	if err := unpack("candle", dir); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "Cargo.toml"))
	if err != nil || !bytes.Contains(manifest, []byte(`candle-core = "=`+candleVersion+`"`)) {
		t.Errorf("Cargo.toml does not pin candle-core %s: %v", candleVersion, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "src", "main.rs")); err != nil {
		t.Error(err)
	}
	script := filepath.Join(dir, "peer.py")
	if err := unpack("llama_peer.py", script); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(script); err != nil || string(b) != strings.TrimPrefix(fingerprint("llama_peer.py"), "llama_peer.py") {
		t.Errorf("the unpacked script is not the embedded one: %v", err)
	}
}

func TestGCCMajor(t *testing.T) {
	for line, want := range map[string]int{
		"gcc (Debian 12.2.0-14+deb12u1) 12.2.0":                  12,
		"gcc (GCC) 15.1.1 20250425":                              15,
		"gcc-13 (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0":           13,
		"Apple clang version without a number that is a version": 0,
	} {
		if got := gccMajor(line); got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}

func TestCPUInfo(t *testing.T) {
	var m Machine
	m.processor(machine.ParseCPUInfo("processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\nflags\t\t: fpu avx2 f16c avx512f avx512_vnni\n\nprocessor\t: 1\nmodel name\t: other\n"))
	if m.CPU != "AMD EPYC, family 26 model 2" || !m.has("avx512_vnni") || m.has("amx_tile") {
		t.Errorf("got %+v", m)
	}
	m = Machine{}
	m.processor(machine.ParseCPUInfo("processor\t: 0\nFeatures\t: fp asimd i8mm\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n"))
	if m.CPU != "implementer 0x41 part 0xd40" || !m.has("i8mm") {
		t.Errorf("got %+v", m)
	}
}
