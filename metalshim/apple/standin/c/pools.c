// Autorelease pools, one stack for each thread.

enum { POOLS = 64 }; // that a test may nest

struct pools {
	id *objects;
	u64 count, room;
	struct opened { u64 token, start; } *opened;
	u32 depth, places;
	// What a program's thread has autoreleased last is not in a pool yet: the
	// caller may take it over by objc_retainAutoreleasedReturnValue.
	id last;
	u8 watched; // the thread's end drains what is left
};
static _Thread_local struct pools pools;

static void put_in_pool(struct pools *p, id o) {
	if (p->count == p->room) {
		p->room = p->room ? 2 * p->room : 64;
		p->objects = realloc(p->objects, p->room * sizeof *p->objects);
	}
	p->objects[p->count++] = o;
}

static void settle_last(struct pools *p) {
	id o = p->last;
	p->last = NULL;
	if (o) put_in_pool(p, o);
}

// drain releases what the pools from depth on hold.
static void drain(struct pools *p, u64 start) {
	for (settle_last(p); p->count > start; settle_last(p)) { // a dying object may autorelease another
		id o = p->objects[--p->count];
		if (!is_block(o)) __atomic_sub_fetch(&o->pooled, 1, __ATOMIC_SEQ_CST);
		release(o);
	}
}

EXPORT void *objc_autoreleasePoolPush(void) {
	static u64 tokens = 0x1000;
	struct pools *p = &pools;
	if (STRICT && p->depth == POOLS) die("autorelease pools are nested more than %d deep: one is never popped", POOLS);
	settle_last(p);
	if (p->depth == p->places) {
		p->places = p->places ? 2 * p->places : POOLS;
		p->opened = realloc(p->opened, p->places * sizeof *p->opened);
	}
	u64 token = __atomic_add_fetch(&tokens, 8, __ATOMIC_SEQ_CST);
	p->opened[p->depth++] = (struct opened){token, p->count};
	__atomic_add_fetch(&open_pools, 1, __ATOMIC_SEQ_CST);
	return (void *)token;
}

// objc_autoreleasePoolPop pops a pool; a program's, also those inside it.
EXPORT void objc_autoreleasePoolPop(void *token) {
	struct pools *p = &pools;
	u32 at = p->depth;
	while (at > 0 && p->opened[at - 1].token != (u64)token) at--;
	if (at == 0) die("the autorelease pool %p is not of this thread, or is popped twice", token);
	if (STRICT && at != p->depth) die("the autorelease pool %p is popped before %u inside it", token, p->depth - at);
	drain(p, p->opened[at - 1].start);
	__atomic_sub_fetch(&open_pools, p->depth - (at - 1), __ATOMIC_SEQ_CST);
	p->depth = at - 1;
	if (STRICT && !p->depth) {
		free(p->objects);
		free(p->opened);
		*p = (struct pools){0};
	}
}

// ---- without a pool: a program's objects live until their thread ends

static u32 pools_key;

static void end_pools(void *of) {
	struct pools *p = of;
	drain(p, 0);
	free(p->objects);
	free(p->opened);
	__atomic_sub_fetch(&open_pools, p->depth, __ATOMIC_SEQ_CST);
	*p = (struct pools){0};
	forget_reply();
}

// watch_thread has what this thread holds given back at its end.
static void watch_thread(void) {
	if (STRICT || pools.watched) return;
	pools.watched = 1;
	pthread_setspecific(pools_key, &pools);
}

__attribute__((constructor)) static void make_pools_key(void) {
	if (!STRICT && pthread_key_create(&pools_key, end_pools)) die("no key for what threads hold");
}

static id autorelease(id o) {
	if (!o || is_class(o)) return o;
	struct pools *p = &pools;
	if (is_block(o)) {
		put_in_pool(p, o);
		watch_thread();
		return o;
	}
	live(o, "autorelease");
	if (STRICT && !p->depth) die("%s is autoreleased, but no pool is in place on this thread", name_of(o));
	__atomic_add_fetch(&o->pooled, 1, __ATOMIC_SEQ_CST);
	if (STRICT) {
		if (__atomic_load_n(&o->pooled, __ATOMIC_SEQ_CST) > __atomic_load_n(&o->refs, __ATOMIC_SEQ_CST))
			die("%s is autoreleased more often than it is owned", name_of(o));
		put_in_pool(p, o);
		return o;
	}
	watch_thread();
	settle_last(p);
	return p->last = o;
}

EXPORT id objc_retain(id o) { return retain(o); }
EXPORT void objc_release(id o) { release(o); }
EXPORT id objc_autorelease(id o) { return autorelease(o); }

// objc_retainAutoreleasedReturnValue takes over what a method has just returned,
// where it can, so that it need not go through a pool, which a program may lack.
EXPORT id objc_retainAutoreleasedReturnValue(id o) {
	if (STRICT || !o || pools.last != o) return retain(o);
	pools.last = NULL;
	__atomic_sub_fetch(&o->pooled, 1, __ATOMIC_SEQ_CST);
	return o;
}

// ---- what compilers send that count references by themselves

EXPORT id objc_autoreleaseReturnValue(id);
EXPORT id objc_retainAutorelease(id);
EXPORT id objc_retainAutoreleaseReturnValue(id);
EXPORT void objc_storeStrong(id *, id);

EXPORT id objc_autoreleaseReturnValue(id o) { return autorelease(o); }
EXPORT id objc_retainAutorelease(id o) { return autorelease(retain(o)); }
EXPORT id objc_retainAutoreleaseReturnValue(id o) { return autorelease(retain(o)); }

EXPORT void objc_storeStrong(id *at, id o) {
	id old = *at;
	*at = retain(o);
	release(old);
}
