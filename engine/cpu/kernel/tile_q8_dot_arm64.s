#include "textflag.h"
#include "neon_arm64.h"
#include "tile_arm64.h"
#include "tile_dot_arm64.h"

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
	CLEARTOTALS4
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

	JOIN16
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
	CLEARSUMSDOT1
	VMOVI $0x80, V6.B16                 // ADDDST has used it up

block1:
	AHEAD
	CLEAR8
	CLEARSUMS1
	HIGH(0, V0)
	HIGH(32, V1)
	LOW(0, V2)
	LOW(32, V3)
	VLD1R (R15), [V12.S4]
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
	JOINTILE
	SUB   $1, R19
	CBNZ  R19, block1

	TOSTORE1
	STORE1
	B tokens1

tile:
	NEXTTILE
	CBNZ R5, rows16
	RET
