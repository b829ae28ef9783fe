// Which classes have the hooks of a role, and how they get them.

enum { CLASSES = 16 };

static id adopted[ROLES][CLASSES]; // filled from the front, never emptied
static u8 adopt_lock;

// inside says that this thread is in a method that was hooked. What Metal calls
// of itself there, one form of a method by another, an ancestor's by super, was
// not called by the program.
static _Thread_local u8 inside;

static inline void leave(const u8 *was) { inside = *was; }

// OUTERMOST begins a hook: a call from within another hooked method goes
// straight to the original.
#define OUTERMOST(original) \
	if (inside) return original; \
	__attribute__((cleanup(leave))) u8 was = 0; \
	inside = 1

// BORROWED calls a method whose result is not owned by the caller, and keeps it.
// It is not left in the program's autorelease pool, where a program without one
// would never lose it: give hands it on as the method would have.
#define BORROWED(name, call) \
	void *pool = objc.push(); \
	id name = objc.retain(call); \
	objc.pop(pool)

// shape reduces a type encoding to what a call needs to know, so that names of
// structures, qualifiers and offsets do not matter.
static void shape(const char *p, char *out, u64 room) {
	u64 n = 0;
	while (*p && n + 2 < room) {
		char c = *p++;
		if (c >= '0' && c <= '9') continue;
		switch (c) {
		case 'r': case 'n': case 'N': case 'o': case 'O': case 'R': case 'V': case 'A': case '+':
			continue;
		case '^': { // a pointer, to whatever
			while (*p == '^' || *p == 'r' || *p == 'A') p++;
			if (*p == '{' || *p == '(' || *p == '[') {
				u32 depth = 0;
				do {
					depth += *p == '{' || *p == '(' || *p == '[';
					depth -= *p == '}' || *p == ')' || *p == ']';
				} while (*p++ && depth);
			} else if (*p) {
				p++;
			}
			out[n++] = 'p';
			continue;
		}
		case '@':
			if (*p == '?') p++;
			if (*p == '<') { // a block's own types
				i32 depth = 0;
				do depth += (*p == '<') - (*p == '>');
				while (*p++ && depth);
			}
			if (*p == '"') {
				for (p++; *p && *p != '"'; p++) ;
				if (*p) p++;
			}
			out[n++] = 'p';
			continue;
		case '#': case ':': case '*':
			out[n++] = 'p';
			continue;
		case '{':
			while (*p && *p != '=' && *p != '}') p++;
			if (*p == '=') p++;
			out[n++] = '{';
			continue;
		case 'c': case 'C': case 'B':
			out[n++] = '1';
			continue;
		case 's': case 'S':
			out[n++] = '2';
			continue;
		case 'i': case 'I': case 'l': case 'L':
			out[n++] = '4';
			continue;
		case 'q': case 'Q':
			out[n++] = '8';
			continue;
		default:
			out[n++] = c;
		}
	}
	out[n] = 0;
}

static int same_shape(const char *a, const char *b) {
	char x[64], y[64];
	shape(a ? a : "", x, sizeof x);
	shape(b, y, sizeof y);
	return !strcmp(x, y);
}

// missed tells of a method that is not recorded, once for each line.
static void missed(const struct hook *h, const char *why) {
	char line[300];
	snprintf(line, sizeof line, "%s: %s", h->selector, why);
	record_text(MISSED, 0, 0, 0, 0, 0, text(line));
}

// is_everybodys says whether a method is NSObject's, for objects or for classes:
// what replaces it would be called by all.
static int is_everybodys(void *method, SEL s) {
	id root = objc.class_named("NSObject");
	return root && (method == objc.method(root, s) || method == objc.method(objc.class_of(root), s));
}

// replace puts an entry of the hook in the place of the body that the class of
// an object has or inherits.
static void replace(const struct hook *h, id o, id class) {
	SEL s = objc.selector(h->selector);
	void *method = objc.method(class, s), *body = method ? objc.body(method) : NULL;
	if (!body || is_everybodys(method, s)) {
		// It may hand on what it has no method for.
		if (!body && ((BOOL (*)(id, SEL, SEL))objc.send)(o, selectors[S_respondsToSelector], s)) missed(h, "an object answers it without a method");
		return;
	}
	for (u32 i = 0; i < h->copies; i++)
		if (body == h->entries[i]) return; // an ancestor's
	if (!same_shape(objc.encoding(method), h->encoding)) return missed(h, "its types are not those that were expected");
	u32 i = 0;
	while (i < h->copies && h->originals[i]) i++;
	if (i == h->copies) return missed(h, "more classes have a body of their own than were expected");
	__atomic_store_n(&h->originals[i], body, __ATOMIC_RELEASE);
	void *was = objc.replace(method, h->entries[i]);
	if (was != body) __atomic_store_n(&h->originals[i], was, __ATOMIC_RELEASE);
}

static void adopt(id o, id class, enum role role) {
	lock(&adopt_lock);
	u32 i = 0;
	while (i < CLASSES && adopted[role][i] && adopted[role][i] != class) i++;
	if (i < CLASSES && !adopted[role][i]) {
		for (u32 h = 0; h < sizeof hooks / sizeof *hooks; h++)
			if (hooks[h].roles >> role & 1) replace(&hooks[h], o, class);
		__atomic_store_n(&adopted[role][i], class, __ATOMIC_RELEASE);
	}
	unlock(&adopt_lock);
}

static int is_adopted(id class, enum role role) {
	for (u32 i = 0; i < CLASSES; i++) {
		id c = __atomic_load_n(&adopted[role][i], __ATOMIC_ACQUIRE);
		if (c == class) return 1;
		if (!c) return 0;
	}
	return 1; // there is no place for more
}

// see has the class of an object hooked.
static void see(id o, enum role role) {
	if (!o) return;
	id class = objc.class_of(o);
	if (!is_adopted(class, role)) adopt(o, class, role);
}
