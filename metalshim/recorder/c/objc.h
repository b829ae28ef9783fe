// Objective-C and Metal, as far as the recorder meets them. Nothing is linked:
// the runtime is found when a program has made its first device.

typedef struct object *id;
typedef struct sel *SEL;
typedef u8 BOOL;
typedef struct { u64 width, height, depth; } MTLSize;
typedef struct { u64 location, length; } NSRange;

// A block: a function with what it holds behind it.
struct block {
	void *isa;
	i32 flags, reserved;
	void *invoke;
	const struct block_descriptor *descriptor;
};

// What follows the size depends on the block's flags; these blocks have all.
struct block_descriptor {
	u64 reserved, size;
	void (*copy)(void *to, const void *from);
	void (*dispose)(const void *);
	const char *signature;
};

enum { BLOCK_HAS_COPY_DISPOSE = 1 << 25, BLOCK_IS_GLOBAL = 1 << 28, BLOCK_HAS_SIGNATURE = 1 << 30 };

enum { STATUS_ERROR = 5 }; // MTLCommandBufferStatusError

// Roles are what the recorder knows an object as. The class of an object gets
// the hooks of its role.
enum role {
	DEVICE_ROLE, LIBRARY_ROLE, FUNCTION_ROLE, CONSTANTS_ROLE, CONSTANTS_CLASS_ROLE, ARCHIVE_ROLE, BUFFER_ROLE, HEAP_ROLE,
	QUEUE_ROLE, COMMANDS_ROLE, COMPUTE_ROLE, BLIT_ROLE, ENCODER_ROLE, SHARED_EVENT_ROLE, COMPILER_ROLE,
	QUEUE4_ROLE, COMMANDS4_ROLE, // MTL4's
	ROLES
};

// A hook takes the place of a method's body in every class that has one of its
// own. Each such body is replaced by another entry, which knows the original:
// no table is searched when a message comes.
struct hook {
	const char *selector, *encoding;
	void *const *entries; // copies of them
	void **originals;
	u32 copies, roles; // roles: bits
};

// give hands on an object that is owned to a caller who will not own it. It is
// the last call of an entry: the runtime looks at who is returned to, and keeps
// the object out of the autorelease pool where that caller takes it at once.
static id give(id);
