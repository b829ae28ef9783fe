// Package recorder is the library that is loaded into a program that uses Metal
// and sees every call that matters, and the reader of what it writes.
//
// The library is C (folder c), without dependencies, and the same source for
// macOS and for Linux. Each process of the program writes to a ring in a file
// that it shares with introgen (c/ring.h).
package recorder

// Version is RECORDER_VERSION: library and reader must have the same.
const Version = 1

// Kind is enum kind of ring.h, where each kind's words are described.
type Kind uint16

// Kinds of events, in the order of ring.h.
const (
	Process Kind = iota + 1
	Device
	LibraryBegin
	LibraryEnd
	Constant
	Function
	PipelineBegin
	PipelineEnd
	ArchiveBegin
	ArchiveEnd
	Buffer
	Heap
	Queue
	Commands
	Enqueue
	Commit
	Scheduled
	Completed
	Encoder
	EncoderEnd
	SetPipeline
	Dispatch
	Barrier
	Fence
	SharedEvent
	Blit
	WaitBegin
	WaitEnd
	Handler
	Label
	Mark
	Missed
)

// Event is one event of a ring.
type Event struct {
	Time       int64 // ns on CLOCK_MONOTONIC, by the ring's two clocks; so are the times in A, B and D
	Thread     uint32
	Kind       Kind
	Object     uint64
	A, B, C, D uint64
	Text       string // anything at all: a program's labels are in it
}
