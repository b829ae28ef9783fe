#include "textflag.h"

// One query alone, as of a model in which no heads share keys: the routines for four
// would do four times the products, and those, not memory, would be what takes the time.

// func scores1AVX512(dst, q *float32, k *byte, tiles, blocks int)
// The columns of the query are QueryRows floats apart, as those of four. Four columns of 16
// keys in turn, each a register.
TEXT ·scores1AVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ q+8(FP), DX
	MOVQ k+16(FP), SI
	MOVQ tiles+24(FP), CX
	MOVQ blocks+32(FP), BX

tile:
	MOVQ   DX, R12
	MOVQ   BX, R13
	VPXORD Z16, Z16, Z16

block:
	VPXORD     Z0, Z0, Z0
	VPXORD     Z1, Z1, Z1
	VPXORD     Z2, Z2, Z2
	VPXORD     Z3, Z3, Z3
	PREFETCHT0 4096(SI)
	LEAQ       64(SI), R8
	MOVQ       $8, AX

columns:
	PREFETCHT0       4096(R8)
	PREFETCHT0       4160(R8)
	VPMOVSXWD        (R8), Z8
	VPMOVSXWD        32(R8), Z9
	VPMOVSXWD        64(R8), Z10
	VPMOVSXWD        96(R8), Z11
	VCVTDQ2PS        Z8, Z8
	VCVTDQ2PS        Z9, Z9
	VCVTDQ2PS        Z10, Z10
	VCVTDQ2PS        Z11, Z11
	VFMADD231PS.BCST (R12), Z8, Z0
	VFMADD231PS.BCST 16(R12), Z9, Z1
	VFMADD231PS.BCST 32(R12), Z10, Z2
	VFMADD231PS.BCST 48(R12), Z11, Z3
	ADDQ             $128, R8
	ADDQ             $64, R12
	DECQ             AX
	JNZ              columns

	VADDPS      Z1, Z0, Z0
	VADDPS      Z3, Z2, Z2
	VADDPS      Z2, Z0, Z0
	VFMADD231PS (SI), Z0, Z16
	ADDQ        $1088, SI
	DECQ        R13
	JNZ         block

	VMOVUPS Z16, (DI)
	ADDQ    $64, DI
	DECQ    CX
	JNZ     tile
	VZEROUPPER
	RET

// func weigh1AVX512(out, w *float32, v *byte, n, blocks int)
// The values of a tile from first to last, as they lie in memory, and the sums of its
// blocks by turns: those are few enough to be read and written for each tile.
TEXT ·weigh1AVX512(SB), NOSPLIT, $64-40
	MOVQ w+8(FP), R9
	MOVQ v+16(FP), SI
	MOVQ n+24(FP), R10

tile:
	MOVQ    out+0(FP), DI
	MOVQ    blocks+32(FP), BX
	MOVQ    $16, CX
	CMPQ    R10, CX
	CMOVQLT R10, CX          // positions of the tile
	VMOVUPS (R9), Z11

block:
	VMOVUPS    (DI), Z0
	VMOVUPS    64(DI), Z1
	VPXORD     Z2, Z2, Z2
	VPXORD     Z3, Z3, Z3
	VMULPS     (SI), Z11, Z10
	VMOVUPS    Z10, (SP)
	PREFETCHT0 4096(SI)
	LEAQ       64(SI), R12
	MOVQ       SP, R13
	LEAQ       -1(CX), R11
	TESTQ      R11, R11
	JZ         odd

positions:
	PREFETCHT0       4096(R12)
	PREFETCHT0       4160(R12)
	VPMOVSXWD        (R12), Z4
	VPMOVSXWD        32(R12), Z5
	VPMOVSXWD        64(R12), Z6
	VPMOVSXWD        96(R12), Z7
	VCVTDQ2PS        Z4, Z4
	VCVTDQ2PS        Z5, Z5
	VCVTDQ2PS        Z6, Z6
	VCVTDQ2PS        Z7, Z7
	VFMADD231PS.BCST (R13), Z4, Z0
	VFMADD231PS.BCST (R13), Z5, Z1
	VFMADD231PS.BCST 4(R13), Z6, Z2
	VFMADD231PS.BCST 4(R13), Z7, Z3
	ADDQ             $128, R12
	ADDQ             $8, R13
	SUBQ             $2, R11
	JG               positions
	JNZ              even

odd:
	VPMOVSXWD        (R12), Z4
	VPMOVSXWD        32(R12), Z5
	VCVTDQ2PS        Z4, Z4
	VCVTDQ2PS        Z5, Z5
	VFMADD231PS.BCST (R13), Z4, Z0
	VFMADD231PS.BCST (R13), Z5, Z1

even:
	VADDPS  Z2, Z0, Z0
	VADDPS  Z3, Z1, Z1
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	ADDQ    $128, DI
	ADDQ    $1088, SI
	DECQ    BX
	JNZ     block

	ADDQ $64, R9
	SUBQ $16, R10
	JG   tile
	VZEROUPPER
	RET
