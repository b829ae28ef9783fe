#include "textflag.h"

// func spin(v *atomic.Uint32, old uint32, n int)
TEXT ·spin(SB), NOSPLIT, $0-24
	MOVQ v+0(FP), DI
	MOVL old+8(FP), AX
	MOVQ n+16(FP), CX

look:
	CMPL  AX, (DI)
	JNE   done
	PAUSE
	DECQ  CX
	JG    look

done:
	RET
