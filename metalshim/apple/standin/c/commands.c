// Queues and command buffers.

static void free_queue(id);
static void free_commands(id);

enum { NOT_ENQUEUED, ENQUEUED, COMMITTED, SCHEDULED, COMPLETED, FAILED }; // MTLCommandBufferStatus

struct queue { struct thing thing; id *sets; u64 count; };
struct queue_descriptor { u64 most; };
struct commands_descriptor { BOOL unretained; u64 errors; };
struct signal { id event; u64 value; };
struct commands {
	struct thing thing;
	id queue, open;             // open: the encoder that has not ended; not retained
	id *used;                   // what the commands use: retained, or counted in users
	u64 used_count, used_room;
	id *mirrors;                // buffers of the program's own memory (resources.c), retained
	u64 mirror_count;
	struct block **scheduled, **completed;
	u64 scheduled_count, completed_count;
	struct signal *signals;
	u64 signal_count;
	u8 unretained, enqueued, committed, done;
};

static struct class queue_class = {.name = "StandinCommandQueue", .owners = {"MTLCommandQueue", "NSObject"}, .size = sizeof(struct queue), .end = free_queue};
static struct class queue_descriptor_class = {.name = "MTLCommandQueueDescriptor", .owners = {"MTLCommandQueueDescriptor", "NSObject"}, .size = sizeof(struct queue_descriptor), .found = 1};
static struct class commands_descriptor_class = {.name = "MTLCommandBufferDescriptor", .owners = {"MTLCommandBufferDescriptor", "NSObject"}, .size = sizeof(struct commands_descriptor), .found = 1};
static struct class commands_class = {.name = "StandinCommandBuffer", .owners = {"MTLCommandBuffer", "NSObject"}, .size = sizeof(struct commands), .end = free_commands};

// ---- MTLCommandQueue

static id new_queue(id device) {
	if (fail_at(AT_QUEUE, text(""), NULL, "", 0)) return NULL;
	u64 handle = go.queue();
	if (!handle) return NULL;
	id q = make(&queue_class);
	begin_thing(q, device, handle);
	return q;
}

static void free_queue(id o) {
	struct queue *q = BODY(queue, o);
	for (u64 i = 0; i < q->count; i++) release(q->sets[i]);
	free(q->sets);
	end_thing(o);
}

id i_MTLDevice_newCommandQueue(id self, SEL cmd) {
	(void)cmd;
	return new_queue(self);
}

id i_MTLDevice_newCommandQueueWithMaxCommandBufferCount_(id self, SEL cmd, u64 most) {
	(void)cmd;
	if (!most) die("a queue of 0 command buffers");
	return new_queue(self);
}

void i_MTLCommandQueueDescriptor_setMaxCommandBufferCount_(id self, SEL cmd, u64 most) {
	(void)cmd;
	if (!most) die("a queue of 0 command buffers");
	BODY(queue_descriptor, self)->most = most;
}

id i_MTLDevice_newCommandQueueWithDescriptor_(id self, SEL cmd, id descriptor) {
	(void)cmd;
	want(descriptor, "MTLCommandQueueDescriptor", "the descriptor");
	return new_queue(self);
}

id i_MTLCommandQueue_label(id self, SEL cmd) {
	(void)cmd;
	return label_of(self);
}

void i_MTLCommandQueue_setLabel_(id self, SEL cmd, id label) {
	(void)cmd;
	set_label(self, label);
}

id i_MTLCommandQueue_device(id self, SEL cmd) {
	(void)cmd;
	return owner_of(self);
}

void i_MTLCommandQueue_addResidencySet_(id self, SEL cmd, id set) {
	(void)cmd;
	struct queue *q = BODY(queue, self);
	want(set, "MTLResidencySet", "the set");
	for (u64 i = 0; i < q->count; i++)
		if (q->sets[i] == set) return;
	if (q->count == 32) die("more than 32 residency sets");
	q->sets = realloc(q->sets, (q->count + 1) * sizeof *q->sets);
	q->sets[q->count++] = retain(set);
}

