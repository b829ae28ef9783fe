// A program on Metal for the tests: what it does is its arguments, in their order.
//
//   steps N K     N command buffers of K dispatches, waited for, with a line each
//   pace MS       how long the steps that follow rest after their line
//   flood N       N dispatches in command buffers of 10000, as fast as they come
//   mark NAME     introgen_mark, where there is one
//   threads N     N threads, each with a queue, a library and 20 command buffers
//   fork N        N children without exec, each with 3 steps, waited for
//   leave         a child that goes on for 300 ms when this process has ended
//   sources N     N libraries that differ in a comment
//   large BYTES   a library whose source has so many
//   anew          this program again in this process, with the words that follow
//   exit CODE
#define _GNU_SOURCE
#include <Metal/Metal.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static id string(const char *text) {
	return ((id (*)(id, SEL, const char *))objc_msgSend)((id)objc_getClass("NSString"), sel_registerName("stringWithUTF8String:"), text);
}

static id send(id to, const char *message) { return ((id (*)(id, SEL))objc_msgSend)(to, sel_registerName(message)); }

static id made(id object, const char *what) {
	if (object) return object;
	fprintf(stderr, "no %s\n", what);
	exit(3);
}

static const char kernel[] = "#include <metal_stdlib>\nkernel void one(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 1; }\n";

struct metal { id device, queue, library, pipeline, buffer; };

static id compile(id device, const char *text) {
	id error = NULL;
	return made(((id (*)(id, SEL, id, id, id *))objc_msgSend)(device, sel_registerName("newLibraryWithSource:options:error:"), string(text), NULL, &error), "library");
}

static struct metal open_metal(void) {
	struct metal m;
	id error = NULL;
	m.device = made(MTLCreateSystemDefaultDevice(), "device");
	m.library = compile(m.device, kernel);
	id function = made(((id (*)(id, SEL, id))objc_msgSend)(m.library, sel_registerName("newFunctionWithName:"), string("one")), "function");
	m.pipeline = made(((id (*)(id, SEL, id, id *))objc_msgSend)(m.device, sel_registerName("newComputePipelineStateWithFunction:error:"), function, &error), "pipeline");
	m.queue = made(send(m.device, "newCommandQueue"), "queue");
	m.buffer = made(((id (*)(id, SEL, NSUInteger, NSUInteger))objc_msgSend)(m.device, sel_registerName("newBufferWithLength:options:"), 4096, 0), "buffer");
	return m;
}

static id encode(struct metal *m, id encoder, int dispatches) {
	SEL dispatch = sel_registerName("dispatchThreads:threadsPerThreadgroup:");
	((void (*)(id, SEL, id))objc_msgSend)(encoder, sel_registerName("setComputePipelineState:"), m->pipeline);
	((void (*)(id, SEL, id, NSUInteger, NSUInteger))objc_msgSend)(encoder, sel_registerName("setBuffer:offset:atIndex:"), m->buffer, 0, 0);
	for (int i = 0; i < dispatches; i++) ((void (*)(id, SEL, MTLSize, MTLSize))objc_msgSend)(encoder, dispatch, (MTLSize){1, 1, 1}, (MTLSize){1, 1, 1});
	send(encoder, "endEncoding");
	return encoder;
}

static int pace;

static void steps(struct metal *m, int n, int dispatches, int printed) {
	for (int i = 0; i < n; i++) {
		id pool = send(send((id)objc_getClass("NSAutoreleasePool"), "alloc"), "init");
		id commands = send(m->queue, "commandBuffer");
		encode(m, send(commands, "computeCommandEncoder"), dispatches);
		send(commands, "commit");
		send(commands, "waitUntilCompleted");
		send(pool, "drain");
		if (printed) printf("%d\n", i), fflush(stdout), usleep((unsigned)pace * 1000);
	}
}

static void flood(struct metal *m, int n) {
	const int most = 10000;
	for (; n > 0; n -= most) {
		id pool = send(send((id)objc_getClass("NSAutoreleasePool"), "alloc"), "init");
		encode(m, send(send(m->queue, "commandBuffer"), "computeCommandEncoder"), n < most ? n : most);
		send(pool, "drain"); // not committed: the CPU alone is what is looked at
	}
}

static void *thread(void *unused) {
	struct metal m = open_metal();
	steps(&m, 20, 5, 0);
	return unused;
}

int main(int count, char **words) {
	for (int i = 1; i < count; i++) {
		const char *word = words[i];
		int n = i + 1 < count ? atoi(words[i + 1]) : 0;
		static struct metal m;
		static int opened;
		int needs = !strcmp(word, "steps") || !strcmp(word, "flood") || !strcmp(word, "sources") || !strcmp(word, "large");
		if (needs && !opened) opened = 1, m = open_metal();
		if (!strcmp(word, "steps")) {
			steps(&m, n, atoi(words[i + 2]), 1);
			i += 2;
		} else if (!strcmp(word, "pace")) {
			pace = n;
			i++;
		} else if (!strcmp(word, "flood")) {
			flood(&m, n);
			i++;
		} else if (!strcmp(word, "mark")) {
			void (*mark)(const char *) = (void (*)(const char *))dlsym(RTLD_DEFAULT, "introgen_mark");
			if (mark) mark(words[i + 1]);
			i++;
		} else if (!strcmp(word, "threads")) {
			pthread_t all[64];
			for (int k = 0; k < n; k++) pthread_create(&all[k], NULL, thread, NULL);
			for (int k = 0; k < n; k++) pthread_join(all[k], NULL);
			i++;
		} else if (!strcmp(word, "fork")) {
			for (int k = 0; k < n; k++) {
				if (fork() == 0) {
					struct metal child = open_metal();
					steps(&child, 3, 2, 0);
					_exit(0);
				}
			}
			while (wait(NULL) > 0) {}
			i++;
		} else if (!strcmp(word, "leave")) {
			if (fork() == 0) {
				struct metal child = open_metal();
				for (int k = 0; k < 3; k++) usleep(100000), steps(&child, 1, 2, 0);
				_exit(0);
			}
		} else if (!strcmp(word, "sources")) {
			for (int k = 0; k < n; k++) {
				char text[sizeof kernel + 32];
				snprintf(text, sizeof text, "%s// %d\n", kernel, k);
				compile(m.device, text);
			}
			i++;
		} else if (!strcmp(word, "large")) {
			char *text = malloc((size_t)n + sizeof kernel);
			memset(text, ' ', (size_t)n);
			memcpy(text, kernel, sizeof kernel - 1);
			strcpy(text + n - 1, "\n");
			compile(m.device, text);
			i++;
		} else if (!strcmp(word, "anew")) {
			words[i] = words[0];
			execv(words[0], words + i);
			exit(4);
		} else if (!strcmp(word, "exit")) {
			exit(n);
		}
	}
	return 0;
}
