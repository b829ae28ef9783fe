package recorder

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func monotonic(t *testing.T) int64 {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		t.Fatal(err)
	}
	return now.Nano()
}

// marks follows the marks "THREAD NUMBER" of a program: each thread's numbers
// must come one after another, but for those that are missing.
type marks struct {
	t          *testing.T
	next       map[string]int
	track      map[string]uint32
	n, missing int
}

func (m *marks) see(e Event) {
	if e.Kind != Mark {
		return
	}
	m.n++
	thread, number, ok := strings.Cut(e.Text, " ")
	got, err := strconv.Atoi(number)
	if !ok || err != nil || got < m.next[thread] {
		m.t.Fatalf("mark %q, where thread %s goes on with %d", e.Text, thread, m.next[thread])
	}
	m.missing += got - m.next[thread]
	if m.next[thread] > 0 && m.track[thread] != e.Thread {
		m.t.Fatalf("thread %s was number %d and is %d", thread, m.track[thread], e.Thread)
	}
	m.track[thread] = e.Thread
	m.next[thread] = got + 1
}

// Eight threads write a million events, more than the ring holds, at most a
// million a second; a reader beside them loses none and sees none torn. Where
// other work keeps the reader away for longer than a ring lasts, that is half a
// second, what is lost is counted, and it is tried again.
func TestThreads(t *testing.T) {
	for range 5 {
		if lost := threads(t); lost == 0 {
			return
		}
	}
	t.Error("each time events were lost")
}

// threads runs them, and says how many events were lost.
func threads(t *testing.T) uint64 {
	t.Helper()
	const threads, each = 8, 125_000
	cmd, folder, _ := command(t, compiled(t, "marks"), "paced", strconv.Itoa(threads), strconv.Itoa(each))
	began := monotonic(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	m := &marks{t: t, next: map[string]int{}, track: map[string]uint32{}}
	var ring *Ring
	var times []int64
	see := func(e Event) { m.see(e); times = append(times, e.Time) }
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		if ring == nil {
			if rings := folder.Rings(); len(rings) == 1 {
				ring = rings[0]
				defer ring.Close()
			}
			continue
		}
		if ring.Read(100_000, see) == 0 {
			time.Sleep(100 * time.Microsecond)
		}
	}
	if ring == nil {
		t.Fatalf("no ring: %v", folder.Refused)
	}
	skipped := ring.Rest(see)
	if uint64(m.n)+ring.Lost() != threads*each || uint64(m.missing) > ring.Lost() || skipped != 0 || ring.Err() != nil {
		t.Errorf("%d marks of %d, %d missing, %d lost, %d skipped, %v", m.n, threads*each, m.missing, ring.Lost(), skipped, ring.Err())
	}
	if ring.PID() != uint64(cmd.Process.Pid) || ring.Parent() != uint64(os.Getpid()) {
		t.Errorf("process %d of %d, want %d of %d", ring.PID(), ring.Parent(), cmd.Process.Pid, os.Getpid())
	}
	ended := monotonic(t)
	for _, at := range times {
		if at < began || at > ended {
			t.Fatalf("an event at %d, not in %d to %d", at, began, ended)
		}
	}
	t.Logf("one event costs %v, as the program measured it", ring.Cost())
	if ring.Cost() <= 0 {
		t.Error("the cost of an event is not known")
	}
	return ring.Lost()
}

