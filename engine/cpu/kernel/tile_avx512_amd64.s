#include "textflag.h"
#include "tile_avx512_amd64.h"

// Tiles of 16 rows (see tile_q8.go, tile_q41.go): a lane of a register is a
// row, so nothing is added up across lanes. A block of 16 rows x 32 columns is
// held as words in Z0 to Z15 while all tokens pass; the tokens' sums wait in
// memory, which the first-level cache holds.
//
// Registers:
//	DI dst     R8 bytes between tokens in dst   CX rows left
//	SI w       DX what to prefetch              R13 blocks left
//	R9 q       R12 a token's block of it        R14 tokens left
//	R10 scale  BX sums, R11 a token's sums      AX tokens
//	Z16 the rows' scales, Z29 the rows' minima

// NIBBLES makes the four pairs of columns of a line of a Q4_1 block.
#define NIBBLES(line, a, b, c, d) \
	VMOVDQU64 line, a     \
	VPSRLW    $4, a, b    \
	VPSRLW    $8, a, c    \
	VPSRLW    $12, a, d   \
	VPANDD    Z31, a, a   \
	VPANDD    Z31, b, b   \
	VPANDD    Z31, c, c

// LOAD_Q41 loads the 16 pairs of columns of a Q4_1 block, scales and minima.
#define LOAD_Q41 \
	NIBBLES(0(SI), Z0, Z1, Z2, Z3)        \
	NIBBLES(64(SI), Z4, Z5, Z6, Z7)       \
	NIBBLES(128(SI), Z8, Z9, Z10, Z11)    \
	NIBBLES(192(SI), Z12, Z13, Z14, Z15)  \
	VCVTPH2PS 256(SI), Z16                \
	VCVTPH2PS 288(SI), Z29

// AHEAD_Q41 prefetches a block.
#define AHEAD_Q41 \
	PREFETCHT0 0(DX)    \
	PREFETCHT0 64(DX)   \
	PREFETCHT0 128(DX)  \
	PREFETCHT0 192(DX)  \
	PREFETCHT0 256(DX)  \
	ADDQ       $320, DX

// func tileQ8AVX512(dst *float32, stride int, w *byte, q *int16, scale *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)
// rows is a multiple of 16; rows, blocks and tokens are not 0; stride in bytes.
TEXT ·tileQ8AVX512(SB), NOSPLIT, $0-88
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R8
	MOVQ w+16(FP), SI
	MOVQ rows+40(FP), CX
	MOVQ tokens+56(FP), AX
	MOVQ sums+72(FP), BX
	MOVQ ahead+80(FP), DX

tile:
	CLEAR
	MOVQ q+24(FP), R12
	MOVQ scale+32(FP), R10
	MOVQ blocks+48(FP), R13

block:
	LOAD_Q8(SI)
	AHEAD_Q8
	MOVQ BX, R11
	MOVQ AX, R14

token:
	DOT(R12)
	VMULPS.BCST (R10), Z16, Z21
	VFMADD213PS (R11), Z21, Z17
	VMOVUPS     Z17, (R11)
	ADDQ        $64, R12
	ADDQ        $4, R10
	ADDQ        $64, R11
	DECQ        R14
	JNZ         token

	ADDQ $544, SI
	DECQ R13
	JNZ  block

	OUT(add+64(FP))
	SUBQ $16, CX
	JNZ  tile
	VZEROUPPER
	RET

// func tileQ41AVX512(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)
// As tileQ8AVX512. R15 walks over the sums of the activations.
TEXT ·tileQ41AVX512(SB), NOSPLIT, $0-96
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R8
	MOVQ w+16(FP), SI
	MOVQ rows+48(FP), CX
	MOVQ tokens+64(FP), AX
	MOVQ sums+80(FP), BX
	MOVQ ahead+88(FP), DX
	MOVL $0x000f000f, R9
	VPBROADCASTD R9, Z31

tile:
	CLEAR
	MOVQ q+24(FP), R12
	MOVQ scale+32(FP), R10
	MOVQ sum+40(FP), R15
	MOVQ blocks+56(FP), R13

block:
	LOAD_Q41
	AHEAD_Q41
	MOVQ BX, R11
	MOVQ AX, R14

token:
	DOT(R12)
	VMULPS.BCST      (R10), Z16, Z21
	VFMADD213PS      (R11), Z21, Z17
	VFMADD231PS.BCST (R15), Z29, Z17
	VMOVUPS          Z17, (R11)
	ADDQ             $64, R12
	ADDQ             $4, R10
	ADDQ             $4, R15
	ADDQ             $64, R11
	DECQ             R14
	JNZ              token

	ADDQ $320, SI
	DECQ R13
	JNZ  block

	OUT(add+72(FP))
	SUBQ $16, CX
	JNZ  tile
	VZEROUPPER
	RET

