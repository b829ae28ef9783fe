// Compile options, libraries, functions and their constants.

static void free_options(id);
static void free_library(id);
static void free_function(id);
static void free_constants(id);

struct options { i64 math, functions, optimization; u64 version; id macros; };
struct library { struct thing thing; u64 digest, evidence; id names; };
struct function { id library, name; struct constant *constants; u64 count; };
struct constants { struct constant *items; u64 count; };

static struct class options_class = {.name = "MTLCompileOptions", .owners = {"MTLCompileOptions", "NSObject"}, .size = sizeof(struct options), .end = free_options, .found = 1};
static struct class library_class = {.name = "StandinLibrary", .owners = {"MTLLibrary", "NSObject"}, .size = sizeof(struct library), .end = free_library};
static struct class function_class = {.name = "StandinFunction", .owners = {"MTLFunction", "NSObject"}, .size = sizeof(struct function), .end = free_function};
static struct class constants_class = {.name = "MTLFunctionConstantValues", .owners = {"MTLFunctionConstantValues", "NSObject"}, .size = sizeof(struct constants), .end = free_constants, .found = 1};

// ---- MTLCompileOptions

enum { MATH_SAFE, MATH_RELAXED, MATH_FAST };

// An old default: one who does not set the version does not get the newest.
enum { VERSION_2_4 = 2 << 16 | 4 };

static void default_options(id o) {
	BODY(options, o)->math = MATH_FAST;
	BODY(options, o)->version = VERSION_2_4;
}

static void free_options(id o) { release(BODY(options, o)->macros); }

id c_MTLCompileOptions_new(id self, SEL cmd) {
	(void)cmd;
	id o = make(class_at(self));
	default_options(o);
	return o;
}

id i_MTLCompileOptions_init(id self, SEL cmd) {
	(void)cmd;
	ready(self);
	default_options(self);
	return self;
}

void i_MTLCompileOptions_setFastMathEnabled_(id self, SEL cmd, BOOL on) {
	(void)cmd;
	check_flag("fastMathEnabled", on);
	BODY(options, self)->math = on ? MATH_FAST : MATH_SAFE;
}

truth i_MTLCompileOptions_fastMathEnabled(id self, SEL cmd) {
	(void)cmd;
	return answer(BODY(options, self)->math == MATH_FAST);
}

void i_MTLCompileOptions_setMathMode_(id self, SEL cmd, i64 mode) {
	(void)cmd;
	check_option("MTLMathMode", mode, MATH_FAST);
	BODY(options, self)->math = mode;
}

i64 i_MTLCompileOptions_mathMode(id self, SEL cmd) {
	(void)cmd;
	return BODY(options, self)->math;
}

void i_MTLCompileOptions_setMathFloatingPointFunctions_(id self, SEL cmd, i64 functions) {
	(void)cmd;
	check_option("MTLMathFloatingPointFunctions", functions, 1);
	BODY(options, self)->functions = functions;
}

void i_MTLCompileOptions_setLanguageVersion_(id self, SEL cmd, u64 version) {
	(void)cmd;
	u64 major = version >> 16, minor = version & 0xffff;
	if (major < 1 || major > 4 || minor > 4) die("MTLLanguageVersion %#lx", version);
	BODY(options, self)->version = version;
}

u64 i_MTLCompileOptions_languageVersion(id self, SEL cmd) {
	(void)cmd;
	return BODY(options, self)->version;
}

void i_MTLCompileOptions_setPreprocessorMacros_(id self, SEL cmd, id macros) {
	(void)cmd;
	if (macros) want(macros, "NSDictionary", "the dictionary of macros");
	retain(macros);
	release(BODY(options, self)->macros);
	BODY(options, self)->macros = macros;
}

id i_MTLCompileOptions_preprocessorMacros(id self, SEL cmd) {
	(void)cmd;
	return again(BODY(options, self)->macros);
}

void i_MTLCompileOptions_setOptimizationLevel_(id self, SEL cmd, i64 level) {
	(void)cmd;
	check_option("MTLLibraryOptimizationLevel", level, 1);
	BODY(options, self)->optimization = level;
}

// ---- MTLLibrary

