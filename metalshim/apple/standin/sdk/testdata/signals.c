// An interrupt of the whole group leaves the device until the program is done.
#include "metal.h"
#include <signal.h>

static volatile sig_atomic_t told;
static void tell(int signal) { told = signal; }

int main(void) {
	signal(SIGINT, tell);
	id device = MTLCreateSystemDefaultDevice(), queue = send(device, "newCommandQueue"), error = nil;
	id pipeline = new_pipeline(device, new_library(device, plus_one, &error), "plus_one"), buffer = new_buffer(device, 64);
	CHECK(run(queue, pipeline, buffer, 4) == MTLCommandBufferStatusCompleted);
	printf("ready\n");
	fflush(stdout);
	while (!told) usleep(1000);
	for (int i = 0; i < 20; i++) {
		CHECK(run(queue, pipeline, buffer, 4) == MTLCommandBufferStatusCompleted);
		usleep(5000);
	}
	printf("ok\n");
	fflush(stdout);
	for (;;) pause();
}
