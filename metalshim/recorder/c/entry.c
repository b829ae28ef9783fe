// Where the recorder begins, and the functions that it stands before: those
// that give a program its devices, and the waits for a semaphore that a handler
// signals, or for a group that it leaves.

EXPORT void introgen_mark(const char *phase);

static u8 recording; // this process is recorded, by this recorder

// introgen_mark begins a phase. Programs find it by dlsym.
void introgen_mark(const char *phase) {
	if (recording && phase) record_text(MARK, 0, 0, 0, 0, 0, text(phase));
}

static u8 ready_lock;

// in_child begins anew in the child of a fork. Its parent's other threads are
// not there to give back what they had taken.
static void in_child(void) {
	leave_ring();
	adopt_lock = ready_lock = 0;
	inside = 0;
}

// The first of two recorders records: both export this name, and whoever asks
// for it gets the first one's.
__attribute__((constructor)) static void begin(void) {
	void *first = dlsym(RTLD_DEFAULT, "introgen_mark");
	recording = (!first || first == (void *)introgen_mark) && open_ring();
	if (!recording) return;
	take_nonce();
	when_forked(in_child);
}

// ready finds the runtime when the first device comes, and has the classes
// hooked whose objects no device gives. It says whether there is a runtime.
static int ready(void) {
	static u8 state; // 1: ready, 2: never
	if (!__atomic_load_n(&state, __ATOMIC_ACQUIRE)) {
		lock(&ready_lock);
		if (!state) {
			int all = load_runtime();
			id constants = all ? objc.class_named("MTLFunctionConstantValues") : NULL;
			if (constants) { // its objects may be of another class than it
				id one = get(get(constants, S_alloc), S_init);
				see(constants, CONSTANTS_CLASS_ROLE);
				see(one, CONSTANTS_ROLE);
				get(one, S_release);
			}
			__atomic_store_n(&state, all ? 1 : 2, __ATOMIC_RELEASE);
		}
		unlock(&ready_lock);
	}
	return state == 1;
}

// asked says when a device was asked for, which is a program's first call of Metal.
static u64 asked(void) { return recording ? now() : 0; }

static id device_made(id device, u64 began) {
	if (!recording) return device;
	if (!device) {
		record(DEVICE, 0, 0, 0, 0, began);
		return device;
	}
	u8 was = inside;
	inside = 1;
	if (ready()) {
		see(device, DEVICE_ROLE);
		void *pool = objc.push();
		record_text(DEVICE, (u64)device, number(device, S_registryID), 0, 0, began, string(get(device, S_name)));
		objc.pop(pool);
	}
	inside = was;
	return device;
}

static id devices_made(id all, u64 began) {
	if (recording && all) {
		u8 was = inside;
		inside = 1;
		int known = ready();
		void *pool = known ? objc.push() : NULL;
		for (u64 i = 0; known && i < number(all, S_count); i++) device_made(item(all, i), began);
		if (pool) objc.pop(pool);
		inside = was;
	}
	return all;
}

static u64 begin_semaphore(id semaphore) {
	int waits = recording && !inside && __atomic_load_n(&pending, __ATOMIC_RELAXED);
	return waits ? begin_wait(semaphore, SEMAPHORE, 0) : 0;
}

static i64 end_semaphore(id semaphore, u64 began, i64 result) {
	if (began) end_wait(semaphore, SEMAPHORE, began, result == 0);
	return result;
}

#if defined(__APPLE__)

extern id MTLCreateSystemDefaultDevice(void);
extern id MTLCopyAllDevices(void);
extern id MTLCopyAllDevicesWithObserver(id *, struct block *);
extern i64 dispatch_semaphore_wait(id, u64);
extern i64 dispatch_group_wait(id, u64);

static id create_device(void) {
	u64 began = asked();
	return device_made(MTLCreateSystemDefaultDevice(), began);
}

static id copy_devices(void) {
	u64 began = asked();
	return devices_made(MTLCopyAllDevices(), began);
}

static id copy_and_observe(id *observer, struct block *handler) {
	u64 began = asked();
	return devices_made(MTLCopyAllDevicesWithObserver(observer, handler), began);
}

static i64 wait_semaphore(id semaphore, u64 until) {
	u64 began = begin_semaphore(semaphore);
	return end_semaphore(semaphore, began, dispatch_semaphore_wait(semaphore, until));
}

static i64 wait_group(id group, u64 until) {
	u64 began = begin_semaphore(group);
	return end_semaphore(group, began, dispatch_group_wait(group, until));
}

// dyld has every image but this one call the first for the second.
__attribute__((used, section("__DATA,__interpose"))) static const struct { void *replacement, *original; } interposed[] = {
	{(void *)create_device, (void *)MTLCreateSystemDefaultDevice},
	{(void *)copy_devices, (void *)MTLCopyAllDevices},
	{(void *)copy_and_observe, (void *)MTLCopyAllDevicesWithObserver},
	{(void *)wait_semaphore, (void *)dispatch_semaphore_wait},
	{(void *)wait_group, (void *)dispatch_group_wait},
};

#else

EXPORT id MTLCreateSystemDefaultDevice(void);
EXPORT id MTLCopyAllDevices(void);
EXPORT i64 dispatch_semaphore_wait(id, u64);
EXPORT i64 dispatch_group_wait(id, u64);

// next finds the function of that name that the program would have called.
static void *next(void **kept, const char *name) {
	void *f = __atomic_load_n(kept, __ATOMIC_ACQUIRE);
	if (!f) __atomic_store_n(kept, f = dlsym(RTLD_NEXT, name), __ATOMIC_RELEASE);
	return f;
}

id MTLCreateSystemDefaultDevice(void) {
	static void *kept;
	id (*original)(void) = (id (*)(void))next(&kept, "MTLCreateSystemDefaultDevice");
	u64 began = asked();
	return original ? device_made(original(), began) : NULL;
}

id MTLCopyAllDevices(void) {
	static void *kept;
	id (*original)(void) = (id (*)(void))next(&kept, "MTLCopyAllDevices");
	u64 began = asked();
	return original ? devices_made(original(), began) : NULL;
}

i64 dispatch_semaphore_wait(id semaphore, u64 until) {
	static void *kept;
	i64 (*original)(id, u64) = (i64(*)(id, u64))next(&kept, "dispatch_semaphore_wait");
	u64 began = begin_semaphore(semaphore);
	return end_semaphore(semaphore, began, original ? original(semaphore, until) : -1);
}

i64 dispatch_group_wait(id group, u64 until) {
	static void *kept;
	i64 (*original)(id, u64) = (i64(*)(id, u64))next(&kept, "dispatch_group_wait");
	u64 began = begin_semaphore(group);
	return end_semaphore(group, began, original ? original(group, until) : -1);
}

#endif
