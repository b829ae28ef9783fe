#include "textflag.h"

// The constants of EXP, as in vector_avx512_amd64.s but for the limits: there
// is no instruction here that scales by a power of two beyond the exponents.
DATA expK2<>+0(SB)/4, $0x3fb8aa3b  // log2(e)
DATA expK2<>+4(SB)/4, $0x3f318000  // ln(2), its leading bits
DATA expK2<>+8(SB)/4, $0xb95e8083  // ln(2), the rest
DATA expK2<>+12(SB)/4, $0x39506967
DATA expK2<>+16(SB)/4, $0x3ab743ce
DATA expK2<>+20(SB)/4, $0x3c088908
DATA expK2<>+24(SB)/4, $0x3d2aa9c1
DATA expK2<>+28(SB)/4, $0x3e2aaaaa
DATA expK2<>+32(SB)/4, $0x3f000000
DATA expK2<>+36(SB)/4, $0x3f800000 // 1
DATA expK2<>+40(SB)/4, $0xc2ae0000 // -87, whose exp is 1.6e-38
DATA expK2<>+44(SB)/4, $0x42b00000 // 88, whose exp is 1.7e38
DATA expK2<>+48(SB)/4, $0x7fffffff // all but the sign
GLOBL expK2<>(SB), RODATA|NOPTR, $52

// geluK2: GELU is x / (1+exp(x*(first + second*x²))).
DATA geluK2<>+0(SB)/4, $0xbfcc422a // -2 sqrt(2/pi)
DATA geluK2<>+4(SB)/4, $0xbd922279 // that times 0.044715
GLOBL geluK2<>(SB), RODATA|NOPTR, $8

// ADDC is p = p*x + the constant at off; t is free.
#define ADDC(off, x, p, t) \
	VBROADCASTSS expK2<>+off(SB), t  \
	VFMADD213PS  t, x, p

// EXP is e to the power of x, in place; n, p and t are free. NaN stays NaN.
#define EXP(x, n, p, t) \
	VBROADCASTSS expK2<>+40(SB), t  \
	VMAXPS       x, t, x            \
	VBROADCASTSS expK2<>+44(SB), t  \
	VMINPS       x, t, x            \
	VBROADCASTSS expK2<>+0(SB), t   \
	VMULPS       t, x, n            \
	VROUNDPS     $8, n, n           \
	VBROADCASTSS expK2<>+4(SB), t   \
	VFNMADD231PS t, n, x            \
	VBROADCASTSS expK2<>+8(SB), t   \
	VFNMADD231PS t, n, x            \
	VBROADCASTSS expK2<>+12(SB), p  \
	ADDC(16, x, p, t)               \
	ADDC(20, x, p, t)               \
	ADDC(24, x, p, t)               \
	ADDC(28, x, p, t)               \
	ADDC(32, x, p, t)               \
	ADDC(36, x, p, t)               \
	ADDC(36, x, p, t)               \
	VCVTPS2DQ    n, n               \
	VPSLLD       $23, n, n          \
	VPADDD       n, p, x

// SUM1 adds up the lanes of Y0 into X0; X1 is free.
#define SUM1 \
	VEXTRACTF128 $1, Y0, X1  \
	VADDPS       X1, X0, X0  \
	VHADDPS      X0, X0, X0  \
	VHADDPS      X0, X0, X0

