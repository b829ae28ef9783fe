// A source of 50 MB, and ten thousand pipelines.
#include "metal.h"

int main(void) {
	id device = MTLCreateSystemDefaultDevice(), error = nil;
	size_t bytes = 50 << 20;
	char *source = malloc(bytes + sizeof plus_one);
	strcpy(source, plus_one);
	memset(source + sizeof plus_one - 1, '\n', bytes);
	source[bytes + sizeof plus_one - 1] = 0;
	void *pool = objc_autoreleasePoolPush();
	id library = new_library(device, source, &error);
	objc_autoreleasePoolPop(pool);
	CHECK(library);
	free(source);
	id *pipelines = calloc(10000, sizeof *pipelines);
	for (int i = 0; i < 10000; i++) {
		pool = objc_autoreleasePoolPush();
		pipelines[i] = new_pipeline(device, library, "a");
		CHECK(pipelines[i]);
		objc_autoreleasePoolPop(pool);
	}
	for (int i = 0; i < 10000; i++) objc_release(pipelines[i]);
	printf("ok\n");
	return 0;
}
