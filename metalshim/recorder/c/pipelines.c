// Pipelines, of all forms, and the binary archives that they may come from.

static void begin_pipeline(u64 call, enum pipeline_form form, id function, u64 options, u64 flags, struct text label) {
	record_text(PIPELINE_BEGIN, call, (u64)function, form, options, flags, label);
}

static void end_pipeline(u64 call, id pipeline, id error) {
	u64 ended = now();
	void *pool = objc.push();
	record_at(ended, PIPELINE_END, call, (u64)pipeline, number_if(pipeline, S_maxThreads), evidence(pipeline), number_if(pipeline, S_width),
	          error_text(error));
	objc.pop(pool);
}

static u64 by_function(enum pipeline_form form, id function, u64 options, u64 flags) {
	u64 call = next_call();
	begin_pipeline(call, form, function, options, flags, text(NULL));
	return call;
}

static u64 by_descriptor(id descriptor, u64 options, u64 flags) {
	u64 call = next_call();
	void *pool = objc.push();
	if (number(get_if(descriptor, S_binaryArchives), S_count)) flags |= 2;
	begin_pipeline(call, BY_DESCRIPTOR, get_if(descriptor, S_computeFunction), options, flags, string(get_if(descriptor, S_label)));
	objc.pop(pool);
	return call;
}

enum { WITH_HANDLER = 1, WITH_REFLECTION = 4 };

static id h_newComputePipelineStateWithFunction_error_(t_newComputePipelineStateWithFunction_error_ original, id self, SEL cmd, id function, id *error) {
	OUTERMOST(original(self, cmd, function, error));
	u64 call = by_function(BY_FUNCTION, function, 0, 0);
	id pipeline = original(self, cmd, function, error);
	end_pipeline(call, pipeline, error_of(pipeline, error));
	return pipeline;
}

static id h_newComputePipelineStateWithFunction_options_reflection_error_(t_newComputePipelineStateWithFunction_options_reflection_error_ original, id self, SEL cmd, id function, u64 options, id *reflection, id *error) {
	OUTERMOST(original(self, cmd, function, options, reflection, error));
	u64 call = by_function(BY_FUNCTION, function, options, reflection ? WITH_REFLECTION : 0);
	id pipeline = original(self, cmd, function, options, reflection, error);
	end_pipeline(call, pipeline, error_of(pipeline, error));
	return pipeline;
}

static id h_newComputePipelineStateWithDescriptor_options_reflection_error_(t_newComputePipelineStateWithDescriptor_options_reflection_error_ original, id self, SEL cmd, id descriptor, u64 options, id *reflection, id *error) {
	OUTERMOST(original(self, cmd, descriptor, options, reflection, error));
	u64 call = by_descriptor(descriptor, options, reflection ? WITH_REFLECTION : 0);
	id pipeline = original(self, cmd, descriptor, options, reflection, error);
	end_pipeline(call, pipeline, error_of(pipeline, error));
	return pipeline;
}

static void h_newComputePipelineStateWithFunction_completionHandler_(t_newComputePipelineStateWithFunction_completionHandler_ original, id self, SEL cmd, id function, struct block *handler) {
	OUTERMOST(original(self, cmd, function, handler));
	struct wrapped w;
	struct block *b = wrap(&w, handler, made, &made_descriptor);
	w.call = by_function(BY_FUNCTION, function, 0, WITH_HANDLER);
	w.done = end_pipeline;
	original(self, cmd, function, b);
}

static void h_newComputePipelineStateWithFunction_options_completionHandler_(t_newComputePipelineStateWithFunction_options_completionHandler_ original, id self, SEL cmd, id function, u64 options, struct block *handler) {
	OUTERMOST(original(self, cmd, function, options, handler));
	struct wrapped w;
	struct block *b = wrap(&w, handler, made_reflected, &made_reflected_descriptor);
	w.call = by_function(BY_FUNCTION, function, options, WITH_HANDLER | WITH_REFLECTION);
	w.done = end_pipeline;
	original(self, cmd, function, options, b);
}

