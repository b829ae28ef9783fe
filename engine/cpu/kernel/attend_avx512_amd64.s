#include "textflag.h"

// The offsets of the four rows of scores, Span floats each.
#define ROW1 512
#define ROW2 1024
#define ROW3 1536

// func scoresAVX512(dst, q *float32, k *byte, tiles, blocks int)
// Four queries with 16 keys at a time: two columns of the keys in turn, each a
// register, times the columns of the queries.
TEXT ·scoresAVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ q+8(FP), DX
	MOVQ k+16(FP), SI
	MOVQ tiles+24(FP), CX
	MOVQ blocks+32(FP), BX

tile:
	MOVQ   DX, R12
	MOVQ   BX, R13
	VPXORD Z16, Z16, Z16
	VPXORD Z17, Z17, Z17
	VPXORD Z18, Z18, Z18
	VPXORD Z19, Z19, Z19

block:
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	LEAQ   64(SI), R8
	MOVQ   $16, AX

columns:
	PREFETCHT0       4096(R8)
	VPMOVSXWD        (R8), Z8
	VPMOVSXWD        32(R8), Z9
	VCVTDQ2PS        Z8, Z8
	VCVTDQ2PS        Z9, Z9
	VFMADD231PS.BCST (R12), Z8, Z0
	VFMADD231PS.BCST 4(R12), Z8, Z1
	VFMADD231PS.BCST 8(R12), Z8, Z2
	VFMADD231PS.BCST 12(R12), Z8, Z3
	VFMADD231PS.BCST 16(R12), Z9, Z4
	VFMADD231PS.BCST 20(R12), Z9, Z5
	VFMADD231PS.BCST 24(R12), Z9, Z6
	VFMADD231PS.BCST 28(R12), Z9, Z7
	ADDQ             $64, R8
	ADDQ             $32, R12
	DECQ             AX
	JNZ              columns

	VMOVUPS     (SI), Z10
	VADDPS      Z4, Z0, Z0
	VADDPS      Z5, Z1, Z1
	VADDPS      Z6, Z2, Z2
	VADDPS      Z7, Z3, Z3
	VFMADD231PS Z10, Z0, Z16
	VFMADD231PS Z10, Z1, Z17
	VFMADD231PS Z10, Z2, Z18
	VFMADD231PS Z10, Z3, Z19
	ADDQ        $1088, SI
	DECQ        R13
	JNZ         block

	VMOVUPS Z16, (DI)
	VMOVUPS Z17, ROW1(DI)
	VMOVUPS Z18, ROW2(DI)
	VMOVUPS Z19, ROW3(DI)
	ADDQ    $64, DI
	DECQ    CX
	JNZ     tile
	VZEROUPPER
	RET

// func weighAVX512(out, w *float32, v *byte, n, blocks int)
// Block by block of the columns: 32 sums of each of four queries stay in registers
// over all positions. The scales of a tile are multiplied into the weights first, which
// is one product for 32 of the values.
TEXT ·weighAVX512(SB), NOSPLIT, $256-40
	MOVQ   out+0(FP), DI
	MOVQ   v+16(FP), SI
	MOVQ   blocks+32(FP), BX
	MOVQ   BX, R15
	SHLQ   $7, R15           // bytes of a query's sums
	LEAQ   (R15)(R15*2), R14
	IMUL3Q $1088, BX, CX     // bytes of a tile

block:
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS (DI)(R15*1), Z2
	VMOVUPS 64(DI)(R15*1), Z3
	VMOVUPS (DI)(R15*2), Z4
	VMOVUPS 64(DI)(R15*2), Z5
	VMOVUPS (DI)(R14*1), Z6
	VMOVUPS 64(DI)(R14*1), Z7
	MOVQ    SI, R8
	MOVQ    w+8(FP), R9
	MOVQ    n+24(FP), R10

tile:
	VMOVUPS (R8), Z10
	VMULPS  (R9), Z10, Z11
	VMULPS  ROW1(R9), Z10, Z12
	VMULPS  ROW2(R9), Z10, Z13
	VMULPS  ROW3(R9), Z10, Z14
	VMOVUPS Z11, (SP)
	VMOVUPS Z12, 64(SP)
	VMOVUPS Z13, 128(SP)
	VMOVUPS Z14, 192(SP)
	LEAQ    64(R8), R12
	MOVQ    SP, R13
	MOVQ    $16, R11
	CMPQ    R10, R11
	CMOVQLT R10, R11

position:
	PREFETCHT0   4096(R12)
	VPMOVSXWD    (R12), Z8
	VPMOVSXWD    32(R12), Z9
	VBROADCASTSS (R13), Z11
	VBROADCASTSS 64(R13), Z12
	VBROADCASTSS 128(R13), Z13
	VBROADCASTSS 192(R13), Z14
	VCVTDQ2PS    Z8, Z8
	VCVTDQ2PS    Z9, Z9
	VFMADD231PS  Z8, Z11, Z0
	VFMADD231PS  Z9, Z11, Z1
	VFMADD231PS  Z8, Z12, Z2
	VFMADD231PS  Z9, Z12, Z3
	VFMADD231PS  Z8, Z13, Z4
	VFMADD231PS  Z9, Z13, Z5
	VFMADD231PS  Z8, Z14, Z6
	VFMADD231PS  Z9, Z14, Z7
	ADDQ         $64, R12
	ADDQ         $4, R13
	DECQ         R11
	JNZ          position

	ADDQ $64, R9
	ADDQ CX, R8
	SUBQ $16, R10
	JG   tile

	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, (DI)(R15*1)
	VMOVUPS Z3, 64(DI)(R15*1)
	VMOVUPS Z4, (DI)(R15*2)
	VMOVUPS Z5, 64(DI)(R15*2)
	VMOVUPS Z6, (DI)(R14*1)
	VMOVUPS Z7, 64(DI)(R14*1)
	ADDQ    $128, DI
	ADDQ    $1088, SI
	DECQ    BX
	JNZ     block
	VZEROUPPER
	RET
