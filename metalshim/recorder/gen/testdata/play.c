
// The program's own part: which classes there are, and what it does besides
// sending every message once.

// SubCommands commits by its ancestor's method.
static void sub_commit(id self, SEL cmd) {
	say("SubCommands commits\n");
	((void (*)(id, SEL))class_getInstanceMethod(self->isa->super, cmd)->body)(self, cmd);
}

static double half(id self, SEL cmd) {
	(void)self, (void)cmd;
	return 0.5;
}

static void add_classes(void) {
	struct class *root = add_class("NSObject", NULL);
	add_method(root, "release", "v16@0:8", release);
	add_method(root, "init", "@16@0:8", init);
	add_method(root, "respondsToSelector:", "B24@0:8:16", answers);
	add_method(root->isa, "alloc", "@16@0:8", alloc);
	add_method(root->isa, "new", "@16@0:8", new);
	static const char *const plain[] = {"NSString", "NSError", "Device", "Library", "Function", "Pipeline", "Reflection", "Task", "MTLFunctionConstantValues",
		"Archive", "Buffer", "Heap", "Queue", "Commands", "Compute", "Blit", "Encoder", "SharedEvent", "Compiler", "Queue4", "Commands4", "MTL4LibraryDescriptor", "Forwarder"};
	for (u64 i = 0; i < sizeof plain / sizeof *plain; i++) add_class(plain[i], root);
	struct class *string_class = objc_getClass("NSString"), *commands = objc_getClass("Commands"), *d = objc_getClass("MTL4LibraryDescriptor");
	add_method(string_class, "UTF8String", "r*16@0:8", utf8);
	add_method(string_class, "initWithBytes:length:encoding:", "@40@0:8r^v16Q24Q32", string_init);
	add_method(objc_getClass("NSError"), "localizedDescription", "@16@0:8", name);
	add_method(objc_getClass("Device"), "name", "@16@0:8", name);
	add_method(objc_getClass("Device"), "registryID", "Q16@0:8", registry);
	add_method(commands, "status", "Q16@0:8", status);
	add_method(commands, "GPUStartTime", "d16@0:8", half);
	add_method(objc_getClass("Forwarder"), "status", "Q16@0:8", status);
	add_method(objc_getClass("Forwarder"), "addCompletedHandler:", "v24@0:8@?16", f_addCompletedHandler_);
	add_method(objc_getClass("Forwarder"), "enqueue", "i16@0:8", f_enqueue); // not what a command buffer has
	add_method(d, "source", "@16@0:8", source_of);
	add_method(d, "setSource:", "v24@0:8@16", set_source);
	add_method(d, "copy", "@16@0:8", copied);
	add_methods();
	add_method(add_class("SubCommands", commands), "commit", "v16@0:8", sub_commit);
}

// make_all makes an object for each role as a program does.
static void make_all(void) {
	id (*get)(id, SEL) = (id (*)(id, SEL))objc_msgSend;
	id (*get1)(id, SEL, id) = (id (*)(id, SEL, id))objc_msgSend;
	DEVICE = MTLCreateSystemDefaultDevice();
	LIBRARY = get(DEVICE, sel_registerName("newDefaultLibrary"));
	FUNCTION = get1(LIBRARY, sel_registerName("newFunctionWithName:"), string("f"));
	CONSTANTS_CLASS = (id)objc_getClass("MTLFunctionConstantValues");
	CONSTANTS = get(CONSTANTS_CLASS, sel_registerName("new"));
	ARCHIVE = ((id (*)(id, SEL, id, id *))message)(DEVICE, sel_registerName("newBinaryArchiveWithDescriptor:error:"), NULL, NULL);
	BUFFER = ((id (*)(id, SEL, u64, u64))message)(DEVICE, sel_registerName("newBufferWithLength:options:"), 1, 0);
	HEAP = get1(DEVICE, sel_registerName("newHeapWithDescriptor:"), NULL);
	QUEUE = get(DEVICE, sel_registerName("newCommandQueue"));
	COMMANDS = get(QUEUE, sel_registerName("commandBuffer"));
	COMPUTE = get(COMMANDS, sel_registerName("computeCommandEncoder"));
	BLIT = get(COMMANDS, sel_registerName("blitCommandEncoder"));
	ENCODER = get(COMMANDS, sel_registerName("resourceStateCommandEncoder"));
	SHARED_EVENT = get(DEVICE, sel_registerName("newSharedEvent"));
	COMPILER = ((id (*)(id, SEL, id, id *))message)(DEVICE, sel_registerName("newCompilerWithDescriptor:error:"), NULL, NULL);
	QUEUE4 = get(DEVICE, sel_registerName("newMTL4CommandQueue"));
	COMMANDS4 = get(DEVICE, sel_registerName("newCommandBuffer"));
	resources[0] = resources[1] = BUFFER;
	two[0] = two[1] = COMMANDS4;
}

