// Objective-C's types for C: what the runtime of introgen sdk and Apple's share.
#ifndef OBJC_OBJC_H
#define OBJC_OBJC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define OBJC_EXPORT extern "C"
#else
#define OBJC_EXPORT extern
#endif

typedef struct objc_object *id;
typedef struct objc_class *Class;
typedef struct objc_selector *SEL;
typedef struct objc_method *Method;
typedef void (*IMP)(void);
typedef unsigned char BOOL;
typedef unsigned long NSUInteger;
typedef long NSInteger;

#define YES ((BOOL)1)
#define NO ((BOOL)0)
#define nil ((id)0)
#define Nil ((Class)0)

OBJC_EXPORT SEL sel_registerName(const char *name);
OBJC_EXPORT const char *sel_getName(SEL selector);

#endif
