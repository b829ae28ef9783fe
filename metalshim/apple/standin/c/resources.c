// Buffers, fences, events and residency sets.

static void free_buffer(id);
static void free_set(id);
static void free_set_descriptor(id);

struct buffer {
	struct thing thing;
	u64 length, options;
	void *contents;
	struct block *deallocator;
	u8 *program, *agreed; // of memory that could not be taken in place: below
	u64 bound_for;        // the number of the command buffer that has last noted it
};
struct event { struct thing thing; u64 value; };
struct residency { struct thing thing; id *members; u64 count; };
struct residency_descriptor { id label; u64 capacity; };

static struct class buffer_class = {.name = "StandinBuffer", .owners = {"MTLBuffer", "MTLResource", "MTLAllocation", "NSObject"}, .size = sizeof(struct buffer), .end = free_buffer};
static struct class fence_class = {.name = "StandinFence", .owners = {"MTLFence", "NSObject"}, .size = sizeof(struct thing), .end = end_thing};
static struct class event_class = {.name = "StandinEvent", .owners = {"MTLEvent", "NSObject"}, .size = sizeof(struct event), .end = end_thing};
static struct class shared_event_class = {.name = "StandinSharedEvent", .owners = {"MTLSharedEvent", "MTLEvent", "NSObject"}, .size = sizeof(struct event), .end = end_thing};
static struct class residency_class = {.name = "StandinResidencySet", .owners = {"MTLResidencySet", "NSObject"}, .size = sizeof(struct residency), .end = free_set};
static struct class residency_descriptor_class = {.name = "MTLResidencySetDescriptor", .owners = {"MTLResidencySetDescriptor", "NSObject"}, .size = sizeof(struct residency_descriptor), .end = free_set_descriptor, .found = 1};

// ---- MTLBuffer

static u64 allocated;     // bytes of all buffers
static u64 mirrors_alive; // of memory of the program, below

// MTLResourceOptions: CPU cache mode, storage mode and hazard tracking, four
// bits each.
static u64 storage_of(u64 options) { return options >> 4 & 15; }

static id new_buffer(id device, u64 length, u64 options, const void *from, u64 in_place) {
	if (options & ~0xffful || (options & 15) > 1 || storage_of(options) > 2 || options >> 8 > 2)
		die("MTLResourceOptions %#lx", options);
	if (fail_at(AT_BUFFER, text(""), NULL, "", 0)) return NULL;
	if (!length || length > facts.max_length) return NULL;
	void *contents = NULL;
	u64 handle = go.buffer(length, storage_of(options), from, in_place, &contents);
	if (!handle) return NULL; // out of memory
	id b = make(&buffer_class);
	begin_thing(b, device, handle);
	BODY(buffer, b)->length = length;
	BODY(buffer, b)->options = options;
	BODY(buffer, b)->contents = contents;
	__atomic_add_fetch(&allocated, length, __ATOMIC_SEQ_CST);
	return b;
}

static void free_buffer(id o) {
	struct buffer *b = BODY(buffer, o);
	__atomic_sub_fetch(&allocated, b->length, __ATOMIC_SEQ_CST);
	void *memory = b->program ? b->program : b->contents;
	u64 length = b->length;
	struct block *deallocator = b->deallocator;
	if (b->agreed) __atomic_sub_fetch(&mirrors_alive, 1, __ATOMIC_SEQ_CST);
	free(b->agreed);
	end_thing(o);
	if (deallocator) {
		((void (*)(struct block *, void *, u64))deallocator->invoke)(deallocator, memory, length);
		drop_block(deallocator);
	}
}

// Memory of the program that is no whole pages cannot be shared with a device in
// another process. Apple's GPUs take it as it is, against the documentation. Here
// the buffer is a mirror of it: what the program has written since both sides
// agreed goes in at a commit, and what the device has written comes back at the
// command buffer's end, byte by byte, so that neither takes the other's away.
static u8 mirror_word;
static void lock_mirrors(void) {
	while (__atomic_test_and_set(&mirror_word, __ATOMIC_ACQUIRE)) sched_yield();
}
static void unlock_mirrors(void) { __atomic_clear(&mirror_word, __ATOMIC_RELEASE); }

static void mirror(id o, void *bytes) {
	struct buffer *b = BODY(buffer, o);
	b->program = bytes;
	b->agreed = malloc(b->length);
	__atomic_add_fetch(&mirrors_alive, 1, __ATOMIC_SEQ_CST);
	memcpy(b->agreed, b->contents, b->length);
}

// take_over is called with the mirrors locked.
static void take_over(struct buffer *b, const u8 *from, u8 *to) {
	enum { STRIDE = 256 };
	for (u64 at = 0; at < b->length; at += STRIDE) {
		u64 end = b->length - at < STRIDE ? b->length : at + STRIDE;
		if (!memcmp(from + at, b->agreed + at, end - at)) continue;
		for (u64 i = at; i < end; i++)
			if (from[i] != b->agreed[i]) to[i] = b->agreed[i] = from[i];
	}
}

