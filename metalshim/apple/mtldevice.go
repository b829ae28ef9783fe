package apple

import (
	"unsafe"

	"github.com/introgen/introgen/metalshim/apple/objc"
)

// mtlDevice is MTLDevice.
type mtlDevice struct{ object }

// name is -[MTLDevice name].
func (d mtlDevice) name() string {
	m := &d.a.m.DeviceName
	return d.a.String(m.Send(d.o, m.SEL))
}

// registryID is -[MTLDevice registryID].
func (d mtlDevice) registryID() uint64 {
	m := &d.a.m.DeviceRegistryID
	return m.Send(d.o, m.SEL)
}

// isLowPower is -[MTLDevice isLowPower].
func (d mtlDevice) isLowPower() bool {
	m := &d.a.m.DeviceIsLowPower
	return m.Send(d.o, m.SEL)
}

// isHeadless is -[MTLDevice isHeadless].
func (d mtlDevice) isHeadless() bool {
	m := &d.a.m.DeviceIsHeadless
	return m.Send(d.o, m.SEL)
}

// isRemovable is -[MTLDevice isRemovable].
func (d mtlDevice) isRemovable() bool {
	m := &d.a.m.DeviceIsRemovable
	return m.Send(d.o, m.SEL)
}

// hasUnifiedMemory is -[MTLDevice hasUnifiedMemory].
func (d mtlDevice) hasUnifiedMemory() bool {
	m := &d.a.m.DeviceHasUnifiedMemory
	return m.Send(d.o, m.SEL)
}

// recommendedMaxWorkingSetSize is -[MTLDevice recommendedMaxWorkingSetSize].
func (d mtlDevice) recommendedMaxWorkingSetSize() uint64 {
	m := &d.a.m.DeviceWorkingSet
	return m.Send(d.o, m.SEL)
}

// currentAllocatedSize is -[MTLDevice currentAllocatedSize].
func (d mtlDevice) currentAllocatedSize() uint64 {
	m := &d.a.m.DeviceAllocated
	return m.Send(d.o, m.SEL)
}

// maxBufferLength is -[MTLDevice maxBufferLength].
func (d mtlDevice) maxBufferLength() uint64 {
	m := &d.a.m.DeviceMaxBufferLength
	return m.Send(d.o, m.SEL)
}

// maxThreadsPerThreadgroup is -[MTLDevice maxThreadsPerThreadgroup].
func (d mtlDevice) maxThreadsPerThreadgroup() objc.Size {
	m := &d.a.m.DeviceMaxThreads
	return m.Send(d.o, m.SEL)
}

// maxThreadgroupMemoryLength is -[MTLDevice maxThreadgroupMemoryLength].
func (d mtlDevice) maxThreadgroupMemoryLength() uint64 {
	m := &d.a.m.DeviceMaxThreadgroupMemory
	return m.Send(d.o, m.SEL)
}

// supportsFamily is -[MTLDevice supportsFamily:].
func (d mtlDevice) supportsFamily(family int64) bool {
	m := &d.a.m.DeviceSupportsFamily
	return m.Send(d.o, m.SEL, family)
}

// architecture is -[[MTLDevice architecture] name]; "" before macOS 14, or
// where the device gives none.
func (d mtlDevice) architecture() string {
	m := &d.a.m.DeviceArchitecture
	if !d.a.RespondsTo(d.o, m.SEL) {
		return ""
	}
	a := m.Send(d.o, m.SEL)
	if a == 0 {
		return ""
	}
	name := &d.a.m.ArchitectureName
	return d.a.String(name.Send(a, name.SEL))
}

// newCommandQueue is -[MTLDevice newCommandQueue], +1.
func (d mtlDevice) newCommandQueue() mtlQueue {
	m := &d.a.m.DeviceNewQueue
	return mtlQueue{object{d.a, m.Send(d.o, m.SEL)}}
}

// newBuffer is -[MTLDevice newBufferWithLength:options:], +1.
func (d mtlDevice) newBuffer(length, options uint64) mtlBuffer {
	m := &d.a.m.DeviceNewBuffer
	return mtlBuffer{object{d.a, m.Send(d.o, m.SEL, length, options)}}
}

