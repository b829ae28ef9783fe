// What a program may ask the runtime about classes and methods, and what it may
// change: the body of one class's method, for all messages from then on.

// What the table does not list.
EXPORT id objc_lookUpClass(const char *);
EXPORT const char *object_getClassName(id);
EXPORT BOOL class_isMetaClass(id);
EXPORT void *class_getClassMethod(id, SEL);
EXPORT void *class_getMethodImplementation(id, SEL);
EXPORT void *class_replaceMethod(id, SEL, void *, const char *);
EXPORT SEL method_getName(void *);
EXPORT u32 method_getNumberOfArguments(void *);
EXPORT void *method_getImplementation(void *);
EXPORT void *method_setImplementation(void *, void *);
EXPORT void method_exchangeImplementations(void *, void *);

// described gives the class that o is or is the metaclass of.
static struct class *described(id o, int *meta, const char *what) {
	*meta = is_metaclass(o);
	struct class *c = *meta ? ((struct class *)o)->of : class_at(o);
	if (!c) die("%s of %p, which is no class", what, (void *)o);
	return c;
}

static SEL selector_of(SEL s, const char *what) {
	if (!is_selector(s)) die("%s of %p, which is no selector", what, (void *)s);
	return s;
}

EXPORT id objc_getClass(const char *name) {
	struct class *c;
	for (u32 i = 0; (c = all_classes(i)); i++)
		if (c->found && !strcmp(c->name, name)) break;
	return (id)c;
}

EXPORT id objc_lookUpClass(const char *name) { return objc_getClass(name); }

EXPORT id object_getClass(id o) {
	if (!o) return NULL;
	if (is_metaclass(o)) return o;
	if (class_at(o)) return (id)class_at(o)->isa;
	live(o, "object_getClass");
	return (id)o->isa;
}

EXPORT const char *class_getName(id c) {
	if (!c) return "nil";
	int meta;
	return described(c, &meta, "class_getName")->name;
}

EXPORT const char *object_getClassName(id o) { return class_getName(object_getClass(o)); }

EXPORT BOOL class_isMetaClass(id c) { return c && is_metaclass(c); }

EXPORT BOOL class_respondsToSelector(id c, SEL s) {
	if (!c) return 0;
	int meta;
	struct class *class = described(c, &meta, "class_respondsToSelector");
	return (BOOL)responds(class, selector_of(s, "class_respondsToSelector"), meta);
}

// A class is an object, too, and answers to some of NSObject's methods.
static struct entry *method_of(struct class *c, SEL s, int class_method) {
	struct entry *e = (struct entry *)entry_of(c, s, class_method);
	if (!e && class_method && !strcmp(s->name, "respondsToSelector:")) e = (struct entry *)entry_of(c, s, 0);
	return e;
}

EXPORT void *class_getInstanceMethod(id c, SEL s) {
	if (!c || !s) return NULL;
	int meta;
	struct class *class = described(c, &meta, "class_getInstanceMethod");
	return method_of(class, selector_of(s, "class_getInstanceMethod"), meta);
}

EXPORT void *class_getClassMethod(id c, SEL s) {
	if (!c || !s) return NULL;
	int meta;
	struct class *class = described(c, &meta, "class_getClassMethod");
	return method_of(class, selector_of(s, "class_getClassMethod"), 1);
}

EXPORT SEL method_getName(void *m) { return m ? ((struct entry *)m)->selector : NULL; }

EXPORT const char *method_getTypeEncoding(void *m) { return m ? ((struct entry *)m)->method->types : NULL; }

EXPORT u32 method_getNumberOfArguments(void *m) {
	u32 n = 2;
	for (const char *p = m ? ((struct entry *)m)->method->selector : ""; *p; p++) n += *p == ':';
	return m ? n : 0;
}

EXPORT void *method_getImplementation(void *m) {
	return m ? __atomic_load_n(&((struct entry *)m)->body, __ATOMIC_ACQUIRE) : NULL;
}

// forget_body has a program's next message of a selector look for its body again.
static void forget_body(struct class *c, SEL s) {
	if (c->found_bodies) __atomic_store_n(&c->found_bodies[s->at / sizeof(void *)], NULL, __ATOMIC_RELEASE);
}

// method_setImplementation returns the body that was there.
EXPORT void *method_setImplementation(void *m, void *body) {
	struct entry *e = m;
	if (!e || !body) return NULL;
	lock();
	void *old = __atomic_exchange_n(&e->body, body, __ATOMIC_ACQ_REL);
	struct class *c;
	for (u32 i = 0; (c = all_classes(i)); i++)
		if (e >= c->entries && e < c->entries + c->count) {
			forget_body(c, e->selector);
			forget_body(c->isa, e->selector);
		}
	unlock();
	return old;
}

EXPORT void method_exchangeImplementations(void *a, void *b) {
	if (!a || !b) return;
	void *was = method_setImplementation(a, method_getImplementation(b));
	method_setImplementation(b, was);
}

EXPORT void *class_getMethodImplementation(id c, SEL s) { return method_getImplementation(class_getInstanceMethod(c, s)); }

// class_replaceMethod changes a method that the class has, and returns its old
// body. Methods that are not in the table cannot be added.
EXPORT void *class_replaceMethod(id c, SEL s, void *body, const char *types) {
	(void)types;
	void *m = class_getInstanceMethod(c, s);
	if (!m) die("class_replaceMethod of %s, which the class %s does not have: methods cannot be added", s ? s->name : "no selector", class_getName(c));
	return method_setImplementation(m, body);
}

// A protocol is known by the methods the table has of it.
EXPORT id objc_getProtocol(const char *name) {
	static struct class *protocols[64];
	static u32 count;
	lock();
	for (u32 i = 0; i < count; i++)
		if (!strcmp(protocols[i]->name, name)) {
			unlock();
			return (id)protocols[i];
		}
	struct class *p = NULL;
	for (u32 m = 0; m < method_count && !p && count < 64; m++)
		if (!strcmp(methods[m].owner, name)) {
			p = calloc(1, sizeof *p);
			p->name = methods[m].owner;
			protocols[count++] = p;
		}
	unlock();
	return (id)p;
}
