// Compute pipelines, their descriptors, and binary archives.

static void free_descriptor(id);
static void free_archive(id);
static void free_archive_descriptor(id);

struct pipeline { struct thing thing; struct pipeline_facts facts; };
struct descriptor { id label, function, archives; u64 most; BOOL multiple; };
struct archive_descriptor { id url; };
struct archive { struct thing thing; u64 *digests, count; };

static struct class pipeline_class = {.name = "StandinComputePipelineState", .owners = {"MTLComputePipelineState", "MTLAllocation", "NSObject"}, .size = sizeof(struct pipeline), .end = end_thing};
static struct class descriptor_class = {.name = "MTLComputePipelineDescriptor", .owners = {"MTLComputePipelineDescriptor", "NSObject"}, .size = sizeof(struct descriptor), .end = free_descriptor, .found = 1};
static struct class archive_descriptor_class = {.name = "MTLBinaryArchiveDescriptor", .owners = {"MTLBinaryArchiveDescriptor", "NSObject"}, .size = sizeof(struct archive_descriptor), .end = free_archive_descriptor, .found = 1};
static struct class archive_class = {.name = "StandinBinaryArchive", .owners = {"MTLBinaryArchive", "NSObject"}, .size = sizeof(struct archive), .end = free_archive};

// ---- MTLComputePipelineState

static id new_pipeline(id device, id function, id label, id *error) {
	struct function *f = BODY(function, function);
	struct text name = text_of(f->name, "the function's name");
	if (fail_at(AT_PIPELINE, name, error, "MTLPipelineErrorDomain", 1)) return NULL;
	struct pipeline_facts told = {0};
	u64 handle = go.pipeline(BODY(thing, f->library)->handle, &name, f->constants, f->count, &told);
	if (!handle) {
		fail(error, "MTLPipelineErrorDomain", 1);
		return NULL;
	}
	no_error(error);
	id p = make(&pipeline_class);
	begin_thing(p, device, handle);
	BODY(pipeline, p)->facts = told;
	if (label) set_label(p, label);
	return p;
}

id i_MTLDevice_newComputePipelineStateWithFunction_error_(id self, SEL cmd, id function, id *error) {
	(void)cmd;
	want(function, "MTLFunction", "the function");
	return new_pipeline(self, function, NULL, error);
}

static void no_reflection(id *reflection) {
	if (!reflection) return;
	if (STRICT) die("reflection is asked for, which is not provided: pass null");
	*reflection = NULL;
}

id i_MTLDevice_newComputePipelineStateWithFunction_options_reflection_error_(id self, SEL cmd, id function, u64 options, id *reflection, id *error) {
	(void)cmd;
	want(function, "MTLFunction", "the function");
	if (options & ~7ul) die("MTLPipelineOption %#lx", options);
	no_reflection(reflection);
	return new_pipeline(self, function, NULL, error);
}

u64 i_MTLComputePipelineState_maxTotalThreadsPerThreadgroup(id self, SEL cmd) {
	(void)cmd;
	return BODY(pipeline, self)->facts.max_threads;
}

u64 i_MTLComputePipelineState_threadExecutionWidth(id self, SEL cmd) {
	(void)cmd;
	return BODY(pipeline, self)->facts.width;
}

u64 i_MTLComputePipelineState_staticThreadgroupMemoryLength(id self, SEL cmd) {
	(void)cmd;
	return BODY(pipeline, self)->facts.memory;
}

id i_MTLComputePipelineState_label(id self, SEL cmd) {
	(void)cmd;
	return label_of(self);
}

id i_MTLComputePipelineState_device(id self, SEL cmd) {
	(void)cmd;
	return owner_of(self);
}

// introgen_evidence is what the device's cache said of a library or a pipeline:
// "hit", "miss", "off", or "" where it is not known or another object is asked.
EXPORT const char *introgen_evidence(id o) {
	static const char *const words[] = {"", "hit", "miss", "off"};
	if (!o || class_at(o)) return "";
	live(o, "introgen_evidence");
	u64 e = o->isa == &library_class ? BODY(library, o)->evidence : o->isa == &pipeline_class ? BODY(pipeline, o)->facts.evidence : 0;
	return words[e < 4 ? e : 0];
}

// ---- MTLComputePipelineDescriptor

