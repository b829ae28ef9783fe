// Command buffers of a program: written down here, sent at their commit, completed
// by a message.

// A queue holds so many command buffers, as Metal's do: who asks for one more waits
// for the first. The device would stop reading what it is sent instead, and the
// program would wait in whatever message is its next.
enum { IN_FLIGHT = 64 };

static u64 remote_commands(u64 queue) {
	struct remote *r = new_remote(SOME_COMMANDS), *q = r->queue = of_handle(queue);
	for (u32 n; (n = __atomic_load_n(&q->flying, __ATOMIC_ACQUIRE)) >= IN_FLIGHT;) sleep_while(&q->flying, n);
	return handle_of(r);
}

static void leave_queue(struct remote *q) {
	if (__atomic_fetch_sub(&q->flying, 1, __ATOMIC_RELEASE) >= IN_FLIGHT) wake_all(&q->flying);
}

static u8 *more(struct remote *r, u64 bytes) {
	if (r->used + bytes > r->room) {
		r->room = r->room ? 2 * r->room : 4096;
		if (r->room < r->used + bytes) r->room = r->used + bytes;
		r->list = realloc(r->list, r->room);
	}
	u8 *at = r->list + r->used;
	r->used += bytes;
	return at;
}

static void words(struct remote *r, const u64 *w, u64 count) { memcpy(more(r, count * sizeof *w), w, count * sizeof *w); }

// The first word of a command is its operation, and above that its index.
enum { INDEX_AT = 8, NEW_ENCODER = END + 1 };

static u64 remote_encoder(u64 commands, u64 kind) {
	struct remote *r = of_handle(commands);
	words(r, (u64[]){NEW_ENCODER | kind << INDEX_AT}, 1);
	return commands | 1;
}

static u64 remote_encode(u64 encoder, const struct command *c) {
	struct remote *r = of_handle(encoder);
	u64 first = c->operation | c->index << INDEX_AT;
	switch (c->operation) {
	case SET_BUFFER:
		words(r, (u64[]){first, named(c->object), c->offset}, 3);
		break;
	case SET_BYTES: {
		u64 padded = (c->length + 7) / 8 * 8;
		u8 *at = more(r, 16 + padded);
		memcpy(at, (u64[]){first, c->length}, 16);
		memset(at + 16 + padded - 8, 0, 8);
		memcpy(at + 16, c->bytes, c->length);
		break;
	}
	case SET_PIPELINE: case WAIT_FENCE: case UPDATE_FENCE:
		words(r, (u64[]){first, named(c->object)}, 2);
		break;
	case SET_MEMORY:
		words(r, (u64[]){first, c->length}, 2);
		break;
	case DISPATCH_THREADS: case DISPATCH_GROUPS:
		words(r, (u64[]){first, c->grid.width, c->grid.height, c->grid.depth, c->group.width, c->group.height, c->group.depth}, 7);
		break;
	case COPY:
		words(r, (u64[]){first, named(c->object), c->offset, named(c->other), c->other_offset, c->length}, 6);
		break;
	case FILL:
		words(r, (u64[]){first, named(c->object), c->offset, c->length}, 4);
		break;
	default:
		words(r, &first, 1);
	}
	return 0;
}

// ---- what is in flight, and what has completed

static struct {
	u32 mutex, news; // mutex: of both lists; news: counts what was put into completed
	u32 told; // what has ended is to be told
	struct remote *first, **last;
	struct remote *completed, **completed_last;
} flight = {.last = &flight.first, .completed_last = &flight.completed};

// calls_program says that the end of a command buffer runs code of the program:
// handlers, or what frees the memory of a buffer that only it still holds. Such code
// may wait for the device, so that it is not for the thread that reads.
static int calls_program(const struct commands *c) {
	int calls = c->scheduled_count || c->completed_count;
	for (u64 i = 0; i < c->used_count && !calls; i++)
		calls = c->used[i]->isa == &buffer_class && BODY(buffer, c->used[i])->deallocator;
	return calls;
}

// over completes a command buffer.
static void over(struct remote *r) {
	id object = retain(r->object);
	standin_completed(object);
	done(&r->finished);
	release(object);
}

// hand_over puts a command buffer that is over where the thread that completes
// finds it, or completes it at once, after those who wait for it have been told.
static void hand_over(struct remote *r) {
	leave_queue(r->queue);
	if (!calls_program(BODY(commands, r->object))) {
		id object = retain(r->object);
		if (!BODY(commands, object)->signal_count) done(&r->finished);
		over(r);
		release(object);
		return;
	}
	take(&flight.mutex);
	r->next = NULL;
	*flight.completed_last = r;
	flight.completed_last = &r->next;
	give(&flight.mutex);
	__atomic_add_fetch(&flight.news, 1, __ATOMIC_RELEASE);
	wake_all(&flight.news);
}

