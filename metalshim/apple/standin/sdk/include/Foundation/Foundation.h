// What C needs of Foundation: its classes are reached by objc_getClass, and their
// methods by messages.
#ifndef FOUNDATION_FOUNDATION_H
#define FOUNDATION_FOUNDATION_H

#include <objc/message.h>
#include <objc/runtime.h>

typedef struct { NSUInteger location, length; } NSRange;
typedef struct { NSInteger majorVersion, minorVersion, patchVersion; } NSOperatingSystemVersion;

#define NSUTF8StringEncoding ((NSUInteger)4)

#endif
