// Where the recorder begins, and what it exports.

EXPORT void introgen_mark(const char *phase);

static u8 recording; // this process is recorded, by this recorder

// introgen_mark begins a phase. Programs find it by dlsym.
void introgen_mark(const char *phase) {
	if (recording && phase) record_text(MARK, 0, 0, 0, 0, 0, text(phase));
}

// The first of two recorders records: both export this name, and whoever asks
// for it gets the first one's.
__attribute__((constructor)) static void begin(void) {
	void *first = dlsym(RTLD_DEFAULT, "introgen_mark");
	recording = (!first || first == (void *)introgen_mark) && open_ring();
}
