// Foundation's smaller classes: errors, URLs, numbers, data, the process, and
// autorelease pools as objects.

static void free_error(id);
static void free_url(id);
static void drain_pool(id);

struct error { id domain, description; i64 code; };
struct url { id path; };
struct number { double value; i64 whole; };
struct pool { void *token; };

static struct class error_class = {.name = "NSError", .owners = {"NSError", "NSObject"}, .size = sizeof(struct error), .end = free_error, .found = 1};
static struct class url_class = {.name = "NSURL", .owners = {"NSURL", "NSObject"}, .size = sizeof(struct url), .end = free_url, .found = 1};
static struct class number_class = {.name = "NSNumber", .owners = {"NSNumber", "NSObject"}, .size = sizeof(struct number), .found = 1};
static struct class data_class = {.name = "NSData", .owners = {"NSData", "NSObject"}, .size = sizeof(struct string), .end = free_bytes, .found = 1};
static struct class process_class = {.name = "NSProcessInfo", .owners = {"NSProcessInfo", "NSObject"}, .found = 1};
static struct class pool_class = {.name = "NSAutoreleasePool", .owners = {"NSAutoreleasePool", "NSObject"}, .size = sizeof(struct pool), .end = drain_pool, .found = 1};

// ---- NSError

static void free_error(id o) {
	release(BODY(error, o)->domain);
	release(BODY(error, o)->description);
}

static id error_of(const char *domain, i64 code, struct text description) {
	id e = make(&error_class);
	BODY(error, e)->domain = string_of(domain, strlen(domain));
	BODY(error, e)->description = string_of(description.p, description.n);
	BODY(error, e)->code = code;
	return e;
}

static void set_error(id *at, const char *domain, i64 code, struct text description) {
	if (at) *at = autorelease(error_of(domain, code, description));
}

// no_error leaves what a method that succeeds may leave in the error's place:
// anything at all.
static void no_error(id *at) {
	if (STRICT && at) *at = (id)0xbadc0ffee0ddf00dul;
}

static id again(id o) { return autorelease(retain(o)); }

id i_NSError_localizedDescription(id self, SEL cmd) {
	(void)cmd;
	return again(BODY(error, self)->description);
}

id i_NSError_localizedFailureReason(id self, SEL cmd) {
	(void)self, (void)cmd;
	return NULL;
}

i64 i_NSError_code(id self, SEL cmd) {
	(void)cmd;
	return BODY(error, self)->code;
}

id i_NSError_domain(id self, SEL cmd) {
	(void)cmd;
	return again(BODY(error, self)->domain);
}

id i_NSError_userInfo(id self, SEL cmd) {
	(void)cmd;
	id d = autorelease(make(&dictionary_class));
	id key = string_of("NSLocalizedDescription", 22);
	put(d, key, BODY(error, self)->description);
	release(key);
	return d;
}

// ---- NSURL, of files

static void free_url(id o) { release(BODY(url, o)->path); }

id c_NSURL_fileURLWithPath_(id self, SEL cmd, id path) {
	(void)self, (void)cmd;
	struct text t = text_of(path, "the path");
	if (!t.n) die("the path is empty");
	id u = make(&url_class);
	BODY(url, u)->path = string_of(t.p, t.n);
	return autorelease(u);
}

id c_NSURL_fileURLWithPath_isDirectory_(id self, SEL cmd, id path, BOOL directory) {
	if (directory > 1) die("isDirectory is %u: a BOOL is 0 or 1", directory);
	return c_NSURL_fileURLWithPath_(self, cmd, path);
}

id i_NSURL_path(id self, SEL cmd) {
	(void)cmd;
	return again(BODY(url, self)->path);
}

static struct text path_of(id url, const char *what) { return text_of(BODY(url, want(url, "NSURL", what))->path, what); }

// ---- NSNumber

static id number_of(double value, i64 whole) {
	id n = make(&number_class);
	BODY(number, n)->value = value;
	BODY(number, n)->whole = whole;
	return autorelease(n);
}

id c_NSNumber_numberWithInt_(id self, SEL cmd, i32 v) {
	(void)self, (void)cmd;
	return number_of(v, v);
}

id c_NSNumber_numberWithInteger_(id self, SEL cmd, i64 v) {
	(void)self, (void)cmd;
	return number_of((double)v, v);
}

id c_NSNumber_numberWithUnsignedInteger_(id self, SEL cmd, u64 v) {
	(void)self, (void)cmd;
	return number_of((double)v, (i64)v);
}

id c_NSNumber_numberWithBool_(id self, SEL cmd, BOOL v) {
	(void)self, (void)cmd;
	if (v > 1) die("the value is %u: a BOOL is 0 or 1", v);
	return number_of(v, v);
}

id c_NSNumber_numberWithDouble_(id self, SEL cmd, double v) {
	(void)self, (void)cmd;
	return number_of(v, (i64)v);
}

// ---- NSData

id c_NSData_dataWithBytes_length_(id self, SEL cmd, void *bytes, u64 count) {
	(void)self, (void)cmd;
	if (!bytes && count) die("no bytes, but %lu of them", count);
	id d = make(&data_class);
	set_bytes(d, bytes, count);
	return autorelease(d);
}

id i_NSData_initWithBytes_length_(id self, SEL cmd, void *bytes, u64 count) {
	(void)cmd;
	if (!bytes && count) die("no bytes, but %lu of them", count);
	ready(self);
	set_bytes(self, bytes, count);
	return self;
}

u64 i_NSData_length(id self, SEL cmd) {
	(void)cmd;
	return BODY(string, self)->count;
}

// ---- NSProcessInfo, one object that is the system's

id c_NSProcessInfo_processInfo(id self, SEL cmd) {
	(void)self, (void)cmd;
	static id only;
	if (!only) {
		id o = make(&process_class);
		o->immortal = 1;
		only = o;
	}
	return only;
}

i64 i_NSProcessInfo_thermalState(id self, SEL cmd) {
	(void)self, (void)cmd;
	return facts.thermal;
}

truth i_NSProcessInfo_isLowPowerModeEnabled(id self, SEL cmd) {
	(void)self, (void)cmd;
	return answer(facts.low_power_mode != 0);
}

u64 i_NSProcessInfo_physicalMemory(id self, SEL cmd) {
	(void)self, (void)cmd;
	return facts.physical_memory;
}

NSOperatingSystemVersion i_NSProcessInfo_operatingSystemVersion(id self, SEL cmd) {
	(void)self, (void)cmd;
	return facts.version;
}

id i_NSProcessInfo_operatingSystemVersionString(id self, SEL cmd) {
	(void)self, (void)cmd;
	return autorelease(string_of(facts.version_text.p, facts.version_text.n));
}

// ---- NSAutoreleasePool

id c_NSAutoreleasePool_new(id self, SEL cmd) {
	(void)cmd;
	id p = make(class_at(self));
	BODY(pool, p)->token = objc_autoreleasePoolPush();
	return p;
}

id i_NSAutoreleasePool_init(id self, SEL cmd) {
	(void)cmd;
	ready(self);
	BODY(pool, self)->token = objc_autoreleasePoolPush();
	return self;
}

static void drain_pool(id o) {
	if (BODY(pool, o)->token) objc_autoreleasePoolPop(BODY(pool, o)->token);
}

void i_NSAutoreleasePool_drain(id self, SEL cmd) {
	(void)cmd;
	release(self);
}
