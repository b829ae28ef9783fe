#include "textflag.h"
#include "neon_arm64.h"

// Tiles of 16 rows: four tokens pass together over a tile, and what is left one by
// one. A column of 16 rows, as 16-bit numbers, is two registers; it is multiplied
// with a lane of the activations.
//
// Registers:
//	R0 dst    R5 rows left    R10 q of the tokens       R15 scale at the block
//	R1 stride R6 blocks       R11 scale of the tokens   R16 sum at the block
//	R2 w      R7 tokens       R12 tokens left           R19 blocks left
//	R3 q      R8 sums         R13 w at the block        R20 bytes of q of a block
//	R4 scale  R9 ahead        R14 q at the block        R21 bytes of scale of a block
//	R22 dst of the tokens     R23 ahead of the block    R24 add
//	R25 sum (Q4_1)            R26 sum of the tokens     R17 free
//
//	four tokens                                  one token
//	V0-V3   8 columns of each                    32 columns
//	V4-V15  weights, and room                    the same
//	V16-V31 products, 4 registers a token        V16-V23 products, V24-V27 sums
// The sums of four tokens are in memory.

// COLUMN4 multiplies a column, rows 0-7 in a and 8-15 in b, with lane i of four
// tokens.
#define COLUMN4(i, a, b) \
	SMLALX(i, 0, a, 16)   \
	SMLAL2X(i, 0, a, 17)  \
	SMLALX(i, 0, b, 18)   \
	SMLAL2X(i, 0, b, 19)  \
	SMLALX(i, 1, a, 20)   \
	SMLAL2X(i, 1, a, 21)  \
	SMLALX(i, 1, b, 22)   \
	SMLAL2X(i, 1, b, 23)  \
	SMLALX(i, 2, a, 24)   \
	SMLAL2X(i, 2, a, 25)  \
	SMLALX(i, 2, b, 26)   \
	SMLAL2X(i, 2, b, 27)  \
	SMLALX(i, 3, a, 28)   \
	SMLAL2X(i, 3, a, 29)  \
	SMLALX(i, 3, b, 30)   \
	SMLAL2X(i, 3, b, 31)

// EVEN1 and ODD1 multiply a column with lane i of q. They add to different
// registers: each sum waits for the one before it.
#define EVEN1(i, q, a, b) \
	SMLALX(i, q, a, 16)   \
	SMLAL2X(i, q, a, 17)  \
	SMLALX(i, q, b, 18)   \
	SMLAL2X(i, q, b, 19)

#define ODD1(i, q, a, b) \
	SMLALX(i, q, a, 20)   \
	SMLAL2X(i, q, a, 21)  \
	SMLALX(i, q, b, 22)   \
	SMLAL2X(i, q, b, 23)

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

// Q41LINE loads a line of Q4_1. V8 and V9 have the even columns of rows 0-7 and
// 8-15, four nibbles to a number, V10 and V11 the odd ones.
#define Q41LINE \
	VLD1.P 64(R13), [V4.H8, V5.H8, V6.H8, V7.H8]  \
	VUZP1  V5.H8, V4.H8, V8.H8                    \
	VUZP1  V7.H8, V6.H8, V9.H8                    \
	VUZP2  V5.H8, V4.H8, V10.H8                   \
	VUZP2  V7.H8, V6.H8, V11.H8

// NIBBLES leaves the lowest nibbles of V8 to V11 in V4 to V7; MASK prepares V15,
// which LEASTS uses up.
#define MASK \
	VMOVI $15, V15.B16       \
	VUSHR $8, V15.H8, V15.H8

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

// HALVES reads the 16 rows' scales to V8-V11, and LEASTS their minima to V12-V15.
#define HALVES \
	VLD1.P 32(R13), [V4.H8, V5.H8]  \
	FCVTL(4, 8)                     \
	FCVTL2(4, 9)                    \
	FCVTL(5, 10)                    \
	FCVTL2(5, 11)

#define LEASTS \
	VLD1.P 32(R13), [V4.H8, V5.H8]  \
	FCVTL(4, 12)                    \
	FCVTL2(4, 13)                   \
	FCVTL(5, 14)                    \
	FCVTL2(5, 15)

