package recorder

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// speaker is a program that makes a mark of each line.
type speaker struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func speaking(t *testing.T, cmd *exec.Cmd) *speaker {
	t.Helper()
	s := &speaker{t: t, cmd: cmd}
	var err error
	if s.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *speaker) say(line string) {
	s.t.Helper()
	if _, err := fmt.Fprintln(s.in, line); err != nil {
		s.t.Fatal(err)
	}
	if got, err := s.out.ReadString('\n'); err != nil || got != "seen\n" {
		s.t.Fatalf("%q, %v", got, err)
	}
}

func (s *speaker) end() {
	s.t.Helper()
	s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the program: %v", err)
	}
}

// filled makes more events than what a ring has been given room for at first.
func filled(s *speaker) {
	s.say("first")
	long := strings.Repeat("x", 60_000)
	for range 40 { // 1072 slots each, of which 16384 are there
		s.say(long)
	}
}

// A program whose folder is gone goes on, and so does one whose disk is full.
func TestFolderGone(t *testing.T) {
	cmd, folder, dir := command(t, compiled(t, "marks"), "lines")
	s := speaking(t, cmd)
	s.say("before")
	ring := folder.Rings()[0]
	defer ring.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	filled(s)
	s.end()
	n := 0
	ring.Rest(func(Event) { n++ })
	if n < 10 || ring.Lost() == 0 || uint64(n)+ring.Lost() != 1+1+1+40 || ring.Err() != nil {
		t.Errorf("%d events, %d lost, %v", n, ring.Lost(), ring.Err())
	}
	if again := folder.Rings(); len(again) != 0 {
		t.Errorf("%d rings in no folder", len(again))
	}
}

func TestFullDisk(t *testing.T) {
	cmd, _, _ := command(t, compiled(t, "marks"), "lines")
	dir := t.TempDir()
	if err := unix.Mount("recorder-test", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("SKIP: needs a file system that is soon full: mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	cmd.Env = append(cmd.Env, Environment+"="+Setting(dir))
	s := speaking(t, cmd)
	s.say("before")
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	f.Close()
	filled(s)
	s.end()
	folder, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	ring := folder.Rings()[0]
	defer ring.Close()
	n := 0
	ring.Rest(func(Event) { n++ })
	if ring.Lost() == 0 || uint64(n)+ring.Lost() != 1+1+1+40 || ring.Err() != nil {
		t.Errorf("%d events, %d lost, %v", n, ring.Lost(), ring.Err())
	}
	// There is no room for a ring at all.
	cmd, _, _ = command(t, compiled(t, "marks"), "lines")
	cmd.Env = append(cmd.Env, Environment+"="+Setting(dir))
	s = speaking(t, cmd)
	filled(s)
	s.end()
	if rings := folder.Rings(); len(rings) != 0 || len(folder.Refused) != 0 {
		t.Errorf("%d rings on a full disk, %v", len(rings), folder.Refused)
	}
}

// A process that may write only small files has a small ring, or none.
func TestFileLimit(t *testing.T) {
	program := compiled(t, "marks")
	for kilobytes, rings := range map[int]int{100: 0, 1000: 1} {
		cmd, folder, _ := command(t, "/bin/sh", "-c", fmt.Sprintf("ulimit -f %d; exec %s threads 2 1000", kilobytes*2, program)) // of 512 bytes
		ran(t, cmd)
		got := folder.Rings()
		if len(got) != rings {
			t.Errorf("%d kB: %d rings, %v", kilobytes, len(got), folder.Refused)
		}
		for _, r := range got {
			n := 0
			r.Rest(func(Event) { n++ })
			if n != 2001 || r.Lost() != 0 {
				t.Errorf("%d kB: %d events, %d lost", kilobytes, n, r.Lost())
			}
			r.Close()
		}
	}
}
