//go:build linux && (amd64 || arm64)

package recorder

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

const msl = "kernel void a() {}"

func init() { scenarios["metal"] = playMetal }

// playMetal makes each kind of call once, as Metal's documentation has it.
func playMetal(p *program) {
	dev := p.call("MTLCreateSystemDefaultDevice")
	p.expect(Device, dev, 0x1122334455667788)
	p.says("test")
	all := p.call("MTLCopyAllDevices")
	p.expect(Device, dev, 0x1122334455667788)
	p.says("test")
	p.release(all)

	var library, function, special, pipeline, described, archive uintptr
	p.pooled(func() {
		library, function, special = playLibraries(p, dev)
		pipeline, described, archive = playPipelines(p, dev, special)
	})
	var handlers [2]*counted
	p.pooled(func() { handlers = playCommands(p, dev, pipeline) })
	for _, n := range handlers {
		if *n != (counted{1, 1}) {
			panic(fmt.Sprintf("a handler was copied and given back %+v", *n))
		}
	}
	p.release(described, archive, pipeline, special, function, library, dev)
}

func playLibraries(p *program, dev uintptr) (library, function, special uintptr) {
	source, name := p.str(msl), p.str("a")
	options := p.new("MTLCompileOptions")
	p.send(options, "setLanguageVersion:", 3<<16|1)
	var e uintptr
	library = p.send(dev, "newLibraryWithSource:options:error:", source, options, address(&e))
	p.expect(LibraryBegin, 1, uint64(dev), 1, uint64(len(msl)), 0)
	p.says(fmt.Sprintf("%x math=fast version=3.1 macros=0", sha256.Sum256([]byte(msl))))
	p.expect(LibraryEnd, 1, uint64(library), 2, 2)
	label := p.str("a library\n\x01")
	p.send(library, "setLabel:", label)
	p.expect(Label, library)
	p.says("a library\n\x01")

	function = p.send(library, "newFunctionWithName:", name)
	p.expect(Function, function, uint64(library))
	p.says("a")
	values := p.new("MTLFunctionConstantValues")
	p.expect(Constant, values)
	number, pair := uint32(7), [2]int16{-1, 5}
	p.send(values, "setConstantValue:type:atIndex:", address(&number), 33, 4)
	p.expect(Constant, values, 33, 4, 7)
	p.send(values, "setConstantValues:type:withRange:", address(&pair), 37, 8, 2)
	p.expect(Constant, values, 37, 8, 0xffff)
	p.expect(Constant, values, 37, 9, 5)
	special = p.send(library, "newFunctionWithName:constantValues:error:", name, values, address(&e))
	p.expect(Function, special, uint64(library), uint64(values))
	p.says("a")
	p.send(values, "reset")
	p.expect(Constant, values)
	none := p.send(dev, "newLibraryWithURL:error:", p.send(p.class("NSURL"), "fileURLWithPath:", p.nowhere()), address(&e))
	p.expect(LibraryBegin, 2, uint64(dev), 3, 0, 0)
	p.says("/nowhere/at/all")
	p.expect(LibraryEnd, 2, uint64(none))
	p.says(p.text(p.send(e, "localizedDescription")))
	p.release(source, name, options, label, values)
	return library, function, special
}

func playPipelines(p *program, dev, function uintptr) (pipeline, described, archive uintptr) {
	var e uintptr
	pipeline = p.send(dev, "newComputePipelineStateWithFunction:error:", function, address(&e))
	p.expect(PipelineBegin, 3, uint64(function), 1)
	p.expect(PipelineEnd, 3, uint64(pipeline), 1024, 2, 32)
	again := p.send(dev, "newComputePipelineStateWithFunction:options:reflection:error:", function, 1, 0, address(&e))
	p.expect(PipelineBegin, 4, uint64(function), 1, 1, 0)
	p.expect(PipelineEnd, 4, uint64(again), 1024, 2, 32)
	p.release(again)
	made := p.new("MTLBinaryArchiveDescriptor")
	archive = p.send(dev, "newBinaryArchiveWithDescriptor:error:", made, address(&e))
	p.expect(ArchiveBegin, 5, 0, 1)
	p.expect(ArchiveEnd, 5, uint64(archive))
	p.release(made)
	d := p.new("MTLComputePipelineDescriptor")
	label := p.str("described")
	p.send(d, "setLabel:", label)
	p.send(d, "setComputeFunction:", function)
	p.send(archive, "addComputePipelineFunctionsWithDescriptor:error:", d, address(&e))
	p.expect(ArchiveBegin, 6, uint64(archive), 3, uint64(function))
	p.expect(ArchiveEnd, 6, uint64(archive))
	described = p.send(dev, "newComputePipelineStateWithDescriptor:options:reflection:error:", d, 0, 0, address(&e))
	p.expect(PipelineBegin, 7, uint64(function), 2)
	p.says("described")
	p.expect(PipelineEnd, 7, uint64(described), 1024, 2, 32)
	p.send(archive, "serializeToURL:error:", p.send(p.class("NSURL"), "fileURLWithPath:", p.nowhere()), address(&e))
	p.expect(ArchiveBegin, 8, uint64(archive), 4)
	p.says("/nowhere/at/all")
	p.expect(ArchiveEnd, 8)
	p.says(p.text(p.send(e, "localizedDescription")))
	p.release(label, d)
	return pipeline, described, archive
}

