// Command encoders: compute and blit.

static void free_encoder(id);

enum { BINDINGS = 31, KIND_BLIT = 2 };

struct encoder {
	u64 handle;
	id commands, label, pipeline;
	id bound[BINDINGS];
	u64 kind; // MTLDispatchType, or KIND_BLIT
	u32 groups;
	u8 ended;
};

static struct class compute_class = {.name = "StandinComputeCommandEncoder", .owners = {"MTLComputeCommandEncoder", "MTLCommandEncoder", "NSObject"}, .size = sizeof(struct encoder), .end = free_encoder};
static struct class blit_class = {.name = "StandinBlitCommandEncoder", .owners = {"MTLBlitCommandEncoder", "MTLCommandEncoder", "NSObject"}, .size = sizeof(struct encoder), .end = free_encoder};

static id new_encoder(id commands, u64 kind) {
	struct commands *c = uncommitted(commands, "an encoder");
	if (c->open) die("an encoder is made while %s has not ended", name_of(c->open));
	u64 handle = go.encoder(c->thing.handle, kind);
	if (!handle) die("%s", reply().p);
	id e = make(kind == KIND_BLIT ? &blit_class : &compute_class);
	struct encoder *b = BODY(encoder, e);
	b->handle = handle;
	b->kind = kind;
	b->commands = retain(commands);
	c->open = e;
	return autorelease(e);
}

static void free_encoder(id o) {
	struct encoder *e = BODY(encoder, o);
	if (!e->ended) die("%s is dropped without endEncoding", name_of(o));
	go.release(e->handle);
	release(e->label);
	release(e->commands);
}

id i_MTLCommandBuffer_computeCommandEncoder(id self, SEL cmd) {
	(void)cmd;
	return new_encoder(self, 0);
}

id i_MTLCommandBuffer_computeCommandEncoderWithDispatchType_(id self, SEL cmd, u64 type) {
	(void)cmd;
	check_option("MTLDispatchType", (i64)type, 1);
	return new_encoder(self, type);
}

id i_MTLCommandBuffer_blitCommandEncoder(id self, SEL cmd) {
	(void)cmd;
	return new_encoder(self, KIND_BLIT);
}

static struct encoder *open_encoder(id o) {
	struct encoder *e = BODY(encoder, o);
	if (e->ended) die("%s has ended", name_of(o));
	return e;
}

static void encode(id o, struct command c) {
	if (go.encode(BODY(encoder, o)->handle, &c)) die("%s", reply().p);
}

// resource checks an argument that the commands will use, and keeps it.
static u64 resource(id o, id argument, const char *owner, const char *what) {
	want(argument, owner, what);
	use(BODY(encoder, o)->commands, argument);
	return BODY(thing, argument)->handle;
}

// ---- MTLCommandEncoder

id i_MTLCommandEncoder_label(id self, SEL cmd) {
	(void)cmd;
	return again(BODY(encoder, self)->label);
}

void i_MTLCommandEncoder_setLabel_(id self, SEL cmd, id label) {
	(void)cmd;
	if (label) want(label, "NSString", "the label");
	replace(&BODY(encoder, self)->label, label);
}

id i_MTLCommandEncoder_device(id self, SEL cmd) {
	(void)cmd;
	return owner_of(BODY(encoder, self)->commands);
}

void i_MTLCommandEncoder_endEncoding(id self, SEL cmd) {
	(void)cmd;
	struct encoder *e = open_encoder(self);
	if (e->groups) die("%u debug groups are open", e->groups);
	encode(self, (struct command){.operation = END});
	e->ended = 1;
	BODY(commands, e->commands)->open = NULL;
}

void i_MTLCommandEncoder_insertDebugSignpost_(id self, SEL cmd, id string) {
	(void)cmd;
	open_encoder(self);
	want(string, "NSString", "the string");
}

void i_MTLCommandEncoder_pushDebugGroup_(id self, SEL cmd, id string) {
	(void)cmd;
	want(string, "NSString", "the string");
	open_encoder(self)->groups++;
}

void i_MTLCommandEncoder_popDebugGroup(id self, SEL cmd) {
	(void)cmd;
	if (!open_encoder(self)->groups) die("no debug group is open");
	BODY(encoder, self)->groups--;
}

static void fence(id self, id argument, u64 operation) {
	open_encoder(self);
	encode(self, (struct command){.operation = operation, .object = resource(self, argument, "MTLFence", "the fence")});
}

// ---- MTLComputeCommandEncoder

