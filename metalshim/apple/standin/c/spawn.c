// The start of the process that stands for the GPU: introgen, which is a child of
// nobody, so that a program that waits for its children does not find it, in a
// session of its own, so that a signal from the terminal leaves it to end with the
// program.

enum { SERVER_FILE = 3, STACK = 64 << 10 };

struct spawn {
	const char *path;
	char **arguments, **environment;
	int file;
	signals mask;
	char *stack;
	volatile int failed; // errno
};

// run_server is the life of the new process until it is introgen. It shares the
// program's memory, of which it changes only its own.
static int run_server(void *p) {
	struct spawn *s = p;
	setsid();
	if (s->file == SERVER_FILE) fcntl(SERVER_FILE, F_SETFD, 0);
	else dup2(s->file, SERVER_FILE);
	int null = open("/dev/null", O_RDWR);
	for (int i = 0; i < 3; i++)
		if (i < 2 || fcntl(2, F_GETFD) < 0) dup2(null, i);
	// What the program has open stays its own: who waits for the end of a pipe
	// would wait for this process too.
	if (syscall(SYS_close_range, SERVER_FILE + 1, ~0u, 0))
		for (int i = SERVER_FILE + 1; i < 1024; i++) close(i);
	pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
	execve(s->path, s->arguments, s->environment);
	s->failed = *__errno_location();
	_exit(127);
}

static int run_between(void *p) {
	struct spawn *s = p;
	if (clone(run_server, s->stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, s) < 0) s->failed = *__errno_location();
	_exit(0);
}

static int begins(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

// spawn_server starts path with one end of a socket as its descriptor 3. It returns
// 0, or the errno of what failed.
static int spawn_server(const char *path, int file) {
	char *arguments[] = {(char *)path, "metal-device", "--fd", "3", NULL};
	u64 n = 0;
	while (environ && environ[n]) n++;
	struct spawn s = {.path = path, .arguments = arguments, .file = file};
	s.environment = malloc((n + 1) * sizeof *s.environment);
	s.stack = malloc(2 * STACK);
	// What is loaded into the program, and what records it, is not for the server.
	u64 kept = 0;
	for (u64 i = 0; i < n; i++)
		if (!begins(environ[i], "LD_PRELOAD=") && !begins(environ[i], "INTROGEN_RECORD=") && !begins(environ[i], "INTROGEN_NONCE="))
			s.environment[kept++] = environ[i];
	s.environment[kept] = NULL;
	signals all;
	memset(&all, 0xff, sizeof all);
	pthread_sigmask(SIG_SETMASK, &all, &s.mask);
	// A child without a signal at its end, which a program that waits does not find.
	// Emulators of processors know only the other kind.
	int child = clone(run_between, s.stack + 2 * STACK, CLONE_VM | CLONE_VFORK, &s);
	if (child < 0) child = clone(run_between, s.stack + 2 * STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, &s);
	int failed = child < 0 ? *__errno_location() : 0;
	while (child > 0 && waitpid(child, NULL, WALL) < 0 && *__errno_location() == EINTR) {}
	pthread_sigmask(SIG_SETMASK, &s.mask, NULL);
	free(s.environment);
	free(s.stack);
	return failed ? failed : s.failed;
}