static void mirror_in(struct buffer *b) { take_over(b, b->program, b->contents); }
static void mirror_out(struct buffer *b) { take_over(b, b->contents, b->program); }

u64 i_MTLDevice_currentAllocatedSize(id self, SEL cmd) {
	(void)self, (void)cmd;
	return __atomic_load_n(&allocated, __ATOMIC_SEQ_CST);
}

id i_MTLDevice_newBufferWithLength_options_(id self, SEL cmd, u64 length, u64 options) {
	(void)cmd;
	return new_buffer(self, length, options, NULL, 0);
}

id i_MTLDevice_newBufferWithBytes_length_options_(id self, SEL cmd, void *bytes, u64 length, u64 options) {
	(void)cmd;
	if (!bytes) die("the bytes are null");
	if (storage_of(options) == 2) die("a private buffer cannot be made from bytes");
	return new_buffer(self, length, options, bytes, 0);
}

id i_MTLDevice_newBufferWithBytesNoCopy_length_options_deallocator_(id self, SEL cmd, void *bytes, u64 length, u64 options, struct block *deallocator) {
	(void)cmd;
	u64 page = (u64)getpagesize();
	if (!bytes) die("the bytes are null");
	int whole = (u64)bytes % page == 0 && length % page == 0;
	if (STRICT && !whole) die("pointer %p and length %lu must be multiples of the page size, %lu", bytes, length, page);
	if (storage_of(options) != 0) die("MTLResourceOptions %#lx: memory that is not copied is shared", options);
	id b = new_buffer(self, length, options, bytes, (u64)whole);
	if (b && !whole) mirror(b, bytes);
	if (b && deallocator) BODY(buffer, b)->deallocator = keep_block(deallocator);
	return b;
}

void *i_MTLBuffer_contents(id self, SEL cmd) {
	(void)cmd;
	struct buffer *b = BODY(buffer, self);
	return storage_of(b->options) == 2 ? NULL : b->program ? b->program : b->contents;
}

u64 i_MTLBuffer_length(id self, SEL cmd) {
	(void)cmd;
	return BODY(buffer, self)->length;
}

u64 i_MTLBuffer_gpuAddress(id self, SEL cmd) {
	(void)cmd;
	return 0x1000000000ul + self->number * 0x100000;
}

static void in_buffer(id b, u64 offset, u64 length, const char *what) {
	u64 n = BODY(buffer, b)->length;
	if (offset > n || length > n - offset) die("%s: bytes %lu to %lu+%lu of a buffer of %lu", what, offset, offset, length, n);
}

void i_MTLBuffer_didModifyRange_(id self, SEL cmd, NSRange r) {
	(void)cmd;
	if (storage_of(BODY(buffer, self)->options) != 1) die("the buffer is not managed");
	in_buffer(self, r.location, r.length, "the range");
}

void i_MTLBuffer_addDebugMarker_range_(id self, SEL cmd, id marker, NSRange r) {
	(void)cmd;
	want(marker, "NSString", "the marker");
	in_buffer(self, r.location, r.length, "the range");
}

void i_MTLBuffer_removeAllDebugMarkers(id self, SEL cmd) { (void)self, (void)cmd; }

id i_MTLResource_label(id self, SEL cmd) {
	(void)cmd;
	return label_of(self);
}

void i_MTLResource_setLabel_(id self, SEL cmd, id label) {
	(void)cmd;
	set_label(self, label);
}

id i_MTLResource_device(id self, SEL cmd) {
	(void)cmd;
	return owner_of(self);
}

u64 i_MTLResource_storageMode(id self, SEL cmd) {
	(void)cmd;
	return storage_of(BODY(buffer, self)->options);
}

u64 i_MTLResource_cpuCacheMode(id self, SEL cmd) {
	(void)cmd;
	return BODY(buffer, self)->options & 15;
}

u64 i_MTLResource_hazardTrackingMode(id self, SEL cmd) {
	(void)cmd;
	return BODY(buffer, self)->options >> 8 & 15;
}

u64 i_MTLResource_resourceOptions(id self, SEL cmd) {
	(void)cmd;
	return BODY(buffer, self)->options;
}

// A pipeline counts for nothing here.
u64 i_MTLAllocation_allocatedSize(id self, SEL cmd) {
	(void)cmd;
	return has_owner(self->isa, "MTLBuffer") ? BODY(buffer, self)->length : 0;
}

// ---- MTLFence, MTLEvent

id i_MTLDevice_newFence(id self, SEL cmd) {
	(void)cmd;
	if (fail_at(AT_FENCE, text(""), NULL, "", 0)) return NULL;
	u64 handle = go.fence();
	if (!handle) return NULL;
	id f = make(&fence_class);
	begin_thing(f, self, handle);
	return f;
}

