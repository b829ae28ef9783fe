#include "textflag.h"
#include "neon_arm64.h"
#include "mul_arm64.h"

// PRODUCT multiplies 32 weights of two rows, words in V8 to V11 and in V12 to V15,
// with the activations: the lanes of a and b add up to the first row's product,
// those of c and d to the second's. Two rows, so that a processor which takes
// instructions in order need not wait for each.
#define PRODUCT(a, b, c, d) \
	SMULL(0, 8, a)    \
	SMULL2(0, 8, b)   \
	SMULL(0, 12, c)   \
	SMULL2(0, 12, d)  \
	SMLAL(1, 9, a)    \
	SMLAL2(1, 9, b)   \
	SMLAL(1, 13, c)   \
	SMLAL2(1, 13, d)  \
	SMLAL(2, 10, a)   \
	SMLAL2(2, 10, b)  \
	SMLAL(2, 14, c)   \
	SMLAL2(2, 14, d)  \
	SMLAL(3, 11, a)   \
	SMLAL2(3, 11, b)  \
	SMLAL(3, 15, c)   \
	SMLAL2(3, 15, d)

// Q8 does a block of two rows; the scales are already behind.
#define Q8(row, next, a, b, c, d) \
	VLD1.P 32(row), [V6.B16, V7.B16]     \
	VLD1.P 32(next), [V26.B16, V27.B16]  \
	SXTL(6, 8)                           \
	SXTL2(6, 9)                          \
	SXTL(7, 10)                          \
	SXTL2(7, 11)                         \
	SXTL(26, 12)                         \
	SXTL2(26, 13)                        \
	SXTL(27, 14)                         \
	SXTL2(27, 15)                        \
	PRODUCT(a, b, c, d)

// FOLD leaves the products of the four rows, as floats, in V16.
#define FOLD \
	VADD  V17.S4, V16.S4, V16.S4  \
	VADD  V19.S4, V18.S4, V18.S4  \
	VADD  V21.S4, V20.S4, V20.S4  \
	VADD  V23.S4, V22.S4, V22.S4  \
	VADDP V18.S4, V16.S4, V16.S4  \
	VADDP V22.S4, V20.S4, V20.S4  \
	VADDP V20.S4, V16.S4, V16.S4  \
	SCVTF(16, 16)

// func mulQ8NEON(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)
// rows is a multiple of 4 and not 0, blocks not 0.
TEXT ·mulQ8NEON(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD q+16(FP), R2
	MOVD scale+24(FP), R3
	MOVD rows+32(FP), R4
	MOVD blocks+40(FP), R5
	MOVD $34, R6
	MUL  R5, R6, R6

rows4:
	FOUR_ROWS

block:
	SCALES8
	VLD1.P  64(R11), [V0.H8, V1.H8, V2.H8, V3.H8]
	Q8(R7, R8, 16, 17, 18, 19)
	SCALE8
	Q8(R9, R10, 20, 21, 22, 23)
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

// Q41 does a block of two rows; scales and minima are already behind.
#define Q41(row, next, a, b, c, d) \
	VLD1.P 16(row), [V7.B16]         \
	VLD1.P 16(next), [V27.B16]       \
	VAND   V31.B16, V7.B16, V6.B16   \
	VUSHR  $4, V7.B16, V7.B16        \
	VAND   V31.B16, V27.B16, V26.B16 \
	VUSHR  $4, V27.B16, V27.B16      \
	VUXTL  V6.B8, V8.H8              \
	VUXTL2 V6.B16, V9.H8             \
	VUXTL  V7.B8, V10.H8             \
	VUXTL2 V7.B16, V11.H8            \
	VUXTL  V26.B8, V12.H8            \
	VUXTL2 V26.B16, V13.H8           \
	VUXTL  V27.B8, V14.H8            \
	VUXTL2 V27.B16, V15.H8           \
	PRODUCT(a, b, c, d)

// func mulQ41NEON(dst *float32, w *byte, q *int16, scale, sum *float32, rows, blocks, add int)
// rows is a multiple of 4 and not 0, blocks not 0.
TEXT ·mulQ41NEON(SB), NOSPLIT, $0-64
	MOVD  dst+0(FP), R0
	MOVD  w+8(FP), R1
	MOVD  q+16(FP), R2
	MOVD  scale+24(FP), R3
	MOVD  rows+40(FP), R4
	MOVD  blocks+48(FP), R5
	MOVD  $20, R6
	MUL   R5, R6, R6
	VMOVI $15, V31.B16

rows4:
	FOUR_ROWS
	MOVD sum+32(FP), R15

block:
	SCALES41
	VLD1.P  64(R11), [V0.H8, V1.H8, V2.H8, V3.H8]
	Q41(R7, R8, 16, 17, 18, 19)
	SCALE41
	Q41(R9, R10, 20, 21, 22, 23)
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
