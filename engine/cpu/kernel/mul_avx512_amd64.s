#include "textflag.h"

// Rows in the file's order times one token, four rows at a time: what a block
// of activations costs to load is then shared by four rows, and loads are what
// limits these kernels once the weights are in the cache.
//
// Registers of all:
//	DI  dst                   R9  a block's factors, on the stack
//	SI  w, row 0              R10 bytes of a row, R11 three times that
//	DX  q      R12 its block  R14 blocks left
//	R8  scale  R13 its block  R15 what to prefetch
//	CX  rows left
//	Z0-Z3 sums of the four rows, Z16 activations
// Q4_1 has a table of binary16 values in R9, a block's scale and minimum in AX and DX,
// and the activations' scale in Z17.

#define ROW0(off) off(SI)
#define ROW1(off) off(SI)(R10*1)
#define ROW2(off) off(SI)(R10*2)
#define ROW3(off) off(SI)(R11*1)

// LINES_AHEAD is how far beyond the place of the last of the four rows a line is
// prefetched. Lines are asked for in the file's order: if they were counted from the
// first row, the kernel would reach rows 2 to 4 before their lines were asked for where
// a row is longer than 2 KiB. They go to the second-level cache (T1), which can wait for
// more lines at a time than the first: of Q8_0, two threads of a Zen 4 read 15 GB/s with
// T0 and 28 with T1, 4 to 32 KiB ahead alike.
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

// FACTORS makes the factors of a block of the four rows, their scales times that of the
// activations, at R9, where the rows' products find one each: the lanes that multiply are
// what limits these kernels, and one multiplication of four lanes does for four of 16.
#define FACTORS \
	VPINSRW     $0, ROW0(0), X19, X18 \
	VPINSRW     $1, ROW1(0), X18, X18 \
	VPINSRW     $2, ROW2(0), X18, X18 \
	VPINSRW     $3, ROW3(0), X18, X18 \
	VCVTPH2PS   X18, X18              \
	VMULPS.BCST (R13), X18, X18       \
	VMOVUPS     X18, (R9)

// PLACE lets R9 be where the factors are, on one line, and clears what FACTORS begins
// with.
#define PLACE \
	LEAQ   factors-32(SP), R9 \
	ADDQ   $15, R9            \
	ANDQ   $~15, R9           \
	VPXORD X19, X19, X19

// Q8 does a block of row r: bytes is the operand of its weights, w and d are free
// registers.
#define Q8(r, bytes, w, d, s) \
	VPMOVSXBW        bytes, w      \
	VPMADDWD         Z16, w, d     \
	VCVTDQ2PS        d, d          \
	VFMADD231PS.BCST (4*r)(R9), d, s

// func mulQ8AVX512(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)
// rows is a multiple of 4 and not 0, blocks not 0.
TEXT ·mulQ8AVX512(SB), NOSPLIT, $32-56
	MOVQ   dst+0(FP), DI
	MOVQ   w+8(FP), SI
	MOVQ   q+16(FP), DX
	MOVQ   scale+24(FP), R8
	MOVQ   rows+32(FP), CX
	MOVQ   blocks+40(FP), BX
	PLACE
	IMUL3Q $34, BX, R10
	LEAQ   (R10)(R10*2), R11

rows4:
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	MOVQ   DX, R12
	MOVQ   R8, R13
	MOVQ   BX, R14
	LEAQ   LINES_AHEAD(SI)(R11*1), R15

block:
	VMOVDQU64    (R12), Z16
	FACTORS
	PREFETCHT1   (R15)
	Q8(0, ROW0(2), Z20, Z21, Z0)
	Q8(1, ROW1(2), Z22, Z23, Z1)
	PREFETCHT1   64(R15)
	PREFETCHT1   128(R15)
	Q8(2, ROW2(2), Z24, Z25, Z2)
	Q8(3, ROW3(2), Z26, Z27, Z3)
	ADDQ         $136, R15
	ADDQ         $34, SI
	ADDQ         $64, R12
	ADDQ         $4, R13
	DECQ         R14
	JNZ          block

	FOLD
	CMPQ    add+48(FP), $0
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

