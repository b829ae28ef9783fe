#include "textflag.h"
#include "neon_arm64.h"
#include "exp_arm64.h"

#define CLEAR4(a, b, c, d) \
	VEOR a.B16, a.B16, a.B16  \
	VEOR b.B16, b.B16, b.B16  \
	VEOR c.B16, c.B16, c.B16  \
	VEOR d.B16, d.B16, d.B16

// WIDEN makes floats, in V20 to V23, of the 16 numbers in V16 and V17.
#define WIDEN \
	SXTLS(16, 20)   \
	SXTLS2(16, 21)  \
	SXTLS(17, 22)   \
	SXTLS2(17, 23)  \
	SCVTF(20, 20)   \
	SCVTF(21, 21)   \
	SCVTF(22, 22)   \
	SCVTF(23, 23)

// COLUMN adds 16 keys' column, V20 to V23, times that of query r, a lane of V24, to a to d.
#define COLUMN(r, a, b, c, d) \
	FMLAX(r, 24, 20, a)  \
	FMLAX(r, 24, 21, b)  \
	FMLAX(r, 24, 22, c)  \
	FMLAX(r, 24, 23, d)

// ADDROW adds a query's part of a block, a to d, times the scales, V16 to V19, to
// its scores at R10, and goes on to the next query's, Span floats on.
#define ADDROW(a, b, c, d) \
	VLD1 (R10), [V20.S4, V21.S4, V22.S4, V23.S4]  \
	FMLA(16, a, 20)                               \
	FMLA(17, b, 21)                               \
	FMLA(18, c, 22)                               \
	FMLA(19, d, 23)                               \
	VST1 [V20.S4, V21.S4, V22.S4, V23.S4], (R10)  \
	ADD  $512, R10

