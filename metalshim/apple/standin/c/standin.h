// A stand-in for libobjc, Foundation and Metal.framework. Where it is STRICT, it
// keeps the rules that Apple's keep silently or late, and ends the process with
// one line on stderr when one is broken. The work itself goes to the functions of
// struct backend: Go provides them in the process, remote.c over a socket.

// ---- Objective-C

typedef struct object *id;
typedef struct sel *SEL;
typedef u8 BOOL;
typedef struct { u64 width, height, depth; } MTLSize;
typedef struct { u64 location, length; } NSRange;
typedef struct { u64 size, align; } MTLSizeAndAlign;
typedef struct { u64 value; } MTLResourceID;
typedef struct { i64 major, minor, patch; } NSOperatingSystemVersion;

// truth is a BOOL as a callee returns it: the low byte counts, and what stands
// above it in the register is anybody's.
typedef struct { u64 whole; } truth;

static inline truth answer(int yes) { return (truth){(STRICT ? 0xdeadbeefcafe5a00ul : 0) | (yes != 0)}; }

struct block {
	void *isa;
	i32 flags, reserved;
	void *invoke;
	struct { u64 reserved, size; } *descriptor;
};

struct sel { char *name; u64 at; }; // at: where a class's bodies have that of this selector, bytes

// A method of the table; body is null where the stand-in has none.
struct method {
	const char *owner, *selector, *types; // types with offsets, as the runtime tells them
	void *body;
	u8 class_method, owned, returns_struct; // returns_struct: by a pointer, more than 16 bytes
};

struct class {
	struct class *isa; // its metaclass; null in a metaclass
	void **found_bodies; // in a program, by selector: null where no message has asked yet
	struct class *of;  // of a metaclass: its class
	const char *name;
	const char *owners[6]; // classes and protocols whose methods it has
	usize size;            // of an instance's body
	void (*end)(id);       // frees what the body holds; may be null
	u8 found;              // objc_getClass finds it, and alloc makes instances
	struct entry *entries; // built from owners at start
	u32 count;
};

struct object {
	struct class *isa;
	u32 life;           // LIVE or DEAD
	i32 refs;           // all references, those of pools included
	i32 pooled;         // references of autorelease pools
	i32 users;          // unretained command buffers, not completed, that use it
	u64 number;         // from 1
	const char *origin; // the selector that made it
	void *body;
	u8 ready, immortal; // ready: initialised
};

#define BODY(type, o) ((struct type *)(o)->body)
#define EXPORT __attribute__((visibility("default")))

// ---- What Go provides

struct text {
	const char *p;
	u64 n;
};

struct source {
	struct text text;
	i64 math, functions; // MTLMathMode, MTLMathFloatingPointFunctions
	u64 version;         // MTLLanguageVersion, 0: not set
	const struct text *macros; // name, value, name, value …
	u64 macro_count;           // of pairs
};

struct constant {
	u64 index, type, bits;
};

struct pipeline_facts {
	u64 max_threads, width, memory, evidence;
};

// What the device's cache said of a library or a pipeline.
enum evidence { EVIDENCE_UNKNOWN, EVIDENCE_HIT, EVIDENCE_MISS, EVIDENCE_OFF };

enum operation {
	SET_PIPELINE, SET_BUFFER, SET_BYTES, SET_MEMORY, DISPATCH_THREADS, DISPATCH_GROUPS, BARRIER,
	WAIT_FENCE, UPDATE_FENCE, COPY, FILL, END
};

struct command {
	u64 operation, object, index, offset, length;
	u64 other, other_offset; // a copy's destination
	const void *bytes;
	MTLSize grid, group;
};

// Places where Go may plant a failure.
enum point { AT_DEVICE, AT_DEVICES, AT_LIBRARY, AT_FUNCTION, AT_PIPELINE, AT_BUFFER, AT_QUEUE, AT_FENCE, AT_COMMIT, AT_ARCHIVE };

