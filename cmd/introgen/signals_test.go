//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
	"github.com/introgen/introgen/results/recording"
)

// said is what a process has written so far.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// process is this program, run as a user runs it.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr said
	ended  chan error
}

// begin starts cmd, which is killed when the test ends.
func begin(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, ended: make(chan error, 1)}
	cmd.Stderr = &p.stderr
	cmd.WaitDelay = time.Second // a killed one may leave children that hold the pipe
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill() })
	return p
}

func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("introgen")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "INTROGEN_KEEP=0")
	return cmd
}

func (p *process) signal() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		p.t.Fatal(err)
	}
}

// until waits for a condition; a process that ends before is an error.
func (p *process) until(what string, is func() bool) {
	p.t.Helper()
	for range 6000 {
		if is() {
			return
		}
		select {
		case err := <-p.ended:
			p.t.Fatalf("it ended, %v, before %s: %s", err, what, &p.stderr)
		case <-time.After(10 * time.Millisecond):
		}
	}
	p.t.Fatalf("%s did not come about: %s", what, &p.stderr)
}

// wait waits for the end and returns how it ended.
func (p *process) wait() syscall.WaitStatus {
	p.t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	case <-time.After(time.Minute):
		p.t.Fatalf("it does not end: %s", &p.stderr)
		return 0
	}
}