func playCommands(p *program, dev, pipeline uintptr) [2]*counted {
	queue := p.send(dev, "newCommandQueueWithMaxCommandBufferCount:", 16)
	p.expect(Queue, queue, uint64(dev), 16)
	memory := make([]byte, 2*4096)
	page := (address(&memory[0]) + 4095) &^ 4095
	a := p.send(dev, "newBufferWithLength:options:", 64, 0)
	p.expect(Buffer, a, 64, 0, 1)
	b := p.send(dev, "newBufferWithBytes:length:options:", page, 128, 16)
	p.expect(Buffer, b, 128, 16, 2)
	c := p.send(dev, "newBufferWithBytesNoCopy:length:options:deallocator:", page, 4096, 0, 0)
	p.expect(Buffer, c, 4096, 0, 3)
	fence, event, shared := p.send(dev, "newFence"), p.send(dev, "newEvent"), p.send(dev, "newSharedEvent")

	commands := p.send(queue, "commandBufferWithUnretainedReferences")
	p.expect(Commands, commands, uint64(queue), 1)
	p.send(commands, "enqueue")
	p.expect(Enqueue, commands)
	encoder := p.send(commands, "computeCommandEncoderWithDispatchType:", 1)
	p.expect(Encoder, encoder, uint64(commands), 2)
	p.send(encoder, "setComputePipelineState:", pipeline)
	p.expect(SetPipeline, encoder, uint64(pipeline))
	p.sizes(encoder, "dispatchThreads:threadsPerThreadgroup:", [3]uintptr{1, 2, 3}, [3]uintptr{4, 5, 6})
	p.expect(Dispatch, encoder, 1|2<<32, 3|4<<32, 5|6<<32, 1)
	p.send(encoder, "memoryBarrierWithScope:", 1)
	p.expect(Barrier, encoder, 1, 1)
	p.sizes(encoder, "dispatchThreadgroups:threadsPerThreadgroup:", [3]uintptr{7, 8, 9}, [3]uintptr{10, 11, 1})
	p.expect(Dispatch, encoder, 7|8<<32, 9|10<<32, 11|1<<32, 2)
	resources := [2]uintptr{a, b}
	p.send(encoder, "memoryBarrierWithResources:count:", address(&resources), 2)
	p.expect(Barrier, encoder, 2, 2)
	p.send(encoder, "updateFence:", fence)
	p.expect(Fence, encoder, uint64(fence), 1)
	p.send(encoder, "endEncoding")
	p.expect(EncoderEnd, encoder)
	blit := p.send(commands, "blitCommandEncoder")
	p.expect(Encoder, blit, uint64(commands), 3)
	p.send(blit, "waitForFence:", fence)
	p.expect(Fence, blit, uint64(fence), 2)
	p.send(blit, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", a, 0, b, 0, 32)
	p.expect(Blit, blit, 1, 32)
	p.send(blit, "fillBuffer:range:value:", b, 0, 16, 9)
	p.expect(Blit, blit, 2, 16)
	p.send(blit, "synchronizeResource:", a)
	p.expect(Blit, blit, 3)
	p.send(blit, "endEncoding")
	p.expect(EncoderEnd, blit)
	p.send(commands, "encodeSignalEvent:value:", event, 3)
	p.expect(SharedEvent, commands, uint64(event), 3, 1)
	p.send(commands, "encodeSignalEvent:value:", shared, 9)
	p.expect(SharedEvent, commands, uint64(shared), 9, 1)
	told := make(chan uintptr, 2)
	first, n1, spoil1 := p.block(func(c, _ uintptr) { told <- c })
	p.send(commands, "addScheduledHandler:", first)
	spoil1()
	p.expect(Handler, commands, 1)
	second, n2, spoil2 := p.block(func(c, _ uintptr) { told <- c })
	p.send(commands, "addCompletedHandler:", second)
	spoil2()
	p.expect(Handler, commands, 2)
	p.send(commands, "commit")
	p.expect(Commit, commands)
	p.send(commands, "waitUntilScheduled")
	p.expect(WaitBegin, commands, 2)
	p.expect(WaitEnd, commands, 2, 0, 1)
	p.send(commands, "waitUntilCompleted")
	p.expect(WaitBegin, commands, 1)
	p.expect(WaitEnd, commands, 1, 0, 1)
	p.expect(Scheduled, commands)
	p.expect(Completed, commands, 0, 0, 4)
	if x, y := <-told, <-told; x != commands || y != commands {
		panic("a handler was given another command buffer")
	}
	p.send(shared, "waitUntilSignaledValue:timeoutMS:", 9, 1000)
	p.expect(WaitBegin, shared, 3, 9)
	p.expect(WaitEnd, shared, 3, 0, 1)
	p.send(shared, "waitUntilSignaledValue:timeoutMS:", 10, 1)
	p.expect(WaitBegin, shared, 3, 10)
	p.expect(WaitEnd, shared, 3, 0, 0)
	p.release(a, b, c, fence, event, shared, queue)
	return [2]*counted{n1, n2}
}

// Each kind of call is recorded once, with its arguments and what it gave, and
// the program has nothing left that it does not have without a recorder: the
// strict stand-in ends it at a wrong release, and tells what leaked.
func TestMetal(t *testing.T) {
	did, recorded := play(t, "metal")
	compare(t, did, recorded, Scheduled, Completed)
}
