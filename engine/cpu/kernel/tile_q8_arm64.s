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

// COLUMNS16 multiplies 16 columns of four tokens.
#define COLUMNS16 \
	CLEAR16        \
	COLUMNS8       \
	Q8PAIR4(0, 1)  \
	Q8PAIR4(2, 3)  \
	Q8PAIR4(4, 5)  \
	Q8PAIR4(6, 7)  \
	COLUMNS8       \
	Q8PAIR4(0, 1)  \
	Q8PAIR4(2, 3)  \
	Q8PAIR4(4, 5)  \
	Q8PAIR4(6, 7)

// SCALES makes the rows' scales of half a block in V8-V11: those that unzip takes from
// the pairs at R23 times d, which lies off behind the columns.
#define SCALES(unzip, off) \
	ADD    $off, R13, R17               \
	VLD1   (R17), [V4.H8, V5.H8]        \
	FCVTL(4, 8)                         \
	FCVTL2(4, 9)                        \
	FCVTL(5, 10)                        \
	FCVTL2(5, 11)                       \
	VLD1   (R23), [V4.B16, V5.B16]      \
	unzip  V5.B16, V4.B16, V6.B16       \
	SXTL(6, 4)                          \
	SXTL2(6, 5)                         \
	SXTLS(4, 12)                        \
	SXTLS2(4, 13)                       \
	SXTLS(5, 14)                        \
	SXTLS2(5, 15)                       \
	SCVTF(12, 12)                       \
	SCVTF(13, 13)                       \
	SCVTF(14, 14)                       \
	SCVTF(15, 15)                       \
	FMUL(12, 8, 8)                      \
	FMUL(13, 9, 9)                      \
	FMUL(14, 10, 10)                    \
	FMUL(15, 11, 11)

// LEASTS makes the rows' minima, with their sign turned, in V12-V15: the numbers 256
// bytes behind R23 times dmin, at R9.
#define LEASTS \
	ADD    $256, R23, R17               \
	VLD1   (R17), [V6.H8, V7.H8]        \
	VLD1   (R9), [V4.H8, V5.H8]         \
	VUXTL  V6.H4, V12.S4                \
	VUXTL2 V6.H8, V13.S4                \
	VUXTL  V7.H4, V14.S4                \
	VUXTL2 V7.H8, V15.S4                \
	SCVTF(12, 12)                       \
	SCVTF(13, 13)                       \
	SCVTF(14, 14)                       \
	SCVTF(15, 15)                       \
	FCVTL(4, 6)                         \
	FCVTL2(4, 7)                        \
	FNEG(6, 6)                          \
	FNEG(7, 7)                          \
	FMUL(6, 12, 12)                     \
	FMUL(7, 13, 13)                     \
	FCVTL(5, 6)                         \
	FCVTL2(5, 7)                        \
	FNEG(6, 6)                          \
	FNEG(7, 7)                          \
	FMUL(6, 14, 14)                     \
	FMUL(7, 15, 15)

// LEAST4 adds the rows' minima times the sum of token t, lane t of V1.
#define LEAST4(t) \
	FMLAX(t, 1, 12, 4)  \
	FMLAX(t, 1, 13, 5)  \
	FMLAX(t, 1, 14, 6)  \
	FMLAX(t, 1, 15, 7)

// SUPER goes to the scales of a super-block, which begins at R13: they are a block of
// the tile behind its eight.
#define SUPER \
	ADD $4352, R13, R23  \
	ADD $512, R23, R9

// BLOCKEND steps behind the block's d, and behind the super-block at its end.
#define BLOCKEND(within) \
	ADD  $32, R13           \
	ADD  $32, R23           \
	SUB  $256, R23, R17     \
	CMP  R17, R13           \
	BNE  within             \
	ADD  $544, R13          \
	SUPER                   \
within:

// func tileKNEON(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, supers, tokens, add int, sums *float32, ahead *byte)
// As tileQ8NEON, of super-blocks (see kquants.go); R25 and R26 as in tileQ41NEON. R23 is
// where the block's scales lie and R9 where dmin does: nothing is read ahead.
TEXT ·tileKNEON(SB), NOSPLIT, $0-96
	MOVD dst+0(FP), R0
	MOVD stride+8(FP), R1
	MOVD w+16(FP), R2
	MOVD q+24(FP), R3
	MOVD scale+32(FP), R4
	MOVD sum+40(FP), R25
	MOVD rows+48(FP), R5
	MOVD supers+56(FP), R6
	MOVD tokens+64(FP), R7
	MOVD add+72(FP), R24
	MOVD sums+80(FP), R8
	LSL  $3, R6, R6
	LSL  $6, R7, R20
	LSL  $2, R7, R21

rows16:
	TOKENS
	MOVD R25, R26

tokens4:
	CMP  $4, R12
	BLT  tokens1
	BEGIN
	SUPER
	MOVD R26, R16
	CLEARSUMS4

block4:
	COLUMNS16
	SCALES(VUZP1, 256)
	VLD1 (R15), [V0.S4]
	FINISH4(0, 16, 17, 18, 19)
	KEEP4
	FINISH4(1, 20, 21, 22, 23)
	KEEP4
	FINISH4(2, 24, 25, 26, 27)
	KEEP4
	FINISH4(3, 28, 29, 30, 31)
	KEEP4
	SUB  $256, R8
	COLUMNS16
	SCALES(VUZP2, 0)
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
	BLOCKEND(within4)
	CBNZ R19, block4

	STORE4
	ADD $16, R26
	B   tokens4

tokens1:
	CBZ  R12, tile
	BEGIN
	SUPER
	MOVD R26, R16
	CLEARSUMS1

block1:
	VLD1  (R14), [V0.H8, V1.H8, V2.H8, V3.H8]
	VLD1R (R15), [V28.S4]
	VLD1R (R16), [V29.S4]
	ADD   R20, R14
	ADD   R21, R15
	ADD   R21, R16
	CLEAR8
	Q8COLUMNS1(0)
	Q8COLUMNS1(1)
	SCALES(VUZP1, 256)
	FINISH1
	CLEAR8
	Q8COLUMNS1(2)
	Q8COLUMNS1(3)
	SCALES(VUZP2, 0)
	FINISH1
	LEASTS
	FMLA(29, 12, 24)
	FMLA(29, 13, 25)
	FMLA(29, 14, 26)
	FMLA(29, 15, 27)
	SUB   $1, R19
	BLOCKEND(within1)
	CBNZ R19, block1

	STORE1
	ADD  $4, R26
	B    tokens1

tile:
	NEXTTILE
	CBNZ R5, rows16
	RET
