// MTLDevice: what it tells of itself. What it makes is in the files of what is
// made.

static void free_architecture(id);
struct architecture { id name; };

static struct class device_class = {.name = "StandinDevice", .owners = {"MTLDevice", "NSObject"}};
static struct class architecture_class = {.name = "MTLArchitecture", .owners = {"MTLArchitecture", "NSObject"}, .size = sizeof(struct architecture), .end = free_architecture};

// The one device; it lives while somebody owns it.
static id the_device;
static u8 device_lock;

static void forget_device(void) { the_device = NULL; }

static id device_again(void) {
	while (__atomic_test_and_set(&device_lock, __ATOMIC_ACQUIRE)) sched_yield();
	if (the_device && the_device->life == LIVE)
		retain(the_device);
	else {
		the_device = make(&device_class);
		the_device->origin = "MTLCreateSystemDefaultDevice";
	}
	__atomic_clear(&device_lock, __ATOMIC_RELEASE);
	return the_device;
}

// there says whether there is a device. A program's is started now; a test serves
// one before it asks.
static int there(const char *function) {
	current = NULL;
#ifdef INTROGEN_SDK
	(void)function;
	return connected();
#else
	if (!go.library) die("%s: no device is served", function);
	return 1;
#endif
}

EXPORT id MTLCreateSystemDefaultDevice(void) {
	if (!there("MTLCreateSystemDefaultDevice")) return NULL;
	if (go.planted(AT_DEVICE, &(struct text){"", 0})) return NULL;
	return device_again();
}

EXPORT id MTLCopyAllDevices(void) {
	if (!there("MTLCopyAllDevices") || go.planted(AT_DEVICES, &(struct text){"", 0})) return array_of(NULL, 0);
	id device = device_again();
	id all = array_of(&device, 1);
	release(device);
	return all;
}

id i_MTLDevice_name(id self, SEL cmd) {
	(void)self, (void)cmd;
	return autorelease(string_of(facts.name.p, facts.name.n));
}

u64 i_MTLDevice_registryID(id self, SEL cmd) {
	(void)self, (void)cmd;
	return facts.registry;
}

truth i_MTLDevice_isLowPower(id self, SEL cmd) {
	(void)self, (void)cmd;
	return answer(facts.low_power != 0);
}

truth i_MTLDevice_isHeadless(id self, SEL cmd) {
	(void)self, (void)cmd;
	return answer(facts.headless != 0);
}

truth i_MTLDevice_isRemovable(id self, SEL cmd) {
	(void)self, (void)cmd;
	return answer(facts.removable != 0);
}

truth i_MTLDevice_hasUnifiedMemory(id self, SEL cmd) {
	(void)self, (void)cmd;
	return answer(facts.unified != 0);
}

u64 i_MTLDevice_recommendedMaxWorkingSetSize(id self, SEL cmd) {
	(void)self, (void)cmd;
	return facts.allocated_limit;
}

u64 i_MTLDevice_maxBufferLength(id self, SEL cmd) {
	(void)self, (void)cmd;
	return facts.max_length;
}

MTLSize i_MTLDevice_maxThreadsPerThreadgroup(id self, SEL cmd) {
	(void)self, (void)cmd;
	return (MTLSize){facts.max_group, facts.max_group, facts.max_group < 64 ? facts.max_group : 64};
}

u64 i_MTLDevice_maxThreadgroupMemoryLength(id self, SEL cmd) {
	(void)self, (void)cmd;
	return facts.max_memory;
}

u64 i_MTLDevice_location(id self, SEL cmd) {
	(void)self, (void)cmd;
	return 0; // built in
}

u64 i_MTLDevice_maxTransferRate(id self, SEL cmd) {
	(void)self, (void)cmd;
	return 0; // of built-in devices
}

u64 i_MTLDevice_readWriteTextureSupport(id self, SEL cmd) {
	(void)self, (void)cmd;
	return 2;
}

id i_MTLDevice_counterSets(id self, SEL cmd) {
	(void)self, (void)cmd;
	return NULL;
}

truth i_MTLDevice_supportsCounterSampling_(id self, SEL cmd, u64 point) {
	(void)self, (void)cmd;
	if (point > 4) die("MTLCounterSamplingPoint %lu", point);
	return answer(0);
}

// Families: 1001 to 1010 Apple1 to Apple10, 2002 Mac2, 3001 to 3003 Common,
// 5001 Metal3, 5002 Metal4.
truth i_MTLDevice_supportsFamily_(id self, SEL cmd, i64 family) {
	(void)self, (void)cmd;
	if (family >= 1001 && family <= 1010) return answer(family <= facts.family);
	switch (family) {
	case 2001: case 2002: return answer(1);
	case 3001: case 3002: case 3003: return answer(1);
	case 4001: case 4002: return answer(0);
	case 5001: return answer(facts.family >= 1007);
	case 5002: return answer(facts.family >= 1009);
	}
	die("MTLGPUFamily %ld", family);
}

static void free_architecture(id o) { release(BODY(architecture, o)->name); }

id i_MTLDevice_architecture(id self, SEL cmd) {
	(void)self, (void)cmd;
	if (!facts.architecture.n) return NULL;
	id a = make(&architecture_class);
	BODY(architecture, a)->name = string_of(facts.architecture.p, facts.architecture.n);
	return autorelease(a);
}

id i_MTLArchitecture_name(id self, SEL cmd) {
	(void)cmd;
	return again(BODY(architecture, self)->name);
}

// A thing has what most of Metal's objects have. It stands first in their
// bodies.
struct thing {
	u64 handle; // Go's
	id device, label;
};

static void begin_thing(id o, id device, u64 handle) {
	BODY(thing, o)->handle = handle;
	BODY(thing, o)->device = retain(device);
}

static void end_thing(id o) {
	struct thing *t = BODY(thing, o);
	if (t->handle) go.release(t->handle);
	release(t->label);
	release(t->device);
}

static id label_of(id o) { return again(BODY(thing, o)->label); }
static id owner_of(id o) { return again(BODY(thing, o)->device); }

static void set_label(id o, id label) {
	id copy = NULL;
	if (label) {
		struct text t = text_of(label, "the label");
		copy = string_of(t.p, t.n);
	}
	release(BODY(thing, o)->label);
	BODY(thing, o)->label = copy;
}

static void check_option(const char *what, i64 v, i64 most) {
	if (v < 0 || v > most) die("%s is %ld: 0 to %ld are allowed", what, v, most);
}

static void check_flag(const char *what, BOOL v) { check_option(what, v, 1); }
