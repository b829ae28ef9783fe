// Libraries, of all forms, and the functions in them.

enum { UTF8 = 4 }; // NSUTF8StringEncoding

// nonce ends every source as a comment, so that no cache has seen it; empty
// where there is none.
static char nonce[200];

static void take_nonce(void) {
	const char *word = getenv("INTROGEN_NONCE");
	u64 n = 0;
	while (word && n < sizeof nonce - 1 && (u8)word[n] >= ' ') n++; // one line
	if (word && n) memcpy(nonce, word, n);
}

static u64 call_count; // calls that have a beginning and an end, numbered

static u64 next_call(void) { return __atomic_add_fetch(&call_count, 1, __ATOMIC_RELAXED); }

// options_text says how a source is to be compiled: "math=fast version=2.4
// macros=3", or "default" without MTLCompileOptions.
static void options_text(id options, char *out, u64 room) {
	if (!options) {
		snprintf(out, room, "default");
		return;
	}
	static const char *const modes[] = {"safe", "relaxed", "fast"};
	const char *math = "unknown";
	if (responds(options, S_mathMode)) {
		u64 mode = number(options, S_mathMode);
		if (mode < sizeof modes / sizeof *modes) math = modes[mode];
	} else if (responds(options, S_fastMathEnabled)) {
		math = flag_if(options, S_fastMathEnabled) ? "fast" : "safe";
	}
	u64 version = number_if(options, S_languageVersion);
	snprintf(out, room, "math=%s version=%u.%u macros=%u", math, (unsigned)(version >> 16), (unsigned)(version & 0xffff),
	         (unsigned)number(get_if(options, S_preprocessorMacros), S_count));
}

// begin_source begins the compilation of a source; it returns the number of the
// call and, in ours, the source to be compiled, which is another than the
// program's where there is a nonce.
static u64 begin_source(id device, enum library_form form, id source, id options, u64 flags, id *ours) {
	u64 call = next_call();
	char line[64 + 1 + 100];
	void *pool = objc.push();
	struct text t = string(source);
	sha256_hex(t, line);
	line[64] = ' ';
	options_text(options, line + 65, sizeof line - 65);
	*ours = source;
	if (source && nonce[0]) {
		u64 n = strlen(nonce), room = t.n + n + 6; // with the last zero
		char *joined = malloc(room);
		if (joined) {
			memcpy(joined, t.p, t.n);
			snprintf(joined + t.n, (usize)(room - t.n), "\n// %s\n", nonce);
			id string_class = objc.class_named("NSString");
			*ours = ((id (*)(id, SEL, void *, u64, u64))objc.send)(get(string_class, S_alloc), selectors[S_initWithBytes], joined, room - 1, UTF8);
			free(joined);
		}
		if (!*ours) *ours = source;
		flags |= *ours != source ? 2 : 0;
	}
	record_text(LIBRARY_BEGIN, call, (u64)device, form, t.n, flags, text(line));
	objc.pop(pool);
	return call;
}

static void end_source(id source, id ours) {
	if (ours != source) get(ours, S_release);
}

// begin_other begins what is not compiled from a source; from says from where.
static u64 begin_other(id device, enum library_form form, u64 bytes, u64 flags, struct text from) {
	u64 call = next_call();
	record_text(LIBRARY_BEGIN, call, (u64)device, form, bytes, flags, from);
	return call;
}

static void end_library(u64 call, id library, id error) {
	u64 ended = now();
	see(library, LIBRARY_ROLE);
	void *pool = objc.push();
	struct text t = library ? string(get_if(library, S_label)) : error_text(error);
	record_at(ended, LIBRARY_END, call, (u64)library, number(get_if(library, S_functionNames), S_count), evidence(library), 0, t);
	objc.pop(pool);
}

static void library_made(u64 call, id library, id error) { end_library(call, library, error); }

static id h_newLibraryWithSource_options_error_(t_newLibraryWithSource_options_error_ original, id self, SEL cmd, id source, id options, id *error) {
	OUTERMOST(original(self, cmd, source, options, error));
	id ours;
	u64 call = begin_source(self, FROM_SOURCE, source, options, 0, &ours);
	id library = original(self, cmd, ours, options, error);
	end_library(call, library, error_of(library, error));
	end_source(source, ours);
	return library;
}

