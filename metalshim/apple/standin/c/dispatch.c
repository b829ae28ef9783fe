// The part of libdispatch that programs of Metal use: data, semaphores, queues,
// groups, once and time. Its objects are objects here as they are on Apple's
// systems. The main queue has a thread like any other: nobody runs an event loop.

struct mutex { u64 opaque[8]; };     // pthread_mutex_t, all zeros when it is made
struct condition { u64 opaque[8]; }; // pthread_cond_t
struct moment { i64 seconds, nanoseconds; };

int pthread_mutex_lock(struct mutex *);
int pthread_mutex_unlock(struct mutex *);
int pthread_cond_wait(struct condition *, struct mutex *);
int pthread_cond_timedwait(struct condition *, struct mutex *, const struct moment *);
int pthread_cond_broadcast(struct condition *);
int pthread_detach(usize);
int clock_gettime(int, struct moment *);

struct counted { i64 value; struct mutex mutex; struct condition changed; };
struct job {
	struct job *next;
	void (*call)(void *);
	void *context;
	id group;
};
struct serial { struct mutex mutex; struct condition idle; struct job *first, *last; u32 workers, most; };

static void free_queue_jobs(id);

static struct class dispatch_data_class = {.name = "OS_dispatch_data", .owners = {"OS_dispatch_data", "NSObject"}, .size = sizeof(struct string), .end = free_bytes};
static struct class semaphore_class = {.name = "OS_dispatch_semaphore", .owners = {"OS_dispatch_semaphore", "NSObject"}, .size = sizeof(struct counted)};
static struct class group_class = {.name = "OS_dispatch_group", .owners = {"OS_dispatch_group", "NSObject"}, .size = sizeof(struct counted)};
static struct class dispatch_queue_class = {.name = "OS_dispatch_queue", .owners = {"OS_dispatch_queue", "NSObject"}, .size = sizeof(struct serial), .end = free_queue_jobs};

typedef void (*call)(void *);

EXPORT struct object _dispatch_main_q[1];
EXPORT u64 _dispatch_queue_attr_concurrent[1];

EXPORT void dispatch_retain(id);
EXPORT void dispatch_release(id);
EXPORT id dispatch_data_create(const void *, u64, id, struct block *);
EXPORT u64 dispatch_data_get_size(id);
EXPORT id dispatch_data_create_map(id, const void **, u64 *);
EXPORT u64 dispatch_time(u64, i64);
EXPORT id dispatch_semaphore_create(i64);
EXPORT i64 dispatch_semaphore_signal(id);
EXPORT i64 dispatch_semaphore_wait(id, u64);
EXPORT void dispatch_once_f(i64 *, void *, call);
EXPORT void dispatch_once(i64 *, struct block *);
EXPORT id dispatch_get_global_queue(i64, u64);
EXPORT id dispatch_queue_create(const char *, void *);
EXPORT void dispatch_async_f(id, void *, call);
EXPORT void dispatch_async(id, struct block *);
EXPORT void dispatch_sync_f(id, void *, call);
EXPORT void dispatch_sync(id, struct block *);
EXPORT void dispatch_apply_f(u64, id, void *, void (*)(void *, u64));
EXPORT void dispatch_apply(u64, id, struct block *);
EXPORT id dispatch_group_create(void);
EXPORT void dispatch_group_enter(id);
EXPORT void dispatch_group_leave(id);
EXPORT i64 dispatch_group_wait(id, u64);
EXPORT void dispatch_group_async_f(id, id, void *, call);
EXPORT void dispatch_group_async(id, id, struct block *);

// is_main tells the main queue, which is a symbol and no object of ours.
static int is_main(id o) { return o == _dispatch_main_q; }

EXPORT void dispatch_retain(id o) {
	if (!is_main(o)) retain(o);
}

EXPORT void dispatch_release(id o) {
	if (!is_main(o)) release(o);
}

// ---- data

// The bytes are copied, so that what frees them can do so at once.
EXPORT id dispatch_data_create(const void *bytes, u64 count, id queue, struct block *destructor) {
	(void)queue;
	if (!bytes && count) die("dispatch_data_create: no bytes, but %lu of them", count);
	id d = make(&dispatch_data_class);
	set_bytes(d, bytes, count);
	if (destructor) ((void (*)(struct block *))destructor->invoke)(destructor);
	return d;
}

EXPORT u64 dispatch_data_get_size(id d) { return BODY(string, want(d, "OS_dispatch_data", "the data"))->count; }

