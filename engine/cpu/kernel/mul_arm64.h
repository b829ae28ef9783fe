// What mul_arm64.s and mul_dot_arm64.s share.
//
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

// SCALES8 loads the scales of a block of Q8_0; the first one to all lanes, so as not
// to wait for what V5 was.
#define SCALES8 \
	PRFM    (R14), PLDL1KEEP    \
	PRFM    64(R14), PLDL1KEEP  \
	ADD     $136, R14           \
	VLD1R.P 4(R12), [V4.S4]     \
	VLD1R.P 2(R7), [V5.H8]      \
	VLD1.P  2(R8), V5.H[1]      \
	VLD1.P  2(R9), V5.H[2]      \
	VLD1.P  2(R10), V5.H[3]

// SCALE8 multiplies them with that of the activations.
#define SCALE8 \
	FCVTL(5, 5)    \
	FMUL(4, 5, 5)

// SCALES41 loads the scales and minima of a block of Q4_1.
#define SCALES41 \
	PRFM    (R14), PLDL1KEEP    \
	PRFM    64(R14), PLDL1KEEP  \
	ADD     $80, R14            \
	VLD1R.P 4(R12), [V4.S4]     \
	VLD1R.P 4(R15), [V25.S4]    \
	VLD1R.P 4(R7), [V5.S4]      \
	VLD1.P  4(R8), V5.S[1]      \
	VLD1.P  4(R9), V5.S[2]      \
	VLD1.P  4(R10), V5.S[3]

// SCALE41 does as SCALE8, and adds the minima times the activations' sum.
#define SCALE41 \
	VUZP2 V5.H8, V5.H8, V28.H8      \
	VUZP1 V5.H8, V5.H8, V5.H8       \
	FCVTL(28, 28)                   \
	FCVTL(5, 5)                     \
	FMUL(4, 5, 5)                   \
	VFMLA V28.S4, V25.S4, V24.S4
