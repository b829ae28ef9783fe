// MTL4Compiler, which makes libraries and pipelines on systems that have it.

static id h_newCompilerWithDescriptor_error_(t_newCompilerWithDescriptor_error_ original, id self, SEL cmd, id descriptor, id *error) {
	OUTERMOST(original(self, cmd, descriptor, error));
	id compiler = original(self, cmd, descriptor, error);
	see(compiler, COMPILER_ROLE);
	return compiler;
}

// begin_described begins the compilation of an MTL4LibraryDescriptor. Where a
// nonce changes its source it returns a copy of it, which the caller releases;
// else the descriptor itself.
static id begin_described(id compiler, id descriptor, u64 flags, u64 *call) {
	void *pool = objc.push();
	id source = get_if(descriptor, S_source), ours, copy = descriptor;
	*call = begin_source(compiler, FROM_MTL4, source, get_if(descriptor, S_options), flags, &ours);
	if (ours != source) {
		copy = get(descriptor, S_copy);
		((void (*)(id, SEL, id))objc.send)(copy, selectors[S_setSource], ours);
		end_source(source, ours);
	}
	objc.pop(pool);
	return copy;
}

static void end_described(id descriptor, id copy) {
	if (copy != descriptor) get(copy, S_release);
}

static id h_newLibraryWithDescriptor_error_(t_newLibraryWithDescriptor_error_ original, id self, SEL cmd, id descriptor, id *error) {
	OUTERMOST(original(self, cmd, descriptor, error));
	u64 call;
	id ours = begin_described(self, descriptor, 0, &call);
	id library = original(self, cmd, ours, error);
	end_library(call, library, error_of(library, error));
	end_described(descriptor, ours);
	return library;
}

static id h_newLibraryWithDescriptor_completionHandler_(t_newLibraryWithDescriptor_completionHandler_ original, id self, SEL cmd, id descriptor, struct block *handler) {
	OUTERMOST(original(self, cmd, descriptor, handler));
	struct wrapped w;
	struct block *b = wrap(&w, handler, made, &made_descriptor);
	id ours = begin_described(self, descriptor, WITH_HANDLER, &w.call);
	w.done = library_made;
	id task = original(self, cmd, ours, b);
	end_described(descriptor, ours);
	return task;
}

// begin_mtl4 begins a pipeline of an MTL4ComputePipelineDescriptor. Its function
// is a description, MTL4LibraryFunctionDescriptor, whose name is told as the
// function that it stands for.
static u64 begin_mtl4(id descriptor, u64 flags) {
	u64 call = next_call();
	void *pool = objc.push();
	id described = get_if(descriptor, S_computeFunctionDescriptor);
	if (described) record_text(FUNCTION, (u64)described, (u64)get_if(described, S_library), 0, 0, 0, string(get_if(described, S_name)));
	begin_pipeline(call, BY_MTL4, described, 0, flags, string(get_if(descriptor, S_label)));
	objc.pop(pool);
	return call;
}

static id h_newComputePipelineStateWithDescriptor_compilerTaskOptions_error_(t_newComputePipelineStateWithDescriptor_compilerTaskOptions_error_ original, id self, SEL cmd, id descriptor, id options, id *error) {
	OUTERMOST(original(self, cmd, descriptor, options, error));
	u64 call = begin_mtl4(descriptor, 0);
	id pipeline = original(self, cmd, descriptor, options, error);
	end_pipeline(call, pipeline, error_of(pipeline, error));
	return pipeline;
}

static id h_newComputePipelineStateWithDescriptor_compilerTaskOptions_completionHandler_(t_newComputePipelineStateWithDescriptor_compilerTaskOptions_completionHandler_ original, id self, SEL cmd, id descriptor, id options, struct block *handler) {
	OUTERMOST(original(self, cmd, descriptor, options, handler));
	struct wrapped w;
	struct block *b = wrap(&w, handler, made, &made_descriptor);
	w.call = begin_mtl4(descriptor, WITH_HANDLER);
	w.done = end_pipeline;
	return original(self, cmd, descriptor, options, b);
}

static id h_newComputePipelineStateWithDescriptor_dynamicLinkingDescriptor_compilerTaskOptions_error_(t_newComputePipelineStateWithDescriptor_dynamicLinkingDescriptor_compilerTaskOptions_error_ original, id self, SEL cmd, id descriptor, id linking, id options, id *error) {
	OUTERMOST(original(self, cmd, descriptor, linking, options, error));
	u64 call = begin_mtl4(descriptor, 0);
	id pipeline = original(self, cmd, descriptor, linking, options, error);
	end_pipeline(call, pipeline, error_of(pipeline, error));
	return pipeline;
}

static id h_newComputePipelineStateWithDescriptor_dynamicLinkingDescriptor_compilerTaskOptions_completionHandler_(t_newComputePipelineStateWithDescriptor_dynamicLinkingDescriptor_compilerTaskOptions_completionHandler_ original, id self, SEL cmd, id descriptor, id linking, id options, struct block *handler) {
	OUTERMOST(original(self, cmd, descriptor, linking, options, handler));
	struct wrapped w;
	struct block *b = wrap(&w, handler, made, &made_descriptor);
	w.call = begin_mtl4(descriptor, WITH_HANDLER);
	w.done = end_pipeline;
	return original(self, cmd, descriptor, linking, options, b);
}
