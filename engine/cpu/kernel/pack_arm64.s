#include "textflag.h"

// From the file's order to tile order: transposes of the rows' pairs of columns.

// ROW makes p the address of a row, and R1 that of the next.
#define ROW(p) \
	MOVD R1, p      \
	ADD  R3, R1, R1

// TRANSPOSE takes eight rows of eight 16-bit numbers and writes them column by
// column, 32 bytes apart, to off(R13). The rows' registers are used up.
#define TRANSPOSE(r0, r1, r2, r3, r4, r5, r6, r7, off) \
	VTRN1 r1.H8, r0.H8, V16.H8    \
	VTRN2 r1.H8, r0.H8, V17.H8    \
	VTRN1 r3.H8, r2.H8, V18.H8    \
	VTRN2 r3.H8, r2.H8, V19.H8    \
	VTRN1 r5.H8, r4.H8, V20.H8    \
	VTRN2 r5.H8, r4.H8, V21.H8    \
	VTRN1 r7.H8, r6.H8, V22.H8    \
	VTRN2 r7.H8, r6.H8, V23.H8    \
	VTRN1 V18.S4, V16.S4, r0.S4   \
	VTRN2 V18.S4, V16.S4, r2.S4   \
	VTRN1 V19.S4, V17.S4, r1.S4   \
	VTRN2 V19.S4, V17.S4, r3.S4   \
	VTRN1 V22.S4, V20.S4, r4.S4   \
	VTRN2 V22.S4, V20.S4, r6.S4   \
	VTRN1 V23.S4, V21.S4, r5.S4   \
	VTRN2 V23.S4, V21.S4, r7.S4   \
	VTRN1 r4.D2, r0.D2, V16.D2    \
	VTRN2 r4.D2, r0.D2, V20.D2    \
	VTRN1 r5.D2, r1.D2, V17.D2    \
	VTRN2 r5.D2, r1.D2, V21.D2    \
	VTRN1 r6.D2, r2.D2, V18.D2    \
	VTRN2 r6.D2, r2.D2, V22.D2    \
	VTRN1 r7.D2, r3.D2, V19.D2    \
	VTRN2 r7.D2, r3.D2, V23.D2    \
	FMOVQ F16, off(R13)           \
	FMOVQ F17, (off+32)(R13)      \
	FMOVQ F18, (off+64)(R13)      \
	FMOVQ F19, (off+96)(R13)      \
	FMOVQ F20, (off+128)(R13)     \
	FMOVQ F21, (off+160)(R13)     \
	FMOVQ F22, (off+192)(R13)     \
	FMOVQ F23, (off+224)(R13)

// func packQ8NEON(dst, src *byte, blocks int)
// 16 rows, eight at a time. blocks is not 0.
TEXT ·packQ8NEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD blocks+16(FP), R2
	MOVD $34, R3
	MUL  R2, R3, R3
	MOVD $2, R15

rows8:
	ROW(R4)
	ROW(R5)
	ROW(R6)
	ROW(R7)
	ROW(R8)
	ROW(R9)
	ROW(R10)
	ROW(R11)
	MOVD R2, R12
	MOVD R0, R13

block:
	VLD1R.P 2(R4), [V30.H8]
	VLD1.P  2(R5), V30.H[1]
	VLD1.P  2(R6), V30.H[2]
	VLD1.P  2(R7), V30.H[3]
	VLD1.P  2(R8), V30.H[4]
	VLD1.P  2(R9), V30.H[5]
	VLD1.P  2(R10), V30.H[6]
	VLD1.P  2(R11), V30.H[7]
	VLD1.P  32(R4), [V0.H8, V1.H8]
	VLD1.P  32(R5), [V2.H8, V3.H8]
	VLD1.P  32(R6), [V4.H8, V5.H8]
	VLD1.P  32(R7), [V6.H8, V7.H8]
	VLD1.P  32(R8), [V8.H8, V9.H8]
	VLD1.P  32(R9), [V10.H8, V11.H8]
	VLD1.P  32(R10), [V12.H8, V13.H8]
	VLD1.P  32(R11), [V14.H8, V15.H8]
	TRANSPOSE(V0, V2, V4, V6, V8, V10, V12, V14, 0)
	TRANSPOSE(V1, V3, V5, V7, V9, V11, V13, V15, 256)
	FMOVQ   F30, 512(R13)
	ADD     $544, R13
	SUB     $1, R12
	CBNZ    R12, block

	ADD  $16, R0
	SUB  $1, R15
	CBNZ R15, rows8
	RET

