// Command buffers, from their making to their completion, and the waits for
// them.

// completed is the body of the block that every command buffer is given when it
// is made, before any of the program's own: a program may end in its own.
static void completed(struct block *b, id commands) {
	(void)b;
	u8 was_inside = inside;
	inside = 1;
	u64 at = now(), status = number(commands, S_status);
	record_at(at, SCHEDULED, (u64)commands, seconds(real_number(commands, S_kernelStartTime)), seconds(real_number(commands, S_kernelEndTime)), 0, 0, text(NULL));
	u64 start = seconds(real_number(commands, S_GPUStartTime)), end = seconds(real_number(commands, S_GPUEndTime));
	void *pool = status == STATUS_ERROR ? objc.push() : NULL;
	record_at(at, COMPLETED, (u64)commands, start, end, status, 0, pool ? error_text(get(commands, S_error)) : text(NULL));
	if (pool) objc.pop(pool);
	inside = was_inside;
}

static const struct { u64 reserved, size; const char *signature; } completed_descriptor = {0, sizeof(struct block), "v16@?0@8"};

static struct block *completed_block(void) {
	static struct block b = {NULL, BLOCK_IS_GLOBAL | BLOCK_HAS_SIGNATURE, 0, (void *)completed, (const struct block_descriptor *)&completed_descriptor};
	if (!b.isa) b.isa = objc.global_block;
	return &b;
}

static void commands_made(id queue, id commands, u64 unretained, u64 began) {
	see(commands, COMMANDS_ROLE);
	record(COMMANDS, (u64)commands, (u64)queue, unretained, 0, began);
	if (commands) ((void (*)(id, SEL, struct block *))objc.send)(commands, selectors[S_addCompletedHandler], completed_block());
}

static id h_commandBuffer(t_commandBuffer original, id self, SEL cmd) {
	OUTERMOST(objc.retain(original(self, cmd)));
	u64 began = now();
	BORROWED(commands, original(self, cmd));
	commands_made(self, commands, 0, began);
	return commands;
}

static id h_commandBufferWithUnretainedReferences(t_commandBufferWithUnretainedReferences original, id self, SEL cmd) {
	OUTERMOST(objc.retain(original(self, cmd)));
	u64 began = now();
	BORROWED(commands, original(self, cmd));
	commands_made(self, commands, 1, began);
	return commands;
}

static id h_commandBufferWithDescriptor_(t_commandBufferWithDescriptor_ original, id self, SEL cmd, id descriptor) {
	OUTERMOST(objc.retain(original(self, cmd, descriptor)));
	u64 began = now();
	BORROWED(commands, original(self, cmd, descriptor));
	commands_made(self, commands, responds(commands, S_retainedReferences) && !flag_if(commands, S_retainedReferences), began);
	return commands;
}

static void h_enqueue(t_enqueue original, id self, SEL cmd) {
	OUTERMOST(original(self, cmd));
	record(ENQUEUE, (u64)self, 0, 0, 0, 0);
	original(self, cmd);
}

// The completion may be told before the commit that it follows.
static void h_commit(t_commit original, id self, SEL cmd) {
	OUTERMOST(original(self, cmd));
	u64 began = now();
	original(self, cmd);
	record(COMMIT, (u64)self, began, 0, 0, 0);
}

static void h_waitUntilCompleted(t_waitUntilCompleted original, id self, SEL cmd) {
	OUTERMOST(original(self, cmd));
	u64 began = begin_wait(self, COMPLETION, 0);
	original(self, cmd);
	end_wait(self, COMPLETION, began, 1);
}

static void h_waitUntilScheduled(t_waitUntilScheduled original, id self, SEL cmd) {
	OUTERMOST(original(self, cmd));
	u64 began = begin_wait(self, SCHEDULING, 0);
	original(self, cmd);
	end_wait(self, SCHEDULING, began, 1);
}

static void h_addCompletedHandler_(t_addCompletedHandler_ original, id self, SEL cmd, struct block *b) {
	OUTERMOST(original(self, cmd, b));
	struct wrapped w;
	original(self, cmd, wrap(&w, b, told, &told_descriptor));
	record(HANDLER, (u64)self, 2, 0, 0, 0);
}

