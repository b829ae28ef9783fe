//go:build linux && (amd64 || arm64)

package standin_test

import "runtime"

// inEncoder sends one message to an open compute encoder.
func inEncoder(selector string, args ...func(w *world) uintptr) func(*world) {
	return in("computeCommandEncoder", selector, args...)
}

// inBlit sends one message to an open blit encoder.
func inBlit(selector string, args ...func(w *world) uintptr) func(*world) {
	return in("blitCommandEncoder", selector, args...)
}

func in(encoder, selector string, args ...func(w *world) uintptr) func(*world) {
	return func(w *world) {
		w.pooled(func() {
			e := w.send(w.commands(), encoder)
			words := make([]uintptr, len(args))
			for i, a := range args {
				words[i] = a(w)
			}
			w.send(e, selector, words...)
		})
	}
}

func word(v uintptr) func(*world) uintptr { return func(*world) uintptr { return v } }
func buffer(w *world) uintptr             { return w.buf }
func pipeline(w *world) uintptr           { return w.pipeline }

// dispatched sends a dispatch of a grid in groups.
func dispatched(selector string, set bool, grid, group [3]uintptr) func(*world) {
	return func(w *world) {
		w.pooled(func() {
			_, e := w.open()
			if set {
				w.dispatch(e)
			}
			w.sizes(e, selector, grid, group)
		})
	}
}

// sizes sends two structs of 24 bytes by value: on amd64 on the stack, which
// begins after six registers, on arm64 by pointers.
func (w *world) sizes(o uintptr, selector string, a, b [3]uintptr) {
	if runtime.GOARCH == "arm64" {
		w.send(o, selector, address(&a), address(&b))
		return
	}
	w.send(o, selector, 0, 0, 0, 0, a[0], a[1], a[2], b[0], b[1], b[2])
}

const threads, groups = "dispatchThreads:threadsPerThreadgroup:", "dispatchThreadgroups:threadsPerThreadgroup:"

