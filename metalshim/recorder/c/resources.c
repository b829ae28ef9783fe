// Buffers, heaps, queues and shared events.

static void buffer_made(id buffer, u64 bytes, u64 options, enum buffer_form form, u64 began) {
	u64 ended = now();
	see(buffer, BUFFER_ROLE);
	record_at(ended, BUFFER, (u64)buffer, bytes, options, form, began, text(NULL));
}

static id h_newBufferWithLength_options_(t_newBufferWithLength_options_ original, id self, SEL cmd, u64 bytes, u64 options) {
	OUTERMOST(original(self, cmd, bytes, options));
	u64 began = now();
	id buffer = original(self, cmd, bytes, options);
	buffer_made(buffer, bytes, options, is_adopted(objc.class_of(self), HEAP_ROLE) ? FROM_HEAP : BY_LENGTH, began);
	return buffer;
}

static id h_newBufferWithBytes_length_options_(t_newBufferWithBytes_length_options_ original, id self, SEL cmd, void *from, u64 bytes, u64 options) {
	OUTERMOST(original(self, cmd, from, bytes, options));
	u64 began = now();
	id buffer = original(self, cmd, from, bytes, options);
	buffer_made(buffer, bytes, options, BY_BYTES, began);
	return buffer;
}

static id h_newBufferWithBytesNoCopy_length_options_deallocator_(t_newBufferWithBytesNoCopy_length_options_deallocator_ original, id self, SEL cmd, void *memory, u64 bytes, u64 options, struct block *deallocator) {
	OUTERMOST(original(self, cmd, memory, bytes, options, deallocator));
	u64 began = now();
	id buffer = original(self, cmd, memory, bytes, options, deallocator);
	buffer_made(buffer, bytes, options, NO_COPY, began);
	return buffer;
}

static id h_newBufferWithLength_options_offset_(t_newBufferWithLength_options_offset_ original, id self, SEL cmd, u64 bytes, u64 options, u64 offset) {
	OUTERMOST(original(self, cmd, bytes, options, offset));
	u64 began = now();
	id buffer = original(self, cmd, bytes, options, offset);
	buffer_made(buffer, bytes, options, FROM_HEAP, began);
	return buffer;
}

static id h_newHeapWithDescriptor_(t_newHeapWithDescriptor_ original, id self, SEL cmd, id descriptor) {
	OUTERMOST(original(self, cmd, descriptor));
	u64 bytes = number_if(descriptor, S_size), began = now();
	id heap = original(self, cmd, descriptor);
	u64 ended = now();
	see(heap, HEAP_ROLE);
	record_at(ended, HEAP, (u64)heap, bytes, 0, 0, began, text(NULL));
	return heap;
}

static void queue_made(id device, id queue, u64 most) {
	see(queue, QUEUE_ROLE);
	record(QUEUE, (u64)queue, (u64)device, most, 0, 0);
}

static id h_newCommandQueue(t_newCommandQueue original, id self, SEL cmd) {
	OUTERMOST(original(self, cmd));
	id queue = original(self, cmd);
	queue_made(self, queue, 0);
	return queue;
}

static id h_newCommandQueueWithMaxCommandBufferCount_(t_newCommandQueueWithMaxCommandBufferCount_ original, id self, SEL cmd, u64 most) {
	OUTERMOST(original(self, cmd, most));
	id queue = original(self, cmd, most);
	queue_made(self, queue, most);
	return queue;
}

static id h_newCommandQueueWithDescriptor_(t_newCommandQueueWithDescriptor_ original, id self, SEL cmd, id descriptor) {
	OUTERMOST(original(self, cmd, descriptor));
	id queue = original(self, cmd, descriptor);
	queue_made(self, queue, number_if(descriptor, S_maxCommandBufferCount));
	return queue;
}

// ---- MTLSharedEvent

static id h_newSharedEvent(t_newSharedEvent original, id self, SEL cmd) {
	OUTERMOST(original(self, cmd));
	id event = original(self, cmd);
	see(event, SHARED_EVENT_ROLE);
	return event;
}

static id h_newSharedEventWithHandle_(t_newSharedEventWithHandle_ original, id self, SEL cmd, id handle) {
	OUTERMOST(original(self, cmd, handle));
	id event = original(self, cmd, handle);
	see(event, SHARED_EVENT_ROLE);
	return event;
}

// begin_wait and end_wait tell of a wait; done is 0 where it gave up.
static u64 begin_wait(id what, enum wait_form form, u64 value) {
	u64 began = now();
	record_at(began, WAIT_BEGIN, (u64)what, form, value, 0, 0, text(NULL));
	return began;
}

static void end_wait(id what, enum wait_form form, u64 began, u64 done) { record(WAIT_END, (u64)what, form, began, done, 0); }

static BOOL h_waitUntilSignaledValue_timeoutMS_(t_waitUntilSignaledValue_timeoutMS_ original, id self, SEL cmd, u64 value, u64 timeout) {
	OUTERMOST(original(self, cmd, value, timeout));
	u64 began = begin_wait(self, SHARED_EVENT, value);
	BOOL done = original(self, cmd, value, timeout);
	end_wait(self, SHARED_EVENT, began, done != 0);
	return done;
}

static void h_notifyListener_atValue_block_(t_notifyListener_atValue_block_ original, id self, SEL cmd, id listener, u64 value, struct block *b) {
	OUTERMOST(original(self, cmd, listener, value, b));
	struct wrapped w;
	original(self, cmd, listener, value, wrap(&w, b, told_value, &told_value_descriptor));
	record(HANDLER, (u64)self, 3, value, 0, 0);
}

// ---- labels, of whatever has one

static void h_setLabel_(t_setLabel_ original, id self, SEL cmd, id label) {
	OUTERMOST(original(self, cmd, label));
	original(self, cmd, label);
	void *pool = objc.push();
	record_text(LABEL, (u64)self, 0, 0, 0, 0, string(label));
	objc.pop(pool);
}
