// The part of libdispatch that programs of Metal use.
#ifndef DISPATCH_DISPATCH_H
#define DISPATCH_DISPATCH_H

#include <objc/objc.h>

typedef id dispatch_object_t;
typedef id dispatch_queue_t;
typedef id dispatch_data_t;
typedef id dispatch_semaphore_t;
typedef id dispatch_group_t;
typedef void *dispatch_queue_attr_t;
typedef uint64_t dispatch_time_t;
typedef intptr_t dispatch_once_t;
typedef void (*dispatch_function_t)(void *);

#define DISPATCH_TIME_NOW ((dispatch_time_t)0)
#define DISPATCH_TIME_FOREVER (~(dispatch_time_t)0)
#define DISPATCH_QUEUE_SERIAL ((dispatch_queue_attr_t)0)

OBJC_EXPORT void dispatch_retain(dispatch_object_t object);
OBJC_EXPORT void dispatch_release(dispatch_object_t object);
OBJC_EXPORT size_t dispatch_data_get_size(dispatch_data_t data);
OBJC_EXPORT dispatch_data_t dispatch_data_create_map(dispatch_data_t data, const void **bytes, size_t *count);
OBJC_EXPORT dispatch_time_t dispatch_time(dispatch_time_t when, int64_t nanoseconds);
OBJC_EXPORT dispatch_semaphore_t dispatch_semaphore_create(intptr_t value);
OBJC_EXPORT intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore);
OBJC_EXPORT intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t until);
OBJC_EXPORT void dispatch_once_f(dispatch_once_t *once, void *context, dispatch_function_t call);
OBJC_EXPORT dispatch_queue_t dispatch_get_global_queue(intptr_t priority, uintptr_t flags);
OBJC_EXPORT dispatch_queue_t dispatch_queue_create(const char *label, dispatch_queue_attr_t attributes);
OBJC_EXPORT void dispatch_async_f(dispatch_queue_t queue, void *context, dispatch_function_t call);
OBJC_EXPORT void dispatch_sync_f(dispatch_queue_t queue, void *context, dispatch_function_t call);
OBJC_EXPORT void dispatch_apply_f(size_t count, dispatch_queue_t queue, void *context, void (*call)(void *, size_t));
OBJC_EXPORT dispatch_group_t dispatch_group_create(void);
OBJC_EXPORT void dispatch_group_enter(dispatch_group_t group);
OBJC_EXPORT void dispatch_group_leave(dispatch_group_t group);
OBJC_EXPORT intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t until);
OBJC_EXPORT void dispatch_group_async_f(dispatch_group_t group, dispatch_queue_t queue, void *context, dispatch_function_t call);

#if defined(__BLOCKS__)
typedef void (^dispatch_block_t)(void);

OBJC_EXPORT dispatch_data_t dispatch_data_create(const void *bytes, size_t count, dispatch_queue_t queue, dispatch_block_t destructor);
OBJC_EXPORT void dispatch_once(dispatch_once_t *once, dispatch_block_t block);
OBJC_EXPORT void dispatch_async(dispatch_queue_t queue, dispatch_block_t block);
OBJC_EXPORT void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block);
OBJC_EXPORT void dispatch_apply(size_t count, dispatch_queue_t queue, void (^block)(size_t));
OBJC_EXPORT void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);
#endif

#endif
