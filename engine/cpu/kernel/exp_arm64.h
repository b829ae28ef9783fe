// What vector_arm64.s and attend_arm64.s share: e to the power of x, and sums.

// expK: the constants of EXP. The polynomial is Cephes' expf
// (www.netlib.org/cephes, single/expf.c).
DATA expK<>+0(SB)/4, $0x3fb8aa3b  // V16: log2(e)
DATA expK<>+4(SB)/4, $0x3f318000  // V17: ln(2), its leading bits
DATA expK<>+8(SB)/4, $0xb95e8083  // V18: ln(2), the rest
DATA expK<>+12(SB)/4, $0x39506967 // V19
DATA expK<>+16(SB)/4, $0x3ab743ce // V20
DATA expK<>+20(SB)/4, $0x3c088908 // V21
DATA expK<>+24(SB)/4, $0x3d2aa9c1 // V22
DATA expK<>+28(SB)/4, $0x3e2aaaaa // V23
DATA expK<>+32(SB)/4, $0x3f000000 // V24: 1/2
DATA expK<>+36(SB)/4, $0x3f800000 // V25: 1
DATA expK<>+40(SB)/4, $0xc2ae0000 // V26: -87, whose exp is 1.6e-38
DATA expK<>+44(SB)/4, $0x42b00000 // V27: 88, whose exp is 1.7e38
GLOBL expK<>(SB), RODATA|NOPTR, $48

// EXPK loads the constants to all lanes of V16 to V27; r is free.
#define EXPK(r) \
	MOVD    $expK<>(SB), r   \
	VLD1R.P 4(r), [V16.S4]   \
	VLD1R.P 4(r), [V17.S4]   \
	VLD1R.P 4(r), [V18.S4]   \
	VLD1R.P 4(r), [V19.S4]   \
	VLD1R.P 4(r), [V20.S4]   \
	VLD1R.P 4(r), [V21.S4]   \
	VLD1R.P 4(r), [V22.S4]   \
	VLD1R.P 4(r), [V23.S4]   \
	VLD1R.P 4(r), [V24.S4]   \
	VLD1R.P 4(r), [V25.S4]   \
	VLD1R.P 4(r), [V26.S4]   \
	VLD1R.P 4(r), [V27.S4]

// EXP is e to the power of x, in place; n, p and t are free. NaN stays NaN.
#define EXP(x, n, p, t) \
	FMAX(26, x, x)  \
	FMIN(27, x, x)  \
	FMUL(16, x, n)  \
	FRINTN(n, n)    \
	FMLS(17, n, x)  \
	FMLS(18, n, x)  \
	COPY(20, p)     \
	FMLA(19, x, p)  \
	COPY(21, t)     \
	FMLA(p, x, t)   \
	COPY(22, p)     \
	FMLA(t, x, p)   \
	COPY(23, t)     \
	FMLA(p, x, t)   \
	COPY(24, p)     \
	FMLA(t, x, p)   \
	COPY(25, t)     \
	FMLA(p, x, t)   \
	COPY(25, p)     \
	FMLA(t, x, p)   \
	FCVTNS(n, n)    \
	SHL23(n, n)     \
	ADDS4(n, p, x)

// SUM4 adds up the lanes of V0 to V3 into F0.
#define SUM4 \
	FADD(1, 0, 0)   \
	FADD(3, 2, 2)   \
	FADD(2, 0, 0)   \
	FADDP(0, 0, 0)  \
	FADDP(0, 0, 0)
