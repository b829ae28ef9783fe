package recording

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// ErrNotRecording is what errors.Is finds where a file holds nothing of a
// recording.
var ErrNotRecording = errors.New("not a recording of introgen")

// ErrNewer is what errors.Is finds where a recording is of a newer version of
// the format.
var ErrNewer = errors.New("recorded in a newer version of the format")

// A LineError is a line that was skipped. Reading goes on behind it.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns why the line was skipped.
func (e *LineError) Unwrap() error { return e.Err }

// A CutError says that a recording breaks off in the middle of a line, or has
// none. Everything before it is good.
type CutError struct {
	Line  int
	Bytes int64 // of the file that are good
	Err   error // what ended reading, where it was not the end of the file
}

func (e *CutError) Error() string {
	switch {
	case e.Err != nil:
		return fmt.Sprintf("reading ended in line %d, after %d bytes: %v", e.Line, e.Bytes, e.Err)
	case e.Bytes == 0:
		return "it was cut off before its header was written"
	}
	return fmt.Sprintf("it was cut off in line %d, after %d bytes that are whole", e.Line, e.Bytes)
}

// Unwrap returns what ended reading.
func (e *CutError) Unwrap() error { return e.Err }

// Events reads the events of a recording, which may be packed with gzip, one by
// one. A *LineError is a line
// that was skipped; after any other error nothing follows: ErrNotRecording,
// ErrNewer, or a *CutError.
func Events(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		in, err := unpacked(bufio.NewReaderSize(r, 64<<10))
		if err != nil {
			yield(nil, notRecording(err))
			return
		}
		var d decoder
		var long []byte
		var good int64
		for n := 1; ; n++ {
			line, tooLong, read, err := readLine(in, &long, n > 1)
			if err != nil {
				if e, end := d.last(n, line, tooLong, good, err); end != nil {
					yield(nil, end)
				} else if e != nil {
					yield(e, nil)
				}
				return
			}
			good += read
			var e Event
			if tooLong {
				err = fmt.Errorf("longer than %d bytes", MaxLine)
			} else {
				e, err = d.decode(line)
			}
			if n == 1 && (err != nil || e.Kind() != kindHeader) {
				yield(nil, notRecording(err))
				return
			}
			if err != nil {
				if !yield(nil, &LineError{n, err}) {
					return
				}
				continue
			}
			if e, err = accept(e); err != nil {
				yield(nil, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// mostUnpacked is how much of a packed recording is read, in bytes: a few bytes can
// be packed from any number.
const mostUnpacked = 4 << 30

// unpacked reads through gzip what is packed with it, as the last recordings are
// where they are large.
func unpacked(in *bufio.Reader) (*bufio.Reader, error) {
	if magic, _ := in.Peek(2); string(magic) != "\x1f\x8b" {
		return in, nil
	}
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(io.LimitReader(zip, mostUnpacked), 64<<10), nil
}

// last judges line n, which an error ended instead of a line break: an event
// that lacks nothing else, or why reading ends here, or neither at the end of a
// whole file.
func (d *decoder) last(n int, line []byte, tooLong bool, good int64, err error) (Event, error) {
	ended := errors.Is(err, io.EOF)
	if n == 1 && !ended {
		return nil, err
	}
	if ended && !tooLong {
		if len(line) == 0 && n > 1 {
			return nil, nil
		}
		if e, bad := d.decode(line); bad == nil && (n > 1 || e.Kind() == kindHeader) {
			return accept(e)
		}
	}
	if n == 1 && (tooLong || !mayBeHeader(line)) {
		return nil, ErrNotRecording
	}
	if ended {
		err = nil
	}
	return nil, &CutError{Line: n, Bytes: good, Err: err}
}

func notRecording(err error) error {
	if err == nil {
		return fmt.Errorf("%w: it does not begin with a header", ErrNotRecording)
	}
	return fmt.Errorf("%w: its first line: %w", ErrNotRecording, err)
}

const kindHeader = "header"

// accept refuses the header of a newer version.
func accept(e Event) (Event, error) {
	if h, ok := e.(*Header); ok && h.Version > Version {
		return nil, fmt.Errorf("%w: it is of version %d, written by introgen %s, and this introgen reads versions up to %d: take a newer introgen",
			ErrNewer, h.Version, h.Tool.Version, Version)
	}
	return e, nil
}

// mayBeHeader says whether a first line that is not whole can have been the
// beginning of a header.
func mayBeHeader(line []byte) bool {
	begin := []byte(`{"k":"header","format":"` + Format + `"`)
	n := min(len(begin), len(line))
	return bytes.Equal(line[:n], begin[:n])
}

// readLine reads up to the next line break, which it cuts off. A line longer
// than MaxLine is passed over without being kept. read counts the bytes with
// the line break. long is memory for lines that the reader's buffer cannot
// hold. Unless onward, the rest of a line that is too long is not read: of what
// begins so there may be no end.
func readLine(in *bufio.Reader, long *[]byte, onward bool) (line []byte, tooLong bool, read int64, err error) {
	*long = (*long)[:0]
	for {
		part, err := in.ReadSlice('\n')
		read += int64(len(part))
		if read > MaxLine {
			if tooLong = true; !onward {
				return nil, true, read, nil
			}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if !tooLong {
				*long = append(*long, part...)
			}
			continue
		case tooLong:
			return nil, true, read, err
		case len(*long) > 0:
			*long = append(*long, part...)
			part = *long
		}
		return bytes.TrimSuffix(part, []byte("\n")), false, read, err
	}
}

// maxWarnings is how many warnings are told one by one.
const maxWarnings = 20

// Read reads a recording from r; path is only for messages. There is an error
// only where nothing of a recording is there, or where it is of a newer
// version. A file that is cut off has its Broken set, and lines that are not
// understood become Warnings.
func Read(r io.Reader, path string) (*File, error) {
	var fatal error
	c := NewCollector()
	for e, err := range Events(r) {
		var line *LineError
		var cut *CutError
		switch {
		case err == nil:
			c.Add(e)
		case errors.As(err, &line):
			c.warn("%v: skipped", err)
		case errors.As(err, &cut):
			c.file.Broken = cut.Error()
		default:
			fatal = err
		}
	}
	if fatal != nil {
		return nil, fmt.Errorf("%s: %w", path, fatal)
	}
	f := c.File()
	f.Path = path
	return f, nil
}

// Open reads the recording at path.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}
