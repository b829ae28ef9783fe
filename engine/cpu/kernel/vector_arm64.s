#include "textflag.h"
#include "neon_arm64.h"
#include "exp_arm64.h"

// geluK: GELU is x / (1+exp(x*(first + second*x²))).
DATA geluK<>+0(SB)/4, $0xbfcc422a // -2 sqrt(2/pi)
DATA geluK<>+4(SB)/4, $0xbd922279 // that times 0.044715
GLOBL geluK<>(SB), RODATA|NOPTR, $8

// func quantizeNEON(q *int16, scale, sum, x *float32, blocks, tokens int)
// blocks and tokens are not 0.
TEXT ·quantizeNEON(SB), NOSPLIT, $0-48
	MOVD q+0(FP), R0
	MOVD scale+8(FP), R1
	MOVD sum+16(FP), R2
	MOVD x+24(FP), R3
	MOVD blocks+32(FP), R4
	MOVD tokens+40(FP), R5
	LSL  $2, R5, R6           // bytes from a block's scale to the next block's
	LSL  $6, R5, R5           // the same of q
	MOVD $0x7fffffff, R7
	VDUP R7, V31.S4
	MOVD $0x0da24260, R7      // tiny
	VDUP R7, V30.S4
	MOVD $0x46fffe00, R7      // most16
	VDUP R7, V29.S4

block:
	VLD1.P 64(R3), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1.P 64(R3), [V4.S4, V5.S4, V6.S4, V7.S4]

	// the largest magnitude, as an integer, to V16
	VAND  V31.B16, V0.B16, V16.B16
	VAND  V31.B16, V1.B16, V17.B16
	VAND  V31.B16, V2.B16, V18.B16
	VAND  V31.B16, V3.B16, V19.B16
	VAND  V31.B16, V4.B16, V20.B16
	VAND  V31.B16, V5.B16, V21.B16
	VAND  V31.B16, V6.B16, V22.B16
	VAND  V31.B16, V7.B16, V23.B16
	VUMAX V20.S4, V16.S4, V16.S4
	VUMAX V21.S4, V17.S4, V17.S4
	VUMAX V22.S4, V18.S4, V18.S4
	VUMAX V23.S4, V19.S4, V19.S4
	VUMAX V18.S4, V16.S4, V16.S4
	VUMAX V19.S4, V17.S4, V17.S4
	VUMAX V30.S4, V16.S4, V16.S4
	VUMAX V17.S4, V16.S4, V16.S4
	UMAXV(16, 16)

	FDIVS F29, F16, F17 // scale
	FDIVS F16, F29, F18 // inverse
	FMULX(0, 18, 0, 0)
	FMULX(0, 18, 1, 1)
	FMULX(0, 18, 2, 2)
	FMULX(0, 18, 3, 3)
	FMULX(0, 18, 4, 4)
	FMULX(0, 18, 5, 5)
	FMULX(0, 18, 6, 6)
	FMULX(0, 18, 7, 7)
	FCVTNS(0, 0)
	FCVTNS(1, 1)
	FCVTNS(2, 2)
	FCVTNS(3, 3)
	FCVTNS(4, 4)
	FCVTNS(5, 5)
	FCVTNS(6, 6)
	FCVTNS(7, 7)
	SQXTN(0, 20)
	SQXTN2(1, 20)
	SQXTN(2, 21)
	SQXTN2(3, 21)
	SQXTN(4, 22)
	SQXTN2(5, 22)
	SQXTN(6, 23)
	SQXTN2(7, 23)
	VST1 [V20.H8, V21.H8, V22.H8, V23.H8], (R0)

	VADD  V1.S4, V0.S4, V0.S4
	VADD  V3.S4, V2.S4, V2.S4
	VADD  V5.S4, V4.S4, V4.S4
	VADD  V7.S4, V6.S4, V6.S4
	VADD  V2.S4, V0.S4, V0.S4
	VADD  V6.S4, V4.S4, V4.S4
	VADD  V4.S4, V0.S4, V0.S4
	VADDV V0.S4, V0
	SCVTF(0, 0)
	FMULS F17, F0, F0
	FMOVS F17, (R1)
	FMOVS F0, (R2)
	ADD   R5, R0
	ADD   R6, R1
	ADD   R6, R2
	SUB   $1, R4
	CBNZ  R4, block
	RET

