// Buffers of memory that the program has already.
#include "metal.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { BYTES = 1 << 16, COUNT = BYTES / sizeof(float) };

static id no_copy(id device, void *memory, NSUInteger bytes, void (^deallocator)(void *, NSUInteger)) {
	return SEND(id (*)(id, SEL, void *, NSUInteger, NSUInteger, void (^)(void *, NSUInteger)), device, SEL_("newBufferWithBytesNoCopy:length:options:deallocator:"), memory, bytes, 0, deallocator);
}

int main(int count, char **arguments) {
	CHECK(count == 2);
	id device = MTLCreateSystemDefaultDevice(), queue = send(device, "newCommandQueue"), error = nil;
	id pipeline = new_pipeline(device, new_library(device, plus_one, &error), "plus_one");

	// Of malloc: seen by both, then again the program's alone.
	float *own = aligned_alloc(BYTES, 4 * BYTES);
	for (int i = 0; i < 4 * COUNT; i++) own[i] = (float)i;
	__block int freed = 0;
	id buffer = no_copy(device, own + COUNT, 2 * BYTES, ^(void *memory, NSUInteger bytes) { freed += memory == own + COUNT && bytes == 2 * BYTES; });
	CHECK(contents(buffer) == own + COUNT && own[COUNT + 7] == COUNT + 7);
	own[COUNT + 7] = 100;
	CHECK(run(queue, pipeline, buffer, COUNT) == MTLCommandBufferStatusCompleted && own[COUNT + 7] == 101 && own[7] == 7);
	id part = no_copy(device, own + 2 * COUNT, BYTES, NULL); // the same pages twice
	CHECK(run(queue, pipeline, part, 4) == MTLCommandBufferStatusCompleted && own[2 * COUNT + 3] == 2 * COUNT + 4);
	objc_release(part);
	CHECK(run(queue, pipeline, buffer, COUNT) == MTLCommandBufferStatusCompleted && own[COUNT + 7] == 102);
	objc_release(buffer);
	for (int i = 0; i < 1000 && !freed; i++) usleep(1000); // the last command buffer lets go of it beside us
	CHECK(freed == 1 && own[COUNT + 7] == 102);
	pid_t child = fork();
	if (!child) {
		own[COUNT + 7] = 0;
		_exit(0);
	}
	waitpid(child, NULL, 0);
	CHECK(own[COUNT + 7] == 102);
	free(own);

	// A mapped file, that cannot be written and of which nothing is copied.
	int file = open(arguments[1], O_RDONLY);
	float *mapped = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, file, 0);
	CHECK(mapped != MAP_FAILED && mapped[5] == 5);
	close(file);
	id weights = no_copy(device, mapped, BYTES, NULL), copy = new_buffer(device, BYTES);
	id commands = send(queue, "commandBuffer"), blit = send(commands, "blitCommandEncoder");
	SEND(void (*)(id, SEL, id, NSUInteger, id, NSUInteger, NSUInteger), blit, SEL_("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:"), weights, 0, copy, 0, BYTES);
	SEND(void (*)(id, SEL, id, NSRange, unsigned char), blit, SEL_("fillBuffer:range:value:"), copy, (NSRange){0, 4}, 0xff);
	send(blit, "endEncoding");
	send(commands, "commit");
	send(commands, "waitUntilCompleted");
	CHECK(((float *)contents(copy))[5] == 5 && ((unsigned char *)contents(copy))[3] == 0xff);
	objc_release(weights);
	CHECK(mapped[5] == 5);

	// Too much is refused.
	CHECK(new_buffer(device, (NSUInteger)1 << 60) == nil);
	CHECK(new_buffer(device, 0) == nil);
	printf("ok\n");
	return 0;
}
