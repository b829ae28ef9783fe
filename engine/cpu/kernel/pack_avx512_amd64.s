#include "textflag.h"

// QUARTERS loads 16 bytes of each of 16 rows: quarter j of register i is row
// i+4j. Rows are R8 bytes apart; SI, R10, R11 and R12 are rows 0, 4, 8 and 12,
// and R9 is three times R8.
#define QUARTERS(off) \
	VMOVDQU      off(SI), X0                    \
	VMOVDQU      off(SI)(R8*1), X1              \
	VMOVDQU      off(SI)(R8*2), X2              \
	VMOVDQU      off(SI)(R9*1), X3              \
	VINSERTI32X4 $1, off(R10), Z0, Z0           \
	VINSERTI32X4 $1, off(R10)(R8*1), Z1, Z1     \
	VINSERTI32X4 $1, off(R10)(R8*2), Z2, Z2     \
	VINSERTI32X4 $1, off(R10)(R9*1), Z3, Z3     \
	VINSERTI32X4 $2, off(R11), Z0, Z0           \
	VINSERTI32X4 $2, off(R11)(R8*1), Z1, Z1     \
	VINSERTI32X4 $2, off(R11)(R8*2), Z2, Z2     \
	VINSERTI32X4 $2, off(R11)(R9*1), Z3, Z3     \
	VINSERTI32X4 $3, off(R12), Z0, Z0           \
	VINSERTI32X4 $3, off(R12)(R8*1), Z1, Z1     \
	VINSERTI32X4 $3, off(R12)(R8*2), Z2, Z2     \
	VINSERTI32X4 $3, off(R12)(R9*1), Z3, Z3

// HALVES copies the 16 rows' halves at offset from to offset to of dst.
#define HALF(row, to) \
	MOVWLZX row, AX     \
	MOVW    AX, to(DI)

#define HALVES(from, to) \
	HALF(from(SI), to)                \
	HALF(from(SI)(R8*1), to+2)        \
	HALF(from(SI)(R8*2), to+4)        \
	HALF(from(SI)(R9*1), to+6)        \
	HALF(from(R10), to+8)             \
	HALF(from(R10)(R8*1), to+10)      \
	HALF(from(R10)(R8*2), to+12)      \
	HALF(from(R10)(R9*1), to+14)      \
	HALF(from(R11), to+16)            \
	HALF(from(R11)(R8*1), to+18)      \
	HALF(from(R11)(R8*2), to+20)      \
	HALF(from(R11)(R9*1), to+22)      \
	HALF(from(R12), to+24)            \
	HALF(from(R12)(R8*1), to+26)      \
	HALF(from(R12)(R8*2), to+28)      \
	HALF(from(R12)(R9*1), to+30)

// ROWS sets the rows' addresses from SI and the bytes of a row in R8.
#define ROWS \
	LEAQ (R8)(R8*2), R9     \
	LEAQ (SI)(R8*4), R10    \
	LEAQ (R10)(R8*4), R11   \
	LEAQ (R11)(R8*4), R12

// NEXT moves to the next block.
#define NEXT(bytes) \
	ADDQ $bytes, SI     \
	ADDQ $bytes, R10    \
	ADDQ $bytes, R11    \
	ADDQ $bytes, R12

// Qwords 0, 2, 4, 6 and then 1, 3, 5, 7.
DATA evenOdd<>+0(SB)/8, $0
DATA evenOdd<>+8(SB)/8, $2
DATA evenOdd<>+16(SB)/8, $4
DATA evenOdd<>+24(SB)/8, $6
DATA evenOdd<>+32(SB)/8, $1
DATA evenOdd<>+40(SB)/8, $3
DATA evenOdd<>+48(SB)/8, $5
DATA evenOdd<>+56(SB)/8, $7
GLOBL evenOdd<>(SB), RODATA|NOPTR, $64

// TRANSPOSE_WORDS takes 8 words of 16 rows from Z0 to Z3 (see QUARTERS) and
// stores them word by word, 16 rows each, at offset to of dst.
#define TRANSPOSE_WORDS(to) \
	VPUNPCKLWD Z1, Z0, Z4    \
	VPUNPCKHWD Z1, Z0, Z5    \
	VPUNPCKLWD Z3, Z2, Z6    \
	VPUNPCKHWD Z3, Z2, Z7    \
	VPUNPCKLDQ Z6, Z4, Z0    \
	VPUNPCKHDQ Z6, Z4, Z1    \
	VPUNPCKLDQ Z7, Z5, Z2    \
	VPUNPCKHDQ Z7, Z5, Z3    \
	VPERMQ     Z0, Z31, Z0   \
	VPERMQ     Z1, Z31, Z1   \
	VPERMQ     Z2, Z31, Z2   \
	VPERMQ     Z3, Z31, Z3   \
	VMOVDQU64  Z0, to(DI)    \
	VMOVDQU64  Z1, to+64(DI)   \
	VMOVDQU64  Z2, to+128(DI)  \
	VMOVDQU64  Z3, to+192(DI)

// func packQ8AVX512(dst, src *byte, blocks int)
TEXT ·packQ8AVX512(SB), NOSPLIT, $0-24
	MOVQ      dst+0(FP), DI
	MOVQ      src+8(FP), SI
	MOVQ      blocks+16(FP), CX
	IMUL3Q    $34, CX, R8
	VMOVDQU64 evenOdd<>(SB), Z31
	ROWS

block:
	QUARTERS(2)
	TRANSPOSE_WORDS(0)
	QUARTERS(18)
	TRANSPOSE_WORDS(256)
	HALVES(0, 512)
	NEXT(34)
	ADDQ $544, DI
	DECQ CX
	JNZ  block
	VZEROUPPER
	RET

