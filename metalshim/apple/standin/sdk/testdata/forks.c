// A child that uses Metal has a device of its own; one that uses its parent's
// objects is told so.
#include "metal.h"
#include <sys/wait.h>

static int status_of(pid_t child) {
	int status = 0;
	waitpid(child, &status, 0);
	return status;
}

static int works(void) {
	id device = MTLCreateSystemDefaultDevice(), error = nil;
	id library = new_library(device, plus_one, &error), pipeline = new_pipeline(device, library, "plus_one");
	id buffer = new_buffer(device, 64), queue = send(device, "newCommandQueue");
	for (int i = 0; i < 20; i++)
		if (run(queue, pipeline, buffer, 4) != MTLCommandBufferStatusCompleted) return 0;
	return ((float *)contents(buffer))[3] == 20;
}

int main(int count, char **arguments) {
	id device = MTLCreateSystemDefaultDevice(), error = nil, queue = send(device, "newCommandQueue");
	id library = new_library(device, plus_one, &error), pipeline = new_pipeline(device, library, "plus_one"), buffer = new_buffer(device, 64);
	CHECK(run(queue, pipeline, buffer, 4) == MTLCommandBufferStatusCompleted);
	fflush(stdout);
	pid_t child = fork();
	if (!child) {
		if (count > 1 && !strcmp(arguments[1], "inherit")) run(queue, pipeline, buffer, 4);
		objc_release(buffer); // what is inherited may be let go of
		objc_release(pipeline);
		_exit(works() ? 0 : 4);
	}
	CHECK(works());
	int status = status_of(child);
	if (count > 1) {
		CHECK(WIFSIGNALED(status));
	} else {
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	CHECK(run(queue, pipeline, buffer, 4) == MTLCommandBufferStatusCompleted && ((float *)contents(buffer))[3] == 2);
	// No child is left that the program does not know.
	CHECK(waitpid(-1, &status, WNOHANG) == -1);
	printf("ok\n");
	return 0;
}
