package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
	"github.com/introgen/introgen/results"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/view"
	"github.com/introgen/introgen/trace"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var kills = flag.Int("kills", 6, "how many runs TestKilled kills")

// open reads a recording that must be whole.
func open(t *testing.T, path string) *recording.Run {
	t.Helper()
	f, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if f.Broken != "" || len(f.Warnings) > 0 || len(f.Runs) != 1 || f.Runs[0].End == nil {
		t.Fatalf("%s: broken %q, warnings %q, %d runs", path, f.Broken, f.Warnings, len(f.Runs))
	}
	return f.Runs[0]
}

// TestKilled ends runs at moments of no choice: every recording opens, and holds
// what had been written.
func TestKilled(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	program, err := exec.LookPath("introgen")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, uint64(*kills)))
	for i := range *kills {
		path := filepath.Join(t.TempDir(), "run"+recording.Ending)
		cmd := exec.Command(program, "cpu", "100", "--tokens", "5", "-o", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		printed := make(chan int)
		go func() {
			n := 0
			for s := bufio.NewScanner(out); s.Scan(); {
				n += strings.Count(s.Text(), "] decode steps")
			}
			printed <- n
		}()
		time.Sleep(time.Duration(random.Int64N(int64(1500 * time.Millisecond))))
		before, _ := os.ReadFile(path)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rounds := <-printed
		if err := cmd.Wait(); err == nil {
			t.Fatal("the run was over before it was killed")
		}
		after, err := os.ReadFile(path)
		if err != nil {
			if i == 0 || !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
			continue // killed before it began
		}
		if !bytes.HasPrefix(after, before) {
			t.Errorf("kill %d: what was written before is not there any more", i)
		}
		f, err := recording.Open(path)
		if err != nil {
			t.Errorf("kill %d: %v", i, err)
			continue
		}
		if len(f.Warnings) > 0 {
			t.Errorf("kill %d: %q", i, f.Warnings)
		}
		got := 0
		for _, r := range f.Runs {
			got += len(r.Rounds)
		}
		// The last round may have been printed and not yet written.
		if got < rounds-1 || got > rounds+1 {
			t.Errorf("kill %d: %d rounds were printed, the recording has %d", i, rounds, got)
		}
		var shown, notes bytes.Buffer
		if err := showText(&shown, &notes, path); err != nil || strings.Count(shown.String(), "] decode steps") != got {
			t.Errorf("kill %d: %v, shown is\n%s", i, err, &shown)
		}
	}
}

// TestTwoRunsOneFile: the second does not touch what the first is writing.
func TestTwoRunsOneFile(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	path := filepath.Join(t.TempDir(), "a"+recording.Ending)
	w, err := recording.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.PutLine([]byte("of the first")), w.Flush()); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"introgen", "cpu", "1", "-o", path}, &out, &errs)
	if code != exitFailed || out.Len() > 0 || !strings.Contains(errs.String(), path+": another run is writing it") || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("exit code %d, %q, %q", code, &out, &errs)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "of the first\n" {
		t.Errorf("the first run's file is %q, %v", b, err)
	}
	w.Close()
	if code := run(t.Context(), []string{"introgen", "cpu", "1", "--tokens", "0", "-o", path}, &out, &errs); code != exitOK {
		t.Errorf("afterwards: exit code %d, %s", code, &errs)
	}
	open(t, path)
}

// TestDiskFillsUp: the run goes on, says so once, and ends with 1.
func TestDiskFillsUp(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	if runtime.GOOS != "linux" {
		t.Skip("SKIP: needs /dev/full")
	}
	path := filepath.Join(t.TempDir(), "full"+recording.Ending)
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"introgen", "cpu", "2", "--tokens", "1", "-o", path}, &out, &errs)
	if code != exitFailed || !strings.Contains(out.String(), "round 2]") {
		t.Errorf("exit code %d, printed\n%s", code, &out)
	}
	lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "the recording "+path+" ends here, the run goes on: ") || !strings.Contains(lines[0], "no space left") ||
		!strings.HasPrefix(lines[1], "introgen: the recording "+path+" is not whole") {
		t.Errorf("stderr is %q", lines)
	}
}

// closed is an output whose reader has gone after so many bytes.
type closed struct{ full }

func (c *closed) Write(p []byte) (int, error) {
	n, err := c.full.Write(p)
	if err != nil {
		err = syscall.EPIPE
	}
	return n, err
}