// What is wrong with these is an argument.
var argumentMisuses = map[string]misuse{
	"a fence for a buffer": {`the buffer is a StandinFence, a MTLBuffer is wanted`,
		inEncoder("setBuffer:offset:atIndex:", func(w *world) uintptr { return w.send(w.dev, "newFence") }, word(0), word(0))},
	"a class for an object":      {`the pipeline is the class NSString, a MTLComputePipelineState is wanted`, inEncoder("setComputePipelineState:", func(w *world) uintptr { return w.class("NSString") })},
	"nil for an object":          {`the fence is nil, a MTLFence is wanted`, inEncoder("waitForFence:", word(0))},
	"offset at the end":          {`offset 64 of a buffer of 64 bytes`, inEncoder("setBuffer:offset:atIndex:", buffer, word(64), word(0))},
	"arguments in a wrong order": {`index 32: 0 to 30 are allowed`, inEncoder("setBuffer:offset:atIndex:", buffer, word(0), word(32))},
	"offset without a buffer":    {`index 3 has no buffer`, inEncoder("setBufferOffset:atIndex:", word(0), word(3))},
	"too many bytes":             {`4097 bytes: 1 to 4096 are allowed`, inEncoder("setBytes:length:atIndex:", func(*world) uintptr { return address(&[5000]byte{}) }, word(4097), word(0))},
	"no bytes":                   {`0 bytes: 1 to 4096 are allowed`, inEncoder("setBytes:length:atIndex:", func(*world) uintptr { return cString("") }, word(0), word(0))},
	"odd threadgroup memory":     {`24 bytes: a multiple of 16 up to 32768 is allowed`, inEncoder("setThreadgroupMemoryLength:atIndex:", word(24), word(0))},
	"unknown barrier scope":      {`MTLBarrierScope 0x8`, inEncoder("memoryBarrierWithScope:", word(8))},
	"unknown dispatch type":      {`MTLDispatchType is 2: 0 to 1 are allowed`, func(w *world) { w.pooled(func() { w.send(w.commands(), "computeCommandEncoderWithDispatchType:", 2) }) }},
	"no pipeline":                {`no pipeline is set`, dispatched(threads, false, [3]uintptr{1, 1, 1}, [3]uintptr{1, 1, 1})},
	"empty grid":                 {`grid 4 × 0 × 1`, dispatched(threads, true, [3]uintptr{4, 0, 1}, [3]uintptr{1, 1, 1})},
	"grid of structs shifted":    {`grid 4294967296 × 1 × 1`, dispatched(groups, true, [3]uintptr{1 << 32, 1, 1}, [3]uintptr{1, 1, 1})},
	"threadgroup too large":      {`threadgroup 32 × 32 × 2: the pipeline allows 1024 threads`, dispatched(groups, true, [3]uintptr{1, 1, 1}, [3]uintptr{32, 32, 2})},
	"copy past the end": {`the source: bytes 60 to 60\+8 of a buffer of 64`,
		inBlit("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", buffer, word(60), buffer, word(0), word(8))},
	"copy onto itself": {`source and destination overlap`,
		inBlit("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", buffer, word(0), buffer, word(4), word(8))},
	"copy of odd length": {`multiples of 4 bytes`,
		inBlit("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", buffer, word(0), buffer, word(32), word(7))},
	"fill past the end":  {`the range: bytes 32 to 32\+64 of a buffer of 64`, inBlit("fillBuffer:range:value:", buffer, word(32), word(64), word(1))},
	"fill of nothing":    {`a fill of 0 bytes`, inBlit("fillBuffer:range:value:", buffer, word(32), word(0), word(1))},
	"compute on a blit":  {`unknown selector -\[StandinBlitCommandEncoder setComputePipelineState:\]`, inBlit("setComputePipelineState:", pipeline)},
	"unknown options":    {`MTLResourceOptions 0x1000`, func(w *world) { w.send(w.dev, "newBufferWithLength:options:", 64, 0x1000) }},
	"private from bytes": {`a private buffer cannot be made from bytes`, func(w *world) { w.send(w.dev, "newBufferWithBytes:length:options:", cString("1234"), 4, 0x20) }},
	"no copy of half a page": {`must be multiples of the page size`, func(w *world) {
		w.send(w.dev, "newBufferWithBytesNoCopy:length:options:deallocator:", address(&[64]byte{}), 64, 0, 0)
	}},
	"a BOOL of 2":           {`retainedReferences is 2: 0 to 1 are allowed`, func(w *world) { w.send(w.make("MTLCommandBufferDescriptor"), "setRetainedReferences:", 2) }},
	"unknown math mode":     {`MTLMathMode is 3: 0 to 2 are allowed`, func(w *world) { w.send(w.make("MTLCompileOptions"), "setMathMode:", 3) }},
	"version without shift": {`MTLLanguageVersion 0x31`, func(w *world) { w.send(w.make("MTLCompileOptions"), "setLanguageVersion:", 0x31) }},
	"unknown family":        {`MTLGPUFamily 7`, func(w *world) { w.send(w.dev, "supportsFamily:", 7) }},
	"unknown constant type": {`MTLDataType 2 is no type`, func(w *world) {
		w.send(w.make("MTLFunctionConstantValues"), "setConstantValue:type:atIndex:", cString("x"), 2, 0)
	}},
	"a bool constant of 120": {`a bool constant of value 120`, func(w *world) {
		w.send(w.make("MTLFunctionConstantValues"), "setConstantValue:type:atIndex:", cString("x"), 53, 0)
	}},
	"encoding of UTF-16": {`encoding 10, NSUTF8StringEncoding is 4`, func(w *world) { w.send(w.str("x"), "lengthOfBytesUsingEncoding:", 10) }},
	"index past the end": {`index 0 of an array of 0: NSRangeException`, func(w *world) { w.pooled(func() { w.send(w.send(w.class("NSArray"), "array"), "objectAtIndex:", 0) }) }},
	"nil into an array":  {`the object is nil: an array holds objects only`, func(w *world) { w.send(w.make("NSMutableArray"), "addObject:", 0) }},
	"descriptor without a function": {`the descriptor has no function`, func(w *world) {
		w.send(w.dev, "newComputePipelineStateWithDescriptor:options:reflection:error:", w.make("MTLComputePipelineDescriptor"), 0, 0, 0)
	}},
}
