// What is not there ends the program in one line.
#include "metal.h"

int main(int count, char **arguments) {
	CHECK(count == 3);
	if (!strcmp(arguments[1], "class")) {
		send(send((id)objc_getClass("NSString"), "alloc"), arguments[2]);
	} else if (!strcmp(arguments[1], "released")) {
		id device = MTLCreateSystemDefaultDevice(), buffer = new_buffer(device, 16);
		objc_release(buffer);
		send(buffer, arguments[2]);
	} else {
		send(MTLCreateSystemDefaultDevice(), arguments[2]);
	}
	printf("FAIL it went on\n");
	return 0;
}
