#include "textflag.h"
#include "neon_arm64.h"

// BLOCK multiplies a block, whose scales are lane i of a and of b.
#define BLOCK(i, a, b) \
	VLD1.P 32(R4), [V4.B16, V5.B16]                   \
	VLD1.P 64(R1), [V0.H8, V1.H8, V2.H8, V3.H8]       \
	ADD    $2, R4                                     \
	SXTL(4, 6)                                        \
	SXTL2(4, 7)                                       \
	SXTL(5, 8)                                        \
	SXTL2(5, 9)                                       \
	SMULL(0, 6, 16)                                   \
	SMULL(2, 8, 17)                                   \
	SMLAL2(0, 6, 16)                                  \
	SMLAL2(2, 8, 17)                                  \
	SMLAL(1, 7, 16)                                   \
	SMLAL(3, 9, 17)                                   \
	SMLAL2(1, 7, 16)                                  \
	SMLAL2(3, 9, 17)                                  \
	SCVTF(16, 16)                                     \
	SCVTF(17, 17)                                     \
	FMLAX(i, a, 16, 28)                               \
	FMLAX(i, b, 17, 29)

// SCALES makes eight bytes with signs, the low half of v, floats in a and b, times those
// of the activations, V20 and V21.
#define SCALES(v, a, b) \
	SXTL(v, v)       \
	SXTLS(v, a)      \
	SXTLS2(v, b)     \
	SCVTF(a, a)      \
	SCVTF(b, b)      \
	FMUL(20, a, a)   \
	FMUL(21, b, b)

// func mulSuperNEON(s *super, x *int16, scale, sum *float32) float32
// One super-block (see kquants.go) times the eight blocks of a token.
TEXT ·mulSuperNEON(SB), NOSPLIT, $0-36
	MOVD   s+0(FP), R0
	MOVD   x+8(FP), R1
	MOVD   scale+16(FP), R2
	MOVD   sum+24(FP), R3
	ADD    $274, R0, R4
	VLD1   (R4), [V0.B16, V1.B16]
	VLD1   (R2), [V20.S4, V21.S4]
	VLD1   (R3), [V22.S4, V23.S4]
	VUZP1  V0.B16, V0.B16, V2.B16
	VUZP2  V0.B16, V0.B16, V3.B16
	SCALES(2, 24, 25)
	SCALES(3, 26, 27)
	VUXTL  V1.H4, V4.S4
	VUXTL2 V1.H8, V5.S4
	SCVTF(4, 4)
	SCVTF(5, 5)
	FMUL(22, 4, 30)
	FMLA(23, 5, 30)
	VEOR   V28.B16, V28.B16, V28.B16
	VEOR   V29.B16, V29.B16, V29.B16
	ADD    $2, R0, R4
	BLOCK(0, 24, 26)
	BLOCK(1, 24, 26)
	BLOCK(2, 24, 26)
	BLOCK(3, 24, 26)
	BLOCK(0, 25, 27)
	BLOCK(1, 25, 27)
	BLOCK(2, 25, 27)
	BLOCK(3, 25, 27)
	FADD(29, 28, 28)
	VLD1R  (R0), [V0.H8]
	ADD    $272, R0, R4
	VLD1R  (R4), [V1.H8]
	FCVTL(0, 0)
	FCVTL(1, 1)
	FMUL(0, 28, 28)
	FMLS(1, 30, 28)
	FADDP(28, 28, 28)
	FADDP(28, 28, 28)
	FMOVS  F28, ret+32(FP)
	RET
