#include "textflag.h"
#include "neon_arm64.h"
#include "tile_arm64.h"
#include "tile_dot_arm64.h"

// EVENS and ODDS load 4 columns of 16 rows from the line at off(R13): the low and the
// high nibbles of a word's bytes, which are columns 0, 4, 1 and 5 of the line, and
// 2, 6, 3 and 7. V7 is the mask of low nibbles.
#define LINE(off) \
	FMOVQ off(R13), F8        \
	FMOVQ (off+16)(R13), F9   \
	FMOVQ (off+32)(R13), F10  \
	FMOVQ (off+48)(R13), F11

#define EVENS(off) \
	LINE(off)                      \
	VAND V7.B16, V8.B16, V8.B16    \
	VAND V7.B16, V9.B16, V9.B16    \
	VAND V7.B16, V10.B16, V10.B16  \
	VAND V7.B16, V11.B16, V11.B16

#define ODDS(off) \
	LINE(off)                     \
	VUSHR $4, V8.B16, V8.B16      \
	VUSHR $4, V9.B16, V9.B16      \
	VUSHR $4, V10.B16, V10.B16    \
	VUSHR $4, V11.B16, V11.B16

// ORDER brings the bytes of q, two lines of columns, into the same order.
#define ORDER(q) \
	VUZP1 q.S4, q.S4, V4.S4      \
	VUZP2 q.S4, q.S4, V5.S4      \
	VZIP1 V5.B16, V4.B16, q.B16

#define ORDER4 \
	ORDER(V0)  \
	ORDER(V1)  \
	ORDER(V2)  \
	ORDER(V3)

#define HIGHS4 \
	EVENS(0)               \
	DOTS(0)                \
	TOTAL(12, 13, 14, 15)  \
	ODDS(0)                \
	DOTS(1)                \
	TOTAL(12, 13, 14, 15)  \
	EVENS(64)              \
	DOTS(2)                \
	TOTAL(12, 13, 14, 15)  \
	ODDS(64)               \
	DOTS(3)                \
	TOTAL(12, 13, 14, 15)

#define LOWS4 \
	EVENS(0)   \
	DOTS(0)    \
	ODDS(0)    \
	DOTS(1)    \
	EVENS(64)  \
	DOTS(2)    \
	ODDS(64)   \
	DOTS(3)

#define BOTH1(i, high, low) \
	DOT4(i, high, 16, 17, 18, 19)  \
	DOT4(i, low, 20, 21, 22, 23)   \
	TOTAL(24, 25, 26, 27)

#define LINE1(off, i, j, high, low) \
	EVENS(off)           \
	BOTH1(i, high, low)  \
	ODDS(off)            \
	BOTH1(j, high, low)

// LEASTS reads the 16 rows' minima to V12-V15.
#define LEASTS \
	VLD1.P 32(R13), [V4.H8, V5.H8]  \
	FCVTL(4, 12)                    \
	FCVTL2(4, 13)                   \
	FCVTL(5, 14)                    \
	FCVTL2(5, 15)

// LEAST4 adds the rows' minima times the sum of token t, lane t of V1.
#define LEAST4(t) \
	FMLAX(t, 1, 12, 4)  \
	FMLAX(t, 1, 13, 5)  \
	FMLAX(t, 1, 14, 6)  \
	FMLAX(t, 1, 15, 7)

#define AHEAD \
	LINES5          \
	ADD $320, R23

// func tileQ41Dot(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)
// As tileQ8NEON.
TEXT ·tileQ41Dot(SB), NOSPLIT, $0-96
	MOVD  dst+0(FP), R0
	MOVD  stride+8(FP), R1
	MOVD  w+16(FP), R2
	MOVD  q+24(FP), R3
	MOVD  scale+32(FP), R4
	MOVD  sum+40(FP), R25
	MOVD  rows+48(FP), R5
	MOVD  blocks+56(FP), R6
	MOVD  tokens+64(FP), R7
	MOVD  add+72(FP), R24
	MOVD  sums+80(FP), R8
	MOVD  ahead+88(FP), R9
	LSL   $6, R7, R20
	LSL   $2, R7, R21

rows16:
	TOKENS
	MOVD R25, R26

tokens4:
	CMP $4, R12
	BLT tokens1
	BEGIN
	MOVD R26, R16
	CLEARSUMS4

block4:
	AHEAD
	CLEAR16
	CLEARTOTALS4
	VMOVI $0x80, V6.B16 // FINISH4 has used them up
	VMOVI $15, V7.B16
	MOVD $2, R17

highs:
	HIGH(0, V0)
	HIGH(64, V1)
	HIGH(128, V2)
	HIGH(192, V3)
	ORDER4
	HIGHS4
	ADD  $128, R13
	ADD  $32, R14
	SUB  $1, R17
	CBNZ R17, highs

	JOIN16
	SUB  $256, R13
	SUB  $64, R14
	MOVD $2, R17

lows:
	LOW(0, V0)
	LOW(64, V1)
	LOW(128, V2)
	LOW(192, V3)
	ORDER4
	LOWS4
	ADD  $128, R13
	ADD  $32, R14
	SUB  $1, R17
	CBNZ R17, lows

	HALVES
	LEASTS
	VLD1 (R15), [V0.S4]
	VLD1 (R16), [V1.S4]
	FINISH4(0, 16, 17, 18, 19)
	LEAST4(0)
	KEEP4
	FINISH4(1, 20, 21, 22, 23)
	LEAST4(1)
	KEEP4
	FINISH4(2, 24, 25, 26, 27)
	LEAST4(2)
	KEEP4
	FINISH4(3, 28, 29, 30, 31)
	LEAST4(3)
	KEEP4
	NEXTBLOCK4
	ADD  R21, R16
	CBNZ R19, block4

	STORE4
	ADD $16, R26
	B tokens4

tokens1:
	CBZ   R12, tile
	BEGIN
	MOVD R26, R16
	CLEARSUMSDOT1
	VMOVI $0x80, V6.B16 // ADDDST has used them up
	VMOVI $15, V7.B16

block1:
	AHEAD
	CLEAR8
	CLEARSUMS1
	HIGH(0, V0)
	HIGH(32, V1)
	LOW(0, V2)
	LOW(32, V3)
	ORDER4
	VLD1R (R15), [V12.S4]
	ADD   R20, R14
	ADD   R21, R15
	LINE1(0, 0, 1, 0, 2)
	LINE1(64, 2, 3, 0, 2)
	LINE1(128, 0, 1, 1, 3)
	LINE1(192, 2, 3, 1, 3)
	ADD   $256, R13
	HALVES
	JOINTILE
	LEASTS
	VLD1R (R16), [V4.S4]
	ADD   R21, R16
	FMLA(4, 12, 28)
	FMLA(4, 13, 29)
	FMLA(4, 14, 30)
	FMLA(4, 15, 31)
	SUB   $1, R19
	CBNZ  R19, block1

	TOSTORE1
	STORE1
	ADD $4, R26
	B tokens1

tile:
	NEXTTILE
	CBNZ R5, rows16
	RET
