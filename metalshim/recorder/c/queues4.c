// MTL4's queues and command buffers, on systems that have them. Its encoders
// for compute are met as Metal's own are. When a command buffer has run, MTL4
// tells only whom the program names for it: its end is not recorded.

static id h_newMTL4CommandQueue(t_newMTL4CommandQueue original, id self, SEL cmd) {
	OUTERMOST(original(self, cmd));
	id queue = original(self, cmd);
	see(queue, QUEUE4_ROLE);
	record(QUEUE, (u64)queue, (u64)self, 0, 0, 0);
	return queue;
}

static id h_newMTL4CommandQueueWithDescriptor_error_(t_newMTL4CommandQueueWithDescriptor_error_ original, id self, SEL cmd, id descriptor, id *error) {
	OUTERMOST(original(self, cmd, descriptor, error));
	id queue = original(self, cmd, descriptor, error);
	see(queue, QUEUE4_ROLE);
	record(QUEUE, (u64)queue, (u64)self, 0, 0, 0);
	return queue;
}

// A command buffer is made once and begun again and again: each beginning is
// told as one that was made, of no queue.
static id h_newCommandBuffer(t_newCommandBuffer original, id self, SEL cmd) {
	OUTERMOST(original(self, cmd));
	id commands = original(self, cmd);
	see(commands, COMMANDS4_ROLE);
	return commands;
}

static void h_beginCommandBufferWithAllocator_(t_beginCommandBufferWithAllocator_ original, id self, SEL cmd, id allocator) {
	OUTERMOST(original(self, cmd, allocator));
	original(self, cmd, allocator);
	record(COMMANDS, (u64)self, 0, 1, 0, 0);
}

static void h_beginCommandBufferWithAllocator_options_(t_beginCommandBufferWithAllocator_options_ original, id self, SEL cmd, id allocator, id options) {
	OUTERMOST(original(self, cmd, allocator, options));
	original(self, cmd, allocator, options);
	record(COMMANDS, (u64)self, 0, 1, 0, 0);
}

static void committed(const id *commands, u64 count, u64 began) {
	for (u64 i = 0; commands && i < count; i++) record(COMMIT, (u64)commands[i], began, 0, 0, 0);
}

static void h_commit_count_(t_commit_count_ original, id self, SEL cmd, id *commands, u64 count) {
	OUTERMOST(original(self, cmd, commands, count));
	u64 began = now();
	original(self, cmd, commands, count);
	committed(commands, count, began);
}

static void h_commit_count_options_(t_commit_count_options_ original, id self, SEL cmd, id *commands, u64 count, id options) {
	OUTERMOST(original(self, cmd, commands, count, options));
	u64 began = now();
	original(self, cmd, commands, count, options);
	committed(commands, count, began);
}

static void h_signalEvent_value_(t_signalEvent_value_ original, id self, SEL cmd, id event, u64 value) {
	OUTERMOST(original(self, cmd, event, value));
	original(self, cmd, event, value);
	record(EVENT, (u64)self, (u64)event, value, 1, 0);
}

static void h_waitForEvent_value_(t_waitForEvent_value_ original, id self, SEL cmd, id event, u64 value) {
	OUTERMOST(original(self, cmd, event, value));
	original(self, cmd, event, value);
	record(EVENT, (u64)self, (u64)event, value, 2, 0);
}

// ---- what its encoders have besides

static void h_dispatchThreadgroupsWithIndirectBuffer_threadsPerThreadgroup_(t_dispatchThreadgroupsWithIndirectBuffer_threadsPerThreadgroup_ original, id self, SEL cmd, u64 address, MTLSize group) {
	OUTERMOST(original(self, cmd, address, group));
	dispatched(self, (MTLSize){0, 0, 0}, group, INDIRECT);
	original(self, cmd, address, group);
}

static void h_dispatchThreadsWithIndirectBuffer_(t_dispatchThreadsWithIndirectBuffer_ original, id self, SEL cmd, u64 address) {
	OUTERMOST(original(self, cmd, address));
	dispatched(self, (MTLSize){0, 0, 0}, (MTLSize){0, 0, 0}, INDIRECT);
	original(self, cmd, address);
}

// Those with three words that say which stages wait for which.
#define BY_THE_STAGES(name) \
	static void h_##name(t_##name original, id self, SEL cmd, u64 after, u64 before, u64 visible) { \
		OUTERMOST(original(self, cmd, after, before, visible)); \
		record(BARRIER, (u64)self, after, BY_STAGES, 0, 0); \
		original(self, cmd, after, before, visible); \
	}
BY_THE_STAGES(barrierAfterQueueStages_beforeStages_visibilityOptions_)
BY_THE_STAGES(barrierAfterStages_beforeQueueStages_visibilityOptions_)
BY_THE_STAGES(barrierAfterEncoderStages_beforeEncoderStages_visibilityOptions_)
