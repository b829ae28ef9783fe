// What is compiled beside the caller, who is told by a block.

enum compiled { LIBRARY_OF_SOURCE, FUNCTION_WITH_VALUES, PIPELINE_OF_FUNCTION, PIPELINE_WITH_OPTIONS, PIPELINE_OF_DESCRIPTOR };

struct compilation {
	enum compiled kind;
	id device, of, options; // of: source, function or descriptor; options: a function's error
	u64 flags;
	struct block *handler;
};

// compile is the whole life of a thread.
static void *compile(void *p) {
	struct compilation *c = p;
	void *pool = objc_autoreleasePoolPush();
	id error = NULL, made = NULL;
	switch (c->kind) {
	case LIBRARY_OF_SOURCE:
		made = new_library(c->device, text_of(c->of, "the source"), c->options, &error);
		break;
	case FUNCTION_WITH_VALUES:
		made = retain(c->of), error = c->options;
		break;
	case PIPELINE_OF_FUNCTION: case PIPELINE_WITH_OPTIONS:
		made = new_pipeline(c->device, c->of, NULL, &error);
		break;
	case PIPELINE_OF_DESCRIPTOR:
		made = i_MTLDevice_newComputePipelineStateWithDescriptor_options_reflection_error_(c->device, NULL, c->of, c->flags, NULL, &error);
		break;
	}
	if (made) error = NULL;
	if (c->kind == PIPELINE_WITH_OPTIONS || c->kind == PIPELINE_OF_DESCRIPTOR)
		((void (*)(struct block *, id, id, id))c->handler->invoke)(c->handler, made, NULL, error); // no reflection
	else
		((void (*)(struct block *, id, id))c->handler->invoke)(c->handler, made, error);
	release(made);
	release(c->of);
	release(c->options);
	release(c->device);
	drop_block(c->handler);
	free(c);
	objc_autoreleasePoolPop(pool);
	if (STRICT) forget_reply(); // a program's threads do by themselves
	return NULL;
}

static void compile_beside(enum compiled kind, id device, id of, id options, u64 flags, struct block *handler) {
	struct compilation *c = malloc(sizeof *c);
	*c = (struct compilation){kind, retain(device), retain(of), retain(options), flags, keep_block(handler)};
	usize thread;
	if (pthread_create(&thread, NULL, compile, c)) die("no thread to compile on");
	pthread_detach(thread);
}

void i_MTLDevice_newLibraryWithSource_options_completionHandler_(id self, SEL cmd, id source, id options, struct block *handler) {
	(void)cmd;
	want(source, "NSString", "the source");
	if (options) want(options, "MTLCompileOptions", "options");
	compile_beside(LIBRARY_OF_SOURCE, self, source, options, 0, handler);
}

// The values are read before the call returns: who made it may change them then.
void i_MTLLibrary_newFunctionWithName_constantValues_completionHandler_(id self, SEL cmd, id name, id values, struct block *handler) {
	(void)cmd;
	want(values, "MTLFunctionConstantValues", "constantValues");
	id error = NULL, made = new_function(self, name, values, &error);
	compile_beside(FUNCTION_WITH_VALUES, NULL, made, made ? NULL : error, 0, handler);
	release(made);
}

void i_MTLDevice_newComputePipelineStateWithFunction_completionHandler_(id self, SEL cmd, id function, struct block *handler) {
	(void)cmd;
	compile_beside(PIPELINE_OF_FUNCTION, self, want(function, "MTLFunction", "the function"), NULL, 0, handler);
}

void i_MTLDevice_newComputePipelineStateWithFunction_options_completionHandler_(id self, SEL cmd, id function, u64 options, struct block *handler) {
	(void)cmd;
	if (options & ~7ul) die("MTLPipelineOption %#lx", options);
	compile_beside(PIPELINE_WITH_OPTIONS, self, want(function, "MTLFunction", "the function"), NULL, options, handler);
}

void i_MTLDevice_newComputePipelineStateWithDescriptor_options_completionHandler_(id self, SEL cmd, id descriptor, u64 options, struct block *handler) {
	(void)cmd;
	function_of(descriptor);
	if (options & ~7ul) die("MTLPipelineOption %#lx", options);
	compile_beside(PIPELINE_OF_DESCRIPTOR, self, descriptor, NULL, options, handler);
}

// The compiler has two threads, or as many as there are processors where that is
// wanted.
void i_MTLDevice_setShouldMaximizeConcurrentCompilation_(id self, SEL cmd, BOOL on) {
	(void)self, (void)cmd;
	check_flag("shouldMaximizeConcurrentCompilation", on);
	maximized = on;
}

truth i_MTLDevice_shouldMaximizeConcurrentCompilation(id self, SEL cmd) {
	(void)self, (void)cmd;
	return answer(maximized);
}

u64 i_MTLDevice_maximumConcurrentCompilationTaskCount(id self, SEL cmd) {
	(void)self, (void)cmd;
	i64 processors = sysconf(84); // _SC_NPROCESSORS_ONLN
	return maximized && processors > 2 ? (u64)processors : 2;
}

// ---- what is the same for every program

// A program on Linux has no bundle that a default library could lie in.
id i_MTLDevice_newDefaultLibrary(id self, SEL cmd) {
	(void)self, (void)cmd;
	return NULL;
}

truth i_MTLDevice_supportsShaderBarycentricCoordinates(id self, SEL cmd) {
	(void)self, (void)cmd;
	return answer(0);
}

MTLSizeAndAlign i_MTLDevice_heapBufferSizeAndAlignWithLength_options_(id self, SEL cmd, u64 length, u64 options) {
	(void)self, (void)cmd, (void)options;
	u64 page = (u64)getpagesize();
	return (MTLSizeAndAlign){(length + page - 1) / page * page, page};
}

// Memory is never taken back: what is asked for is what was there, MTLPurgeableStateNonVolatile.
u64 i_MTLResource_setPurgeableState_(id self, SEL cmd, u64 state) {
	(void)self, (void)cmd;
	check_option("MTLPurgeableState", (i64)state, 4);
	return 2;
}

id i_MTLCommandBuffer_logs(id self, SEL cmd) {
	(void)self, (void)cmd;
	return NULL;
}

void i_MTLCompileOptions_setPreserveInvariance_(id self, SEL cmd, BOOL on) {
	(void)self, (void)cmd;
	check_flag("preserveInvariance", on);
}

void i_MTLCompileOptions_setMaxTotalThreadsPerThreadgroup_(id self, SEL cmd, u64 most) {
	(void)self, (void)cmd;
	if (most > facts.max_group) die("%lu threads, the device allows %lu", most, facts.max_group);
}
