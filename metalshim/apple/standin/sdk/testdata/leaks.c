// A thousand devices and what is made of them leave nothing.
#include "metal.h"

unsigned long standin_next_live(unsigned long number, char *line, unsigned long room);
unsigned long standin_open_pools(void);

int main(void) {
	for (int i = 0; i < 1000; i++) {
		void *pool = objc_autoreleasePoolPush();
		id device = MTLCreateSystemDefaultDevice(), queue = send(device, "newCommandQueue");
		id buffer = new_buffer(device, 16), all = MTLCopyAllDevices();
		CHECK(ask(all, "count") == 1);
		if (i % 100 == 0) {
			id error = nil, library = new_library(device, plus_one, &error), pipeline = new_pipeline(device, library, "plus_one");
			CHECK(run(queue, pipeline, buffer, 4) == MTLCommandBufferStatusCompleted);
			objc_release(pipeline);
			objc_release(library);
		}
		objc_release(all);
		id kept = nil;
		objc_storeStrong(&kept, buffer);
		objc_retainAutorelease(kept);
		CHECK(objc_retainAutoreleasedReturnValue(objc_retainAutoreleaseReturnValue(kept)) == kept);
		objc_autoreleaseReturnValue(kept); // what was taken over
		objc_storeStrong(&kept, nil);
		objc_release(buffer);
		objc_release(queue);
		objc_release(device);
		objc_autoreleasePoolPop(pool);
	}
	char line[256];
	for (int i = 0; i < 1000 && standin_next_live(1, line, sizeof line); i++) usleep(1000); // what has completed is let go of beside us
	if (standin_next_live(1, line, sizeof line)) fail(line);
	CHECK(standin_open_pools() == 0);
	printf("ok\n");
	return 0;
}
