#include "textflag.h"
#include "neon_arm64.h"
#include "tile_arm64.h"

// Q8PAIR loads a pair of columns of Q8_0: the first to V8 and V9, the second to
// V10 and V11.
#define Q8PAIR \
	VLD1.P 32(R13), [V4.B16, V5.B16]  \
	VUZP1  V5.B16, V4.B16, V6.B16     \
	VUZP2  V5.B16, V4.B16, V7.B16     \
	SXTL(6, 8)                        \
	SXTL2(6, 9)                       \
	SXTL(7, 10)                       \
	SXTL2(7, 11)

#define Q8PAIR4(i, j) \
	Q8PAIR             \
	COLUMN4(i, 8, 9)   \
	COLUMN4(j, 10, 11)

#define Q8PAIR1(i, j, q) \
	Q8PAIR            \
	EVEN1(i, q, 8, 9)  \
	ODD1(j, q, 10, 11)

#define Q8COLUMNS1(q) \
	Q8PAIR1(0, 1, q)  \
	Q8PAIR1(2, 3, q)  \
	Q8PAIR1(4, 5, q)  \
	Q8PAIR1(6, 7, q)

#define AHEADQ8 \
	LINES5                    \
	PRFM 320(R23), PLDL1KEEP  \
	PRFM 384(R23), PLDL1KEEP  \
	PRFM 448(R23), PLDL1KEEP  \
	PRFM 512(R23), PLDL1KEEP  \
	ADD  $544, R23

// func tileQ8NEON(dst *float32, stride int, w *byte, q *int16, scale *float32, rows, blocks, tokens, add int, sums *float32, ahead *byte)
// rows is a multiple of 16 and not 0, blocks and tokens not 0; stride is in bytes.
TEXT ·tileQ8NEON(SB), NOSPLIT, $0-88
	MOVD dst+0(FP), R0
	MOVD stride+8(FP), R1
	MOVD w+16(FP), R2
	MOVD q+24(FP), R3
	MOVD scale+32(FP), R4
	MOVD rows+40(FP), R5
	MOVD blocks+48(FP), R6
	MOVD tokens+56(FP), R7
	MOVD add+64(FP), R24
	MOVD sums+72(FP), R8
	MOVD ahead+80(FP), R9
	LSL  $6, R7, R20
	LSL  $2, R7, R21

rows16:
	TOKENS

tokens4:
	CMP $4, R12
	BLT tokens1
	BEGIN
	CLEARSUMS4

block4:
	AHEADQ8
	CLEAR16
	MOVD $4, R17

columns8:
	COLUMNS8
	Q8PAIR4(0, 1)
	Q8PAIR4(2, 3)
	Q8PAIR4(4, 5)
	Q8PAIR4(6, 7)
	SUB  $1, R17
	CBNZ R17, columns8

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
	B   tokens4

tokens1:
	CBZ  R12, tile
	BEGIN
	CLEARSUMS1

block1:
	AHEADQ8
	CLEAR8
	VLD1  (R14), [V0.H8, V1.H8, V2.H8, V3.H8]
	VLD1R (R15), [V28.S4]
	ADD   R20, R14
	ADD   R21, R15
	Q8COLUMNS1(0)
	Q8COLUMNS1(1)
	Q8COLUMNS1(2)
	Q8COLUMNS1(3)
	HALVES
	FINISH1
	SUB   $1, R19
	CBNZ  R19, block1

	STORE1
	B    tokens1

tile:
	NEXTTILE
	CBNZ R5, rows16
	RET