static void h_newLibraryWithSource_options_completionHandler_(t_newLibraryWithSource_options_completionHandler_ original, id self, SEL cmd, id source, id options, struct block *handler) {
	OUTERMOST(original(self, cmd, source, options, handler));
	struct wrapped w;
	struct block *b = wrap(&w, handler, made, &made_descriptor);
	id ours;
	w.call = begin_source(self, FROM_SOURCE, source, options, 1, &ours);
	w.done = library_made;
	original(self, cmd, ours, options, b);
	end_source(source, ours);
}

// url_text is the text of an NSURL. An autorelease pool must be in place.
static struct text url_text(id url) {
	id path = get_if(url, S_path);
	return string(path ? path : get_if(url, S_absoluteString));
}

static id h_newLibraryWithURL_error_(t_newLibraryWithURL_error_ original, id self, SEL cmd, id url, id *error) {
	OUTERMOST(original(self, cmd, url, error));
	void *pool = objc.push();
	u64 call = begin_other(self, FROM_URL, 0, 0, url_text(url));
	objc.pop(pool);
	id library = original(self, cmd, url, error);
	end_library(call, library, error_of(library, error));
	return library;
}

static id h_newLibraryWithFile_error_(t_newLibraryWithFile_error_ original, id self, SEL cmd, id path, id *error) {
	OUTERMOST(original(self, cmd, path, error));
	void *pool = objc.push();
	u64 call = begin_other(self, FROM_FILE, 0, 0, string(path));
	objc.pop(pool);
	id library = original(self, cmd, path, error);
	end_library(call, library, error_of(library, error));
	return library;
}

static u64 dispatch_data_bytes(id data) {
	u64 (*size)(id) = NULL;
	void *found = dlsym(RTLD_DEFAULT, "dispatch_data_get_size");
	memcpy(&size, &found, sizeof size);
	// An object that only this project's SDK makes has a length, as NSData.
	if (responds(data, S_length)) return number(data, S_length);
	return size && data ? size(data) : 0;
}

static id h_newLibraryWithData_error_(t_newLibraryWithData_error_ original, id self, SEL cmd, id data, id *error) {
	OUTERMOST(original(self, cmd, data, error));
	u64 call = begin_other(self, FROM_DATA, dispatch_data_bytes(data), 0, text(NULL));
	id library = original(self, cmd, data, error);
	end_library(call, library, error_of(library, error));
	return library;
}

static id h_newDefaultLibrary(t_newDefaultLibrary original, id self, SEL cmd) {
	OUTERMOST(original(self, cmd));
	u64 call = begin_other(self, FROM_DEFAULT, 0, 0, text(NULL));
	id library = original(self, cmd);
	end_library(call, library, NULL);
	return library;
}

static id h_newDefaultLibraryWithBundle_error_(t_newDefaultLibraryWithBundle_error_ original, id self, SEL cmd, id bundle, id *error) {
	OUTERMOST(original(self, cmd, bundle, error));
	u64 call = begin_other(self, FROM_DEFAULT, 0, 0, text(NULL));
	id library = original(self, cmd, bundle, error);
	end_library(call, library, error_of(library, error));
	return library;
}

static id h_newLibraryWithStitchedDescriptor_error_(t_newLibraryWithStitchedDescriptor_error_ original, id self, SEL cmd, id descriptor, id *error) {
	OUTERMOST(original(self, cmd, descriptor, error));
	u64 call = begin_other(self, FROM_STITCHED, 0, 0, text(NULL));
	id library = original(self, cmd, descriptor, error);
	end_library(call, library, error_of(library, error));
	return library;
}

static void h_newLibraryWithStitchedDescriptor_completionHandler_(t_newLibraryWithStitchedDescriptor_completionHandler_ original, id self, SEL cmd, id descriptor, struct block *handler) {
	OUTERMOST(original(self, cmd, descriptor, handler));
	struct wrapped w;
	struct block *b = wrap(&w, handler, made, &made_descriptor);
	w.call = begin_other(self, FROM_STITCHED, 0, 1, text(NULL));
	w.done = library_made;
	original(self, cmd, descriptor, b);
}
