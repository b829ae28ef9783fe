#include "textflag.h"

// expK: the constants of EXP. The polynomial is Cephes' expf
// (www.netlib.org/cephes, single/expf.c).
DATA expK<>+0(SB)/4, $0x3fb8aa3b  // log2(e)
DATA expK<>+4(SB)/4, $0x3f318000  // ln(2), its leading bits
DATA expK<>+8(SB)/4, $0xb95e8083  // ln(2), the rest
DATA expK<>+12(SB)/4, $0x39506967
DATA expK<>+16(SB)/4, $0x3ab743ce
DATA expK<>+20(SB)/4, $0x3c088908
DATA expK<>+24(SB)/4, $0x3d2aa9c1
DATA expK<>+28(SB)/4, $0x3e2aaaaa
DATA expK<>+32(SB)/4, $0x3f000000
DATA expK<>+36(SB)/4, $0x3f800000 // 1
DATA expK<>+40(SB)/4, $0xc2d00000 // -104, whose exp is 0
DATA expK<>+44(SB)/4, $0x42b20000 // 89, whose exp is infinite
DATA expK<>+48(SB)/4, $0x7fffffff // all but the sign
GLOBL expK<>(SB), RODATA|NOPTR, $52

// geluK: GELU is x / (1+exp(x*(first + second*x²))).
DATA geluK<>+0(SB)/4, $0xbfcc422a // -2 sqrt(2/pi)
DATA geluK<>+4(SB)/4, $0xbd922279 // that times 0.044715
GLOBL geluK<>(SB), RODATA|NOPTR, $8

// EXP is e to the power of x, in place; n and p are free. NaN stays NaN: of a
// minimum or maximum with NaN, the instruction returns the first operand here.
#define EXP(x, n, p) \
	VBROADCASTSS      expK<>+40(SB), n     \
	VMAXPS            x, n, x              \
	VBROADCASTSS      expK<>+44(SB), n     \
	VMINPS            x, n, x              \
	VMULPS.BCST       expK<>+0(SB), x, n   \
	VRNDSCALEPS       $8, n, n             \
	VFNMADD231PS.BCST expK<>+4(SB), n, x   \
	VFNMADD231PS.BCST expK<>+8(SB), n, x   \
	VBROADCASTSS      expK<>+12(SB), p     \
	VFMADD213PS.BCST  expK<>+16(SB), x, p  \
	VFMADD213PS.BCST  expK<>+20(SB), x, p  \
	VFMADD213PS.BCST  expK<>+24(SB), x, p  \
	VFMADD213PS.BCST  expK<>+28(SB), x, p  \
	VFMADD213PS.BCST  expK<>+32(SB), x, p  \
	VFMADD213PS.BCST  expK<>+36(SB), x, p  \
	VFMADD213PS.BCST  expK<>+36(SB), x, p  \
	VSCALEFPS         n, p, x

// SUM1 adds up the lanes of Z0 into X0; Y1 is free.
#define SUM1 \
	VEXTRACTF64X4 $1, Z0, Y1   \
	VADDPS        Y1, Y0, Y0   \
	VEXTRACTF128  $1, Y0, X1   \
	VADDPS        X1, X0, X0   \
	VHADDPS       X0, X0, X0   \
	VHADDPS       X0, X0, X0

// func dotAVX512(a, b *float32, n int) float32
// n is a multiple of 16 and not 0.
TEXT ·dotAVX512(SB), NOSPLIT, $0-28
	MOVQ   a+0(FP), SI
	MOVQ   b+8(FP), DX
	MOVQ   n+16(FP), CX
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	SUBQ   $64, CX
	JL     rest

four:
	PREFETCHT0  4096(SI)
	PREFETCHT0  4160(SI)
	PREFETCHT0  4224(SI)
	PREFETCHT0  4288(SI)
	VMOVUPS     (SI), Z4
	VMOVUPS     64(SI), Z5
	VMOVUPS     128(SI), Z6
	VMOVUPS     192(SI), Z7
	VFMADD231PS (DX), Z4, Z0
	VFMADD231PS 64(DX), Z5, Z1
	VFMADD231PS 128(DX), Z6, Z2
	VFMADD231PS 192(DX), Z7, Z3
	ADDQ        $256, SI
	ADDQ        $256, DX
	SUBQ        $64, CX
	JGE         four

rest:
	ADDQ $64, CX
	JZ   done

one:
	VMOVUPS     (SI), Z4
	VFMADD231PS (DX), Z4, Z0
	ADDQ        $64, SI
	ADDQ        $64, DX
	SUBQ        $16, CX
	JNZ         one

done:
	VADDPS Z1, Z0, Z0
	VADDPS Z3, Z2, Z2
	VADDPS Z2, Z0, Z0
	SUM1
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func scaleByAVX512(dst, x, w *float32, n int, s float32)
// n is a multiple of 16 and not 0.
TEXT ·scaleByAVX512(SB), NOSPLIT, $0-36
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         w+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSS s+32(FP), Z0

loop:
	VMULPS  (SI), Z0, Z1
	VMULPS  (DX), Z1, Z1
	VMOVUPS Z1, (DI)
	ADDQ    $64, SI
	ADDQ    $64, DX
	ADDQ    $64, DI
	SUBQ    $16, CX
	JNZ     loop
	VZEROUPPER
	RET

// func swiGLUAVX512(dst, gate, up *float32, n int)
// n is a multiple of 16 and not 0.
TEXT ·swiGLUAVX512(SB), NOSPLIT, $0-32
	MOVQ   dst+0(FP), DI
	MOVQ   gate+8(FP), SI
	MOVQ   up+16(FP), DX
	MOVQ   n+24(FP), CX
	VPXORD Z31, Z31, Z31

