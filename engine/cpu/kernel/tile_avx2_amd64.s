#include "textflag.h"

// Tiles of 16 rows, as in tile_avx512_amd64.s, with too few registers to hold a
// block: four tokens pass together, and what is left one by one.
//
// Registers:
//	DI dst     R8 bytes between tokens in dst   CX rows left
//	SI w       DX what to prefetch              R13 blocks left
//	R12 q      R10 scale    R15 sum             R14 tokens left
//	BX sums    R11 a token's sums               AX tokens
//	Y0-Y7 products: rows 0-7 and 8-15 of a token, four tokens
//	Y8, Y9 weights: a pair of columns, rows 0-7 and 8-15

// STEP multiplies the pair of columns with a token's, at q, into a and b.
#define STEP(q, a, b) \
	VPBROADCASTD q, Y10        \
	VPMADDWD     Y10, Y8, Y11  \
	VPMADDWD     Y10, Y9, Y12  \
	VPADDD       Y11, a, a     \
	VPADDD       Y12, b, b

#define STEP1(off) \
	STEP(off(R12), Y0, Y1)

#define STEP4(off) \
	STEP(off(R12), Y0, Y1)      \
	STEP(off+64(R12), Y2, Y3)   \
	STEP(off+128(R12), Y4, Y5)  \
	STEP(off+192(R12), Y6, Y7)

// PAIR loads a pair of columns of a Q8_0 block.
#define PAIR(i) \
	VPMOVSXBW (32*i)(SI), Y8     \
	VPMOVSXBW (32*i+16)(SI), Y9

// HALF_A and HALF_B do the two halves of a Q8_0 block.
#define HALF_A(step) \
	PAIR(0)   \
	step(0)   \
	PAIR(1)   \
	step(4)   \
	PAIR(2)   \
	step(8)   \
	PAIR(3)   \
	step(12)  \
	PAIR(4)   \
	step(16)  \
	PAIR(5)   \
	step(20)  \
	PAIR(6)   \
	step(24)  \
	PAIR(7)   \
	step(28)

#define HALF_B(step) \
	PAIR(8)   \
	step(32)  \
	PAIR(9)   \
	step(36)  \
	PAIR(10)  \
	step(40)  \
	PAIR(11)  \
	step(44)  \
	PAIR(12)  \
	step(48)  \
	PAIR(13)  \
	step(52)  \
	PAIR(14)  \
	step(56)  \
	PAIR(15)  \
	step(60)

#define BLOCK_Q8(step) \
	HALF_A(step)  \
	HALF_B(step)

// LINE does the four pairs of columns of a line of a Q4_1 block; Y15 is the
// mask of the lowest nibble of each word.
#define NIBBLES(shift) \
	VPSRLW shift, Y13, Y8  \
	VPSRLW shift, Y14, Y9  \
	VPAND  Y15, Y8, Y8     \
	VPAND  Y15, Y9, Y9

#define LINE(l, step) \
	VMOVDQU (64*l)(SI), Y13     \
	VMOVDQU (64*l+32)(SI), Y14  \
	NIBBLES($0)                 \
	step(16*l)                  \
	NIBBLES($4)                 \
	step(16*l+4)                \
	NIBBLES($8)                 \
	step(16*l+8)                \
	NIBBLES($12)                \
	step(16*l+12)

#define BLOCK_Q41(step) \
	LINE(0, step)  \
	LINE(1, step)  \
	LINE(2, step)  \
	LINE(3, step)

// FINISH adds the products of token i, scaled, to its sums; Y13 and Y14 are the
// rows' scales.
#define FINISH(i, a, b) \
	VCVTDQ2PS    a, a                     \
	VCVTDQ2PS    b, b                     \
	VBROADCASTSS (4*i)(R10), Y10          \
	VMULPS       Y10, Y13, Y11            \
	VMULPS       Y10, Y14, Y12            \
	VFMADD213PS  (64*i)(R11), Y11, a      \
	VFMADD213PS  (64*i+32)(R11), Y12, b