// Q41 does a block of a row: both is the operand of its two halves, scale and
// minimum, and nibbles that of its weights. The 16 bytes go to all four quarters
// of w, and there to words: bytes 0-7, 8-15, and both again, where the low nibble
// is kept in the first two quarters and the high one in the last two: the order
// of the columns. The high nibbles stay where they are, 16 times too large, which
// the activations' scale in Z17 makes good. The minimum times the sum of the
// activations, which Z18 has in its first lane only, is added in that lane.
#define Q41(both, nibbles, w, d, s) \
	MOVL             both, AX            \
	VBROADCASTI32X4  nibbles, w          \
	VPSHUFB          Z29, w, w           \
	VPANDD           Z31, w, w           \
	MOVWLZX          AX, DX              \
	SHRL             $16, AX             \
	VPMADDWD         Z16, w, d           \
	VFMADD231PS.BCST (R9)(AX*4), Z18, s  \
	VCVTDQ2PS        d, d                \
	VMULPS           Z17, d, d           \
	VFMADD231PS.BCST (R9)(DX*4), d, s

// Which byte of the 16 each word takes; a byte of 128 gives 0.
DATA toWords<>+0(SB)/8, $0x8003800280018000
DATA toWords<>+8(SB)/8, $0x8007800680058004
DATA toWords<>+16(SB)/8, $0x800b800a80098008
DATA toWords<>+24(SB)/8, $0x800f800e800d800c
DATA toWords<>+32(SB)/8, $0x8003800280018000
DATA toWords<>+40(SB)/8, $0x8007800680058004
DATA toWords<>+48(SB)/8, $0x800b800a80098008
DATA toWords<>+56(SB)/8, $0x800f800e800d800c
GLOBL toWords<>(SB), RODATA|NOPTR, $64

// The words that hold a low nibble, and a high one, and by what the products
// there are scaled.
DATA nibbleK<>+0(SB)/4, $0x000f000f
DATA nibbleK<>+4(SB)/4, $0x00f000f0
DATA nibbleK<>+8(SB)/4, $0x3f800000  // 1
DATA nibbleK<>+12(SB)/4, $0x3d800000 // 1/16
GLOBL nibbleK<>(SB), RODATA|NOPTR, $16

// func mulQ41AVX512(dst *float32, w *byte, q *int16, scale, sum *float32, rows, blocks, add int)
// As mulQ8AVX512. The sums are addressed relative to the scales.
TEXT ·mulQ41AVX512(SB), NOSPLIT, $0-64
	MOVQ      dst+0(FP), DI
	MOVQ      w+8(FP), SI
	MOVQ      scale+24(FP), R8
	MOVQ      rows+40(FP), CX
	MOVQ      blocks+48(FP), BX
	LEAQ      ·halves(SB), R9
	IMUL3Q    $20, BX, R10
	LEAQ      (R10)(R10*2), R11
	VMOVDQU64 toWords<>(SB), Z29
	MOVL      $0xff00, AX                  // the lanes of the high nibbles
	KMOVW     AX, K1
	VPBROADCASTD nibbleK<>+0(SB), Z31
	VPBROADCASTD nibbleK<>+4(SB), K1, Z31
	VBROADCASTSS nibbleK<>+8(SB), Z30
	VBROADCASTSS nibbleK<>+12(SB), K1, Z30

rows4:
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	MOVQ   q+16(FP), R12
	MOVQ   R8, R13
	MOVQ   BX, R14
	LEAQ   LINES_AHEAD(SI)(R11*1), R15

block:
	MOVQ         sum+32(FP), AX
	SUBQ         R8, AX
	VMOVSS       (R13)(AX*1), X18
	VMOVDQU64    (R12), Z16
	VMULPS.BCST  (R13), Z30, Z17
	PREFETCHT1   (R15)
	Q41(ROW0(0), ROW0(4), Z20, Z21, Z0)
	Q41(ROW1(0), ROW1(4), Z22, Z23, Z1)
	PREFETCHT1   40(R15)
	Q41(ROW2(0), ROW2(4), Z24, Z25, Z2)
	Q41(ROW3(0), ROW3(4), Z26, Z27, Z3)
	ADDQ         $80, R15
	ADDQ         $20, SI
	ADDQ         $64, R12
	ADDQ         $4, R13
	DECQ         R14
	JNZ          block

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

