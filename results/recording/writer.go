package recording

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/system/files"
)

// ErrBusy is what errors.Is finds where another process is writing the file.
var ErrBusy = errors.New("another run is writing it")

// flushAt is how many bytes a Writer keeps before it writes them unasked.
const flushAt = 1 << 20

// Writer writes a recording. Events are kept until Flush, so that nothing is
// written while something is measured. It may be used by several goroutines.
//
// After the first error everything fails with it: a file that has a hole would
// be worse than one that is cut off.
type Writer struct {
	mu   sync.Mutex
	w    io.Writer
	file *os.File
	buf  []byte
	err  error
	used bool // whether anything has been written
}

// Create opens path for a recording, unless another process is writing it: then
// the error wraps ErrBusy. What was in the file is gone once something is
// written; what fails before that leaves it. It is written in place from the
// start, so that a crash leaves what there was until then.
func Create(path string) (*Writer, error) { return create(path, 0) }

// CreateNew is Create for a file that must not exist yet: else the error wraps
// fs.ErrExist.
func CreateNew(path string) (*Writer, error) { return create(path, os.O_EXCL) }

func create(path string, flag int) (*Writer, error) {
	f, err := OpenOutput(path, flag)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return &Writer{w: f, file: f}, nil
}

// OpenOutput opens path to write it from the start, and leaves what is in it.
// flag is further flags of os.OpenFile. A pipe that nobody reads is an error,
// where the system would have the program wait for a reader.
func OpenOutput(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|unix.O_NONBLOCK|flag, 0o666)
	if errors.Is(err, unix.ENXIO) {
		return nil, fmt.Errorf("%w: it is a pipe that nobody reads; start its reader first", err)
	}
	return f, err
}

// Empty takes away what is in f. A device or a pipe has no length to set.
func Empty(f *os.File) error {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return f.Truncate(0)
}

// lock takes the file for this process until it is closed. Where the file
// system has no locks, nothing stops two runs.
func lock(f *os.File) error {
	switch taken, err := files.TryLock(f); {
	case err != nil:
		return fmt.Errorf("cannot lock it: %w", err)
	case !taken:
		return fmt.Errorf("%w; wait until it has ended, or give another name", ErrBusy)
	}
	return nil
}

// Busy says whether another process, or this one, is writing the recording at
// path.
func Busy(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(lock(f), ErrBusy)
}

// NewWriter returns a Writer to w, which stays open.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Put takes an event. It is written at the next Flush.
func (w *Writer) Put(e Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	buf, err := Encode(w.buf, e)
	w.buf = buf
	if err != nil {
		return err // of this event only
	}
	return w.full()
}

// PutLine takes a line that another process has written, as it is. A line
// break at its end may be there or not.
func (w *Writer) PutLine(line []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.buf = append(w.buf, line...)
	if n := len(line); n == 0 || line[n-1] != '\n' {
		w.buf = append(w.buf, '\n')
	}
	return w.full()
}

func (w *Writer) full() error {
	if len(w.buf) < flushAt {
		return nil
	}
	return w.flush()
}

// Flush writes what has been put so far.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush()
}

func (w *Writer) flush() error {
	if w.err != nil || len(w.buf) == 0 {
		return w.err
	}
	if w.file != nil && !w.used {
		if w.err = Empty(w.file); w.err != nil {
			return w.err
		}
	}
	w.used = true
	_, w.err = w.w.Write(w.buf)
	w.buf = w.buf[:0]
	return w.err
}

// Close flushes, and closes the file.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.flush()
	if w.file != nil {
		err = errors.Join(err, w.file.Close())
		w.file = nil
	}
	if w.err == nil {
		w.err = os.ErrClosed
	}
	return err
}
