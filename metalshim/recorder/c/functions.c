// Functions, and the constants that they are specialised with.

static void function_made(id library, id values, id name, id function) {
	u64 at = now();
	see(function, FUNCTION_ROLE);
	void *pool = objc.push();
	record_at(at, FUNCTION, (u64)function, (u64)library, (u64)values, 0, 0, string(name));
	objc.pop(pool);
}

static id h_newFunctionWithName_(t_newFunctionWithName_ original, id self, SEL cmd, id name) {
	OUTERMOST(original(self, cmd, name));
	id function = original(self, cmd, name);
	function_made(self, NULL, name, function);
	return function;
}

static id h_newFunctionWithName_constantValues_error_(t_newFunctionWithName_constantValues_error_ original, id self, SEL cmd, id name, id values, id *error) {
	OUTERMOST(original(self, cmd, name, values, error));
	id function = original(self, cmd, name, values, error);
	function_made(self, values, name, function);
	return function;
}

static id h_newFunctionWithDescriptor_error_(t_newFunctionWithDescriptor_error_ original, id self, SEL cmd, id descriptor, id *error) {
	OUTERMOST(original(self, cmd, descriptor, error));
	id function = original(self, cmd, descriptor, error);
	void *pool = objc.push();
	function_made(self, get_if(descriptor, S_constantValues), get_if(descriptor, S_name), function);
	objc.pop(pool);
	return function;
}

// A block that is given a function, with what the function was asked for.
struct awaited {
	struct wrapped w;
	id library, values;
};

static void function_told(struct awaited *a, id function, id error) {
	void *pool = objc.push();
	function_made(a->library, a->values, get_if(function, S_name), function);
	objc.pop(pool);
	PROGRAM(((void (*)(struct block *, id, id))a->w.theirs->invoke)(a->w.theirs, function, error));
}

static const struct block_descriptor awaited_descriptor = {0, sizeof(struct awaited), copy_wrapped, dispose_wrapped, "v24@?0@8@16"};

static struct block *wrap_function(struct awaited *a, id library, id values, struct block *handler) {
	a->library = library;
	a->values = values;
	return wrap(&a->w, handler, function_told, &awaited_descriptor);
}

static void h_newFunctionWithName_constantValues_completionHandler_(t_newFunctionWithName_constantValues_completionHandler_ original, id self, SEL cmd, id name, id values, struct block *handler) {
	OUTERMOST(original(self, cmd, name, values, handler));
	struct awaited a;
	original(self, cmd, name, values, wrap_function(&a, self, values, handler));
}

static void h_newFunctionWithDescriptor_completionHandler_(t_newFunctionWithDescriptor_completionHandler_ original, id self, SEL cmd, id descriptor, struct block *handler) {
	OUTERMOST(original(self, cmd, descriptor, handler));
	struct awaited a;
	void *pool = objc.push();
	id values = get_if(descriptor, S_constantValues);
	objc.pop(pool);
	original(self, cmd, descriptor, wrap_function(&a, self, values, handler));
}

// ---- MTLFunctionConstantValues

// element is the size of a component of an MTLDataType, and how many it has; 0
// for what no constant can be.
static u64 element(u64 type, u64 *components) {
	static const struct { u64 first, size; } scalars[] = {
		{3, 4}, {16, 2}, {29, 4}, {33, 4}, {37, 2}, {41, 2}, {45, 1}, {49, 1}, {53, 1}, {81, 8}, {85, 8}, {121, 2},
	}; // float, half, int, uint, short, ushort, char, uchar, bool, long, ulong, bfloat, each up to 4
	for (u32 i = 0; i < sizeof scalars / sizeof *scalars; i++)
		if (type >= scalars[i].first && type < scalars[i].first + 4) {
			*components = type - scalars[i].first + 1;
			return scalars[i].size;
		}
	*components = 0;
	return 0;
}

// constant tells of one value: of a vector the first eight bytes.
static void constant(id values, const u8 *value, u64 type, u64 index, struct text name) {
	u64 components, size = element(type, &components) * components, bits = 0;
	if (value && size) memcpy(&bits, value, size < 8 ? size : 8);
	record_text(CONSTANT, (u64)values, type, index, bits, 0, name);
}

static void forget_constants(id values) { record(CONSTANT, (u64)values, 0, 0, 0, 0); }

static void h_setConstantValue_type_atIndex_(t_setConstantValue_type_atIndex_ original, id self, SEL cmd, void *value, u64 type, u64 index) {
	OUTERMOST(original(self, cmd, value, type, index));
	original(self, cmd, value, type, index);
	constant(self, value, type, index, text(NULL));
}

static void h_setConstantValues_type_withRange_(t_setConstantValues_type_withRange_ original, id self, SEL cmd, void *values, u64 type, NSRange range) {
	OUTERMOST(original(self, cmd, values, type, range));
	original(self, cmd, values, type, range);
	u64 components, size = element(type, &components), stride = size * (components == 3 ? 4 : components);
	for (u64 i = 0; values && i < range.length; i++) constant(self, (const u8 *)values + i * stride, type, range.location + i, text(NULL));
}

static void h_setConstantValue_type_withName_(t_setConstantValue_type_withName_ original, id self, SEL cmd, void *value, u64 type, id name) {
	OUTERMOST(original(self, cmd, value, type, name));
	original(self, cmd, value, type, name);
	void *pool = objc.push();
	constant(self, value, type, 0, string(name));
	objc.pop(pool);
}

static void h_reset(t_reset original, id self, SEL cmd) {
	OUTERMOST(original(self, cmd));
	original(self, cmd);
	forget_constants(self);
}

// A new one may lie where another was.
static id h_init(t_init original, id self, SEL cmd) {
	OUTERMOST(original(self, cmd));
	id values = original(self, cmd);
	forget_constants(values);
	return values;
}

static id h_new(t_new original, id self, SEL cmd) {
	OUTERMOST(original(self, cmd));
	id values = original(self, cmd);
	see(values, CONSTANTS_ROLE);
	forget_constants(values);
	return values;
}
