package gguf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
)

// readAhead is the block of the buffered reader: that of Rust's BufReader,
// with which candle's buffered figure was taken.
const readAhead = 8 << 10

// newReader returns what the header is read from without a mapping.
func newReader(file *os.File, mode IO) io.Reader {
	if mode == Buffered {
		return bufio.NewReaderSize(file, readAhead)
	}
	return file
}

// noLimit is for strings that only the file's size bounds.
const noLimit = math.MaxUint64

// cursor walks through the header. b holds the bytes from the start of the
// file on that are there: all of them when the file is mapped, else those read
// so far, and reader brings more. Nothing beyond size, the file's size, is
// asked for, so no length in the file can make it allocate more than the file
// holds.
type cursor struct {
	b      []byte
	p      int // the offset in the file of what comes next
	size   int64
	reader io.Reader // nil when b is the whole file
}

// left returns the number of bytes from p to the end of the file.
func (c *cursor) left() uint64 { return uint64(c.size) - uint64(c.p) }

// need makes the next n bytes available in b.
func (c *cursor) need(n uint64, what string) error {
	if uint64(len(c.b)-c.p) >= n {
		return nil
	}
	if n > c.left() {
		return fmt.Errorf("%s at offset %d takes %d bytes, but the file ends after %d", what, c.p, n, c.left())
	}
	return c.fill(int(n), what)
}

// fill reads up to p+n. Large pieces are read in steps, so that a file that is
// shorter than it said does not cost its stated size in memory.
func (c *cursor) fill(n int, what string) error {
	const step = 1 << 20
	for len(c.b)-c.p < n {
		old := len(c.b)
		add := min(n-(old-c.p), step)
		c.b = grow(c.b, add)
		if got, err := io.ReadFull(c.reader, c.b[old:]); err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return fmt.Errorf("%s at offset %d: the file shrank to %d bytes while it was read", what, c.p, old+got)
			}
			return fmt.Errorf("%s at offset %d: %w", what, c.p, err)
		}
	}
	return nil
}

// grow lengthens b by n bytes, doubling its capacity when it is used up.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) < n {
		next := make([]byte, len(b), max(2*cap(b), len(b)+n, 4<<10))
		copy(next, b)
		b = next
	}
	return b[:len(b)+n]
}

func (c *cursor) u32(what string) (uint32, error) {
	if err := c.need(4, what); err != nil {
		return 0, err
	}
	v := binary.LittleEndian.Uint32(c.b[c.p:])
	c.p += 4
	return v, nil
}

func (c *cursor) u64(what string) (uint64, error) {
	if err := c.need(8, what); err != nil {
		return 0, err
	}
	v := binary.LittleEndian.Uint64(c.b[c.p:])
	c.p += 8
	return v, nil
}

// skip passes over n bytes, which are then available in b.
func (c *cursor) skip(n uint64, what string) error {
	if err := c.need(n, what); err != nil {
		return err
	}
	c.p += int(n)
	return nil
}

// str reads a length and as many bytes, at most limit, and returns them as a
// view of b that the next read may move away from.
func (c *cursor) str(limit uint64, what string) ([]byte, error) {
	at := c.p
	n, err := c.u64(what)
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, fmt.Errorf("%s at offset %d is %d bytes long; %d are allowed", what, at, n, limit)
	}
	if err := c.skip(n, what); err != nil {
		return nil, err
	}
	return c.b[c.p-int(n) : c.p], nil
}

// skipStrings passes over n strings. This is most of the work of opening a
// model: a vocabulary has some 10^5 strings, of which only the lengths are
// touched.
func (c *cursor) skipStrings(n uint64, what string) error {
	if c.reader != nil {
		for range n {
			if _, err := c.str(noLimit, what); err != nil {
				return err
			}
		}
		return nil
	}
	b, p := c.b, c.p
	for range n {
		if len(b)-p < 8 {
			c.p = p
			return c.need(8, what)
		}
		l := binary.LittleEndian.Uint64(b[p:])
		p += 8
		if l > uint64(len(b)-p) {
			c.p = p
			return c.need(l, what)
		}
		p += int(l)
	}
	c.p = p
	return nil
}
