#include "textflag.h"

// func prefetchLines(p *byte, n int)
// n is the number of cache lines, not 0.
TEXT ·prefetchLines(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), DI
	MOVQ n+8(FP), CX

line:
	PREFETCHT1 (DI)
	ADDQ       $64, DI
	DECQ       CX
	JNZ        line
	RET
