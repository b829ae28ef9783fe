// What Apple's libraries bear, this one does.
#include "metal.h"

int main(void) {
	// Nil answers every message with zero, in whatever registers or memory.
	CHECK(ask(nil, "length") == 0);
	CHECK(SEND(double (*)(id, SEL), nil, SEL_("GPUStartTime")) == 0);
	CHECK(send(nil, "noSuchMessage") == nil);
	MTLSize size = {1, 2, 3};
#if defined(__x86_64__)
	((void (*)(MTLSize *, id, SEL))objc_msgSend_stret)(&size, nil, SEL_("maxThreadsPerThreadgroup"));
	CHECK(size.width == 0 && size.height == 0 && size.depth == 0);
#endif
	size = ((MTLSize (*)(id, SEL))objc_msg_lookup(nil, SEL_("maxThreadsPerThreadgroup")))(nil, SEL_("maxThreadsPerThreadgroup"));
	CHECK(size.width == 0 && size.height == 0 && size.depth == 0);
	CHECK(((double (*)(id, SEL))objc_msg_lookup(nil, SEL_("GPUEndTime")))(nil, SEL_("GPUEndTime")) == 0);

	// Strings need no device, and no pool.
	CHECK(!strcmp(utf8(string("ångström")), "ångström"));
	CHECK(class_isMetaClass(object_getClass((id)objc_getClass("NSString"))));
	CHECK(send((id)objc_getClass("NSString"), "retain") == (id)objc_getClass("NSString"));

	id device = MTLCreateSystemDefaultDevice();
	CHECK(device);
#if defined(__x86_64__)
	((void (*)(MTLSize *, id, SEL))objc_msgSend_stret)(&size, device, SEL_("maxThreadsPerThreadgroup"));
#else
	size = SEND(MTLSize (*)(id, SEL), device, SEL_("maxThreadsPerThreadgroup"));
#endif
	CHECK(size.width == 1024);

	// An error's place is left alone where all goes well.
	id error = nil, library = new_library(device, plus_one, &error);
	CHECK(library && !error);
	CHECK(!strcmp(introgen_evidence(library), "hit") || !strcmp(introgen_evidence(library), "miss"));
	CHECK(!strcmp(introgen_evidence(device), ""));
	id pipeline = new_pipeline(device, library, "plus_one"), queue = send(device, "newCommandQueue");
	CHECK(*introgen_evidence(pipeline));
	CHECK(!new_library(device, "kernel void a( {}", &error) && error);
	CHECK(strstr(utf8(send(error, "localizedDescription")), "program_source:1"));
	CHECK(!SEND(id (*)(id, SEL, id), library, SEL_("newFunctionWithName:"), string("none")));

	// Pools may be nested deep, and popped from without.
	void *outer = objc_autoreleasePoolPush();
	for (int i = 0; i < 200; i++) {
		objc_autoreleasePoolPush();
		string("in a pool");
	}
	objc_autoreleasePoolPop(outer);

	// What a command buffer uses may be dropped before it has run, also where it is
	// told not to retain.
	id buffer = new_buffer(device, 4096);
	float *numbers = contents(buffer);
	objc_retain(buffer);
	id commands = send(queue, "commandBufferWithUnretainedReferences"), encoder = send(commands, "computeCommandEncoder");
	SEND(void (*)(id, SEL, id), encoder, SEL_("setComputePipelineState:"), pipeline);
	SEND(void (*)(id, SEL, id, NSUInteger, NSUInteger), encoder, SEL_("setBuffer:offset:atIndex:"), buffer, 0, 0);
	SEND(void (*)(id, SEL, MTLSize, MTLSize), encoder, SEL_("dispatchThreads:threadsPerThreadgroup:"), MTLSizeMake(4, 1, 1), MTLSizeMake(4, 1, 1));
	send(encoder, "endEncoding");
	send(commands, "enqueue");
	send(commands, "commit");
	objc_release(buffer);
	objc_release(pipeline);
	objc_release(library);
	send(commands, "waitUntilScheduled");
	send(commands, "waitUntilCompleted");
	CHECK(ask(commands, "status") == MTLCommandBufferStatusCompleted && numbers[3] == 1);
	double start = SEND(double (*)(id, SEL), commands, SEL_("GPUStartTime")), end = SEND(double (*)(id, SEL), commands, SEL_("GPUEndTime"));
	CHECK(start > 0 && end >= start);
	CHECK(send(commands, "error") == nil);

	// Copies and fills need not be of whole words, and may be of nothing.
	unsigned char *bytes = contents(buffer);
	for (int i = 0; i < 16; i++) bytes[i] = (unsigned char)i;
	id copies = send(queue, "commandBuffer"), blit = send(copies, "blitCommandEncoder");
	void (*copy)(id, SEL, id, NSUInteger, id, NSUInteger, NSUInteger) = (void (*)(id, SEL, id, NSUInteger, id, NSUInteger, NSUInteger))objc_msgSend;
	SEL copy_selector = SEL_("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:");
	copy(blit, copy_selector, buffer, 1, buffer, 101, 7);
	copy(blit, copy_selector, buffer, 3, buffer, 201, 0);
	SEND(void (*)(id, SEL, id, NSRange, unsigned char), blit, SEL_("fillBuffer:range:value:"), buffer, (NSRange){301, 3}, 0xee);
	send(blit, "endEncoding");
	send(copies, "commit");
	send(copies, "waitUntilCompleted");
	CHECK(bytes[100] == 0 && bytes[101] == 1 && bytes[107] == 7 && bytes[108] == 0 && bytes[201] == 0);
	CHECK(bytes[300] == 0 && bytes[301] == 0xee && bytes[303] == 0xee && bytes[304] == 0);

	// A label is any text.
	SEND(void (*)(id, SEL, id), buffer, SEL_("setLabel:"), string("a\x01\x1b[31m\n\tb"));
	CHECK(!strcmp(utf8(send(buffer, "label")), "a\x01\x1b[31m\n\tb"));
	printf("ok\n");
	return 0;
}
