package launch

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/system/machine"
)

// ran is what a run of a shell's script left.
type ran struct {
	out, err bytes.Buffer
	told     map[string][]byte
	Ending
}

// run runs a script with sh.
func run(t *testing.T, script, stdin string) *ran {
	t.Helper()
	x := &ran{told: map[string][]byte{}}
	r := begin(t, x, script, stdin, &x.out, &x.err)
	x.finish(t, r)
	return x
}

func shell(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("SKIP: needs sh")
	}
	return path
}

func begin(t *testing.T, x *ran, script, stdin string, out, err io.Writer) *Running {
	t.Helper()
	input, made := os.CreateTemp(t.TempDir(), "stdin")
	if made != nil {
		t.Fatal(made)
	}
	t.Cleanup(func() { input.Close() })
	if _, err := input.WriteString(stdin); err != nil {
		t.Fatal(err)
	}
	if _, err := input.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	last := map[string]int64{}
	r, failed := Start(Options{
		Path: shell(t), Args: []string{"sh", "-c", script}, Env: append(os.Environ(), "MARK=7"), Stdin: input, Stdout: out, Stderr: err,
		Wrote: func(stream string, at int64, b []byte) {
			mu.Lock()
			defer mu.Unlock()
			if at < last[stream] || at > machine.Clock() {
				t.Errorf("%s came at %d, after %d", stream, at, last[stream])
			}
			last[stream] = at
			x.told[stream] = append(x.told[stream], b...)
		},
	})
	if failed != nil {
		t.Fatal(failed)
	}
	t.Cleanup(r.Close)
	return r
}

func (x *ran) finish(t *testing.T, r *Running) {
	t.Helper()
	for _, c := range []<-chan struct{}{r.Ended(), r.Drained()} {
		select {
		case <-c:
		case <-time.After(20 * time.Second):
			t.Fatal("the program does not end")
		}
	}
	x.Ending = r.Ending()
	if r.Spawned > x.At {
		t.Errorf("ended at %d, begun at %d", x.At, r.Spawned)
	}
}

// TestBytes: what is written passes as it is, each stream by itself.
func TestBytes(t *testing.T) {
	x := run(t, `cat; printf 'a\0\377\r\n'; printf 'no end of line' >&2; echo $MARK; exit 7`, "in\x00put\n")
	const want = "in\x00put\na\x00\xff\r\n7\n"
	if x.out.String() != want || x.err.String() != "no end of line" || x.Status() != 7 || x.Code != 7 || x.Name() != "" {
		t.Errorf("stdout %q, stderr %q, %+v", &x.out, &x.err, x.Ending)
	}
	if string(x.told[recording.StreamOut]) != want || string(x.told[recording.StreamErr]) != "no end of line" {
		t.Errorf("told %q", x.told)
	}
	if x.MaxRSS != 0 {
		t.Errorf("a shell took %d bytes of memory, more than the process that started it", x.MaxRSS)
	}
}

// TestMemory: the memory of a program that takes more than we do. What we took
// counts what the process that started us had taken, which under go test is
// often hundreds of megabytes: Linux keeps the mark of whoever called exec.
func TestMemory(t *testing.T) {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	const more, least = 100 << 20, 300 << 20
	takes := max(least, own.Maxrss*rssUnit+more)
	x := run(t, fmt.Sprintf(`dd if=/dev/zero of=/dev/null bs=%d count=1 2>/dev/null`, takes), "")
	if x.Code != 0 {
		t.Skip("SKIP: needs dd")
	}
	if x.MaxRSS < takes || x.MaxRSS > takes+more {
		t.Errorf("%d bytes of memory, want a little more than %d", x.MaxRSS, takes)
	}
}

// TestMuch: more than a pipe holds, in both streams at once.
func TestMuch(t *testing.T) {
	x := run(t, `i=0; while [ $i -lt 400 ]; do printf '%01000d' $i; printf '%01000d' $i >&2; i=$((i+1)); done`, "")
	for _, b := range []*bytes.Buffer{&x.out, &x.err} {
		var want bytes.Buffer
		for i := range 400 {
			fmt.Fprintf(&want, "%01000d", i)
		}
		if !bytes.Equal(b.Bytes(), want.Bytes()) {
			t.Errorf("%d bytes came, not the %d that were written", b.Len(), want.Len())
		}
	}
}

// TestAtOnce: what has no end of line is passed on too, before the program goes on.
func TestAtOnce(t *testing.T) {
	x := &ran{told: map[string][]byte{}}
	fifo := filepath.Join(t.TempDir(), "go")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	r := begin(t, x, "printf half; read x < "+fifo+"; echo ' line'", "", theirs, &x.err)
	b := make([]byte, 4)
	if _, err := io.ReadFull(ours, b); err != nil || string(b) != "half" {
		t.Errorf("%q, %v", b, err)
	}
	if err := os.WriteFile(fifo, []byte("x\n"), 0); err != nil {
		t.Fatal(err)
	}
	x.finish(t, r)
	theirs.Close()
	if rest, _ := io.ReadAll(ours); string(rest) != " line\n" {
		t.Errorf("the rest is %q", rest)
	}
}

// TestClosed: a program may close its streams and go on.
func TestClosed(t *testing.T) {
	x := run(t, `echo a; exec >&- 2>&-; sleep 0.1; exit 3`, "")
	if x.out.String() != "a\n" || x.Code != 3 {
		t.Errorf("%q, %+v", &x.out, x.Ending)
	}
}