// endlessKernels is a folder with the project's kernels, of which one has no end.
func endlessKernels(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	names := map[string]string{"gemm.metal": "mlx_gemm.metal", "sdpa.metal": "scaled_dot_product_attention.metal"}
	for _, f := range kernels.OwnSet().Files() {
		name, text := f.Name, f.Text
		if other := names[name]; other != "" {
			name = other
		}
		if f.Library == "Affine" {
			const body = "out[t] = fma(in[t], mul, add);"
			if !strings.Contains(text, body) {
				t.Fatalf("affine.metal has no %q", body)
			}
			text = strings.Replace(text, body, "out[t] = 0; while (out[t] != 9) { out[t] += 1; if (out[t] > 3) out[t] = 0; }", 1)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func needsClang(t *testing.T) *clang.Toolchain {
	t.Helper()
	tools, err := clang.Find(t.Context())
	if err != nil {
		t.Skipf("SKIP: needs clang 19: %v", err)
	}
	return tools
}

const where = "kernel affine_f32 of library Affine, dispatch "

// TestEndlessKernel: a kernel without end ends by its time limit, with an error
// that names it, and by the first Ctrl-C, with a note that does; either way the
// recording is whole and says so.
func TestEndlessKernel(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	needsClang(t)
	dir := t.TempDir()
	args := func(name string, more ...string) []string {
		return append([]string{"metal", "1", "--prompt-ids", "1,2,3", "--tokens", "0", "--kernels", endlessKernels(t), "-o", filepath.Join(dir, name)}, more...)
	}
	t.Setenv("INTROGEN_CACHE", filepath.Join(dir, "cache"))
	p := begin(t, program(t, args("limit.introgen", "--command-buffer-timeout", "300ms")...))
	if s := p.wait(); s.ExitStatus() != exitFailed {
		t.Errorf("exit code %d", s.ExitStatus())
	}
	for _, text := range []string{p.stderr.String(), open(t, filepath.Join(dir, "limit.introgen")).End.Error} {
		if !strings.Contains(text, "prefill: metal command buffer failed in "+where) || !strings.Contains(text, "its time limit, 300ms") {
			t.Errorf("it says %q", text)
		}
	}

	// All is compiled by now. When the kernel runs cannot be seen from outside.
	for after := time.Second; ; after *= 2 {
		p = begin(t, program(t, args("signal.introgen", "--command-buffer-timeout", "0")...))
		time.Sleep(after)
		p.signal()
		if s := p.wait(); s.ExitStatus() != exitInterrupted {
			t.Errorf("exit code %d: %s", s.ExitStatus(), &p.stderr)
		}
		if strings.Contains(p.stderr.String(), where) {
			break
		}
		if after > 30*time.Second {
			t.Fatalf("it says %q", p.stderr.String())
		}
	}
	if got := p.stderr.String(); !strings.Contains(got, "introgen: note: interrupted: ending "+where) || !strings.Contains(got, ", which has run for ") || !strings.HasSuffix(got, "the same command can be given again\n") {
		t.Errorf("it says %q", got)
	}
	run := open(t, filepath.Join(dir, "signal.introgen"))
	if run.End.Code != exitInterrupted || strings.Contains(run.End.Error, "left Metal objects") {
		t.Errorf("the recording ends with %+v", run.End)
	}
	noted := false
	for _, n := range run.Notes {
		noted = noted || strings.Contains(n.Text, where)
	}
	if !noted {
		t.Errorf("the recording has the notes %+v", run.Notes)
	}
}

// TestTimeoutKnobs: what cannot be a time limit is refused by name, before anything
// is done.
func TestTimeoutKnobs(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	for _, c := range []struct{ flag, env, want string }{
		{"5", "", `--command-buffer-timeout "5": how long a command buffer may run is a time with its unit, such as 10s or 5m, or 0 for no limit`},
		{"-1s", "", `--command-buffer-timeout "-1s"`},
		{"", "soon", `INTROGEN_COMMAND_BUFFER_TIMEOUT "soon"`},
	} {
		args := []string{"introgen", "metal", "1", "--prompt-ids", "1"}
		if c.flag != "" {
			args = append(args, "--command-buffer-timeout="+c.flag)
		}
		if c.env != "" {
			t.Setenv("INTROGEN_COMMAND_BUFFER_TIMEOUT", c.env)
		}
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != exitUsage || !strings.Contains(errs.String(), c.want) || out.Len() > 0 {
			t.Errorf("%q %q: exit code %d, %q, %q", c.flag, c.env, code, &errs, &out)
		}
	}
}

// TestSecondSignal: who waits for something that does not come says so, and the
// second Ctrl-C ends it at once, also where a shell has the signal ignored. What
// does not come is a reader of the output.
func TestSecondSignal(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	for _, how := range []string{"", "trap '' INT; "} {
		cmd := program(t, "cpu", "100", "--prompt-ids", "1", "--tokens", "0", "--logits", "20000")
		cmd.Args = []string{"sh", "-c", how + `exec "$0" "$@"`, cmd.Path, "cpu", "100", "--prompt-ids", "1", "--tokens", "0", "--logits", "20000"}
		cmd.Path = "/bin/sh"
		unread, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer unread.Close()
		cmd.Stdout = w
		p := begin(t, cmd)
		w.Close()
		if _, err := io.ReadFull(unread, make([]byte, 4096)); err != nil { // the logits are being written
			t.Fatal(err)
		}
		p.signal()
		p.until("a word", func() bool { return strings.Contains(p.stderr.String(), "interrupted: waiting for ") })
		if got := p.stderr.String(); !strings.Contains(got, "a second Ctrl-C ends it at once") || strings.Count(got, "\n") != 1 {
			t.Errorf("it says %q", got)
		}
		p.signal()
		if s := p.wait(); !(s.Signaled() && s.Signal() == syscall.SIGINT) && s.ExitStatus() != exitInterrupted {
			t.Errorf("%q: it ended with %v", how, s)
		}
	}
}

// TestSignalSentTwice: timeout(1) sends its signal to the process and to its
// group. That is one Ctrl-C.
func TestSignalSentTwice(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	path := filepath.Join(t.TempDir(), "run"+recording.Ending)
	p := begin(t, program(t, "cpu", "100000", "--prompt-ids", "1", "--tokens", "1", "-o", path))
	p.until("a round", func() bool { s, err := os.Stat(path); return err == nil && s.Size() > 4096 })
	p.signal()
	p.signal()
	if s := p.wait(); s.ExitStatus() != exitInterrupted || !strings.Contains(p.stderr.String(), "introgen: interrupted; ") {
		t.Errorf("it ended with %v: %s", s, &p.stderr)
	}
	if end := open(t, path).End; end.Code != exitInterrupted {
		t.Errorf("the recording ends with %+v", end)
	}
}

// unanswering is a script that stands for a program which does not answer: it says in
// a file that it has begun.
func unanswering(t *testing.T, dir, name, before, after string) (begun string) {
	t.Helper()
	begun = filepath.Join(t.TempDir(), "begun")
	text := fmt.Sprintf("#!/bin/sh\n%s\ntouch %s\n%s\n", before, begun, after)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return begun
}

// TestInterruptedChildren: a compiler, a run of a plan, and a package manager that
// do not answer are ended by one Ctrl-C, which reaches this process alone; a plan
// says which run it waits for.
func TestInterruptedChildren(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	tools := needsClang(t)
	dir := t.TempDir()
	compiler := strings.Join(tools.Compiler, " ")
	compiling := unanswering(t, dir, "clang", `case "$*" in *-E*) ;; *) exec `+compiler+` "$@";; esac`, "exec sleep 1000")
	fetching := unanswering(t, dir, "cargo", `case "$*" in *--version*) echo "cargo 1.80.0"; exit;; esac`, "exec sleep 1000")
	exists := func(path string) func() bool {
		return func() bool { _, err := os.Stat(path); return err == nil }
	}
	for _, c := range []struct {
		name  string
		args  []string
		env   []string
		begun string
		want  string
	}{
		{"a compile", []string{"metal", "1", "--prompt-ids", "1"}, []string{"INTROGEN_CLANG=" + filepath.Join(dir, "clang")}, compiling, ""},
		{"compiles beside", []string{"metal", "1", "--prompt-ids", "1", "--compile", "early"}, []string{"INTROGEN_CLANG=" + filepath.Join(dir, "clang")}, compiling, ""},
		{"a plan", []string{"bench", "metal 1 --prompt-ids 1 --tokens 0"}, []string{"INTROGEN_CLANG=" + filepath.Join(dir, "clang")}, compiling,
			"interrupted: waiting for block 1 of 6: run 1, A"},
		{"a fetch", []string{"kernels", "fetch", "candle@0.11.0"}, []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "INTROGEN_KERNELS_DIR=" + dir}, fetching, ""},
	} {
		os.Remove(c.begun)
		cmd := program(t, c.args...)
		cmd.Env = append(cmd.Env, append(c.env, "INTROGEN_CACHE="+filepath.Join(dir, "cache"))...)
		p := begin(t, cmd)
		p.until(c.name, exists(c.begun))
		p.signal()
		if s := p.wait(); s.ExitStatus() != exitInterrupted || !strings.Contains(p.stderr.String(), c.want) {
			t.Errorf("%s: it ended with %v: %s", c.name, s, &p.stderr)
		}
	}
}