void i_MTLCommandQueue_removeResidencySet_(id self, SEL cmd, id set) {
	(void)cmd;
	struct queue *q = BODY(queue, self);
	want(set, "MTLResidencySet", "the set");
	for (u64 i = 0; i < q->count; i++)
		if (q->sets[i] == set) {
			q->sets[i] = q->sets[--q->count];
			release(set);
			return;
		}
	die("%s is not of this queue", name_of(set));
}

// ---- MTLCommandBuffer: making and keeping

static id new_commands(id queue, int unretained) {
	u64 handle = go.commands(BODY(thing, queue)->handle);
	if (!handle) return NULL;
	id c = make(&commands_class);
	begin_thing(c, BODY(thing, queue)->device, handle);
	BODY(commands, c)->queue = retain(queue);
	BODY(commands, c)->unretained = (u8)unretained;
	return autorelease(c);
}

id i_MTLCommandQueue_commandBuffer(id self, SEL cmd) {
	(void)cmd;
	return new_commands(self, 0);
}

id i_MTLCommandQueue_commandBufferWithUnretainedReferences(id self, SEL cmd) {
	(void)cmd;
	return new_commands(self, 1);
}

id i_MTLCommandQueue_commandBufferWithDescriptor_(id self, SEL cmd, id descriptor) {
	(void)cmd;
	want(descriptor, "MTLCommandBufferDescriptor", "the descriptor");
	return new_commands(self, BODY(commands_descriptor, descriptor)->unretained);
}

void i_MTLCommandBufferDescriptor_setRetainedReferences_(id self, SEL cmd, BOOL on) {
	(void)cmd;
	check_flag("retainedReferences", on);
	BODY(commands_descriptor, self)->unretained = !on;
}

void i_MTLCommandBufferDescriptor_setErrorOptions_(id self, SEL cmd, u64 options) {
	(void)cmd;
	check_option("MTLCommandBufferErrorOption", (i64)options, 1);
	BODY(commands_descriptor, self)->errors = options;
}

// counted says that c does not retain what it uses: a test is told when that is
// freed too early. For a program it is retained all the same, which nobody can see.
static int counted(const struct commands *c) { return STRICT && c->unretained; }

// use keeps what a command needs until the command buffer is done: by a
// reference, or else by watching that nobody frees it.
static void use(id commands, id o) {
	struct commands *c = BODY(commands, commands);
	if (c->used_count && c->used[c->used_count - 1] == o) return;
	if (c->used_count == c->used_room) {
		c->used_room = c->used_room ? 2 * c->used_room : 64;
		c->used = realloc(c->used, c->used_room * sizeof *c->used);
	}
	if (counted(c))
		__atomic_add_fetch(&o->users, 1, __ATOMIC_SEQ_CST);
	else
		retain(o);
	c->used[c->used_count++] = o;
}

static void let_go(struct commands *c) {
	for (u64 i = 0; i < c->used_count; i++)
		if (counted(c))
			__atomic_sub_fetch(&c->used[i]->users, 1, __ATOMIC_SEQ_CST);
		else
			release(c->used[i]);
	free(c->used);
	c->used = NULL;
	c->used_count = c->used_room = 0;
}

// send_mirrors notes the mirrors that the commands use and brings them up to
// date, before the commands run; bring_mirrors brings back what they have done,
// before anybody learns that they are done.
static void send_mirrors(id o) {
	struct commands *c = BODY(commands, o);
	if (!__atomic_load_n(&mirrors_alive, __ATOMIC_RELAXED)) return;
	lock_mirrors();
	for (u64 i = 0; i < c->used_count; i++) {
		id b = c->used[i];
		if (b->isa != &buffer_class || !BODY(buffer, b)->program || BODY(buffer, b)->bound_for == o->number) continue;
		BODY(buffer, b)->bound_for = o->number;
		mirror_in(BODY(buffer, b));
		c->mirrors = realloc(c->mirrors, (c->mirror_count + 1) * sizeof *c->mirrors);
		c->mirrors[c->mirror_count++] = retain(b);
	}
	unlock_mirrors();
}