// TestReaderGone: who looks at the first line only gets the recording all the
// same, of all rounds where it was asked for.
func TestReaderGone(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	state := t.TempDir()
	t.Setenv("INTROGEN_STATE_DIR", state)
	path := filepath.Join(t.TempDir(), "a"+recording.Ending)
	var errs bytes.Buffer
	if code := run(t.Context(), []string{"introgen", "cpu", "3", "--tokens", "1", "-o", path}, &closed{full{10}}, &errs); code != exitOK || errs.Len() > 0 {
		t.Errorf("exit code %d, %q", code, &errs)
	}
	if r := open(t, path); len(r.Rounds) != 3 || r.End.Code != exitOK {
		t.Errorf("%d rounds, end %+v", len(r.Rounds), r.End)
	}
	if code := run(t.Context(), []string{"introgen", "cpu", "100000", "--tokens", "1"}, &closed{full{10}}, &errs); code != exitOK || errs.Len() > 0 {
		t.Errorf("without -o: exit code %d, %q", code, &errs)
	}
	if r := open(t, filepath.Join(state, "recordings", "000002-cpu.introgen")); len(r.Rounds) > 1 {
		t.Errorf("without -o it went on for %d rounds", len(r.Rounds))
	}
	// The same with a real pipe, where the system would send a signal.
	program, err := exec.LookPath("introgen")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "cpu", "3", "--tokens", "1", "-o", path)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	cmd.Stdout = w
	if err := errors.Join(cmd.Run(), w.Close()); err != nil {
		t.Errorf("with a pipe: %v", err)
	}
	if r := open(t, path); len(r.Rounds) != 3 {
		t.Errorf("with a pipe: %d rounds", len(r.Rounds))
	}
}

// TestInterruptIsRecorded: the recording of a run that was interrupted ends as
// the run did.
func TestInterruptIsRecorded(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	path := filepath.Join(t.TempDir(), "a"+recording.Ending)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &cancelling{word: "round 2] decode steps", cancel: cancel}
	var errs bytes.Buffer
	if code := run(ctx, []string{"introgen", "cpu", "100000", "--tokens", "2", "-o", path}, out, &errs); code != exitInterrupted {
		t.Fatalf("exit code %d, %s", code, &errs)
	}
	r := open(t, path)
	if r.End.Code != exitInterrupted || !strings.Contains(r.End.Error, "canceled") || len(r.Rounds) < 2 {
		t.Errorf("end %+v, %d rounds", r.End, len(r.Rounds))
	}
	for _, s := range r.Spans {
		if s.End < 0 {
			t.Errorf("span %+v was left open", s)
		}
	}
}

// TestTimeHasNoHoles: the spans at the top, and those of a round, leave nothing
// of a short run's time without a name.
func TestTimeHasNoHoles(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	path := filepath.Join(t.TempDir(), "a"+recording.Ending)
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"introgen", "cpu", "2", "-o", path}, &out, &errs); code != exitOK {
		t.Fatalf("exit code %d, %s", code, &errs)
	}
	r := open(t, path)
	var named, at time.Duration
	for _, s := range r.Spans {
		if s.Parent != 0 {
			continue
		}
		if s.Start < at {
			t.Errorf("%s at %v begins before what came before it ended, at %v", s.Name, s.Start, at)
		}
		at = s.End
		if s.Name == results.SpanRound {
			named += s.Duration() - trace.Unattributed(r.Spans, s)
		} else {
			named += s.Duration()
		}
	}
	if whole := time.Duration(r.End.At); named < whole*98/100 {
		t.Errorf("%v of %v have a name, less than 98 %%", named, whole)
	}
}

// TestRecordingSaysWhereFrom: every knob with its origin, the tool, the machine,
// and the model by its digest.
func TestRecordingSaysWhereFrom(t *testing.T) {
	model := modeltest.Path(t, models.StandIn)
	t.Setenv("INTROGEN_STATE_DIR", t.TempDir())
	t.Setenv("INTROGEN_CPU", "generic")
	path := filepath.Join(t.TempDir(), "a"+recording.Ending)
	args := []string{"introgen", "cpu", "--tokens", "1", "1", "--threads=2", "-o", path}
	want, err := models.SHA256(model)
	if err != nil {
		t.Fatal(err)
	}
	for _, computed := range []bool{true, false} { // and then remembered
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != exitOK {
			t.Fatalf("exit code %d, %s", code, &errs)
		}
		r := open(t, path)
		h := r.Header
		if h.Model.Digest != want || h.Model.Bytes != 144811072 || h.Model.Types != "211 Q8_0 + 61 F32" {
			t.Errorf("model %+v", h.Model)
		}
		if got := slices.ContainsFunc(r.Spans, func(s trace.Record) bool { return s.Name == results.SpanDigest }); got != computed {
			t.Errorf("the digest was computed: %v, want %v", got, computed)
		}
		knobs := map[string]string{}
		for _, k := range h.Knobs {
			knobs[k.Name] = k.Value + " " + k.Origin
		}
		for name, want := range map[string]string{"tokens": "1 flag", "threads": "2 flag", "rounds": "1 flag", "io": "mmap default", "evict": "false default", "pack": "auto default"} {
			if knobs[name] != want {
				t.Errorf("knob %s is %q, want %q", name, knobs[name], want)
			}
		}
		if !slices.Equal(h.Args, args[1:]) || h.Environment["INTROGEN_CPU"] != "generic" || h.Command != "cpu" || h.PID != os.Getpid() {
			t.Errorf("header %+v", h)
		}
		if h.Host.Cores < 1 || h.Host.MemoryBytes < 1<<20 || h.Host.CPU == "" || h.Host.Build == "" || h.Tool.Go != runtime.Version() || h.Clock == 0 {
			t.Errorf("host %+v, tool %+v, clock %d", h.Host, h.Tool, h.Clock)
		}
		if r.End.SpanCost < 1000 || r.End.SpanCost > 10_000_000 || r.End.MinorFaults < 1 || len(r.Machine) != 3 {
			t.Errorf("end %+v, %d readings of the machine", r.End, len(r.Machine))
		}
	}
	t.Setenv("CANDLE_METAL_COMPUTE_PER_BUFFER", "7")
	if k := environment([]string{"A=b", "CANDLE_X=y=z", "GODEBUG="}); len(k) != 2 || k["CANDLE_X"] != "y=z" {
		t.Errorf("environment %v", k)
	}
}

