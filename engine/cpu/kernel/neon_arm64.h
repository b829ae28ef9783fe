// The NEON instructions of ARMv8.0 that Go's assembler lacks, and SDOT, as words.
//
// A macro has the instruction's name and takes the numbers of V registers, in
// the order of Go's assembler: sources first, second source before the first,
// then the destination. One that ends in X takes the index of a lane of the
// second source before them. Above each macro stands the instruction in Arm's
// syntax, from which neon_test.go has an assembler make the word again. The
// encodings are those of the Arm Architecture Reference Manual for A-profile,
// section C7.2: Rm is at bit 16, Rn at 5, Rd at 0.

#define NEON2(op, n, d) WORD $((op) | (n)<<5 | (d))
#define NEON3(op, m, n, d) WORD $((op) | (m)<<16 | (n)<<5 | (d))

// Lanes of 16 bits are numbered by the bits H:L:M, 11, 21 and 20; such a source
// is one of V0 to V15. Lanes of 32 bits are numbered by H:L. (Go's assembler, unlike
// Go, reads a>>b&c as a>>(b&c).)
#define NEONH(op, i, m, n, d) WORD $((op) | (((i)>>2)&1)<<11 | (((i)>>1)&1)<<21 | ((i)&1)<<20 | (m)<<16 | (n)<<5 | (d))
#define NEONS(op, i, m, n, d) WORD $((op) | (((i)>>1)&1)<<11 | ((i)&1)<<21 | (m)<<16 | (n)<<5 | (d))

// Widening and narrowing of integers.

// sxtl d.8h, n.8b
#define SXTL(n, d) NEON2(0x0f08a400, n, d)
// sxtl2 d.8h, n.16b
#define SXTL2(n, d) NEON2(0x4f08a400, n, d)
// sxtl d.4s, n.4h
#define SXTLS(n, d) NEON2(0x0f10a400, n, d)
// sxtl2 d.4s, n.8h
#define SXTLS2(n, d) NEON2(0x4f10a400, n, d)
// sqxtn d.4h, n.4s
#define SQXTN(n, d) NEON2(0x0e614800, n, d)
// sqxtn2 d.8h, n.4s
#define SQXTN2(n, d) NEON2(0x4e614800, n, d)

// Products of 16-bit integers, 32 bits wide: of the low half of the registers, or
// of the high half.

// smull d.4s, n.4h, m.4h
#define SMULL(m, n, d) NEON3(0x0e60c000, m, n, d)
// smull2 d.4s, n.8h, m.8h
#define SMULL2(m, n, d) NEON3(0x4e60c000, m, n, d)
// smlal d.4s, n.4h, m.4h
#define SMLAL(m, n, d) NEON3(0x0e608000, m, n, d)
// smlal2 d.4s, n.8h, m.8h
#define SMLAL2(m, n, d) NEON3(0x4e608000, m, n, d)
// smull d.4s, n.4h, m.h[i]
#define SMULLX(i, m, n, d) NEONH(0x0f40a000, i, m, n, d)
// smull2 d.4s, n.8h, m.h[i]
#define SMULL2X(i, m, n, d) NEONH(0x4f40a000, i, m, n, d)
// smlal d.4s, n.4h, m.h[i]
#define SMLALX(i, m, n, d) NEONH(0x0f402000, i, m, n, d)
// smlal2 d.4s, n.8h, m.h[i]
#define SMLAL2X(i, m, n, d) NEONH(0x4f402000, i, m, n, d)

// Of ARMv8.2, where FEAT_DotProd is present: sums of four products of bytes.

// sdot d.4s, n.16b, m.16b
#define SDOT(m, n, d) NEON3(0x4e809400, m, n, d)
// sdot d.4s, n.16b, m.4b[i]
#define SDOTX(i, m, n, d) NEONS(0x4f80e000, i, m, n, d)

// Conversions: half to float of the low or high half of a register, integer to
// float, and float to the nearest integer, halves to even.

// fcvtl d.4s, n.4h
#define FCVTL(n, d) NEON2(0x0e217800, n, d)
// fcvtl2 d.4s, n.8h
#define FCVTL2(n, d) NEON2(0x4e217800, n, d)
// scvtf d.4s, n.4s
#define SCVTF(n, d) NEON2(0x4e21d800, n, d)
// fcvtns d.4s, n.4s
#define FCVTNS(n, d) NEON2(0x4e21a800, n, d)
// frintn d.4s, n.4s
#define FRINTN(n, d) NEON2(0x4e218800, n, d)

// Arithmetic of floats. FMAX and FMIN return NaN when either source is one.

// fadd d.4s, n.4s, m.4s
#define FADD(m, n, d) NEON3(0x4e20d400, m, n, d)
// fsub d.4s, n.4s, m.4s
#define FSUB(m, n, d) NEON3(0x4ea0d400, m, n, d)
// fmul d.4s, n.4s, m.4s
#define FMUL(m, n, d) NEON3(0x6e20dc00, m, n, d)
// fdiv d.4s, n.4s, m.4s
#define FDIV(m, n, d) NEON3(0x6e20fc00, m, n, d)
// fmax d.4s, n.4s, m.4s
#define FMAX(m, n, d) NEON3(0x4e20f400, m, n, d)
// fmin d.4s, n.4s, m.4s
#define FMIN(m, n, d) NEON3(0x4ea0f400, m, n, d)
// faddp d.4s, n.4s, m.4s
#define FADDP(m, n, d) NEON3(0x6e20d400, m, n, d)
// fneg d.4s, n.4s
#define FNEG(n, d) NEON2(0x6ea0f800, n, d)
// fmul d.4s, n.4s, m.s[i]
#define FMULX(i, m, n, d) NEONS(0x4f809000, i, m, n, d)
// fmla d.4s, n.4s, m.s[i]
#define FMLAX(i, m, n, d) NEONS(0x4f801000, i, m, n, d)

// Across the lanes of a register.

// fmaxv s:d, n.4s
#define FMAXV(n, d) NEON2(0x6e30f800, n, d)
// umaxv s:d, n.4s
#define UMAXV(n, d) NEON2(0x6eb0a800, n, d)

// What the assembler has, as VFMLA and so on: for macros that take numbers.

// fmla d.4s, n.4s, m.4s
#define FMLA(m, n, d) NEON3(0x4e20cc00, m, n, d)
// fmls d.4s, n.4s, m.4s
#define FMLS(m, n, d) NEON3(0x4ea0cc00, m, n, d)
// add d.4s, n.4s, m.4s
#define ADDS4(m, n, d) NEON3(0x4ea08400, m, n, d)
// shl d.4s, n.4s, #23
#define SHL23(n, d) NEON2(0x4f375400, n, d)
// mov d.16b, n.16b
#define COPY(n, d) NEON3(0x4ea01c00, n, n, d)
