// What the test programs share: messages in one word each, and a kernel to run.
#include <Metal/Metal.h>
#include <introgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEL_(name) sel_registerName(name)
#define SEND(type, ...) ((type)objc_msgSend)(__VA_ARGS__)

static inline id send(id to, const char *message) { return SEND(id (*)(id, SEL), to, SEL_(message)); }
static inline NSUInteger ask(id to, const char *message) { return SEND(NSUInteger (*)(id, SEL), to, SEL_(message)); }
static inline id string(const char *text) {
	return SEND(id (*)(id, SEL, const char *), (id)objc_getClass("NSString"), SEL_("stringWithUTF8String:"), text);
}
static inline const char *utf8(id text) { return SEND(const char *(*)(id, SEL), text, SEL_("UTF8String")); }

static inline _Noreturn void fail(const char *what) {
	printf("FAIL %s\n", what);
	fflush(stdout);
	_exit(3);
}

#define CHECK(condition) \
	do \
		if (!(condition)) fail(#condition); \
	while (0)

static const char plus_one[] =
	"#include <metal_stdlib>\nusing namespace metal;\n"
	"kernel void plus_one(device float *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] += 1; }\n";

static inline id new_library(id device, const char *source, id *error) {
	return SEND(id (*)(id, SEL, id, id, id *), device, SEL_("newLibraryWithSource:options:error:"), string(source), nil, error);
}

static inline id new_pipeline(id device, id library, const char *name) {
	id error = nil, function = SEND(id (*)(id, SEL, id), library, SEL_("newFunctionWithName:"), string(name));
	id pipeline = SEND(id (*)(id, SEL, id, id *), device, SEL_("newComputePipelineStateWithFunction:error:"), function, &error);
	objc_release(function);
	return pipeline;
}

static inline id new_buffer(id device, NSUInteger bytes) {
	return SEND(id (*)(id, SEL, NSUInteger, NSUInteger), device, SEL_("newBufferWithLength:options:"), bytes, 0);
}

static inline void *contents(id buffer) { return SEND(void *(*)(id, SEL), buffer, SEL_("contents")); }

// encoded is a command buffer that runs the pipeline over a buffer of floats.
static inline id encoded(id queue, id pipeline, id buffer, NSUInteger count) {
	id commands = send(queue, "commandBuffer"), encoder = send(commands, "computeCommandEncoder");
	SEND(void (*)(id, SEL, id), encoder, SEL_("setComputePipelineState:"), pipeline);
	SEND(void (*)(id, SEL, id, NSUInteger, NSUInteger), encoder, SEL_("setBuffer:offset:atIndex:"), buffer, 0, 0);
	SEND(void (*)(id, SEL, MTLSize, MTLSize), encoder, SEL_("dispatchThreads:threadsPerThreadgroup:"), MTLSizeMake(count, 1, 1), MTLSizeMake(1, 1, 1));
	send(encoder, "endEncoding");
	return commands;
}

// run runs it, and returns its status.
static inline NSUInteger run(id queue, id pipeline, id buffer, NSUInteger count) {
	id commands = encoded(queue, pipeline, buffer, count);
	send(commands, "commit");
	send(commands, "waitUntilCompleted");
	return ask(commands, "status");
}
