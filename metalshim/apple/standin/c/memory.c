// Objects, their references, and autorelease pools.

enum { LIVE = 0x4556494c, DEAD = 0x44414544 };

// Objects lie in one region of address space, so that every pointer can be told
// apart: an object, a dead one, or something else. In a test places are not used
// again until it is full.
enum { PLACES = 1 << 22 };
static struct object *places;
static u64 place_count; // next place, guarded by the lock
static u64 number_count, live_count, open_pools;

// The dead of a program, the first to die at the front. Their places are used
// again, so that a program that makes objects for ever does not grow, but for the
// latest: what is sent to those is told apart.
enum { KEPT_DEAD = 1024 };
static id dead_first, *dead_end = &dead_first; // linked by their origin, which nobody asks for
static u64 dead_count;

// What a program sends to an object that has ended goes to this class, which has
// no methods. The object's body is then the class it had.
static void *no_bodies[SELECTORS / 2];
static struct class released_class = {.name = "released object", .found_bodies = no_bodies};

// bury notes a dead object's place. The lock is held.
static void bury(id o) {
	if (STRICT) return;
	o->body = o->isa;
	o->isa = &released_class;
	o->origin = NULL;
	*dead_end = o;
	dead_end = (id *)&o->origin;
	dead_count++;
}

// unbury takes the place of the object that has been dead the longest. The lock is
// held, and there is one.
static id unbury(void) {
	id o = dead_first;
	dead_first = (id)o->origin;
	dead_count--;
	return o;
}

static id place(void) {
	lock();
	if (!places) {
		places = mmap(NULL, PLACES * sizeof *places, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (places == (void *)-1) die("no address space for objects");
	}
	id o = dead_count > (place_count < PLACES ? KEPT_DEAD : 0) ? unbury() : NULL;
	for (u32 i = 0; i < PLACES && !o && (STRICT || place_count < PLACES); i++) {
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
	const struct class *c = o->isa == &released_class ? o->body : o->isa;
	snprintf(name, sizeof names[0], "%s #%lu", c->name, (unsigned long)o->number);
	return name;
}

// is_class says that o is a class of a program, which may be retained and released
// like any object.
static int is_class(id o) { return !STRICT && class_at(o); }

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

// is_block says that o is a block of a program, which is an object too.
static int is_block(id o) {
	void *isa = STRICT ? NULL : *(void **)o;
	return isa && (isa == _NSConcreteGlobalBlock || isa == _NSConcreteStackBlock || isa == _NSConcreteMallocBlock);
}

static id retain(id o) {
	if (!o || is_class(o)) return o;
	if (is_block(o)) return (id)keep_block((struct block *)o);
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
	bury(o);
	unlock();
}

static void release(id o) {
	if (!o || is_class(o)) return;
	if (is_block(o)) {
		drop_block((struct block *)o);
		return;
	}
	live_for_release(o);
	i32 left = __atomic_sub_fetch(&o->refs, 1, __ATOMIC_SEQ_CST);
	if (STRICT && left < __atomic_load_n(&o->pooled, __ATOMIC_SEQ_CST))
		die("over-release of %s: only an autorelease pool owns it", name_of(o));
	if (left == 0) end(o);
}

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
