#include "textflag.h"

// func spin(v *atomic.Uint32, old uint32, n int)
TEXT ·spin(SB), NOSPLIT, $0-24
	MOVD v+0(FP), R0
	MOVW old+8(FP), R1
	MOVD n+16(FP), R2

look:
	LDARW (R0), R3
	CMPW  R1, R3
	BNE   done
	YIELD
	SUB   $1, R2
	CBNZ  R2, look

done:
	RET
