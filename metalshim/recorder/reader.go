package recorder

import (
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
	"unsafe"
)

// The layout of struct ring and struct event in ring.h.
const (
	magic     = 0x31474e5254494e49
	headBytes = 4096
	slotBytes = 64
	slotText  = slotBytes - 8
	mostSlots = 1 << 24
	textSlot  = 1 << 63

	offVersion   = 8
	offCapacity  = 16
	offPID       = 24
	offParent    = 32
	offBegan     = 40
	offMonotonic = 48
	offHead      = 64
	offTail      = 128
	offLost      = 192
	offCost      = 200
)

// Ring is what one process writes.
type Ring struct {
	path     string
	memory   []byte // the file, shared with the writer
	capacity uint64
	// tail is the number of slots that were read; the writer is told.
	tail         uint64
	pid, parent  uint64
	began, clock int64 // the two clocks at one moment, ns
	err          error
	text         []byte
}

// newRing takes a file's memory, and unmap it when it is none.
func newRing(path string, memory []byte) (r *Ring, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			r, err = nil, fmt.Errorf("%s: %w: %v", path, ErrDamaged, fault)
		}
	}()
	if len(memory) < headBytes {
		return nil, fmt.Errorf("%s: %w: %d bytes are less than a header", path, ErrDamaged, len(memory))
	}
	r = &Ring{path: path, memory: memory}
	if got := r.word(0); got != magic {
		return nil, fmt.Errorf("%s: %w: it begins with %#x", path, ErrDamaged, got)
	}
	if got := r.word(offVersion); got != Version {
		return nil, fmt.Errorf("%s: %w: %d, this is %d", path, ErrVersion, got, Version)
	}
	r.capacity = r.word(offCapacity)
	if r.capacity == 0 || r.capacity&(r.capacity-1) != 0 || r.capacity > mostSlots {
		return nil, fmt.Errorf("%s: %w: %d slots: a power of two up to %d is allowed", path, ErrDamaged, r.capacity, mostSlots)
	}
	if want := headBytes + r.capacity*slotBytes; uint64(len(memory)) != want {
		return nil, fmt.Errorf("%s: %w: %d bytes, %d slots need %d", path, ErrDamaged, len(memory), r.capacity, want)
	}
	r.pid, r.parent = r.word(offPID), r.word(offParent)
	r.began, r.clock = int64(r.word(offBegan)), int64(r.word(offMonotonic))
	r.tail = r.word(offTail)
	if head := r.word(offHead); head-r.tail > r.capacity {
		return nil, fmt.Errorf("%s: %w: slots %d to %d are more than %d", path, ErrDamaged, r.tail, head, r.capacity)
	}
	return r, nil
}

func (r *Ring) pointer(offset uint64) *uint64 { return (*uint64)(unsafe.Pointer(&r.memory[offset])) }
func (r *Ring) word(offset uint64) uint64     { return atomic.LoadUint64(r.pointer(offset)) }

// PID is the process's number.
func (r *Ring) PID() uint64 { return r.pid }

// Parent is the number of its parent.
func (r *Ring) Parent() uint64 { return r.parent }

// Lost is the number of events that found the ring full.
func (r *Ring) Lost() uint64 {
	if r.memory == nil {
		return 0
	}
	return r.word(offLost)
}

// Cost is what writing one event costs the process, measured there.
func (r *Ring) Cost() time.Duration {
	if r.memory == nil {
		return 0
	}
	return time.Duration(r.word(offCost) / 1000)
}

// Err is what was found wrong in the ring, nil if nothing was: slots that no
// recorder writes, which are gone past, and a head that cannot be, after which
// nothing more is read.
func (r *Ring) Err() error { return r.err }

func (r *Ring) damaged(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %w: %s", r.path, ErrDamaged, fmt.Sprintf(format, args...))
	}
}

// Read gives what is published, at most limit events, and says how many these
// were. It never waits. The events of one thread come in their order; those of
// several by their places in the ring, and a time may be earlier than the one
// before it.
func (r *Ring) Read(limit int, each func(Event)) int {
	n, _ := r.read(limit, false, each)
	return n
}

// Rest gives all that was published by a process that is gone, and says how
// many slots it had reserved and not published, or hold what no recorder
// writes.
func (r *Ring) Rest(each func(Event)) (skipped int) {
	_, skipped = r.read(int(^uint(0)>>1), true, each)
	return skipped
}

