// Foundation's strings, arrays and dictionaries.

static void free_bytes(id);
static void free_items(id);
static void free_pairs(id);

struct string { char *bytes; u64 count; };
struct array { id *items; u64 count, room; };
struct dictionary { id *keys, *values; u64 count, room; };

static struct class string_class = {.name = "NSString", .owners = {"NSString", "NSObject"}, .size = sizeof(struct string), .end = free_bytes, .found = 1};
// The bytes that UTF8String gives out. They are overwritten when the pool goes.
static struct class bytes_class = {.name = "StandinBytes", .owners = {"NSObject"}, .size = sizeof(struct string), .end = free_bytes};
static struct class array_class = {.name = "NSArray", .owners = {"NSArray", "NSObject"}, .size = sizeof(struct array), .end = free_items, .found = 1};
static struct class mutable_array_class = {.name = "NSMutableArray", .owners = {"NSMutableArray", "NSArray", "NSObject"}, .size = sizeof(struct array), .end = free_items, .found = 1};
static struct class dictionary_class = {.name = "NSDictionary", .owners = {"NSDictionary", "NSObject"}, .size = sizeof(struct dictionary), .end = free_pairs, .found = 1};
static struct class mutable_dictionary_class = {.name = "NSMutableDictionary", .owners = {"NSMutableDictionary", "NSDictionary", "NSObject"}, .size = sizeof(struct dictionary), .end = free_pairs, .found = 1};

// ---- NSString, always UTF-8 here

enum { UTF8 = 4 };

static void set_bytes(id o, const char *bytes, u64 count) {
	char *copy = malloc(count + 1);
	if (count) memcpy(copy, bytes, count);
	copy[count] = 0;
	BODY(string, o)->bytes = copy;
	BODY(string, o)->count = count;
}

static void free_bytes(id o) {
	struct string *s = BODY(string, o);
	if (s->bytes) memset(s->bytes, 0xdd, s->count);
	free(s->bytes);
}

static id string_of(const char *bytes, u64 count) {
	id s = make(&string_class);
	set_bytes(s, bytes, count);
	return s;
}

static struct text text_of(id o, const char *what) {
	struct string *s = BODY(string, want(o, "NSString", what));
	return (struct text){s->bytes ? s->bytes : "", s->count};
}

static int is_utf8(const u8 *p, u64 n) {
	for (u64 i = 0; i < n;) {
		u8 c = p[i];
		u64 more = c < 0x80 ? 0 : c < 0xc2 ? 9 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf5 ? 3 : 9;
		if (more == 9 || more > n - i - 1) return 0;
		for (u64 k = 1; k <= more; k++)
			if ((p[i + k] & 0xc0) != 0x80) return 0;
		if ((c == 0xe0 && p[i + 1] < 0xa0) || (c == 0xed && p[i + 1] > 0x9f) || (c == 0xf0 && p[i + 1] < 0x90) || (c == 0xf4 && p[i + 1] > 0x8f)) return 0;
		i += more + 1;
	}
	return 1;
}

// An initializer that cannot do its work releases the receiver and returns nil.
static id init_string(id self, const char *bytes, u64 count) {
	ready(self);
	if (!is_utf8((const u8 *)bytes, count)) {
		release(self);
		return NULL;
	}
	set_bytes(self, bytes, count);
	return self;
}

// The encoding is an int to programs for GNUstep: what stands above it in the
// register is anybody's.
static void check_encoding(u64 encoding) {
	if ((u32)encoding != UTF8) die("encoding %u, NSUTF8StringEncoding is 4", (u32)encoding);
}

id i_NSString_initWithBytes_length_encoding_(id self, SEL cmd, void *bytes, u64 count, u64 encoding) {
	(void)cmd;
	check_encoding(encoding);
	if (!bytes && count) die("no bytes, but %lu of them", count);
	return init_string(self, bytes, count);
}

id i_NSString_initWithUTF8String_(id self, SEL cmd, const char *bytes) {
	(void)cmd;
	if (!bytes) die("the text is null");
	return init_string(self, bytes, strlen(bytes));
}

id c_NSString_stringWithUTF8String_(id self, SEL cmd, const char *bytes) {
	(void)self, (void)cmd;
	if (!bytes) die("the text is null");
	return is_utf8((const u8 *)bytes, strlen(bytes)) ? autorelease(string_of(bytes, strlen(bytes))) : NULL;
}

id c_NSString_stringWithCString_encoding_(id self, SEL cmd, const char *bytes, u64 encoding) {
	check_encoding(encoding);
	return c_NSString_stringWithUTF8String_(self, cmd, bytes);
}

const char *i_NSString_UTF8String(id self, SEL cmd) {
	(void)cmd;
	struct text t = text_of(self, "the receiver");
	id o = make(&bytes_class);
	set_bytes(o, t.p, t.n);
	return BODY(string, autorelease(o))->bytes;
}

u64 i_NSString_lengthOfBytesUsingEncoding_(id self, SEL cmd, u64 encoding) {
	(void)cmd;
	check_encoding(encoding);
	return text_of(self, "the receiver").n;
}

// length counts UTF-16 units.
u64 i_NSString_length(id self, SEL cmd) {
	(void)cmd;
	struct text t = text_of(self, "the receiver");
	u64 n = 0;
	for (u64 i = 0; i < t.n; i++) n += ((u8)t.p[i] & 0xc0) != 0x80, n += (u8)t.p[i] >= 0xf0;
	return n;
}

