// As Apple's headers have it: the SDK's leave the struct open.
#include_next <objc/objc.h>
#ifndef APPLE_OBJC_OBJECT
#define APPLE_OBJC_OBJECT
struct objc_object {
	Class isa;
};
#endif
