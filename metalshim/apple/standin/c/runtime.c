// Selectors, classes, and the way from a message to a method.

static u64 calls[512];
static u8 lacking[512]; // methods that are hidden, as on an older system

// The message that this thread has sent last, for messages of errors. Of a
// program's, only the selector is known: objc_msgSend itself notes it.
static _Thread_local const struct method *current;
__attribute__((used, tls_model("initial-exec"))) static _Thread_local SEL sending;

static void die(const char *format, ...) {
	char line[1024];
	int n = !STRICT && sending ? snprintf(line, 300, "introgen-metal: %s: ", sending->name)
	        : !STRICT          ? snprintf(line, 300, "introgen-metal: ")
	        : current ? snprintf(line, 300, "standin: %c[%s %s]: ", current->class_method ? '+' : '-', current->owner, current->selector)
	                  : snprintf(line, 300, "standin: ");
	__builtin_va_list args;
	__builtin_va_start(args, format);
	int m = vsnprintf(line + n, sizeof line - 1 - (usize)n, format, args);
	__builtin_va_end(args);
	n += m;
	if (n > (int)sizeof line - 2) n = sizeof line - 2;
	line[n++] = '\n';
	if (write(2, line, (usize)n) < 0) abort();
	abort();
}

static u8 lock_word;
static void lock(void) {
	while (__atomic_test_and_set(&lock_word, __ATOMIC_ACQUIRE)) sched_yield();
}
static void unlock(void) { __atomic_clear(&lock_word, __ATOMIC_RELEASE); }

// ---- selectors

enum { SELECTORS = 8192 }; // places; half of them are used
static struct sel selectors[SELECTORS];
static u32 selector_count, buckets[SELECTORS]; // buckets: 1 + index of a selector

static SEL intern(const char *name) {
	u64 hash = 14695981039346656037ul;
	for (const char *p = name; *p; p++) hash = (hash ^ (u8)*p) * 1099511628211ul;
	lock();
	u32 at = hash % SELECTORS;
	while (buckets[at] && strcmp(selectors[buckets[at] - 1].name, name)) at = (at + 1) % SELECTORS;
	if (!buckets[at]) {
		if (selector_count == SELECTORS / 2) die("more than %d selectors", SELECTORS / 2);
		selectors[selector_count] = (struct sel){strdup(name), selector_count * sizeof(void *)};
		buckets[at] = ++selector_count;
	}
	SEL s = &selectors[buckets[at] - 1];
	unlock();
	return s;
}

static int is_selector(SEL s) {
	u64 offset = (u64)s - (u64)selectors;
	return (u64)s >= (u64)selectors && offset % sizeof(struct sel) == 0 && offset / sizeof(struct sel) < selector_count;
}

EXPORT SEL sel_registerName(const char *name) {
	if (!name || !*name) die("sel_registerName of no name");
	return intern(name);
}

EXPORT const char *sel_getName(SEL s) {
	if (!is_selector(s)) die("sel_getName of %p, which is no selector", (void *)s);
	return s->name;
}

// ---- classes, which are listed in classes.c

static struct class *all_classes(u32 i);

// An entry is a method of a class, and what the runtime's functions call a
// Method. Its body may be that of another method: one that it inherits, as
// every class does NSObject's new. It may be replaced at any moment
// (introspection.c), so that a cache keeps entries and not bodies.
struct entry {
	SEL selector;
	const struct method *method;
	void *body;
};

static u8 bodies[512]; // methods that have a body, their own or an inherited one

// A metaclass is the class of a class: its methods are the class's own. It has
// no entries of its own.
enum { METACLASSES = 128 };
static struct class metaclasses[METACLASSES];

static int is_metaclass(id o) { return (u64)o >= (u64)metaclasses && (u64)o < (u64)(metaclasses + METACLASSES); }

// class_at is the class that o is, null where it is another object. A program's
// pointer is taken for what it says it is; a test's is looked up.
static struct class *class_at(id o) {
	struct class *c = (struct class *)o;
	if (!STRICT) return c && !is_object(o) && is_metaclass((id)c->isa) ? c : NULL;
	for (u32 i = 0; (c = all_classes(i)) && (id)c != o;) i++;
	return c;
}

static int has_owner(const struct class *c, const char *owner) {
	for (u32 i = 0; i < 6 && c->owners[i]; i++)
		if (!strcmp(c->owners[i], owner)) return 1;
	return 0;
}

// want checks an argument: an object, alive, initialised, of a class that is
// owner or conforms to it.
static id want(id o, const char *owner, const char *what) {
	if (!o) die("%s is nil, a %s is wanted", what, owner);
	if (class_at(o)) die("%s is the class %s, a %s is wanted", what, class_at(o)->name, owner);
	live(o, what);
	if (!has_owner(o->isa, owner)) die("%s is a %s, a %s is wanted", what, o->isa->name, owner);
	if (!o->ready) die("%s, %s, has not been initialised", what, name_of(o));
	return o;
}

__attribute__((constructor)) static void build_classes(void) {
	if (method_count > sizeof calls / sizeof *calls) die("%u methods", method_count);
	struct class *c;
	for (u32 i = 0; (c = all_classes(i)); i++) {
		if (i == METACLASSES) die("more than %d classes", METACLASSES);
		c->isa = &metaclasses[i];
		*c->isa = (struct class){.of = c, .name = c->name};
		if (!STRICT) {
			c->found_bodies = calloc(SELECTORS / 2, sizeof(void *));
			c->isa->found_bodies = calloc(SELECTORS / 2, sizeof(void *));
		}
		c->entries = calloc(method_count, sizeof *c->entries);
		for (u32 o = 0; o < 6 && c->owners[o]; o++)
			for (u32 m = 0; m < method_count; m++)
				if (!strcmp(methods[m].owner, c->owners[o]))
					c->entries[c->count++] = (struct entry){intern(methods[m].selector), &methods[m], methods[m].body};
		for (u32 e = 0; e < c->count; e++) {
			struct entry *own = &c->entries[e];
			for (u32 k = e + 1; k < c->count && !own->body; k++) {
				struct entry *inherited = &c->entries[k];
				if (inherited->selector == own->selector && inherited->method->class_method == own->method->class_method) own->body = inherited->body;
			}
			if (own->body) bodies[own->method - methods] = 1;
		}
	}
}

// entry_of finds the first method along the owners: a class's own comes before
// those of what it inherits from.
static struct entry *entry_of(const struct class *c, SEL s, int class_method) {
	for (u32 i = 0; i < c->count; i++) {
		struct entry *e = &c->entries[i];
		if (e->selector == s && e->method->class_method == class_method && !lacking[e->method - methods]) return e;
	}
	return NULL;
}

static int responds(const struct class *c, SEL s, int class_method) {
	const struct entry *e = entry_of(c, s, class_method);
	return e && e->body;
}