static void reset_descriptor(id o) {
	struct descriptor *d = BODY(descriptor, o);
	release(d->label);
	release(d->function);
	release(d->archives);
	memset(d, 0, sizeof *d);
}

static void free_descriptor(id o) { reset_descriptor(o); }

void i_MTLComputePipelineDescriptor_reset(id self, SEL cmd) {
	(void)cmd;
	reset_descriptor(self);
}

static void replace(id *at, id with) {
	retain(with);
	release(*at);
	*at = with;
}

id i_MTLComputePipelineDescriptor_label(id self, SEL cmd) {
	(void)cmd;
	return again(BODY(descriptor, self)->label);
}

void i_MTLComputePipelineDescriptor_setLabel_(id self, SEL cmd, id label) {
	(void)cmd;
	if (label) want(label, "NSString", "the label");
	replace(&BODY(descriptor, self)->label, label);
}

void i_MTLComputePipelineDescriptor_setComputeFunction_(id self, SEL cmd, id function) {
	(void)cmd;
	if (function) want(function, "MTLFunction", "the function");
	replace(&BODY(descriptor, self)->function, function);
}

id i_MTLComputePipelineDescriptor_computeFunction(id self, SEL cmd) {
	(void)cmd;
	return again(BODY(descriptor, self)->function);
}

id i_MTLComputePipelineDescriptor_binaryArchives(id self, SEL cmd) {
	(void)cmd;
	return again(BODY(descriptor, self)->archives);
}

void i_MTLComputePipelineDescriptor_setBinaryArchives_(id self, SEL cmd, id archives) {
	(void)cmd;
	struct array *a = archives ? BODY(array, want(archives, "NSArray", "the archives")) : NULL;
	for (u64 i = 0; a && i < a->count; i++) want(a->items[i], "MTLBinaryArchive", "an archive");
	replace(&BODY(descriptor, self)->archives, archives);
}

void i_MTLComputePipelineDescriptor_setThreadGroupSizeIsMultipleOfThreadExecutionWidth_(id self, SEL cmd, BOOL on) {
	(void)cmd;
	check_flag("threadGroupSizeIsMultipleOfThreadExecutionWidth", on);
	BODY(descriptor, self)->multiple = on;
}

void i_MTLComputePipelineDescriptor_setMaxTotalThreadsPerThreadgroup_(id self, SEL cmd, u64 most) {
	(void)cmd;
	if (most > facts.max_group) die("%lu threads, the device allows %lu", most, facts.max_group);
	BODY(descriptor, self)->most = most;
}

// digest_of is what an archive keeps of a pipeline: library, function,
// constants.
static u64 digest_of(id function) {
	struct function *f = BODY(function, function);
	struct text name = text_of(f->name, "the function's name");
	return digest(digest(BODY(library, f->library)->digest, name.p, name.n), f->constants, f->count * sizeof *f->constants);
}

static int archive_has(id archive, u64 d) {
	struct archive *a = BODY(archive, archive);
	for (u64 i = 0; i < a->count; i++)
		if (a->digests[i] == d) return 1;
	return 0;
}

static id function_of(id descriptor) {
	id f = BODY(descriptor, want(descriptor, "MTLComputePipelineDescriptor", "the descriptor"))->function;
	if (!f) die("the descriptor has no function");
	return f;
}

enum { FAIL_ON_MISS = 4 }; // MTLPipelineOptionFailOnBinaryArchiveMiss

id i_MTLDevice_newComputePipelineStateWithDescriptor_options_reflection_error_(id self, SEL cmd, id descriptor, u64 options, id *reflection, id *error) {
	(void)cmd;
	id function = function_of(descriptor);
	struct descriptor *d = BODY(descriptor, descriptor);
	if (options & ~7ul) die("MTLPipelineOption %#lx", options);
	no_reflection(reflection);
	int hit = 0;
	for (u64 i = 0; d->archives && i < BODY(array, d->archives)->count; i++)
		hit |= archive_has(BODY(array, d->archives)->items[i], digest_of(function));
	if (options & FAIL_ON_MISS && !hit) {
		set_error(error, "MTLBinaryArchiveDomain", 0, text("the pipeline is in none of the binary archives"));
		return NULL;
	}
	return new_pipeline(self, function, d->label, error);
}

// ---- MTLBinaryArchive: a file with a line for each pipeline