// ---- NSArray

static void append(id array, id item, const char *what) {
	if (!item) die("%s is nil: an array holds objects only", what);
	struct array *a = BODY(array, array);
	if (a->count == a->room) {
		a->room = a->room ? 2 * a->room : 8;
		a->items = realloc(a->items, a->room * sizeof *a->items);
	}
	a->items[a->count++] = retain(item);
}

static void free_items(id o) {
	struct array *a = BODY(array, o);
	for (u64 i = 0; i < a->count; i++) release(a->items[i]);
	free(a->items);
}

static id array_of(const id *items, u64 count) {
	id a = make(&array_class);
	for (u64 i = 0; i < count; i++) append(a, items[i], "an item");
	return a;
}

id c_NSArray_array(id self, SEL cmd) {
	(void)cmd;
	return autorelease(make(class_at(self)));
}

id c_NSMutableArray_array(id self, SEL cmd) { return c_NSArray_array(self, cmd); }

id c_NSArray_arrayWithObjects_count_(id self, SEL cmd, id *items, u64 count) {
	(void)cmd;
	if (!items && count) die("no objects, but %lu of them", count);
	id a = make(class_at(self));
	for (u64 i = 0; i < count; i++) append(a, items[i], "an object");
	return autorelease(a);
}

id i_NSArray_initWithObjects_count_(id self, SEL cmd, id *items, u64 count) {
	(void)cmd;
	if (!items && count) die("no objects, but %lu of them", count);
	ready(self);
	for (u64 i = 0; i < count; i++) append(self, items[i], "an object");
	return self;
}

u64 i_NSArray_count(id self, SEL cmd) {
	(void)cmd;
	return BODY(array, self)->count;
}

id i_NSArray_objectAtIndex_(id self, SEL cmd, u64 index) {
	(void)cmd;
	struct array *a = BODY(array, self);
	if (index >= a->count) die("index %lu of an array of %lu: NSRangeException", index, a->count);
	return a->items[index];
}

void i_NSArray_getObjects_(id self, SEL cmd, id *objects) {
	(void)cmd;
	struct array *a = BODY(array, self);
	if (!objects && a->count) die("no place for the objects");
	if (a->count) memcpy(objects, a->items, a->count * sizeof *objects);
}

void i_NSMutableArray_addObject_(id self, SEL cmd, id item) {
	(void)cmd;
	append(self, item, "the object");
}

// ---- NSDictionary, with strings as keys

static void put(id dictionary, id key, id value) {
	struct text k = text_of(key, "the key");
	if (!value) die("the object for key %s is nil", k.p);
	live(value, "the object");
	struct dictionary *d = BODY(dictionary, dictionary);
	for (u64 i = 0; i < d->count; i++)
		if (!strcmp(BODY(string, d->keys[i])->bytes, k.p)) {
			retain(value);
			release(d->values[i]);
			d->values[i] = value;
			return;
		}
	if (d->count == d->room) {
		d->room = d->room ? 2 * d->room : 8;
		d->keys = realloc(d->keys, d->room * sizeof *d->keys);
		d->values = realloc(d->values, d->room * sizeof *d->values);
	}
	d->keys[d->count] = string_of(k.p, k.n); // keys are copied
	d->values[d->count++] = retain(value);
}

static void free_pairs(id o) {
	struct dictionary *d = BODY(dictionary, o);
	for (u64 i = 0; i < d->count; i++) {
		release(d->keys[i]);
		release(d->values[i]);
	}
	free(d->keys);
	free(d->values);
}

static void put_all(id d, id *values, id *keys, u64 count) {
	if ((!values || !keys) && count) die("no objects or keys, but %lu of them", count);
	for (u64 i = 0; i < count; i++) put(d, keys[i], values[i]);
}

id c_NSDictionary_dictionaryWithObjects_forKeys_count_(id self, SEL cmd, id *values, id *keys, u64 count) {
	(void)cmd;
	id d = make(class_at(self));
	put_all(d, values, keys, count);
	return autorelease(d);
}

id i_NSDictionary_initWithObjects_forKeys_count_(id self, SEL cmd, id *values, id *keys, u64 count) {
	(void)cmd;
	ready(self);
	put_all(self, values, keys, count);
	return self;
}

id c_NSMutableDictionary_dictionary(id self, SEL cmd) {
	(void)cmd;
	return autorelease(make(class_at(self)));
}

id c_NSMutableDictionary_dictionaryWithCapacity_(id self, SEL cmd, u64 capacity) {
	(void)cmd, (void)capacity;
	return autorelease(make(class_at(self)));
}

void i_NSMutableDictionary_setObject_forKey_(id self, SEL cmd, id value, id key) {
	(void)cmd;
	put(self, key, value);
}

u64 i_NSDictionary_count(id self, SEL cmd) {
	(void)cmd;
	return BODY(dictionary, self)->count;
}

id i_NSDictionary_objectForKey_(id self, SEL cmd, id key) {
	(void)cmd;
	struct dictionary *d = BODY(dictionary, self);
	struct text k = text_of(key, "the key");
	for (u64 i = 0; i < d->count; i++)
		if (!strcmp(BODY(string, d->keys[i])->bytes, k.p)) return d->values[i];
	return NULL;
}

id i_NSDictionary_allKeys(id self, SEL cmd) {
	(void)cmd;
	return autorelease(array_of(BODY(dictionary, self)->keys, BODY(dictionary, self)->count));
}
