// Blocks: function pointers with a head that says how long they live.

EXPORT void *_NSConcreteGlobalBlock[32];
EXPORT void *_NSConcreteStackBlock[32];
static void *heap_block[32]; // the isa of copies

enum { BLOCK_IS_GLOBAL = 1 << 28 };

static void check_block(struct block *b) {
	if (!b) die("the block is nil");
	int global = b->isa == _NSConcreteGlobalBlock;
	if (!global && b->isa != _NSConcreteStackBlock && b->isa != heap_block)
		die("the block's isa %p is neither _NSConcreteGlobalBlock nor _NSConcreteStackBlock", b->isa);
	if (global != !!(b->flags & BLOCK_IS_GLOBAL)) die("the block's flags %#x do not agree with its isa", (unsigned)b->flags);
	if (!b->invoke) die("the block has no function");
	if (!b->descriptor || b->descriptor->size < sizeof *b || b->descriptor->size > 4096)
		die("the block's descriptor gives %lu bytes", b->descriptor ? b->descriptor->size : 0);
}

// keep_block is _Block_copy: a global block stays where it is, another is
// moved to the heap.
static struct block *keep_block(struct block *b) {
	check_block(b);
	if (b->isa == _NSConcreteGlobalBlock) return b;
	struct block *copy = malloc(b->descriptor->size);
	memcpy(copy, b, b->descriptor->size);
	copy->isa = heap_block;
	return copy;
}

// drop_block is _Block_release. The heap's copy is overwritten first.
static void drop_block(struct block *b) {
	if (b->isa != heap_block) return;
	memset(b, 0xdd, sizeof *b);
	free(b);
}

EXPORT struct block *_Block_copy(struct block *b) { return keep_block(b); }
EXPORT void _Block_release(struct block *b) { drop_block(b); }
