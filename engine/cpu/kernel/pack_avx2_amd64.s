#include "textflag.h"

// As pack_avx512_amd64.s, eight rows at a time. Rows are R8 bytes apart; SI and
// R10 are rows 0 and 4 of the eight, and R9 is three times R8.

// QUARTERS loads 16 bytes of each of 8 rows: half j of register i is row i+4j.
#define QUARTERS(off) \
	VMOVDQU     off(SI), X0                 \
	VMOVDQU     off(SI)(R8*1), X1           \
	VMOVDQU     off(SI)(R8*2), X2           \
	VMOVDQU     off(SI)(R9*1), X3           \
	VINSERTI128 $1, off(R10), Y0, Y0        \
	VINSERTI128 $1, off(R10)(R8*1), Y1, Y1  \
	VINSERTI128 $1, off(R10)(R8*2), Y2, Y2  \
	VINSERTI128 $1, off(R10)(R9*1), Y3, Y3

#define HALF(row, to) \
	MOVWLZX row, AX     \
	MOVW    AX, to(DI)

// HALVES copies the 8 rows' halves at offset from to offset to of dst.
#define HALVES(from, to) \
	HALF(from(SI), to)               \
	HALF(from(SI)(R8*1), to+2)       \
	HALF(from(SI)(R8*2), to+4)       \
	HALF(from(SI)(R9*1), to+6)       \
	HALF(from(R10), to+8)            \
	HALF(from(R10)(R8*1), to+10)     \
	HALF(from(R10)(R8*2), to+12)     \
	HALF(from(R10)(R9*1), to+14)

// TWO stores two columns' words of 8 rows: the even qwords of y, then the odd.
#define TWO(y, x, to) \
	VPERMQ       $0xd8, y, y     \
	VMOVDQU      x, to(DI)       \
	VEXTRACTI128 $1, y, to+32(DI)

#define TRANSPOSE_WORDS(to) \
	VPUNPCKLWD Y1, Y0, Y4   \
	VPUNPCKHWD Y1, Y0, Y5   \
	VPUNPCKLWD Y3, Y2, Y6   \
	VPUNPCKHWD Y3, Y2, Y7   \
	VPUNPCKLDQ Y6, Y4, Y0   \
	VPUNPCKHDQ Y6, Y4, Y1   \
	VPUNPCKLDQ Y7, Y5, Y2   \
	VPUNPCKHDQ Y7, Y5, Y3   \
	TWO(Y0, X0, to)         \
	TWO(Y1, X1, to+64)      \
	TWO(Y2, X2, to+128)     \
	TWO(Y3, X3, to+192)

// func pack8Q8AVX2(dst, src *byte, blocks, scales int)
// Eight rows: dst is the tile's place for the first of them in a pair, src the
// first row.
TEXT ·pack8Q8AVX2(SB), NOSPLIT, $0-32
	MOVQ   dst+0(FP), DI
	MOVQ   src+8(FP), SI
	MOVQ   blocks+16(FP), CX
	MOVQ   scales+24(FP), DX // from dst to its place for the scales
	IMUL3Q $34, CX, R8
	LEAQ   (R8)(R8*2), R9
	LEAQ   (SI)(R8*4), R10

block:
	QUARTERS(2)
	TRANSPOSE_WORDS(0)
	QUARTERS(18)
	TRANSPOSE_WORDS(256)
	ADDQ DX, DI
	HALVES(0, 0)
	SUBQ DX, DI
	ADDQ $34, SI
	ADDQ $34, R10
	ADDQ $544, DI
	DECQ CX
	JNZ  block
	VZEROUPPER
	RET

DATA evenOddBytes2<>+0(SB)/8, $0x0705030106040200
DATA evenOddBytes2<>+8(SB)/8, $0x0f0d0b090e0c0a08
GLOBL evenOddBytes2<>(SB), RODATA|NOPTR, $16

// NIBBLE_WORDS as in pack_avx512_amd64.s.
#define NIBBLE_WORDS(z, t) \
	VPSRLW     $4, z, t    \
	VPAND      Y14, z, z   \
	VPAND      Y14, t, t   \
	VPSHUFB    Y15, z, z   \
	VPSHUFB    Y15, t, t   \
	VPMADDUBSW Y13, z, z   \
	VPMADDUBSW Y13, t, t   \
	VPACKUSWB  t, z, z

// func pack8Q41AVX2(dst, src *byte, blocks, scales int)
// As pack8Q8AVX2. The minima are 32 bytes behind the scales.
TEXT ·pack8Q41AVX2(SB), NOSPLIT, $0-32
	MOVQ           dst+0(FP), DI
	MOVQ           src+8(FP), SI
	MOVQ           blocks+16(FP), CX
	MOVQ           scales+24(FP), DX
	IMUL3Q         $20, CX, R8
	LEAQ           (R8)(R8*2), R9
	LEAQ           (SI)(R8*4), R10
	VBROADCASTI128 evenOddBytes2<>(SB), Y15
	MOVL           $0x0f0f0f0f, AX
	MOVD           AX, X14
	VPBROADCASTD   X14, Y14
	MOVL           $0x10011001, AX
	MOVD           AX, X13
	VPBROADCASTD   X13, Y13