static const char archive_begin[] = "standin archive 1\n";

static void free_archive(id o) {
	free(BODY(archive, o)->digests);
	end_thing(o);
}

static void free_archive_descriptor(id o) { release(BODY(archive_descriptor, o)->url); }

void i_MTLBinaryArchiveDescriptor_setUrl_(id self, SEL cmd, id url) {
	(void)cmd;
	if (url) want(url, "NSURL", "the URL");
	replace(&BODY(archive_descriptor, self)->url, url);
}

id i_MTLBinaryArchiveDescriptor_url(id self, SEL cmd) {
	(void)cmd;
	return again(BODY(archive_descriptor, self)->url);
}

static void keep_digest(id archive, u64 d) {
	struct archive *a = BODY(archive, archive);
	if (archive_has(archive, d)) return;
	a->digests = realloc(a->digests, (a->count + 1) * sizeof *a->digests);
	a->digests[a->count++] = d;
}

// read_archive takes the digests of a file, 16 hexadecimal digits a line.
static int read_archive(id archive, struct text file) {
	u64 at = sizeof archive_begin - 1;
	if (file.n < at || memcmp(file.p, archive_begin, at) || (file.n - at) % 17) return 0;
	for (; at < file.n; at += 17) {
		u64 d = 0;
		for (u64 i = 0; i < 16; i++) {
			char c = file.p[at + i];
			if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) return 0;
			d = d << 4 | (u64)(c <= '9' ? c - '0' : c - 'a' + 10);
		}
		if (file.p[at + 16] != '\n') return 0;
		keep_digest(archive, d);
	}
	return 1;
}

id i_MTLDevice_newBinaryArchiveWithDescriptor_error_(id self, SEL cmd, id descriptor, id *error) {
	(void)cmd;
	want(descriptor, "MTLBinaryArchiveDescriptor", "the descriptor");
	id a = make(&archive_class);
	begin_thing(a, self, 0);
	if (fail_at(AT_ARCHIVE, text(""), error, "MTLBinaryArchiveDomain", 1)) {
		release(a);
		return NULL;
	}
	id url = BODY(archive_descriptor, descriptor)->url;
	if (url) {
		struct text path = path_of(url, "the URL");
		int there = (int)go.read(&path);
		if (!there || !read_archive(a, reply())) {
			release(a);
			set_error(error, "MTLBinaryArchiveDomain", 1, text(there ? "Invalid binary archive" : "the binary archive's file cannot be read"));
			return NULL;
		}
	}
	no_error(error);
	return a;
}

truth i_MTLBinaryArchive_addComputePipelineFunctionsWithDescriptor_error_(id self, SEL cmd, id descriptor, id *error) {
	(void)cmd;
	id function = function_of(descriptor);
	struct function *f = BODY(function, function);
	if (fail_at(AT_PIPELINE, text_of(f->name, "the function's name"), error, "MTLBinaryArchiveDomain", 3)) return answer(0);
	keep_digest(self, digest_of(function));
	no_error(error);
	return answer(1);
}

truth i_MTLBinaryArchive_serializeToURL_error_(id self, SEL cmd, id url, id *error) {
	(void)cmd;
	struct text path = path_of(url, "the URL");
	struct archive *a = BODY(archive, self);
	if (!a->count) {
		set_error(error, "MTLBinaryArchiveDomain", 4, text("an empty binary archive cannot be serialized"));
		return answer(0);
	}
	u64 n = sizeof archive_begin - 1;
	char *file = malloc(n + 17 * a->count + 1);
	memcpy(file, archive_begin, n);
	for (u64 i = 0; i < a->count; i++) n += (u64)snprintf(file + n, 18, "%016lx\n", (unsigned long)a->digests[i]);
	int done = (int)go.store(&path, &(struct text){file, n});
	free(file);
	if (done)
		no_error(error);
	else
		fail(error, "MTLBinaryArchiveDomain", 4);
	return answer(done);
}

id i_MTLBinaryArchive_label(id self, SEL cmd) {
	(void)cmd;
	return label_of(self);
}

void i_MTLBinaryArchive_setLabel_(id self, SEL cmd, id label) {
	(void)cmd;
	set_label(self, label);
}

id i_MTLBinaryArchive_device(id self, SEL cmd) {
	(void)cmd;
	return owner_of(self);
}