static void h_addScheduledHandler_(t_addScheduledHandler_ original, id self, SEL cmd, struct block *b) {
	OUTERMOST(original(self, cmd, b));
	struct wrapped w;
	original(self, cmd, wrap(&w, b, told, &told_descriptor));
	record(HANDLER, (u64)self, 1, 0, 0, 0);
}

static void h_encodeSignalEvent_value_(t_encodeSignalEvent_value_ original, id self, SEL cmd, id event, u64 value) {
	OUTERMOST(original(self, cmd, event, value));
	original(self, cmd, event, value);
	record(EVENT, (u64)self, (u64)event, value, 1, 0);
}

static void h_encodeWaitForEvent_value_(t_encodeWaitForEvent_value_ original, id self, SEL cmd, id event, u64 value) {
	OUTERMOST(original(self, cmd, event, value));
	original(self, cmd, event, value);
	record(EVENT, (u64)self, (u64)event, value, 2, 0);
}

// ---- encoders are made

static void encoder_made(id commands, id encoder, enum role role, enum encoder_form form) {
	see(encoder, role);
	record(ENCODER, (u64)encoder, (u64)commands, form, 0, 0);
}

static id h_computeCommandEncoder(t_computeCommandEncoder original, id self, SEL cmd) {
	OUTERMOST(objc.retain(original(self, cmd)));
	BORROWED(encoder, original(self, cmd));
	encoder_made(self, encoder, COMPUTE_ROLE, COMPUTE_SERIAL);
	return encoder;
}

static id h_computeCommandEncoderWithDispatchType_(t_computeCommandEncoderWithDispatchType_ original, id self, SEL cmd, u64 type) {
	OUTERMOST(objc.retain(original(self, cmd, type)));
	BORROWED(encoder, original(self, cmd, type));
	encoder_made(self, encoder, COMPUTE_ROLE, type == 1 ? COMPUTE_CONCURRENT : COMPUTE_SERIAL);
	return encoder;
}

static id h_computeCommandEncoderWithDescriptor_(t_computeCommandEncoderWithDescriptor_ original, id self, SEL cmd, id descriptor) {
	OUTERMOST(objc.retain(original(self, cmd, descriptor)));
	BORROWED(encoder, original(self, cmd, descriptor));
	encoder_made(self, encoder, COMPUTE_ROLE, number_if(descriptor, S_dispatchType) == 1 ? COMPUTE_CONCURRENT : COMPUTE_SERIAL);
	return encoder;
}

static id h_blitCommandEncoder(t_blitCommandEncoder original, id self, SEL cmd) {
	OUTERMOST(objc.retain(original(self, cmd)));
	BORROWED(encoder, original(self, cmd));
	encoder_made(self, encoder, BLIT_ROLE, BLITS);
	return encoder;
}

static id h_resourceStateCommandEncoder(t_resourceStateCommandEncoder original, id self, SEL cmd) {
	OUTERMOST(objc.retain(original(self, cmd)));
	BORROWED(encoder, original(self, cmd));
	encoder_made(self, encoder, ENCODER_ROLE, OTHER_ENCODER);
	return encoder;
}

static id h_accelerationStructureCommandEncoder(t_accelerationStructureCommandEncoder original, id self, SEL cmd) {
	OUTERMOST(objc.retain(original(self, cmd)));
	BORROWED(encoder, original(self, cmd));
	encoder_made(self, encoder, ENCODER_ROLE, OTHER_ENCODER);
	return encoder;
}

// Those that take a descriptor and are alike.
#define DESCRIBED(name, role, form) \
	static id h_##name(t_##name original, id self, SEL cmd, id descriptor) { \
		OUTERMOST(objc.retain(original(self, cmd, descriptor))); \
		BORROWED(encoder, original(self, cmd, descriptor)); \
		encoder_made(self, encoder, role, form); \
		return encoder; \
	}
DESCRIBED(blitCommandEncoderWithDescriptor_, BLIT_ROLE, BLITS)
DESCRIBED(renderCommandEncoderWithDescriptor_, ENCODER_ROLE, RENDER)
DESCRIBED(parallelRenderCommandEncoderWithDescriptor_, ENCODER_ROLE, RENDER)
DESCRIBED(resourceStateCommandEncoderWithDescriptor_, ENCODER_ROLE, OTHER_ENCODER)
DESCRIBED(accelerationStructureCommandEncoderWithDescriptor_, ENCODER_ROLE, OTHER_ENCODER)
