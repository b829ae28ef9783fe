package recording

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a"+Ending)
	if err := os.WriteFile(path, []byte("of an earlier run, and longer than what comes"), 0o666); err != nil {
		t.Fatal(err)
	}
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), path) {
		t.Errorf("two runs write one file: %v", err)
	}
	if !Busy(path) {
		t.Error("the file does not count as being written")
	}
	if err := errors.Join(w.Put(small()[0]), w.PutLine([]byte(`{"k":"note","text":"verbatim"}`))); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); !strings.HasPrefix(string(b), "of an earlier run") {
		t.Errorf("before anything is written the file holds %q", b)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil || len(f.Runs) != 1 || f.Runs[0].Notes[0].Text != "verbatim" || f.Broken != "" {
		t.Errorf("while it is written: %v, %+v", err, f)
	}
	if err := errors.Join(w.Put(&End{}), w.Close()); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(path); err != nil || f.Runs[0].End == nil || Busy(path) {
		t.Errorf("at the end: %v, %+v", err, f)
	}
	if err := w.Put(&End{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := Create(filepath.Join(path, "b")); err == nil {
		t.Error("a file below a file was created")
	}
}

// TestCreateNew: a file that is there is refused and left, one that is not is
// written.
func TestCreateNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a"+Ending)
	w, err := CreateNew(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Put(small()[0]), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateNew(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	if f, err := Open(path); err != nil || len(f.Runs) != 1 {
		t.Errorf("it then holds %+v, %v", f, err)
	}
}

// TestEmpty: what a writer replaces may be longer than what it writes, and not
// be a file at all.
func TestEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a"+Ending)
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 1<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Put(small()[0]), w.Close()); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, encode(t, small()[0])) {
		t.Errorf("the file is %d bytes long, %v", len(b), err)
	}
	f, err := OpenOutput(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Empty(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	if is, err := os.Stat(path); err != nil || is.Size() != 0 {
		t.Errorf("emptied, the file is %v, %v", is, err)
	}
	null, err := OpenOutput(os.DevNull, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Empty(null), null.Close()); err != nil {
		t.Errorf("a device: %v", err)
	}
}

// TestNothingWritten: what fails before the first event leaves what was there.
func TestNothingWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a"+Ending)
	if err := os.WriteFile(path, []byte("of an earlier run"), 0o666); err != nil {
		t.Fatal(err)
	}
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); string(b) != "of an earlier run" {
		t.Errorf("the file holds %q, %v", b, err)
	}
}

// TestPipe: one that nobody reads is an error, not a program that waits for
// ever.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a"+Ending)
	if err := unix.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path); err == nil || !strings.Contains(err.Error(), "nobody reads") {
		t.Errorf("a pipe without a reader: %v", err)
	}
	read := make(chan *File)
	go func() {
		f, err := Open(path)
		if err != nil {
			t.Error(err)
		}
		read <- f
	}()
	w, err := Create(path)
	for range 500 { // until the reader has opened its end
		if err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
		w, err = Create(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Put(small()[0]), w.Put(&End{}), w.Close()); err != nil {
		t.Fatal(err)
	}
	if f := <-read; f == nil || len(f.Runs) != 1 || f.Runs[0].End == nil {
		t.Errorf("the reader got %+v", f)
	}
}

// tight refuses what is written after so many bytes, as a full disk does.
type tight struct {
	bytes.Buffer
	left int
}

func (f *tight) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	f.left -= n
	f.Buffer.Write(p[:n])
	if n < len(p) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

func TestFullDisk(t *testing.T) {
	out := &tight{left: len(encode(t, small()[0])) + 20}
	w := NewWriter(out)
	for _, e := range small()[:3] {
		if err := w.Put(e); err != nil {
			t.Fatal(err)
		}
	}
	first := w.Flush()
	out.left = 1000 // space comes back, but a hole must not be written over
	if err := w.Put(&End{}); first == nil || err == nil {
		t.Errorf("errors %v and %v", first, err)
	}
	f, err := Read(&out.Buffer, "full")
	if err != nil || f.Broken == "" || len(f.Runs) != 1 {
		t.Errorf("%v, %+v", err, f)
	}
}