// One token over tiles, as in decoding: the sum stays in Z21, and each pair of
// columns is used as it is loaded.

#define PAIR(i, sum) \
	VPMOVSXBW     (32*i)(SI), Z0      \
	VPDPWSSD.BCST (4*i)(R12), Z0, sum

#define NIBBLE_PAIRS(line) \
	PREFETCHT0    (64*line)(DX)               \
	NIBBLES((64*line)(SI), Z0, Z1, Z2, Z3)    \
	VPDPWSSD.BCST (16*line)(R12), Z0, Z17     \
	VPDPWSSD.BCST (16*line+4)(R12), Z1, Z18   \
	VPDPWSSD.BCST (16*line+8)(R12), Z2, Z19   \
	VPDPWSSD.BCST (16*line+12)(R12), Z3, Z20

#define CLEAR4 \
	VPXORD Z17, Z17, Z17  \
	VPXORD Z18, Z18, Z18  \
	VPXORD Z19, Z19, Z19  \
	VPXORD Z20, Z20, Z20

#define JOIN4 \
	VPADDD    Z18, Z17, Z17  \
	VPADDD    Z20, Z19, Z19  \
	VPADDD    Z19, Z17, Z17  \
	VCVTDQ2PS Z17, Z17

// func tile1Q8AVX512(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int, ahead *byte)
TEXT ·tile1Q8AVX512(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ rows+32(FP), CX
	MOVQ ahead+56(FP), DX

tile:
	VPXORD Z21, Z21, Z21
	MOVQ   q+16(FP), R12
	MOVQ   scale+24(FP), R10
	MOVQ   blocks+40(FP), R13

block:
	CLEAR4
	PREFETCHT0 0(DX)
	PAIR(0, Z17)
	PAIR(1, Z18)
	PREFETCHT0 64(DX)
	PAIR(2, Z19)
	PAIR(3, Z20)
	PREFETCHT0 128(DX)
	PAIR(4, Z17)
	PAIR(5, Z18)
	PREFETCHT0 192(DX)
	PAIR(6, Z19)
	PAIR(7, Z20)
	PREFETCHT0 256(DX)
	PAIR(8, Z17)
	PAIR(9, Z18)
	PREFETCHT0 320(DX)
	PAIR(10, Z19)
	PAIR(11, Z20)
	PREFETCHT0 384(DX)
	PAIR(12, Z17)
	PAIR(13, Z18)
	PREFETCHT0 448(DX)
	PAIR(14, Z19)
	PAIR(15, Z20)
	PREFETCHT0 512(DX)
	JOIN4
	VCVTPH2PS   512(SI), Z16
	VMULPS.BCST (R10), Z16, Z16
	VFMADD231PS Z17, Z16, Z21
	ADDQ        $544, DX
	ADDQ        $544, SI
	ADDQ        $64, R12
	ADDQ        $4, R10
	DECQ        R13
	JNZ         block

	CMPQ    add+48(FP), $0
	JEQ     store
	VADDPS  (DI), Z21, Z21

store:
	VMOVUPS Z21, (DI)
	ADDQ    $64, DI
	SUBQ    $16, CX
	JNZ     tile
	VZEROUPPER
	RET

// func tile1Q41AVX512(dst *float32, w *byte, q *int16, scale, sum *float32, rows, blocks, add int, ahead *byte)
TEXT ·tile1Q41AVX512(SB), NOSPLIT, $0-72
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ rows+40(FP), CX
	MOVQ ahead+64(FP), DX
	MOVL $0x000f000f, R9
	VPBROADCASTD R9, Z31

tile:
	VPXORD Z21, Z21, Z21
	VPXORD Z22, Z22, Z22
	MOVQ   q+16(FP), R12
	MOVQ   scale+24(FP), R10
	MOVQ   sum+32(FP), R15
	MOVQ   blocks+48(FP), R13

block:
	CLEAR4
	NIBBLE_PAIRS(0)
	NIBBLE_PAIRS(1)
	NIBBLE_PAIRS(2)
	NIBBLE_PAIRS(3)
	JOIN4
	VCVTPH2PS        256(SI), Z16
	VCVTPH2PS        288(SI), Z29
	VMULPS.BCST      (R10), Z16, Z16
	VFMADD231PS      Z17, Z16, Z21
	VFMADD231PS.BCST (R15), Z29, Z22
	PREFETCHT0       256(DX)
	ADDQ             $320, DX
	ADDQ             $320, SI
	ADDQ             $64, R12
	ADDQ             $4, R10
	ADDQ             $4, R15
	DECQ             R13
	JNZ              block

	VADDPS  Z22, Z21, Z21
	CMPQ    add+56(FP), $0
	JEQ     store
	VADDPS  (DI), Z21, Z21

store:
	VMOVUPS Z21, (DI)
	ADDQ    $64, DI
	SUBQ    $16, CX
	JNZ     tile
	VZEROUPPER
	RET

// DOT_HALVES is DOT with the products of the first 16 columns in Z17 and those of the
// others in Z19.
#define DOT_HALVES(q) \
	VPXORD        Z17, Z17, Z17     \
	VPXORD        Z18, Z18, Z18     \
	VPXORD        Z19, Z19, Z19     \
	VPXORD        Z20, Z20, Z20     \
	VPDPWSSD.BCST 0(q), Z0, Z17     \
	VPDPWSSD.BCST 32(q), Z8, Z19    \
	VPDPWSSD.BCST 4(q), Z1, Z18     \
	VPDPWSSD.BCST 36(q), Z9, Z20    \
	VPDPWSSD.BCST 8(q), Z2, Z17     \
	VPDPWSSD.BCST 40(q), Z10, Z19   \
	VPDPWSSD.BCST 12(q), Z3, Z18    \
	VPDPWSSD.BCST 44(q), Z11, Z20   \
	VPDPWSSD.BCST 16(q), Z4, Z17    \
	VPDPWSSD.BCST 48(q), Z12, Z19   \
	VPDPWSSD.BCST 20(q), Z5, Z18    \
	VPDPWSSD.BCST 52(q), Z13, Z20   \
	VPDPWSSD.BCST 24(q), Z6, Z17    \
	VPDPWSSD.BCST 56(q), Z14, Z19   \
	VPDPWSSD.BCST 28(q), Z7, Z18    \
	VPDPWSSD.BCST 60(q), Z15, Z20   \
	VPADDD        Z18, Z17, Z17     \
	VPADDD        Z20, Z19, Z19     \
	VCVTDQ2PS     Z17, Z17          \
	VCVTDQ2PS     Z19, Z19

// func tileKAVX512(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, supers, tokens, add int, sums *float32, ahead *byte)
// As tileQ41AVX512, of super-blocks (see kquants.go). R9 walks over the scales and
// minima of the blocks, which are a block of the tile behind the last one. Z16 and Z27 are the rows'
// scales of the first and the last 16 columns, Z30 their dmin.
TEXT ·tileKAVX512(SB), NOSPLIT, $0-96
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R8
	MOVQ w+16(FP), SI
	MOVQ rows+48(FP), CX
	MOVQ tokens+64(FP), AX
	MOVQ sums+80(FP), BX
	MOVQ ahead+88(FP), DX

tile:
	CLEAR
	MOVQ q+24(FP), R12
	MOVQ scale+32(FP), R10
	MOVQ sum+40(FP), R15
	MOVQ supers+56(FP), R13

super:
	LEAQ      4352(SI), R9
	VCVTPH2PS 512(R9), Z30

block:
	LOAD_Q8(SI)
	AHEAD_Q41
	VPMOVZXWD (R9), Z27
	VPMOVZXWD 256(R9), Z29
	VPSLLD    $24, Z27, Z26
	VPSLLD    $16, Z27, Z27
	VPSRAD    $24, Z26, Z26
	VPSRAD    $24, Z27, Z27
	VCVTDQ2PS Z26, Z26
	VCVTDQ2PS Z27, Z27
	VCVTDQ2PS Z29, Z29
	VMULPS    Z16, Z27, Z27
	VMULPS    Z26, Z16, Z16
	VMULPS    Z30, Z29, Z29
	ADDQ      $32, R9
	MOVQ      BX, R11
	MOVQ      AX, R14

token:
	DOT_HALVES(R12)
	VMOVUPS           (R11), Z21
	VMULPS            Z16, Z17, Z17
	VFMADD231PS       Z19, Z27, Z17
	VFNMADD231PS.BCST (R15), Z29, Z21
	VFMADD231PS.BCST  (R10), Z17, Z21
	VMOVUPS           Z21, (R11)
	ADDQ              $64, R12
	ADDQ              $4, R10
	ADDQ              $4, R15
	ADDQ              $64, R11
	DECQ              R14
	JNZ               token

	ADDQ $544, SI
	LEAQ -256(R9), R14
	CMPQ SI, R14       // where the scales of the first block lie, after eight
	JNE  block

	ADDQ $544, SI
	DECQ R13
	JNZ  super

	OUT(add+72(FP))
	SUBQ $16, CX
	JNZ  tile
	VZEROUPPER
	RET