// TestClockSteps: the wall clock is shown in the list and nowhere else.
func TestClockSteps(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	path := filepath.Join(t.TempDir(), "a"+recording.Ending)
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"introgen", "cpu", "1", "--tokens", "2", "-o", path}, &out, &errs); code != exitOK {
		t.Fatalf("exit code %d, %s", code, &errs)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	year := []byte(`"started":"` + strconv.Itoa(time.Now().UTC().Year()))
	if !bytes.Contains(b, year) {
		t.Fatal("no date in the header")
	}
	if err := os.WriteFile(path, bytes.Replace(b, year, []byte(`"started":"1970`), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	if err := showText(&shown, &errs, path); err != nil || !bytes.Equal(shown.Bytes(), out.Bytes()) || errs.Len() > 0 {
		t.Errorf("%v, %q, shown is\n%s", err, &errs, &shown)
	}
}

// TestRealLinesFitTheSchema holds each line of a run on the CPU and of one on
// Metal to the documented schema.
func TestRealLinesFitTheSchema(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	schema, err := jsonschema.NewCompiler().Compile("../../results/recording/recording.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"cpu", "metal"} {
		path := filepath.Join(t.TempDir(), command+recording.Ending)
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"introgen", command, "1", "--tokens", "2", "--logits", "2", "-o", path}, &out, &errs)
		if code != exitOK && command == "metal" && strings.Contains(errs.String(), "clang") {
			t.Logf("SKIP: needs clang 19: %s", &errs)
			continue
		}
		if code != exitOK {
			t.Fatalf("exit code %d, %s", code, &errs)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]int{}
		for line := range bytes.Lines(b) {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
			if err != nil {
				t.Fatal(err)
			}
			kinds[fmt.Sprint(v.(map[string]any)["k"])]++
			if err := schema.Validate(v); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		want := []string{"header", "span", "subject", "round", "evidence", "machine", "end"}
		if command == "metal" {
			want = append(want, "device", "library", "pipeline", "kernel", "count")
		}
		for _, k := range want {
			if kinds[k] == 0 {
				t.Errorf("%s: no event %s among %v", command, k, kinds)
			}
		}
	}
}

// TestViewsRefuseNothing: a view of a recording that has next to nothing in it
// is short, not a crash.
func TestViewsRefuseNothing(t *testing.T) {
	for _, text := range []string{"", `{"k":"header","format":"introgen recording","version":1}` + "\n",
		`{"k":"header","format":"introgen recording","version":1}` + "\n" + `{"k":"round","round":1,"span":1,"prompt":0,"ids":[],"text":""}` + "\n"} {
		f, err := recording.Read(strings.NewReader(text), "x")
		if err != nil {
			t.Fatal(err)
		}
		for name, show := range views {
			if err := show(io.Discard, f); err != nil {
				t.Errorf("%s of %q: %v", name, text, err)
			}
		}
		if d := view.FirstToken(f.Runs); d != 0 {
			t.Errorf("the first token after %v", d)
		}
	}
}

// TestNamesAgree: readers of recordings have the decorator's names for
// themselves, and must have the same.
func TestNamesAgree(t *testing.T) {
	for ours, theirs := range map[string]string{
		results.SpanLibrary: metalshim.SpanLibrary, results.SpanPipeline: metalshim.SpanPipeline, results.SpanCommands: metalshim.SpanEncode,
		results.SpanCommit: metalshim.SpanCommit, results.SpanWait: metalshim.SpanWait, results.SpanGPU: metalshim.SpanGPU,
		results.CountDispatches: metalshim.CountDispatches, results.CountEncoders: metalshim.CountEncoders, results.CountCommandBuffers: metalshim.CountCommandBuffers,
	} {
		if ours != theirs {
			t.Errorf("%q and %q", ours, theirs)
		}
	}
}