EXPORT id dispatch_data_create_map(id d, const void **bytes, u64 *count) {
	struct string *s = BODY(string, want(d, "OS_dispatch_data", "the data"));
	if (bytes) *bytes = s->bytes;
	if (count) *count = s->count;
	return retain(d);
}

// ---- time: nanoseconds since 1970 here, 0 for now and all ones for never

enum { CLOCK_REALTIME = 0 };
static const u64 never = ~0ul;
static const i64 second = 1000000000;

static u64 now(void) {
	struct moment m;
	clock_gettime(CLOCK_REALTIME, &m);
	return (u64)(m.seconds * second + m.nanoseconds);
}

EXPORT u64 dispatch_time(u64 when, i64 delta) {
	if (when == never) return never;
	return (when ? when : now()) + (u64)delta;
}

// wait_until waits for a change; 0 means that the time is over.
static int wait_until(struct condition *c, struct mutex *m, u64 when) {
	if (when == never) return pthread_cond_wait(c, m) == 0;
	struct moment at = {(i64)when / second, (i64)when % second};
	return pthread_cond_timedwait(c, m, &at) == 0;
}

// ---- semaphores and groups

static id counter_of(struct class *c, i64 value) {
	id o = make(c);
	BODY(counted, o)->value = value;
	return o;
}

// add_to keeps the object meanwhile: who waits may release it as soon as it has
// seen the change.
static i64 add_to(id o, const char *owner, const char *what, i64 delta) {
	struct counted *c = BODY(counted, retain(want(o, owner, what)));
	pthread_mutex_lock(&c->mutex);
	i64 value = c->value += delta;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->mutex);
	release(o);
	return value;
}

EXPORT id dispatch_semaphore_create(i64 value) { return value < 0 ? NULL : counter_of(&semaphore_class, value); }

EXPORT i64 dispatch_semaphore_signal(id s) { return add_to(s, "OS_dispatch_semaphore", "the semaphore", 1) <= 0; }

EXPORT i64 dispatch_semaphore_wait(id s, u64 timeout) {
	struct counted *c = BODY(counted, want(s, "OS_dispatch_semaphore", "the semaphore"));
	pthread_mutex_lock(&c->mutex);
	int there = 1;
	while (c->value <= 0 && there) there = timeout != 0 && wait_until(&c->changed, &c->mutex, timeout);
	if (c->value > 0) {
		c->value--;
		there = 1;
	}
	pthread_mutex_unlock(&c->mutex);
	return !there;
}

EXPORT id dispatch_group_create(void) { return counter_of(&group_class, 0); }
EXPORT void dispatch_group_enter(id g) { add_to(g, "OS_dispatch_group", "the group", 1); }

EXPORT void dispatch_group_leave(id g) {
	if (add_to(g, "OS_dispatch_group", "the group", -1) < 0) die("dispatch_group_leave: the group is left more often than it is entered");
}

EXPORT i64 dispatch_group_wait(id g, u64 timeout) {
	struct counted *c = BODY(counted, want(g, "OS_dispatch_group", "the group"));
	pthread_mutex_lock(&c->mutex);
	int there = 1;
	while (c->value > 0 && there) there = timeout != 0 && wait_until(&c->changed, &c->mutex, timeout);
	there = c->value == 0;
	pthread_mutex_unlock(&c->mutex);
	return !there;
}

// ---- once