void i_MTLComputeCommandEncoder_setComputePipelineState_(id self, SEL cmd, id pipeline) {
	(void)cmd;
	struct encoder *e = open_encoder(self);
	u64 handle = resource(self, pipeline, "MTLComputePipelineState", "the pipeline");
	e->pipeline = pipeline;
	encode(self, (struct command){.operation = SET_PIPELINE, .object = handle});
}

static void bind(id self, id buffer, u64 offset, u64 index) {
	struct encoder *e = open_encoder(self);
	if (index >= BINDINGS) die("index %lu: 0 to 30 are allowed", index);
	u64 handle = 0;
	if (buffer) {
		handle = resource(self, buffer, "MTLBuffer", "the buffer");
		if (offset >= BODY(buffer, buffer)->length) die("offset %lu of a buffer of %lu bytes", offset, BODY(buffer, buffer)->length);
	}
	e->bound[index] = buffer;
	encode(self, (struct command){.operation = SET_BUFFER, .object = handle, .offset = offset, .index = index});
}

void i_MTLComputeCommandEncoder_setBuffer_offset_atIndex_(id self, SEL cmd, id buffer, u64 offset, u64 index) {
	(void)cmd;
	bind(self, buffer, offset, index);
}

void i_MTLComputeCommandEncoder_setBufferOffset_atIndex_(id self, SEL cmd, u64 offset, u64 index) {
	(void)cmd;
	if (index >= BINDINGS || !open_encoder(self)->bound[index]) die("index %lu has no buffer", index);
	bind(self, BODY(encoder, self)->bound[index], offset, index);
}

void i_MTLComputeCommandEncoder_setBuffers_offsets_withRange_(id self, SEL cmd, id *buffers, u64 *offsets, NSRange range) {
	(void)cmd;
	if (range.length > BINDINGS || range.location > BINDINGS - range.length) die("range %lu+%lu: 0 to 30 are allowed", range.location, range.length);
	if (!buffers || !offsets) die("no buffers or offsets");
	for (u64 i = 0; i < range.length; i++) bind(self, buffers[i], offsets[i], range.location + i);
}

void i_MTLComputeCommandEncoder_setBytes_length_atIndex_(id self, SEL cmd, void *bytes, u64 length, u64 index) {
	(void)cmd;
	struct encoder *e = open_encoder(self);
	if (index >= BINDINGS) die("index %lu: 0 to 30 are allowed", index);
	if (!bytes || !length || length > 4096) die("%lu bytes: 1 to 4096 are allowed", length);
	e->bound[index] = NULL;
	encode(self, (struct command){.operation = SET_BYTES, .bytes = bytes, .length = length, .index = index});
}

void i_MTLComputeCommandEncoder_setThreadgroupMemoryLength_atIndex_(id self, SEL cmd, u64 length, u64 index) {
	(void)cmd;
	open_encoder(self);
	if (index >= BINDINGS) die("index %lu: 0 to 30 are allowed", index);
	if (length % 16 || length > facts.max_memory) die("%lu bytes: a multiple of 16 up to %lu is allowed", length, facts.max_memory);
	encode(self, (struct command){.operation = SET_MEMORY, .length = length, .index = index});
}

static void dispatch(id self, u64 operation, MTLSize grid, MTLSize group) {
	struct encoder *e = open_encoder(self);
	if (!e->pipeline) die("no pipeline is set");
	const u64 most = 0xffffffff;
	if (!grid.width || !grid.height || !grid.depth || grid.width > most || grid.height > most || grid.depth > most)
		die("grid %lu × %lu × %lu", grid.width, grid.height, grid.depth);
	u64 limit = BODY(pipeline, e->pipeline)->facts.max_threads;
	if (!group.width || !group.height || !group.depth || group.width > limit || group.height > limit || group.depth > limit ||
	    group.width * group.height * group.depth > limit)
		die("threadgroup %lu × %lu × %lu: the pipeline allows %lu threads", group.width, group.height, group.depth, limit);
	encode(self, (struct command){.operation = operation, .grid = grid, .group = group});
}

void i_MTLComputeCommandEncoder_dispatchThreads_threadsPerThreadgroup_(id self, SEL cmd, MTLSize grid, MTLSize group) {
	(void)cmd;
	dispatch(self, DISPATCH_THREADS, grid, group);
}

void i_MTLComputeCommandEncoder_dispatchThreadgroups_threadsPerThreadgroup_(id self, SEL cmd, MTLSize grid, MTLSize group) {
	(void)cmd;
	dispatch(self, DISPATCH_GROUPS, grid, group);
}