// func scoresNEON(dst, q *float32, k *byte, tiles, blocks int)
TEXT ·scoresNEON(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD q+8(FP), R1
	MOVD k+16(FP), R2
	MOVD tiles+24(FP), R3
	MOVD blocks+32(FP), R4

tile:
	MOVD R1, R5
	MOVD R4, R6
	CLEAR4(V0, V1, V2, V3)
	MOVD R0, R10
	VST1 [V0.S4, V1.S4, V2.S4, V3.S4], (R10)
	ADD  $512, R10
	VST1 [V0.S4, V1.S4, V2.S4, V3.S4], (R10)
	ADD  $512, R10
	VST1 [V0.S4, V1.S4, V2.S4, V3.S4], (R10)
	ADD  $512, R10
	VST1 [V0.S4, V1.S4, V2.S4, V3.S4], (R10)

block:
	CLEAR4(V0, V1, V2, V3)
	CLEAR4(V4, V5, V6, V7)
	CLEAR4(V8, V9, V10, V11)
	CLEAR4(V12, V13, V14, V15)
	ADD  $64, R2, R7
	MOVD $32, R8

column:
	VLD1.P 32(R7), [V16.H8, V17.H8]
	VLD1.P 16(R5), [V24.S4]
	WIDEN
	COLUMN(0, 0, 1, 2, 3)
	COLUMN(1, 4, 5, 6, 7)
	COLUMN(2, 8, 9, 10, 11)
	COLUMN(3, 12, 13, 14, 15)
	SUB    $1, R8
	CBNZ   R8, column

	VLD1 (R2), [V16.S4, V17.S4, V18.S4, V19.S4]
	MOVD R0, R10
	ADDROW(0, 1, 2, 3)
	ADDROW(4, 5, 6, 7)
	ADDROW(8, 9, 10, 11)
	ADDROW(12, 13, 14, 15)
	ADD  $1088, R2
	SUB  $1, R6
	CBNZ R6, block

	ADD  $64, R0
	SUB  $1, R3
	CBNZ R3, tile
	RET

// WEIGH adds a position's values, V20 to V23, times a query's weight, at p, to a to d.
#define WEIGH(p, a, b, c, d) \
	VLD1R.P 4(p), [V25.S4]  \
	FMLA(25, 20, a)         \
	FMLA(25, 21, b)         \
	FMLA(25, 22, c)         \
	FMLA(25, 23, d)

// func weighNEON(out, w *float32, v *byte, n, blocks int)
// Half a block of the columns at a time: 16 sums of each of four queries stay in
// registers over all positions.
TEXT ·weighNEON(SB), NOSPLIT, $0-40
	MOVD out+0(FP), R0
	MOVD w+8(FP), R1
	MOVD v+16(FP), R2
	MOVD n+24(FP), R3
	MOVD blocks+32(FP), R4
	LSL  $7, R4, R5        // bytes of a query's sums
	MOVD $1088, R6
	MUL  R4, R6, R6        // bytes of a tile

block:
	MOVD ZR, R7 // where in a position's values the half begins

half:
	MOVD R0, R8
	VLD1 (R8), [V0.S4, V1.S4, V2.S4, V3.S4]
	ADD  R5, R8
	VLD1 (R8), [V4.S4, V5.S4, V6.S4, V7.S4]
	ADD  R5, R8
	VLD1 (R8), [V8.S4, V9.S4, V10.S4, V11.S4]
	ADD  R5, R8
	VLD1 (R8), [V12.S4, V13.S4, V14.S4, V15.S4]
	MOVD R1, R10
	ADD  $512, R1, R11
	ADD  $1024, R1, R12
	ADD  $1536, R1, R13
	MOVD R2, R14
	MOVD R3, R15

tile:
	MOVD R14, R16
	ADD  $64, R14, R17
	ADD  R7, R17
	MOVD $16, R19
	CMP  R19, R15
	CSEL LT, R15, R19, R19

position:
	VLD1    (R17), [V16.H8, V17.H8]
	VLD1R.P 4(R16), [V24.S4]
	ADD     $64, R17
	WIDEN
	FMUL(24, 20, 20)
	FMUL(24, 21, 21)
	FMUL(24, 22, 22)
	FMUL(24, 23, 23)
	WEIGH(R10, 0, 1, 2, 3)
	WEIGH(R11, 4, 5, 6, 7)
	WEIGH(R12, 8, 9, 10, 11)
	WEIGH(R13, 12, 13, 14, 15)
	SUB     $1, R19
	CBNZ    R19, position

	ADD  R6, R14
	SUBS $16, R15
	BGT  tile

	MOVD R0, R8
	VST1 [V0.S4, V1.S4, V2.S4, V3.S4], (R8)
	ADD  R5, R8
	VST1 [V4.S4, V5.S4, V6.S4, V7.S4], (R8)
	ADD  R5, R8
	VST1 [V8.S4, V9.S4, V10.S4, V11.S4], (R8)
	ADD  R5, R8
	VST1 [V12.S4, V13.S4, V14.S4, V15.S4], (R8)
	ADD  $64, R0
	ADD  $32, R7
	CMP  $64, R7
	BNE  half

	ADD  $1088, R2
	SUB  $1, R4
	CBNZ R4, block
	RET

// func powersNEON(x *float32, n int, top float32) (sum float32)
// n is a multiple of 16 and not 0.
TEXT ·powersNEON(SB), NOSPLIT, $0-28
	MOVD  x+0(FP), R0
	MOVD  n+8(FP), R1
	FMOVS top+16(FP), F31
	VDUP  V31.S[0], V31.S4
	EXPK(R2)
	VEOR  V29.B16, V29.B16, V29.B16

four:
	VLD1   (R0), [V0.S4]
	FSUB(31, 0, 0)
	EXP(0, 1, 2, 3)
	FADD(0, 29, 29)
	VST1.P [V0.S4], 16(R0)
	SUBS   $4, R1
	BNE    four

	FADDP(29, 29, 29)
	FADDP(29, 29, 29)
	FMOVS F29, sum+24(FP)
	RET
