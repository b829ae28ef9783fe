// What tile_q8_arm64.s and tile_q41_arm64.s share.
//
// Tiles of 16 rows: four tokens pass together over a tile, and what is left one by
// one. A column of 16 rows, as 16-bit numbers, is two registers; it is multiplied
// with a lane of the activations.
//
// Registers:
//	R0 dst    R5 rows left    R10 q of the tokens       R15 scale at the block
//	R1 stride R6 blocks       R11 scale of the tokens   R16 sum at the block
//	R2 w      R7 tokens       R12 tokens left           R19 blocks left
//	R3 q      R8 sums         R13 w at the block        R20 bytes of q of a block
//	R4 scale  R9 ahead        R14 q at the block        R21 bytes of scale of a block
//	R22 dst of the tokens     R23 ahead of the block    R24 add
//	R25 sum (Q4_1)            R26 sum of the tokens     R17 counts to four
//
//	four tokens                                  one token
//	V0-V3   8 columns of each                    32 columns
//	V4-V15  weights, and room                    the same
//	V16-V31 products, 4 registers a token        V16-V23 products, V24-V27 sums
// The sums of four tokens are in memory.

// COLUMN4 multiplies a column, rows 0-7 in a and 8-15 in b, with lane i of four
// tokens.
#define COLUMN4(i, a, b) \
	SMLALX(i, 0, a, 16)   \
	SMLAL2X(i, 0, a, 17)  \
	SMLALX(i, 0, b, 18)   \
	SMLAL2X(i, 0, b, 19)  \
	SMLALX(i, 1, a, 20)   \
	SMLAL2X(i, 1, a, 21)  \
	SMLALX(i, 1, b, 22)   \
	SMLAL2X(i, 1, b, 23)  \
	SMLALX(i, 2, a, 24)   \
	SMLAL2X(i, 2, a, 25)  \
	SMLALX(i, 2, b, 26)   \
	SMLAL2X(i, 2, b, 27)  \
	SMLALX(i, 3, a, 28)   \
	SMLAL2X(i, 3, a, 29)  \
	SMLALX(i, 3, b, 30)   \
	SMLAL2X(i, 3, b, 31)

// EVEN1 and ODD1 multiply a column with lane i of q. They add to different
// registers: each sum waits for the one before it.
#define EVEN1(i, q, a, b) \
	SMLALX(i, q, a, 16)   \
	SMLAL2X(i, q, a, 17)  \
	SMLALX(i, q, b, 18)   \
	SMLAL2X(i, q, b, 19)

#define ODD1(i, q, a, b) \
	SMLALX(i, q, a, 20)   \
	SMLAL2X(i, q, a, 21)  \
	SMLALX(i, q, b, 22)   \
	SMLAL2X(i, q, b, 23)

// HALVES reads the 16 rows' scales to V8-V11.
#define HALVES \
	VLD1.P 32(R13), [V4.H8, V5.H8]  \
	FCVTL(4, 8)                     \
	FCVTL2(4, 9)                    \
	FCVTL(5, 10)                    \
	FCVTL2(5, 11)

#define CLEAR8 \
	VEOR V16.B16, V16.B16, V16.B16  \
	VEOR V17.B16, V17.B16, V17.B16  \
	VEOR V18.B16, V18.B16, V18.B16  \
	VEOR V19.B16, V19.B16, V19.B16  \
	VEOR V20.B16, V20.B16, V20.B16  \
	VEOR V21.B16, V21.B16, V21.B16  \
	VEOR V22.B16, V22.B16, V22.B16  \
	VEOR V23.B16, V23.B16, V23.B16

#define CLEAR16 \
	CLEAR8                          \
	VEOR V24.B16, V24.B16, V24.B16  \
	VEOR V25.B16, V25.B16, V25.B16  \
	VEOR V26.B16, V26.B16, V26.B16  \
	VEOR V27.B16, V27.B16, V27.B16  \
	VEOR V28.B16, V28.B16, V28.B16  \
	VEOR V29.B16, V29.B16, V29.B16  \
	VEOR V30.B16, V30.B16, V30.B16  \
	VEOR V31.B16, V31.B16, V31.B16

// FINISH4 adds the products a to d of token t to its sums at R8, scaled by the
// rows' scales and by the token's, lane t of V0.
#define FINISH4(t, a, b, c, d) \
	VLD1   (R8), [V4.S4, V5.S4, V6.S4, V7.S4]  \
	SCVTF(a, a)                                \
	SCVTF(b, b)                                \
	SCVTF(c, c)                                \
	SCVTF(d, d)                                \
	FMULX(t, 0, 8, 2)                          \
	FMLA(2, a, 4)                              \
	FMULX(t, 0, 9, 2)                          \
	FMLA(2, b, 5)                              \
	FMULX(t, 0, 10, 2)                         \
	FMLA(2, c, 6)                              \
	FMULX(t, 0, 11, 2)                         \
	FMLA(2, d, 7)