// The nibbles of Q4_0 and Q5_0 are 8 and 16 too large, and those of the high half 16
// times that: what the products begin at, Z17, is the sum of the activations with these
// factors. The last pair is what a fifth bit adds.
DATA offsets<>+0(SB)/4, $0xfff8fff8  // -8
DATA offsets<>+4(SB)/4, $0xff80ff80  // -128
DATA offsets<>+8(SB)/4, $0xfff0fff0  // -16
DATA offsets<>+12(SB)/4, $0xff00ff00 // -256
DATA offsets<>+16(SB)/4, $0x00100010 // 16
DATA offsets<>+20(SB)/4, $0x01000100 // 256
GLOBL offsets<>(SB), RODATA|NOPTR, $24

// LANES loads a pair of constants: one for the lanes of the low nibbles, one for those
// of the high ones, which K1 has.
#define LANES(at, at2, z) \
	VPBROADCASTD at, z              \
	VPBROADCASTD at2, K1, z

// SUMMED finishes a block of row r: its product, which begins at Z17, times
// its factor.
#define SUMMED(r, w, d, s) \
	VMOVDQA64        Z17, d        \
	VPDPWSSD         Z16, w, d     \
	VCVTDQ2PS        d, d          \
	VFMADD231PS.BCST (4*r)(R9), d, s

// Q40 does a block of a row.
#define Q40(r, nibbles, w, d, s) \
	VBROADCASTI32X4 nibbles, w     \
	VPSHUFB         Z29, w, w      \
	VPANDD          Z31, w, w      \
	SUMMED(r, w, d, s)

// Q50 does a block of a row.
#define Q50(r, fifth, nibbles, w, d, s) \
	KMOVD           fifth, K2      \
	VBROADCASTI32X4 nibbles, w     \
	VPSHUFB         Z29, w, w      \
	VPANDD          Z31, w, w      \
	VPADDW          Z27, w, K2, w  \
	SUMMED(r, w, d, s)

// EVEN makes good that the high nibbles are 16 times too large.
#define EVEN \
	VMULPS Z30, Z0, Z0 \
	VMULPS Z30, Z1, Z1 \
	VMULPS Z30, Z2, Z2 \
	VMULPS Z30, Z3, Z3

// OPERANDS reads what Q4_0 and Q5_0 are given.
#define OPERANDS(bytes) \
	MOVQ      dst+0(FP), DI          \
	MOVQ      w+8(FP), SI            \
	MOVQ      q+16(FP), DX           \
	MOVQ      scale+24(FP), R8       \
	MOVQ      rows+32(FP), CX        \
	MOVQ      blocks+40(FP), BX      \
	PLACE                            \
	IMUL3Q    $bytes, BX, R10        \
	LEAQ      (R10)(R10*2), R11      \
	VMOVDQU64 toWords<>(SB), Z29     \
	MOVL      $0xff00, AX            \
	KMOVW     AX, K1                 \
	LANES(nibbleK<>+0(SB), nibbleK<>+4(SB), Z31)      \
	LANES(nibbleK<>+8(SB), nibbleK<>+12(SB), Z30)

// func mulQ40AVX512(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)
// As mulQ8AVX512.
TEXT ·mulQ40AVX512(SB), NOSPLIT, $32-56
	OPERANDS(18)
	LANES(offsets<>+0(SB), offsets<>+4(SB), Z28)

rows4:
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	MOVQ   DX, R12
	MOVQ   R8, R13
	MOVQ   BX, R14
	LEAQ   LINES_AHEAD(SI)(R11*1), R15

