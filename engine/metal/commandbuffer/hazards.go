package commandbuffer

// Hazards finds out, for one encoder, which dispatches need a barrier before
// them. Buffers are told apart by number, whatever part of them is bound: two
// writes to different halves of a buffer count as a conflict.
//
// The arguments of a dispatch are noted with Read and Write, in the order in
// which they are set, and then Barrier is asked.
type Hazards struct {
	read, written         map[int]bool // since the last barrier
	nextRead, nextWritten []int        // by the dispatch under way
	conflict              bool
}

// Reset makes h ready for a new encoder.
func (h *Hazards) Reset() {
	if h.read == nil {
		h.read, h.written = map[int]bool{}, map[int]bool{}
	}
	clear(h.read)
	clear(h.written)
	h.nextRead, h.nextWritten, h.conflict = h.nextRead[:0], h.nextWritten[:0], false
}

// Read notes that the dispatch under way reads buffer.
func (h *Hazards) Read(buffer int) {
	h.conflict = h.conflict || h.written[buffer]
	h.nextRead = append(h.nextRead, buffer)
}

// Write notes that the dispatch under way writes buffer.
func (h *Hazards) Write(buffer int) {
	h.conflict = h.conflict || h.written[buffer] || h.read[buffer]
	h.nextWritten = append(h.nextWritten, buffer)
}

// Barrier ends the arguments of a dispatch. It says whether a barrier must
// stand before it: whether it reads what was written, or writes what was read
// or written, since the last barrier.
func (h *Hazards) Barrier() bool {
	barrier := h.conflict
	if barrier {
		clear(h.read)
		clear(h.written)
	}
	for _, b := range h.nextRead {
		h.read[b] = true
	}
	for _, b := range h.nextWritten {
		h.written[b] = true
	}
	h.nextRead, h.nextWritten, h.conflict = h.nextRead[:0], h.nextWritten[:0], false
	return barrier
}
