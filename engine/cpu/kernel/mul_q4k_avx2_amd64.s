#include "textflag.h"

// Rows of Q4_K in the file's order times one token, four rows at a time. Registers as
// in mul_k_avx512_amd64.s, but: Y4 to Y7 activations, Y15 a mask, Y8 to Y14 free.

#define ROW0(off) off(SI)
#define ROW1(off) off(SI)(R10*1)
#define ROW2(off) off(SI)(R10*2)
#define ROW3(off) off(SI)(R11*1)

// As in mul_avx512_amd64.s.
#define LINES_AHEAD 4096

// The scales, and the minima, when unpacked they are: scales 0-3, minima 0-3, scales
// 4-7, minima 4-7.
DATA apart<>+0(SB)/8, $0x0b0a090803020100
DATA apart<>+8(SB)/8, $0x0f0e0d0c07060504
GLOBL apart<>(SB), RODATA|NOPTR, $16
DATA maskK2<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA maskK2<>+8(SB)/8, $0x3030303030303030
DATA maskK2<>+16(SB)/8, $0x3f3f3f3f3f3f3f3f
GLOBL maskK2<>(SB), RODATA|NOPTR, $24

// FACTORS unpacks the scales and minima of a row, as SIDE in expand_amd64.s does. Those
// of the eight blocks times the activations' are stored at factors; the minima times
// the activations' sums are taken from the row's sum s. Y12 and Y13 are the activations'
// scales and sums.
#define FACTORS(scale, least, low, high, factors, s) \
	MOVQ         low, AX                     \
	MOVL         high, BX                    \
	MOVQ         BX, DX                      \
	SHLQ         $28, DX                     \
	ORQ          DX, BX                      \
	ANDQ         maskK2<>+0(SB), BX          \
	MOVQ         AX, DX                      \
	SHRQ         $2, DX                      \
	ANDQ         maskK2<>+8(SB), DX          \
	ORQ          DX, BX                      \
	ANDQ         maskK2<>+16(SB), AX         \
	VMOVQ        AX, X8                      \
	VPINSRQ      $1, BX, X8, X8              \
	VPSHUFB      apart<>(SB), X8, X8         \
	VPSRLDQ      $8, X8, X9                  \
	VPMOVZXBD    X8, Y8                      \
	VPMOVZXBD    X9, Y9                      \
	VCVTDQ2PS    Y8, Y8                      \
	VCVTDQ2PS    Y9, Y9                      \
	MOVWLZX      scale, AX                   \
	MOVWLZX      least, BX                   \
	VBROADCASTSS (R9)(AX*4), Y10             \
	VBROADCASTSS (R9)(BX*4), Y11             \
	VMULPS       Y12, Y8, Y8                 \
	VMULPS       Y13, Y9, Y9                 \
	VMULPS       Y10, Y8, Y8                 \
	VFNMADD231PS Y11, Y9, s                  \
	VMOVUPS      Y8, factors

// PAIR does two blocks of a row: 32 bytes at low and high, with the low nibbles of the
// first block and the high ones of the second, and their factors f and g.
#define PAIR(low, high, f, g, s) \
	VPMOVZXBW    low, Y8          \
	VPMOVZXBW    high, Y9         \
	VPSRLW       $4, Y8, Y10      \
	VPSRLW       $4, Y9, Y11      \
	VPAND        Y15, Y8, Y8      \
	VPAND        Y15, Y9, Y9      \
	VPMADDWD     Y4, Y8, Y8       \
	VPMADDWD     Y5, Y9, Y9       \
	VPMADDWD     Y6, Y10, Y10     \
	VPMADDWD     Y7, Y11, Y11     \
	VPADDD       Y9, Y8, Y8       \
	VPADDD       Y11, Y10, Y10    \
	VCVTDQ2PS    Y8, Y8           \
	VCVTDQ2PS    Y10, Y10         \
	VBROADCASTSS f, Y12           \
	VBROADCASTSS g, Y13           \
	VFMADD231PS  Y12, Y8, s       \
	VFMADD231PS  Y13, Y10, s

// PAIRS does blocks 2i and 2i+1 of the four rows.
#define PAIRS(i) \
	VMOVDQU    (128*i)(R12), Y4                                                            \
	VMOVDQU    (128*i+32)(R12), Y5                                                         \
	VMOVDQU    (128*i+64)(R12), Y6                                                         \
	VMOVDQU    (128*i+96)(R12), Y7                                                         \
	PREFETCHT1 (128*i)(R15)                                                                \
	PREFETCHT1 (128*i+64)(R15)                                                             \
	PAIR(ROW0(16+32*i), ROW0(32+32*i), f0-128+8*i(SP), f0-124+8*i(SP), Y0)                 \
	PAIR(ROW1(16+32*i), ROW1(32+32*i), f1-96+8*i(SP), f1-92+8*i(SP), Y1)                   \
	PAIR(ROW2(16+32*i), ROW2(32+32*i), f2-64+8*i(SP), f2-60+8*i(SP), Y2)                   \
	PAIR(ROW3(16+32*i), ROW3(32+32*i), f3-32+8*i(SP), f3-28+8*i(SP), Y3)

// func mulQ4KAVX2(dst *float32, w *byte, q *int16, scale, sum *float32, rows, supers, add int)
// rows is a multiple of 4 and not 0, supers not 0.
TEXT ·mulQ4KAVX2(SB), NOSPLIT, $128-64
	MOVQ         dst+0(FP), DI
	MOVQ         w+8(FP), SI
	MOVQ         scale+24(FP), R8
	MOVQ         rows+40(FP), CX
	MOVQ         supers+48(FP), R10
	LEAQ         ·halves(SB), R9
	IMUL3Q       $144, R10, R10
	LEAQ         (R10)(R10*2), R11
	MOVL         $0x000f000f, AX
	VMOVD        AX, X15
	VPBROADCASTD X15, Y15

rows4:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	MOVQ   q+16(FP), R12
	MOVQ   R8, R13
	MOVQ   supers+48(FP), R14
	LEAQ   LINES_AHEAD(SI)(R11*1), R15

super:
	MOVQ    sum+32(FP), AX
	SUBQ    R8, AX
	VMOVUPS (R13), Y12
	VMOVUPS (R13)(AX*1), Y13
	FACTORS(ROW0(0), ROW0(2), ROW0(4), ROW0(12), f0-128(SP), Y0)
	FACTORS(ROW1(0), ROW1(2), ROW1(4), ROW1(12), f1-96(SP), Y1)
	FACTORS(ROW2(0), ROW2(2), ROW2(4), ROW2(12), f2-64(SP), Y2)
	FACTORS(ROW3(0), ROW3(2), ROW3(4), ROW3(12), f3-32(SP), Y3)
	PAIRS(0)
	PAIRS(1)
	PAIRS(2)
	PAIRS(3)
	PREFETCHT1 512(R15)
	ADDQ       $576, R15
	ADDQ       $144, SI
	ADDQ       $512, R12
	ADDQ       $32, R13
	DECQ       R14
	JNZ        super

	VHADDPS      Y1, Y0, Y0
	VHADDPS      Y3, Y2, Y2
	VHADDPS      Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	CMPQ         add+56(FP), $0
	JEQ          store
	VADDPS       (DI), X0, X0

store:
	VMOVUPS X0, (DI)
	ADDQ    $16, DI
	ADDQ    R11, SI
	SUBQ    $4, CX
	JNZ     rows4
	VZEROUPPER
	RET
