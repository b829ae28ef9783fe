// Buffers of memory that lies between other things of the program: what Apple's
// GPUs take although its start and its length are no multiples of a page.
#include "metal.h"

enum { COUNT = 1000 };

static id no_copy(id device, void *memory, NSUInteger bytes, void (^deallocator)(void *, NSUInteger)) {
	return SEND(id (*)(id, SEL, void *, NSUInteger, NSUInteger, void (^)(void *, NSUInteger)), device, SEL_("newBufferWithBytesNoCopy:length:options:deallocator:"), memory, bytes, 0, deallocator);
}

int main(void) {
	id device = MTLCreateSystemDefaultDevice(), queue = send(device, "newCommandQueue"), error = nil;
	id pipeline = new_pipeline(device, new_library(device, plus_one, &error), "plus_one");
	float *all = malloc((COUNT + 2) * sizeof *all), *own = all + 1;
	for (int i = 0; i < COUNT + 2; i++) all[i] = (float)i;
	__block int freed = 0;
	id buffer = no_copy(device, own, COUNT * sizeof *own, ^(void *memory, NSUInteger bytes) { freed += memory == own && bytes == COUNT * sizeof *own; });
	CHECK(contents(buffer) == own);

	// What the program writes is seen at the next commit, what the device writes
	// after the wait; neighbours stay as they are.
	own[7] = 100;
	CHECK(run(queue, pipeline, buffer, COUNT) == MTLCommandBufferStatusCompleted);
	CHECK(own[7] == 101 && own[0] == 2 && own[COUNT - 1] == COUNT + 1 && all[0] == 0 && all[COUNT + 1] == COUNT + 1);

	// Two in flight: the second goes on from what the first has left, and what the
	// program writes meanwhile elsewhere stays.
	id first = encoded(queue, pipeline, buffer, 500), second = encoded(queue, pipeline, buffer, 500);
	send(first, "commit");
	send(second, "commit");
	own[COUNT - 1] = -5;
	send(second, "waitUntilCompleted");
	CHECK(own[7] == 103 && own[499] == 503 && own[500] == 502 && own[COUNT - 1] == -5);

	// The completed handler sees it, too.
	__block float seen = 0;
	id third = encoded(queue, pipeline, buffer, COUNT);
	SEND(void (*)(id, SEL, void (^)(id)), third, SEL_("addCompletedHandler:"), ^(id commands) { (void)commands; seen = own[COUNT - 1]; });
	send(third, "commit");
	for (int i = 0; i < 5000 && seen == 0; i++) usleep(1000);
	CHECK(seen == -4);
	objc_release(buffer);
	for (int i = 0; i < 5000 && !freed; i++) usleep(1000); // the last command buffer lets go of it beside us
	CHECK(freed == 1);
	free(all);
	printf("ok\n");
	return 0;
}
