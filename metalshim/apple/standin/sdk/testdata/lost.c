// The device goes away: by a program that closes every descriptor, or because its
// process is killed. What is in flight fails, and nothing hangs.
#include "metal.h"
#include <fcntl.h>
#include <signal.h>

static id device, queue, pipeline, buffer;

static int failed(void) {
	id commands = encoded(queue, pipeline, buffer, 4), error;
	send(commands, "commit");
	send(commands, "waitUntilCompleted");
	if (ask(commands, "status") != MTLCommandBufferStatusError) return 0;
	error = send(commands, "error");
	return ask(error, "code") == 11 && strstr(utf8(send(error, "localizedDescription")), "the device is gone") != NULL;
}

int main(int count, char **arguments) {
	CHECK(count == 3);
	if (!strcmp(arguments[1], "early"))
		for (int i = 0; i < 1024; i++)
			if (i != 1) close(i);
	device = MTLCreateSystemDefaultDevice();
	queue = send(device, "newCommandQueue");
	id error = nil, library = new_library(device, plus_one, &error);
	pipeline = new_pipeline(device, library, "plus_one");
	buffer = new_buffer(device, 64);
	CHECK(run(queue, pipeline, buffer, 4) == MTLCommandBufferStatusCompleted);
	if (!strcmp(arguments[1], "late")) {
		for (int i = 3; i < 1024; i++) close(i);
		// The numbers are taken by files of the program's own.
		for (int i = 0; i < 80; i++) CHECK(open("/dev/zero", O_RDWR) >= 0);
		CHECK(failed());
	}
	if (!strcmp(arguments[1], "killed")) {
		FILE *f = fopen(arguments[2], "r");
		int pid = 0;
		CHECK(f && fscanf(f, "%d", &pid) == 1);
		id waiting = send(encoded(queue, pipeline, buffer, 4), "retain");
		kill(pid, SIGKILL);
		send(waiting, "commit");
		send(waiting, "waitUntilCompleted");
		for (int i = 0; i < 50; i++) CHECK(failed());
		CHECK(!new_library(device, plus_one, &error) && strstr(utf8(send(error, "localizedDescription")), "the device is gone"));
		CHECK(new_pipeline(device, library, "plus_one") == nil);
		objc_release(new_buffer(device, 64));
		CHECK(MTLCreateSystemDefaultDevice() == nil);
	}
	objc_release(buffer);
	objc_release(pipeline);
	objc_release(queue);
	objc_release(device);
	printf("ok\n");
	return 0;
}
