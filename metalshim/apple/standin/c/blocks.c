// Blocks (the Block Implementation Specification of LLVM): function pointers with a
// head that says how long they live, and what they have captured.

EXPORT void *_NSConcreteGlobalBlock[32];
EXPORT void *_NSConcreteStackBlock[32];
EXPORT void *_NSConcreteMallocBlock[32];

enum { BLOCK_COUNT = 0xfffe, BLOCK_ONE = 2, BLOCK_HAS_HELPERS = 1 << 25, BLOCK_IS_GLOBAL = 1 << 28 };

// What stands behind the descriptor of a block that has helpers.
struct block_helpers {
	u64 reserved, size;
	void (*copy)(struct block *to, const struct block *from);
	void (*dispose)(struct block *);
};

// A variable that blocks share, which is moved to the heap with the first of them.
struct shared_variable {
	void *isa;
	struct shared_variable *forwarding;
	i32 flags;
	u32 size;
	void (*keep)(struct shared_variable *to, struct shared_variable *from);
	void (*destroy)(struct shared_variable *);
};

EXPORT void _Block_object_assign(void *to, const void *object, int kind);
EXPORT void _Block_object_dispose(const void *object, int kind);

static void check_block(struct block *b) {
	if (!b) die("the block is nil");
	int global = b->isa == _NSConcreteGlobalBlock;
	if (!global && b->isa != _NSConcreteStackBlock && b->isa != _NSConcreteMallocBlock)
		die("the block's isa %p is neither _NSConcreteGlobalBlock nor _NSConcreteStackBlock", b->isa);
	if (global != !!(b->flags & BLOCK_IS_GLOBAL)) die("the block's flags %#x do not agree with its isa", (unsigned)b->flags);
	if (!b->invoke) die("the block has no function");
	if (!b->descriptor || b->descriptor->size < sizeof *b || b->descriptor->size > 1 << 20)
		die("the block's descriptor gives %lu bytes", b->descriptor ? b->descriptor->size : 0);
}

// keep_block is _Block_copy: a global block stays where it is, one of the heap is
// counted, another is moved to the heap.
static struct block *keep_block(struct block *b) {
	check_block(b);
	if (b->isa == _NSConcreteGlobalBlock) return b;
	if (b->isa == _NSConcreteMallocBlock) {
		__atomic_add_fetch(&b->flags, BLOCK_ONE, __ATOMIC_SEQ_CST);
		return b;
	}
	struct block *copy = malloc(b->descriptor->size);
	memcpy(copy, b, b->descriptor->size);
	copy->isa = _NSConcreteMallocBlock;
	copy->flags = (b->flags & ~BLOCK_COUNT) | BLOCK_ONE;
	if (b->flags & BLOCK_HAS_HELPERS) ((struct block_helpers *)b->descriptor)->copy(copy, b);
	return copy;
}

// drop_block is _Block_release. The heap's copy is overwritten first.
static void drop_block(struct block *b) {
	if (!b || b->isa != _NSConcreteMallocBlock) return;
	if (__atomic_sub_fetch(&b->flags, BLOCK_ONE, __ATOMIC_SEQ_CST) & BLOCK_COUNT) return;
	if (b->flags & BLOCK_HAS_HELPERS) ((struct block_helpers *)b->descriptor)->dispose(b);
	memset(b, 0xdd, sizeof *b);
	free(b);
}

EXPORT struct block *_Block_copy(struct block *b) { return keep_block(b); }
EXPORT void _Block_release(struct block *b) { drop_block(b); }

// ---- what blocks capture

enum { CAPTURED_OBJECT = 3, CAPTURED_BLOCK = 7, CAPTURED_SHARED = 8, CAPTURED_MASK = 15, CAPTURED_INSIDE = 128 };

static struct shared_variable *keep_shared(struct shared_variable *v) {
	v = v->forwarding;
	if (v->flags & BLOCK_COUNT) {
		__atomic_add_fetch(&v->flags, BLOCK_ONE, __ATOMIC_SEQ_CST);
		return v;
	}
	struct shared_variable *copy = malloc(v->size);
	memcpy(copy, v, v->size);
	// One for the block, one for the variable's own scope.
	copy->flags = v->flags | 2 * BLOCK_ONE;
	copy->forwarding = v->forwarding = copy;
	if (v->flags & BLOCK_HAS_HELPERS) v->keep(copy, v);
	return copy;
}

static void drop_shared(struct shared_variable *v) {
	v = v->forwarding;
	if (!(v->flags & BLOCK_COUNT)) return; // it has never left the stack
	if (__atomic_sub_fetch(&v->flags, BLOCK_ONE, __ATOMIC_SEQ_CST) & BLOCK_COUNT) return;
	if (v->flags & BLOCK_HAS_HELPERS) v->destroy(v);
	free(v);
}

// _Block_object_assign is called by the helpers that compilers write, to copy what a
// block has captured.
EXPORT void _Block_object_assign(void *place, const void *captured, int kind) {
	void *object = (void *)captured, **to = place;
	*to = object;
	if (!object || kind & CAPTURED_INSIDE) return;
	switch (kind & CAPTURED_MASK) {
	case CAPTURED_OBJECT:
		retain(object);
		break;
	case CAPTURED_BLOCK:
		*to = keep_block(object);
		break;
	case CAPTURED_SHARED:
		*to = keep_shared(object);
		break;
	}
}

EXPORT void _Block_object_dispose(const void *captured, int kind) {
	void *object = (void *)captured;
	if (!object || kind & CAPTURED_INSIDE) return;
	switch (kind & CAPTURED_MASK) {
	case CAPTURED_OBJECT:
		release(object);
		break;
	case CAPTURED_BLOCK:
		drop_block(object);
		break;
	case CAPTURED_SHARED:
		drop_shared(object);
		break;
	}
}