// read reads slots; those that are not published end it, unless the process is
// gone.
func (r *Ring) read(limit int, gone bool, each func(Event)) (n, skipped int) {
	if r.memory == nil {
		return 0, 0
	}
	// A file that was cut short meanwhile is a fault and no crash.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	reading := true
	defer func() {
		if !reading {
			return // the panic is that of each
		}
		if fault := recover(); fault != nil {
			r.damaged("slot %d: %v", r.tail, fault)
			r.Close()
		}
	}()
	head := r.word(offHead)
	if head-r.tail > r.capacity {
		r.damaged("slots %d to %d are more than %d", r.tail, head, r.capacity)
		r.Close()
		return 0, 0
	}
	for n < limit && r.tail != head {
		e, slots, state := r.event(head)
		if state == unpublished && !gone {
			break
		}
		r.tail += slots
		if state == whole {
			n++
			reading = false
			each(e)
			reading = true
		} else {
			skipped++
		}
		if r.tail&1023 < slots { // now and then, so that a writer has room
			atomic.StoreUint64(r.pointer(offTail), r.tail)
		}
	}
	atomic.StoreUint64(r.pointer(offTail), r.tail)
	return n, skipped
}

// States of a slot.
const (
	whole = iota
	unpublished
	wrong
)

// event is the event at the tail, and how many slots it takes: 1 where there
// is none.
func (r *Ring) event(head uint64) (e Event, slots uint64, state int) {
	at := r.offset(r.tail)
	switch number := r.word(at); {
	case number == r.tail+1:
	case number == 0 || number&^textSlot == r.tail+1-r.capacity: // never written, or the last time round
		return e, 1, unpublished
	case number == (r.tail+1)|textSlot: // its event was not published
		return e, 1, unpublished
	default:
		r.damaged("slot %d has the number %#x", r.tail, number)
		return e, 1, wrong
	}
	s := r.memory[at : at+slotBytes]
	length := uint64(binary.LittleEndian.Uint16(s[22:]))
	slots = 1 + (length+slotText-1)/slotText
	e = Event{
		Time:   r.time(binary.LittleEndian.Uint64(s[8:])),
		Thread: binary.LittleEndian.Uint32(s[16:]), Kind: Kind(binary.LittleEndian.Uint16(s[20:])),
		Object: binary.LittleEndian.Uint64(s[24:]), A: binary.LittleEndian.Uint64(s[32:]), B: binary.LittleEndian.Uint64(s[40:]),
		C: binary.LittleEndian.Uint64(s[48:]), D: binary.LittleEndian.Uint64(s[56:]),
	}
	if e.Kind == 0 || e.Kind > Missed {
		r.damaged("slot %d has an event of the kind %d", r.tail, e.Kind)
		return e, 1, wrong
	}
	if slots > head-r.tail {
		r.damaged("slot %d has %d bytes of text behind it, more than there is", r.tail, length)
		return e, 1, wrong
	}
	r.text = r.text[:0]
	for i := uint64(1); i < slots; i++ {
		at := r.offset(r.tail + i)
		if number := r.word(at); number != (r.tail+i+1)|textSlot {
			r.damaged("slot %d has the number %#x, where a text goes on", r.tail+i, number)
			return e, 1, wrong
		}
		r.text = append(r.text, r.memory[at+8:at+8+min(slotText, length-(i-1)*slotText)]...)
	}
	e.Text = string(r.text)
	r.clocks(&e)
	return e, slots, whole
}

func (r *Ring) offset(slot uint64) uint64 { return headBytes + slot&(r.capacity-1)*slotBytes }

// time is a time of the ring's clock on CLOCK_MONOTONIC.
func (r *Ring) time(ns uint64) int64 { return int64(ns) - r.began + r.clock }

// clocks takes the other times in an event to CLOCK_MONOTONIC.
func (r *Ring) clocks(e *Event) {
	switch e.Kind {
	case Commit, EncoderEnd:
		e.A = r.other(e.A)
	case Scheduled, Completed:
		e.A, e.B = r.other(e.A), r.other(e.B)
	case Device, Buffer, Heap:
		e.D = r.other(e.D)
	case WaitEnd:
		e.B = r.other(e.B)
	}
}

// other is a time that may be absent: 0 stays 0.
func (r *Ring) other(ns uint64) uint64 {
	if ns == 0 {
		return 0
	}
	return uint64(r.time(ns))
}