// KEEP4 writes them.
#define KEEP4 \
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R8)

// FINISH1 adds the products of the one token, scaled; V28 is its scale.
#define FINISH1 \
	VADD V20.S4, V16.S4, V16.S4  \
	VADD V21.S4, V17.S4, V17.S4  \
	VADD V22.S4, V18.S4, V18.S4  \
	VADD V23.S4, V19.S4, V19.S4  \
	SCVTF(16, 16)                \
	SCVTF(17, 17)                \
	SCVTF(18, 18)                \
	SCVTF(19, 19)                \
	FMUL(28, 8, 8)               \
	FMUL(28, 9, 9)               \
	FMUL(28, 10, 10)             \
	FMUL(28, 11, 11)             \
	FMLA(8, 16, 24)              \
	FMLA(9, 17, 25)              \
	FMLA(10, 18, 26)             \
	FMLA(11, 19, 27)

// LINES5 asks for the first lines of a block to be read later. Each group of tokens
// asks again, which costs little beside the products.
#define LINES5 \
	PRFM (R23), PLDL1KEEP     \
	PRFM 64(R23), PLDL1KEEP   \
	PRFM 128(R23), PLDL1KEEP  \
	PRFM 192(R23), PLDL1KEEP  \
	PRFM 256(R23), PLDL1KEEP

// BEGIN goes to the first block of the tile.
#define BEGIN \
	MOVD R2, R13   \
	MOVD R10, R14  \
	MOVD R11, R15  \
	MOVD R6, R19   \
	MOVD R9, R23

#define CLEARSUMS4 \
	CLEAR8                                           \
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R8)  \
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R8)  \
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R8)  \
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R8)  \
	SUB    $256, R8

// COLUMNS8 loads 8 columns of four tokens.
#define COLUMNS8 \
	FMOVQ (R14), F0     \
	FMOVQ 64(R14), F1   \
	FMOVQ 128(R14), F2  \
	FMOVQ 192(R14), F3  \
	ADD   $16, R14

// ADDDST adds what dst has to V24-V27.
#define ADDDST \
	VLD1 (R22), [V4.S4, V5.S4, V6.S4, V7.S4]  \
	FADD(4, 24, 24)                           \
	FADD(5, 25, 25)                           \
	FADD(6, 26, 26)                           \
	FADD(7, 27, 27)

// TOKENS goes to the first tokens of a tile.
#define TOKENS \
	MOVD R3, R10  \
	MOVD R4, R11  \
	MOVD R7, R12  \
	MOVD R0, R22

// NEXTBLOCK4 steps over a block's activations, of which R14 has passed one token's.
#define NEXTBLOCK4 \
	SUB $256, R8   \
	ADD R20, R14   \
	SUB $64, R14   \
	ADD R21, R15   \
	SUB $1, R19

// STORE4 writes the sums of four tokens and goes to the next ones.
#define STORE4 \
	MOVD   $4, R17                                    \
store4:                                               \
	VLD1.P 64(R8), [V24.S4, V25.S4, V26.S4, V27.S4]   \
	CBZ    R24, put4                                  \
	ADDDST                                            \
put4:                                                 \
	VST1   [V24.S4, V25.S4, V26.S4, V27.S4], (R22)    \
	ADD    R1, R22                                    \
	SUB    $1, R17                                    \
	CBNZ   R17, store4                                \
	SUB    $256, R8                                   \
	ADD    $256, R10                                  \
	ADD    $16, R11                                   \
	SUB    $4, R12

#define CLEARSUMS1 \
	VEOR V24.B16, V24.B16, V24.B16  \
	VEOR V25.B16, V25.B16, V25.B16  \
	VEOR V26.B16, V26.B16, V26.B16  \
	VEOR V27.B16, V27.B16, V27.B16

// STORE1 writes the sums of one token and goes to the next one.
#define STORE1 \
	CBZ  R24, put1                                  \
	ADDDST                                          \
put1:                                               \
	VST1 [V24.S4, V25.S4, V26.S4, V27.S4], (R22)    \
	ADD  R1, R22                                    \
	ADD  $64, R10                                   \
	ADD  $4, R11                                    \
	SUB  $1, R12

// NEXTTILE goes to the next tile, which begins where the blocks end.
#define NEXTTILE \
	MOVD R13, R2  \
	MOVD R23, R9  \
	ADD  $64, R0  \
	SUB  $16, R5
