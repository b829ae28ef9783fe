#include "textflag.h"

// The scales and minima of eight blocks lie behind their values (see kquants.go).

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

// func mulSuperAVX2(s *super, x *int16, scale, sum *float32) float32
// One super-block times the eight blocks of a token.
TEXT ·mulSuperAVX2(SB), NOSPLIT, $64-36
	MOVQ      s+0(FP), DI
	MOVQ      x+8(FP), DX
	MOVQ      scale+16(FP), R8
	MOVQ      sum+24(FP), R9
	LEAQ      ·halves(SB), R10
	VMOVUPS   (R8), Y4
	VPMOVZXWD 274(DI), Y13
	VPMOVZXWD 290(DI), Y5
	VPSLLD    $24, Y13, Y12
	VPSLLD    $16, Y13, Y13
	VPSRAD    $24, Y12, Y12
	VPSRAD    $24, Y13, Y13
	VCVTDQ2PS Y12, Y12
	VCVTDQ2PS Y13, Y13
	VCVTDQ2PS Y5, Y5
	VMULPS    Y4, Y12, Y12
	VMULPS    Y4, Y13, Y13
	VMULPS    (R9), Y5, Y5
	VMOVUPS   Y12, a-64(SP)
	VMOVUPS   Y13, b-32(SP)
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
	MOVWLZX      272(DI), AX
	VBROADCASTSS (R10)(AX*4), Y0
	VFNMADD231PS Y0, Y5, Y6
	VEXTRACTF128 $1, Y6, X0
	VADDPS       X0, X6, X0
	VHADDPS      X0, X0, X0
	VHADDPS      X0, X0, X0
	VMOVSS       X0, ret+32(FP)
	VZEROUPPER
	RET