static void have_ended_told(void) {
	__atomic_store_n(&flight.told, 1, __ATOMIC_RELEASE);
	__atomic_add_fetch(&flight.news, 1, __ATOMIC_RELEASE);
	wake_all(&flight.news);
}

static void fail_commands(struct remote *r, const char *why) {
	r->why = strdup(why);
	snprintf(r->domain, sizeof r->domain, "MTLCommandBufferErrorDomain");
	r->code = 11; // MTLCommandBufferErrorDeviceRemoved
	__atomic_store_n(&r->status, FAILED, __ATOMIC_RELEASE);
}

static void complete_all(const char *why) {
	take(&flight.mutex);
	struct remote *r = flight.first;
	flight.first = NULL;
	flight.last = &flight.first;
	give(&flight.mutex);
	while (r) {
		struct remote *next = r->next;
		fail_commands(r, why);
		hand_over(r);
		r = next;
	}
}

// landed takes a command buffer from those in flight; null where it is not there.
static struct remote *landed(u64 number) {
	take(&flight.mutex);
	struct remote **p = &flight.first, *r;
	while (*p && (*p)->number != number) p = &(*p)->next;
	if ((r = *p)) {
		*p = r->next;
		if (!*p) flight.last = p;
	}
	give(&flight.mutex);
	return r;
}

static void complete(u64 number, const u8 *bytes, u64 count) {
	struct content c = {bytes, count};
	struct remote *r = landed(number);
	if (!r) return;
	u64 status = take_word(&c);
	for (int i = 0; i < 4; i++) {
		u64 bits = take_word(&c);
		memcpy(&r->times[i], &bits, sizeof bits);
	}
	r->code = (i64)take_word(&c);
	struct text domain = take_text(&c), why = take_text(&c);
	snprintf(r->domain, sizeof r->domain, "%.*s", (int)domain.n, domain.p);
	if (why.n) {
		r->why = calloc(1, why.n + 1);
		memcpy(r->why, why.p, why.n);
	}
	__atomic_store_n(&r->status, (u32)status, __ATOMIC_RELEASE);
	hand_over(r);
}

// complete_objects is the thread that runs handlers and lets go of what command
// buffers held.
static void *complete_objects(void *unused) {
	(void)unused;
	for (;;) {
		u32 news = __atomic_load_n(&flight.news, __ATOMIC_ACQUIRE);
		take(&flight.mutex);
		struct remote *r = flight.completed;
		if (r) {
			flight.completed = r->next;
			if (!r->next) flight.completed_last = &flight.completed;
		}
		give(&flight.mutex);
		if (!r) {
			if (__atomic_exchange_n(&flight.told, 0, __ATOMIC_ACQUIRE)) post(0, 0, NULL, 0, -1);
			sleep_while(&flight.news, news);
			continue;
		}
		over(r);
	}
}

static u64 remote_commit(u64 commands, id object) {
	struct remote *r = of_handle(commands);
	r->object = object;
	r->status = COMMITTED;
	__atomic_fetch_add(&r->queue->flying, 1, __ATOMIC_RELEASE);
	take(&flight.mutex);
	r->next = NULL;
	*flight.last = r;
	flight.last = &r->next;
	give(&flight.mutex);
	u8 *list = r->list; // who completes it may free it
	u64 queue = r->queue->number, used = r->used;
	r->list = NULL;
	int sent = post(TO_COMMIT, r->number, (struct part[]){PART(queue), {list, used}}, 2, -1);
	free(list);
	if (!sent) complete_all(gone); // it came too late for those who lost the device
	return 0;
}

static u64 remote_wait(u64 commands) {
	until_done(&of_handle(commands)->finished);
	return 0;
}

static u64 remote_status(u64 commands) {
	struct remote *r = of_handle(commands);
	u64 status = __atomic_load_n(&r->status, __ATOMIC_ACQUIRE);
	if (status == FAILED) standin_reply(r->why ? r->why : "", r->why ? strlen(r->why) : 0, r->domain, strlen(r->domain), r->code);
	if (status != COMMITTED) return status;
	struct awaited w;
	if (!ask(&w, TO_STATUS, next_number(), (struct part[]){PART(r->number)}, 1)) return COMMITTED;
	struct content c = {w.bytes, w.count};
	status = take_word(&c);
	free(w.bytes);
	// What has completed there is completed here when its message has come.
	return status > SCHEDULED ? SCHEDULED : status;
}

static u64 remote_times(u64 commands, double *times) {
	struct remote *r = of_handle(commands);
	if (__atomic_load_n(&r->status, __ATOMIC_ACQUIRE) > SCHEDULED) memcpy(times, r->times, sizeof r->times);
	return 0;
}