void i_MTLComputeCommandEncoder_memoryBarrierWithScope_(id self, SEL cmd, u64 scope) {
	(void)cmd;
	open_encoder(self);
	if (!scope || scope & ~3ul) die("MTLBarrierScope %#lx", scope);
	encode(self, (struct command){.operation = BARRIER, .index = scope});
}

void i_MTLComputeCommandEncoder_memoryBarrierWithResources_count_(id self, SEL cmd, id *resources, u64 count) {
	(void)cmd;
	open_encoder(self);
	if (!resources || !count) die("no resources");
	for (u64 i = 0; i < count; i++) resource(self, resources[i], "MTLResource", "a resource");
	encode(self, (struct command){.operation = BARRIER, .index = 1});
}

void i_MTLComputeCommandEncoder_updateFence_(id self, SEL cmd, id argument) {
	(void)cmd;
	fence(self, argument, UPDATE_FENCE);
}

void i_MTLComputeCommandEncoder_waitForFence_(id self, SEL cmd, id argument) {
	(void)cmd;
	fence(self, argument, WAIT_FENCE);
}

void i_MTLComputeCommandEncoder_useResource_usage_(id self, SEL cmd, id argument, u64 usage) {
	(void)cmd;
	open_encoder(self);
	if (!usage || usage & ~3ul) die("MTLResourceUsage %#lx", usage);
	resource(self, argument, "MTLResource", "the resource");
}

void i_MTLComputeCommandEncoder_useResources_count_usage_(id self, SEL cmd, id *resources, u64 count, u64 usage) {
	if (!resources || !count) die("no resources");
	for (u64 i = 0; i < count; i++) i_MTLComputeCommandEncoder_useResource_usage_(self, cmd, resources[i], usage);
}

u64 i_MTLComputeCommandEncoder_dispatchType(id self, SEL cmd) {
	(void)cmd;
	return BODY(encoder, self)->kind;
}

// ---- MTLBlitCommandEncoder

// aligned holds to Apple's rule for macOS (MTLBlitCommandEncoder). Apple's GPUs do
// not need it, and programs such as candle break it.
static void aligned(u64 a, u64 b, u64 c) {
	if (!STRICT) return;
	if (a % 4 || b % 4 || c % 4) die("offsets and lengths must be multiples of 4 bytes");
}

// nothing tells that there is nothing to do: Apple's validation finds fault with
// it, and its GPUs do nothing.
static int nothing(u64 bytes, const char *what) {
	if (!bytes && STRICT) die("%s of 0 bytes", what);
	return !bytes;
}

void i_MTLBlitCommandEncoder_copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(id self, SEL cmd, id from, u64 from_offset, id to, u64 to_offset, u64 size) {
	(void)cmd;
	open_encoder(self);
	u64 source = resource(self, from, "MTLBuffer", "the source"), target = resource(self, to, "MTLBuffer", "the destination");
	if (nothing(size, "a copy")) return;
	aligned(from_offset, to_offset, size);
	in_buffer(from, from_offset, size, "the source");
	in_buffer(to, to_offset, size, "the destination");
	if (from == to && from_offset < to_offset + size && to_offset < from_offset + size) die("source and destination overlap");
	encode(self, (struct command){.operation = COPY, .object = source, .offset = from_offset, .other = target, .other_offset = to_offset, .length = size});
}

void i_MTLBlitCommandEncoder_fillBuffer_range_value_(id self, SEL cmd, id buffer, NSRange range, u8 value) {
	(void)cmd;
	open_encoder(self);
	u64 target = resource(self, buffer, "MTLBuffer", "the buffer");
	if (nothing(range.length, "a fill")) return;
	aligned(range.location, range.length, 0);
	in_buffer(buffer, range.location, range.length, "the range");
	encode(self, (struct command){.operation = FILL, .object = target, .offset = range.location, .length = range.length, .index = value});
}

void i_MTLBlitCommandEncoder_synchronizeResource_(id self, SEL cmd, id argument) {
	(void)cmd;
	open_encoder(self);
	resource(self, argument, "MTLResource", "the resource");
}

void i_MTLBlitCommandEncoder_updateFence_(id self, SEL cmd, id argument) {
	(void)cmd;
	fence(self, argument, UPDATE_FENCE);
}

void i_MTLBlitCommandEncoder_waitForFence_(id self, SEL cmd, id argument) {
	(void)cmd;
	fence(self, argument, WAIT_FENCE);
}
