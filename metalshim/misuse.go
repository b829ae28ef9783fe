package metalshim

import "fmt"

// Misuse is what a driver's encoder keeps of how it is used: the first misuse, and
// the rules of arguments that are Metal's and hold whatever the driver.
type Misuse struct{ Err error }

// Note keeps a misuse, unless there was one before.
func (m *Misuse) Note(kernel, format string, args ...any) {
	if m.Err == nil {
		m.Err = &EncodeError{Kernel: kernel, Reason: fmt.Sprintf(format, args...)}
	}
}

// Index holds the index of an argument to its bounds. kind names what it is of.
func (m *Misuse) Index(kind string, i int) bool {
	ok := i >= 0 && i < MaxBufferIndex
	if !ok {
		m.Note("", "%s index %d: it must be 0 to %d", kind, i, MaxBufferIndex-1)
	}
	return ok
}

// Bytes holds the length of what SetBytes takes as argument i to its bounds.
func (m *Misuse) Bytes(i, n int) bool {
	ok := n >= 1 && n <= 4096
	if !ok {
		m.Note("", "%d bytes for argument %d: it must be 1 to 4096", n, i)
	}
	return ok
}

// ThreadgroupMemory holds the length of one to its rule.
func (m *Misuse) ThreadgroupMemory(length, most int) bool {
	ok := length >= 0 && length%16 == 0 && length <= most
	if !ok {
		m.Note("", "%d bytes of threadgroup memory: it must be a multiple of 16 up to %d", length, most)
	}
	return ok
}

// Within holds n bytes from offset on to a buffer of size bytes.
func (m *Misuse) Within(offset, n, size int) bool {
	ok := offset >= 0 && n >= 0 && offset <= size && n <= size-offset
	if !ok {
		m.Note("", "offset %d and length %d leave the buffer of %d bytes", offset, n, size)
	}
	return ok
}