#define PUT(i, a, b) \
	VMOVUPS a, (64*i)(R11)     \
	VMOVUPS b, (64*i+32)(R11)

// LEAST adds the rows' minima, Y8 and Y9, times the sum of token i.
#define LEAST(i, a, b) \
	VBROADCASTSS (4*i)(R15), Y10   \
	VFMADD231PS  Y10, Y8, a        \
	VFMADD231PS  Y10, Y9, b

#define CLEAR1 \
	VPXOR Y0, Y0, Y0  \
	VPXOR Y1, Y1, Y1

#define CLEAR4 \
	CLEAR1            \
	VPXOR Y2, Y2, Y2  \
	VPXOR Y3, Y3, Y3  \
	VPXOR Y4, Y4, Y4  \
	VPXOR Y5, Y5, Y5  \
	VPXOR Y6, Y6, Y6  \
	VPXOR Y7, Y7, Y7

// OUT writes the sums of AX tokens to dst, or adds them.
#define OUT(add) \
	MOVQ    BX, R11           \
	MOVQ    AX, R14           \
	MOVQ    DI, R12           \
out:                              \
	VMOVUPS (R11), Y0         \
	VMOVUPS 32(R11), Y1       \
	CMPQ    add, $0           \
	JEQ     put               \
	VADDPS  (R12), Y0, Y0     \
	VADDPS  32(R12), Y1, Y1   \
put:                              \
	VMOVUPS Y0, (R12)         \
	VMOVUPS Y1, 32(R12)       \
	ADDQ    $64, R11          \
	ADDQ    R8, R12           \
	DECQ    R14               \
	JNZ     out               \
	ADDQ    $64, DI

// CLEAR_SUMS zeroes the sums of AX tokens.
#define CLEAR_SUMS \
	VPXOR   Y0, Y0, Y0     \
	MOVQ    BX, R11        \
	MOVQ    AX, R14        \
clear:                         \
	VMOVUPS Y0, (R11)      \
	VMOVUPS Y0, 32(R11)    \
	ADDQ    $64, R11       \
	DECQ    R14            \
	JNZ     clear

#define AHEAD5 \
	PREFETCHT0 0(DX)    \
	PREFETCHT0 64(DX)   \
	PREFETCHT0 128(DX)  \
	PREFETCHT0 192(DX)  \
	PREFETCHT0 256(DX)

// func tileQ8AVX2(dst *float32, stride int, w *byte, q *int16, scale *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)
// rows is a multiple of 16; rows, blocks and tokens are not 0; stride in bytes.
TEXT ·tileQ8AVX2(SB), NOSPLIT, $0-88
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R8
	MOVQ w+16(FP), SI
	MOVQ rows+40(FP), CX
	MOVQ tokens+56(FP), AX
	MOVQ sums+72(FP), BX
	MOVQ ahead+80(FP), DX

tile:
	CLEAR_SUMS
	MOVQ q+24(FP), R12
	MOVQ scale+32(FP), R10
	MOVQ blocks+48(FP), R13

block:
	AHEAD5
	PREFETCHT0 320(DX)
	PREFETCHT0 384(DX)
	PREFETCHT0 448(DX)
	PREFETCHT0 512(DX)
	ADDQ       $544, DX
	MOVQ       BX, R11
	MOVQ       AX, R14
	SUBQ       $4, R14
	JL         rest

four:
	CLEAR4
	BLOCK_Q8(STEP4)
	VCVTPH2PS 512(SI), Y13
	VCVTPH2PS 528(SI), Y14
	FINISH(0, Y0, Y1)
	FINISH(1, Y2, Y3)
	FINISH(2, Y4, Y5)
	FINISH(3, Y6, Y7)
	PUT(0, Y0, Y1)
	PUT(1, Y2, Y3)
	PUT(2, Y4, Y5)
	PUT(3, Y6, Y7)
	ADDQ      $256, R12
	ADDQ      $16, R10
	ADDQ      $256, R11
	SUBQ      $4, R14
	JGE       four

rest:
	ADDQ $4, R14
	JZ   next

