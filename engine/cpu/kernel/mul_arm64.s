#include "textflag.h"
#include "neon_arm64.h"

// Rows in the file's order times one token, four rows at a time.
//
// Registers:
//	R0 dst   R4 rows left   R7-R10 the four rows   R13 blocks left
//	R1 w     R5 blocks      R11 q                  R14 what to prefetch
//	R2 q     R6 row bytes   R12 scale              R15 sum
//	R3 scale
//	V0-V3 activations of a block     V16-V23 products, two registers a row
//	V4 their scale in all lanes      V24 the sums of the four rows
//	V5 scales of the four weights    V6-V15, V26, V27 weights

// LINES_AHEAD is how far before its use memory is asked for.
#define LINES_AHEAD 8192

// FOUR_ROWS begins four rows.
#define FOUR_ROWS \
	ADD  R6, R1, R8              \
	ADD  R6, R8, R9              \
	ADD  R6, R9, R10             \
	MOVD R1, R7                  \
	ADD  R6, R10, R1             \
	ADD  $LINES_AHEAD, R7, R14   \
	MOVD R2, R11                 \
	MOVD R3, R12                 \
	MOVD R5, R13                 \
	VEOR V24.B16, V24.B16, V24.B16

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
	PRFM    (R14), PLDL1KEEP
	PRFM    64(R14), PLDL1KEEP
	ADD     $136, R14
	VLD1.P  64(R11), [V0.H8, V1.H8, V2.H8, V3.H8]
	VLD1R.P 4(R12), [V4.S4]
	VLD1R.P 2(R7), [V5.H8]                        // all lanes, so as not to wait for what V5 was
	VLD1.P  2(R8), V5.H[1]
	VLD1.P  2(R9), V5.H[2]
	VLD1.P  2(R10), V5.H[3]
	Q8(R7, R8, 16, 17, 18, 19)
	FCVTL(5, 5)
	FMUL(4, 5, 5)
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
	PRFM    (R14), PLDL1KEEP
	PRFM    64(R14), PLDL1KEEP
	ADD     $80, R14
	VLD1.P  64(R11), [V0.H8, V1.H8, V2.H8, V3.H8]
	VLD1R.P 4(R12), [V4.S4]
	VLD1R.P 4(R15), [V25.S4]
	VLD1R.P 4(R7), [V5.S4]                        // a scale and a minimum
	VLD1.P  4(R8), V5.S[1]
	VLD1.P  4(R9), V5.S[2]
	VLD1.P  4(R10), V5.S[3]
	Q41(R7, R8, 16, 17, 18, 19)
	VUZP2   V5.H8, V5.H8, V28.H8
	VUZP1   V5.H8, V5.H8, V5.H8
	FCVTL(28, 28)
	FCVTL(5, 5)
	FMUL(4, 5, 5)
	VFMLA   V28.S4, V25.S4, V24.S4
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
