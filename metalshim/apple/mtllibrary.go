package apple

import "unsafe"

// mtlOptions is MTLCompileOptions.
type mtlOptions struct{ object }

// newOptions is +[MTLCompileOptions new], +1.
func (a *api) newOptions() mtlOptions {
	m := &a.m.OptionsNew
	return mtlOptions{object{a, m.Send(a.options, m.SEL)}}
}

// hasMathMode tells whether MTLCompileOptions has setMathMode:, as since
// macOS 15.
func (o mtlOptions) hasMathMode() bool { return o.a.RespondsTo(o.o, o.a.m.OptionsSetMathMode.SEL) }

// setMathMode is -[MTLCompileOptions setMathMode:].
func (o mtlOptions) setMathMode(mode int64) {
	m := &o.a.m.OptionsSetMathMode
	m.Send(o.o, m.SEL, mode)
}

// mathMode is -[MTLCompileOptions mathMode].
func (o mtlOptions) mathMode() int64 {
	m := &o.a.m.OptionsMathMode
	return m.Send(o.o, m.SEL)
}

// setMathFloatingPointFunctions is
// -[MTLCompileOptions setMathFloatingPointFunctions:].
func (o mtlOptions) setMathFloatingPointFunctions(f int64) {
	m := &o.a.m.OptionsSetMathFuncs
	m.Send(o.o, m.SEL, f)
}

// setFastMathEnabled is -[MTLCompileOptions setFastMathEnabled:].
func (o mtlOptions) setFastMathEnabled(on bool) {
	m := &o.a.m.OptionsSetFastMath
	m.Send(o.o, m.SEL, on)
}

// fastMathEnabled is -[MTLCompileOptions fastMathEnabled].
func (o mtlOptions) fastMathEnabled() bool {
	m := &o.a.m.OptionsFastMath
	return m.Send(o.o, m.SEL)
}

// setLanguageVersion is -[MTLCompileOptions setLanguageVersion:].
func (o mtlOptions) setLanguageVersion(v uint64) {
	m := &o.a.m.OptionsSetLanguage
	m.Send(o.o, m.SEL, v)
}

// languageVersion is -[MTLCompileOptions languageVersion].
func (o mtlOptions) languageVersion() uint64 {
	m := &o.a.m.OptionsLanguage
	return m.Send(o.o, m.SEL)
}

// setPreprocessorMacros is -[MTLCompileOptions setPreprocessorMacros:].
func (o mtlOptions) setPreprocessorMacros(dict id) {
	m := &o.a.m.OptionsSetMacros
	m.Send(o.o, m.SEL, dict)
}

// mtlLibrary is MTLLibrary.
type mtlLibrary struct{ object }

// setLabel is -[MTLLibrary setLabel:].
func (l mtlLibrary) setLabel(label id) {
	m := &l.a.m.LibrarySetLabel
	m.Send(l.o, m.SEL, label)
}

// functionNames is -[MTLLibrary functionNames].
func (l mtlLibrary) functionNames() []string {
	m := &l.a.m.LibraryFunctionNames
	return l.a.Strings(m.Send(l.o, m.SEL))
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
	var why id
	f := object{l.a, m.Send(l.o, m.SEL, name, values.o, &why)}
	if f.nothing() {
		return f, l.a.Error(why)
	}
	return f, nil
}

// mtlValues is MTLFunctionConstantValues.
type mtlValues struct{ object }

// newValues is +[MTLFunctionConstantValues new], +1.
func (a *api) newValues() mtlValues {
	m := &a.m.ValuesNew
	return mtlValues{object{a, m.Send(a.values, m.SEL)}}
}

// set is -[MTLFunctionConstantValues setConstantValue:type:atIndex:].
func (v mtlValues) set(value []byte, dataType, index uint64) {
	m := &v.a.m.ValuesSet
	m.Send(v.o, m.SEL, unsafe.Pointer(&value[0]), dataType, index)
}

// mtlPipelineDescriptor is MTLComputePipelineDescriptor.
type mtlPipelineDescriptor struct{ object }

// newPipelineDescriptor is +[MTLComputePipelineDescriptor new], +1.
func (a *api) newPipelineDescriptor() mtlPipelineDescriptor {
	m := &a.m.DescriptorNew
	return mtlPipelineDescriptor{object{a, m.Send(a.pipelineDescriptor, m.SEL)}}
}

// setLabel is -[MTLComputePipelineDescriptor setLabel:].
func (d mtlPipelineDescriptor) setLabel(label id) {
	m := &d.a.m.DescriptorSetLabel
	m.Send(d.o, m.SEL, label)
}

// setComputeFunction is -[MTLComputePipelineDescriptor setComputeFunction:].
func (d mtlPipelineDescriptor) setComputeFunction(f object) {
	m := &d.a.m.DescriptorSetFunction
	m.Send(d.o, m.SEL, f.o)
}

// setBinaryArchives is -[MTLComputePipelineDescriptor setBinaryArchives:].
func (d mtlPipelineDescriptor) setBinaryArchives(array id) {
	m := &d.a.m.DescriptorSetArchives
	m.Send(d.o, m.SEL, array)
}

// mtlPipeline is MTLComputePipelineState.
type mtlPipeline struct{ object }

// maxTotalThreadsPerThreadgroup is
// -[MTLComputePipelineState maxTotalThreadsPerThreadgroup].
func (p mtlPipeline) maxTotalThreadsPerThreadgroup() int {
	m := &p.a.m.PipelineMaxThreads
	return int(m.Send(p.o, m.SEL))
}

// threadExecutionWidth is -[MTLComputePipelineState threadExecutionWidth].
func (p mtlPipeline) threadExecutionWidth() int {
	m := &p.a.m.PipelineWidth
	return int(m.Send(p.o, m.SEL))
}

// staticThreadgroupMemoryLength is
// -[MTLComputePipelineState staticThreadgroupMemoryLength], in bytes.
func (p mtlPipeline) staticThreadgroupMemoryLength() int {
	m := &p.a.m.PipelineStaticMemory
	return int(m.Send(p.o, m.SEL))
}

// mtlArchiveDescriptor is MTLBinaryArchiveDescriptor.
type mtlArchiveDescriptor struct{ object }

// newArchiveDescriptor is +[MTLBinaryArchiveDescriptor new], +1.
func (a *api) newArchiveDescriptor() mtlArchiveDescriptor {
	m := &a.m.ArchiveDescriptorNew
	return mtlArchiveDescriptor{object{a, m.Send(a.archiveDescriptor, m.SEL)}}
}

// setURL is -[MTLBinaryArchiveDescriptor setUrl:].
func (d mtlArchiveDescriptor) setURL(url id) {
	m := &d.a.m.ArchiveDescriptorSetURL
	m.Send(d.o, m.SEL, url)
}

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