loop:
	VMOVUPS     (SI), Z0
	VSUBPS      Z0, Z31, Z1
	EXP(Z1, Z2, Z3)
	VADDPS.BCST expK<>+36(SB), Z1, Z1
	VDIVPS      Z1, Z0, Z0
	VMULPS      (DX), Z0, Z0
	VMOVUPS     Z0, (DI)
	ADDQ        $64, SI
	ADDQ        $64, DX
	ADDQ        $64, DI
	SUBQ        $16, CX
	JNZ         loop
	VZEROUPPER
	RET

// func geGLUAVX512(dst, gate, up *float32, n int)
// n is a multiple of 16 and not 0.
TEXT ·geGLUAVX512(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         gate+8(FP), SI
	MOVQ         up+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSS geluK<>+0(SB), Z30
	VBROADCASTSS geluK<>+4(SB), Z31

loop:
	VMOVUPS     (SI), Z0
	VMULPS      Z0, Z0, Z1
	VFMADD213PS Z30, Z31, Z1
	VMULPS      Z0, Z1, Z1
	EXP(Z1, Z2, Z3)
	VADDPS.BCST expK<>+36(SB), Z1, Z1
	VDIVPS      Z1, Z0, Z0
	VMULPS      (DX), Z0, Z0
	VMOVUPS     Z0, (DI)
	ADDQ        $64, SI
	ADDQ        $64, DX
	ADDQ        $64, DI
	SUBQ        $16, CX
	JNZ         loop
	VZEROUPPER
	RET

// func ropeAVX512(x, cos, sin *float32, n int)
// n is a multiple of 16 and not 0.
TEXT ·ropeAVX512(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), DI
	MOVQ cos+8(FP), SI
	MOVQ sin+16(FP), DX
	MOVQ n+24(FP), CX

loop:
	VMOVUPS     (DI), Z0
	VPERMILPS   $0xb1, Z0, Z1
	VMULPS      (SI), Z0, Z0
	VFMADD231PS (DX), Z1, Z0
	VMOVUPS     Z0, (DI)
	ADDQ        $64, SI
	ADDQ        $64, DX
	ADDQ        $64, DI
	SUBQ        $16, CX
	JNZ         loop
	VZEROUPPER
	RET

// func ropeHalvesAVX512(x, y, cos, sin *float32, n int)
// n is a multiple of 16 and not 0.
TEXT ·ropeHalvesAVX512(SB), NOSPLIT, $0-40
	MOVQ x+0(FP), DI
	MOVQ y+8(FP), R8
	MOVQ cos+16(FP), SI
	MOVQ sin+24(FP), DX
	MOVQ n+32(FP), CX

loop:
	VMOVUPS      (DI), Z0
	VMOVUPS      (R8), Z1
	VMOVUPS      (SI), Z2
	VMOVUPS      (DX), Z3
	VMULPS       Z2, Z0, Z4
	VMULPS       Z2, Z1, Z5
	VFNMADD231PS Z3, Z1, Z4
	VFMADD231PS  Z3, Z0, Z5
	VMOVUPS      Z4, (DI)
	VMOVUPS      Z5, (R8)
	ADDQ         $64, DI
	ADDQ         $64, R8
	ADDQ         $64, SI
	ADDQ         $64, DX
	SUBQ         $16, CX
	JNZ          loop
	VZEROUPPER
	RET

// func maxAVX512(x *float32, n int) (top float32, bits uint32)
// n is a multiple of 16 and not 0. bits is the largest magnitude, as an integer.
TEXT ·maxAVX512(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VPBROADCASTD expK<>+48(SB), Z31
	VPXORD       Z1, Z1, Z1
	VMOVUPS      (SI), Z0

loop:
	VMOVUPS (SI), Z2
	VMAXPS  Z2, Z0, Z0
	VPANDD  Z31, Z2, Z2
	VPMAXUD Z2, Z1, Z1
	ADDQ    $64, SI
	SUBQ    $16, CX
	JNZ     loop

	VEXTRACTF64X4 $1, Z0, Y2
	VEXTRACTF64X4 $1, Z1, Y3
	VMAXPS        Y2, Y0, Y0
	VPMAXUD       Y3, Y1, Y1
	VEXTRACTF128  $1, Y0, X2
	VEXTRACTF128  $1, Y1, X3
	VMAXPS        X2, X0, X0
	VPMAXUD       X3, X1, X1
	VPSHUFD       $0x4e, X0, X2
	VPSHUFD       $0x4e, X1, X3
	VMAXPS        X2, X0, X0
	VPMAXUD       X3, X1, X1
	VPSHUFD       $0xb1, X0, X2
	VPSHUFD       $0xb1, X1, X3
	VMAXPS        X2, X0, X0
	VPMAXUD       X3, X1, X1
	VMOVSS        X0, top+16(FP)
	VMOVD         X1, AX
	MOVL          AX, bits+20(FP)
	VZEROUPPER
	RET

// func powersAVX512(x *float32, n int, top float32) (sum float32)
// n is a multiple of 16 and not 0.
TEXT ·powersAVX512(SB), NOSPLIT, $0-28
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VBROADCASTSS top+16(FP), Z17
	VPXORD       Z18, Z18, Z18

loop:
	VMOVUPS (SI), Z0
	VSUBPS  Z17, Z0, Z0
	EXP(Z0, Z1, Z2)
	VMOVUPS Z0, (SI)
	VADDPS  Z0, Z18, Z18
	ADDQ    $64, SI
	SUBQ    $16, CX
	JNZ     loop

	VMOVAPS Z18, Z0
	SUM1
	VMOVSS  X0, sum+24(FP)
	VZEROUPPER
	RET
