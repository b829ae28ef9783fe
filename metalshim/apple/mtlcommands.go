package apple

import (
	"unsafe"

	"github.com/introgen/introgen/metalshim/apple/objc"
)

// mtlBuffer is MTLBuffer.
type mtlBuffer struct{ object }

// contents is -[MTLBuffer contents], not for a private buffer.
func (b mtlBuffer) contents() unsafe.Pointer { return objc.Get(&b.a.m.BufferContents, b.o) }

// length is -[MTLBuffer length], in bytes.
func (b mtlBuffer) length() uint64 { return objc.Get(&b.a.m.BufferLength, b.o) }

// mtlResidencySet is MTLResidencySet, macOS 15 or later.
type mtlResidencySet struct{ object }

// newResidencyDescriptor is +[MTLResidencySetDescriptor new], +1.
func (a *api) newResidencyDescriptor() object {
	return object{a, objc.Get(&a.m.ResidencyDescriptorNew, a.residencyDescriptor)}
}

// addAllocation is -[MTLResidencySet addAllocation:].
func (s mtlResidencySet) addAllocation(b mtlBuffer) { objc.Set(&s.a.m.ResidencyAdd, s.o, b.o) }

// removeAllocation is -[MTLResidencySet removeAllocation:].
func (s mtlResidencySet) removeAllocation(b mtlBuffer) { objc.Set(&s.a.m.ResidencyRemove, s.o, b.o) }

// commit is -[MTLResidencySet commit].
func (s mtlResidencySet) commit() { objc.Do(&s.a.m.ResidencyCommit, s.o) }

// requestResidency is -[MTLResidencySet requestResidency].
func (s mtlResidencySet) requestResidency() { objc.Do(&s.a.m.ResidencyRequest, s.o) }

// endResidency is -[MTLResidencySet endResidency].
func (s mtlResidencySet) endResidency() { objc.Do(&s.a.m.ResidencyEnd, s.o) }

// mtlQueue is MTLCommandQueue.
type mtlQueue struct{ object }

// commandBuffer is -[MTLCommandQueue commandBuffer], borrowed.
func (q mtlQueue) commandBuffer() mtlCommands {
	return mtlCommands{object{q.a, objc.Get(&q.a.m.QueueCommandBuffer, q.o)}}
}

// addResidencySet is -[MTLCommandQueue addResidencySet:], macOS 15 or later.
func (q mtlQueue) addResidencySet(s mtlResidencySet) { objc.Set(&q.a.m.QueueAddResidencySet, q.o, s.o) }

// removeResidencySet is -[MTLCommandQueue removeResidencySet:].
func (q mtlQueue) removeResidencySet(s mtlResidencySet) {
	objc.Set(&q.a.m.QueueRemoveResidencySet, q.o, s.o)
}

// mtlCommands is MTLCommandBuffer.
type mtlCommands struct{ object }

// computeEncoder is
// -[MTLCommandBuffer computeCommandEncoderWithDispatchType:], borrowed.
func (c mtlCommands) computeEncoder(dispatchType uint64) mtlEncoder {
	m := &c.a.m.CommandsEncoder
	return mtlEncoder{mtlAnyEncoder{object{c.a, m.Send(c.o, m.SEL, dispatchType)}}}
}

// blitEncoder is -[MTLCommandBuffer blitCommandEncoder], borrowed.
func (c mtlCommands) blitEncoder() mtlBlit {
	return mtlBlit{mtlAnyEncoder{object{c.a, objc.Get(&c.a.m.CommandsBlit, c.o)}}}
}

// commit is -[MTLCommandBuffer commit].
func (c mtlCommands) commit() { c.a.Send(c.o, c.a.m.CommandsCommit.SEL) }

// waitUntilCompleted is -[MTLCommandBuffer waitUntilCompleted].
func (c mtlCommands) waitUntilCompleted() { c.a.Send(c.o, c.a.m.CommandsWait.SEL) }

// status is -[MTLCommandBuffer status].
func (c mtlCommands) status() int { return int(c.a.Send(c.o, c.a.m.CommandsStatus.SEL)) }

// error is -[MTLCommandBuffer error]; nil if it has none.
func (c mtlCommands) error() *objc.Error {
	m := &c.a.m.CommandsError
	e := m.Send(c.o, m.SEL)
	if e == 0 {
		return nil
	}
	return c.a.Error(e)
}

// gpuStartTime is -[MTLCommandBuffer GPUStartTime], seconds on the clock of
// uptime.
func (c mtlCommands) gpuStartTime() float64 { return objc.Get(&c.a.m.CommandsGPUStart, c.o) }

// gpuEndTime is -[MTLCommandBuffer GPUEndTime].
func (c mtlCommands) gpuEndTime() float64 { return objc.Get(&c.a.m.CommandsGPUEnd, c.o) }