block:
	QUARTERS(4)
	NIBBLE_WORDS(Y0, Y4)
	NIBBLE_WORDS(Y1, Y5)
	NIBBLE_WORDS(Y2, Y6)
	NIBBLE_WORDS(Y3, Y7)
	VPUNPCKLDQ  Y1, Y0, Y4
	VPUNPCKHDQ  Y1, Y0, Y5
	VPUNPCKLDQ  Y3, Y2, Y6
	VPUNPCKHDQ  Y3, Y2, Y7
	VPUNPCKLQDQ Y6, Y4, Y0
	VPUNPCKHQDQ Y6, Y4, Y1
	VPUNPCKLQDQ Y7, Y5, Y2
	VPUNPCKHQDQ Y7, Y5, Y3
	VMOVDQU     Y0, 0(DI)
	VMOVDQU     Y1, 64(DI)
	VMOVDQU     Y2, 128(DI)
	VMOVDQU     Y3, 192(DI)
	ADDQ        DX, DI
	HALVES(0, 0)
	HALVES(2, 32)
	SUBQ        DX, DI
	ADDQ        $20, SI
	ADDQ        $20, R10
	ADDQ        $320, DI
	DECQ        CX
	JNZ         block
	VZEROUPPER
	RET

DATA quantK2<>+0(SB)/4, $0x7fffffff // all but the sign
DATA quantK2<>+4(SB)/4, $0x0da24260 // 1e-30: see quantize
DATA quantK2<>+8(SB)/4, $0x46fffe00 // 32767
GLOBL quantK2<>(SB), RODATA|NOPTR, $12

// func quantizeAVX2(q *int16, scale, sum *float32, x *float32, blocks, tokens int)
// As quantizeAVX512.
TEXT ·quantizeAVX2(SB), NOSPLIT, $0-48
	MOVQ         q+0(FP), DI
	MOVQ         scale+8(FP), R8
	MOVQ         sum+16(FP), R9
	MOVQ         x+24(FP), SI
	MOVQ         blocks+32(FP), CX
	MOVQ         tokens+40(FP), R10
	SHLQ         $2, R10
	MOVQ         R10, R11
	SHLQ         $4, R11
	VPBROADCASTD quantK2<>+0(SB), Y15
	VMOVSS       quantK2<>+4(SB), X14
	VMOVSS       quantK2<>+8(SB), X13

block:
	VMOVUPS      (SI), Y0
	VMOVUPS      32(SI), Y1
	VMOVUPS      64(SI), Y2
	VMOVUPS      96(SI), Y3
	VPAND        Y15, Y0, Y4
	VPAND        Y15, Y1, Y5
	VPAND        Y15, Y2, Y6
	VPAND        Y15, Y3, Y7
	VPMAXUD      Y5, Y4, Y4
	VPMAXUD      Y7, Y6, Y6
	VPMAXUD      Y6, Y4, Y4
	VEXTRACTI128 $1, Y4, X5
	VPMAXUD      X5, X4, X4
	VPSHUFD      $0x4e, X4, X5
	VPMAXUD      X5, X4, X4
	VPSHUFD      $0xb1, X4, X5
	VPMAXUD      X5, X4, X4
	VPMAXUD      X14, X4, X4
	VDIVSS       X13, X4, X6
	VDIVSS       X4, X13, X5
	VBROADCASTSS X5, Y5
	VMULPS       Y5, Y0, Y0
	VMULPS       Y5, Y1, Y1
	VMULPS       Y5, Y2, Y2
	VMULPS       Y5, Y3, Y3
	VCVTPS2DQ    Y0, Y0
	VCVTPS2DQ    Y1, Y1
	VCVTPS2DQ    Y2, Y2
	VCVTPS2DQ    Y3, Y3
	VPACKSSDW    Y1, Y0, Y4
	VPACKSSDW    Y3, Y2, Y5
	VPERMQ       $0xd8, Y4, Y4
	VPERMQ       $0xd8, Y5, Y5
	VMOVDQU      Y4, (DI)
	VMOVDQU      Y5, 32(DI)
	VPADDD       Y1, Y0, Y0
	VPADDD       Y3, Y2, Y2
	VPADDD       Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VPADDD       X1, X0, X0
	VCVTDQ2PS    X0, X0
	VMULSS       X6, X0, X0
	VMOVSS       X6, (R8)
	VMOVSS       X0, (R9)
	ADDQ         $128, SI
	ADDQ         R11, DI
	ADDQ         R10, R8
	ADDQ         R10, R9
	DECQ         CX
	JNZ          block
	VZEROUPPER
	RET
