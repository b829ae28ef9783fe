// What tile_q8_dot_arm64.s and tile_q41_dot_arm64.s share, beside tile_arm64.h.
//
// Tiles with SDOT, which multiplies bytes, four columns of a row to a lane. So
// activations are taken apart: q = 256*high + low + 128, where high is the upper
// byte and low the lower one with its first bit turned, both with signs. Then a
// product with weights w is 256*(high·w) + low·w - (-128)*(sum of w), exactly.
//
// Registers are those of tile_arm64.h, but:
//
//	four tokens                              one token
//	V0-V3   16 columns of each, a byte of q  32 columns: high, high, low, low
//	V4, V5  room                             the same
//	V6      -128 in all bytes                the same
//	V8-V11  weights: 4 columns of 16 rows    the same
//	V12-V15 -128 times the sums of weights   V24-V27
//	V16-V31 products                         V16-V19 with high, V20-V23 with low
//	                                         V28-V31 sums, V12 scale
//
// With four tokens, a block's weights pass twice, since only one set of products fits
// the registers: first with high, then with low.

// DOT4 multiplies 4 columns of 16 rows with lane i of q.
#define DOT4(i, q, a, b, c, d) \
	SDOTX(i, q, 8, a)   \
	SDOTX(i, q, 9, b)   \
	SDOTX(i, q, 10, c)  \
	SDOTX(i, q, 11, d)

#define DOTS(i) \
	DOT4(i, 0, 16, 17, 18, 19)  \
	DOT4(i, 1, 20, 21, 22, 23)  \
	DOT4(i, 2, 24, 25, 26, 27)  \
	DOT4(i, 3, 28, 29, 30, 31)

// TOTAL adds the weights, times -128, to a to d.
#define TOTAL(a, b, c, d) \
	SDOT(6, 8, a)   \
	SDOT(6, 9, b)   \
	SDOT(6, 10, c)  \
	SDOT(6, 11, d)

// HIGH and LOW load the bytes of 16 columns of a token.
#define HIGH(off, q) \
	FMOVQ off(R14), F4               \
	FMOVQ (off+16)(R14), F5          \
	VUZP2 V5.B16, V4.B16, q.B16

#define LOW(off, q) \
	FMOVQ off(R14), F4           \
	FMOVQ (off+16)(R14), F5      \
	VUZP1 V5.B16, V4.B16, q.B16  \
	VEOR  V6.B16, q.B16, q.B16

// JOIN makes a*256 less the total t the beginning of a.
#define JOIN(a, t) \
	VSHL $8, a.S4, a.S4    \
	VSUB t.S4, a.S4, a.S4

// JOIN16 does so with the products of four tokens.
#define JOIN16 \
	JOIN(V16, V12) \
	JOIN(V17, V13) \
	JOIN(V18, V14) \
	JOIN(V19, V15) \
	JOIN(V20, V12) \
	JOIN(V21, V13) \
	JOIN(V22, V14) \
	JOIN(V23, V15) \
	JOIN(V24, V12) \
	JOIN(V25, V13) \
	JOIN(V26, V14) \
	JOIN(V27, V15) \
	JOIN(V28, V12) \
	JOIN(V29, V13) \
	JOIN(V30, V14) \
	JOIN(V31, V15)

// JOIN1 adds a row's products to its sum.
#define JOIN1(high, low, total, h, d, sum) \
	JOIN(high, total)                 \
	VADD low.S4, high.S4, high.S4     \
	SCVTF(h, h)                       \
	FMUL(12, d, d)                     \
	FMLA(d, h, sum)

#define CLEARTOTALS4 \
	VEOR V12.B16, V12.B16, V12.B16  \
	VEOR V13.B16, V13.B16, V13.B16  \
	VEOR V14.B16, V14.B16, V14.B16  \
	VEOR V15.B16, V15.B16, V15.B16

#define CLEARSUMSDOT1 \
	VEOR V28.B16, V28.B16, V28.B16  \
	VEOR V29.B16, V29.B16, V29.B16  \
	VEOR V30.B16, V30.B16, V30.B16  \
	VEOR V31.B16, V31.B16, V31.B16

// JOINTILE adds the products of one token to its sums.
#define JOINTILE \
	JOIN1(V16, V20, V24, 16, 8, 28)   \
	JOIN1(V17, V21, V25, 17, 9, 29)   \
	JOIN1(V18, V22, V26, 18, 10, 30)  \
	JOIN1(V19, V23, V27, 19, 11, 31)

// TOSTORE1 copies the sums to where STORE1 takes them from.
#define TOSTORE1 \
	COPY(28, 24)  \
	COPY(29, 25)  \
	COPY(30, 26)  \
	COPY(31, 27)
