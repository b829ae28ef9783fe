#include "textflag.h"

// Rows in the file's order times one token, four rows at a time. Registers as
// in mul_avx512_amd64.s, but: Y4 and Y5 the activations, Y6 their scale, Y7
// their sum in its first lane, Y15 a mask, Y8 to Y13 free.

#define ROW0(off) off(SI)
#define ROW1(off) off(SI)(R10*1)
#define ROW2(off) off(SI)(R10*2)
#define ROW3(off) off(SI)(R11*1)

// As in mul_avx512_amd64.s.
#define LINES_AHEAD 4096

// FOLD adds up the lanes of Y0 to Y3 into the four lanes of X0.
#define FOLD \
	VHADDPS      Y1, Y0, Y0  \
	VHADDPS      Y3, Y2, Y2  \
	VHADDPS      Y2, Y0, Y0  \
	VEXTRACTF128 $1, Y0, X1  \
	VADDPS       X1, X0, X0

// PRODUCT multiplies 32 weights, words in a and b, with the activations, and
// adds the product, scaled by the activations' scale and that of the weights,
// which AX is, to the row's sum s.
#define PRODUCT(a, b, s) \
	VPMADDWD     Y4, a, a         \
	VPMADDWD     Y5, b, b         \
	VPADDD       b, a, a          \
	VCVTDQ2PS    a, a             \
	VMULPS       Y6, a, a         \
	VBROADCASTSS (R9)(AX*4), b    \
	VFMADD231PS  b, a, s

#define Q8(row, low, high, a, b, s) \
	MOVWLZX   row, AX   \
	VPMOVSXBW low, a    \
	VPMOVSXBW high, b   \
	PRODUCT(a, b, s)

// func mulQ8AVX2(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)
// rows is a multiple of 4 and not 0, blocks not 0.
TEXT ·mulQ8AVX2(SB), NOSPLIT, $0-56
	MOVQ   dst+0(FP), DI
	MOVQ   w+8(FP), SI
	MOVQ   q+16(FP), DX
	MOVQ   scale+24(FP), R8
	MOVQ   rows+32(FP), CX
	MOVQ   blocks+40(FP), BX
	LEAQ   ·halves(SB), R9
	IMUL3Q $34, BX, R10
	LEAQ   (R10)(R10*2), R11

rows4:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	MOVQ   DX, R12
	MOVQ   R8, R13
	MOVQ   BX, R14
	LEAQ   LINES_AHEAD(SI)(R11*1), R15

block:
	VMOVDQU      (R12), Y4
	VMOVDQU      32(R12), Y5
	VBROADCASTSS (R13), Y6
	PREFETCHT1   (R15)
	PREFETCHT1   64(R15)
	PREFETCHT1   128(R15)
	Q8(ROW0(0), ROW0(2), ROW0(18), Y8, Y9, Y0)
	Q8(ROW1(0), ROW1(2), ROW1(18), Y10, Y11, Y1)
	Q8(ROW2(0), ROW2(2), ROW2(18), Y12, Y13, Y2)
	Q8(ROW3(0), ROW3(2), ROW3(18), Y8, Y9, Y3)
	ADDQ         $136, R15
	ADDQ         $34, SI
	ADDQ         $64, R12
	ADDQ         $4, R13
	DECQ         R14
	JNZ          block

	FOLD
	CMPQ    add+48(FP), $0
	JEQ     store
	VADDPS  (DI), X0, X0

store:
	VMOVUPS X0, (DI)
	ADDQ    $16, DI
	ADDQ    R11, SI
	SUBQ    $4, CX
	JNZ     rows4
	VZEROUPPER
	RET

// Q41 does a block of a row; x and y are the lower halves of a and b.
#define Q41(scale, least, nibbles, a, b, x, y, s) \
	MOVWLZX      least, AX         \
	VMOVDQU      nibbles, x        \
	VPSRLW       $4, x, y          \
	VPAND        X15, x, x         \
	VPAND        X15, y, y         \
	VBROADCASTSS (R9)(AX*4), Y14   \
	VFMADD231PS  Y7, Y14, s        \
	MOVWLZX      scale, AX         \
	VPMOVZXBW    x, a              \
	VPMOVZXBW    y, b              \
	PRODUCT(a, b, s)

// func mulQ41AVX2(dst *float32, w *byte, q *int16, scale, sum *float32, rows, blocks, add int)
// As mulQ8AVX2. The sums are addressed relative to the scales.
TEXT ·mulQ41AVX2(SB), NOSPLIT, $0-64
	MOVQ         dst+0(FP), DI
	MOVQ         w+8(FP), SI
	MOVQ         q+16(FP), DX
	MOVQ         scale+24(FP), R8
	MOVQ         rows+40(FP), CX
	MOVQ         blocks+48(FP), BX
	LEAQ         ·halves(SB), R9
	IMUL3Q       $20, BX, R10
	LEAQ         (R10)(R10*2), R11
	MOVL         $0x0f0f0f0f, AX
	MOVD         AX, X15
	VPBROADCASTD X15, Y15

rows4:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	MOVQ   DX, R12
	MOVQ   R8, R13
	MOVQ   BX, R14
	LEAQ   LINES_AHEAD(SI)(R11*1), R15

block:
	MOVQ         sum+32(FP), AX
	SUBQ         R8, AX
	VMOVSS       (R13)(AX*1), X7
	VMOVDQU      (R12), Y4
	VMOVDQU      32(R12), Y5
	VBROADCASTSS (R13), Y6
	PREFETCHT1   (R15)
	PREFETCHT1   40(R15)
	Q41(ROW0(0), ROW0(2), ROW0(4), Y8, Y9, X8, X9, Y0)
	Q41(ROW1(0), ROW1(2), ROW1(4), Y10, Y11, X10, X11, Y1)
	Q41(ROW2(0), ROW2(2), ROW2(4), Y12, Y13, X12, X13, Y2)
	Q41(ROW3(0), ROW3(2), ROW3(4), Y8, Y9, X8, X9, Y3)
	ADDQ         $80, R15
	ADDQ         $20, SI
	ADDQ         $64, R12
	ADDQ         $4, R13
	DECQ         R14
	JNZ          block

	FOLD
	CMPQ    add+56(FP), $0
	JEQ     store
	VADDPS  (DI), X0, X0

store:
	VMOVUPS X0, (DI)
	ADDQ    $16, DI
	ADDQ    R11, SI
	SUBQ    $4, CX
	JNZ     rows4
	VZEROUPPER
	RET