one:
	CLEAR1
	BLOCK_Q8(STEP1)
	VCVTPH2PS 512(SI), Y13
	VCVTPH2PS 528(SI), Y14
	FINISH(0, Y0, Y1)
	PUT(0, Y0, Y1)
	ADDQ      $64, R12
	ADDQ      $4, R10
	ADDQ      $64, R11
	DECQ      R14
	JNZ       one

next:
	ADDQ $544, SI
	DECQ R13
	JNZ  block
	OUT(add+64(FP))
	SUBQ $16, CX
	JNZ  tile
	VZEROUPPER
	RET

// func tileQ41AVX2(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)
// As tileQ8AVX2.
TEXT ·tileQ41AVX2(SB), NOSPLIT, $0-96
	MOVQ         dst+0(FP), DI
	MOVQ         stride+8(FP), R8
	MOVQ         w+16(FP), SI
	MOVQ         rows+48(FP), CX
	MOVQ         tokens+64(FP), AX
	MOVQ         sums+80(FP), BX
	MOVQ         ahead+88(FP), DX
	MOVL         $0x000f000f, R9
	MOVD         R9, X15
	VPBROADCASTD X15, Y15

tile:
	CLEAR_SUMS
	MOVQ q+24(FP), R12
	MOVQ scale+32(FP), R10
	MOVQ sum+40(FP), R15
	MOVQ blocks+56(FP), R13

block:
	AHEAD5
	ADDQ $320, DX
	MOVQ BX, R11
	MOVQ AX, R14
	SUBQ $4, R14
	JL   rest

four:
	CLEAR4
	BLOCK_Q41(STEP4)
	VCVTPH2PS 256(SI), Y13
	VCVTPH2PS 272(SI), Y14
	VCVTPH2PS 288(SI), Y8
	VCVTPH2PS 304(SI), Y9
	FINISH(0, Y0, Y1)
	FINISH(1, Y2, Y3)
	FINISH(2, Y4, Y5)
	FINISH(3, Y6, Y7)
	LEAST(0, Y0, Y1)
	LEAST(1, Y2, Y3)
	LEAST(2, Y4, Y5)
	LEAST(3, Y6, Y7)
	PUT(0, Y0, Y1)
	PUT(1, Y2, Y3)
	PUT(2, Y4, Y5)
	PUT(3, Y6, Y7)
	ADDQ      $256, R12
	ADDQ      $16, R10
	ADDQ      $16, R15
	ADDQ      $256, R11
	SUBQ      $4, R14
	JGE       four

rest:
	ADDQ $4, R14
	JZ   next

one:
	CLEAR1
	BLOCK_Q41(STEP1)
	VCVTPH2PS 256(SI), Y13
	VCVTPH2PS 272(SI), Y14
	VCVTPH2PS 288(SI), Y8
	VCVTPH2PS 304(SI), Y9
	FINISH(0, Y0, Y1)
	LEAST(0, Y0, Y1)
	PUT(0, Y0, Y1)
	ADDQ      $64, R12
	ADDQ      $4, R10
	ADDQ      $4, R15
	ADDQ      $64, R11
	DECQ      R14
	JNZ       one

next:
	ADDQ $320, SI
	DECQ R13
	JNZ  block
	OUT(add+72(FP))
	SUBQ $16, CX
	JNZ  tile
	VZEROUPPER
	RET

// SCALES makes the rows' scales of half a block, in Y13 and Y14: a byte of each pair,
// which the shift brings to the top, times d.
#define SCALES(shift) \
	VPMOVZXWD (R9), Y13          \
	VPMOVZXWD 16(R9), Y14        \
	VPSLLD    shift, Y13, Y13    \
	VPSLLD    shift, Y14, Y14    \
	VPSRAD    $24, Y13, Y13      \
	VPSRAD    $24, Y14, Y14      \
	VCVTDQ2PS Y13, Y13           \
	VCVTDQ2PS Y14, Y14           \
	VCVTPH2PS 512(SI), Y8        \
	VCVTPH2PS 528(SI), Y9        \
	VMULPS    Y8, Y13, Y13       \
	VMULPS    Y9, Y14, Y14