block:
	VMOVDQU64   (R12), Z16
	VPMADDWD    Z28, Z16, Z17
	FACTORS
	PREFETCHT1  (R15)
	Q40(0, ROW0(2), Z20, Z21, Z0)
	Q40(1, ROW1(2), Z22, Z23, Z1)
	PREFETCHT1  36(R15)
	Q40(2, ROW2(2), Z24, Z25, Z2)
	Q40(3, ROW3(2), Z26, Z27, Z3)
	ADDQ        $72, R15
	ADDQ        $18, SI
	ADDQ        $64, R12
	ADDQ        $4, R13
	DECQ        R14
	JNZ         block

	EVEN
	FOLD
	CMPQ    add+48(FP), $0
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

// func mulQ50AVX512(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)
// As mulQ8AVX512.
TEXT ·mulQ50AVX512(SB), NOSPLIT, $32-56
	OPERANDS(22)
	LANES(offsets<>+8(SB), offsets<>+12(SB), Z28)
	LANES(offsets<>+16(SB), offsets<>+20(SB), Z27)

rows4:
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	MOVQ   DX, R12
	MOVQ   R8, R13
	MOVQ   BX, R14
	LEAQ   LINES_AHEAD(SI)(R11*1), R15

block:
	VMOVDQU64   (R12), Z16
	VPMADDWD    Z28, Z16, Z17
	FACTORS
	PREFETCHT1  (R15)
	Q50(0, ROW0(2), ROW0(6), Z20, Z21, Z0)
	Q50(1, ROW1(2), ROW1(6), Z22, Z23, Z1)
	PREFETCHT1  44(R15)
	Q50(2, ROW2(2), ROW2(6), Z24, Z25, Z2)
	Q50(3, ROW3(2), ROW3(6), Z20, Z21, Z3)
	ADDQ        $88, R15
	ADDQ        $22, SI
	ADDQ        $64, R12
	ADDQ        $4, R13
	DECQ        R14
	JNZ         block

	EVEN
	FOLD
	CMPQ    add+48(FP), $0
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

// High nibbles are shifted to the low ones' place; what stands above a low nibble is
// looked up all the same: the table has its 16 values twice.
DATA nibbleShifts<>+0(SB)/4, $0
DATA nibbleShifts<>+4(SB)/4, $0x00040004
GLOBL nibbleShifts<>(SB), RODATA|NOPTR, $8

// LOOKED_UP does a block of row r, with the table in Z28.
#define LOOKED_UP(r, nibbles, w, d, s) \
	VBROADCASTI32X4  nibbles, w     \
	VPSHUFB          Z29, w, w      \
	VPSRLVW          Z30, w, w      \
	VPERMW           Z28, w, w      \
	VPMADDWD         Z16, w, d      \
	VCVTDQ2PS        d, d           \
	VFMADD231PS.BCST (4*r)(R9), d, s

// func mulNibblesAVX512(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int, values *nibbleValues)
// As mulQ8AVX512, of a format of nibbles that stand for values.
TEXT ·mulNibblesAVX512(SB), NOSPLIT, $32-64
	OPERANDS(18)
	LANES(nibbleShifts<>+0(SB), nibbleShifts<>+4(SB), Z30)
	MOVQ           values+56(FP), AX
	VBROADCASTI32X4 (AX), Y28
	VPMOVSXBW      Y28, Z28

rows4:
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	MOVQ   DX, R12
	MOVQ   R8, R13
	MOVQ   BX, R14
	LEAQ   LINES_AHEAD(SI)(R11*1), R15

block:
	VMOVDQU64    (R12), Z16
	FACTORS
	PREFETCHT1   (R15)
	LOOKED_UP(0, ROW0(2), Z20, Z21, Z0)
	LOOKED_UP(1, ROW1(2), Z22, Z23, Z1)
	PREFETCHT1   36(R15)
	LOOKED_UP(2, ROW2(2), Z24, Z25, Z2)
	LOOKED_UP(3, ROW3(2), Z26, Z27, Z3)
	ADDQ         $72, R15
	ADDQ         $18, SI
	ADDQ         $64, R12
	ADDQ         $4, R13
	DECQ         R14
	JNZ          block

	FOLD
	CMPQ    add+48(FP), $0
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