// A ring that nobody reads is filled; what does not fit is counted.
func TestLost(t *testing.T) {
	const marks = 1_000_000 // two slots each
	cmd, folder, dir := command(t, compiled(t, "marks"), "threads", "2", strconv.Itoa(marks/2))
	ran(t, cmd)
	ring := folder.Rings()[0]
	defer ring.Close()
	n := 0
	ring.Rest(func(Event) { n++ })
	if got := uint64(n) + ring.Lost(); got != marks+1 || ring.Lost() == 0 {
		t.Errorf("%d events and %d lost are not %d", n, ring.Lost(), marks+1)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.new")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func texts(events []Event) []string {
	var all []string
	for _, e := range events {
		all = append(all, e.Text)
	}
	return all
}

func TestProcessAndTexts(t *testing.T) {
	program := compiled(t, "marks")
	cmd, folder, _ := command(t, program, "texts")
	ran(t, cmd)
	all := rest(t, folder)
	if len(all) != 3 || all[0].Kind != Process || all[0].Text != program || all[0].A != uint64(os.Getpid()) || all[0].B != 0 {
		t.Fatalf("%d events, the first %+v", len(all), all[0])
	}
	if all[1].Text != "begun" || all[2].Text != strings.Repeat("x", 65535) {
		t.Errorf("texts of %d and %d bytes", len(all[1].Text), len(all[2].Text))
	}
}

// A child without exec has a ring of its own, and so has a program that takes
// the place of another.
func TestForkAndExec(t *testing.T) {
	program := compiled(t, "marks")
	cmd, folder, _ := command(t, program, "fork")
	child := strings.TrimSpace(ran(t, cmd))
	rings := folder.Rings()
	if len(rings) != 2 {
		t.Fatalf("%d rings, %v", len(rings), folder.Refused)
	}
	for _, r := range rings {
		defer r.Close()
		var all []Event
		r.Rest(func(e Event) { all = append(all, e) })
		want, forked, parent := []string{program, "before", "parent"}, uint64(0), uint64(os.Getpid())
		if fmt.Sprint(r.PID()) == child {
			want, forked, parent = []string{program, "child"}, 1, uint64(cmd.Process.Pid)
		}
		if got := texts(all); fmt.Sprint(got) != fmt.Sprint(want) || all[0].B != forked || all[0].A != parent {
			t.Errorf("process %d: %q, forked %d, parent %d; want %q, %d, %d", r.PID(), got, all[0].B, all[0].A, want, forked, parent)
		}
	}
	cmd, folder, _ = command(t, program, "exec")
	ran(t, cmd)
	rings = folder.Rings()
	if len(rings) != 2 || rings[0].PID() != rings[1].PID() {
		t.Fatalf("%d rings after exec", len(rings))
	}
	for i, want := range [][]string{{program, "before"}, {program, "0 0"}} {
		defer rings[i].Close()
		var all []Event
		rings[i].Rest(func(e Event) { all = append(all, e) })
		if got := texts(all); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("ring %d: %q, want %q", i, got, want)
		}
	}
}

// A program that is killed at any moment leaves all that it had published, in
// order and whole.
func TestKilled(t *testing.T) {
	program := compiled(t, "marks")
	for range 20 {
		cmd, folder, _ := command(t, program, "endless")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it says that it was killed
		rings := folder.Rings()
		if len(rings) == 0 {
			continue // before its first event
		}
		m := &marks{t: t, next: map[string]int{}, track: map[string]uint32{}}
		ring := rings[0]
		published := 0
		for slot := range ring.word(offHead) { // the ring is not yet full
			if ring.word(ring.offset(slot)) == slot+1 {
				published++
			}
		}
		events := 0
		skipped := ring.Rest(func(e Event) { m.see(e); events++ })
		if m.missing > 0 || skipped > 4*2 || events != published || ring.Err() != nil {
			t.Errorf("%d events of %d, %d slots skipped, %v", events, published, skipped, ring.Err())
		}
		ring.Close()
	}
}

// A recorder that is not meant, or has nowhere to write, lets the program run.
func TestNotRecorded(t *testing.T) {
	program := compiled(t, "marks")
	for name, value := range map[string]string{
		"absent": "", "another version": "9:/dev/shm", "no version": "/dev/shm", "a relative folder": "1:rings",
		"no folder": "1:/nowhere/at/all", "a folder of long name": "1:/" + strings.Repeat("x", 100_000), "a file": "1:/dev/null",
	} {
		cmd, _, dir := command(t, program, "threads", "2", "10")
		cmd.Env = append(cmd.Env, Environment+"="+value)
		if out := ran(t, cmd); out != "" {
			t.Errorf("%s: %q", name, out)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: %v", name, left)
		}
	}
}

// Of two recorders one records.
func TestTwoRecorders(t *testing.T) {
	text, err := os.ReadFile(built(t))
	if err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(t.TempDir(), "second.so")
	if err := os.WriteFile(second, text, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd, folder, _ := command(t, compiled(t, "marks"), "threads", "1", "3")
	cmd.Env = append(cmd.Env, preloaded(built(t)+":"+second))
	ran(t, cmd)
	if got := rest(t, folder); len(got) != 4 {
		t.Errorf("%q", texts(got))
	}
}