// kernelEndTime is -[MTLCommandBuffer kernelEndTime]: the system's kernel had
// scheduled it.
func (c mtlCommands) kernelEndTime() float64 { return objc.Get(&c.a.m.CommandsKernelEnd, c.o) }

// mtlAnyEncoder is MTLCommandEncoder, which all encoders are.
type mtlAnyEncoder struct{ object }

// setLabel is -[MTLCommandEncoder setLabel:].
func (e mtlAnyEncoder) setLabel(label id) { objc.Set(&e.a.m.EncoderSetLabel, e.o, label) }

// endEncoding is -[MTLCommandEncoder endEncoding].
func (e mtlAnyEncoder) endEncoding() { e.a.Send(e.o, e.a.m.EncoderEnd.SEL) }

// mtlEncoder is MTLComputeCommandEncoder.
type mtlEncoder struct{ mtlAnyEncoder }

// setPipeline is -[MTLComputeCommandEncoder setComputePipelineState:].
func (e mtlEncoder) setPipeline(p mtlPipeline) {
	e.a.Send1(e.o, e.a.m.ComputeSetPipeline.SEL, uintptr(p.o))
}

// setBuffer is -[MTLComputeCommandEncoder setBuffer:offset:atIndex:].
func (e mtlEncoder) setBuffer(b id, offset, index int) {
	e.a.Send3(e.o, e.a.m.ComputeSetBuffer.SEL, uintptr(b), uintptr(offset), uintptr(index))
}

// setBytes is -[MTLComputeCommandEncoder setBytes:length:atIndex:].
func (e mtlEncoder) setBytes(b []byte, index int) {
	e.a.Send3(e.o, e.a.m.ComputeSetBytes.SEL, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(index))
}

// setThreadgroupMemory is
// -[MTLComputeCommandEncoder setThreadgroupMemoryLength:atIndex:].
func (e mtlEncoder) setThreadgroupMemory(length, index int) {
	e.a.Send2(e.o, e.a.m.ComputeSetMemory.SEL, uintptr(length), uintptr(index))
}

// dispatchThreadgroups is
// -[MTLComputeCommandEncoder dispatchThreadgroups:threadsPerThreadgroup:].
func (e mtlEncoder) dispatchThreadgroups(groups, perGroup objc.Size) {
	e.a.SendSizes(e.o, e.a.m.ComputeDispatchGroups.SEL, groups, perGroup)
}

// dispatchThreads is
// -[MTLComputeCommandEncoder dispatchThreads:threadsPerThreadgroup:].
func (e mtlEncoder) dispatchThreads(threads, perGroup objc.Size) {
	e.a.SendSizes(e.o, e.a.m.ComputeDispatchThreads.SEL, threads, perGroup)
}

// memoryBarrier is -[MTLComputeCommandEncoder memoryBarrierWithScope:].
func (e mtlEncoder) memoryBarrier(scope uint64) {
	e.a.Send1(e.o, e.a.m.ComputeBarrier.SEL, uintptr(scope))
}

// updateFence is -[MTLComputeCommandEncoder updateFence:].
func (e mtlEncoder) updateFence(f object) {
	e.a.Send1(e.o, e.a.m.ComputeUpdateFence.SEL, uintptr(f.o))
}

// waitForFence is -[MTLComputeCommandEncoder waitForFence:].
func (e mtlEncoder) waitForFence(f object) {
	e.a.Send1(e.o, e.a.m.ComputeWaitForFence.SEL, uintptr(f.o))
}

// mtlBlit is MTLBlitCommandEncoder.
type mtlBlit struct{ mtlAnyEncoder }

// copy is -[MTLBlitCommandEncoder
// copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:].
func (b mtlBlit) copy(src mtlBuffer, srcOffset int, dst mtlBuffer, dstOffset, n int) {
	m := &b.a.m.BlitCopy
	m.Send(b.o, m.SEL, src.o, uint64(srcOffset), dst.o, uint64(dstOffset), uint64(n))
}

// fill is -[MTLBlitCommandEncoder fillBuffer:range:value:].
func (b mtlBlit) fill(dst mtlBuffer, offset, n int, value byte) {
	m := &b.a.m.BlitFill
	m.Send(b.o, m.SEL, dst.o, objc.Range{Location: uint64(offset), Length: uint64(n)}, value)
}

// updateFence is -[MTLBlitCommandEncoder updateFence:].
func (b mtlBlit) updateFence(f object) { b.a.Send1(b.o, b.a.m.BlitUpdateFence.SEL, uintptr(f.o)) }

// waitForFence is -[MTLBlitCommandEncoder waitForFence:].
func (b mtlBlit) waitForFence(f object) { b.a.Send1(b.o, b.a.m.BlitWaitForFence.SEL, uintptr(f.o)) }