// MINIMA makes the rows' minima, with their sign turned, in Y8 and Y9. Y15 has the signs.
#define MINIMA \
	VPMOVZXWD 256(R9), Y8      \
	VPMOVZXWD 272(R9), Y9      \
	VCVTDQ2PS Y8, Y8           \
	VCVTDQ2PS Y9, Y9           \
	VCVTPH2PS (DX), Y13        \
	VCVTPH2PS 16(DX), Y14      \
	VXORPS    Y15, Y13, Y13    \
	VXORPS    Y15, Y14, Y14    \
	VMULPS    Y13, Y8, Y8      \
	VMULPS    Y14, Y9, Y9

// func tileKAVX2(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, supers, tokens, add int, sums *float32, ahead *byte)
// As tileQ41AVX2, of super-blocks (see kquants.go), half a block after the other. R9
// walks over the scales and minima of the blocks, a block of the tile behind the last;
// DX is where the rows' dmin lie.
TEXT ·tileKAVX2(SB), NOSPLIT, $0-96
	MOVQ     dst+0(FP), DI
	MOVQ     stride+8(FP), R8
	MOVQ     w+16(FP), SI
	MOVQ     rows+48(FP), CX
	MOVQ     tokens+64(FP), AX
	MOVQ     sums+80(FP), BX
	VPCMPEQD Y15, Y15, Y15
	VPSLLD   $31, Y15, Y15

tile:
	CLEAR_SUMS
	MOVQ q+24(FP), R12
	MOVQ scale+32(FP), R10
	MOVQ sum+40(FP), R15
	MOVQ supers+56(FP), R13

super:
	LEAQ 4352(SI), R9
	LEAQ 512(R9), DX

block:
	MOVQ BX, R11
	MOVQ AX, R14
	SUBQ $4, R14
	JL   rest

four:
	CLEAR4
	HALF_A(STEP4)
	SCALES($24)
	FINISH(0, Y0, Y1)
	FINISH(1, Y2, Y3)
	FINISH(2, Y4, Y5)
	FINISH(3, Y6, Y7)
	PUT(0, Y0, Y1)
	PUT(1, Y2, Y3)
	PUT(2, Y4, Y5)
	PUT(3, Y6, Y7)
	CLEAR4
	HALF_B(STEP4)
	SCALES($16)
	FINISH(0, Y0, Y1)
	FINISH(1, Y2, Y3)
	FINISH(2, Y4, Y5)
	FINISH(3, Y6, Y7)
	MINIMA
	LEAST(0, Y0, Y1)
	LEAST(1, Y2, Y3)
	LEAST(2, Y4, Y5)
	LEAST(3, Y6, Y7)
	PUT(0, Y0, Y1)
	PUT(1, Y2, Y3)
	PUT(2, Y4, Y5)
	PUT(3, Y6, Y7)
	ADDQ $256, R12
	ADDQ $16, R10
	ADDQ $16, R15
	ADDQ $256, R11
	SUBQ $4, R14
	JGE  four

rest:
	ADDQ $4, R14
	JZ   next

one:
	CLEAR1
	HALF_A(STEP1)
	SCALES($24)
	FINISH(0, Y0, Y1)
	PUT(0, Y0, Y1)
	CLEAR1
	HALF_B(STEP1)
	SCALES($16)
	FINISH(0, Y0, Y1)
	MINIMA
	LEAST(0, Y0, Y1)
	PUT(0, Y0, Y1)
	ADDQ $64, R12
	ADDQ $4, R10
	ADDQ $4, R15
	ADDQ $64, R11
	DECQ R14
	JNZ  one

next:
	ADDQ $544, SI
	ADDQ $32, R9
	LEAQ -256(R9), R14
	CMPQ SI, R14
	JNE  block

	ADDQ $544, SI
	DECQ R13
	JNZ  super
	OUT(add+72(FP))
	SUBQ $16, CX
	JNZ  tile
	VZEROUPPER
	RET
