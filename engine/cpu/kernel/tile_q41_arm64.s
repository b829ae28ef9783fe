#include "textflag.h"
#include "neon_arm64.h"
#include "tile_arm64.h"

// Q41LINE loads a line of Q4_1. V8 and V9 have the even columns of rows 0-7 and
// 8-15, four nibbles to a number, V10 and V11 the odd ones.
#define Q41LINE \
	VLD1.P 64(R13), [V4.H8, V5.H8, V6.H8, V7.H8]  \
	VUZP1  V5.H8, V4.H8, V8.H8                    \
	VUZP1  V7.H8, V6.H8, V9.H8                    \
	VUZP2  V5.H8, V4.H8, V10.H8                   \
	VUZP2  V7.H8, V6.H8, V11.H8

// MASK makes V15 the mask of the lowest nibble of each number; LEASTS uses it up.
#define MASK \
	VMOVI $15, V15.B16       \
	VUSHR $8, V15.H8, V15.H8

// NIBBLES leaves the lowest nibbles of V8 to V11 in V4 to V7.
#define NIBBLES \
	VAND V15.B16, V8.B16, V4.B16   \
	VAND V15.B16, V9.B16, V5.B16   \
	VAND V15.B16, V10.B16, V6.B16  \
	VAND V15.B16, V11.B16, V7.B16

// NEXT shifts the lowest nibbles of V8 to V11 out.
#define NEXT \
	VUSHR $4, V8.H8, V8.H8    \
	VUSHR $4, V9.H8, V9.H8    \
	VUSHR $4, V10.H8, V10.H8  \
	VUSHR $4, V11.H8, V11.H8

#define Q41COLUMNS4 \
	Q41LINE            \
	NIBBLES            \
	COLUMN4(0, 4, 5)   \
	COLUMN4(1, 6, 7)   \
	NEXT               \
	NIBBLES            \
	COLUMN4(2, 4, 5)   \
	COLUMN4(3, 6, 7)   \
	NEXT               \
	NIBBLES            \
	COLUMN4(4, 4, 5)   \
	COLUMN4(5, 6, 7)   \
	NEXT               \
	COLUMN4(6, 8, 9)   \
	COLUMN4(7, 10, 11)

#define Q41COLUMNS1(q) \
	Q41LINE             \
	NIBBLES             \
	EVEN1(0, q, 4, 5)   \
	ODD1(1, q, 6, 7)    \
	NEXT                \
	NIBBLES             \
	EVEN1(2, q, 4, 5)   \
	ODD1(3, q, 6, 7)    \
	NEXT                \
	NIBBLES             \
	EVEN1(4, q, 4, 5)   \
	ODD1(5, q, 6, 7)    \
	NEXT                \
	EVEN1(6, q, 8, 9)   \
	ODD1(7, q, 10, 11)

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

#define AHEADQ41 \
	LINES5          \
	ADD $320, R23

// func tileQ41NEON(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)
// As tileQ8NEON.
TEXT ·tileQ41NEON(SB), NOSPLIT, $0-96
	MOVD dst+0(FP), R0
	MOVD stride+8(FP), R1
	MOVD w+16(FP), R2
	MOVD q+24(FP), R3
	MOVD scale+32(FP), R4
	MOVD sum+40(FP), R25
	MOVD rows+48(FP), R5
	MOVD blocks+56(FP), R6
	MOVD tokens+64(FP), R7
	MOVD add+72(FP), R24
	MOVD sums+80(FP), R8
	MOVD ahead+88(FP), R9
	LSL  $6, R7, R20
	LSL  $2, R7, R21

rows16:
	TOKENS
	MOVD R25, R26

tokens4:
	CMP  $4, R12
	BLT  tokens1
	BEGIN
	MOVD R26, R16
	CLEARSUMS4

block4:
	AHEADQ41
	CLEAR16
	MASK
	MOVD $4, R17

columns8:
	COLUMNS8
	Q41COLUMNS4
	SUB  $1, R17
	CBNZ R17, columns8

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
	B   tokens4

tokens1:
	CBZ  R12, tile
	BEGIN
	MOVD R26, R16
	CLEARSUMS1

block1:
	AHEADQ41
	CLEAR8
	MASK
	VLD1  (R14), [V0.H8, V1.H8, V2.H8, V3.H8]
	VLD1R (R15), [V28.S4]
	VLD1R (R16), [V29.S4]
	ADD   R20, R14
	ADD   R21, R15
	ADD   R21, R16
	Q41COLUMNS1(0)
	Q41COLUMNS1(1)
	Q41COLUMNS1(2)
	Q41COLUMNS1(3)
	HALVES
	LEASTS
	FINISH1
	FMLA(29, 12, 24)
	FMLA(29, 13, 25)
	FMLA(29, 14, 26)
	FMLA(29, 15, 27)
	SUB   $1, R19
	CBNZ  R19, block1

	STORE1
	ADD  $4, R26
	B    tokens1

tile:
	NEXTTILE
	CBNZ R5, rows16
	RET
