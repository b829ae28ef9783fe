// Package native runs compiled kernels: it holds the C++ source of the soft
// driver's runtime, loads what has been compiled from it, and hands it command
// buffers. Nothing here uses cgo.
package native

import (
	"embed"
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"
)

//go:embed src
var files embed.FS

// Source is the runtime's C++ text: one file after another, each with what those
// after it need.
func Source() string {
	var b strings.Builder
	for _, name := range []string{"system.h", "turns.h", "pool.h", "assist.h", "runtime.cc"} {
		text, err := files.ReadFile("src/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		fmt.Fprintf(&b, "# 1 %q\n%s\n", name, text)
	}
	return b.String()
}

// Flags are clang's arguments for Source, beside input and output.
var Flags = []string{"-x", "c++", "-std=c++17", "-O2", "-nostdinc", "-fPIC", "-fvisibility=hidden",
	"-fno-exceptions", "-fno-rtti", "-fno-stack-protector"}

// ErrUnsupported says that the runtime does not exist for this system.
var ErrUnsupported = errors.New("the soft metal driver runs on linux/amd64 and linux/arm64 only")

// Kinds of commands.
const (
	RunKernel = 0
	CopyBytes = 1
	FillBytes = 2
)

// Command is one thing to do, laid out as Command in src/pool.h. Addresses are
// those of memory outside of Go's heap, or of memory that the caller keeps
// alive.
type Command struct {
	Kind uint32
	// Value is what to fill with. Of a kernel 1 says that its simdgroups may wait for
	// each other: they are run by several threads if they do.
	Value      uint32
	Fn         uintptr // kernel
	Frame, TGS uint64  // bytes of a simdgroup's frame and of static threadgroup memory
	Buf        [31]uintptr
	Bytes      uint64
	TGM        [31]uint32
	Groups     [3]uint32 // threadgroups
	Per        [3]uint32 // threads of a full threadgroup
	Threads    [3]uint32 // threads of the grid
}

// Status is how a command buffer ended.
type Status uint32

// Endings.
const (
	OK         Status = 0
	Timeout    Status = 1 // a limit, or Stop
	Fault      Status = 2
	Arithmetic Status = 3
	Illegal    Status = 4
	NoMemory   Status = 5
)

// result is laid out as Result in src/pool.h.
type result struct {
	status, command         uint32
	entered, started, ended int64
	address                 uint64
}

// frameBytes is the size of msl_tg in src/turns.h.
const frameBytes = 16 + 31*8*2 + 15*4 + 8 + 4

const layout = uint64(unsafe.Sizeof(Command{}))<<32 | uint64(unsafe.Sizeof(result{}))<<16 | frameBytes

// Limits end a command buffer that would run for ever. 0 is none.
type Limits struct {
	Stall time.Duration // in which no threadgroup completes
	Total time.Duration // of the command buffer
}

// Outcome is what Run says.
type Outcome struct {
	Status  Status
	Command int           // the one that failed
	Address uintptr       // of a fault
	Limit   time.Duration // that was reached; 0 where Stop ended it
	Stalled bool          // it was that of Stall
	// Started and Ended are after the call of Run.
	Started, Ended time.Duration
}

// Kernel is a loaded pipeline.
type Kernel struct {
	Fn                uintptr
	Frame, StaticSize uint64 // bytes
	unload            func()
}
