// The functions of Objective-C's runtime.
#ifndef OBJC_RUNTIME_H
#define OBJC_RUNTIME_H

#include <objc/objc.h>

OBJC_EXPORT Class objc_getClass(const char *name);
OBJC_EXPORT Class objc_lookUpClass(const char *name);
OBJC_EXPORT Class object_getClass(id object);
OBJC_EXPORT const char *object_getClassName(id object);
OBJC_EXPORT const char *class_getName(Class of);
OBJC_EXPORT BOOL class_isMetaClass(Class of);
OBJC_EXPORT BOOL class_respondsToSelector(Class of, SEL selector);
OBJC_EXPORT Method class_getInstanceMethod(Class of, SEL selector);
OBJC_EXPORT Method class_getClassMethod(Class of, SEL selector);
OBJC_EXPORT IMP class_replaceMethod(Class of, SEL selector, IMP body, const char *types);
OBJC_EXPORT SEL method_getName(Method method);
OBJC_EXPORT const char *method_getTypeEncoding(Method method);
OBJC_EXPORT IMP method_getImplementation(Method method);
OBJC_EXPORT IMP method_setImplementation(Method method, IMP body);

OBJC_EXPORT id objc_retain(id object);
OBJC_EXPORT void objc_release(id object);
OBJC_EXPORT id objc_autorelease(id object);
OBJC_EXPORT id objc_retainAutoreleasedReturnValue(id object);
OBJC_EXPORT id objc_autoreleaseReturnValue(id object);
OBJC_EXPORT id objc_retainAutorelease(id object);
OBJC_EXPORT id objc_retainAutoreleaseReturnValue(id object);
OBJC_EXPORT void objc_storeStrong(id *place, id object);
OBJC_EXPORT void *objc_autoreleasePoolPush(void);
OBJC_EXPORT void objc_autoreleasePoolPop(void *pool);

#endif
