// Macros of the kernels that multiply tiles with AVX-512; tile_avx512_amd64.s says which
// registers hold what.

// DOT multiplies the block in Z0 to Z15 with a token's block at q; the products
// are in Z17. Four sums, because a multiplication takes four cycles and two
// begin in each.
#define DOT(q) \
	VPXORD        Z17, Z17, Z17     \
	VPXORD        Z18, Z18, Z18     \
	VPXORD        Z19, Z19, Z19     \
	VPXORD        Z20, Z20, Z20     \
	VPDPWSSD.BCST 0(q), Z0, Z17     \
	VPDPWSSD.BCST 4(q), Z1, Z18     \
	VPDPWSSD.BCST 8(q), Z2, Z19     \
	VPDPWSSD.BCST 12(q), Z3, Z20    \
	VPDPWSSD.BCST 16(q), Z4, Z17    \
	VPDPWSSD.BCST 20(q), Z5, Z18    \
	VPDPWSSD.BCST 24(q), Z6, Z19    \
	VPDPWSSD.BCST 28(q), Z7, Z20    \
	VPDPWSSD.BCST 32(q), Z8, Z17    \
	VPDPWSSD.BCST 36(q), Z9, Z18    \
	VPDPWSSD.BCST 40(q), Z10, Z19   \
	VPDPWSSD.BCST 44(q), Z11, Z20   \
	VPDPWSSD.BCST 48(q), Z12, Z17   \
	VPDPWSSD.BCST 52(q), Z13, Z18   \
	VPDPWSSD.BCST 56(q), Z14, Z19   \
	VPDPWSSD.BCST 60(q), Z15, Z20   \
	VPADDD        Z18, Z17, Z17     \
	VPADDD        Z20, Z19, Z19     \
	VPADDD        Z19, Z17, Z17     \
	VCVTDQ2PS     Z17, Z17

// LOAD_Q8 loads the 16 pairs of columns of a Q8_0 block at w, and the scales.
#define LOAD_Q8(w) \
	VPMOVSXBW 0(w), Z0     \
	VPMOVSXBW 32(w), Z1    \
	VPMOVSXBW 64(w), Z2    \
	VPMOVSXBW 96(w), Z3    \
	VPMOVSXBW 128(w), Z4   \
	VPMOVSXBW 160(w), Z5   \
	VPMOVSXBW 192(w), Z6   \
	VPMOVSXBW 224(w), Z7   \
	VPMOVSXBW 256(w), Z8   \
	VPMOVSXBW 288(w), Z9   \
	VPMOVSXBW 320(w), Z10  \
	VPMOVSXBW 352(w), Z11  \
	VPMOVSXBW 384(w), Z12  \
	VPMOVSXBW 416(w), Z13  \
	VPMOVSXBW 448(w), Z14  \
	VPMOVSXBW 480(w), Z15  \
	VCVTPH2PS 512(w), Z16

// AHEAD_Q8 prefetches a block.
#define AHEAD_Q8 \
	PREFETCHT0 0(DX)    \
	PREFETCHT0 64(DX)   \
	PREFETCHT0 128(DX)  \
	PREFETCHT0 192(DX)  \
	PREFETCHT0 256(DX)  \
	PREFETCHT0 320(DX)  \
	PREFETCHT0 384(DX)  \
	PREFETCHT0 448(DX)  \
	PREFETCHT0 512(DX)  \
	ADDQ       $544, DX

// CLEAR zeroes the sums of AX tokens.
#define CLEAR \
	VPXORD  Z17, Z17, Z17  \
	MOVQ    BX, R11        \
	MOVQ    AX, R14        \
clear:                         \
	VMOVUPS Z17, (R11)     \
	ADDQ    $64, R11       \
	DECQ    R14            \
	JNZ     clear

// OUT writes the sums of AX tokens to dst, or adds them.
#define OUT(add) \
	MOVQ    BX, R11            \
	MOVQ    AX, R14            \
	MOVQ    DI, R12            \
	CMPQ    add, $0            \
	JNE     adding             \
writing:                           \
	VMOVUPS (R11), Z17         \
	VMOVUPS Z17, (R12)         \
	ADDQ    $64, R11           \
	ADDQ    R8, R12            \
	DECQ    R14                \
	JNZ     writing            \
	JMP     written            \
adding:                            \
	VMOVUPS (R11), Z17         \
	VADDPS  (R12), Z17, Z17    \
	VMOVUPS Z17, (R12)         \
	ADDQ    $64, R11           \
	ADDQ    R8, R12            \
	DECQ    R14                \
	JNZ     adding             \
written:                           \
	ADDQ    $64, DI
