// A small Objective-C runtime and Metal without a GPU, for tests of the hooks:
// every method that the recorder takes the place of has a body that says on
// stdout what it was given. The bodies and the calls of them are generated from
// the list of hooks; this is what they stand on.
//
// Some classes inherit, some replace an ancestor's method and call it by super,
// as Metal's own do.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint64_t u64;
typedef int64_t i64;
typedef uint32_t u32;
typedef uint8_t u8;
typedef u8 BOOL;
typedef struct object *id;
typedef const char *SEL; // one address for each name
typedef struct { u64 width, height, depth; } MTLSize;
typedef struct { u64 location, length; } NSRange;

struct method { SEL name; const char *types; void *body; };
struct class { struct class *isa; const char *name; struct class *super; struct method methods[160]; int count; };
struct object { struct class *isa; int number, refs, owns; id library; char *text; struct block *handlers[8]; int handler_count; };
struct block { void *isa; int flags, reserved; void *invoke; struct { u64 reserved, size; void (*copy)(void *, const void *), (*dispose)(const void *); } *descriptor; u64 captured; };

#define EXPORT __attribute__((visibility("default")))

EXPORT void *_NSConcreteGlobalBlock[32], *_NSConcreteStackBlock[32];
static void *heap_block[32];
static struct class classes[80];
static int class_count;
static int live;

EXPORT SEL sel_registerName(const char *name) {
	static char *names[400];
	for (int i = 0; i < 400; i++) {
		if (!names[i]) names[i] = strdup(name);
		if (!strcmp(names[i], name)) return names[i];
	}
	abort();
}

EXPORT struct class *objc_getClass(const char *name) {
	for (int i = 0; i < class_count; i++)
		if (!strcmp(classes[i].name, name) && classes[i].isa) return &classes[i];
	return NULL;
}

static struct class *add_class(const char *name, struct class *super) {
	struct class *meta = &classes[class_count++], *c = &classes[class_count++];
	meta->name = c->name = name;
	c->isa = meta;
	c->super = super;
	if (super) meta->super = super->isa;
	return c;
}

static void add_method(struct class *c, const char *name, const char *types, void *body) {
	if (c->count == 160) abort();
	c->methods[c->count++] = (struct method){sel_registerName(name), types, body};
}

EXPORT struct class *object_getClass(id o) { return o ? o->isa : NULL; }
EXPORT struct method *class_getInstanceMethod(struct class *c, SEL s) {
	for (; c; c = c->super)
		for (int i = 0; i < c->count; i++)
			if (c->methods[i].name == s) return &c->methods[i];
	return NULL;
}
EXPORT void *method_getImplementation(struct method *m) { return m->body; }
EXPORT void *method_setImplementation(struct method *m, void *body) {
	void *was = m->body;
	m->body = body;
	return was;
}
EXPORT const char *method_getTypeEncoding(struct method *m) { return m->types; }
EXPORT BOOL class_respondsToSelector(struct class *c, SEL s) { return class_getInstanceMethod(c, s) != NULL; }

static int pools, pooled;
static struct { id object; int pool; } in_pool[1000];
static void drop(id o);
EXPORT id objc_retain(id o) {
	if (o) o->refs++;
	return o;
}
EXPORT id objc_autorelease(id o) {
	if (pooled == 1000) abort();
	in_pool[pooled].object = o;
	in_pool[pooled++].pool = pools;
	return o;
}
EXPORT void *objc_autoreleasePoolPush(void) { return (void *)(u64)++pools; }
EXPORT void objc_autoreleasePoolPop(void *p) {
	while (pooled && in_pool[pooled - 1].pool == pools) drop(in_pool[--pooled].object);
	if ((u64)p != (u64)pools--) abort();
}

__attribute__((used)) void *lookup(id o, SEL s);
void *lookup(id o, SEL s) {
	struct method *m = o ? class_getInstanceMethod(o->isa, s) : NULL;
	if (m) return m->body;
	fprintf(stderr, "no method %s of %s\n", s, o ? o->isa->name : "nil");
	abort();
}

