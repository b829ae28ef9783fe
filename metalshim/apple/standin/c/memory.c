// Objects, their references, and autorelease pools.

enum { LIVE = 0x4556494c, DEAD = 0x44414544 };

// Objects lie in one region of address space and their places are not used
// again until it is full, so that every pointer can be told apart: an object,
// a dead one, or something else.
enum { PLACES = 1 << 22 };
static struct object *places;
static u64 place_count; // next place, guarded by the lock
static u64 number_count, live_count, open_pools;

static id place(void) {
	lock();
	if (!places) {
		places = mmap(NULL, PLACES * sizeof *places, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (places == (void *)-1) die("no address space for objects");
	}
	id o = NULL;
	for (u32 i = 0; i < PLACES && !o; i++) {
		id p = &places[place_count++ % PLACES];
		if (p->life != LIVE) o = p;
	}
	if (!o) die("more than %d objects are alive", PLACES);
	memset(o, 0, sizeof *o);
	o->life = LIVE;
	o->number = ++number_count;
	live_count++;
	unlock();
	return o;
}

static int is_object(id o) {
	u64 offset = (u64)o - (u64)places;
	return places && (u64)o >= (u64)places && offset % sizeof(struct object) == 0 && offset / sizeof(struct object) < PLACES && o->life;
}

// name_of describes an object, such as "StandinBuffer #12".
static const char *name_of(id o) {
	static _Thread_local char names[4][80];
	static _Thread_local u32 turn;
	char *name = names[turn++ % 4];
	snprintf(name, sizeof names[0], "%s #%lu", o->isa->name, (unsigned long)o->number);
	return name;
}

static void live(id o, const char *what) {
	if (!is_object(o)) die("%s: %p is no object", what, (void *)o);
	if (o->life != LIVE) die("%s: use after release of %s", what, name_of(o));
}

static void live_for_release(id o) {
	if (is_object(o) && o->life == DEAD) die("over-release of %s, which is dead", name_of(o));
	live(o, "release");
}

// make gives an object with one reference, which is the caller's.
static id make(struct class *c) {
	id o = place();
	o->isa = c;
	o->refs = 1;
	o->ready = 1;
	o->origin = current ? current->selector : "";
	o->body = c->size ? calloc(1, c->size) : NULL;
	return o;
}

static id retain(id o) {
	if (!o) return NULL;
	live(o, "retain");
	__atomic_add_fetch(&o->refs, 1, __ATOMIC_SEQ_CST);
	return o;
}

static void end(id o) {
	if (o->immortal) die("over-release of %s, which belongs to the system", name_of(o));
	if (__atomic_load_n(&o->users, __ATOMIC_SEQ_CST) > 0)
		die("%s is released while a command buffer with unretained references uses it", name_of(o));
	if (o->isa->end) o->isa->end(o);
	free(o->body);
	o->body = NULL;
	lock();
	o->life = DEAD;
	live_count--;
	unlock();
}

static void release(id o) {
	if (!o) return;
	live_for_release(o);
	i32 left = __atomic_sub_fetch(&o->refs, 1, __ATOMIC_SEQ_CST);
	if (left < __atomic_load_n(&o->pooled, __ATOMIC_SEQ_CST))
		die("over-release of %s: only an autorelease pool owns it", name_of(o));
	if (left == 0) end(o);
}

// ---- autorelease pools, one stack for each thread

enum { POOLS = 64 };
static _Thread_local struct {
	id *objects;
	u64 count, room;
	u64 tokens[POOLS], starts[POOLS];
	u32 depth;
} pools;

EXPORT void *objc_autoreleasePoolPush(void) {
	static u64 tokens = 0x1000;
	if (pools.depth == POOLS) die("autorelease pools are nested more than %d deep: one is never popped", POOLS);
	u64 token = __atomic_add_fetch(&tokens, 8, __ATOMIC_SEQ_CST);
	pools.tokens[pools.depth] = token;
	pools.starts[pools.depth++] = pools.count;
	__atomic_add_fetch(&open_pools, 1, __ATOMIC_SEQ_CST);
	return (void *)token;
}

EXPORT void objc_autoreleasePoolPop(void *token) {
	u32 at = pools.depth;
	while (at > 0 && pools.tokens[at - 1] != (u64)token) at--;
	if (at == 0) die("the autorelease pool %p is not of this thread, or is popped twice", token);
	if (at != pools.depth) die("the autorelease pool %p is popped before %u inside it", token, pools.depth - at);
	while (pools.count > pools.starts[at - 1]) { // a dying object may autorelease another
		id o = pools.objects[--pools.count];
		__atomic_sub_fetch(&o->pooled, 1, __ATOMIC_SEQ_CST);
		release(o);
	}
	if (--pools.depth == 0) {
		free(pools.objects);
		pools.objects = NULL;
		pools.room = 0;
	}
	__atomic_sub_fetch(&open_pools, 1, __ATOMIC_SEQ_CST);
}

static id autorelease(id o) {
	if (!o) return NULL;
	live(o, "autorelease");
	if (!pools.depth) die("%s is autoreleased, but no pool is in place on this thread", name_of(o));
	if (pools.count == pools.room) {
		pools.room = pools.room ? 2 * pools.room : 64;
		pools.objects = realloc(pools.objects, pools.room * sizeof *pools.objects);
	}
	__atomic_add_fetch(&o->pooled, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&o->pooled, __ATOMIC_SEQ_CST) > __atomic_load_n(&o->refs, __ATOMIC_SEQ_CST))
		die("%s is autoreleased more often than it is owned", name_of(o));
	pools.objects[pools.count++] = o;
	return o;
}

