package beside

import (
	"encoding/binary"
	"errors"
	"math"
)

// Kinds of messages. Those of the program:
const (
	compile    = 1 + iota // number: of the library and of the answer
	pipeline              // number: of the pipeline and of the answer
	buffer                // number; a descriptor comes with it
	queue                 // number
	fence                 // number
	commit                // number: of the command buffer
	release               // numbers of objects
	status                // number: of the answer
	kindsAfter            // no kind
)

// Those of the device:
const (
	hello     = 101 + iota // number 0: what the device is
	answer                 // number: what was asked
	completed              // number: of the command buffer
)

// version is that of what both sides send: WIRE_VERSION of c/wire.c.
const version = 1

// headBytes are a message's kind, its number, and the bytes that follow, as 64-bit
// words of the machine's order, which is little on all that this runs on.
const headBytes = 24

// errShort is a message that ends before what it should hold.
var errShort = errors.New("a message of the program ends too early")

// content reads what a message holds. After its end it gives zeros, and err.
type content struct {
	b   []byte
	err error
}

func (c *content) word() uint64 {
	if len(c.b) < 8 {
		c.b, c.err = nil, errShort
		return 0
	}
	v := binary.LittleEndian.Uint64(c.b)
	c.b = c.b[8:]
	return v
}

// bytes are the next n, which belong to the message.
func (c *content) bytes(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.b, c.err = nil, errShort
		return nil
	}
	out := c.b[:n:n]
	c.b = c.b[n:]
	return out
}

func (c *content) text() string { return string(c.bytes(c.word())) }

// letter is a message that is being written.
type letter []byte

func newLetter(kind, number uint64) letter {
	l := make(letter, 0, 256)
	return l.word(kind).word(number).word(0)
}

func (l letter) word(v uint64) letter { return binary.LittleEndian.AppendUint64(l, v) }

func (l letter) number(v float64) letter { return l.word(math.Float64bits(v)) }

func (l letter) text(s string) letter { return append(l.word(uint64(len(s))), s...) }

// whole is l, with its length at its place.
func (l letter) whole() []byte {
	binary.LittleEndian.PutUint64(l[16:], uint64(len(l)-headBytes))
	return l
}