#if defined(__x86_64__)
__asm__(".globl objc_msgSend\n.type objc_msgSend,@function\nobjc_msgSend:\n"
        "push %rbp\n mov %rsp,%rbp\n push %rdi\n push %rsi\n push %rdx\n push %rcx\n push %r8\n push %r9\n"
        "call lookup@PLT\n mov %rax,%r11\n"
        "pop %r9\n pop %r8\n pop %rcx\n pop %rdx\n pop %rsi\n pop %rdi\n pop %rbp\n jmp *%r11\n");
#else
__asm__(".globl objc_msgSend\n.type objc_msgSend,%function\nobjc_msgSend:\n"
        "stp x29,x30,[sp,#-96]!\n mov x29,sp\n stp x0,x1,[sp,#16]\n stp x2,x3,[sp,#32]\n stp x4,x5,[sp,#48]\n stp x6,x7,[sp,#64]\n str x8,[sp,#80]\n"
        "bl lookup\n mov x16,x0\n"
        "ldp x0,x1,[sp,#16]\n ldp x2,x3,[sp,#32]\n ldp x4,x5,[sp,#48]\n ldp x6,x7,[sp,#64]\n ldr x8,[sp,#80]\n ldp x29,x30,[sp],#96\n br x16\n");
#endif
void objc_msgSend(void);
static void *volatile message = (void *)objc_msgSend; // cast to what is sent

// ---- objects

static int numbers[80]; // objects of each class

static id make(struct class *c) {
	id o = calloc(1, sizeof *o);
	o->isa = c;
	o->number = ++numbers[c - classes];
	o->refs = 1;
	live++;
	return o;
}

static id make_named(const char *class) { return make(objc_getClass(class)); }

static void drop(id o) {
	if (!o) return;
	if (o->refs <= 0) abort();
	if (--o->refs) return;
	live--;
	if (o->owns) drop(o->library);
	if (numbers[o->isa - classes] == o->number) numbers[o->isa - classes]--;
}

static id alloc(id self, SEL cmd) { (void)cmd; return make((struct class *)self); }
static id init(id self, SEL cmd) { (void)cmd; return self; }
static id new(id self, SEL cmd) { (void)cmd; return make((struct class *)self); }
static void release(id self, SEL cmd) { (void)cmd; drop(self); }
static BOOL answers(id self, SEL cmd, SEL s) {
	(void)cmd;
	// An object that hands on what it has no method for.
	if (!strcmp(self->isa->name, "Forwarder") && !strcmp(s, "commit")) return 1;
	return class_respondsToSelector(self->isa, s);
}
static const char *utf8(id self, SEL cmd) { (void)cmd; return self->text; }
static id string_init(id self, SEL cmd, const void *bytes, u64 n, u64 encoding) {
	(void)cmd;
	if (encoding != 4) abort();
	self->text = strndup(bytes, n);
	return self;
}
static id name(id self, SEL cmd) { (void)cmd; return self->library; }
static u64 status(id self, SEL cmd) { (void)self, (void)cmd; return 4; }
static u64 registry(id self, SEL cmd) { (void)self, (void)cmd; return 77; }
static id source_of(id self, SEL cmd) { (void)cmd; return self->library; }
static void set_source(id self, SEL cmd, id source) { (void)cmd; self->library = source; self->owns = 1; source->refs++; }
static id copied(id self, SEL cmd) {
	(void)cmd;
	id o = make(self->isa);
	o->library = self->library;
	return o;
}

static id string(const char *text) {
	id s = make_named("NSString");
	s->text = strdup(text);
	return s;
}

// ---- what is said

