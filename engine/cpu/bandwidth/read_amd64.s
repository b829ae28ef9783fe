#include "textflag.h"

// Both read 256 bytes a turn and prefetch 4 KiB ahead, as the engine does.

// func readAVX512(p *byte, n int) uint64
// n is a multiple of 256 and not 0.
TEXT ·readAVX512(SB), NOSPLIT, $0-24
	MOVQ   p+0(FP), SI
	MOVQ   n+8(FP), CX
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3

turn:
	PREFETCHT0 4096(SI)
	VPXORQ     (SI), Z0, Z0
	PREFETCHT0 4160(SI)
	VPXORQ     64(SI), Z1, Z1
	PREFETCHT0 4224(SI)
	VPXORQ     128(SI), Z2, Z2
	PREFETCHT0 4288(SI)
	VPXORQ     192(SI), Z3, Z3
	ADDQ       $256, SI
	SUBQ       $256, CX
	JNZ        turn

	VPXORQ        Z1, Z0, Z0
	VPXORQ        Z3, Z2, Z2
	VPXORQ        Z2, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPXOR         Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPXOR         X1, X0, X0
	VPSRLDQ       $8, X0, X1
	VPXOR         X1, X0, X0
	VMOVQ         X0, AX
	MOVQ          AX, ret+16(FP)
	VZEROUPPER
	RET

// func readAVX2(p *byte, n int) uint64
// n is a multiple of 256 and not 0.
TEXT ·readAVX2(SB), NOSPLIT, $0-24
	MOVQ  p+0(FP), SI
	MOVQ  n+8(FP), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3

turn:
	PREFETCHT0 4096(SI)
	VPXOR      (SI), Y0, Y0
	VPXOR      32(SI), Y1, Y1
	PREFETCHT0 4160(SI)
	VPXOR      64(SI), Y2, Y2
	VPXOR      96(SI), Y3, Y3
	PREFETCHT0 4224(SI)
	VPXOR      128(SI), Y0, Y0
	VPXOR      160(SI), Y1, Y1
	PREFETCHT0 4288(SI)
	VPXOR      192(SI), Y2, Y2
	VPXOR      224(SI), Y3, Y3
	ADDQ       $256, SI
	SUBQ       $256, CX
	JNZ        turn

	VPXOR        Y1, Y0, Y0
	VPXOR        Y3, Y2, Y2
	VPXOR        Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPXOR        X1, X0, X0
	VPSRLDQ      $8, X0, X1
	VPXOR        X1, X0, X0
	VMOVQ        X0, AX
	MOVQ         AX, ret+16(FP)
	VZEROUPPER
	RET
