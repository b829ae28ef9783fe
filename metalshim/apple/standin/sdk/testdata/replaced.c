// A method that is replaced is replaced for every message from then on, whichever
// way it is sent.
#include "metal.h"

static NSUInteger (*original)(id, SEL);
static int seen;

static NSUInteger length(id self, SEL selector) {
	seen++;
	return original(self, selector) + 1;
}

int main(void) {
	id device = MTLCreateSystemDefaultDevice(), buffer = new_buffer(device, 64);
	SEL selector = SEL_("length");
	CHECK(ask(buffer, "length") == 64 && ((NSUInteger (*)(id, SEL))objc_msg_lookup(buffer, selector))(buffer, selector) == 64);
	Method method = class_getInstanceMethod(object_getClass(buffer), selector);
	CHECK(method && method_getName(method) == selector);
	original = (NSUInteger (*)(id, SEL))method_setImplementation(method, (IMP)length);
	CHECK((NSUInteger (*)(id, SEL))method_getImplementation(method) == length);
	CHECK(ask(buffer, "length") == 65 && ((NSUInteger (*)(id, SEL))objc_msg_lookup(buffer, selector))(buffer, selector) == 65 && seen == 2);
	CHECK(ask(string("four"), "length") == 4); // of that class alone
	class_replaceMethod(object_getClass(buffer), selector, (IMP)original, method_getTypeEncoding(method));
	CHECK(ask(buffer, "length") == 64 && seen == 2);
	printf("ok\n");
	return 0;
}