// Handles are Go's; 0 is none. A function that fails leaves the reason in the
// thread's reply, by standin_reply, and domain and code in its failure.
struct backend {
	u64 (*library)(const struct source *);
	u64 (*names)(u64 library); // the evidence; the reply: names of kernels, each with a newline
	u64 (*pipeline)(u64 library, const struct text *name, const struct constant *, u64 count, struct pipeline_facts *);
	// from: bytes to copy or, where in_place is 1, to use as they are; or null.
	u64 (*buffer)(u64 length, u64 mode, const void *from, u64 in_place, void **contents);
	u64 (*queue)(void);
	u64 (*fence)(void);
	u64 (*commands)(u64 queue);
	u64 (*commit)(u64 commands, id object); // standin_completed(object) follows
	u64 (*wait)(u64 commands);
	u64 (*status)(u64 commands); // 5: the reason is in the reply
	u64 (*times)(u64 commands, double *committed_scheduled_start_end);
	u64 (*encoder)(u64 commands, u64 kind); // MTLDispatchType, or 2: blit
	u64 (*encode)(u64 encoder, const struct command *); // 0: done
	u64 (*release)(u64 handle);
	u64 (*read)(const struct text *path);  // 1: the reply is the file
	u64 (*store)(const struct text *path, const struct text *content); // 1: done
	u64 (*planted)(u64 point, const struct text *name); // 1: fail, as the failure says
};

struct facts {
	struct text name, architecture, version_text;
	u64 registry, max_group, max_memory, max_length, allocated_limit, unified, low_power, headless, removable;
	i64 family; // the highest MTLGPUFamilyApple
	u64 low_power_mode;
	i64 thermal;
	NSOperatingSystemVersion version;
	u64 physical_memory;
};

static struct backend go;
static struct facts facts;

// ---- Across files

static _Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

// memory.c, pools.c
static id make(struct class *);
static id retain(id);
static void release(id);
static id autorelease(id);
static void live(id, const char *what);
static void live_for_release(id);
static int is_class(id);
static void forget_objects(void);
static const char *name_of(id);

// runtime.c, messages.c
static SEL intern(const char *);
static struct class *class_at(id);
static int has_owner(const struct class *, const char *owner);
static id want(id o, const char *owner, const char *what);
static int is_object(id);
static int responds(const struct class *, SEL, int class_method);
static void ready(id);

// foundation.c
static id string_of(const char *, u64);
static struct text text_of(id string, const char *what);
static id array_of(const id *, u64);
static void set_error(id *place, const char *domain, i64 code, struct text);
static void no_error(id *place);

// reply.c
static struct text reply(void);
static void forget_reply(void);
static int fail_at(enum point, struct text name, id *error, const char *domain, i64 code);
static void fail(id *error, const char *domain, i64 code);

// What is exported besides what the table lists.
EXPORT const char *sel_getName(SEL);
EXPORT const char *class_getName(id);
EXPORT BOOL class_respondsToSelector(id, SEL);
EXPORT struct block *_Block_copy(struct block *);
EXPORT void _Block_release(struct block *);
EXPORT const char *introgen_evidence(id);
EXPORT void standin_serve(const struct backend *, const struct facts *);
EXPORT void standin_end(void);
EXPORT void standin_reply(const char *, u64, const char *, u64, i64);
EXPORT void standin_completed(id);
EXPORT u64 standin_layout(void);
EXPORT u64 standin_lack(const char *);
EXPORT u64 standin_method(u64, char *, u64, u64 *, u64 *);
EXPORT u64 standin_next_live(u64, char *, u64);
EXPORT u64 standin_open_pools(void);

// blocks.c
EXPORT extern void *_NSConcreteGlobalBlock[32], *_NSConcreteStackBlock[32], *_NSConcreteMallocBlock[32];
static struct block *keep_block(struct block *);
static void drop_block(struct block *);

// device.c
static void forget_device(void);

#ifdef INTROGEN_SDK
// connect.c
static int connected(void);
#endif

static inline struct text text(const char *s) { return (struct text){s, s ? strlen(s) : 0}; }
