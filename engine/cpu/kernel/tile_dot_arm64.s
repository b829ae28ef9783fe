#include "textflag.h"
#include "neon_arm64.h"
#include "tile_arm64.h"

// Tiles of Q8_0 with SDOT, which multiplies bytes, four columns of a row to a lane.
// So activations are taken apart: q = 256*high + low + 128, where high is the upper
// byte and low the lower one with its first bit turned, both with signs. Then a
// product with weights w is 256*(high·w) + low·w - (-128)*(sum of w), exactly.
//
// Registers are those of tile_arm64.h, but:
//
//	four tokens                              one token
//	V0-V3   16 columns of each, a byte of q  32 columns: high, high, low, low
//	V4, V5  room                             the same
//	V6      -128 in all bytes                the same
//	V8-V11  weights: 4 columns of 16 rows    the same
//	V12-V15 -128 times the sums of weights   V24-V27
//	V16-V31 products                         V16-V19 with high, V20-V23 with low
//	                                         V28-V31 sums, V7 scale
//
// With four tokens, a block's weights pass twice, since only one set of products fits
// the registers: first with high, then with low.

// FOUR loads 4 columns of 16 rows from off(R13), where they are two pairs.
#define FOUR(off) \
	FMOVQ off(R13), F4            \
	FMOVQ (off+32)(R13), F5       \
	VZIP1 V5.H8, V4.H8, V8.H8     \
	VZIP2 V5.H8, V4.H8, V9.H8     \
	FMOVQ (off+16)(R13), F4       \
	FMOVQ (off+48)(R13), F5       \
	VZIP1 V5.H8, V4.H8, V10.H8    \
	VZIP2 V5.H8, V4.H8, V11.H8

// DOT4 multiplies 4 columns of 16 rows with lane i of q.
#define DOT4(i, q, a, b, c, d) \
	SDOTX(i, q, 8, a)   \
	SDOTX(i, q, 9, b)   \
	SDOTX(i, q, 10, c)  \
	SDOTX(i, q, 11, d)

#define DOTS(i) \
	DOT4(i, 0, 16, 17, 18, 19)  \
	DOT4(i, 1, 20, 21, 22, 23)  \
	DOT4(i, 2, 24, 25, 26, 27)  \
	DOT4(i, 3, 28, 29, 30, 31)

// TOTAL adds the weights, times -128, to a to d.
#define TOTAL(a, b, c, d) \
	SDOT(6, 8, a)   \
	SDOT(6, 9, b)   \
	SDOT(6, 10, c)  \
	SDOT(6, 11, d)

// HIGH and LOW load the bytes of 16 columns of a token.
#define HIGH(off, q) \
	FMOVQ off(R14), F4               \
	FMOVQ (off+16)(R14), F5          \
	VUZP2 V5.B16, V4.B16, q.B16

#define LOW(off, q) \
	FMOVQ off(R14), F4           \
	FMOVQ (off+16)(R14), F5      \
	VUZP1 V5.B16, V4.B16, q.B16  \
	VEOR  V6.B16, q.B16, q.B16

// JOIN makes a*256 less the total t the beginning of a.
#define JOIN(a, t) \
	VSHL $8, a.S4, a.S4    \
	VSUB t.S4, a.S4, a.S4

#define HIGHS4 \
	FOUR(0)                 \
	DOTS(0)                 \
	TOTAL(12, 13, 14, 15)   \
	FOUR(64)                \
	DOTS(1)                 \
	TOTAL(12, 13, 14, 15)   \
	FOUR(128)               \
	DOTS(2)                 \
	TOTAL(12, 13, 14, 15)   \
	FOUR(192)               \
	DOTS(3)                 \
	TOTAL(12, 13, 14, 15)

#define LOWS4 \
	FOUR(0)    \
	DOTS(0)    \
	FOUR(64)   \
	DOTS(1)    \
	FOUR(128)  \
	DOTS(2)    \
	FOUR(192)  \
	DOTS(3)

#define BOTH1(i, off, high, low) \
	FOUR(off)                        \
	DOT4(i, high, 16, 17, 18, 19)    \
	DOT4(i, low, 20, 21, 22, 23)     \
	TOTAL(24, 25, 26, 27)

// JOIN1 adds a row's products to its sum.
#define JOIN1(high, low, total, h, d, sum) \
	JOIN(high, total)                 \
	VADD low.S4, high.S4, high.S4     \
	SCVTF(h, h)                       \
	FMUL(7, d, d)                     \
	FMLA(d, h, sum)

