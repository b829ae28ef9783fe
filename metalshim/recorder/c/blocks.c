// Blocks made by hand: one that is called when a command buffer has completed,
// and one that is put around a block of the program's.

// pending counts the program's blocks that Metal holds: a semaphore may be
// waited for that one of them signals.
static u64 pending;

// A wrapped block calls the program's. It is made on the stack and copied by
// Metal as the program's would have been.
struct wrapped {
	struct block block;
	struct block *theirs;
	u64 call;
	void (*done)(u64 call, id made, id error);
};

static void copy_wrapped(void *to, const void *from) {
	((struct wrapped *)to)->theirs = objc.copy_block(((const struct wrapped *)from)->theirs);
	__atomic_add_fetch(&pending, 1, __ATOMIC_RELAXED);
}

static void dispose_wrapped(const void *b) {
	__atomic_sub_fetch(&pending, 1, __ATOMIC_RELAXED);
	objc.drop_block(((const struct wrapped *)b)->theirs);
}

// PROGRAM calls a block of the program's: what it does is the program's doing,
// wherever Metal calls it.
#define PROGRAM(call) \
	u8 was = inside; \
	inside = 0; \
	call; \
	inside = was

static void told(struct wrapped *w, id object) {
	PROGRAM(((void (*)(struct block *, id))w->theirs->invoke)(w->theirs, object));
}

static void told_value(struct wrapped *w, id event, u64 value) {
	PROGRAM(((void (*)(struct block *, id, u64))w->theirs->invoke)(w->theirs, event, value));
}

static void made(struct wrapped *w, id object, id error) {
	w->done(w->call, object, object ? NULL : error);
	PROGRAM(((void (*)(struct block *, id, id))w->theirs->invoke)(w->theirs, object, error));
}

static void made_reflected(struct wrapped *w, id object, id reflection, id error) {
	w->done(w->call, object, object ? NULL : error);
	PROGRAM(((void (*)(struct block *, id, id, id))w->theirs->invoke)(w->theirs, object, reflection, error));
}

#define WRAPPED_DESCRIPTOR(name, signature) \
	static const struct block_descriptor name = {0, sizeof(struct wrapped), copy_wrapped, dispose_wrapped, signature}
WRAPPED_DESCRIPTOR(told_descriptor, "v16@?0@8");
WRAPPED_DESCRIPTOR(told_value_descriptor, "v24@?0@8Q16");
WRAPPED_DESCRIPTOR(made_descriptor, "v24@?0@8@16");
WRAPPED_DESCRIPTOR(made_reflected_descriptor, "v32@?0@8@16@24");

// wrap puts a block around theirs, which may be absent; w is the caller's.
static struct block *wrap(struct wrapped *w, struct block *theirs, void *invoke, const struct block_descriptor *d) {
	if (!theirs) return NULL;
	*w = (struct wrapped){{objc.stack_block, BLOCK_HAS_COPY_DISPOSE | BLOCK_HAS_SIGNATURE, 0, invoke, d}, theirs, 0, NULL};
	return &w->block;
}
