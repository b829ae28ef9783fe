// The way between this side and Go: text that Go leaves for the thread that
// called it, and the entry points that Go uses.

// What Go's last call on this thread left: text, and for a failure the domain
// of the NSError and its code.
static _Thread_local struct {
	char *bytes;
	u64 count, room;
	char domain[64];
	i64 code;
} left;

EXPORT void standin_reply(const char *bytes, u64 count, const char *domain, u64 domain_count, i64 code) {
	watch_thread();
	if (count + 1 > left.room) {
		left.room = count + 1;
		left.bytes = realloc(left.bytes, left.room);
	}
	if (count) memcpy(left.bytes, bytes, count);
	left.bytes[count] = 0;
	left.count = count;
	snprintf(left.domain, sizeof left.domain, "%.*s", (int)domain_count, domain_count ? domain : "");
	left.code = code;
}

// forget_reply frees it, at the end of a thread.
static void forget_reply(void) {
	free(left.bytes);
	left.bytes = NULL;
	left.count = left.room = 0;
}

static struct text reply(void) { return (struct text){left.bytes ? left.bytes : "", left.count}; }

// fail makes the NSError of what Go left; domain and code are used where Go
// named none.
static void fail(id *error, const char *domain, i64 code) {
	if (left.domain[0]) {
		domain = left.domain;
		code = left.code;
	}
	set_error(error, domain, code, reply());
}

// fail_at asks Go whether a failure is planted here.
static int fail_at(enum point at, struct text name, id *error, const char *domain, i64 code) {
	standin_reply("", 0, "", 0, 0);
	if (!go.planted(at, &name)) return 0;
	fail(error, domain, code);
	return 1;
}

static void copy_text(struct text *t) {
	char *p = malloc(t->n + 1);
	if (t->n) memcpy(p, t->p, t->n);
	p[t->n] = 0;
	t->p = p;
}

// standin_layout sums up the layout of what both sides share; Go compares.
EXPORT u64 standin_layout(void) {
	return sizeof(struct backend) << 48 | sizeof(struct facts) << 32 | sizeof(struct command) << 16 | sizeof(struct source);
}

static _Atomic int maximized; // whether the compiler has a thread for each processor

// standin_serve begins: from here on messages are answered.
EXPORT void standin_serve(const struct backend *backend, const struct facts *machine) {
	facts = *machine;
	copy_text(&facts.name);
	copy_text(&facts.architecture);
	copy_text(&facts.version_text);
	memset(calls, 0, sizeof calls);
	memset(lacking, 0, sizeof lacking);
	maximized = 0;
	go = *backend;
}

// standin_end ends it; what was not released is forgotten.
EXPORT void standin_end(void) {
	memset(&go, 0, sizeof go);
	forget_objects();
	forget_device();
	free((void *)facts.name.p);
	free((void *)facts.architecture.p);
	free((void *)facts.version_text.p);
	memset(&facts, 0, sizeof facts);
}

// standin_lack hides the methods of a selector; it returns how many there are.
EXPORT u64 standin_lack(const char *selector) {
	u64 n = 0;
	for (u32 i = 0; i < method_count; i++)
		if (!strcmp(methods[i].selector, selector)) {
			lacking[i] = 1;
			n++;
		}
	return n;
}

// standin_method tells about method i of the table: a line with its name and
// the number of its calls, and whether it has a body. It returns 0 at the end.
EXPORT u64 standin_method(u64 i, char *line, u64 room, u64 *count, u64 *has_body) {
	if (i >= method_count) return 0;
	snprintf(line, room, "%c[%s %s]", methods[i].class_method ? '+' : '-', methods[i].owner, methods[i].selector);
	*count = __atomic_load_n(&calls[i], __ATOMIC_RELAXED);
	*has_body = bodies[i];
	return 1;
}
