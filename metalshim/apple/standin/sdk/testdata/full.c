// A queue holds 64 command buffers: who asks for one more waits until the first has
// run.
#include "metal.h"

enum { COUNT = 300, HELD = 64 };

int main(void) {
	id device = MTLCreateSystemDefaultDevice(), queue = send(device, "newCommandQueue"), error = nil;
	id pipeline = new_pipeline(device, new_library(device, plus_one, &error), "plus_one"), buffer = new_buffer(device, 1 << 16);
	static id all[COUNT];
	for (int i = 0; i < COUNT; i++) {
		all[i] = objc_retain(encoded(queue, pipeline, buffer, 1 << 14));
		for (int k = 0; k <= i - HELD; k++) CHECK(ask(all[k], "status") == MTLCommandBufferStatusCompleted);
		send(all[i], "commit");
	}
	send(all[COUNT - 1], "waitUntilCompleted");
	CHECK(((float *)contents(buffer))[100] == COUNT);
	printf("ok\n");
	return 0;
}
