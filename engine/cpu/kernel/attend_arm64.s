#include "textflag.h"
#include "neon_arm64.h"
#include "exp_arm64.h"

#define CLEAR4 \
	VEOR V0.B16, V0.B16, V0.B16  \
	VEOR V1.B16, V1.B16, V1.B16  \
	VEOR V2.B16, V2.B16, V2.B16  \
	VEOR V3.B16, V3.B16, V3.B16

// WEIGH adds 16 values of a position, at p, times its score, V28, to a to d.
#define WEIGH(p, a, b, c, d) \
	VLD1.P 64(p), [V16.S4, V17.S4, V18.S4, V19.S4]  \
	FMLA(28, 16, a)                                 \
	FMLA(28, 17, b)                                 \
	FMLA(28, 18, c)                                 \
	FMLA(28, 19, d)

// NORM multiplies with the inverse of the scores' sum, F29.
#define NORM(a, b, c, d) \
	FMULX(0, 29, a, a)  \
	FMULX(0, 29, b, b)  \
	FMULX(0, 29, c, c)  \
	FMULX(0, 29, d, d)

// func attendNEON(out, q, k, v, scores *float32, dim, n int, scale float32)
// dim is a multiple of 16 and not 0, n not 0.
TEXT ·attendNEON(SB), NOSPLIT, $0-60
	MOVD  out+0(FP), R0
	MOVD  q+8(FP), R1
	MOVD  k+16(FP), R2
	MOVD  v+24(FP), R3
	MOVD  scores+32(FP), R4
	MOVD  dim+40(FP), R5
	MOVD  n+48(FP), R6
	FMOVS scale+56(FP), F30
	MOVD  $0xff800000, R7
	FMOVS R7, F31               // the largest score, from -infinity
	MOVD  R4, R8
	MOVD  R6, R9

score:
	CLEAR4
	MOVD R1, R10
	MOVD R5, R11

dot:
	VLD1.P 64(R10), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R2), [V16.S4, V17.S4, V18.S4, V19.S4]
	FMLA(4, 16, 0)
	FMLA(5, 17, 1)
	FMLA(6, 18, 2)
	FMLA(7, 19, 3)
	SUB    $16, R11
	CBNZ   R11, dot

	SUM4
	FMULS   F30, F0, F0
	FMAXS   F0, F31, F31
	FMOVS.P F0, 4(R8)
	SUB     $1, R9
	CBNZ    R9, score

	// Scores to exp(score - largest), their sum to F29: four at a time, then one
	// by one in the first lane.
	EXPK(R7)
	VDUP V31.S[0], V31.S4
	VEOR V29.B16, V29.B16, V29.B16
	MOVD R4, R8
	SUBS $4, R6, R9
	BLT  rest

exps:
	VLD1   (R8), [V0.S4]
	FSUB(31, 0, 0)
	EXP(0, 1, 2, 3)
	FADD(0, 29, 29)
	VST1.P [V0.S4], 16(R8)
	SUBS   $4, R9
	BGE    exps

rest:
	FADDP(29, 29, 29)
	FADDP(29, 29, 29)
	ADDS $4, R9
	BEQ  values

one:
	FMOVS   (R8), F0
	FSUB(31, 0, 0)
	EXP(0, 1, 2, 3)
	FADDS   F0, F29, F29
	FMOVS.P F0, 4(R8)
	SUB     $1, R9
	CBNZ    R9, one

values:
	FDIVS F29, F25, F29
	LSL   $2, R5, R7    // bytes of a row
	SUBS  $64, R5
	BLT   values16

values64: // 64 columns of the values at a time
	CLEAR4
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16
	MOVD R4, R8
	MOVD R6, R9
	MOVD R3, R10

position:
	VLD1R.P 4(R8), [V28.S4]
	MOVD    R10, R11
	WEIGH(R11, 0, 1, 2, 3)
	WEIGH(R11, 4, 5, 6, 7)
	WEIGH(R11, 8, 9, 10, 11)
	WEIGH(R11, 12, 13, 14, 15)
	ADD     R7, R10
	SUB     $1, R9
	CBNZ    R9, position

	NORM(0, 1, 2, 3)
	NORM(4, 5, 6, 7)
	NORM(8, 9, 10, 11)
	NORM(12, 13, 14, 15)
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R0)
	VST1.P [V8.S4, V9.S4, V10.S4, V11.S4], 64(R0)
	VST1.P [V12.S4, V13.S4, V14.S4, V15.S4], 64(R0)
	ADD    $256, R3
	SUBS   $64, R5
	BGE    values64

values16: // what is left of the columns, 16 at a time
	ADDS $64, R5
	BEQ  done

next16:
	CLEAR4
	MOVD R4, R8
	MOVD R6, R9
	MOVD R3, R10

position16:
	VLD1R.P 4(R8), [V28.S4]
	MOVD    R10, R11
	WEIGH(R11, 0, 1, 2, 3)
	ADD     R7, R10
	SUB     $1, R9
	CBNZ    R9, position16

	NORM(0, 1, 2, 3)
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	ADD    $64, R3
	SUBS   $16, R5
	BNE    next16

done:
	RET
