package apple

import (
	"unsafe"

	"github.com/introgen/introgen/metalshim/apple/objc"
)

// Short names for the tables below.
type (
	id  = objc.ID
	sel = objc.SEL
)

// messages are the methods of Metal and of NSProcessInfo that the driver
// sends, each with its owner and type encoding as in Apple's headers
// (abi/metal-abi.tsv). What Foundation gives besides is objc.Messages.
type messages struct {
	DeviceName                 objc.Message[func(id, sel) id]                                             `objc:"MTLDevice - name @@:"`
	DeviceRegistryID           objc.Message[func(id, sel) uint64]                                         `objc:"MTLDevice - registryID Q@:"`
	DeviceIsLowPower           objc.Message[func(id, sel) bool]                                           `objc:"MTLDevice - isLowPower B@:"`
	DeviceIsHeadless           objc.Message[func(id, sel) bool]                                           `objc:"MTLDevice - isHeadless B@:"`
	DeviceIsRemovable          objc.Message[func(id, sel) bool]                                           `objc:"MTLDevice - isRemovable B@:"`
	DeviceHasUnifiedMemory     objc.Message[func(id, sel) bool]                                           `objc:"MTLDevice - hasUnifiedMemory B@:"`
	DeviceWorkingSet           objc.Message[func(id, sel) uint64]                                         `objc:"MTLDevice - recommendedMaxWorkingSetSize Q@:"`
	DeviceAllocated            objc.Message[func(id, sel) uint64]                                         `objc:"MTLDevice - currentAllocatedSize Q@:"`
	DeviceMaxBufferLength      objc.Message[func(id, sel) uint64]                                         `objc:"MTLDevice - maxBufferLength Q@:"`
	DeviceMaxThreads           objc.Message[func(id, sel) objc.Size]                                      `objc:"MTLDevice - maxThreadsPerThreadgroup {?=QQQ}@:"`
	DeviceMaxThreadgroupMemory objc.Message[func(id, sel) uint64]                                         `objc:"MTLDevice - maxThreadgroupMemoryLength Q@:"`
	DeviceSupportsFamily       objc.Message[func(id, sel, int64) bool]                                    `objc:"MTLDevice - supportsFamily: B@:q"`
	DeviceArchitecture         objc.Message[func(id, sel) id]                                             `objc:"MTLDevice - architecture @@:"`
	ArchitectureName           objc.Message[func(id, sel) id]                                             `objc:"MTLArchitecture - name @@:"`
	DeviceNewQueue             objc.Message[func(id, sel) id]                                             `objc:"MTLDevice - newCommandQueue @@:"`
	DeviceNewBuffer            objc.Message[func(id, sel, uint64, uint64) id]                             `objc:"MTLDevice - newBufferWithLength:options: @@:QQ"`
	DeviceNewBufferNoCopy      objc.Message[func(id, sel, unsafe.Pointer, uint64, uint64, objc.Block) id] `objc:"MTLDevice - newBufferWithBytesNoCopy:length:options:deallocator: @@:^vQQ@?"`
	DeviceNewLibrarySource     objc.Message[func(id, sel, id, id, *id) id]                                `objc:"MTLDevice - newLibraryWithSource:options:error: @@:@@^@"`
	DeviceNewLibraryURL        objc.Message[func(id, sel, id, *id) id]                                    `objc:"MTLDevice - newLibraryWithURL:error: @@:@^@"`
	DeviceNewPipeline          objc.Message[func(id, sel, id, *id) id]                                    `objc:"MTLDevice - newComputePipelineStateWithFunction:error: @@:@^@"`
	DeviceNewLibraryAsync      objc.Message[func(id, sel, id, id, objc.Block)]                            `objc:"MTLDevice - newLibraryWithSource:options:completionHandler: v@:@@@?"`
	DeviceNewPipelineAsync     objc.Message[func(id, sel, id, objc.Block)]                                `objc:"MTLDevice - newComputePipelineStateWithFunction:completionHandler: v@:@@?"`
	DeviceNewPipelineDescAsync objc.Message[func(id, sel, id, uint64, objc.Block)]                        `objc:"MTLDevice - newComputePipelineStateWithDescriptor:options:completionHandler: v@:@Q@?"`
	DeviceMaximize             objc.Message[func(id, sel, bool)]                                          `objc:"MTLDevice - setShouldMaximizeConcurrentCompilation: v@:B"`
	DeviceMaximizes            objc.Message[func(id, sel) bool]                                           `objc:"MTLDevice - shouldMaximizeConcurrentCompilation B@:"`
	DeviceCompileThreads       objc.Message[func(id, sel) uint64]                                         `objc:"MTLDevice - maximumConcurrentCompilationTaskCount Q@:"`
	DeviceNewPipelineDesc      objc.Message[func(id, sel, id, uint64, *id, *id) id]                       `objc:"MTLDevice - newComputePipelineStateWithDescriptor:options:reflection:error: @@:@Q^@^@"`
	DeviceNewArchive           objc.Message[func(id, sel, id, *id) id]                                    `objc:"MTLDevice - newBinaryArchiveWithDescriptor:error: @@:@^@"`
	DeviceNewResidencySet      objc.Message[func(id, sel, id, *id) id]                                    `objc:"MTLDevice - newResidencySetWithDescriptor:error: @@:@^@"`
	DeviceNewFence             objc.Message[func(id, sel) id]                                             `objc:"MTLDevice - newFence @@:"`

	OptionsNew          objc.Message[func(id, sel) id]      `objc:"MTLCompileOptions + new @@:"`
	OptionsSetMathMode  objc.Message[func(id, sel, int64)]  `objc:"MTLCompileOptions - setMathMode: v@:q"`
	OptionsMathMode     objc.Message[func(id, sel) int64]   `objc:"MTLCompileOptions - mathMode q@:"`
	OptionsSetMathFuncs objc.Message[func(id, sel, int64)]  `objc:"MTLCompileOptions - setMathFloatingPointFunctions: v@:q"`
	OptionsSetFastMath  objc.Message[func(id, sel, bool)]   `objc:"MTLCompileOptions - setFastMathEnabled: v@:B"`
	OptionsFastMath     objc.Message[func(id, sel) bool]    `objc:"MTLCompileOptions - fastMathEnabled B@:"`
	OptionsSetLanguage  objc.Message[func(id, sel, uint64)] `objc:"MTLCompileOptions - setLanguageVersion: v@:Q"`
	OptionsLanguage     objc.Message[func(id, sel) uint64]  `objc:"MTLCompileOptions - languageVersion Q@:"`
	OptionsSetMacros    objc.Message[func(id, sel, id)]     `objc:"MTLCompileOptions - setPreprocessorMacros: v@:@"`

	LibrarySetLabel         objc.Message[func(id, sel, id)]                             `objc:"MTLLibrary - setLabel: v@:@"`
	LibraryFunctionNames    objc.Message[func(id, sel) id]                              `objc:"MTLLibrary - functionNames @@:"`
	LibraryNewFunction      objc.Message[func(id, sel, id) id]                          `objc:"MTLLibrary - newFunctionWithName: @@:@"`
	LibraryNewFunctionConst objc.Message[func(id, sel, id, id, *id) id]                 `objc:"MTLLibrary - newFunctionWithName:constantValues:error: @@:@@^@"`
	ValuesNew               objc.Message[func(id, sel) id]                              `objc:"MTLFunctionConstantValues + new @@:"`
	ValuesSet               objc.Message[func(id, sel, unsafe.Pointer, uint64, uint64)] `objc:"MTLFunctionConstantValues - setConstantValue:type:atIndex: v@:^vQQ"`

	DescriptorNew         objc.Message[func(id, sel) id]     `objc:"MTLComputePipelineDescriptor + new @@:"`
	DescriptorSetLabel    objc.Message[func(id, sel, id)]    `objc:"MTLComputePipelineDescriptor - setLabel: v@:@"`
	DescriptorSetFunction objc.Message[func(id, sel, id)]    `objc:"MTLComputePipelineDescriptor - setComputeFunction: v@:@"`
	DescriptorSetArchives objc.Message[func(id, sel, id)]    `objc:"MTLComputePipelineDescriptor - setBinaryArchives: v@:@"`
	PipelineMaxThreads    objc.Message[func(id, sel) uint64] `objc:"MTLComputePipelineState - maxTotalThreadsPerThreadgroup Q@:"`
	PipelineWidth         objc.Message[func(id, sel) uint64] `objc:"MTLComputePipelineState - threadExecutionWidth Q@:"`
	PipelineStaticMemory  objc.Message[func(id, sel) uint64] `objc:"MTLComputePipelineState - staticThreadgroupMemoryLength Q@:"`

	ArchiveDescriptorNew    objc.Message[func(id, sel) id]            `objc:"MTLBinaryArchiveDescriptor + new @@:"`
	ArchiveDescriptorSetURL objc.Message[func(id, sel, id)]           `objc:"MTLBinaryArchiveDescriptor - setUrl: v@:@"`
	ArchiveAdd              objc.Message[func(id, sel, id, *id) bool] `objc:"MTLBinaryArchive - addComputePipelineFunctionsWithDescriptor:error: B@:@^@"`
	ArchiveSerialize        objc.Message[func(id, sel, id, *id) bool] `objc:"MTLBinaryArchive - serializeToURL:error: B@:@^@"`

	BufferContents objc.Message[func(id, sel) unsafe.Pointer] `objc:"MTLBuffer - contents ^v@:"`
	BufferLength   objc.Message[func(id, sel) uint64]         `objc:"MTLBuffer - length Q@:"`

	QueueCommandBuffer      objc.Message[func(id, sel) id]  `objc:"MTLCommandQueue - commandBuffer @@:"`
	QueueAddResidencySet    objc.Message[func(id, sel, id)] `objc:"MTLCommandQueue - addResidencySet: v@:@"`
	QueueRemoveResidencySet objc.Message[func(id, sel, id)] `objc:"MTLCommandQueue - removeResidencySet: v@:@"`

	CommandsEncoder   objc.Message[func(id, sel, uint64) id] `objc:"MTLCommandBuffer - computeCommandEncoderWithDispatchType: @@:Q"`
	CommandsBlit      objc.Message[func(id, sel) id]         `objc:"MTLCommandBuffer - blitCommandEncoder @@:"`
	CommandsCommit    objc.Fast[func(id, sel)]               `objc:"MTLCommandBuffer - commit v@:"`
	CommandsWait      objc.Fast[func(id, sel)]               `objc:"MTLCommandBuffer - waitUntilCompleted v@:"`
	CommandsStatus    objc.Fast[func(id, sel) uint64]        `objc:"MTLCommandBuffer - status Q@:"`
	CommandsError     objc.Message[func(id, sel) id]         `objc:"MTLCommandBuffer - error @@:"`
	CommandsGPUStart  objc.Message[func(id, sel) float64]    `objc:"MTLCommandBuffer - GPUStartTime d@:"`
	CommandsGPUEnd    objc.Message[func(id, sel) float64]    `objc:"MTLCommandBuffer - GPUEndTime d@:"`
	CommandsKernelEnd objc.Message[func(id, sel) float64]    `objc:"MTLCommandBuffer - kernelEndTime d@:"`

	EncoderSetLabel        objc.Message[func(id, sel, id)]                             `objc:"MTLCommandEncoder - setLabel: v@:@"`
	EncoderEnd             objc.Fast[func(id, sel)]                                    `objc:"MTLCommandEncoder - endEncoding v@:"`
	ComputeSetPipeline     objc.Fast[func(id, sel, id)]                                `objc:"MTLComputeCommandEncoder - setComputePipelineState: v@:@"`
	ComputeSetBuffer       objc.Fast[func(id, sel, id, uint64, uint64)]                `objc:"MTLComputeCommandEncoder - setBuffer:offset:atIndex: v@:@QQ"`
	ComputeSetBytes        objc.Fast[func(id, sel, unsafe.Pointer, uint64, uint64)]    `objc:"MTLComputeCommandEncoder - setBytes:length:atIndex: v@:^vQQ"`
	ComputeSetMemory       objc.Fast[func(id, sel, uint64, uint64)]                    `objc:"MTLComputeCommandEncoder - setThreadgroupMemoryLength:atIndex: v@:QQ"`
	ComputeDispatchGroups  objc.Fast[func(id, sel, objc.Size, objc.Size)]              `objc:"MTLComputeCommandEncoder - dispatchThreadgroups:threadsPerThreadgroup: v@:{?=QQQ}{?=QQQ}"`
	ComputeDispatchThreads objc.Fast[func(id, sel, objc.Size, objc.Size)]              `objc:"MTLComputeCommandEncoder - dispatchThreads:threadsPerThreadgroup: v@:{?=QQQ}{?=QQQ}"`
	ComputeBarrier         objc.Fast[func(id, sel, uint64)]                            `objc:"MTLComputeCommandEncoder - memoryBarrierWithScope: v@:Q"`
	ComputeUpdateFence     objc.Fast[func(id, sel, id)]                                `objc:"MTLComputeCommandEncoder - updateFence: v@:@"`
	ComputeWaitForFence    objc.Fast[func(id, sel, id)]                                `objc:"MTLComputeCommandEncoder - waitForFence: v@:@"`
	BlitCopy               objc.Message[func(id, sel, id, uint64, id, uint64, uint64)] `objc:"MTLBlitCommandEncoder - copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size: v@:@Q@QQ"`
	BlitFill               objc.Message[func(id, sel, id, objc.Range, uint8)]          `objc:"MTLBlitCommandEncoder - fillBuffer:range:value: v@:@{_NSRange=QQ}C"`
	BlitUpdateFence        objc.Fast[func(id, sel, id)]                                `objc:"MTLBlitCommandEncoder - updateFence: v@:@"`
	BlitWaitForFence       objc.Fast[func(id, sel, id)]                                `objc:"MTLBlitCommandEncoder - waitForFence: v@:@"`

	ResidencyDescriptorNew objc.Message[func(id, sel) id]  `objc:"MTLResidencySetDescriptor + new @@:"`
	ResidencyAdd           objc.Message[func(id, sel, id)] `objc:"MTLResidencySet - addAllocation: v@:@"`
	ResidencyRemove        objc.Message[func(id, sel, id)] `objc:"MTLResidencySet - removeAllocation: v@:@"`
	ResidencyCommit        objc.Message[func(id, sel)]     `objc:"MTLResidencySet - commit v@:"`
	ResidencyRequest       objc.Message[func(id, sel)]     `objc:"MTLResidencySet - requestResidency v@:"`
	ResidencyEnd           objc.Message[func(id, sel)]     `objc:"MTLResidencySet - endResidency v@:"`

	ProcessInfo        objc.Message[func(id, sel) id]           `objc:"NSProcessInfo + processInfo @@:"`
	InfoSystemVersion  objc.Message[func(id, sel) objc.Version] `objc:"NSProcessInfo - operatingSystemVersion {?=qqq}@:"`
	InfoSystemName     objc.Message[func(id, sel) id]           `objc:"NSProcessInfo - operatingSystemVersionString @@:"`
	InfoPhysicalMemory objc.Message[func(id, sel) uint64]       `objc:"NSProcessInfo - physicalMemory Q@:"`
	InfoThermalState   objc.Message[func(id, sel) int64]        `objc:"NSProcessInfo - thermalState q@:"`
	InfoLowPower       objc.Message[func(id, sel) bool]         `objc:"NSProcessInfo - isLowPowerModeEnabled B@:"`
}

// Selectors lists every message that the driver sends: Metal's, then what it
// uses of Foundation. Besides it calls sel_registerName, objc_getClass,
// objc_msgSend, on amd64 objc_msgSend_stret, objc_retain, objc_release,
// objc_autoreleasePoolPush, objc_autoreleasePoolPop,
// MTLCreateSystemDefaultDevice and MTLCopyAllDevices, uses the address
// _NSConcreteGlobalBlock for completion handlers, and, to compare encodings,
// object_getClass, class_getInstanceMethod and method_getTypeEncoding.
func Selectors() ([]objc.Selector, error) {
	metal, err := objc.Selectors(&messages{})
	if err != nil {
		return nil, err
	}
	foundation, err := objc.Selectors(&objc.Messages{})
	return append(metal, foundation...), err
}