static id new_event(struct class *c, id device) {
	id e = make(c);
	begin_thing(e, device, 0);
	return e;
}

id i_MTLDevice_newEvent(id self, SEL cmd) {
	(void)cmd;
	return new_event(&event_class, self);
}

id i_MTLDevice_newSharedEvent(id self, SEL cmd) {
	(void)cmd;
	return new_event(&shared_event_class, self);
}

u64 i_MTLSharedEvent_signaledValue(id self, SEL cmd) {
	(void)cmd;
	return __atomic_load_n(&BODY(event, self)->value, __ATOMIC_SEQ_CST);
}

void i_MTLSharedEvent_setSignaledValue_(id self, SEL cmd, u64 value) {
	(void)cmd;
	__atomic_store_n(&BODY(event, self)->value, value, __ATOMIC_SEQ_CST);
}

truth i_MTLSharedEvent_waitUntilSignaledValue_timeoutMS_(id self, SEL cmd, u64 value, u64 milliseconds) {
	(void)cmd;
	for (u64 i = 0; __atomic_load_n(&BODY(event, self)->value, __ATOMIC_SEQ_CST) < value; i++) {
		if (i >= milliseconds) return answer(0);
		usleep(1000);
	}
	return answer(1);
}

// ---- MTLResidencySet

static void free_set_descriptor(id o) { release(BODY(residency_descriptor, o)->label); }

void i_MTLResidencySetDescriptor_setLabel_(id self, SEL cmd, id label) {
	(void)cmd;
	if (label) want(label, "NSString", "the label");
	replace(&BODY(residency_descriptor, self)->label, label);
}

void i_MTLResidencySetDescriptor_setInitialCapacity_(id self, SEL cmd, u64 capacity) {
	(void)cmd;
	BODY(residency_descriptor, self)->capacity = capacity;
}

id i_MTLDevice_newResidencySetWithDescriptor_error_(id self, SEL cmd, id descriptor, id *error) {
	(void)cmd;
	want(descriptor, "MTLResidencySetDescriptor", "the descriptor");
	no_error(error);
	id s = make(&residency_class);
	begin_thing(s, self, 0);
	return s;
}

static u64 member(struct residency *s, id allocation) {
	u64 i = 0;
	while (i < s->count && s->members[i] != allocation) i++;
	return i;
}

static void add_member(id self, id allocation) {
	want(allocation, "MTLAllocation", "the allocation");
	struct residency *s = BODY(residency, self);
	if (member(s, allocation) < s->count) return;
	s->members = realloc(s->members, (s->count + 1) * sizeof *s->members);
	s->members[s->count++] = retain(allocation);
}

void i_MTLResidencySet_addAllocation_(id self, SEL cmd, id allocation) {
	(void)cmd;
	add_member(self, allocation);
}

void i_MTLResidencySet_addAllocations_count_(id self, SEL cmd, id *allocations, u64 count) {
	(void)cmd;
	if (!allocations && count) die("no allocations, but %lu of them", count);
	for (u64 i = 0; i < count; i++) add_member(self, allocations[i]);
}

void i_MTLResidencySet_removeAllocation_(id self, SEL cmd, id allocation) {
	(void)cmd;
	struct residency *s = BODY(residency, self);
	u64 i = member(s, want(allocation, "MTLAllocation", "the allocation"));
	if (i == s->count) return;
	s->members[i] = s->members[--s->count];
	release(allocation);
}

void i_MTLResidencySet_removeAllAllocations(id self, SEL cmd) {
	(void)cmd;
	struct residency *s = BODY(residency, self);
	while (s->count) release(s->members[--s->count]);
}

static void free_set(id o) {
	i_MTLResidencySet_removeAllAllocations(o, NULL);
	free(BODY(residency, o)->members);
	end_thing(o);
}

void i_MTLResidencySet_commit(id self, SEL cmd) { (void)self, (void)cmd; }
void i_MTLResidencySet_requestResidency(id self, SEL cmd) { (void)self, (void)cmd; }
void i_MTLResidencySet_endResidency(id self, SEL cmd) { (void)self, (void)cmd; }

u64 i_MTLResidencySet_allocationCount(id self, SEL cmd) {
	(void)cmd;
	return BODY(residency, self)->count;
}

u64 i_MTLResidencySet_allocatedSize(id self, SEL cmd) {
	(void)cmd;
	u64 n = 0;
	for (u64 i = 0; i < BODY(residency, self)->count; i++) n += i_MTLAllocation_allocatedSize(BODY(residency, self)->members[i], cmd);
	return n;
}

truth i_MTLResidencySet_containsAllocation_(id self, SEL cmd, id allocation) {
	(void)cmd;
	struct residency *s = BODY(residency, self);
	return answer(member(s, want(allocation, "MTLAllocation", "the allocation")) < s->count);
}