static void bring_mirrors(struct commands *c) {
	if (!__atomic_load_n(&c->mirror_count, __ATOMIC_ACQUIRE)) return;
	lock_mirrors();
	for (u64 i = 0; i < c->mirror_count; i++) mirror_out(BODY(buffer, c->mirrors[i]));
	unlock_mirrors();
}

// drop_mirrors lets go of them; others may just be waiting to bring them back.
static void drop_mirrors(struct commands *c) {
	if (!__atomic_load_n(&c->mirror_count, __ATOMIC_ACQUIRE)) return;
	lock_mirrors();
	id *list = c->mirrors;
	u64 count = c->mirror_count;
	c->mirrors = NULL;
	c->mirror_count = 0;
	unlock_mirrors();
	for (u64 i = 0; i < count; i++) release(list[i]);
	free(list);
}

static void free_commands(id o) {
	struct commands *c = BODY(commands, o);
	let_go(c);
	drop_mirrors(c);
	for (u64 i = 0; i < c->scheduled_count; i++) drop_block(c->scheduled[i]);
	for (u64 i = 0; i < c->completed_count; i++) drop_block(c->completed[i]);
	for (u64 i = 0; i < c->signal_count; i++) release(c->signals[i].event);
	free(c->scheduled);
	free(c->completed);
	free(c->signals);
	id queue = c->queue;
	end_thing(o);
	release(queue);
}

static struct commands *uncommitted(id o, const char *what) {
	struct commands *c = BODY(commands, o);
	if (c->committed) die("%s: %s is committed already", what, name_of(o));
	return c;
}

truth i_MTLCommandBuffer_retainedReferences(id self, SEL cmd) {
	(void)cmd;
	return answer(!BODY(commands, self)->unretained);
}

id i_MTLCommandBuffer_label(id self, SEL cmd) {
	(void)cmd;
	return label_of(self);
}

void i_MTLCommandBuffer_setLabel_(id self, SEL cmd, id label) {
	(void)cmd;
	set_label(self, label);
}

void i_MTLCommandBuffer_useResidencySet_(id self, SEL cmd, id set) {
	(void)cmd;
	uncommitted(self, "a residency set");
	use(self, want(set, "MTLResidencySet", "the set"));
}

void i_MTLCommandBuffer_encodeSignalEvent_value_(id self, SEL cmd, id event, u64 value) {
	(void)cmd;
	struct commands *c = uncommitted(self, "a signal");
	if (c->open) die("%s has not ended", name_of(c->open));
	want(event, "MTLEvent", "the event");
	c->signals = realloc(c->signals, (c->signal_count + 1) * sizeof *c->signals);
	c->signals[c->signal_count++] = (struct signal){retain(event), value};
}

// ---- MTLCommandBuffer: running

static void add_handler(id self, struct block ***list, u64 *count, struct block *b) {
	uncommitted(self, "a handler");
	*list = realloc(*list, (*count + 1) * sizeof **list);
	(*list)[(*count)++] = keep_block(b);
}

void i_MTLCommandBuffer_addScheduledHandler_(id self, SEL cmd, struct block *b) {
	(void)cmd;
	struct commands *c = BODY(commands, self);
	add_handler(self, &c->scheduled, &c->scheduled_count, b);
}

void i_MTLCommandBuffer_addCompletedHandler_(id self, SEL cmd, struct block *b) {
	(void)cmd;
	struct commands *c = BODY(commands, self);
	add_handler(self, &c->completed, &c->completed_count, b);
}

// run_handlers calls the handlers of a command buffer, with a pool in place.
static void run_handlers(id o) {
	struct commands *c = BODY(commands, o);
	void *pool = objc_autoreleasePoolPush();
	for (u64 i = 0; i < c->scheduled_count; i++) ((void (*)(struct block *, id))c->scheduled[i]->invoke)(c->scheduled[i], o);
	for (u64 i = 0; i < c->completed_count; i++) ((void (*)(struct block *, id))c->completed[i]->invoke)(c->completed[i], o);
	objc_autoreleasePoolPop(pool);
}