// full is where nothing can be written after so many bytes.
type full struct {
	room int
	why  error
}

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, f.why
	}
	return len(b), nil
}

// TestNobodyReads: a program whose output nobody reads any more gets the signal that
// it would get without us.
func TestNobodyReads(t *testing.T) {
	x := &ran{told: map[string][]byte{}}
	r := begin(t, x, `while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done`, "", &full{1000, syscall.EPIPE}, &x.err)
	x.finish(t, r)
	if x.Signal != syscall.SIGPIPE || x.Status() != 141 || x.Name() != "SIGPIPE" {
		t.Errorf("%+v", x.Ending)
	}
	if said := r.Unpassed(); len(said) > 0 {
		t.Errorf("it says %q", said)
	}
}

// TestFullDisk: why a program's output was not passed on is told, since the program
// only sees that nobody reads it any more.
func TestFullDisk(t *testing.T) {
	x := &ran{told: map[string][]byte{}}
	r := begin(t, x, `while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done`, "", &full{1000, syscall.ENOSPC}, &x.err)
	x.finish(t, r)
	want := []string{"what the program wrote on stdout could not be passed on: no space left on device; its next write there finds a closed pipe"}
	if got := r.Unpassed(); !slices.Equal(got, want) || x.Signal != syscall.SIGPIPE {
		t.Errorf("%q, want %q; %+v", got, want, x.Ending)
	}
}

// TestKilled: the exit code of a shell.
func TestKilled(t *testing.T) {
	x := run(t, `kill -SEGV $$`, "")
	if x.Signal != syscall.SIGSEGV || x.Status() != 128+11 || x.Code != -1 || x.Name() != "SIGSEGV" {
		t.Errorf("%+v", x.Ending)
	}
}

func TestNotStarted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(path, []byte("neither"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := files(t)
	if _, err := Start(Options{Path: path, Args: []string{"p"}, Stdout: io.Discard, Stderr: io.Discard}); err == nil || !strings.Contains(err.Error(), "cannot be started") {
		t.Errorf("%v", err)
	}
	if after := files(t); after != before {
		t.Errorf("%d files are open, before %d", after, before)
	}
}

// files is how many files are open.
func files(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Skip("SKIP: needs /dev/fd")
	}
	return len(all)
}

// TestSignals: what reaches us reaches the program, which decides what becomes of
// it; a second request to end ends it.
func TestSignals(t *testing.T) {
	if typed() {
		t.Skip("SKIP: needs to run without a terminal of its own, of which signals of the keyboard come")
	}
	x := &ran{told: map[string][]byte{}}
	out := &lines{came: make(chan string, 100)}
	r := begin(t, x, `trap 'echo usr1' USR1; trap 'echo int' INT; trap 'echo term' TERM; echo ready; while :; do sleep 0.02; done`, "", out, &x.err)
	expect := func(want string) {
		t.Helper()
		select {
		case got := <-out.came:
			if got != want {
				t.Fatalf("%q came, want %q", got, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%q did not come", want)
		}
	}
	expect("ready")
	send := func(s syscall.Signal) {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
	}
	send(syscall.SIGUSR1)
	expect("usr1")
	send(syscall.SIGINT)
	expect("int")
	time.Sleep(sameTouch + 50*time.Millisecond)
	send(syscall.SIGTERM)
	x.finish(t, r)
	if x.Signal != syscall.SIGKILL || x.Status() != 137 {
		t.Errorf("%+v", x.Ending)
	}
}

// lines hands on what is written line by line.
type lines struct {
	b    []byte
	came chan string
}

func (l *lines) Write(b []byte) (int, error) {
	l.b = append(l.b, b...)
	for {
		i := bytes.IndexByte(l.b, '\n')
		if i < 0 {
			return len(b), nil
		}
		l.came <- string(l.b[:i])
		l.b = slices.Clone(l.b[i+1:])
	}
}

// TestTerminal: where the user has a terminal the program finds one, of the same
// size, and no byte is changed on the way.
func TestTerminal(t *testing.T) {
	ours, theirs, err := openPair()
	if err != nil {
		t.Skipf("SKIP: needs a pseudo terminal: %v", err)
	}
	defer ours.Close()
	defer theirs.Close()
	if err := unix.IoctlSetWinsize(int(ours.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 31, Col: 97}); err != nil {
		t.Fatal(err)
	}
	x := &ran{told: map[string][]byte{}}
	r := begin(t, x, `test -t 1 && test -t 2 || exit 9; stty size <&1; printf 'a\nb\0'; sleep 0.5; stty size <&2`, "", theirs, theirs)
	time.Sleep(200 * time.Millisecond)
	if err := unix.IoctlSetWinsize(int(ours.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 5, Col: 40}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	x.finish(t, r)
	if _, err := exec.LookPath("stty"); err != nil {
		t.Skip("SKIP: needs stty")
	}
	if got, want := string(x.told[recording.StreamOut]), "31 97\na\nb\x005 40\n"; got != want || x.Code != 0 {
		t.Errorf("came %q, want %q: %+v", got, want, x.Ending)
	}
	b := make([]byte, 100)
	n, _ := ours.Read(b)
	if got := string(b[:n]); !strings.HasPrefix(got, "31 97\r\n") {
		t.Errorf("the user saw %s", strconv.Quote(got))
	}
}
