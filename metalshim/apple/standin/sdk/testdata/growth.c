// A program that makes and drops for ever does not grow.
#include "metal.h"

static long resident(void) { // in KB
	FILE *f = fopen("/proc/self/statm", "r");
	long all, pages;
	CHECK(f && fscanf(f, "%ld %ld", &all, &pages) == 2);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(void) {
	id device = MTLCreateSystemDefaultDevice(), queue = send(device, "newCommandQueue"), error = nil;
	id pipeline = new_pipeline(device, new_library(device, plus_one, &error), "plus_one");
	long first = 0;
	for (int i = 0; i < 3000; i++) {
		void *pool = objc_autoreleasePoolPush();
		id buffer = new_buffer(device, 64);
		CHECK(run(queue, pipeline, buffer, 4) == MTLCommandBufferStatusCompleted);
		objc_release(buffer);
		for (int k = 0; k < 300; k++) string("some text that goes with the pool");
		objc_autoreleasePoolPop(pool);
		if (i == 500) first = resident();
	}
	if (resident() > first + 500) fail("it grows");
	printf("ok\n");
	return 0;
}