// NIBBLES makes the words of a row's four lines, of its 16 bytes at p: the low
// nibbles are columns 0 to 15, the high ones 16 to 31. In a word of four columns,
// a shift by 12 bits brings the last two beside the first two; what V30 does to
// the bytes puts the even columns before the odd ones.
#define NIBBLES(p, v) \
	VLD1.P 16(p), [v.B16]            \
	VAND   V31.B16, v.B16, V4.B16    \
	VUSHR  $4, v.B16, v.B16          \
	VUSHR  $12, V4.S4, V6.S4         \
	VUSHR  $12, v.S4, V7.S4          \
	VORR   V6.B16, V4.B16, V4.B16    \
	VORR   V7.B16, v.B16, v.B16      \
	VUZP1  v.H8, V4.H8, v.H8         \
	VTBL   V30.B16, [v.B16], v.B16

// func packQ41NEON(dst, src *byte, blocks int)
// 16 rows, four at a time. blocks is not 0.
TEXT ·packQ41NEON(SB), NOSPLIT, $0-24
	MOVD  dst+0(FP), R0
	MOVD  src+8(FP), R1
	MOVD  blocks+16(FP), R2
	MOVD  $20, R3
	MUL   R2, R3, R3
	MOVD  $4, R15
	ADD   $256, R0, R14               // where the scales go
	VMOVI $15, V31.B16
	MOVD  $0x0705060403010200, R4
	MOVD  $0x0f0d0e0c0b090a08, R5
	VMOV  R4, V30.D[0]
	VMOV  R5, V30.D[1]

rows4:
	ROW(R4)
	ROW(R5)
	ROW(R6)
	ROW(R7)
	MOVD R2, R12
	MOVD R0, R13
	MOVD R14, R11

block:
	VLD1R.P 4(R4), [V5.S4]
	VLD1.P  4(R5), V5.S[1]
	VLD1.P  4(R6), V5.S[2]
	VLD1.P  4(R7), V5.S[3]
	VUZP1   V5.H8, V5.H8, V6.H8
	VUZP2   V5.H8, V5.H8, V7.H8
	FMOVD   F6, (R11)
	FMOVD   F7, 32(R11)
	NIBBLES(R4, V0)
	NIBBLES(R5, V1)
	NIBBLES(R6, V2)
	NIBBLES(R7, V3)
	VTRN1   V1.S4, V0.S4, V16.S4
	VTRN2   V1.S4, V0.S4, V17.S4
	VTRN1   V3.S4, V2.S4, V18.S4
	VTRN2   V3.S4, V2.S4, V19.S4
	VTRN1   V18.D2, V16.D2, V0.D2
	VTRN1   V19.D2, V17.D2, V1.D2
	VTRN2   V18.D2, V16.D2, V2.D2
	VTRN2   V19.D2, V17.D2, V3.D2
	FMOVQ   F0, (R13)
	FMOVQ   F1, 64(R13)
	FMOVQ   F2, 128(R13)
	FMOVQ   F3, 192(R13)
	ADD     $320, R13
	ADD     $320, R11
	SUB     $1, R12
	CBNZ    R12, block

	ADD  $16, R0
	ADD  $8, R14
	SUB  $1, R15
	CBNZ R15, rows4
	RET
