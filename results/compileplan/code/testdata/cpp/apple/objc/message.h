// Only long double comes back by objc_msgSend_fpret on 64 bits, which no method here
// returns.
#include_next <objc/message.h>
#define objc_msgSend_fpret objc_msgSend
