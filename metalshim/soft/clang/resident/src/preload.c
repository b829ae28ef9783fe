// The preload is loaded into a compiler, or a linker, and makes it resident. Its
// first process, the root, stops where the program's own main would begin: all
// libraries are loaded, relocated and set up there. By a message it forks a
// child, which goes on as the program with the arguments of the message:
//
//   kOnce   to its end;
//   kServe  up to where it first reads its standard input, which is its source.
//           All that is the same for every source has been done there. It becomes
//           a server, which forks a child for every kOnce that it gets, and that
//           child goes on with a source of its own.
//
// A message is a header, for the root the arguments behind it, each ended by a
// zero, and descriptors: the first is a socket, which for kOnce takes the child's
// status when it has ended, and which a server takes its messages from; the
// others become the child's 0, 1, 2 and so on. Whoever wants a child gone shuts
// its socket down.
//
// Nobody outlives the process that sends the messages: when that is gone, so are
// its ends of the sockets, on which the root and the servers wait; and the system
// kills every process here whose parent has died.

struct header { u32 kind, unused; u64 output_limit; };
enum { kOnce = 1, kServe = 2 };

enum {
	kMessage = 64 << 10, // bytes of a message, at most
	kDescriptors = 16,   // and its descriptors
	kChildren = 256,     // at once; more messages wait
	kArguments = 512,
	kPatience = 1000,    // milliseconds for servers to end by themselves
};

struct child { int pid, socket, waited; };

static struct child children[kChildren];
static int count;
static int listening = -1; // the socket that messages come from
static int snapshot;       // this process serves at the first read of its source
static int (*program)(int, char **, char **);

static void nothing(int signal) { (void)signal; }

static void stop(struct child *c) {
	kill(-c->pid, kKill);
	kill(c->pid, kKill); // it may not have its group yet
}

// reap takes the status of children that have ended, and hands it on.
static void reap(void) {
	int status, pid;
	while ((pid = waitpid(-1, &status, kNoHang)) > 0) {
		for (int i = 0; i < count; i++) {
			if (children[i].pid != pid)
				continue;
			if (children[i].socket >= 0) {
				send(children[i].socket, &status, sizeof status, kNoSignal);
				close(children[i].socket);
			}
			children[i] = children[--count];
			break;
		}
	}
}

// end ends this process when nobody sends messages any more. What is under way is
// for nobody; servers have seen the same and end by themselves, which has the
// time that they took counted.
static void end(const struct sigset *open) {
	for (int i = 0; i < count; i++)
		if (children[i].socket >= 0)
			stop(&children[i]);
	for (int waits = 0; count > 0 && waits < kPatience / 10; waits++) {
		struct timespec pause = {0, 10 * 1000 * 1000};
		reap();
		if (count > 0)
			ppoll(0, 0, &pause, open);
	}
	for (int i = 0; i < count; i++)
		stop(&children[i]);
	while (waitpid(-1, 0, 0) > 0) {
	}
	_exit(0);
}

// place makes the n descriptors those from first on. They are out of the way of
// their places before the first is put there.
static int place(int *fds, int n, int first) {
	for (int i = 0; i < n; i++) {
		int moved = fcntl(fds[i], kDuplicate, first + n);
		close(fds[i]);
		if (moved < 0)
			return -1;
		fds[i] = moved;
	}
	for (int i = 0; i < n; i++) {
		if (dup2(fds[i], first + i) < 0)
			return -1;
		close(fds[i]);
	}
	return 0;
}

struct start { int count; char **arguments; };

// arguments copies those of a message.
static struct start arguments(const char *text, u64 size) {
	struct start s = {0, malloc((kArguments + 1) * sizeof(char *))};
	char *copy = malloc(size + 1);
	if (!s.arguments || !copy)
		_exit(1);
	memcpy(copy, text, size);
	copy[size] = 0;
	for (u64 i = 0, from = 0; i < size && s.count < kArguments; i++) {
		if (copy[i] == 0) {
			s.arguments[s.count++] = copy + from;
			from = i + 1;
		}
	}
	s.arguments[s.count] = 0;
	return s;
}

static char text[kMessage];

