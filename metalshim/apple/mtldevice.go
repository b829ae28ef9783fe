package apple

import (
	"unsafe"

	"github.com/introgen/introgen/metalshim/apple/objc"
)

// mtlDevice is MTLDevice.
type mtlDevice struct{ object }

// name is -[MTLDevice name].
func (d mtlDevice) name() string { return d.a.String(objc.Get(&d.a.m.DeviceName, d.o)) }

// registryID is -[MTLDevice registryID].
func (d mtlDevice) registryID() uint64 { return objc.Get(&d.a.m.DeviceRegistryID, d.o) }

// isLowPower is -[MTLDevice isLowPower].
func (d mtlDevice) isLowPower() bool { return objc.Get(&d.a.m.DeviceIsLowPower, d.o) }

// isHeadless is -[MTLDevice isHeadless].
func (d mtlDevice) isHeadless() bool { return objc.Get(&d.a.m.DeviceIsHeadless, d.o) }

// isRemovable is -[MTLDevice isRemovable].
func (d mtlDevice) isRemovable() bool { return objc.Get(&d.a.m.DeviceIsRemovable, d.o) }

// hasUnifiedMemory is -[MTLDevice hasUnifiedMemory].
func (d mtlDevice) hasUnifiedMemory() bool { return objc.Get(&d.a.m.DeviceHasUnifiedMemory, d.o) }

// recommendedMaxWorkingSetSize is -[MTLDevice recommendedMaxWorkingSetSize].
func (d mtlDevice) recommendedMaxWorkingSetSize() uint64 {
	return objc.Get(&d.a.m.DeviceWorkingSet, d.o)
}

// currentAllocatedSize is -[MTLDevice currentAllocatedSize].
func (d mtlDevice) currentAllocatedSize() uint64 { return objc.Get(&d.a.m.DeviceAllocated, d.o) }

// maxBufferLength is -[MTLDevice maxBufferLength].
func (d mtlDevice) maxBufferLength() uint64 { return objc.Get(&d.a.m.DeviceMaxBufferLength, d.o) }

// maxThreadsPerThreadgroup is -[MTLDevice maxThreadsPerThreadgroup].
func (d mtlDevice) maxThreadsPerThreadgroup() objc.Size {
	return objc.Get(&d.a.m.DeviceMaxThreads, d.o)
}

// maxThreadgroupMemoryLength is -[MTLDevice maxThreadgroupMemoryLength].
func (d mtlDevice) maxThreadgroupMemoryLength() uint64 {
	return objc.Get(&d.a.m.DeviceMaxThreadgroupMemory, d.o)
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
	return mtlQueue{object{d.a, objc.Get(&d.a.m.DeviceNewQueue, d.o)}}
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
	l, err := d.a.made(func(why *id) id { return m.Send(d.o, m.SEL, source, options.o, why) })
	return mtlLibrary{l}, err
}

// newLibraryWithURL is -[MTLDevice newLibraryWithURL:error:], +1.
func (d mtlDevice) newLibraryWithURL(url id) (mtlLibrary, error) {
	m := &d.a.m.DeviceNewLibraryURL
	l, err := d.a.made(func(why *id) id { return m.Send(d.o, m.SEL, url, why) })
	return mtlLibrary{l}, err
}

// newPipelineWithFunction is
// -[MTLDevice newComputePipelineStateWithFunction:error:], +1.
func (d mtlDevice) newPipelineWithFunction(f object) (mtlPipeline, error) {
	m := &d.a.m.DeviceNewPipeline
	p, err := d.a.made(func(why *id) id { return m.Send(d.o, m.SEL, f.o, why) })
	return mtlPipeline{p}, err
}

// newLibraryBeside is -[MTLDevice newLibraryWithSource:options:completionHandler:],
// +1: the system compiles on a thread of its own, for which this one waits.
func (d mtlDevice) newLibraryBeside(source id, options mtlOptions) (mtlLibrary, error) {
	m := &d.a.m.DeviceNewLibraryAsync
	got := d.a.Completion(2, func(handler objc.Block) { m.Send(d.o, m.SEL, source, options.o, handler) })
	l, err := d.a.completed(got[0], got[1])
	return mtlLibrary{l}, err
}