static void free_library(id o) {
	release(BODY(library, o)->names);
	end_thing(o);
}

static u64 digest(u64 d, const void *bytes, u64 count) {
	for (u64 i = 0; i < count; i++) d = (d ^ ((const u8 *)bytes)[i]) * 1099511628211ul;
	return (d ^ 0xff) * 1099511628211ul;
}

// new_library compiles. options may be null, for Metal's defaults.
static id new_library(id device, struct text source, id options, id *error) {
	struct source s = {.text = source, .math = MATH_FAST};
	struct text macros[2 * 64];
	char numbers[64][32];
	if (options) {
		struct options *o = BODY(options, options);
		s.math = o->math;
		s.functions = o->functions;
		s.version = o->version;
		struct dictionary *d = o->macros ? BODY(dictionary, o->macros) : NULL;
		if (d && d->count > 64) die("%lu macros", d->count);
		for (u64 i = 0; d && i < d->count; i++) {
			id v = d->values[i];
			macros[2 * i] = text_of(d->keys[i], "a macro's name");
			if (has_owner(v->isa, "NSNumber")) {
				snprintf(numbers[i], sizeof numbers[i], "%ld", (long)BODY(number, v)->whole);
				macros[2 * i + 1] = text(numbers[i]);
			} else {
				macros[2 * i + 1] = text_of(v, "a macro's value");
			}
		}
		s.macros = macros;
		s.macro_count = d ? d->count : 0;
	}
	if (fail_at(AT_LIBRARY, text(""), error, "MTLLibraryErrorDomain", 3)) return NULL;
	u64 handle = go.library(&s);
	if (!handle) {
		fail(error, "MTLLibraryErrorDomain", 3);
		return NULL;
	}
	no_error(error);
	id l = make(&library_class);
	begin_thing(l, device, handle);
	BODY(library, l)->digest = digest(digest(s.version ^ (u64)s.math, source.p, source.n), &s.functions, sizeof s.functions);
	BODY(library, l)->evidence = go.names(handle);
	struct text names = reply();
	id list = BODY(library, l)->names = array_of(NULL, 0);
	for (u64 at = 0, i = 0; i < names.n; i++)
		if (names.p[i] == '\n') {
			id name = string_of(names.p + at, i - at);
			append(list, name, "a name");
			release(name);
			at = i + 1;
		}
	return l;
}

id i_MTLDevice_newLibraryWithSource_options_error_(id self, SEL cmd, id source, id options, id *error) {
	(void)cmd;
	struct text t = text_of(source, "the source");
	if (options) want(options, "MTLCompileOptions", "options");
	return new_library(self, t, options, error);
}

// library_of_file takes what passes for a metallib here: bytes that begin with
// MTLB, as Apple's do, and go on with MSL.
static id library_of_file(id device, struct text file, id *error) {
	if (file.n < 4 || memcmp(file.p, "MTLB", 4)) {
		set_error(error, "MTLLibraryErrorDomain", 1, text("Invalid library file"));
		return NULL;
	}
	id source = string_of(file.p + 4, file.n - 4); // a reply does not stay
	id l = new_library(device, text_of(source, "the file"), NULL, error);
	release(source);
	return l;
}

id i_MTLDevice_newLibraryWithURL_error_(id self, SEL cmd, id url, id *error) {
	(void)cmd;
	struct text path = path_of(url, "the URL");
	if (!go.read(&path)) {
		fail(error, "MTLLibraryErrorDomain", 6); // MTLLibraryErrorFileNotFound
		return NULL;
	}
	return library_of_file(self, reply(), error);
}

id i_MTLDevice_newLibraryWithData_error_(id self, SEL cmd, id data, id *error) {
	(void)cmd;
	struct string *s = BODY(string, want(data, "OS_dispatch_data", "the data"));
	return library_of_file(self, (struct text){s->bytes, s->count}, error);
}

id i_MTLLibrary_functionNames(id self, SEL cmd) {
	(void)cmd;
	return again(BODY(library, self)->names);
}

id i_MTLLibrary_label(id self, SEL cmd) {
	(void)cmd;
	return label_of(self);
}

