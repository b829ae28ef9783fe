// metal-cpp looks protocols up and sends them nothing.
#include_next <objc/runtime.h>
#ifndef APPLE_OBJC_GET_PROTOCOL
#define APPLE_OBJC_GET_PROTOCOL
static inline void *objc_getProtocol(const char *name) {
	(void)name;
	return 0;
}
#endif
