// Package forward is the forward pass on Metal as a list of steps: which buffers
// are made, which kernels run on them, with which arguments and grids, and
// when the CPU waits. It knows no device: engine/metal carries the steps out.
//
// The steps are those of candle 0.11.0's model of the architecture (quantized_llama
// and its like, a file each), dispatch for dispatch: the same libraries and functions in the same order, the same
// argument tables, the same lifetimes of the buffers between them. That makes
// a run comparable with candle's, and lets candle's own kernel files take the
// place of ours. Where this plan leaves candle, the text says so.
package forward

import (
	"github.com/introgen/introgen/metalshim"
)

// Buf names a buffer of a plan. Names are used again after their Free. The
// zero Buf is no buffer.
type Buf int

// Op is what a Step does.
type Op uint8

// The kinds of steps, with the fields of Step that each uses.
const (
	// Upload makes Buf a new shared buffer that holds Data.
	Upload Op = iota
	// UploadWeight makes Buf a new shared buffer that holds the bytes of the
	// tensor Name, as they stand in the model file.
	UploadWeight
	// UploadExpanded makes Buf a new shared buffer that holds the elements of
	// the tensor Name as float32, made by the CPU from the block bytes that
	// stand in Src.
	UploadExpanded
	// Alloc takes a private buffer of at least Bytes from the pool as Buf. Its
	// content is undefined.
	Alloc
	// Stage takes a shared buffer of at least Bytes from the pool as Buf.
	Stage
	// Free gives Buf back.
	Free
	// Run encodes Dispatch.
	Run
	// Copy encodes a blit of Bytes from SrcOffset of Src to Offset of Buf.
	Copy
	// Fill encodes a blit that sets all of Buf to 0, be it longer than asked for.
	Fill
	// Wait commits what is encoded and waits for it; then buffers that are in
	// the pool and free are released.
	Wait
	// Synchronize is Wait, except that nothing is committed when nothing has
	// been encoded since the last Wait.
	Synchronize
	// Take hands the first Bytes of the shared buffer Src to the caller.
	Take
)

var opNames = [...]string{"upload", "upload weight", "upload expanded", "alloc", "stage", "free", "run", "copy", "fill", "wait", "synchronize", "take"}

// String is the step's name in messages.
func (o Op) String() string {
	if int(o) >= len(opNames) {
		return "unknown"
	}
	return opNames[o]
}

// Step is one thing to do. Which fields count is said at its Op.
type Step struct {
	Op       Op
	Buf, Src Buf
	Bytes    int
	Name     string
	Data     []byte
	Dispatch *Dispatch
	Part     Part // of a Copy or a Fill

	SrcOffset, Offset int    // bytes, of a Copy
	Label             string // what candle labels the encoder of a Copy or a Fill with
}

// Dispatch is one kernel launch.
type Dispatch struct {
	Library, Function string
	// Constants are the function constants in candle's order; nil means that
	// the function is looked up without any.
	Constants []metalshim.Constant
	// Args are the arguments in the order in which candle sets them.
	Args []Arg
	// Absent are arguments that candle leaves unset although its kernel declares
	// them: it does not read them.
	Absent []int
	// ThreadgroupBytes is the length of threadgroup memory 0, or 0 if candle
	// does not set it.
	ThreadgroupBytes int
	Extent           Extent
	// Label is what candle labels the encoder with before this dispatch, or "".
	Label string
	// Joined says that the dispatch belongs to the operation of the one before
	// it, so that it is not counted against the commands of a command buffer.
	Joined bool
	// Part is what of the model the dispatch computes.
	Part Part
}

// Arg is one argument of a kernel: a buffer, or a few bytes.
type Arg struct {
	Index  int
	Buf    Buf // 0 where the argument is Data
	Offset int // bytes into Buf
	Out    bool
	Data   []byte // little-endian
}

// Clone returns a copy that shares no memory with s. Steps that a Planner
// hands out are valid until the next one; who keeps them clones them.
func (s *Step) Clone() Step {
	c := *s
	c.Data = append([]byte(nil), s.Data...)
	if s.Dispatch == nil {
		return c
	}
	d := *s.Dispatch
	d.Constants = append([]metalshim.Constant(nil), d.Constants...)
	d.Args = append([]Arg(nil), d.Args...)
	d.Absent = append([]int(nil), d.Absent...)
	for i := range d.Args {
		if d.Args[i].Buf == 0 {
			d.Args[i].Data = append([]byte(nil), d.Args[i].Data...)
		}
	}
	c.Dispatch = &d
	return c
}