// func dotAVX2(a, b *float32, n int) float32
// n is a multiple of 16 and not 0.
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ   a+0(FP), SI
	MOVQ   b+8(FP), DX
	MOVQ   n+16(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	SUBQ   $32, CX
	JL     rest

four:
	PREFETCHT0  4096(SI)
	PREFETCHT0  4160(SI)
	VMOVUPS     (SI), Y4
	VMOVUPS     32(SI), Y5
	VMOVUPS     64(SI), Y6
	VMOVUPS     96(SI), Y7
	VFMADD231PS (DX), Y4, Y0
	VFMADD231PS 32(DX), Y5, Y1
	VFMADD231PS 64(DX), Y6, Y2
	VFMADD231PS 96(DX), Y7, Y3
	ADDQ        $128, SI
	ADDQ        $128, DX
	SUBQ        $32, CX
	JGE         four

rest:
	ADDQ        $32, CX
	JZ          done
	VMOVUPS     (SI), Y4
	VMOVUPS     32(SI), Y5
	VFMADD231PS (DX), Y4, Y0
	VFMADD231PS 32(DX), Y5, Y1

done:
	VADDPS Y1, Y0, Y0
	VADDPS Y3, Y2, Y2
	VADDPS Y2, Y0, Y0
	SUM1
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func scaleByAVX2(dst, x, w *float32, n int, s float32)
// n is a multiple of 16 and not 0.
TEXT ·scaleByAVX2(SB), NOSPLIT, $0-36
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         w+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSS s+32(FP), Y0

loop:
	VMULPS  (SI), Y0, Y1
	VMULPS  32(SI), Y0, Y2
	VMULPS  (DX), Y1, Y1
	VMULPS  32(DX), Y2, Y2
	VMOVUPS Y1, (DI)
	VMOVUPS Y2, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DX
	ADDQ    $64, DI
	SUBQ    $16, CX
	JNZ     loop
	VZEROUPPER
	RET

// func swiGLUAVX2(dst, gate, up *float32, n int)
// n is a multiple of 16 and not 0.
TEXT ·swiGLUAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         gate+8(FP), SI
	MOVQ         up+16(FP), DX
	MOVQ         n+24(FP), CX
	VXORPS       Y15, Y15, Y15
	VBROADCASTSS expK2<>+36(SB), Y14

loop:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y5
	VSUBPS  Y0, Y15, Y1
	VSUBPS  Y5, Y15, Y6
	EXP(Y1, Y2, Y3, Y4)
	EXP(Y6, Y7, Y8, Y9)
	VADDPS  Y14, Y1, Y1
	VADDPS  Y14, Y6, Y6
	VDIVPS  Y1, Y0, Y0
	VDIVPS  Y6, Y5, Y5
	VMULPS  (DX), Y0, Y0
	VMULPS  32(DX), Y5, Y5
	VMOVUPS Y0, (DI)
	VMOVUPS Y5, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DX
	ADDQ    $64, DI
	SUBQ    $16, CX
	JNZ     loop
	VZEROUPPER
	RET

// func geGLUAVX2(dst, gate, up *float32, n int)
// n is a multiple of 16 and not 0.
TEXT ·geGLUAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         gate+8(FP), SI
	MOVQ         up+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSS geluK2<>+0(SB), Y12
	VBROADCASTSS geluK2<>+4(SB), Y13
	VBROADCASTSS expK2<>+36(SB), Y14

loop:
	VMOVUPS     (SI), Y0
	VMOVUPS     32(SI), Y5
	VMULPS      Y0, Y0, Y1
	VMULPS      Y5, Y5, Y6
	VFMADD213PS Y12, Y13, Y1
	VFMADD213PS Y12, Y13, Y6
	VMULPS      Y0, Y1, Y1
	VMULPS      Y5, Y6, Y6
	EXP(Y1, Y2, Y3, Y4)
	EXP(Y6, Y7, Y8, Y9)
	VADDPS      Y14, Y1, Y1
	VADDPS      Y14, Y6, Y6
	VDIVPS      Y1, Y0, Y0
	VDIVPS      Y6, Y5, Y5
	VMULPS      (DX), Y0, Y0
	VMULPS      32(DX), Y5, Y5
	VMOVUPS     Y0, (DI)
	VMOVUPS     Y5, 32(DI)
	ADDQ        $64, SI
	ADDQ        $64, DX
	ADDQ        $64, DI
	SUBQ        $16, CX
	JNZ         loop
	VZEROUPPER
	RET

// func ropeAVX2(x, cos, sin *float32, n int)
// n is a multiple of 16 and not 0.
TEXT ·ropeAVX2(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), DI
	MOVQ cos+8(FP), SI
	MOVQ sin+16(FP), DX
	MOVQ n+24(FP), CX

loop:
	VMOVUPS     (DI), Y0
	VPERMILPS   $0xb1, Y0, Y1
	VMULPS      (SI), Y0, Y0
	VFMADD231PS (DX), Y1, Y0
	VMOVUPS     Y0, (DI)
	ADDQ        $32, SI
	ADDQ        $32, DX
	ADDQ        $32, DI
	SUBQ        $8, CX
	JNZ         loop
	VZEROUPPER
	RET

// func ropeHalvesAVX2(x, y, cos, sin *float32, n int)
// n is a multiple of 16 and not 0.
TEXT ·ropeHalvesAVX2(SB), NOSPLIT, $0-40
	MOVQ x+0(FP), DI
	MOVQ y+8(FP), R8
	MOVQ cos+16(FP), SI
	MOVQ sin+24(FP), DX
	MOVQ n+32(FP), CX

loop:
	VMOVUPS      (DI), Y0
	VMOVUPS      (R8), Y1
	VMOVUPS      (SI), Y2
	VMOVUPS      (DX), Y3
	VMULPS       Y2, Y0, Y4
	VMULPS       Y2, Y1, Y5
	VFNMADD231PS Y3, Y1, Y4
	VFMADD231PS  Y3, Y0, Y5
	VMOVUPS      Y4, (DI)
	VMOVUPS      Y5, (R8)
	ADDQ         $32, DI
	ADDQ         $32, R8
	ADDQ         $32, SI
	ADDQ         $32, DX
	SUBQ         $8, CX
	JNZ          loop
	VZEROUPPER
	RET

// func maxAVX2(x *float32, n int) (top float32, bits uint32)
// n is a multiple of 16 and not 0. bits is the largest magnitude, as an integer.
TEXT ·maxAVX2(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VPBROADCASTD expK2<>+48(SB), Y15
	VPXOR        Y1, Y1, Y1
	VMOVUPS      (SI), Y0

loop:
	VMOVUPS (SI), Y2
	VMAXPS  Y2, Y0, Y0
	VPAND   Y15, Y2, Y2
	VPMAXUD Y2, Y1, Y1
	ADDQ    $32, SI
	SUBQ    $8, CX
	JNZ     loop

	VEXTRACTF128 $1, Y0, X2
	VEXTRACTF128 $1, Y1, X3
	VMAXPS       X2, X0, X0
	VPMAXUD      X3, X1, X1
	VPSHUFD      $0x4e, X0, X2
	VPSHUFD      $0x4e, X1, X3
	VMAXPS       X2, X0, X0
	VPMAXUD      X3, X1, X1
	VPSHUFD      $0xb1, X0, X2
	VPSHUFD      $0xb1, X1, X3
	VMAXPS       X2, X0, X0
	VPMAXUD      X3, X1, X1
	VMOVSS       X0, top+16(FP)
	VMOVD        X1, AX
	MOVL         AX, bits+20(FP)
	VZEROUPPER
	RET

// func powersAVX2(x *float32, n int, top float32) (sum float32)
// n is a multiple of 16 and not 0.
TEXT ·powersAVX2(SB), NOSPLIT, $0-28
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VBROADCASTSS top+16(FP), Y15
	VXORPS       Y14, Y14, Y14

loop:
	VMOVUPS (SI), Y0
	VSUBPS  Y15, Y0, Y0
	EXP(Y0, Y1, Y2, Y3)
	VMOVUPS Y0, (SI)
	VADDPS  Y0, Y14, Y14
	ADDQ    $32, SI
	SUBQ    $8, CX
	JNZ     loop

	VMOVAPS Y14, Y0
	SUM1
	VMOVSS  X0, sum+24(FP)
	VZEROUPPER
	RET