// newPipelineBeside is
// -[MTLDevice newComputePipelineStateWithFunction:completionHandler:], +1.
func (d mtlDevice) newPipelineBeside(f object) (mtlPipeline, error) {
	m := &d.a.m.DeviceNewPipelineAsync
	got := d.a.Completion(2, func(handler objc.Block) { m.Send(d.o, m.SEL, f.o, handler) })
	p, err := d.a.completed(got[0], got[1])
	return mtlPipeline{p}, err
}

// newPipelineWithDescriptorBeside is
// -[MTLDevice newComputePipelineStateWithDescriptor:options:completionHandler:], +1,
// without reflection.
func (d mtlDevice) newPipelineWithDescriptorBeside(desc mtlPipelineDescriptor, options uint64) (mtlPipeline, error) {
	m := &d.a.m.DeviceNewPipelineDescAsync
	got := d.a.Completion(3, func(handler objc.Block) { m.Send(d.o, m.SEL, desc.o, options, handler) })
	d.a.Release(got[1]) // the reflection, which nobody asked for
	p, err := d.a.completed(got[0], got[2])
	return mtlPipeline{p}, err
}

// completed is what a completion handler was called with: the object, +1, or the
// error of its NSError, which is given back.
func (a *api) completed(made, why id) (object, error) {
	defer a.Release(why)
	x := object{a, made}
	if x.nothing() {
		return x, a.Error(why)
	}
	return x, nil
}

// hasConcurrentCompilation tells whether the device has
// setShouldMaximizeConcurrentCompilation:, as since macOS 13.3.
func (d mtlDevice) hasConcurrentCompilation() bool {
	return d.a.RespondsTo(d.o, d.a.m.DeviceMaximize.SEL)
}

// setMaximizeCompilation is -[MTLDevice setShouldMaximizeConcurrentCompilation:].
func (d mtlDevice) setMaximizeCompilation(on bool) { objc.Set(&d.a.m.DeviceMaximize, d.o, on) }

// maximizesCompilation is -[MTLDevice shouldMaximizeConcurrentCompilation].
func (d mtlDevice) maximizesCompilation() bool { return objc.Get(&d.a.m.DeviceMaximizes, d.o) }

// compileThreads is -[MTLDevice maximumConcurrentCompilationTaskCount].
func (d mtlDevice) compileThreads() uint64 { return objc.Get(&d.a.m.DeviceCompileThreads, d.o) }

// failOnArchiveMiss is MTLPipelineOptionFailOnBinaryArchiveMiss.
const failOnArchiveMiss = 4

// newPipelineWithDescriptor is
// -[MTLDevice newComputePipelineStateWithDescriptor:options:reflection:error:],
// +1, without reflection.
func (d mtlDevice) newPipelineWithDescriptor(desc mtlPipelineDescriptor, options uint64) (mtlPipeline, error) {
	m := &d.a.m.DeviceNewPipelineDesc
	p, err := d.a.made(func(why *id) id { return m.Send(d.o, m.SEL, desc.o, options, nil, why) })
	return mtlPipeline{p}, err
}

// newBinaryArchive is -[MTLDevice newBinaryArchiveWithDescriptor:error:], +1.
func (d mtlDevice) newBinaryArchive(desc mtlArchiveDescriptor) (mtlArchive, error) {
	m := &d.a.m.DeviceNewArchive
	a, err := d.a.made(func(why *id) id { return m.Send(d.o, m.SEL, desc.o, why) })
	return mtlArchive{a}, err
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
	s, err := d.a.made(func(why *id) id { return m.Send(d.o, m.SEL, desc.o, why) })
	return mtlResidencySet{s}, err
}

// newFence is -[MTLDevice newFence], +1.
func (d mtlDevice) newFence() object { return object{d.a, objc.Get(&d.a.m.DeviceNewFence, d.o)} }
