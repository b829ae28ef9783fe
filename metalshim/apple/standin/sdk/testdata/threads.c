// Metal from many threads at once, with handlers that are blocks.
#include "metal.h"
#include <pthread.h>

static id device, queue;

static void *work(void *argument) {
	long number = (long)argument;
	void *pool = objc_autoreleasePoolPush();
	char source[400];
	snprintf(source, sizeof source, "%s// thread %ld\n", plus_one, number % 2);
	id error = nil, library = new_library(device, source, &error), pipeline = new_pipeline(device, library, "plus_one");
	CHECK(pipeline);
	id own = send(device, "newCommandQueue"), buffer = new_buffer(device, 64);
	float *numbers = contents(buffer);
	__block int handled = 0;
	for (int i = 0; i < 100; i++) {
		void *inner = objc_autoreleasePoolPush();
		id commands = encoded(i % 2 ? own : queue, pipeline, buffer, 4);
		SEND(void (*)(id, SEL, void (^)(id)), commands, SEL_("addCompletedHandler:"), ^(id c) {
			CHECK(ask(c, "status") == MTLCommandBufferStatusCompleted);
			handled += (int)numbers[3] > 0;
		});
		send(commands, "commit");
		send(commands, "waitUntilCompleted");
		objc_autoreleasePoolPop(inner);
	}
	CHECK(handled == 100 && numbers[3] == 100);
	objc_release(buffer);
	objc_release(own);
	objc_release(pipeline);
	objc_release(library);
	objc_autoreleasePoolPop(pool);
	return NULL;
}

int main(void) {
	device = MTLCreateSystemDefaultDevice();
	queue = send(device, "newCommandQueue");
	pthread_t threads[8];
	for (long i = 0; i < 8; i++) pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
	printf("ok\n");
	return 0;
}
