// What the SDK of introgen has beside Apple's interfaces.
#ifndef INTROGEN_H
#define INTROGEN_H

#include <objc/objc.h>

// What the cache of compiled kernels said of a library or a pipeline: "hit", "miss"
// or "off"; "" where it is not known, or another object is asked.
OBJC_EXPORT const char *introgen_evidence(id object);

#endif