EXPORT void dispatch_once_f(i64 *done, void *context, call f) {
	i64 fresh = 0;
	if (__atomic_load_n(done, __ATOMIC_ACQUIRE) == -1) return;
	if (__atomic_compare_exchange_n(done, &fresh, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		f(context);
		__atomic_store_n(done, -1, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(done, __ATOMIC_ACQUIRE) != -1) sched_yield();
}

static void call_block(void *b) { ((void (*)(struct block *))((struct block *)b)->invoke)(b); }
EXPORT void dispatch_once(i64 *done, struct block *b) { dispatch_once_f(done, b, call_block); }

// ---- queues: a list of jobs, and threads that live while there are some

enum { CONCURRENT = 8 };

static id new_dispatch_queue(u32 most) {
	id q = make(&dispatch_queue_class);
	BODY(serial, q)->most = most;
	return q;
}

static void free_queue_jobs(id o) {
	if (BODY(serial, o)->first) die("%s is released with jobs in it", name_of(o));
}

// system_queue is made when it is first asked for, and stays.
static id system_queue(id *place, u32 most) {
	static struct mutex mutex;
	pthread_mutex_lock(&mutex);
	if (!*place) {
		*place = new_dispatch_queue(most);
		(*place)->immortal = 1;
	}
	pthread_mutex_unlock(&mutex);
	return *place;
}

static id main_queue, global_queue;

static id jobs_of(id q) { return is_main(q) ? system_queue(&main_queue, 1) : want(q, "OS_dispatch_queue", "the queue"); }

EXPORT id dispatch_get_global_queue(i64 priority, u64 flags) {
	(void)priority, (void)flags;
	return system_queue(&global_queue, CONCURRENT);
}

EXPORT id dispatch_queue_create(const char *label, void *attributes) {
	(void)label;
	return new_dispatch_queue(attributes == _dispatch_queue_attr_concurrent ? CONCURRENT : 1);
}

static void *work_off(void *p) {
	id q = p;
	struct serial *s = BODY(serial, q);
	for (;;) {
		pthread_mutex_lock(&s->mutex);
		struct job *j = s->first;
		if (j) {
			s->first = j->next;
			if (!s->first) s->last = NULL;
		} else
			s->workers--;
		pthread_mutex_unlock(&s->mutex);
		if (!j) break;
		void *pool = objc_autoreleasePoolPush();
		j->call(j->context);
		objc_autoreleasePoolPop(pool);
		if (j->group) {
			dispatch_group_leave(j->group);
			release(j->group);
		}
		free(j);
	}
	forget_reply();
	release(q);
	return NULL;
}

static void enqueue(id queue, id group, void *context, call f) {
	id q = jobs_of(queue);
	struct serial *s = BODY(serial, q);
	struct job *j = calloc(1, sizeof *j);
	*j = (struct job){.call = f, .context = context, .group = retain(group)};
	if (group) dispatch_group_enter(group);
	pthread_mutex_lock(&s->mutex);
	if (s->last)
		s->last->next = j;
	else
		s->first = j;
	s->last = j;
	int more = s->workers < s->most;
	s->workers += (u32)more;
	pthread_mutex_unlock(&s->mutex);
	if (!more) return;
	retain(q);
	usize thread;
	if (pthread_create(&thread, NULL, work_off, q)) die("no thread for a queue");
	pthread_detach(thread);
}

static void call_and_drop(void *b) {
	call_block(b);
	drop_block(b);
}

EXPORT void dispatch_async_f(id q, void *context, call f) { enqueue(q, NULL, context, f); }
EXPORT void dispatch_async(id q, struct block *b) { enqueue(q, NULL, keep_block(b), call_and_drop); }
EXPORT void dispatch_group_async_f(id g, id q, void *context, call f) { enqueue(q, want(g, "OS_dispatch_group", "the group"), context, f); }
EXPORT void dispatch_group_async(id g, id q, struct block *b) { enqueue(q, want(g, "OS_dispatch_group", "the group"), keep_block(b), call_and_drop); }

// What is called at once waits behind what the queue has, as a job of its own.
EXPORT void dispatch_sync_f(id q, void *context, call f) {
	id g = dispatch_group_create();
	enqueue(q, g, context, f);
	dispatch_group_wait(g, never);
	release(g);
}

EXPORT void dispatch_sync(id q, struct block *b) { dispatch_sync_f(q, b, call_block); }

struct turns {
	u64 next, count;
	void *context;
	void (*f)(void *, u64);
};

static void take_turns(void *p) {
	struct turns *t = p;
	for (u64 i; (i = __atomic_fetch_add(&t->next, 1, __ATOMIC_RELAXED)) < t->count;) t->f(t->context, i);
}

EXPORT void dispatch_apply_f(u64 count, id q, void *context, void (*f)(void *, u64)) {
	struct turns t = {0, count, context, f};
	id jobs = q ? jobs_of(q) : dispatch_get_global_queue(0, 0);
	id g = dispatch_group_create();
	for (u32 i = 0; i < BODY(serial, jobs)->most && i < count; i++) enqueue(jobs, g, &t, take_turns);
	dispatch_group_wait(g, never);
	release(g);
}

static void call_turn(void *b, u64 i) { ((void (*)(struct block *, u64))((struct block *)b)->invoke)(b, i); }
EXPORT void dispatch_apply(u64 count, id q, struct block *b) { dispatch_apply_f(count, q, b, call_turn); }