#define AHEAD \
	LINES5                    \
	PRFM 320(R23), PLDL1KEEP  \
	PRFM 384(R23), PLDL1KEEP  \
	PRFM 448(R23), PLDL1KEEP  \
	PRFM 512(R23), PLDL1KEEP  \
	ADD  $544, R23

// func tileQ8Dot(dst *float32, stride int, w *byte, q *int16, scale *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)
// As tileQ8NEON.
TEXT ·tileQ8Dot(SB), NOSPLIT, $0-88
	MOVD  dst+0(FP), R0
	MOVD  stride+8(FP), R1
	MOVD  w+16(FP), R2
	MOVD  q+24(FP), R3
	MOVD  scale+32(FP), R4
	MOVD  rows+40(FP), R5
	MOVD  blocks+48(FP), R6
	MOVD  tokens+56(FP), R7
	MOVD  add+64(FP), R24
	MOVD  sums+72(FP), R8
	MOVD  ahead+80(FP), R9
	LSL   $6, R7, R20
	LSL   $2, R7, R21

rows16:
	TOKENS

tokens4:
	CMP $4, R12
	BLT tokens1
	BEGIN
	CLEARSUMS4

block4:
	AHEAD
	CLEAR16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16
	VMOVI $0x80, V6.B16 // FINISH4 has used it up
	MOVD $2, R17

highs:
	HIGH(0, V0)
	HIGH(64, V1)
	HIGH(128, V2)
	HIGH(192, V3)
	HIGHS4
	ADD  $256, R13
	ADD  $32, R14
	SUB  $1, R17
	CBNZ R17, highs

	JOIN(V16, V12)
	JOIN(V17, V13)
	JOIN(V18, V14)
	JOIN(V19, V15)
	JOIN(V20, V12)
	JOIN(V21, V13)
	JOIN(V22, V14)
	JOIN(V23, V15)
	JOIN(V24, V12)
	JOIN(V25, V13)
	JOIN(V26, V14)
	JOIN(V27, V15)
	JOIN(V28, V12)
	JOIN(V29, V13)
	JOIN(V30, V14)
	JOIN(V31, V15)
	SUB  $512, R13
	SUB  $64, R14
	MOVD $2, R17

lows:
	LOW(0, V0)
	LOW(64, V1)
	LOW(128, V2)
	LOW(192, V3)
	LOWS4
	ADD  $256, R13
	ADD  $32, R14
	SUB  $1, R17
	CBNZ R17, lows

	HALVES
	VLD1 (R15), [V0.S4]
	FINISH4(0, 16, 17, 18, 19)
	KEEP4
	FINISH4(1, 20, 21, 22, 23)
	KEEP4
	FINISH4(2, 24, 25, 26, 27)
	KEEP4
	FINISH4(3, 28, 29, 30, 31)
	KEEP4
	NEXTBLOCK4
	CBNZ R19, block4

	STORE4
	B tokens4

tokens1:
	CBZ   R12, tile
	BEGIN
	VEOR  V28.B16, V28.B16, V28.B16
	VEOR  V29.B16, V29.B16, V29.B16
	VEOR  V30.B16, V30.B16, V30.B16
	VEOR  V31.B16, V31.B16, V31.B16
	VMOVI $0x80, V6.B16                 // ADDDST has used it up

block1:
	AHEAD
	CLEAR8
	CLEARSUMS1
	HIGH(0, V0)
	HIGH(32, V1)
	LOW(0, V2)
	LOW(32, V3)
	VLD1R (R15), [V7.S4]
	ADD   R20, R14
	ADD   R21, R15
	BOTH1(0, 0, 0, 2)
	BOTH1(1, 64, 0, 2)
	BOTH1(2, 128, 0, 2)
	BOTH1(3, 192, 0, 2)
	BOTH1(0, 256, 1, 3)
	BOTH1(1, 320, 1, 3)
	BOTH1(2, 384, 1, 3)
	BOTH1(3, 448, 1, 3)
	ADD   $512, R13
	HALVES
	JOIN1(V16, V20, V24, 16, 8, 28)
	JOIN1(V17, V21, V25, 17, 9, 29)
	JOIN1(V18, V22, V26, 18, 10, 30)
	JOIN1(V19, V23, V27, 19, 11, 31)
	SUB   $1, R19
	CBNZ  R19, block1

	COPY(28, 24)
	COPY(29, 25)
	COPY(30, 26)
	COPY(31, 27)
	STORE1
	B tokens1

tile:
	NEXTTILE
	CBNZ R5, rows16
	RET