// serve waits for messages on the socket, and returns in a child.
static struct start serve(void) {
	struct sigset ended, before, open;
	struct action wake = {nothing, {{0}}, 0, 0}, action;
	sigemptyset(&ended);
	sigaddset(&ended, kRunEnded);
	sigprocmask(kBlock, &ended, &before);
	sigaction(kRunEnded, &wake, &action);
	open = before;
	sigdelset(&open, kRunEnded);
	int self = getpid();
	for (;;) {
		struct polled set[kChildren + 1];
		int polled = count;
		for (int i = 0; i < count; i++)
			set[i] = (struct polled){children[i].waited ? children[i].socket : -1, kReadable, 0};
		set[count] = (struct polled){count < kChildren ? listening : -1, kReadable, 0};
		// The signal is let in here alone.
		if (ppoll(set, polled + 1, 0, &open) < 0) {
			reap();
			continue;
		}
		for (int i = 0; i < polled; i++) {
			if (set[i].revents) {
				stop(&children[i]);
				children[i].waited = 0; // it will be reaped
			}
		}
		reap();
		if (!set[polled].revents)
			continue;

		union { char bytes[24 + kDescriptors * sizeof(int)]; struct control head; } control;
		struct span span = {text, sizeof text};
		struct message m = {0, 0, &span, 1, &control, sizeof control, 0};
		long got = recvmsg(listening, &m, kCloseOnExec);
		if (got <= 0)
			end(&open);
		int fds[kDescriptors], n = 0;
		if (m.control_size >= sizeof control.head && control.head.level == kSocket && control.head.type == kRights) {
			n = (control.head.size - sizeof control.head) / sizeof(int);
			memcpy(fds, control.bytes + sizeof control.head, n * sizeof(int));
		}
		struct header h = {0};
		if (got >= (long)sizeof h)
			memcpy(&h, text, sizeof h);
		int known = n >= 4 && !((u32)m.flags & kCutShort) && (h.kind == kOnce || (h.kind == kServe && !snapshot));
		int pid = known ? fork() : -1;
		if (pid == 0) {
			prctl(kDeathSignal, kKill);
			if (getppid() != self)
				_exit(1);
			setpgid(0, 0);
			close(listening);
			for (int i = 0; i < count; i++)
				if (children[i].socket >= 0)
					close(children[i].socket);
			count = 0;
			listening = -1;
			if (h.kind == kServe) {
				// Above what it puts in the places of its child's descriptors.
				if ((listening = fcntl(fds[0], kDuplicate, 3 + kDescriptors)) < 0)
					_exit(1);
				snapshot = 1;
			} else {
				struct limit l;
				if (getrlimit(kFileSize, &l) == 0 && l.soft > h.output_limit) {
					l.soft = h.output_limit;
					setrlimit(kFileSize, &l);
				}
			}
			close(fds[0]);
			if (place(fds + 1, n - 1, 0) < 0)
				_exit(1);
			sigaction(kRunEnded, &action, 0);
			sigprocmask(kSetMask, &before, 0);
			return arguments(text + sizeof h, got - sizeof h);
		}
		if (pid > 0) {
			setpgid(pid, pid);
			children[count++] = (struct child){pid, -1, 0};
			if (h.kind == kOnce) {
				children[count - 1].socket = fds[0];
				children[count - 1].waited = 1;
				fds[0] = -1;
			}
		}
		for (int i = 0; i < n; i++)
			if (fds[i] >= 0)
				close(fds[i]);
	}
}

__attribute__((visibility("default"))) long read(int fd, void *to, u64 size) {
	if (fd == 0 && snapshot) {
		serve();
		snapshot = 0;
	}
	return syscall(kSysRead, (long)fd, to, size);
}

// root takes the place of the program's main.
static int root(int n, char **words, char **variables) {
	(void)n, (void)words, (void)variables;
	unsetenv("LD_PRELOAD");
	unsetenv("LD_BIND_NOW");
	unsetenv("INTROGEN_RESIDENT");
	close(4); // this object's file
	if ((listening = fcntl(3, kDuplicate, 3 + kDescriptors)) < 0)
		_exit(1);
	close(3);
	send(listening, "", 1, kNoSignal); // it is ready
	struct start s = serve();
	return program(s.count, s.arguments, environ);
}

__attribute__((visibility("default"))) int __libc_start_main(int (*first)(int, char **, char **), int n, char **words,
	void (*init)(void), void (*fini)(void), void (*loader_fini)(void), void *stack) {
	int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
		dlsym((void *)-1, "__libc_start_main");
	if (getenv("INTROGEN_RESIDENT")) {
		program = first;
		first = root;
	}
	return next(first, n, words, init, fini, loader_fini, stack);
}