// Bytes 0, 2, 4, 6, 1, 3, 5, 7 of each half of a quarter.
DATA evenOddBytes<>+0(SB)/8, $0x0705030106040200
DATA evenOddBytes<>+8(SB)/8, $0x0f0d0b090e0c0a08
GLOBL evenOddBytes<>(SB), RODATA|NOPTR, $16

// NIBBLE_WORDS turns the 32 nibbles of a row, a quarter of z, into 4 words of 32
// bits in the order of the tile (see tile_q41.go): bytes of one nibble, ordered
// so that those which meet in a byte are neighbours, joined as low + 16*high,
// and narrowed to bytes. t is free.
#define NIBBLE_WORDS(z, t) \
	VPSRLW     $4, z, t      \
	VPANDD     Z30, z, z     \
	VPANDD     Z30, t, t     \
	VPSHUFB    Z31, z, z     \
	VPSHUFB    Z31, t, t     \
	VPMADDUBSW Z29, z, z     \
	VPMADDUBSW Z29, t, t     \
	VPACKUSWB  t, z, z

// func packQ41AVX512(dst, src *byte, blocks int)
TEXT ·packQ41AVX512(SB), NOSPLIT, $0-24
	MOVQ            dst+0(FP), DI
	MOVQ            src+8(FP), SI
	MOVQ            blocks+16(FP), CX
	IMUL3Q          $20, CX, R8
	VBROADCASTI32X4 evenOddBytes<>(SB), Z31
	MOVL            $0x0f0f0f0f, AX
	VPBROADCASTD    AX, Z30
	MOVL            $0x10011001, AX
	VPBROADCASTD    AX, Z29
	ROWS

block:
	QUARTERS(4)
	NIBBLE_WORDS(Z0, Z4)
	NIBBLE_WORDS(Z1, Z5)
	NIBBLE_WORDS(Z2, Z6)
	NIBBLE_WORDS(Z3, Z7)
	VPUNPCKLDQ  Z1, Z0, Z4
	VPUNPCKHDQ  Z1, Z0, Z5
	VPUNPCKLDQ  Z3, Z2, Z6
	VPUNPCKHDQ  Z3, Z2, Z7
	VPUNPCKLQDQ Z6, Z4, Z0
	VPUNPCKHQDQ Z6, Z4, Z1
	VPUNPCKLQDQ Z7, Z5, Z2
	VPUNPCKHQDQ Z7, Z5, Z3
	VMOVDQU64   Z0, 0(DI)
	VMOVDQU64   Z1, 64(DI)
	VMOVDQU64   Z2, 128(DI)
	VMOVDQU64   Z3, 192(DI)
	HALVES(0, 256)
	HALVES(2, 288)
	NEXT(20)
	ADDQ        $320, DI
	DECQ        CX
	JNZ         block
	VZEROUPPER
	RET

DATA quantK<>+0(SB)/4, $0x7fffffff // all but the sign
DATA quantK<>+4(SB)/4, $0x0da24260 // 1e-30: see quantize
DATA quantK<>+8(SB)/4, $0x46fffe00 // 32767
GLOBL quantK<>(SB), RODATA|NOPTR, $12

// func quantizeAVX512(q *int16, scale, sum *float32, x *float32, blocks, tokens int)
// q, scale and sum are the token's first; the next block's are tokens further.
TEXT ·quantizeAVX512(SB), NOSPLIT, $0-48
	MOVQ         q+0(FP), DI
	MOVQ         scale+8(FP), R8
	MOVQ         sum+16(FP), R9
	MOVQ         x+24(FP), SI
	MOVQ         blocks+32(FP), CX
	MOVQ         tokens+40(FP), R10
	SHLQ         $2, R10               // bytes to the next scale
	MOVQ         R10, R11
	SHLQ         $4, R11               // bytes to the next block of q
	VPBROADCASTD quantK<>+0(SB), Z31
	VMOVSS       quantK<>+4(SB), X30
	VMOVSS       quantK<>+8(SB), X29

block:
	VMOVUPS       (SI), Z0
	VMOVUPS       64(SI), Z1
	VPANDD        Z31, Z0, Z2
	VPANDD        Z31, Z1, Z3
	VPMAXUD       Z3, Z2, Z2
	VEXTRACTI64X4 $1, Z2, Y3
	VPMAXUD       Y3, Y2, Y2
	VEXTRACTI128  $1, Y2, X3
	VPMAXUD       X3, X2, X2
	VPSHUFD       $0x4e, X2, X3
	VPMAXUD       X3, X2, X2
	VPSHUFD       $0xb1, X2, X3
	VPMAXUD       X3, X2, X2
	VPMAXUD       X30, X2, X2
	VDIVSS        X29, X2, X4          // scale = most / 32767
	VDIVSS        X2, X29, X5
	VBROADCASTSS  X5, Z5
	VMULPS        Z5, Z0, Z0
	VMULPS        Z5, Z1, Z1
	VCVTPS2DQ     Z0, Z0
	VCVTPS2DQ     Z1, Z1
	VPMOVDW       Z0, (DI)
	VPMOVDW       Z1, 32(DI)
	VPADDD        Z1, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPADDD        Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDD        X1, X0, X0
	VPSHUFD       $0x4e, X0, X1
	VPADDD        X1, X0, X0
	VPSHUFD       $0xb1, X0, X1
	VPADDD        X1, X0, X0
	VCVTDQ2PS     X0, X0
	VMULSS        X4, X0, X0
	VMOVSS        X4, (R8)
	VMOVSS        X0, (R9)
	ADDQ          $128, SI
	ADDQ          R11, DI
	ADDQ          R10, R8
	ADDQ          R10, R9
	DECQ          CX
	JNZ           block
	VZEROUPPER
	RET
