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
DATA expK<>+48(SB)/4, $0xff800000 // -infinity
DATA expK<>+52(SB)/4, $0x7fffffff // all but the sign
GLOBL expK<>(SB), RODATA|NOPTR, $56

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
	VPBROADCASTD expK<>+52(SB), Z31
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

// func attendAVX512(out, q, k, v, scores *float32, dim, n int, scale float32)
// dim is a multiple of 16 and not 0, n not 0.
TEXT ·attendAVX512(SB), NOSPLIT, $0-60
	MOVQ q+8(FP), DX
	MOVQ k+16(FP), SI
	MOVQ scores+32(FP), DI
	MOVQ dim+40(FP), BX
	MOVQ n+48(FP), CX
	LEAQ (BX*4), R8                  // bytes of a row
	LEAQ (R8)(R8*2), R9
	VBROADCASTSS scale+56(FP), X16
	VBROADCASTSS expK<>+48(SB), X17  // largest score
	MOVQ CX, R14
	SUBQ $4, R14
	JL   scores1

scores4: // four positions at a time
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	MOVQ   DX, R12
	MOVQ   BX, R13

dot4:
	VMOVUPS     (R12), Z4
	VFMADD231PS (SI), Z4, Z0
	VFMADD231PS (SI)(R8*1), Z4, Z1
	VFMADD231PS (SI)(R8*2), Z4, Z2
	VFMADD231PS (SI)(R9*1), Z4, Z3
	ADDQ        $64, R12
	ADDQ        $64, SI
	SUBQ        $16, R13
	JNZ         dot4

	ADDQ          R9, SI
	VEXTRACTF64X4 $1, Z0, Y4
	VEXTRACTF64X4 $1, Z1, Y5
	VEXTRACTF64X4 $1, Z2, Y6
	VEXTRACTF64X4 $1, Z3, Y7
	VADDPS        Y4, Y0, Y0
	VADDPS        Y5, Y1, Y1
	VADDPS        Y6, Y2, Y2
	VADDPS        Y7, Y3, Y3
	VHADDPS       Y1, Y0, Y0
	VHADDPS       Y3, Y2, Y2
	VHADDPS       Y2, Y0, Y0
	VEXTRACTF128  $1, Y0, X1
	VADDPS        X1, X0, X0
	VMULPS        X16, X0, X0
	VMAXPS        X17, X0, X17
	VMOVUPS       X0, (DI)
	ADDQ          $16, DI
	SUBQ          $4, R14
	JGE           scores4

scores1: // the last three or fewer
	ADDQ $4, R14
	JZ   softmax

next1:
	VPXORD Z0, Z0, Z0
	MOVQ   DX, R12
	MOVQ   BX, R13

dot1:
	VMOVUPS     (R12), Z4
	VFMADD231PS (SI), Z4, Z0
	ADDQ        $64, R12
	ADDQ        $64, SI
	SUBQ        $16, R13
	JNZ         dot1

	SUM1
	VBROADCASTSS X0, X0
	VMULPS X16, X0, X0
	VMAXPS X17, X0, X17
	VMOVSS X0, (DI)
	ADDQ   $4, DI
	DECQ   R14
	JNZ    next1

softmax: // scores to exp(score - largest), their sum to Z18
	VPSHUFD      $0x4e, X17, X0
	VMAXPS       X0, X17, X17
	VPSHUFD      $0xb1, X17, X0
	VMAXPS       X0, X17, X17
	VBROADCASTSS X17, Z17
	VPXORD       Z18, Z18, Z18
	MOVQ         scores+32(FP), DI
	MOVQ         CX, R14
	MOVL         $0xffff, AX
	KMOVW        AX, K1

exps:
	CMPQ R14, $16
	JGE  whole
	MOVQ CX, R13                     // the last ones: a lane each
	MOVQ R14, CX
	MOVL $1, AX
	SHLL CX, AX
	DECL AX
	KMOVW AX, K1
	MOVQ R13, CX

whole:
	VMOVUPS.Z (DI), K1, Z0
	VSUBPS    Z17, Z0, Z0
	EXP(Z0, Z1, Z2)
	VMOVUPS   Z0, K1, (DI)
	VADDPS    Z0, Z18, K1, Z18
	ADDQ      $64, DI
	SUBQ      $16, R14
	JG        exps

	VMOVAPS      Z18, Z0
	SUM1
	VMOVSS       expK<>+36(SB), X1
	VDIVSS       X0, X1, X0
	VBROADCASTSS X0, Z18

	MOVQ v+24(FP), SI
	MOVQ out+0(FP), DX
	SUBQ $64, BX
	JL   values16

values64: // 64 columns of the values at a time, two positions in turn
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	MOVQ   scores+32(FP), DI
	MOVQ   SI, R12
	MOVQ   CX, R14
	SUBQ   $2, R14
	JL     odd64

pair64:
	VBROADCASTSS (DI), Z8
	VBROADCASTSS 4(DI), Z9
	VFMADD231PS  (R12), Z8, Z0
	VFMADD231PS  64(R12), Z8, Z1
	VFMADD231PS  128(R12), Z8, Z2
	VFMADD231PS  192(R12), Z8, Z3
	ADDQ         R8, R12
	VFMADD231PS  (R12), Z9, Z4
	VFMADD231PS  64(R12), Z9, Z5
	VFMADD231PS  128(R12), Z9, Z6
	VFMADD231PS  192(R12), Z9, Z7
	ADDQ         R8, R12
	ADDQ         $8, DI
	SUBQ         $2, R14
	JGE          pair64

odd64:
	ADDQ         $2, R14
	JZ           out64
	VBROADCASTSS (DI), Z8
	VFMADD231PS  (R12), Z8, Z0
	VFMADD231PS  64(R12), Z8, Z1
	VFMADD231PS  128(R12), Z8, Z2
	VFMADD231PS  192(R12), Z8, Z3

out64:
	VADDPS  Z4, Z0, Z0
	VADDPS  Z5, Z1, Z1
	VADDPS  Z6, Z2, Z2
	VADDPS  Z7, Z3, Z3
	VMULPS  Z18, Z0, Z0
	VMULPS  Z18, Z1, Z1
	VMULPS  Z18, Z2, Z2
	VMULPS  Z18, Z3, Z3
	VMOVUPS Z0, (DX)
	VMOVUPS Z1, 64(DX)
	VMOVUPS Z2, 128(DX)
	VMOVUPS Z3, 192(DX)
	ADDQ    $256, DX
	ADDQ    $256, SI
	SUBQ    $64, BX
	JGE     values64

values16: // what is left of the columns, 16 at a time
	ADDQ $64, BX
	JZ   done

next16:
	VPXORD Z0, Z0, Z0
	MOVQ   scores+32(FP), DI
	MOVQ   SI, R12
	MOVQ   CX, R14

acc16:
	VBROADCASTSS (DI), Z8
	VFMADD231PS  (R12), Z8, Z0
	ADDQ         R8, R12
	ADDQ         $4, DI
	DECQ         R14
	JNZ          acc16

	VMULPS  Z18, Z0, Z0
	VMOVUPS Z0, (DX)
	ADDQ    $64, DX
	ADDQ    $64, SI
	SUBQ    $16, BX
	JNZ     next16

done:
	VZEROUPPER
	RET
