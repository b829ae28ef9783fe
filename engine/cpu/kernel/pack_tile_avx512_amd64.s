#include "textflag.h"
#include "tile_avx512_amd64.h"

// PACK_Q8 writes the block at SI of 16 rows in tile order to DI, and moves SI and R15, the
// first row and the ninth, to the next. R9, CX, R8 and AX are 1, 3, 5 and 7 times the
// bytes of a row. A register holds two rows, eight rows apart, and words of eight
// registers are transposed in each quarter.
#define PACK_Q8 \
	VMOVDQU64     2(SI), Y22 \
	VMOVDQU64     2(SI)(R9*1), Y23 \
	VMOVDQU64     2(SI)(R9*2), Y24 \
	VMOVDQU64     2(SI)(CX*1), Y25 \
	VMOVDQU64     2(SI)(R9*4), Y26 \
	VMOVDQU64     2(SI)(R8*1), Y27 \
	VMOVDQU64     2(SI)(CX*2), Y28 \
	VMOVDQU64     2(SI)(AX*1), Y29 \
	VINSERTI64X4  $1, 2(R15), Z22, Z22 \
	VINSERTI64X4  $1, 2(R15)(R9*1), Z23, Z23 \
	VINSERTI64X4  $1, 2(R15)(R9*2), Z24, Z24 \
	VINSERTI64X4  $1, 2(R15)(CX*1), Z25, Z25 \
	VINSERTI64X4  $1, 2(R15)(R9*4), Z26, Z26 \
	VINSERTI64X4  $1, 2(R15)(R8*1), Z27, Z27 \
	VINSERTI64X4  $1, 2(R15)(CX*2), Z28, Z28 \
	VINSERTI64X4  $1, 2(R15)(AX*1), Z29, Z29 \
	VPUNPCKLWD    Z23, Z22, Z30 \
	VPUNPCKHWD    Z23, Z22, Z22 \
	VPUNPCKLWD    Z25, Z24, Z23 \
	VPUNPCKHWD    Z25, Z24, Z24 \
	VPUNPCKLWD    Z27, Z26, Z25 \
	VPUNPCKHWD    Z27, Z26, Z26 \
	VPUNPCKLWD    Z29, Z28, Z27 \
	VPUNPCKHWD    Z29, Z28, Z28 \
	VPUNPCKLDQ    Z23, Z30, Z29 \
	VPUNPCKHDQ    Z23, Z30, Z30 \
	VPUNPCKLDQ    Z27, Z25, Z23 \
	VPUNPCKHDQ    Z27, Z25, Z25 \
	VPUNPCKLDQ    Z24, Z22, Z27 \
	VPUNPCKHDQ    Z24, Z22, Z22 \
	VPUNPCKLDQ    Z28, Z26, Z24 \
	VPUNPCKHDQ    Z28, Z26, Z26 \
	VPUNPCKLQDQ   Z23, Z29, Z28 \
	VPUNPCKHQDQ   Z23, Z29, Z29 \
	VSHUFI64X2    $0x88, Z29, Z28, Z31 \
	VSHUFI64X2    $0xdd, Z29, Z28, Z28 \
	VMOVDQU64     Z31, 0(DI) \
	VMOVDQU64     Z28, 256(DI) \
	VPUNPCKLQDQ   Z25, Z30, Z28 \
	VPUNPCKHQDQ   Z25, Z30, Z30 \
	VSHUFI64X2    $0x88, Z30, Z28, Z31 \
	VSHUFI64X2    $0xdd, Z30, Z28, Z28 \
	VMOVDQU64     Z31, 64(DI) \
	VMOVDQU64     Z28, 320(DI) \
	VPUNPCKLQDQ   Z24, Z27, Z28 \
	VPUNPCKHQDQ   Z24, Z27, Z27 \
	VSHUFI64X2    $0x88, Z27, Z28, Z31 \
	VSHUFI64X2    $0xdd, Z27, Z28, Z28 \
	VMOVDQU64     Z31, 128(DI) \
	VMOVDQU64     Z28, 384(DI) \
	VPUNPCKLQDQ   Z26, Z22, Z28 \
	VPUNPCKHQDQ   Z26, Z22, Z22 \
	VSHUFI64X2    $0x88, Z22, Z28, Z31 \
	VSHUFI64X2    $0xdd, Z22, Z28, Z28 \
	VMOVDQU64     Z31, 192(DI) \
	VMOVDQU64     Z28, 448(DI) \
	MOVWLZX       0(SI), R11 \
	MOVW          R11, 512(DI) \
	MOVWLZX       0(SI)(R9*1), R14 \
	MOVW          R14, 514(DI) \
	MOVWLZX       0(SI)(R9*2), R11 \
	MOVW          R11, 516(DI) \
	MOVWLZX       0(SI)(CX*1), R14 \
	MOVW          R14, 518(DI) \
	MOVWLZX       0(SI)(R9*4), R11 \
	MOVW          R11, 520(DI) \
	MOVWLZX       0(SI)(R8*1), R14 \
	MOVW          R14, 522(DI) \
	MOVWLZX       0(SI)(CX*2), R11 \
	MOVW          R11, 524(DI) \
	MOVWLZX       0(SI)(AX*1), R14 \
	MOVW          R14, 526(DI) \
	MOVWLZX       0(R15), R11 \
	MOVW          R11, 528(DI) \
	MOVWLZX       0(R15)(R9*1), R14 \
	MOVW          R14, 530(DI) \
	MOVWLZX       0(R15)(R9*2), R11 \
	MOVW          R11, 532(DI) \
	MOVWLZX       0(R15)(CX*1), R14 \
	MOVW          R14, 534(DI) \
	MOVWLZX       0(R15)(R9*4), R11 \
	MOVW          R11, 536(DI) \
	MOVWLZX       0(R15)(R8*1), R14 \
	MOVW          R14, 538(DI) \
	MOVWLZX       0(R15)(CX*2), R11 \
	MOVW          R11, 540(DI) \
	MOVWLZX       0(R15)(AX*1), R14 \
	MOVW          R14, 542(DI) \
	ADDQ          $34, SI \
	ADDQ          $34, R15

// func packTileQ8AVX512(dst *float32, stride int, w, room *byte, q *int16, scale *float32, blocks, tokens, add int, sums *float32, ahead *byte)
// 16 rows in row order. Each block is packed while the one before it is multiplied: the
// first is work for the units that move, the second for those that multiply. room has
// a block in tile order. Otherwise as tileQ8AVX512.
TEXT ·packTileQ8AVX512(SB), NOSPLIT, $0-88
	MOVQ   tokens+56(FP), AX
	MOVQ   sums+72(FP), BX
	CLEAR
	MOVQ   ahead+80(FP), DX
	MOVQ   w+16(FP), SI
	MOVQ   room+24(FP), DI
	MOVQ   q+32(FP), R12
	MOVQ   scale+40(FP), R10
	MOVQ   blocks+48(FP), R13
	IMUL3Q $34, R13, R9
	LEAQ   (R9)(R9*2), CX
	LEAQ   (R9)(R9*4), R8
	LEAQ   (CX)(R9*4), AX
	LEAQ   (SI)(R9*8), R15
	PACK_Q8

block:
	LOAD_Q8(DI)
	AHEAD_Q8
	CMPQ R13, $1
	JE   packed
	PACK_Q8

packed:
	MOVQ BX, R11
	MOVQ tokens+56(FP), R14

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

	DECQ R13
	JNZ  block

	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R8
	MOVQ tokens+56(FP), AX
	OUT(add+64(FP))
	VZEROUPPER
	RET
