// What is encoded. These are the calls that a program makes by the hundred for
// a token: each does little more than write its event.

static void h_endEncoding(t_endEncoding original, id self, SEL cmd) {
	OUTERMOST(original(self, cmd));
	u64 began = now();
	original(self, cmd);
	record(ENCODER_END, (u64)self, began, 0, 0, 0);
}

static void h_setComputePipelineState_(t_setComputePipelineState_ original, id self, SEL cmd, id pipeline) {
	OUTERMOST(original(self, cmd, pipeline));
	record(SET_PIPELINE, (u64)self, (u64)pipeline, 0, 0, 0);
	original(self, cmd, pipeline);
}

// pair is two sizes in a word; one that does not fit is the largest that does.
static u64 pair(u64 low, u64 high) {
	const u64 most = 0xffffffff;
	return (low < most ? low : most) | (high < most ? high : most) << 32;
}

static void dispatched(id encoder, MTLSize grid, MTLSize group, enum dispatch_form form) {
	record(DISPATCH, (u64)encoder, pair(grid.width, grid.height), pair(grid.depth, group.width), pair(group.height, group.depth), form);
}

static void h_dispatchThreads_threadsPerThreadgroup_(t_dispatchThreads_threadsPerThreadgroup_ original, id self, SEL cmd, MTLSize grid, MTLSize group) {
	OUTERMOST(original(self, cmd, grid, group));
	dispatched(self, grid, group, THREADS);
	original(self, cmd, grid, group);
}

static void h_dispatchThreadgroups_threadsPerThreadgroup_(t_dispatchThreadgroups_threadsPerThreadgroup_ original, id self, SEL cmd, MTLSize grid, MTLSize group) {
	OUTERMOST(original(self, cmd, grid, group));
	dispatched(self, grid, group, THREADGROUPS);
	original(self, cmd, grid, group);
}

static void h_dispatchThreadgroupsWithIndirectBuffer_indirectBufferOffset_threadsPerThreadgroup_(t_dispatchThreadgroupsWithIndirectBuffer_indirectBufferOffset_threadsPerThreadgroup_ original, id self, SEL cmd, id buffer, u64 offset, MTLSize group) {
	OUTERMOST(original(self, cmd, buffer, offset, group));
	dispatched(self, (MTLSize){0, 0, 0}, group, INDIRECT);
	original(self, cmd, buffer, offset, group);
}

// The commands of an indirect command buffer are dispatches that only the GPU
// counts: one is told, with the number of commands as its grid.
static void h_executeCommandsInBuffer_withRange_(t_executeCommandsInBuffer_withRange_ original, id self, SEL cmd, id buffer, NSRange range) {
	OUTERMOST(original(self, cmd, buffer, range));
	dispatched(self, (MTLSize){range.length, 0, 0}, (MTLSize){0, 0, 0}, INDIRECT);
	original(self, cmd, buffer, range);
}

static void h_memoryBarrierWithScope_(t_memoryBarrierWithScope_ original, id self, SEL cmd, u64 scope) {
	OUTERMOST(original(self, cmd, scope));
	record(BARRIER, (u64)self, scope, BY_SCOPE, 0, 0);
	original(self, cmd, scope);
}

static void h_memoryBarrierWithResources_count_(t_memoryBarrierWithResources_count_ original, id self, SEL cmd, id *resources, u64 count) {
	OUTERMOST(original(self, cmd, resources, count));
	record(BARRIER, (u64)self, count, BY_RESOURCES, 0, 0);
	original(self, cmd, resources, count);
}

static void h_updateFence_(t_updateFence_ original, id self, SEL cmd, id fence) {
	OUTERMOST(original(self, cmd, fence));
	record(FENCE, (u64)self, (u64)fence, 1, 0, 0);
	original(self, cmd, fence);
}

static void h_waitForFence_(t_waitForFence_ original, id self, SEL cmd, id fence) {
	OUTERMOST(original(self, cmd, fence));
	record(FENCE, (u64)self, (u64)fence, 2, 0, 0);
	original(self, cmd, fence);
}

// ---- blits

static void h_copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(t_copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_ original, id self, SEL cmd, id from, u64 from_offset, id to, u64 to_offset, u64 size) {
	OUTERMOST(original(self, cmd, from, from_offset, to, to_offset, size));
	record(BLIT, (u64)self, COPY, size, 0, 0);
	original(self, cmd, from, from_offset, to, to_offset, size);
}

static void h_fillBuffer_range_value_(t_fillBuffer_range_value_ original, id self, SEL cmd, id buffer, NSRange range, u8 value) {
	OUTERMOST(original(self, cmd, buffer, range, value));
	record(BLIT, (u64)self, FILL, range.length, 0, 0);
	original(self, cmd, buffer, range, value);
}

static void h_synchronizeResource_(t_synchronizeResource_ original, id self, SEL cmd, id resource) {
	OUTERMOST(original(self, cmd, resource));
	record(BLIT, (u64)self, SYNCHRONIZE, 0, 0, 0);
	original(self, cmd, resource);
}

static void h_copyFromTexture_toTexture_(t_copyFromTexture_toTexture_ original, id self, SEL cmd, id from, id to) {
	OUTERMOST(original(self, cmd, from, to));
	record(BLIT, (u64)self, OTHER_BLIT, 0, 0, 0);
	original(self, cmd, from, to);
}

static void h_generateMipmapsForTexture_(t_generateMipmapsForTexture_ original, id self, SEL cmd, id texture) {
	OUTERMOST(original(self, cmd, texture));
	record(BLIT, (u64)self, OTHER_BLIT, 0, 0, 0);
	original(self, cmd, texture);
}

static void h_optimizeContentsForGPUAccess_(t_optimizeContentsForGPUAccess_ original, id self, SEL cmd, id texture) {
	OUTERMOST(original(self, cmd, texture));
	record(BLIT, (u64)self, OTHER_BLIT, 0, 0, 0);
	original(self, cmd, texture);
}

static void h_resolveCounters_inRange_destinationBuffer_destinationOffset_(t_resolveCounters_inRange_destinationBuffer_destinationOffset_ original, id self, SEL cmd, id counters, NSRange range, id to, u64 offset) {
	OUTERMOST(original(self, cmd, counters, range, to, offset));
	record(BLIT, (u64)self, OTHER_BLIT, 0, 0, 0);
	original(self, cmd, counters, range, to, offset);
}