void i_MTLLibrary_setLabel_(id self, SEL cmd, id label) {
	(void)cmd;
	set_label(self, label);
}

id i_MTLLibrary_device(id self, SEL cmd) {
	(void)cmd;
	return owner_of(self);
}

// ---- MTLFunctionConstantValues

static void free_constants(id o) { free(BODY(constants, o)->items); }

static u64 constant_size(u64 type) {
	switch (type) { // MTLDataType
	case 3: case 29: case 33: return 4;          // float, int, uint
	case 16: case 37: case 41: case 121: return 2; // half, short, ushort, bfloat
	case 45: case 49: case 53: return 1;         // char, uchar, bool
	}
	die("MTLDataType %lu is no type of a function constant here", type);
}

static void set_constant(id self, const void *value, u64 type, u64 index) {
	if (!value) die("the value is null");
	if (index > 65535) die("index %lu: 0 to 65535 are allowed", index);
	struct constants *c = BODY(constants, self);
	struct constant new = {.index = index, .type = type};
	memcpy(&new.bits, value, constant_size(type));
	if (type == 53 && new.bits > 1) die("a bool constant of value %lu", new.bits);
	for (u64 i = 0; i < c->count; i++)
		if (c->items[i].index == index) {
			c->items[i] = new;
			return;
		}
	c->items = realloc(c->items, (c->count + 1) * sizeof *c->items);
	c->items[c->count++] = new;
}

void i_MTLFunctionConstantValues_setConstantValue_type_atIndex_(id self, SEL cmd, void *value, u64 type, u64 index) {
	(void)cmd;
	set_constant(self, value, type, index);
}

void i_MTLFunctionConstantValues_setConstantValues_type_withRange_(id self, SEL cmd, void *values, u64 type, NSRange range) {
	(void)cmd;
	if (range.length > 65536) die("%lu constants", range.length);
	for (u64 i = 0; i < range.length; i++)
		set_constant(self, (const char *)values + i * constant_size(type), type, range.location + i);
}

void i_MTLFunctionConstantValues_reset(id self, SEL cmd) {
	(void)cmd;
	BODY(constants, self)->count = 0;
}

// ---- MTLFunction

static void free_function(id o) {
	release(BODY(function, o)->library);
	release(BODY(function, o)->name);
	free(BODY(function, o)->constants);
}

// new_function gives nil and an error where the library has no such function.
static id new_function(id library, id name, id values, id *error) {
	struct text t = text_of(name, "the name");
	if (fail_at(AT_FUNCTION, t, error, "MTLLibraryErrorDomain", 5)) return NULL;
	struct array *names = BODY(array, BODY(library, library)->names);
	u64 i = 0;
	while (i < names->count && strcmp(BODY(string, names->items[i])->bytes, t.p)) i++;
	if (i == names->count) {
		char line[300];
		snprintf(line, sizeof line, "Function %.200s was not found in the library", t.p);
		set_error(error, "MTLLibraryErrorDomain", 5, text(line)); // MTLLibraryErrorFunctionNotFound
		return NULL;
	}
	no_error(error);
	id f = make(&function_class);
	struct function *b = BODY(function, f);
	b->library = retain(library);
	b->name = string_of(t.p, t.n);
	if (values && BODY(constants, values)->count) {
		b->count = BODY(constants, values)->count;
		b->constants = malloc(b->count * sizeof *b->constants);
		memcpy(b->constants, BODY(constants, values)->items, b->count * sizeof *b->constants);
	}
	return f;
}

id i_MTLLibrary_newFunctionWithName_(id self, SEL cmd, id name) {
	(void)cmd;
	return new_function(self, name, NULL, NULL);
}

id i_MTLLibrary_newFunctionWithName_constantValues_error_(id self, SEL cmd, id name, id values, id *error) {
	(void)cmd;
	want(values, "MTLFunctionConstantValues", "constantValues");
	return new_function(self, name, values, error);
}

id i_MTLFunction_name(id self, SEL cmd) {
	(void)cmd;
	return again(BODY(function, self)->name);
}

u64 i_MTLFunction_functionType(id self, SEL cmd) {
	(void)self, (void)cmd;
	return 3; // MTLFunctionTypeKernel
}
