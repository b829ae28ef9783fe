//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/results/recording"
)

// loop is a script that says each signal which it gets.
const loop = `trap 'echo got int' INT; trap 'echo got term' TERM; echo ready; while :; do sleep 0.02; done`

// TestRecordCtrlC: what is typed at a terminal reaches the program once; typed again
// it ends the program, and its recording is whole.
func TestRecordCtrlC(t *testing.T) {
	user, ours := terminalPair(t)
	path := filepath.Join(t.TempDir(), "r.introgen")
	cmd := program(t, "record", "--quiet", "-o", path, "--", "sh", "-c", loop)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ours, ours, ours
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill() })
	ours.Close()
	shown := &said{}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := user.Read(b)
			shown.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	await := func(what string, n int) {
		t.Helper()
		for range 1000 {
			if strings.Count(shown.String(), what) >= n {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("%q did not come %d times: %q", what, n, shown)
	}
	await("ready", 1)
	if _, err := user.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	await("got int", 1)
	time.Sleep(400 * time.Millisecond)
	if n := strings.Count(shown.String(), "got int"); n != 1 {
		t.Errorf("one Ctrl-C came %d times", n)
	}
	if _, err := user.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatalf("it does not end: %q", shown)
	}
	if code := cmd.ProcessState.ExitCode(); code != 137 {
		t.Errorf("exit code %d, want 137: %q", code, shown)
	}
	if end := endOf(t, path); end.Signal != "SIGKILL" {
		t.Errorf("end %+v", end)
	}
}

// terminalPair is a terminal: the user's end, and that of programs.
func terminalPair(t *testing.T) (user, programs *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIP: needs a pseudo terminal: %v", err)
	}
	t.Cleanup(func() { user.Close() })
	n, err := unix.IoctlGetUint32(int(user.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skipf("SKIP: needs a pseudo terminal: %v", err)
	}
	if programs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return user, programs
}

// endOf reads a recording's end.
func endOf(t *testing.T, path string) *recording.End {
	t.Helper()
	f, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Runs) != 1 || f.Runs[0].End == nil || len(f.Warnings) > 0 {
		t.Fatalf("%d runs, warnings %q", len(f.Runs), f.Warnings)
	}
	return f.Runs[0].End
}

// TestRecordSignals: a signal that is sent to introgen is the program's.
func TestRecordSignals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.introgen")
	cmd := program(t, "record", "-o", path, "--", "sh", "-c", loop+" ")
	var out said
	cmd.Stdout = &out
	p := begin(t, cmd)
	p.until("the program is ready", func() bool { return strings.Contains(out.String(), "ready") })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.until("the program has the signal", func() bool { return strings.Contains(out.String(), "got term") })
	if strings.Contains(p.stderr.String(), "introgen") {
		t.Errorf("introgen has said %q while the program runs", &p.stderr)
	}
	time.Sleep(300 * time.Millisecond)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if status := p.wait(); status.ExitStatus() != 137 {
		t.Errorf("exit code %d, want 137", status.ExitStatus())
	}
	if end := endOf(t, path); end.Signal != "SIGKILL" || end.Error != "the program was ended by SIGKILL" {
		t.Errorf("end %+v", end)
	}
}

// TestRecordFullDisk: a disk without room is said, and is no matter of the program's.
func TestRecordFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full.introgen")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, "record", "--quiet", "-o", path, "--", "sh", "-c", "echo out; echo err >&2; exit 4")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // its state says it
	if code := cmd.ProcessState.ExitCode(); code != 4 || out.String() != "out\n" {
		t.Errorf("exit code %d, stdout %q", code, &out)
	}
	if text := errs.String(); !strings.HasPrefix(text, "err\n") || !strings.Contains(text, "full.introgen ends here") || !strings.Contains(text, "no space left on device") {
		t.Errorf("stderr %q", text)
	}
}

// TestRecordNonce: a nonce that cannot stand in a source is refused before anything runs.
func TestRecordNonce(t *testing.T) {
	for nonce, want := range map[string]string{"a\nb": "it can have no line break", "a\xff": "it must be UTF-8"} {
		cmd := program(t, "record", "--nonce="+nonce, "--", "sh", "-c", "echo ran")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "ran") {
			t.Errorf("%q: %v, %q", nonce, err, out)
		}
	}
}
