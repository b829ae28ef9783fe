// A program that begins phases by introgen_mark, as a program does that has
// found it by dlsym:
//   marks threads THREADS MARKS   each thread makes MARKS, "THREAD NUMBER"
//   marks paced THREADS MARKS     the same, at most 125 in a millisecond
//   marks fork                    a mark, and one each of a child without exec and of its parent
//   marks exec                    a mark, and then this program again: marks threads 1 1
//   marks endless                 marks from 4 threads until it is killed
//   marks lines                   one for each line on its input, which it answers with "seen"
//   marks texts                   "begun", and one of 200,000 bytes
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*mark)(const char *);
static long marks, pause_after = 1l << 60;

static void *run(void *thread) {
	char text[64];
	for (long i = 0; i < marks; i++) {
		snprintf(text, sizeof text, "%ld %ld", (long)thread, i);
		mark(text);
		if (i % pause_after == pause_after - 1) usleep(1000);
	}
	return NULL;
}

static void threads(long n) {
	pthread_t all[64];
	for (long i = 0; i < n; i++) pthread_create(&all[i], NULL, run, (void *)i);
	for (long i = 0; i < n; i++) pthread_join(all[i], NULL);
}

int main(int argc, char **argv) {
	mark = (void (*)(const char *))dlsym(RTLD_DEFAULT, "introgen_mark");
	if (!mark) return puts("no introgen_mark"), 3;
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "threads") || !strcmp(what, "paced")) {
		if (!strcmp(what, "paced")) pause_after = 125;
		marks = atol(argv[3]);
		threads(atol(argv[2]));
	} else if (!strcmp(what, "fork")) {
		mark("before");
		pid_t child = fork();
		mark(child ? "parent" : "child");
		if (!child) _exit(0);
		waitpid(child, NULL, 0);
		printf("%d\n", child);
	} else if (!strcmp(what, "exec")) {
		mark("before");
		execl(argv[0], argv[0], "threads", "1", "1", NULL);
	} else if (!strcmp(what, "endless")) {
		marks = 1l << 60;
		puts("running");
		fflush(stdout);
		threads(4);
	} else if (!strcmp(what, "lines")) {
		static char line[100000];
		while (fgets(line, sizeof line, stdin)) {
			mark(line);
			puts("seen");
			fflush(stdout);
		}
	} else if (!strcmp(what, "texts")) {
		mark("begun");
		char *long_text = malloc(200001);
		memset(long_text, 'x', 200000);
		long_text[200000] = 0;
		mark(long_text);
	}
	return 0;
}
