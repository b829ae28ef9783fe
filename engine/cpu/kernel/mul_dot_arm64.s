#include "textflag.h"
#include "neon_arm64.h"
#include "mul_arm64.h"

// Rows in the file's order times one token with SDOT, which multiplies bytes. So
// activations are taken apart: q = 256*high + 127 - low, where high is the upper
// byte and low the lower one with all bits but the first turned, both with signs.
// Then a product with weights w is 256*(high·w) - (low·w - 127*sum of w), exactly.
//
// Registers are those of mul_arm64.h, but:
//	V6, V7 high bytes    V16-V19 products with them, of four rows
//	V8, V9 low bytes     V20-V23 what is to be subtracted
//	V10-V15 weights      V30 -127 in all bytes   V31 127

// BYTES takes the activations of a block apart.
#define BYTES \
	VLD1.P 64(R11), [V0.B16, V1.B16, V2.B16, V3.B16]  \
	VUZP2  V1.B16, V0.B16, V6.B16                     \
	VUZP2  V3.B16, V2.B16, V7.B16                     \
	VUZP1  V1.B16, V0.B16, V8.B16                     \
	VUZP1  V3.B16, V2.B16, V9.B16                     \
	VEOR   V31.B16, V8.B16, V8.B16                    \
	VEOR   V31.B16, V9.B16, V9.B16

#define CLEAR \
	VEOR V16.B16, V16.B16, V16.B16  \
	VEOR V17.B16, V17.B16, V17.B16  \
	VEOR V18.B16, V18.B16, V18.B16  \
	VEOR V19.B16, V19.B16, V19.B16  \
	VEOR V20.B16, V20.B16, V20.B16  \
	VEOR V21.B16, V21.B16, V21.B16  \
	VEOR V22.B16, V22.B16, V22.B16  \
	VEOR V23.B16, V23.B16, V23.B16

// PRODUCT multiplies 32 weights of two rows, bytes in a and b, and in c and d.
#define PRODUCT(a, b, h, l, c, d, i, m) \
	SDOT(6, a, h)   \
	SDOT(8, a, l)   \
	SDOT(6, c, i)   \
	SDOT(8, c, m)   \
	SDOT(7, b, h)   \
	SDOT(9, b, l)   \
	SDOT(7, d, i)   \
	SDOT(9, d, m)   \
	SDOT(30, a, l)  \
	SDOT(30, c, m)  \
	SDOT(30, b, l)  \
	SDOT(30, d, m)

// FOLD leaves the products of the four rows, as floats, in V16.
#define FOLD \
	VADDP V17.S4, V16.S4, V16.S4  \
	VADDP V19.S4, V18.S4, V18.S4  \
	VADDP V21.S4, V20.S4, V20.S4  \
	VADDP V23.S4, V22.S4, V22.S4  \
	VADDP V18.S4, V16.S4, V16.S4  \
	VADDP V22.S4, V20.S4, V20.S4  \
	VSHL  $8, V16.S4, V16.S4      \
	VSUB  V20.S4, V16.S4, V16.S4  \
	SCVTF(16, 16)

// func mulQ8Dot(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)
// rows is a multiple of 4 and not 0, blocks not 0.
TEXT ·mulQ8Dot(SB), NOSPLIT, $0-56
	MOVD  dst+0(FP), R0
	MOVD  w+8(FP), R1
	MOVD  q+16(FP), R2
	MOVD  scale+24(FP), R3
	MOVD  rows+32(FP), R4
	MOVD  blocks+40(FP), R5
	MOVD  $34, R6
	MUL   R5, R6, R6
	VMOVI $0x81, V30.B16
	VMOVI $0x7f, V31.B16

rows4:
	FOUR_ROWS

block:
	SCALES8
	BYTES
	CLEAR
	VLD1.P  32(R7), [V10.B16, V11.B16]
	VLD1.P  32(R8), [V12.B16, V13.B16]
	PRODUCT(10, 11, 16, 20, 12, 13, 17, 21)
	VLD1.P  32(R9), [V14.B16, V15.B16]
	VLD1.P  32(R10), [V10.B16, V11.B16]
	PRODUCT(14, 15, 18, 22, 10, 11, 19, 23)
	SCALE8
	FOLD
	VFMLA   V5.S4, V16.S4, V24.S4
	SUB     $1, R13
	CBNZ    R13, block

	MOVD add+48(FP), R7
	CBZ  R7, store
	VLD1 (R0), [V0.S4]
	FADD(0, 24, 24)

store:
	VST1.P [V24.S4], 16(R0)
	SUB    $4, R4
	CBNZ   R4, rows4
	RET

// NIBBLES loads a block of a row of Q4_1: its low nibbles to a, its high ones to b.
#define NIBBLES(row, a, b) \
	VLD1.P 16(row), [b.B16]       \
	VAND   V29.B16, b.B16, a.B16  \
	VUSHR  $4, b.B16, b.B16

// func mulQ41Dot(dst *float32, w *byte, q *int16, scale, sum *float32, rows, blocks, add int)
// rows is a multiple of 4 and not 0, blocks not 0.
TEXT ·mulQ41Dot(SB), NOSPLIT, $0-64
	MOVD  dst+0(FP), R0
	MOVD  w+8(FP), R1
	MOVD  q+16(FP), R2
	MOVD  scale+24(FP), R3
	MOVD  rows+40(FP), R4
	MOVD  blocks+48(FP), R5
	MOVD  $20, R6
	MUL   R5, R6, R6
	VMOVI $0x81, V30.B16
	VMOVI $0x7f, V31.B16
	VMOVI $15, V29.B16

rows4:
	FOUR_ROWS
	MOVD sum+32(FP), R15

block:
	SCALES41
	BYTES
	CLEAR
	NIBBLES(R7, V10, V11)
	NIBBLES(R8, V12, V13)
	PRODUCT(10, 11, 16, 20, 12, 13, 17, 21)
	NIBBLES(R9, V14, V15)
	NIBBLES(R10, V10, V11)
	PRODUCT(14, 15, 18, 22, 10, 11, 19, 23)
	SCALE41
	FOLD
	VFMLA   V5.S4, V16.S4, V24.S4
	SUB     $1, R13
	CBNZ    R13, block

	MOVD add+56(FP), R7
	CBZ  R7, store
	VLD1 (R0), [V0.S4]
	FADD(0, 24, 24)

store:
	VST1.P [V24.S4], 16(R0)
	SUB    $4, R4
	CBNZ   R4, rows4
	RET