// handler_thread is the whole life of a thread: a test's handlers are called on
// one that the caller has never seen.
static void *handler_thread(void *o) {
	run_handlers(o);
	forget_reply();
	return NULL;
}

// standin_completed is called by Go or by remote.c, once for each command buffer that was
// committed, when it has run or failed.
EXPORT void standin_completed(id o) {
	live(o, "completion");
	struct commands *c = BODY(commands, o);
	if (!c->committed || c->done) die("completion of %s, which is not in flight", name_of(o));
	bring_mirrors(c);
	for (u64 i = 0; i < c->signal_count; i++)
		__atomic_store_n(&BODY(event, c->signals[i].event)->value, c->signals[i].value, __ATOMIC_SEQ_CST);
	if (!STRICT) {
		run_handlers(o); // the caller's thread is the library's own
	} else if (c->scheduled_count || c->completed_count) {
		usize thread;
		if (pthread_create(&thread, NULL, handler_thread, o)) die("no thread for a handler");
		pthread_join(thread, NULL);
	}
	c->done = 1;
	drop_mirrors(c);
	let_go(c);
	release(o);
}

void i_MTLCommandBuffer_enqueue(id self, SEL cmd) {
	(void)cmd;
	struct commands *c = uncommitted(self, "enqueue");
	if (STRICT && c->enqueued) die("%s is enqueued twice", name_of(self));
	c->enqueued = 1;
}

void i_MTLCommandBuffer_commit(id self, SEL cmd) {
	(void)cmd;
	struct commands *c = uncommitted(self, "commit");
	if (c->open) die("%s is committed while %s has not ended", name_of(self), name_of(c->open));
	c->committed = 1;
	retain(self); // until completion
	send_mirrors(self);
	go.commit(c->thing.handle, self);
}

void i_MTLCommandBuffer_waitUntilCompleted(id self, SEL cmd) {
	(void)cmd;
	if (!BODY(commands, self)->committed) die("%s is waited for before its commit, which takes for ever", name_of(self));
	go.wait(BODY(thing, self)->handle);
	bring_mirrors(BODY(commands, self));
}

void i_MTLCommandBuffer_waitUntilScheduled(id self, SEL cmd) {
	(void)cmd;
	if (!BODY(commands, self)->committed) die("%s is waited for before its commit, which takes for ever", name_of(self));
	while (go.status(BODY(thing, self)->handle) < SCHEDULED) usleep(100);
}

u64 i_MTLCommandBuffer_status(id self, SEL cmd) {
	(void)cmd;
	struct commands *c = BODY(commands, self);
	if (!c->committed) return c->enqueued ? ENQUEUED : NOT_ENQUEUED;
	u64 status = go.status(c->thing.handle);
	if (status >= COMPLETED) bring_mirrors(c);
	return status;
}

id i_MTLCommandBuffer_error(id self, SEL cmd) {
	(void)cmd;
	if (!BODY(commands, self)->committed || go.status(BODY(thing, self)->handle) != FAILED) return NULL;
	id error = NULL;
	fail(&error, "MTLCommandBufferErrorDomain", 1);
	return error;
}

u64 i_MTLCommandBuffer_errorOptions(id self, SEL cmd) {
	(void)self, (void)cmd;
	return 0;
}

enum { TIME_COMMITTED, TIME_SCHEDULED, TIME_START, TIME_END };

static double time_of(id o, u32 which) {
	double times[4] = {0};
	if (BODY(commands, o)->committed) go.times(BODY(thing, o)->handle, times);
	return times[which];
}

double i_MTLCommandBuffer_GPUStartTime(id self, SEL cmd) {
	(void)cmd;
	return time_of(self, TIME_START);
}

double i_MTLCommandBuffer_GPUEndTime(id self, SEL cmd) {
	(void)cmd;
	return time_of(self, TIME_END);
}

double i_MTLCommandBuffer_kernelStartTime(id self, SEL cmd) {
	(void)cmd;
	return time_of(self, TIME_COMMITTED);
}

double i_MTLCommandBuffer_kernelEndTime(id self, SEL cmd) {
	(void)cmd;
	return time_of(self, TIME_SCHEDULED);
}