// inheritance makes command buffers of other classes: one that commits by its
// ancestor's method, and one that hands on what it has no method for.
static void inheritance(void) {
	id (*get)(id, SEL) = (id (*)(id, SEL))objc_msgSend;
	const char *const others[] = {"SubCommands", "Forwarder", "SubCommands"};
	for (int i = 0; i < 3; i++) {
		next_commands = make_named(others[i]);
		SEL s = sel_registerName("commandBuffer");
		begin(others[i], QUEUE);
		gave(get(QUEUE, s));
		if (i != 1) get(next_commands, sel_registerName("commit"));
	}
	next_commands = NULL;
}

// failures sends what has a place for an error, with and without one.
static void failures(void) {
	id (*make_library)(id, SEL, id, id, id *) = (id (*)(id, SEL, id, id, id *))objc_msgSend;
	SEL s = sel_registerName("newLibraryWithSource:options:error:");
	failing = 1;
	begin("failure", DEVICE);
	gave(make_library(DEVICE, s, string("kernel"), NULL, &error));
	begin("failure without a place", DEVICE);
	gave(make_library(DEVICE, s, string("kernel"), NULL, NULL));
	failing = 0;
}

// semaphores waits for one while Metal holds a handler of the program's, and
// while it holds none.
static void semaphores(void) {
	c_commit(COMMANDS); // it has handlers still
	id s = string("a semaphore");
	begin("semaphore that nobody waits for", s);
	dispatch_semaphore_wait(s, 0);
	id commands = ((id (*)(id, SEL))message)(QUEUE, sel_registerName("commandBuffer"));
	c_addCompletedHandler_(commands);
	begin("semaphore", s);
	dispatch_semaphore_wait(s, 0);
	begin("semaphore that gave up", s);
	dispatch_semaphore_wait(s, 1);
	begin("group", s);
	dispatch_group_wait(s, 0);
	((id (*)(id, SEL))message)(commands, sel_registerName("commit"));
	begin("semaphore after the handler", s);
	dispatch_semaphore_wait(s, 0);
}

// time_calls says what a dispatch costs, in nanoseconds.
static void time_calls(u64 n) {
	void (*dispatch)(id, SEL, MTLSize, MTLSize) = (void (*)(id, SEL, MTLSize, MTLSize))message;
	SEL s = sel_registerName("dispatchThreadgroups:threadsPerThreadgroup:");
	struct timespec from, to;
	timing = 1;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (u64 i = 0; i < n; i++) dispatch(COMPUTE, s, (MTLSize){i, 1, 1}, (MTLSize){32, 1, 1});
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("@ ns %.1f\n", ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / (double)n);
}

int play(void) {
	setvbuf(stdout, NULL, _IOLBF, 0);
	add_classes();
	void *outer = objc_autoreleasePoolPush();
	make_all();
	if (getenv("PLAIN")) { // constants have NSObject's methods
		struct class *root = objc_getClass("NSObject");
		id (*get)(id, SEL) = (id (*)(id, SEL))message;
		for (int i = 0; i < 3; i++) get((id)objc_getClass("NSString"), sel_registerName("new"));
		say("NSObject's %s\n", class_getInstanceMethod(root, sel_registerName("init"))->body == (void *)init &&
		    class_getInstanceMethod(root->isa, sel_registerName("new"))->body == (void *)new ? "methods are its own" : "methods were replaced");
		return 0;
	}
	if (getenv("CALLS")) {
		time_calls(strtoull(getenv("CALLS"), NULL, 10));
		return 0;
	}
	send_all();
	inheritance();
	failures();
	semaphores();
	say("blocks: %d copied, %d given back; %d pools\n", copies, disposals, pools);
	objc_autoreleasePoolPop(outer);
	say("%d objects in a pool, %d alive\n", pooled, live);
	return 0;
}
