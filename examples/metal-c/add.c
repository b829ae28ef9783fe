// Adds two vectors on the GPU. Written from Apple's documentation of Metal, for C:
// each message is objc_msgSend, cast to its method's type.
//
// On a Mac:  cc add.c -framework Metal -framework Foundation -lobjc
// On Linux:  introgen sdk SDK, then cc -ISDK/include add.c -LSDK/lib -lMetal -Wl,-rpath,SDK/lib
#include <stdio.h>
#include <stdlib.h>

#if defined(__APPLE__)
#include <objc/message.h>
#include <objc/runtime.h>
typedef unsigned long NSUInteger;
typedef struct { NSUInteger width, height, depth; } MTLSize;
id MTLCreateSystemDefaultDevice(void);
#else
#include <Metal/Metal.h>
#endif

static id string(const char *text) {
	return ((id (*)(id, SEL, const char *))objc_msgSend)((id)objc_getClass("NSString"), sel_registerName("stringWithUTF8String:"), text);
}

static id send(id to, const char *message) { return ((id (*)(id, SEL))objc_msgSend)(to, sel_registerName(message)); }

static id made(id object, id error, const char *what) {
	if (object) return object;
	const char *why = "";
	if (error) why = ((const char *(*)(id, SEL))objc_msgSend)(send(error, "localizedDescription"), sel_registerName("UTF8String"));
	fprintf(stderr, "no %s: %s\n", what, why);
	exit(1);
}

static const char source[] =
	"#include <metal_stdlib>\n"
	"using namespace metal;\n"
	"kernel void add(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],\n"
	"                device float *sum [[buffer(2)]], uint i [[thread_position_in_grid]]) { sum[i] = a[i] + b[i]; }\n";

int main(void) {
	enum { COUNT = 1000 };
	id error = NULL, device = made(MTLCreateSystemDefaultDevice(), NULL, "Metal device");
	id library = made(((id (*)(id, SEL, id, id, id *))objc_msgSend)(device, sel_registerName("newLibraryWithSource:options:error:"), string(source), NULL, &error), error, "library");
	id function = made(((id (*)(id, SEL, id))objc_msgSend)(library, sel_registerName("newFunctionWithName:"), string("add")), NULL, "function");
	id pipeline = made(((id (*)(id, SEL, id, id *))objc_msgSend)(device, sel_registerName("newComputePipelineStateWithFunction:error:"), function, &error), error, "pipeline");
	id queue = made(send(device, "newCommandQueue"), NULL, "queue"), commands = send(queue, "commandBuffer"), encoder = send(commands, "computeCommandEncoder");
	float *numbers[3];
	((void (*)(id, SEL, id))objc_msgSend)(encoder, sel_registerName("setComputePipelineState:"), pipeline);
	for (NSUInteger i = 0; i < 3; i++) {
		id buffer = made(((id (*)(id, SEL, NSUInteger, NSUInteger))objc_msgSend)(device, sel_registerName("newBufferWithLength:options:"), COUNT * sizeof(float), 0), NULL, "buffer");
		numbers[i] = ((float *(*)(id, SEL))objc_msgSend)(buffer, sel_registerName("contents"));
		for (int k = 0; k < COUNT; k++) numbers[i][k] = i == 0 ? k : i == 1 ? 2 * k : 0;
		((void (*)(id, SEL, id, NSUInteger, NSUInteger))objc_msgSend)(encoder, sel_registerName("setBuffer:offset:atIndex:"), buffer, 0, i);
	}
	((void (*)(id, SEL, MTLSize, MTLSize))objc_msgSend)(encoder, sel_registerName("dispatchThreads:threadsPerThreadgroup:"), (MTLSize){COUNT, 1, 1}, (MTLSize){64, 1, 1});
	send(encoder, "endEncoding");
	send(commands, "commit");
	send(commands, "waitUntilCompleted");
	printf("%g + %g = %g\n", numbers[0][COUNT - 1], numbers[1][COUNT - 1], numbers[2][COUNT - 1]);
	return 0;
}
