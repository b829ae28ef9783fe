// Libraries and pipelines that are compiled beside the program.
#include "metal.h"

int main(void) {
	id device = MTLCreateSystemDefaultDevice(), queue = send(device, "newCommandQueue"), buffer = new_buffer(device, 64);
	static id pipelines[3];
	__block id library = nil, error = nil;
	__block int told = 0;
	id plain = string(plus_one), broken = string("kernel void a( {}");
	SEND(void (*)(id, SEL, id, id, void (^)(id, id)), device, SEL_("newLibraryWithSource:options:completionHandler:"), broken, nil, ^(id l, id e) {
		CHECK(!l);
		error = objc_retain(e);
		__atomic_add_fetch(&told, 1, __ATOMIC_SEQ_CST);
	});
	SEND(void (*)(id, SEL, id, id, void (^)(id, id)), device, SEL_("newLibraryWithSource:options:completionHandler:"), plain, nil, ^(id l, id e) {
		CHECK(!e);
		library = objc_retain(l);
		__atomic_add_fetch(&told, 1, __ATOMIC_SEQ_CST);
	});
	while (__atomic_load_n(&told, __ATOMIC_SEQ_CST) < 2) usleep(1000);
	CHECK(library && strstr(utf8(send(error, "localizedDescription")), "program_source:1"));
	id function = SEND(id (*)(id, SEL, id), library, SEL_("newFunctionWithName:"), string("plus_one"));
	id descriptor = send(send((id)objc_getClass("MTLComputePipelineDescriptor"), "alloc"), "init");
	SEND(void (*)(id, SEL, id), descriptor, SEL_("setComputeFunction:"), function);
	SEND(void (*)(id, SEL, id, void (^)(id, id)), device, SEL_("newComputePipelineStateWithFunction:completionHandler:"), function, ^(id p, id e) {
		CHECK(!e);
		pipelines[0] = objc_retain(p);
		__atomic_add_fetch(&told, 1, __ATOMIC_SEQ_CST);
	});
	SEND(void (*)(id, SEL, id, NSUInteger, void (^)(id, id, id)), device, SEL_("newComputePipelineStateWithFunction:options:completionHandler:"), function, 0, ^(id p, id r, id e) {
		CHECK(!r && !e);
		pipelines[1] = objc_retain(p);
		__atomic_add_fetch(&told, 1, __ATOMIC_SEQ_CST);
	});
	SEND(void (*)(id, SEL, id, NSUInteger, void (^)(id, id, id)), device, SEL_("newComputePipelineStateWithDescriptor:options:completionHandler:"), descriptor, 0, ^(id p, id r, id e) {
		CHECK(!r && !e);
		pipelines[2] = objc_retain(p);
		__atomic_add_fetch(&told, 1, __ATOMIC_SEQ_CST);
	});
	while (__atomic_load_n(&told, __ATOMIC_SEQ_CST) < 5) usleep(1000);
	for (int i = 0; i < 3; i++) CHECK(run(queue, pipelines[i], buffer, 4) == MTLCommandBufferStatusCompleted);
	CHECK(((float *)contents(buffer))[3] == 3);
	printf("ok\n");
	return 0;
}
