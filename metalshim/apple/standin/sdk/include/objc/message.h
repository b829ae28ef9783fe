// Messages: cast objc_msgSend to the method's own type, as Apple's documentation
// says.
#ifndef OBJC_MESSAGE_H
#define OBJC_MESSAGE_H

#include <objc/objc.h>

OBJC_EXPORT void objc_msgSend(void);
#if defined(__x86_64__)
// For methods that return a struct of more than 16 bytes, such as MTLSize.
OBJC_EXPORT void objc_msgSend_stret(void);
#endif

// GNUstep's way: the method's body, which the caller calls.
OBJC_EXPORT IMP objc_msg_lookup(id receiver, SEL selector);

#endif