static void say(const char *format, ...) {
	va_list args;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

static void say_object(id o) {
	if (o && !strcmp(o->isa->name, "MTL4LibraryDescriptor")) o = o->library; // by its source
	if (!o) say(" nil");
	else if (o->text) say(" \"%s\"", o->text);
	else say(" %s%d", o->isa->name, o->number);
}

// ---- blocks

static int copies, disposals;

static struct block *block_copy(struct block *b) {
	if (!b || b->isa == _NSConcreteGlobalBlock) return b;
	struct block *copy = malloc(b->descriptor->size);
	memcpy(copy, b, b->descriptor->size);
	copy->isa = heap_block;
	if (b->flags & 1 << 25) b->descriptor->copy(copy, b);
	return copy;
}
EXPORT struct block *_Block_copy(struct block *b) { return block_copy(b); }
EXPORT void _Block_release(struct block *b) {
	if (!b || b->isa != heap_block) return;
	if (b->flags & 1 << 25) b->descriptor->dispose(b);
	memset(b, 0xdd, sizeof *b);
	free(b);
}

static void count_copy(void *to, const void *from) {
	(void)to, (void)from;
	copies++;
}
static void count_disposal(const void *b) { disposals += ((const struct block *)b)->captured == 0x5eed; }

static void say_block(struct block *b, id x, id y, id z) {
	say("  the block%s is called with", b->captured == 0x5eed ? "" : ", damaged,");
	say_object(x);
	say_object(y);
	say_object(z);
	say("\n");
}
static void called1(struct block *b, id x) { say_block(b, x, NULL, NULL); }
static void called2(struct block *b, id x, id y) { say_block(b, x, y, NULL); }
static void called3(struct block *b, id x, id y, id z) { say_block(b, x, y, z); }
static void called_value(struct block *b, id x, u64 value) {
	say_block(b, x, NULL, NULL);
	say("  and %llu\n", (unsigned long long)value);
}

static struct block on_stack;

// spoil is what becomes of a stack when its function returns.
static void spoil(void) { memset(&on_stack, 0xee, sizeof on_stack); }

// stack_block is a block of the program's, on its stack.
static struct block *stack_block(void *invoke) {
	static __typeof__(*((struct block *)0)->descriptor) d = {0, sizeof(struct block), count_copy, count_disposal};
	struct block *b = &on_stack;
	*b = (struct block){_NSConcreteStackBlock, 1 << 25, 0, invoke, (void *)&d, 0x5eed};
	return b;
}

// ---- devices

static id device;
EXPORT id MTLCreateSystemDefaultDevice(void);
EXPORT id MTLCopyAllDevices(void);
EXPORT i64 dispatch_semaphore_wait(id semaphore, u64 until);
EXPORT i64 dispatch_group_wait(id group, u64 until);
EXPORT int play(void);

EXPORT id MTLCreateSystemDefaultDevice(void) {
	if (!device) {
		device = make_named("Device");
		device->library = string("the device");
	}
	device->refs++;
	return device;
}
EXPORT id MTLCopyAllDevices(void) { return NULL; }
EXPORT i64 dispatch_group_wait(id group, u64 until) {
	say("group");
	say_object(group);
	say(" %llu\n", (unsigned long long)until);
	return (i64)until;
}
EXPORT i64 dispatch_semaphore_wait(id semaphore, u64 until) {
	say("semaphore");
	say_object(semaphore);
	say(" %llu\n", (unsigned long long)until);
	return (i64)until;
}

// ---- what the generated bodies and calls use

static int failing; // methods that have a place for an error fail
static id failure(void) {
	id e = make_named("NSError");
	e->library = string("it failed");
	return e;
}

static id next_commands; // what a queue gives, where it is not usual
static id error, resources[2], two[2];
static int memory[8] = {41, 42, 43, 44};

static id described(void) {
	id d = make_named("MTL4LibraryDescriptor");
	d->library = string("kernel void mtl4() {}");
	return d;
}

// One object for each role.
static id DEVICE, LIBRARY, FUNCTION, CONSTANTS, CONSTANTS_CLASS, ARCHIVE, BUFFER, HEAP, QUEUE, COMMANDS, COMPUTE, BLIT, ENCODER, SHARED_EVENT, COMPILER, QUEUE4, COMMANDS4;

__attribute__((weak)) void introgen_mark(const char *);

static void address(const char *what, id o) {
	if (getenv("ADDRESSES")) printf("@ %s %llu\n", what, (unsigned long long)o);
}

static int begun, timing; // the program sends; its calls are timed

static void begin(SEL s, id self) {
	begun = 1;
	if (introgen_mark) introgen_mark(s);
	address("self", self);
}

static void gave(id made) {
	say(" =");
	say_object(made);
	say("\n");
	address("made", made);
	if (error && error != (id)1) {
		say("  error \"%s\"\n", error->library->text);
		error = NULL;
	}
}