// newBufferNoCopy is
// -[MTLDevice newBufferWithBytesNoCopy:length:options:deallocator:], +1, with
// no deallocator: the memory stays the caller's.
func (d mtlDevice) newBufferNoCopy(memory []byte, options uint64) mtlBuffer {
	m := &d.a.m.DeviceNewBufferNoCopy
	return mtlBuffer{object{d.a, m.Send(d.o, m.SEL, unsafe.Pointer(&memory[0]), uint64(len(memory)), options, 0)}}
}

// newLibraryWithSource is -[MTLDevice newLibraryWithSource:options:error:], +1.
func (d mtlDevice) newLibraryWithSource(source id, options mtlOptions) (mtlLibrary, error) {
	m := &d.a.m.DeviceNewLibrarySource
	var why id
	l := mtlLibrary{object{d.a, m.Send(d.o, m.SEL, source, options.o, &why)}}
	return l, d.failure(l.object, why)
}

// newLibraryWithURL is -[MTLDevice newLibraryWithURL:error:], +1.
func (d mtlDevice) newLibraryWithURL(url id) (mtlLibrary, error) {
	m := &d.a.m.DeviceNewLibraryURL
	var why id
	l := mtlLibrary{object{d.a, m.Send(d.o, m.SEL, url, &why)}}
	return l, d.failure(l.object, why)
}

// newPipelineWithFunction is
// -[MTLDevice newComputePipelineStateWithFunction:error:], +1.
func (d mtlDevice) newPipelineWithFunction(f object) (mtlPipeline, error) {
	m := &d.a.m.DeviceNewPipeline
	var why id
	p := mtlPipeline{object{d.a, m.Send(d.o, m.SEL, f.o, &why)}}
	return p, d.failure(p.object, why)
}

// failOnArchiveMiss is MTLPipelineOptionFailOnBinaryArchiveMiss.
const failOnArchiveMiss = 4

// newPipelineWithDescriptor is
// -[MTLDevice newComputePipelineStateWithDescriptor:options:reflection:error:],
// +1, without reflection.
func (d mtlDevice) newPipelineWithDescriptor(desc mtlPipelineDescriptor, options uint64) (mtlPipeline, error) {
	m := &d.a.m.DeviceNewPipelineDesc
	var why id
	p := mtlPipeline{object{d.a, m.Send(d.o, m.SEL, desc.o, options, nil, &why)}}
	return p, d.failure(p.object, why)
}

// newBinaryArchive is -[MTLDevice newBinaryArchiveWithDescriptor:error:], +1.
func (d mtlDevice) newBinaryArchive(desc mtlArchiveDescriptor) (mtlArchive, error) {
	m := &d.a.m.DeviceNewArchive
	var why id
	a := mtlArchive{object{d.a, m.Send(d.o, m.SEL, desc.o, &why)}}
	return a, d.failure(a.object, why)
}

// newResidencySet is -[MTLDevice newResidencySetWithDescriptor:error:], +1,
// with a descriptor's defaults. Before macOS 15 there is none: nil.
func (d mtlDevice) newResidencySet() (mtlResidencySet, error) {
	m := &d.a.m.DeviceNewResidencySet
	if d.a.residencyDescriptor == 0 || !d.a.RespondsTo(d.o, m.SEL) {
		return mtlResidencySet{}, nil
	}
	desc := d.a.newResidencyDescriptor()
	defer desc.release()
	var why id
	s := mtlResidencySet{object{d.a, m.Send(d.o, m.SEL, desc.o, &why)}}
	return s, d.failure(s.object, why)
}

// newFence is -[MTLDevice newFence], +1.
func (d mtlDevice) newFence() object {
	m := &d.a.m.DeviceNewFence
	return object{d.a, m.Send(d.o, m.SEL)}
}

// failure reads an NSError where the result is nil, and only there.
func (d mtlDevice) failure(result object, why id) error {
	if result.nothing() {
		return d.a.Error(why)
	}
	return nil
}