// func dotNEON(a, b *float32, n int) float32
// n is a multiple of 16 and not 0.
TEXT ·dotNEON(SB), NOSPLIT, $0-28
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD n+16(FP), R2
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16

loop:
	PRFM   4096(R0), PLDL1KEEP
	VLD1.P 64(R0), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R1), [V8.S4, V9.S4, V10.S4, V11.S4]
	FMLA(4, 8, 0)
	FMLA(5, 9, 1)
	FMLA(6, 10, 2)
	FMLA(7, 11, 3)
	SUB    $16, R2
	CBNZ   R2, loop

	SUM4
	FMOVS F0, ret+24(FP)
	RET

// func scaleByNEON(dst, x, w *float32, n int, s float32)
// n is a multiple of 16 and not 0.
TEXT ·scaleByNEON(SB), NOSPLIT, $0-36
	MOVD  dst+0(FP), R0
	MOVD  x+8(FP), R1
	MOVD  w+16(FP), R2
	MOVD  n+24(FP), R3
	FMOVS s+32(FP), F16

loop:
	VLD1.P 64(R1), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1.P 64(R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	FMULX(0, 16, 0, 0)
	FMULX(0, 16, 1, 1)
	FMULX(0, 16, 2, 2)
	FMULX(0, 16, 3, 3)
	FMUL(4, 0, 0)
	FMUL(5, 1, 1)
	FMUL(6, 2, 2)
	FMUL(7, 3, 3)
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	SUB    $16, R3
	CBNZ   R3, loop
	RET

// func swiGLUNEON(dst, gate, up *float32, n int)
// n is a multiple of 16 and not 0.
TEXT ·swiGLUNEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD gate+8(FP), R1
	MOVD up+16(FP), R2
	MOVD n+24(FP), R3
	EXPK(R4)

loop:
	VLD1.P 64(R1), [V28.S4, V29.S4, V30.S4, V31.S4]
	FNEG(28, 0)
	FNEG(29, 1)
	FNEG(30, 2)
	FNEG(31, 3)
	EXP(0, 4, 5, 6)
	EXP(1, 7, 8, 9)
	EXP(2, 10, 11, 12)
	EXP(3, 13, 14, 15)
	VLD1.P 64(R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	FADD(25, 0, 0)
	FADD(25, 1, 1)
	FADD(25, 2, 2)
	FADD(25, 3, 3)
	FDIV(0, 28, 0)
	FDIV(1, 29, 1)
	FDIV(2, 30, 2)
	FDIV(3, 31, 3)
	FMUL(4, 0, 0)
	FMUL(5, 1, 1)
	FMUL(6, 2, 2)
	FMUL(7, 3, 3)
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	SUB    $16, R3
	CBNZ   R3, loop
	RET

// func geGLUNEON(dst, gate, up *float32, n int)
// n is a multiple of 16 and not 0.
TEXT ·geGLUNEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD gate+8(FP), R1
	MOVD up+16(FP), R2
	MOVD n+24(FP), R3
	EXPK(R4)
	MOVD $geluK<>(SB), R5
	ADD  $4, R5, R6

loop:
	VLD1.P 64(R1), [V28.S4, V29.S4, V30.S4, V31.S4]
	VLD1R  (R5), [V8.S4]
	VLD1R  (R6), [V12.S4]
	COPY(8, 9)
	COPY(8, 10)
	COPY(8, 11)
	FMUL(28, 28, 0)
	FMUL(29, 29, 1)
	FMUL(30, 30, 2)
	FMUL(31, 31, 3)
	FMLA(12, 0, 8)
	FMLA(12, 1, 9)
	FMLA(12, 2, 10)
	FMLA(12, 3, 11)
	FMUL(28, 8, 0)
	FMUL(29, 9, 1)
	FMUL(30, 10, 2)
	FMUL(31, 11, 3)
	EXP(0, 4, 5, 6)
	EXP(1, 7, 8, 9)
	EXP(2, 10, 11, 12)
	EXP(3, 13, 14, 15)
	VLD1.P 64(R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	FADD(25, 0, 0)
	FADD(25, 1, 1)
	FADD(25, 2, 2)
	FADD(25, 3, 3)
	FDIV(0, 28, 0)
	FDIV(1, 29, 1)
	FDIV(2, 30, 2)
	FDIV(3, 31, 3)
	FMUL(4, 0, 0)
	FMUL(5, 1, 1)
	FMUL(6, 2, 2)
	FMUL(7, 3, 3)
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	SUB    $16, R3
	CBNZ   R3, loop
	RET

// func ropeNEON(x, cos, sin *float32, n int)
// n is a multiple of 16 and not 0.
TEXT ·ropeNEON(SB), NOSPLIT, $0-32
	MOVD x+0(FP), R0
	MOVD cos+8(FP), R1
	MOVD sin+16(FP), R2
	MOVD n+24(FP), R3

loop:
	VLD1   (R0), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1.P 64(R1), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R2), [V8.S4, V9.S4, V10.S4, V11.S4]
	VREV64 V0.S4, V12.S4
	VREV64 V1.S4, V13.S4
	VREV64 V2.S4, V14.S4
	VREV64 V3.S4, V15.S4
	FMUL(4, 0, 0)
	FMUL(5, 1, 1)
	FMUL(6, 2, 2)
	FMUL(7, 3, 3)
	FMLA(8, 12, 0)
	FMLA(9, 13, 1)
	FMLA(10, 14, 2)
	FMLA(11, 15, 3)
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	SUB    $16, R3
	CBNZ   R3, loop
	RET

// func ropeHalvesNEON(x, y, cos, sin *float32, n int)
// n is a multiple of 16 and not 0.
TEXT ·ropeHalvesNEON(SB), NOSPLIT, $0-40
	MOVD x+0(FP), R0
	MOVD y+8(FP), R1
	MOVD cos+16(FP), R2
	MOVD sin+24(FP), R3
	MOVD n+32(FP), R4

loop:
	VLD1   (R0), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1   (R1), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R2), [V8.S4, V9.S4, V10.S4, V11.S4]
	VLD1.P 64(R3), [V12.S4, V13.S4, V14.S4, V15.S4]
	FMUL(8, 0, 16)
	FMUL(9, 1, 17)
	FMUL(10, 2, 18)
	FMUL(11, 3, 19)
	FMUL(8, 4, 20)
	FMUL(9, 5, 21)
	FMUL(10, 6, 22)
	FMUL(11, 7, 23)
	FMLS(12, 4, 16)
	FMLS(13, 5, 17)
	FMLS(14, 6, 18)
	FMLS(15, 7, 19)
	FMLA(12, 0, 20)
	FMLA(13, 1, 21)
	FMLA(14, 2, 22)
	FMLA(15, 3, 23)
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R0)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R1)
	SUB    $16, R4
	CBNZ   R4, loop
	RET

