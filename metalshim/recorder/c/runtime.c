// The runtime of the program: its functions, the selectors that the recorder
// sends, and how it sends them.

static struct {
	id (*class_of)(id);                        // object_getClass
	id (*class_named)(const char *);           // objc_getClass
	void *(*method)(id, SEL);                  // class_getInstanceMethod
	void *(*body)(void *);                     // method_getImplementation
	void *(*replace)(void *, void *);          // method_setImplementation
	const char *(*encoding)(void *);           // method_getTypeEncoding
	SEL (*selector)(const char *);             // sel_registerName
	BOOL (*responds)(id, SEL);                 // class_respondsToSelector
	void *(*push)(void);                       // objc_autoreleasePoolPush
	void (*pop)(void *);                       // objc_autoreleasePoolPop
	void *send;                                // objc_msgSend
	id (*retain)(id);                          // objc_retain
	id (*give)(id);                            // objc_autoreleaseReturnValue, or objc_autorelease where there is none
	struct block *(*copy_block)(struct block *); // _Block_copy
	void (*drop_block)(struct block *);        // _Block_release
	void *global_block, *stack_block;          // isa of blocks
	const char *(*evidence)(id);               // introgen_evidence; null where there is none
} objc;

// Selectors that the recorder sends: S(name, text).
#define SELECTORS(S) \
	S(name, "name") S(registryID, "registryID") S(count, "count") S(objectAtIndex, "objectAtIndex:") S(UTF8String, "UTF8String") \
	S(length, "length") S(alloc, "alloc") S(init, "init") S(initWithBytes, "initWithBytes:length:encoding:") S(release, "release") S(copy, "copy") \
	S(localizedDescription, "localizedDescription") S(label, "label") S(functionNames, "functionNames") S(mathMode, "mathMode") \
	S(fastMathEnabled, "fastMathEnabled") S(languageVersion, "languageVersion") S(preprocessorMacros, "preprocessorMacros") \
	S(path, "path") S(absoluteString, "absoluteString") S(url, "url") S(computeFunction, "computeFunction") S(binaryArchives, "binaryArchives") \
	S(maxThreads, "maxTotalThreadsPerThreadgroup") S(width, "threadExecutionWidth") S(constantValues, "constantValues") \
	S(size, "size") S(addCompletedHandler, "addCompletedHandler:") S(dispatchType, "dispatchType") S(status, "status") S(error, "error") \
	S(GPUStartTime, "GPUStartTime") S(GPUEndTime, "GPUEndTime") S(kernelStartTime, "kernelStartTime") S(kernelEndTime, "kernelEndTime") \
	S(source, "source") S(setSource, "setSource:") S(options, "options") S(maxCommandBufferCount, "maxCommandBufferCount") \
	S(retainedReferences, "retainedReferences") S(computeFunctionDescriptor, "computeFunctionDescriptor") S(library, "library") S(respondsToSelector, "respondsToSelector:")

#define S(name, text) S_##name,
enum { SELECTORS(S) SELECTOR_COUNT };
#undef S
#define S(name, text) text,
static const char *const selector_texts[] = {SELECTORS(S)};
#undef S
static SEL selectors[SELECTOR_COUNT];

// load_runtime finds the runtime. It says whether all is there; the names of
// what is not are told once.
static int load_runtime(void) {
	const struct { const char *name; void *at; } wanted[] = {
		{"object_getClass", &objc.class_of}, {"objc_getClass", &objc.class_named}, {"class_getInstanceMethod", &objc.method},
		{"method_getImplementation", &objc.body}, {"method_setImplementation", &objc.replace}, {"method_getTypeEncoding", &objc.encoding},
		{"sel_registerName", &objc.selector}, {"class_respondsToSelector", &objc.responds}, {"objc_autoreleasePoolPush", &objc.push},
		{"objc_autoreleasePoolPop", &objc.pop}, {"objc_msgSend", &objc.send}, {"objc_retain", &objc.retain}, {"objc_autorelease", &objc.give}, {"_Block_copy", &objc.copy_block},
		{"_Block_release", &objc.drop_block}, {"_NSConcreteGlobalBlock", &objc.global_block}, {"_NSConcreteStackBlock", &objc.stack_block},
	};
	int all = 1;
	for (u32 i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		void *found = dlsym(RTLD_DEFAULT, wanted[i].name);
		memcpy(wanted[i].at, &found, sizeof found);
		if (found) continue;
		record_text(MISSED, 0, 0, 0, 0, 0, text(wanted[i].name));
		all = 0;
	}
	void *evidence = dlsym(RTLD_DEFAULT, "introgen_evidence"), *give = dlsym(RTLD_DEFAULT, "objc_autoreleaseReturnValue");
	memcpy(&objc.evidence, &evidence, sizeof evidence);
	if (give) memcpy(&objc.give, &give, sizeof give);
	for (u32 i = 0; all && i < SELECTOR_COUNT; i++) selectors[i] = objc.selector(selector_texts[i]);
	return all;
}

static id give(id o) { return objc.give(o); }

// ---- messages. An absent receiver or method gives 0.

static int responds(id o, int s) { return o && objc.responds(objc.class_of(o), selectors[s]); }

static id get(id o, int s) { return o ? ((id (*)(id, SEL))objc.send)(o, selectors[s]) : NULL; }
static id get_if(id o, int s) { return responds(o, s) ? get(o, s) : NULL; }
static u64 number(id o, int s) { return o ? ((u64 (*)(id, SEL))objc.send)(o, selectors[s]) : 0; }
static u64 number_if(id o, int s) { return responds(o, s) ? number(o, s) : 0; }
static BOOL flag_if(id o, int s) { return responds(o, s) && ((BOOL (*)(id, SEL))objc.send)(o, selectors[s]); }
static double real_number(id o, int s) { return responds(o, s) ? ((double (*)(id, SEL))objc.send)(o, selectors[s]) : 0; }
static id item(id array, u64 i) { return ((id (*)(id, SEL, u64))objc.send)(array, selectors[S_objectAtIndex], i); }

// string is the text of an NSString. An autorelease pool must be in place.
static struct text string(id s) {
	return s ? text(((const char *(*)(id, SEL))objc.send)(s, selectors[S_UTF8String])) : (struct text){NULL, 0};
}

// error_text is what an NSError says.
static struct text error_text(id error) { return error ? string(get(error, S_localizedDescription)) : (struct text){NULL, 0}; }

// error_of is the error that a call left, which it may only have if it failed.
static id error_of(id made, id *error) { return made || !error ? NULL : *error; }

// evidence is what the device's cache said of a library or a pipeline, as
// events have it.
static u64 evidence(id o) {
	const char *said = o && objc.evidence ? objc.evidence(o) : "";
	return !strcmp(said, "hit") ? 1 : !strcmp(said, "miss") ? 2 : !strcmp(said, "off") ? 3 : 0;
}
