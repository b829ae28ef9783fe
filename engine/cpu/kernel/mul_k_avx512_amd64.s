#include "textflag.h"

// Rows of super-blocks in the file's order times one token, four rows at a time.
//
// Registers:
//	DI  dst                   R9  table of binary16 values
//	SI  w, row 0              R10 bytes of a row, R11 three times that
//	R8  scale                 R12 a token's blocks of q
//	R13 their scales          R14 super-blocks left
//	R15 what to prefetch      CX  rows left
//	BX  the rows' factors, 64 bytes each, on the stack
//	Z0-Z3 sums of the four rows, Z16 and Z17 activations

#define ROW0(off) off(SI)
#define ROW1(off) off(SI)(R10*1)
#define ROW2(off) off(SI)(R10*2)
#define ROW3(off) off(SI)(R11*1)

// As in mul_avx512_amd64.s.
#define LINES_AHEAD 4096

// FOLD adds up the lanes of Z0 to Z3 into the four lanes of X0.
#define FOLD \
	VEXTRACTF64X4 $1, Z0, Y4 \
	VEXTRACTF64X4 $1, Z1, Y5 \
	VEXTRACTF64X4 $1, Z2, Y6 \
	VEXTRACTF64X4 $1, Z3, Y7 \
	VADDPS        Y4, Y0, Y0 \
	VADDPS        Y5, Y1, Y1 \
	VADDPS        Y6, Y2, Y2 \
	VADDPS        Y7, Y3, Y3 \
	VHADDPS       Y1, Y0, Y0 \
	VHADDPS       Y3, Y2, Y2 \
	VHADDPS       Y2, Y0, Y0 \
	VEXTRACTF128  $1, Y0, X1 \
	VADDPS        X1, X0, X0

#define CLEAR \
	VPXORD Z0, Z0, Z0 \
	VPXORD Z1, Z1, Z1 \
	VPXORD Z2, Z2, Z2 \
	VPXORD Z3, Z3, Z3

// Constants for the scales and minima of Q4_K and Q5_K, 16 bytes of each row: d and
// dmin, then the 12 packed bytes. Shifts of the double words 1, 2, 3 and 3; which bits
// are kept of them, where the others come from 0, 0, 1 and 2; and the lanes of a row's
// factors that are d and dmin.
DATA scaleShifts<>+0(SB)/4, $0
DATA scaleShifts<>+4(SB)/4, $0
DATA scaleShifts<>+8(SB)/4, $0
DATA scaleShifts<>+12(SB)/4, $4
GLOBL scaleShifts<>(SB), RODATA|NOPTR, $16
DATA scaleBits<>+0(SB)/4, $0xffffffff
DATA scaleBits<>+4(SB)/4, $0xffffffff
DATA scaleBits<>+8(SB)/4, $0x0f0f0f0f
DATA scaleBits<>+12(SB)/4, $0x0f0f0f0f
GLOBL scaleBits<>(SB), RODATA|NOPTR, $16
DATA ofD<>+0(SB)/8, $0x0000000000000000
DATA ofD<>+8(SB)/8, $0x0000000000000000
DATA ofD<>+16(SB)/8, $0x0000000100000001
DATA ofD<>+24(SB)/8, $0x0000000100000001
DATA ofD<>+32(SB)/8, $0x0000000000000000
DATA ofD<>+40(SB)/8, $0x0000000000000000
DATA ofD<>+48(SB)/8, $0x0000000100000001
DATA ofD<>+56(SB)/8, $0x0000000100000001
GLOBL ofD<>(SB), RODATA|NOPTR, $64

// CONSTANTS loads what does not change, and a place for the factors that is a line.
#define CONSTANTS \
	LEAQ            factors-320(SP), BX        \
	ADDQ            $63, BX                    \
	ANDQ            $~63, BX                   \
	MOVL            $0x000f000f, AX            \
	VPBROADCASTD    AX, Z31                    \
	VBROADCASTI32X4 scaleShifts<>(SB), Z30     \
	VBROADCASTI32X4 scaleBits<>(SB), Z29       \
	MOVL            $0x3f3f3f3f, AX            \
	VPBROADCASTD    AX, Z28                    \
	VMOVDQU32       ofD<>(SB), Z27             \
	MOVL            $0xf0f0, AX                \
	KMOVW           AX, K1

