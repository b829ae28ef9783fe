#include "textflag.h"

// As attend_avx512_amd64.s, with half the registers of half the size.

#define ROW1 512
#define ROW2 1024
#define ROW3 1536

// ADDROW adds a query's part of a block, a and b, times the scales, Y8 and Y9, to
// its scores at off.
#define ADDROW(off, a, b) \
	VMOVUPS     off(DI), Y10      \
	VMOVUPS     off+32(DI), Y11   \
	VFMADD231PS Y8, a, Y10        \
	VFMADD231PS Y9, b, Y11        \
	VMOVUPS     Y10, off(DI)      \
	VMOVUPS     Y11, off+32(DI)

// func scoresAVX2(dst, q *float32, k *byte, tiles, blocks int)
TEXT ·scoresAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ q+8(FP), DX
	MOVQ k+16(FP), SI
	MOVQ tiles+24(FP), CX
	MOVQ blocks+32(FP), BX

tile:
	MOVQ    DX, R12
	MOVQ    BX, R13
	VXORPS  Y0, Y0, Y0
	VMOVUPS Y0, (DI)
	VMOVUPS Y0, 32(DI)
	VMOVUPS Y0, ROW1(DI)
	VMOVUPS Y0, ROW1+32(DI)
	VMOVUPS Y0, ROW2(DI)
	VMOVUPS Y0, ROW2+32(DI)
	VMOVUPS Y0, ROW3(DI)
	VMOVUPS Y0, ROW3+32(DI)

block:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	LEAQ   64(SI), R8
	MOVQ   $32, AX

column:
	PREFETCHT0   4096(R8)
	VPMOVSXWD    (R8), Y8
	VPMOVSXWD    16(R8), Y9
	VCVTDQ2PS    Y8, Y8
	VCVTDQ2PS    Y9, Y9
	VBROADCASTSS (R12), Y10
	VBROADCASTSS 4(R12), Y11
	VBROADCASTSS 8(R12), Y12
	VBROADCASTSS 12(R12), Y13
	VFMADD231PS  Y8, Y10, Y0
	VFMADD231PS  Y9, Y10, Y1
	VFMADD231PS  Y8, Y11, Y2
	VFMADD231PS  Y9, Y11, Y3
	VFMADD231PS  Y8, Y12, Y4
	VFMADD231PS  Y9, Y12, Y5
	VFMADD231PS  Y8, Y13, Y6
	VFMADD231PS  Y9, Y13, Y7
	ADDQ         $32, R8
	ADDQ         $16, R12
	DECQ         AX
	JNZ          column

	VMOVUPS (SI), Y8
	VMOVUPS 32(SI), Y9
	ADDROW(0, Y0, Y1)
	ADDROW(ROW1, Y2, Y3)
	ADDROW(ROW2, Y4, Y5)
	ADDROW(ROW3, Y6, Y7)
	ADDQ    $1088, SI
	DECQ    R13
	JNZ     block

	ADDQ $64, DI
	DECQ CX
	JNZ  tile
	VZEROUPPER
	RET

// SCALED multiplies a query's 16 weights at off with the scales, Y8 and Y9, and keeps
// that at to.
#define SCALED(off, to) \
	VMULPS  off(R9), Y8, Y10     \
	VMULPS  off+32(R9), Y9, Y11  \
	VMOVUPS Y10, to(SP)          \
	VMOVUPS Y11, to+32(SP)

// func weighAVX2(out, w *float32, v *byte, n, blocks int)
// Half a block of the columns at a time.
TEXT ·weighAVX2(SB), NOSPLIT, $256-40
	MOVQ   out+0(FP), DI
	MOVQ   v+16(FP), SI
	MOVQ   blocks+32(FP), BX
	MOVQ   BX, R15
	SHLQ   $7, R15           // bytes of a query's sums
	LEAQ   (R15)(R15*2), R14
	IMUL3Q $1088, BX, CX     // bytes of a tile

block:
	XORQ DX, DX // where in a position's values the half begins

half:
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS (DI)(R15*1), Y2
	VMOVUPS 32(DI)(R15*1), Y3
	VMOVUPS (DI)(R15*2), Y4
	VMOVUPS 32(DI)(R15*2), Y5
	VMOVUPS (DI)(R14*1), Y6
	VMOVUPS 32(DI)(R14*1), Y7
	MOVQ    SI, R8
	MOVQ    w+8(FP), R9
	MOVQ    n+24(FP), R10

tile:
	VMOVUPS (R8), Y8
	VMOVUPS 32(R8), Y9
	SCALED(0, 0)
	SCALED(ROW1, 64)
	SCALED(ROW2, 128)
	SCALED(ROW3, 192)
	LEAQ    64(R8)(DX*1), R12
	MOVQ    SP, R13
	MOVQ    $16, R11
	CMPQ    R10, R11
	CMOVQLT R10, R11

position:
	VPMOVSXWD    (R12), Y8
	VPMOVSXWD    16(R12), Y9
	VBROADCASTSS (R13), Y11
	VBROADCASTSS 64(R13), Y12
	VBROADCASTSS 128(R13), Y13
	VBROADCASTSS 192(R13), Y14
	VCVTDQ2PS    Y8, Y8
	VCVTDQ2PS    Y9, Y9
	VFMADD231PS  Y8, Y11, Y0
	VFMADD231PS  Y9, Y11, Y1
	VFMADD231PS  Y8, Y12, Y2
	VFMADD231PS  Y9, Y12, Y3
	VFMADD231PS  Y8, Y13, Y4
	VFMADD231PS  Y9, Y13, Y5
	VFMADD231PS  Y8, Y14, Y6
	VFMADD231PS  Y9, Y14, Y7
	ADDQ         $64, R12
	ADDQ         $4, R13
	DECQ         R11
	JNZ          position

	ADDQ $64, R9
	ADDQ CX, R8
	SUBQ $16, R10
	JG   tile

	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, (DI)(R15*1)
	VMOVUPS Y3, 32(DI)(R15*1)
	VMOVUPS Y4, (DI)(R15*2)
	VMOVUPS Y5, 32(DI)(R15*2)
	VMOVUPS Y6, (DI)(R14*1)
	VMOVUPS Y7, 32(DI)(R14*1)
	ADDQ    $64, DI
	ADDQ    $32, DX
	CMPQ    DX, $64
	JNE     half

	ADDQ $1088, SI
	DECQ BX
	JNZ  block
	VZEROUPPER
	RET