static void h_newComputePipelineStateWithDescriptor_options_completionHandler_(t_newComputePipelineStateWithDescriptor_options_completionHandler_ original, id self, SEL cmd, id descriptor, u64 options, struct block *handler) {
	OUTERMOST(original(self, cmd, descriptor, options, handler));
	struct wrapped w;
	struct block *b = wrap(&w, handler, made_reflected, &made_reflected_descriptor);
	w.call = by_descriptor(descriptor, options, WITH_HANDLER | WITH_REFLECTION);
	w.done = end_pipeline;
	original(self, cmd, descriptor, options, b);
}

static id h_newRenderPipelineStateWithDescriptor_error_(t_newRenderPipelineStateWithDescriptor_error_ original, id self, SEL cmd, id descriptor, id *error) {
	OUTERMOST(original(self, cmd, descriptor, error));
	u64 call = by_function(BY_RENDER, NULL, 0, 0);
	id pipeline = original(self, cmd, descriptor, error);
	end_pipeline(call, pipeline, error_of(pipeline, error));
	return pipeline;
}

static id h_newRenderPipelineStateWithDescriptor_options_reflection_error_(t_newRenderPipelineStateWithDescriptor_options_reflection_error_ original, id self, SEL cmd, id descriptor, u64 options, id *reflection, id *error) {
	OUTERMOST(original(self, cmd, descriptor, options, reflection, error));
	u64 call = by_function(BY_RENDER, NULL, options, reflection ? WITH_REFLECTION : 0);
	id pipeline = original(self, cmd, descriptor, options, reflection, error);
	end_pipeline(call, pipeline, error_of(pipeline, error));
	return pipeline;
}

// ---- MTLBinaryArchive

static u64 begin_archive(id archive, enum archive_form form, id function, struct text path) {
	u64 call = next_call();
	record_text(ARCHIVE_BEGIN, call, (u64)archive, form, (u64)function, 0, path);
	return call;
}

static void end_archive(u64 call, id archive, id error) {
	u64 ended = now();
	void *pool = objc.push();
	record_at(ended, ARCHIVE_END, call, (u64)archive, 0, 0, 0, error_text(error));
	objc.pop(pool);
}

static id h_newBinaryArchiveWithDescriptor_error_(t_newBinaryArchiveWithDescriptor_error_ original, id self, SEL cmd, id descriptor, id *error) {
	OUTERMOST(original(self, cmd, descriptor, error));
	void *pool = objc.push();
	id url = get_if(descriptor, S_url);
	u64 call = begin_archive(NULL, url ? ARCHIVE_OPENED : ARCHIVE_MADE, NULL, url_text(url));
	objc.pop(pool);
	id archive = original(self, cmd, descriptor, error);
	see(archive, ARCHIVE_ROLE);
	end_archive(call, archive, error_of(archive, error));
	return archive;
}

static BOOL h_addComputePipelineFunctionsWithDescriptor_error_(t_addComputePipelineFunctionsWithDescriptor_error_ original, id self, SEL cmd, id descriptor, id *error) {
	OUTERMOST(original(self, cmd, descriptor, error));
	void *pool = objc.push();
	u64 call = begin_archive(self, ARCHIVE_ADD, get_if(descriptor, S_computeFunction), text(NULL));
	objc.pop(pool);
	BOOL done = original(self, cmd, descriptor, error);
	end_archive(call, done ? self : NULL, error_of(done ? self : NULL, error));
	return done;
}

static BOOL h_serializeToURL_error_(t_serializeToURL_error_ original, id self, SEL cmd, id url, id *error) {
	OUTERMOST(original(self, cmd, url, error));
	void *pool = objc.push();
	u64 call = begin_archive(self, ARCHIVE_WRITE, NULL, url_text(url));
	objc.pop(pool);
	BOOL done = original(self, cmd, url, error);
	end_archive(call, done ? self : NULL, error_of(done ? self : NULL, error));
	return done;
}