// ACTIVATIONS makes Z18: scales 0-3 of the eight blocks, their sums with the sign
// turned, scales 4-7, sums.
#define ACTIVATIONS(sum) \
	MOVQ        sum, AX                    \
	SUBQ        R8, AX                     \
	VMOVUPS     (R13), Y18                 \
	VXORPS      X19, X19, X19              \
	VSUBPS      (R13)(AX*1), Y19, Y19      \
	VSHUFF64X2  $0x44, Z19, Z18, Z18       \
	VSHUFF64X2  $0xd8, Z18, Z18, Z18

// FACTORS makes the factors of row r, whose scales and minima are the 16 bytes x:
// those of the blocks are stored, the minima added to the row's sum.
#define FACTORS(row, r, x, z, s) \
	VCVTPH2PS row, X20              \
	VPMOVZXBD x, z                  \
	VPERMPS   Z20, Z27, Z20         \
	VCVTDQ2PS z, z                  \
	VMULPS    Z20, Z18, Z20         \
	VMULPS    Z20, z, z             \
	VMOVUPS   z, (64*r)(BX)         \
	VADDPS    z, s, K1, s

// SCALES unpacks the scales of the four rows, and makes their factors.
#define SCALES \
	VMOVDQU32       ROW0(0), X20               \
	VINSERTI32X4    $1, ROW1(0), Z20, Z20      \
	VINSERTI32X4    $2, ROW2(0), Z20, Z20      \
	VINSERTI32X4    $3, ROW3(0), Z20, Z20      \
	VPSHUFD         $0xf9, Z20, Z21            \
	VPSHUFD         $0x90, Z20, Z22            \
	VPSRLVD         Z30, Z21, Z21              \
	VPSRLD          $2, Z22, Z22               \
	VPTERNLOGD      $0xe4, Z29, Z22, Z21       \
	VPANDD          Z28, Z21, Z21              \
	VEXTRACTI32X4   $1, Z21, X22               \
	VEXTRACTI32X4   $2, Z21, X23               \
	VEXTRACTI32X4   $3, Z21, X24               \
	FACTORS(ROW0(0), 0, X21, Z21, Z0)     \
	FACTORS(ROW1(0), 1, X22, Z22, Z1)     \
	FACTORS(ROW2(0), 2, X23, Z23, Z2)     \
	FACTORS(ROW3(0), 3, X24, Z24, Z3)

// PRODUCTS multiplies two blocks of row r, words in a and b, with the activations, and
// adds what their factors make of it, which are f and the next.
#define PRODUCTS(r, f, a, b, s) \
	VPMADDWD         Z16, a, a                 \
	VPMADDWD         Z17, b, b                 \
	VCVTDQ2PS        a, a                      \
	VCVTDQ2PS        b, b                      \
	VFMADD231PS.BCST (64*r+4*f)(BX), a, s      \
	VFMADD231PS.BCST (64*r+4*f+4)(BX), b, s

#define PAIR4(row, r, f, a, b, s) \
	VPMOVZXBW row, a            \
	VPSRLW    $4, a, b          \
	VPANDD    Z31, a, a         \
	PRODUCTS(r, f, a, b, s)

// BLOCKS4 does blocks 2i and 2i+1 of the four rows, whose factors begin at f.
#define BLOCKS4(i, f) \
	VMOVDQU64  (128*i)(R12), Z16                       \
	VMOVDQU64  (128*i+64)(R12), Z17                    \
	PREFETCHT1 (128*i)(R15)                            \
	PAIR4(ROW0(16+32*i), 0, f, Z4, Z5, Z0)             \
	PAIR4(ROW1(16+32*i), 1, f, Z6, Z7, Z1)             \
	PREFETCHT1 (128*i+64)(R15)                         \
	PAIR4(ROW2(16+32*i), 2, f, Z8, Z9, Z2)             \
	PAIR4(ROW3(16+32*i), 3, f, Z10, Z11, Z3)

// func mulQ4KAVX512(dst *float32, w *byte, q *int16, scale, sum *float32, rows, supers, add int)
// rows is a multiple of 4 and not 0, supers not 0.
TEXT ·mulQ4KAVX512(SB), NOSPLIT, $320-64
	MOVQ   dst+0(FP), DI
	MOVQ   w+8(FP), SI
	MOVQ   scale+24(FP), R8
	MOVQ   rows+40(FP), CX
	MOVQ   supers+48(FP), R10
	IMUL3Q $144, R10, R10
	LEAQ   (R10)(R10*2), R11
	CONSTANTS

rows4:
	CLEAR
	MOVQ q+16(FP), R12
	MOVQ R8, R13
	MOVQ supers+48(FP), R14
	LEAQ LINES_AHEAD(SI)(R11*1), R15