#define CLEAR8 \
	VEOR V16.B16, V16.B16, V16.B16  \
	VEOR V17.B16, V17.B16, V17.B16  \
	VEOR V18.B16, V18.B16, V18.B16  \
	VEOR V19.B16, V19.B16, V19.B16  \
	VEOR V20.B16, V20.B16, V20.B16  \
	VEOR V21.B16, V21.B16, V21.B16  \
	VEOR V22.B16, V22.B16, V22.B16  \
	VEOR V23.B16, V23.B16, V23.B16

#define CLEAR16 \
	CLEAR8                          \
	VEOR V24.B16, V24.B16, V24.B16  \
	VEOR V25.B16, V25.B16, V25.B16  \
	VEOR V26.B16, V26.B16, V26.B16  \
	VEOR V27.B16, V27.B16, V27.B16  \
	VEOR V28.B16, V28.B16, V28.B16  \
	VEOR V29.B16, V29.B16, V29.B16  \
	VEOR V30.B16, V30.B16, V30.B16  \
	VEOR V31.B16, V31.B16, V31.B16

// FINISH4 adds the products a to d of token t to its sums at R8, scaled by the
// rows' scales and by the token's, lane t of V0.
#define FINISH4(t, a, b, c, d) \
	VLD1   (R8), [V4.S4, V5.S4, V6.S4, V7.S4]  \
	SCVTF(a, a)                                \
	SCVTF(b, b)                                \
	SCVTF(c, c)                                \
	SCVTF(d, d)                                \
	FMULX(t, 0, 8, 2)                          \
	FMLA(2, a, 4)                              \
	FMULX(t, 0, 9, 2)                          \
	FMLA(2, b, 5)                              \
	FMULX(t, 0, 10, 2)                         \
	FMLA(2, c, 6)                              \
	FMULX(t, 0, 11, 2)                         \
	FMLA(2, d, 7)

// LEAST4 adds the rows' minima times the sum of token t, lane t of V1.
#define LEAST4(t) \
	FMLAX(t, 1, 12, 4)  \
	FMLAX(t, 1, 13, 5)  \
	FMLAX(t, 1, 14, 6)  \
	FMLAX(t, 1, 15, 7)

#define KEEP4 \
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R8)

// FINISH1 adds the products of the one token, scaled; V28 is its scale.
#define FINISH1 \
	VADD V20.S4, V16.S4, V16.S4  \
	VADD V21.S4, V17.S4, V17.S4  \
	VADD V22.S4, V18.S4, V18.S4  \
	VADD V23.S4, V19.S4, V19.S4  \
	SCVTF(16, 16)                \
	SCVTF(17, 17)                \
	SCVTF(18, 18)                \
	SCVTF(19, 19)                \
	FMUL(28, 8, 8)               \
	FMUL(28, 9, 9)               \
	FMUL(28, 10, 10)             \
	FMUL(28, 11, 11)             \
	FMLA(8, 16, 24)              \
	FMLA(9, 17, 25)              \
	FMLA(10, 18, 26)             \
	FMLA(11, 19, 27)

// AHEADQ8 and AHEADQ41 ask for the lines of a block further on. Each group of tokens
// asks again, which costs little beside the products.
#define LINES5 \
	PRFM (R23), PLDL1KEEP     \
	PRFM 64(R23), PLDL1KEEP   \
	PRFM 128(R23), PLDL1KEEP  \
	PRFM 192(R23), PLDL1KEEP  \
	PRFM 256(R23), PLDL1KEEP

#define AHEADQ41 \
	LINES5          \
	ADD $320, R23

#define AHEADQ8 \
	LINES5                    \
	PRFM 320(R23), PLDL1KEEP  \
	PRFM 384(R23), PLDL1KEEP  \
	PRFM 448(R23), PLDL1KEEP  \
	PRFM 512(R23), PLDL1KEEP  \
	ADD  $544, R23