// func maxNEON(x *float32, n int) (top float32, bits uint32)
// n is a multiple of 16 and not 0. bits is the largest magnitude, as an integer.
TEXT ·maxNEON(SB), NOSPLIT, $0-24
	MOVD x+0(FP), R0
	MOVD n+8(FP), R1
	MOVD $0x7fffffff, R2
	VDUP R2, V31.S4
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	VLD1 (R0), [V0.S4, V1.S4, V2.S4, V3.S4]

loop:
	VLD1.P 64(R0), [V8.S4, V9.S4, V10.S4, V11.S4]
	FMAX(8, 0, 0)
	FMAX(9, 1, 1)
	FMAX(10, 2, 2)
	FMAX(11, 3, 3)
	VAND   V31.B16, V8.B16, V8.B16
	VAND   V31.B16, V9.B16, V9.B16
	VAND   V31.B16, V10.B16, V10.B16
	VAND   V31.B16, V11.B16, V11.B16
	VUMAX  V8.S4, V4.S4, V4.S4
	VUMAX  V9.S4, V5.S4, V5.S4
	VUMAX  V10.S4, V6.S4, V6.S4
	VUMAX  V11.S4, V7.S4, V7.S4
	SUB    $16, R1
	CBNZ   R1, loop

	FMAX(1, 0, 0)
	FMAX(3, 2, 2)
	FMAX(2, 0, 0)
	FMAXV(0, 0)
	VUMAX V5.S4, V4.S4, V4.S4
	VUMAX V7.S4, V6.S4, V6.S4
	VUMAX V6.S4, V4.S4, V4.S4
	UMAXV(4, 4)
	FMOVS F0, top+16(FP)
	FMOVS F4, bits+20(FP)
	RET

// func prefetchLines(p *byte, n int)
// n is the number of lines of 64 bytes, not 0.
TEXT ·prefetchLines(SB), NOSPLIT, $0-16
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1

line:
	PRFM (R0), PLDL1KEEP
	ADD  $64, R0
	SUB  $1, R1
	CBNZ R1, line
	RET