super:
	ACTIVATIONS(sum+32(FP))
	SCALES
	BLOCKS4(0, 0)
	BLOCKS4(1, 2)
	BLOCKS4(2, 8)
	BLOCKS4(3, 10)
	PREFETCHT1 512(R15)
	ADDQ       $576, R15
	ADDQ       $144, SI
	ADDQ       $512, R12
	ADDQ       $32, R13
	DECQ       R14
	JNZ        super

	FOLD
	CMPQ    add+56(FP), $0
	JEQ     store
	VADDPS  (DI), X0, X0

store:
	VMOVUPS X0, (DI)
	ADDQ    $16, DI
	ADDQ    R11, SI
	SUBQ    $4, CX
	JNZ     rows4
	VZEROUPPER
	RET

// FIFTH puts the fifth bits, which shift(n) brings from the words h to their place, over
// the nibbles in a.
#define FIFTH(shift, n, h, a) \
	shift      n, h, Z12                 \
	VPTERNLOGD $0xe4, Z31, Z12, a        \
	VPANDD     Z26, a, a

#define PAIR5(row, r, f, h, a, b, s, shiftA, na, shiftB, nb) \
	VPMOVZXBW row, a            \
	VPSRLW    $4, a, b          \
	FIFTH(shiftA, na, h, a)     \
	FIFTH(shiftB, nb, h, b)     \
	PRODUCTS(r, f, a, b, s)

#define BLOCKS5(i, f, shiftA, na, shiftB, nb) \
	VMOVDQU64  (128*i)(R12), Z16                                             \
	VMOVDQU64  (128*i+64)(R12), Z17                                          \
	PREFETCHT1 (128*i)(R15)                                                  \
	PAIR5(ROW0(48+32*i), 0, f, Z20, Z4, Z5, Z0, shiftA, na, shiftB, nb)      \
	PAIR5(ROW1(48+32*i), 1, f, Z21, Z6, Z7, Z1, shiftA, na, shiftB, nb)      \
	PREFETCHT1 (128*i+64)(R15)                                               \
	PAIR5(ROW2(48+32*i), 2, f, Z22, Z8, Z9, Z2, shiftA, na, shiftB, nb)      \
	PAIR5(ROW3(48+32*i), 3, f, Z23, Z10, Z11, Z3, shiftA, na, shiftB, nb)

// func mulQ5KAVX512(dst *float32, w *byte, q *int16, scale, sum *float32, rows, supers, add int)
// As mulQ4KAVX512. Z20 to Z23 are the rows' fifth bits.
TEXT ·mulQ5KAVX512(SB), NOSPLIT, $320-64
	MOVQ   dst+0(FP), DI
	MOVQ   w+8(FP), SI
	MOVQ   scale+24(FP), R8
	MOVQ   rows+40(FP), CX
	MOVQ   supers+48(FP), R10
	IMUL3Q $176, R10, R10
	LEAQ   (R10)(R10*2), R11
	CONSTANTS
	MOVL   $0x001f001f, AX
	VPBROADCASTD AX, Z26

rows4:
	CLEAR
	MOVQ q+16(FP), R12
	MOVQ R8, R13
	MOVQ supers+48(FP), R14
	LEAQ LINES_AHEAD(SI)(R11*1), R15

super:
	ACTIVATIONS(sum+32(FP))
	SCALES
	VPMOVZXBW  ROW0(16), Z20
	VPMOVZXBW  ROW1(16), Z21
	VPMOVZXBW  ROW2(16), Z22
	VPMOVZXBW  ROW3(16), Z23
	BLOCKS5(0, 0, VPSLLW, $4, VPSLLW, $3)
	BLOCKS5(1, 2, VPSLLW, $2, VPSLLW, $1)
	BLOCKS5(2, 8, VPSLLW, $0, VPSRLW, $1)
	BLOCKS5(3, 10, VPSRLW, $2, VPSRLW, $3)
	PREFETCHT1 512(R15)
	PREFETCHT1 576(R15)
	PREFETCHT1 640(R15)
	ADDQ       $704, R15
	ADDQ       $176, SI
	ADDQ       $512, R12
	ADDQ       $32, R13
	DECQ       R14
	JNZ        super

	FOLD
	CMPQ    add+56(FP), $0
	JEQ     store
	VADDPS  (DI), X0, X0

