package objc

import (
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// blockLayout is a block's memory (LLVM, Block Implementation Specification).
type blockLayout struct {
	isa             uintptr
	flags, reserved int32
	invoke          uintptr
	descriptor      *blockDescriptor
}

type blockDescriptor struct {
	_         uintptr // reserved
	size      uintptr
	signature *byte
}

// Flags of a block.
const (
	blockIsGlobal     = 1 << 28
	blockHasSignature = 1 << 30
)

// handlerSignature is the encoding of void (^)(id), with offsets.
var handlerSignature = append([]byte("v16@?0@8"), 0)

var blocks struct {
	sync.Mutex
	kept []*blockLayout // they are never freed: the system holds bare addresses
}

// NewGlobalBlock makes a void (^)(id) that calls f. It captures nothing that
// the system could copy or free, and it lives for ever, as does one of the few
// thousand callbacks that a process has: make one, not one for each use. f is
// called on threads of the system.
func (rt *Runtime) NewGlobalBlock(f func(ID)) Block {
	b := &blockLayout{
		isa:   rt.globalBlock,
		flags: blockIsGlobal | blockHasSignature,
		invoke: purego.NewCallback(func(_ Block, object ID) {
			f(object)
		}),
		descriptor: &blockDescriptor{size: unsafe.Sizeof(blockLayout{}), signature: &handlerSignature[0]},
	}
	blocks.Lock()
	blocks.kept = append(blocks.kept, b)
	blocks.Unlock()
	return Block(unsafe.Pointer(b))
}
