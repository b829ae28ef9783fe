package apple

import (
	"unsafe"

	"github.com/introgen/introgen/metalshim/apple/objc"
)

// mtlOptions is MTLCompileOptions.
type mtlOptions struct{ object }

// newOptions is +[MTLCompileOptions new], +1.
func (a *api) newOptions() mtlOptions {
	return mtlOptions{object{a, objc.Get(&a.m.OptionsNew, a.options)}}
}

// hasMathMode tells whether MTLCompileOptions has setMathMode:, as since
// macOS 15.
func (o mtlOptions) hasMathMode() bool { return o.a.RespondsTo(o.o, o.a.m.OptionsSetMathMode.SEL) }

// setMathMode is -[MTLCompileOptions setMathMode:].
func (o mtlOptions) setMathMode(mode int64) { objc.Set(&o.a.m.OptionsSetMathMode, o.o, mode) }

// mathMode is -[MTLCompileOptions mathMode].
func (o mtlOptions) mathMode() int64 { return objc.Get(&o.a.m.OptionsMathMode, o.o) }

// setMathFloatingPointFunctions is
// -[MTLCompileOptions setMathFloatingPointFunctions:].
func (o mtlOptions) setMathFloatingPointFunctions(f int64) {
	objc.Set(&o.a.m.OptionsSetMathFuncs, o.o, f)
}

// setFastMathEnabled is -[MTLCompileOptions setFastMathEnabled:].
func (o mtlOptions) setFastMathEnabled(on bool) { objc.Set(&o.a.m.OptionsSetFastMath, o.o, on) }

// fastMathEnabled is -[MTLCompileOptions fastMathEnabled].
func (o mtlOptions) fastMathEnabled() bool { return objc.Get(&o.a.m.OptionsFastMath, o.o) }

// setLanguageVersion is -[MTLCompileOptions setLanguageVersion:].
func (o mtlOptions) setLanguageVersion(v uint64) { objc.Set(&o.a.m.OptionsSetLanguage, o.o, v) }

// languageVersion is -[MTLCompileOptions languageVersion].
func (o mtlOptions) languageVersion() uint64 { return objc.Get(&o.a.m.OptionsLanguage, o.o) }

// setPreprocessorMacros is -[MTLCompileOptions setPreprocessorMacros:].
func (o mtlOptions) setPreprocessorMacros(dict id) { objc.Set(&o.a.m.OptionsSetMacros, o.o, dict) }

// mtlLibrary is MTLLibrary.
type mtlLibrary struct{ object }

// setLabel is -[MTLLibrary setLabel:].
func (l mtlLibrary) setLabel(label id) { objc.Set(&l.a.m.LibrarySetLabel, l.o, label) }

// functionNames is -[MTLLibrary functionNames].
func (l mtlLibrary) functionNames() []string {
	return l.a.Strings(objc.Get(&l.a.m.LibraryFunctionNames, l.o))
}

// newFunction is -[MTLLibrary newFunctionWithName:], +1; nil if absent.
func (l mtlLibrary) newFunction(name id) object {
	m := &l.a.m.LibraryNewFunction
	return object{l.a, m.Send(l.o, m.SEL, name)}
}

// newFunctionWithConstants is
// -[MTLLibrary newFunctionWithName:constantValues:error:], +1.
func (l mtlLibrary) newFunctionWithConstants(name id, values mtlValues) (object, error) {
	m := &l.a.m.LibraryNewFunctionConst
	return l.a.made(func(why *id) id { return m.Send(l.o, m.SEL, name, values.o, why) })
}

// mtlValues is MTLFunctionConstantValues.
type mtlValues struct{ object }

// newValues is +[MTLFunctionConstantValues new], +1.
func (a *api) newValues() mtlValues { return mtlValues{object{a, objc.Get(&a.m.ValuesNew, a.values)}} }

// set is -[MTLFunctionConstantValues setConstantValue:type:atIndex:].
func (v mtlValues) set(value []byte, dataType, index uint64) {
	m := &v.a.m.ValuesSet
	m.Send(v.o, m.SEL, unsafe.Pointer(&value[0]), dataType, index)
}

// mtlPipelineDescriptor is MTLComputePipelineDescriptor.
type mtlPipelineDescriptor struct{ object }

// newPipelineDescriptor is +[MTLComputePipelineDescriptor new], +1.
func (a *api) newPipelineDescriptor() mtlPipelineDescriptor {
	return mtlPipelineDescriptor{object{a, objc.Get(&a.m.DescriptorNew, a.pipelineDescriptor)}}
}

// setLabel is -[MTLComputePipelineDescriptor setLabel:].
func (d mtlPipelineDescriptor) setLabel(label id) { objc.Set(&d.a.m.DescriptorSetLabel, d.o, label) }

// setComputeFunction is -[MTLComputePipelineDescriptor setComputeFunction:].
func (d mtlPipelineDescriptor) setComputeFunction(f object) {
	objc.Set(&d.a.m.DescriptorSetFunction, d.o, f.o)
}

// setBinaryArchives is -[MTLComputePipelineDescriptor setBinaryArchives:].
func (d mtlPipelineDescriptor) setBinaryArchives(array id) {
	objc.Set(&d.a.m.DescriptorSetArchives, d.o, array)
}

// mtlPipeline is MTLComputePipelineState.
type mtlPipeline struct{ object }

// maxTotalThreadsPerThreadgroup is
// -[MTLComputePipelineState maxTotalThreadsPerThreadgroup].
func (p mtlPipeline) maxTotalThreadsPerThreadgroup() int {
	return int(objc.Get(&p.a.m.PipelineMaxThreads, p.o))
}

// threadExecutionWidth is -[MTLComputePipelineState threadExecutionWidth].
func (p mtlPipeline) threadExecutionWidth() int { return int(objc.Get(&p.a.m.PipelineWidth, p.o)) }

// staticThreadgroupMemoryLength is
// -[MTLComputePipelineState staticThreadgroupMemoryLength], in bytes.
func (p mtlPipeline) staticThreadgroupMemoryLength() int {
	return int(objc.Get(&p.a.m.PipelineStaticMemory, p.o))
}

// mtlArchiveDescriptor is MTLBinaryArchiveDescriptor.
type mtlArchiveDescriptor struct{ object }

// newArchiveDescriptor is +[MTLBinaryArchiveDescriptor new], +1.
func (a *api) newArchiveDescriptor() mtlArchiveDescriptor {
	return mtlArchiveDescriptor{object{a, objc.Get(&a.m.ArchiveDescriptorNew, a.archiveDescriptor)}}
}

// setURL is -[MTLBinaryArchiveDescriptor setUrl:].
func (d mtlArchiveDescriptor) setURL(url id) { objc.Set(&d.a.m.ArchiveDescriptorSetURL, d.o, url) }

// mtlArchive is MTLBinaryArchive.
type mtlArchive struct{ object }

// add is -[MTLBinaryArchive addComputePipelineFunctionsWithDescriptor:error:].
func (x mtlArchive) add(desc mtlPipelineDescriptor) error {
	m := &x.a.m.ArchiveAdd
	var why id
	if !m.Send(x.o, m.SEL, desc.o, &why) {
		return x.a.Error(why)
	}
	return nil
}

// serialize is -[MTLBinaryArchive serializeToURL:error:].
func (x mtlArchive) serialize(url id) error {
	m := &x.a.m.ArchiveSerialize
	var why id
	if !m.Send(x.o, m.SEL, url, &why) {
		return x.a.Error(why)
	}
	return nil
}