store:
	VMOVUPS X0, (DI)
	ADDQ    $16, DI
	ADDQ    R11, SI
	SUBQ    $4, CX
	JNZ     rows4
	VZEROUPPER
	RET

// Each of eight scales twice; of a row's 16 factors the first four, four lanes each; and
// the even words of 64.
DATA twice<>+0(SB)/8, $0x0000000000000000
DATA twice<>+8(SB)/8, $0x0000000100000001
DATA twice<>+16(SB)/8, $0x0000000200000002
DATA twice<>+24(SB)/8, $0x0000000300000003
DATA twice<>+32(SB)/8, $0x0000000400000004
DATA twice<>+40(SB)/8, $0x0000000500000005
DATA twice<>+48(SB)/8, $0x0000000600000006
DATA twice<>+56(SB)/8, $0x0000000700000007
GLOBL twice<>(SB), RODATA|NOPTR, $64
DATA fours<>+0(SB)/8, $0x0000000000000000
DATA fours<>+8(SB)/8, $0x0000000000000000
DATA fours<>+16(SB)/8, $0x0000000100000001
DATA fours<>+24(SB)/8, $0x0000000100000001
DATA fours<>+32(SB)/8, $0x0000000200000002
DATA fours<>+40(SB)/8, $0x0000000200000002
DATA fours<>+48(SB)/8, $0x0000000300000003
DATA fours<>+56(SB)/8, $0x0000000300000003
GLOBL fours<>(SB), RODATA|NOPTR, $64
DATA evenWords<>+0(SB)/8, $0x0006000400020000
DATA evenWords<>+8(SB)/8, $0x000e000c000a0008
DATA evenWords<>+16(SB)/8, $0x0016001400120010
DATA evenWords<>+24(SB)/8, $0x001e001c001a0018
DATA evenWords<>+32(SB)/8, $0x0026002400220020
DATA evenWords<>+40(SB)/8, $0x002e002c002a0028
DATA evenWords<>+48(SB)/8, $0x0036003400320030
DATA evenWords<>+56(SB)/8, $0x003e003c003a0038
GLOBL evenWords<>(SB), RODATA|NOPTR, $64

// FACTORS6 makes the 16 factors of a row in f.
#define FACTORS6(scales, d, f) \
	VPMOVSXBD   scales, f               \
	MOVWLZX     d, AX                   \
	VCVTDQ2PS   f, f                    \
	VMULPS      Z18, f, f               \
	VMULPS.BCST (R9)(AX*4), f, f

// ACTIVATIONS6 loads the activations of 64 columns: the even ones to even, the others to
// odd, and what their products begin at to least, -32 times their sum.
#define ACTIVATIONS6(at, even, odd, least) \
	VMOVDQU64 at(R12), even            \
	VMOVDQU64 (at+64)(R12), Z20        \
	VMOVDQA64 even, odd                \
	VPERMT2W  Z20, Z26, even           \
	VPERMT2W  Z20, Z27, odd            \
	VPMADDWD  Z22, even, least         \
	VPDPWSSD  Z22, odd, least

// PRODUCT6 multiplies 64 columns of a row, bytes in a of which those below have the even
// columns of each word, and adds what the factors at the lanes which make of it.
#define PRODUCT6(a, even, odd, least, f, which, s) \
	VPANDD      Z23, a, Z11        \
	VPSRLW      $8, a, a           \
	VMOVDQA64   least, Z12         \
	VPDPWSSD    even, Z11, Z12     \
	VPDPWSSD    odd, a, Z12        \
	VPERMPS     f, which, Z13      \
	VCVTDQ2PS   Z12, Z12           \
	VFMADD231PS Z13, Z12, s

// HALF6 does 128 columns of a row: low is the four low bits of them, high the others of
// all four blocks, which stand in both halves of Z9.
#define HALF6(low, high, f, s) \
	VMOVDQU64       low, Z8                   \
	VBROADCASTI64X4 high, Z9                  \
	VPSLLVW         Z28, Z9, Z10              \
	VPTERNLOGD      $0xd8, Z31, Z8, Z10       \
	VPANDD          Z30, Z10, Z10             \
	PRODUCT6(Z10, Z14, Z15, Z16, f, Z24, s)   \
	VPSRLW          $4, Z8, Z8                \
	VPSRLVW         Z29, Z9, Z9               \
	VPTERNLOGD      $0xd8, Z31, Z8, Z9        \
	VPANDD          Z30, Z9, Z9               \
	PRODUCT6(Z9, Z17, Z19, Z21, f, Z25, s)