EXPORT id objc_retain(id o) { return retain(o); }
EXPORT void objc_release(id o) { release(o); }
EXPORT id objc_autorelease(id o) { return autorelease(o); }
EXPORT id objc_retainAutoreleasedReturnValue(id o) { return retain(o); }

// ---- what is left at the end

// standin_next_live describes the first object from number on that is alive
// and not the system's, and returns its number, or 0.
EXPORT u64 standin_next_live(u64 number, char *line, u64 room) {
	id best = NULL;
	lock();
	for (u64 i = 0; i < PLACES && i < place_count; i++) {
		id o = &places[i];
		if (o->life == LIVE && !o->immortal && o->number >= number && (!best || o->number < best->number)) best = o;
	}
	unlock();
	if (!best) return 0;
	snprintf(line, room, "%s, made by %s, references: %d", name_of(best), best->origin, best->refs);
	return best->number;
}

EXPORT u64 standin_open_pools(void) { return __atomic_load_n(&open_pools, __ATOMIC_SEQ_CST); }

// forget_objects makes every object dead, without its end being run: what had
// leaked is known, and must not be seen again by the next server.
static void forget_objects(void) {
	lock();
	for (u64 i = 0; i < PLACES && i < place_count; i++)
		if (places[i].life == LIVE && !places[i].immortal) places[i].life = DEAD;
	live_count = 0;
	unlock();
}

// ---- NSObject

id c_NSObject_alloc(id self, SEL cmd) {
	(void)cmd;
	id o = make(class_at(self));
	o->ready = 0;
	return o;
}

id i_NSObject_init(id self, SEL cmd) {
	(void)cmd;
	ready(self);
	return self;
}

id c_NSObject_new(id self, SEL cmd) {
	(void)cmd;
	return make(class_at(self));
}

id i_NSObject_retain(id self, SEL cmd) {
	(void)cmd;
	return retain(self);
}

void i_NSObject_release(id self, SEL cmd) {
	(void)cmd;
	release(self);
}

id i_NSObject_autorelease(id self, SEL cmd) {
	(void)cmd;
	return autorelease(self);
}

id i_NSObject_description(id self, SEL cmd) {
	(void)cmd;
	const char *name = name_of(self);
	return autorelease(string_of(name, strlen(name)));
}

truth i_NSObject_respondsToSelector_(id self, SEL cmd, SEL s) {
	(void)cmd;
	struct class *c = class_at(self);
	return answer(c ? responds(c, s, 1) : class_respondsToSelector((id)self->isa, s));
}

truth i_NSObject_conformsToProtocol_(id self, SEL cmd, id protocol) {
	(void)cmd;
	if (!protocol) die("the protocol is nil");
	return answer(has_owner(self->isa, ((struct class *)protocol)->name));
}
