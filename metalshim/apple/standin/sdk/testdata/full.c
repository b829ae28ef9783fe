// A queue holds 64 command buffers: who asks for one more waits until the first has
// run.
#include "metal.h"

enum { COUNT = 300, HELD = 64 };

// What a GPU takes long for: a loop whose next value needs the one before.
static const char slow[] =
	"#include <metal_stdlib>\nusing namespace metal;\n"
	"kernel void slow(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
	"	uint x = a[i];\n"
	"	for (uint k = 0; k < 300000000; k++) x = x * 1664525 + (x >> 7);\n"
	"	a[i] = x;\n"
	"}\n";

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

	// So many it holds: nobody waits who asks for the last of them.
	id other = send(device, "newCommandQueue"), long_one = new_pipeline(device, new_library(device, slow, &error), "slow"), first = nil, last = nil;
	CHECK(long_one);
	for (int i = 0; i < HELD; i++) {
		last = encoded(other, i ? pipeline : long_one, buffer, 1);
		if (!i) first = objc_retain(last);
		send(last, "commit");
	}
	CHECK(ask(first, "status") < MTLCommandBufferStatusCompleted);
	send(last, "waitUntilCompleted");
	CHECK(ask(first, "status") == MTLCommandBufferStatusCompleted);
	printf("ok\n");
	return 0;
}