// CONSTANT makes z of a double word.
#define CONSTANT(value, z) \
	MOVL         value, AX  \
	VPBROADCASTD AX, z

// func mulQ6KAVX512(dst *float32, w *byte, q *int16, scale, sum *float32, rows, supers, add int)
// As mulQ4KAVX512. Z4 to Z7 are the rows' factors, Z24 and Z25 which of them 64 columns
// and the next 64 take, Z14 to Z16 the activations of the first, Z17, Z19 and Z21 those
// of the others.
TEXT ·mulQ6KAVX512(SB), NOSPLIT, $0-64
	MOVQ   dst+0(FP), DI
	MOVQ   w+8(FP), SI
	MOVQ   scale+24(FP), R8
	MOVQ   rows+40(FP), CX
	MOVQ   supers+48(FP), R10
	LEAQ   ·halves(SB), R9
	IMUL3Q $210, R10, R10
	LEAQ   (R10)(R10*2), R11
	CONSTANT($0x0f0f0f0f, Z31)
	CONSTANT($0x3f3f3f3f, Z30)
	CONSTANT($0x00ff00ff, Z23)
	CONSTANT($0xffe0ffe0, Z22)                 // -32
	MOVL   $0xff00, AX                         // the upper half: of the second block
	KMOVW  AX, K1
	CONSTANT($0x00040004, Z28)
	CONSTANT($0, Z29)
	MOVL   $0x00020002, AX
	VPBROADCASTD AX, K1, Z28
	VPBROADCASTD AX, K1, Z29
	VMOVDQU64 evenWords<>(SB), Z26
	CONSTANT($0x00010001, Z27)
	VPADDW Z26, Z27, Z27

rows4:
	CLEAR
	MOVQ q+16(FP), R12
	MOVQ R8, R13
	MOVQ supers+48(FP), R14
	LEAQ LINES_AHEAD(SI)(R11*1), R15

super:
	VMOVDQU32  twice<>(SB), Z18
	VMOVUPS    (R13), Y20
	VPERMPS    Z20, Z18, Z18
	FACTORS6(ROW0(192), ROW0(208), Z4)
	FACTORS6(ROW1(192), ROW1(208), Z5)
	FACTORS6(ROW2(192), ROW2(208), Z6)
	FACTORS6(ROW3(192), ROW3(208), Z7)
	CONSTANT($4, Z20)
	VMOVDQU32  fours<>(SB), Z24
	VPADDD     Z20, Z24, Z25
	ACTIVATIONS6(0, Z14, Z15, Z16)
	ACTIVATIONS6(128, Z17, Z19, Z21)
	PREFETCHT1 (R15)
	PREFETCHT1 64(R15)
	HALF6(ROW0(0), ROW0(128), Z4, Z0)
	PREFETCHT1 128(R15)
	PREFETCHT1 192(R15)
	HALF6(ROW1(0), ROW1(128), Z5, Z1)
	PREFETCHT1 256(R15)
	PREFETCHT1 320(R15)
	HALF6(ROW2(0), ROW2(128), Z6, Z2)
	PREFETCHT1 384(R15)
	HALF6(ROW3(0), ROW3(128), Z7, Z3)
	CONSTANT($8, Z20)
	VPADDD     Z20, Z24, Z24
	VPADDD     Z20, Z25, Z25
	ACTIVATIONS6(256, Z14, Z15, Z16)
	ACTIVATIONS6(384, Z17, Z19, Z21)
	PREFETCHT1 448(R15)
	PREFETCHT1 512(R15)
	HALF6(ROW0(64), ROW0(160), Z4, Z0)
	PREFETCHT1 576(R15)
	PREFETCHT1 640(R15)
	HALF6(ROW1(64), ROW1(160), Z5, Z1)
	PREFETCHT1 704(R15)
	HALF6(ROW2(64), ROW2(160), Z6, Z2)
	PREFETCHT1 768(R15)
	PREFETCHT1 832(R15)
	HALF6(ROW3(64), ROW3(160), Z7, Z3)
	ADDQ       $840, R15
	ADDQ       $210, SI
	ADDQ       $512, R12
	ADDQ       $32, R13
	DECQ       R14
	JNZ        super

	FOLD
	CMPQ    add+56(FP), $0
	JEQ     store
	VADDPS  (DI), X0, X0

store:
	VMOVUPS X0, (DI)
	ADDQ    $16, DI
	ADDQ    R11, SI
	SUBQ    $4, CX
	JNZ     rows4
	VZEROUPPER
	RET
