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

// mostObjects is how many objects a completion handler is called with at most.
const mostObjects = 3

// signatures are the encodings of void (^)(id, …), with offsets, by the number of
// objects.
var signatures = [mostObjects + 1][]byte{
	1: []byte("v16@?0@8\x00"),
	2: []byte("v24@?0@8@16\x00"),
	3: []byte("v32@?0@8@16@24\x00"),
}

// handler is a block, and who waits for its call. It is a global block: it captures
// nothing that the system could copy or free, and it is never freed, as the system
// may hold its address for as long as it likes. After its call it serves the next.
type handler struct {
	block   blockLayout // first: its address is the handler's
	objects int
	retain  func(ID) ID
	called  chan [mostObjects]ID
}

// handlers are all blocks of the process, and those that wait for nothing, by the
// number of objects that they are called with. There are as many as calls have been
// under way at once.
var handlers struct {
	sync.Mutex
	all    map[*blockLayout]*handler
	idle   [mostObjects + 1][]*handler
	invoke uintptr // one of the few thousand callbacks that a process has
}

// Completion has the system call a completion handler, void (^)(id, …) of up to three
// objects, and returns what it was called with. start is given the handler, and must
// see to it that the system calls it exactly once, on whatever thread; until then
// Completion waits. The objects are +1; nil ones are 0.
func (rt *Runtime) Completion(objects int, start func(Block)) [mostObjects]ID {
	h := rt.handler(objects)
	start(Block(unsafe.Pointer(&h.block)))
	got := <-h.called
	handlers.Lock()
	handlers.idle[objects] = append(handlers.idle[objects], h)
	handlers.Unlock()
	return got
}

// handler takes an idle block, or makes one.
func (rt *Runtime) handler(objects int) *handler {
	handlers.Lock()
	defer handlers.Unlock()
	if handlers.invoke == 0 {
		handlers.invoke = purego.NewCallback(invoked)
		handlers.all = map[*blockLayout]*handler{}
	}
	idle := handlers.idle[objects]
	if n := len(idle); n > 0 {
		h := idle[n-1]
		handlers.idle[objects] = idle[:n-1]
		h.retain = rt.Retain
		h.block.isa = rt.globalBlock
		return h
	}
	h := &handler{objects: objects, retain: rt.Retain, called: make(chan [mostObjects]ID, 1)}
	h.block = blockLayout{
		isa: rt.globalBlock, flags: blockIsGlobal | blockHasSignature, invoke: handlers.invoke,
		descriptor: &blockDescriptor{size: unsafe.Sizeof(blockLayout{}), signature: &signatures[objects][0]},
	}
	handlers.all[&h.block] = h
	return h
}

// invoked is called on a thread of the system, with as many objects as the block's
// signature says; what else is in their places is anything.
func invoked(block *blockLayout, a, b, c ID) {
	handlers.Lock()
	h := handlers.all[block]
	handlers.Unlock()
	got := [mostObjects]ID{a, b, c}
	for i := range got {
		switch {
		case i >= h.objects:
			got[i] = 0
		case got[i] != 0:
			h.retain(got[i])
		}
	}
	h.called <- got
}
