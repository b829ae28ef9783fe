// The device of a program: when it is started, and what a fork makes of it.

static const struct backend beside = {
	remote_library, remote_names, remote_pipeline, remote_buffer, remote_queue, remote_fence, remote_commands, remote_commit,
	remote_wait, remote_status, remote_times, remote_encoder, remote_encode, remote_release, remote_read, remote_store, remote_planted,
};

static char *own_path; // of this library

// server_path is the program that stands for the GPU: named by the environment,
// else ../bin/introgen beside this library.
static const char *server_path(char *room, usize n) {
	const char *named = getenv("INTROGEN_METAL_SERVER");
	if (named && *named) return named;
	usize length = own_path ? strlen(own_path) : 0;
	for (int up = 0; up < 2 && length; up++)
		do length--;
		while (length && own_path[length] != '/');
	snprintf(room, n, "%.*s/bin/introgen", (int)length, own_path ? own_path : "");
	return room;
}

// take_facts reads what the device says of itself; a text in their place says why
// there is none.
static int take_facts(struct content *c) {
	u64 version = take_word(c);
	if (version != WIRE_VERSION) {
		say("no device: the introgen beside this library speaks version %lu of their messages, the library version %d; write the SDK again: introgen sdk DIR", version, WIRE_VERSION);
		return 0;
	}
	struct text why = take_text(c);
	if (why.n) {
		say("no device: %.*s", (int)why.n, why.p);
		return 0;
	}
	facts.name = take_text(c);
	facts.architecture = take_text(c);
	copy_text(&facts.name);
	copy_text(&facts.architecture);
	facts.registry = take_word(c);
	facts.max_group = take_word(c);
	facts.max_memory = take_word(c);
	facts.max_length = facts.allocated_limit = take_word(c);
	facts.unified = take_word(c);
	facts.family = (i64)take_word(c);
	return facts.max_length != 0;
}

static int start(void) {
	char room[4200];
	const char *path = server_path(room, sizeof room);
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		say("no device: socketpair: %s", strerror(*__errno_location()));
		return 0;
	}
	// Away from the numbers that programs put their own files at.
	int here = fcntl(ends[0], F_DUPFD_CLOEXEC, 64);
	if (here >= 0) {
		close(ends[0]);
		ends[0] = here;
	}
	int failed = spawn_server(path, ends[1]);
	close(ends[1]);
	if (failed) {
		close(ends[0]);
		say("no device: %s cannot be run: %s; introgen sdk puts it there, or INTROGEN_METAL_SERVER names another introgen", path, strerror(failed));
		return 0;
	}
	wire.socket = ends[0];
	file_of(wire.socket, wire.file);
	inbox.from = inbox.to = 0;
	wire.begun = 1;
	struct awaited hello;
	expect(&hello, 0);
	thread(read_messages);
	thread(complete_objects);
	until_done(&hello.over);
	if (hello.lost) return 0; // it was said
	struct content c = {hello.bytes, hello.count};
	int there = take_facts(&c);
	free(hello.bytes);
	if (!there) {
		__atomic_store_n(&wire.lost, 1, __ATOMIC_SEQ_CST); // it was said
		shutdown(wire.socket, 2);
	}
	return there;
}

// connected starts the device, once.
static int connected(void) {
	take(&wire.starting);
	if (!wire.begun && start()) go = beside;
	int there = go.library && wire.begun && !is_lost();
	give(&wire.starting);
	return there;
}

// ---- fork

static void before_fork(void) {
	take(&wire.starting);
	take(&wire.waiting);
	take(&in_place_mutex);
	take(&flight.mutex);
	take(&wire.sending);
	take(&wire.ending);
	lock();
}

static void after_fork_in_parent(void) {
	unlock();
	give(&wire.ending);
	give(&wire.sending);
	give(&flight.mutex);
	give(&in_place_mutex);
	give(&wire.waiting);
	give(&wire.starting);
}

// after_fork_in_child leaves the device to the parent. The child's own is started
// when it asks for one.
static void after_fork_in_child(void) {
	if (wire.begun) close(wire.socket);
	wire.begun = 0;
	wire.lost = 0;
	wire.generation++;
	wire.list = NULL;
	wire.ended_count = 0; // of the parent's device
	flight.first = flight.completed = NULL;
	flight.last = &flight.first;
	flight.completed_last = &flight.completed;
	in_place = NULL;
	unlock();
	wire.sending = wire.ending = flight.mutex = in_place_mutex = wire.waiting = wire.starting = 0;
	forget_device();
}

__attribute__((constructor)) static void prepare(void) {
	struct symbol_info info;
	// Room of its own: the oldest realpath, which a reference without a version gets, makes none.
	if (dladdr((void *)prepare, &info)) own_path = realpath(info.file, malloc(4097));
	facts.physical_memory = (u64)sysconf(SC_PHYSICAL_PAGES) * (u64)getpagesize();
	facts.version = (NSOperatingSystemVersion){15, 1, 0};
	facts.version_text = text("Version 15.1 (Build 24B83)");
	if (pthread_atfork) pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	else if (__register_atfork) __register_atfork(before_fork, after_fork_in_parent, after_fork_in_child, NULL);
}