// BEGIN goes to the first block of the tile.
#define BEGIN \
	MOVD R2, R13   \
	MOVD R10, R14  \
	MOVD R11, R15  \
	MOVD R6, R19   \
	MOVD R9, R23

#define CLEARSUMS4 \
	CLEAR8                                           \
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R8)  \
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R8)  \
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R8)  \
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R8)  \
	SUB    $256, R8

// COLUMNS8 loads 8 columns of four tokens.
#define COLUMNS8 \
	FMOVQ (R14), F0     \
	FMOVQ 64(R14), F1   \
	FMOVQ 128(R14), F2  \
	FMOVQ 192(R14), F3  \
	ADD   $16, R14

// ADDDST adds what dst has to V24-V27.
#define ADDDST \
	VLD1 (R22), [V4.S4, V5.S4, V6.S4, V7.S4]  \
	FADD(4, 24, 24)                           \
	FADD(5, 25, 25)                           \
	FADD(6, 26, 26)                           \
	FADD(7, 27, 27)

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
	MOVD R3, R10
	MOVD R4, R11
	MOVD R7, R12
	MOVD R0, R22

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
	SUB  $256, R8
	ADD  R20, R14
	SUB  $64, R14
	ADD  R21, R15
	SUB  $1, R19
	CBNZ R19, block4

	MOVD $4, R17

store4:
	VLD1.P 64(R8), [V24.S4, V25.S4, V26.S4, V27.S4]
	CBZ    R24, put4
	ADDDST

put4:
	VST1 [V24.S4, V25.S4, V26.S4, V27.S4], (R22)
	ADD  R1, R22
	SUB  $1, R17
	CBNZ R17, store4

	SUB $256, R8
	ADD $256, R10
	ADD $16, R11
	SUB $4, R12
	B   tokens4

tokens1:
	CBZ  R12, tile
	BEGIN
	VEOR V24.B16, V24.B16, V24.B16
	VEOR V25.B16, V25.B16, V25.B16
	VEOR V26.B16, V26.B16, V26.B16
	VEOR V27.B16, V27.B16, V27.B16

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

	CBZ R24, put1
	ADDDST

put1:
	VST1 [V24.S4, V25.S4, V26.S4, V27.S4], (R22)
	ADD  R1, R22
	ADD  $64, R10
	ADD  $4, R11
	SUB  $1, R12
	B    tokens1

tile:
	MOVD R13, R2
	MOVD R23, R9
	ADD  $64, R0
	SUB  $16, R5
	CBNZ R5, rows16
	RET

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
	MOVD R3, R10
	MOVD R4, R11
	MOVD R25, R26
	MOVD R7, R12
	MOVD R0, R22

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
	SUB  $256, R8
	ADD  R20, R14
	SUB  $64, R14
	ADD  R21, R15
	ADD  R21, R16
	SUB  $1, R19
	CBNZ R19, block4

	MOVD $4, R17

store4:
	VLD1.P 64(R8), [V24.S4, V25.S4, V26.S4, V27.S4]
	CBZ    R24, put4
	ADDDST

put4:
	VST1 [V24.S4, V25.S4, V26.S4, V27.S4], (R22)
	ADD  R1, R22
	SUB  $1, R17
	CBNZ R17, store4

	SUB $256, R8
	ADD $256, R10
	ADD $16, R11
	ADD $16, R26
	SUB $4, R12
	B   tokens4

tokens1:
	CBZ  R12, tile
	BEGIN
	MOVD R26, R16
	VEOR V24.B16, V24.B16, V24.B16
	VEOR V25.B16, V25.B16, V25.B16
	VEOR V26.B16, V26.B16, V26.B16
	VEOR V27.B16, V27.B16, V27.B16

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

	CBZ R24, put1
	ADDDST

put1:
	VST1 [V24.S4, V25.S4, V26.S4, V27.S4], (R22)
	ADD  R1, R22
	ADD  $64, R10
	ADD  $4, R11
	ADD  $4, R26
	SUB  $1, R12
	B    tokens1

tile:
	MOVD R13, R2
	MOVD R23, R9
	ADD  $64, R0
	SUB  $16, R5
	CBNZ R5, rows16
	RET
