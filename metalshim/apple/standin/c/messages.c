// The way from a message to a method's body: checked at every message in a test,
// remembered by class and selector in a program.

// ready marks an object as initialised, from the bodies of init methods.
static void ready(id o) {
	if (o->ready) die("%s is initialised twice", name_of(o));
	o->ready = 1;
}

static int before_init(const char *selector) {
	return !strncmp(selector, "init", 4) || !strcmp(selector, "release") || !strcmp(selector, "retain");
}

// A caller who takes care himself where a large result goes (gnustep.c).
enum { ANY_RESULT = 2 };

// checked_body finds the body of a test's message, which is right in every way.
static void *checked_body(id self, SEL cmd, u64 by_pointer) {
	current = NULL;
	if (!is_selector(cmd)) die("objc_msgSend with %p, which is no selector", (void *)cmd);
	if (!self) die("message %s to nil", cmd->name);
	struct class *c = class_at(self);
	int class_method = c != NULL;
	if (!c) {
		if (!strcmp(cmd->name, "release")) live_for_release(self);
		live(self, cmd->name);
		c = self->isa;
	}
	const struct entry *e = entry_of(c, cmd, class_method);
	if (!e && class_method && !strcmp(cmd->name, "respondsToSelector:")) e = entry_of(c, cmd, 0); // a class is an object, too
	if (!e) die("unknown selector %c[%s %s]", class_method ? '+' : '-', c->name, cmd->name);
	if (class_method && !c->found) die("+[%s %s]: the class is private", c->name, cmd->name);
	const struct method *m = current = e->method;
	if (!e->body) die("the table has it, but the stand-in does not");
	if (!class_method && !self->ready && !before_init(cmd->name)) die("%s has not been initialised", name_of(self));
#if defined(__x86_64__)
	if (by_pointer != ANY_RESULT && m->returns_struct != by_pointer)
		die(by_pointer ? "sent by objc_msgSend_stret, but it returns no large struct" : "returns a large struct: objc_msgSend_stret is needed");
#else
	(void)by_pointer;
#endif
	if (!go.library) die("no device is served");
	__atomic_fetch_add(&calls[m - methods], 1, __ATOMIC_RELAXED);
	return __atomic_load_n(&e->body, __ATOMIC_ACQUIRE);
}

// found_body finds the body of a program's message to an object or a class, and
// remembers it until it is replaced.
static void *found_body(id self, SEL cmd) {
	sending = NULL;
	if (!is_selector(cmd)) die("objc_msgSend with %p, which is no selector", (void *)cmd);
	struct class *isa = self->isa, *c = isa->of ? isa->of : isa;
	int class_method = isa->of != NULL;
	if (!class_method && is_object(self)) live(self, cmd->name);
	struct entry *e = entry_of(c, cmd, class_method);
	if (!e && class_method) e = entry_of(c, cmd, 0); // a class is an object, too
	if (!e) die("unknown selector %c[%s %s]", class_method ? '+' : '-', c->name, cmd->name);
	lock();
	void *body = e->body;
	if (body) __atomic_store_n(&isa->found_bodies[cmd->at / sizeof(void *)], body, __ATOMIC_RELEASE);
	unlock();
	if (!body) die("unknown selector %c[%s %s]: Metal has it, but this library does not", class_method ? '+' : '-', c->name, cmd->name);
	sending = cmd;
	return body;
}

// struct_size is how many bytes a method of this selector returns by a pointer. All
// that is in such structs takes 8 bytes.
static u64 struct_size(SEL cmd) {
	u64 n = 0;
	for (u32 m = 0; m < method_count && !n; m++)
		if (methods[m].returns_struct && !strcmp(methods[m].selector, cmd->name))
			for (const char *p = methods[m].types; *p && !(*p >= '0' && *p <= '9'); p++) {
				if (*p == '{')
					while (*p != '=') p++; // its name
				n += *p == 'Q' || *p == 'q' || *p == 'd' ? 8 : 0;
			}
	return n;
}

static NSRange nil_words(void) { return (NSRange){0, 0}; }
static double nil_number(void) { return 0; }
static MTLSize nil_struct(void) { return (MTLSize){0, 0, 0}; }

// message_body is the body for a message of a program that calls it by itself, as
// GNUstep's do. What is sent to nil returns zeros.
static void *message_body(id self, SEL cmd) {
	if (self) {
		void *body = __atomic_load_n(&self->isa->found_bodies[cmd->at / sizeof(void *)], __ATOMIC_ACQUIRE);
		sending = cmd;
		return body ? body : found_body(self, cmd);
	}
	for (u32 m = 0; m < method_count; m++)
		if (!strcmp(methods[m].selector, cmd->name)) {
			if (methods[m].returns_struct) return (void *)nil_struct;
			if (methods[m].types[0] == 'd' || methods[m].types[0] == 'f') return (void *)nil_number;
			break;
		}
	return (void *)nil_words;
}

__attribute__((used, visibility("hidden"))) void *standin_lookup(id self, SEL cmd, u64 by_pointer);
__attribute__((used, visibility("hidden"))) void standin_nil(SEL cmd, void *place);

// standin_lookup is called by the trampolines, for objc_msgSend_stret with
// by_pointer set; in a program only where the body is not known yet.
void *standin_lookup(id self, SEL cmd, u64 by_pointer) { return STRICT ? checked_body(self, cmd, by_pointer) : found_body(self, cmd); }

// standin_nil is the answer of nil to a message that returns a large struct.
void standin_nil(SEL cmd, void *place) {
	u64 n = struct_size(cmd);
	if (n) memset(place, 0, n);
}
