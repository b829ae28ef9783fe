// Blocks, which clang's -fblocks makes.
#ifndef BLOCK_H
#define BLOCK_H

#include <objc/objc.h>

OBJC_EXPORT void *_Block_copy(const void *block);
OBJC_EXPORT void _Block_release(const void *block);

#define Block_copy(block) ((__typeof(block))_Block_copy((const void *)(block)))
#define Block_release(block) _Block_release((const void *)(block))

#endif
