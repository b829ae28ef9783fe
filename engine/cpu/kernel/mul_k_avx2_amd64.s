#include "textflag.h"

// Which side bytes (see kquants.go) are the scales of the first sub-blocks, of the
// second, and the minima: among bytes 0 to 15, and among bytes 8 to 23.
DATA firsts<>+0(SB)/8, $0x80800f0c09060300
DATA firsts<>+8(SB)/8, $0x0d0a808080808080
GLOBL firsts<>(SB), RODATA|NOPTR, $16
DATA seconds<>+0(SB)/8, $0x8080800d0a070401
DATA seconds<>+8(SB)/8, $0x0e0b088080808080
GLOBL seconds<>(SB), RODATA|NOPTR, $16
DATA minima<>+0(SB)/8, $0x8080800e0b080502
DATA minima<>+8(SB)/8, $0x0f0c098080808080
GLOBL minima<>(SB), RODATA|NOPTR, $16

// PICK picks eight side bytes, X8 and X9, into the lower half of x.
#define PICK(which, x) \
	VMOVQ   which<>+0(SB), X11   \
	VMOVQ   which<>+8(SB), X12   \
	VPSHUFB X11, X8, x           \
	VPSHUFB X12, X9, X10         \
	VPOR    X10, x, x

// BLOCK multiplies block i.
#define BLOCK(i) \
	VPMOVSXBW    (34*i+2)(DI), Y0      \
	VPMOVSXBW    (34*i+18)(DI), Y1     \
	VPMADDWD     (64*i)(DX), Y0, Y0    \
	VPMADDWD     (64*i+32)(DX), Y1, Y1 \
	VCVTDQ2PS    Y0, Y0                \
	VCVTDQ2PS    Y1, Y1                \
	VBROADCASTSS a-64+4*i(SP), Y2      \
	VBROADCASTSS b-32+4*i(SP), Y3      \
	VFMADD231PS  Y2, Y0, Y6            \
	VFMADD231PS  Y3, Y1, Y7

// func mulSuperAVX2(q, side *byte, x *int16, scale, sum *float32) float32
// One super-block (see kquants.go) times the eight blocks of a token.
TEXT ·mulSuperAVX2(SB), NOSPLIT, $64-44
	MOVQ      q+0(FP), DI
	MOVQ      side+8(FP), SI
	MOVQ      x+16(FP), DX
	MOVQ      scale+24(FP), R8
	MOVQ      sum+32(FP), R9
	LEAQ      ·halves(SB), R10
	VMOVDQU   (SI), X8
	VMOVDQU   8(SI), X9
	VMOVUPS   (R8), Y4
	PICK(firsts, X13)
	VPMOVSXBD X13, Y13
	VCVTDQ2PS Y13, Y13
	VMULPS    Y4, Y13, Y13
	VMOVUPS   Y13, a-64(SP)
	PICK(seconds, X13)
	VPMOVSXBD X13, Y13
	VCVTDQ2PS Y13, Y13
	VMULPS    Y4, Y13, Y13
	VMOVUPS   Y13, b-32(SP)
	PICK(minima, X13)
	VPMOVZXBD X13, Y5
	VCVTDQ2PS Y5, Y5
	VMULPS    (R9), Y5, Y5
	VXORPS    Y6, Y6, Y6
	VXORPS    Y7, Y7, Y7
	BLOCK(0)
	BLOCK(1)
	BLOCK(2)
	BLOCK(3)
	BLOCK(4)
	BLOCK(5)
	BLOCK(6)
	BLOCK(7)
	VADDPS       Y7, Y6, Y6
	MOVWLZX      (DI), AX
	VBROADCASTSS (R10)(AX*4), Y0
	VMULPS       Y0, Y6, Y6
	MOVWLZX      24(SI), AX
	VBROADCASTSS (R10)(AX*4), Y0
	VFNMADD231PS Y0, Y5, Y6
	VEXTRACTF128 $1, Y6, X0
	VADDPS       X0, X6, X0
	VHADDPS      X0, X0, X0
	VHADDPS      X0, X0, X0
	VMOVSS       X0, ret+40(FP)
	VZEROUPPER
	RET
