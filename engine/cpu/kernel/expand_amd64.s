#include "textflag.h"

// Blocks with a byte for each number (see widen.go, kquants.go), of one row: both
// sets of amd64 pack and, where they have no kernel of their own, multiply from them.

// What a nibble is masked with, the fifth bit, and the fifth and sixth.
DATA nibbleMask<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL nibbleMask<>(SB), RODATA|NOPTR, $8
DATA fifthMask<>+0(SB)/8, $0x1010101010101010
GLOBL fifthMask<>(SB), RODATA|NOPTR, $8
DATA highMask<>+0(SB)/8, $0x3030303030303030
GLOBL highMask<>(SB), RODATA|NOPTR, $8
DATA scaleMask<>+0(SB)/8, $0x3f3f3f3f3f3f3f3f
GLOBL scaleMask<>(SB), RODATA|NOPTR, $8
DATA thirtyTwo<>+0(SB)/8, $0x2020202020202020
GLOBL thirtyTwo<>(SB), RODATA|NOPTR, $8

// Which byte of four holds the bits of eight columns, and all bits but the column's.
DATA bitBytes<>+0(SB)/8, $0x0000000000000000
DATA bitBytes<>+8(SB)/8, $0x0101010101010101
DATA bitBytes<>+16(SB)/8, $0x0202020202020202
DATA bitBytes<>+24(SB)/8, $0x0303030303030303
GLOBL bitBytes<>(SB), RODATA|NOPTR, $32
DATA otherBits<>+0(SB)/8, $0x7fbfdfeff7fbfdfe
GLOBL otherBits<>(SB), RODATA|NOPTR, $8

// NIBBLES loads 16 bytes as 32 columns: the low nibbles, then the high ones.
#define NIBBLES(at, y, x, x1) \
	VMOVDQU     at, x          \
	VPSRLW      $4, x, x1      \
	VINSERTI128 $1, x1, y, y   \
	VPAND       Y15, y, y

// func widenNibblesAVX2(dst, src *byte, blocks int, values *nibbleValues)
// blocks is not 0.
TEXT ·widenNibblesAVX2(SB), NOSPLIT, $0-32
	MOVQ           dst+0(FP), DI
	MOVQ           src+8(FP), SI
	MOVQ           blocks+16(FP), CX
	MOVQ           values+24(FP), DX
	VBROADCASTI128 (DX), Y14
	VPBROADCASTQ   nibbleMask<>(SB), Y15

block:
	NIBBLES(2(SI), Y0, X0, X1)
	VPSHUFB Y0, Y14, Y0
	MOVWLZX (SI), AX
	MOVW    AX, (DI)
	VMOVDQU Y0, 2(DI)
	ADDQ    $18, SI
	ADDQ    $34, DI
	DECQ    CX
	JNZ     block
	VZEROUPPER
	RET

// func widenQ50AVX2(dst, src *byte, blocks int)
// As widenNibblesAVX2. Where the fifth bit is not set, 16 is subtracted: the upper
// bits are set.
TEXT ·widenQ50AVX2(SB), NOSPLIT, $0-24
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         blocks+16(FP), CX
	VPBROADCASTQ nibbleMask<>(SB), Y15
	VMOVDQU      bitBytes<>(SB), Y14
	VPBROADCASTQ otherBits<>(SB), Y13
	VPCMPEQB     Y12, Y12, Y12
	VPXOR        Y15, Y12, Y11

block:
	NIBBLES(6(SI), Y0, X0, X1)
	VPBROADCASTD 2(SI), Y1
	VPSHUFB      Y14, Y1, Y1
	VPOR         Y13, Y1, Y1
	VPCMPEQB     Y12, Y1, Y1
	VPANDN       Y11, Y1, Y1
	VPOR         Y1, Y0, Y0
	MOVWLZX      (SI), AX
	MOVW         AX, (DI)
	VMOVDQU      Y0, 2(DI)
	ADDQ         $22, SI
	ADDQ         $34, DI
	DECQ         CX
	JNZ          block
	VZEROUPPER
	RET

// BOTH stores 32 columns of a block of nibbles and 32 of the next.
#define BOTH(from, to) \
	VMOVDQU from(DX), Y0       \
	VPSRLW  $4, Y0, Y1         \
	VPAND   Y15, Y0, Y0        \
	VPAND   Y15, Y1, Y1        \
	VMOVDQU Y0, to+2(DI)       \
	VMOVDQU Y1, to+36(DI)

// D writes AX as the scale of all blocks.
#define D \
	MOVW AX, 0(DI)     \
	MOVW AX, 34(DI)    \
	MOVW AX, 68(DI)    \
	MOVW AX, 102(DI)   \
	MOVW AX, 136(DI)   \
	MOVW AX, 170(DI)   \
	MOVW AX, 204(DI)   \
	MOVW AX, 238(DI)

// The order of the scales, each twice, and of the minima, each with a zero, when
// unpacked they are: scales 0-3, minima 0-3, scales 4-7, minima 4-7.
DATA sideOrder<>+0(SB)/8, $0x0303020201010000
DATA sideOrder<>+8(SB)/8, $0x0b0b0a0a09090808
DATA sideOrder<>+16(SB)/8, $0x8007800680058004
DATA sideOrder<>+24(SB)/8, $0x800f800e800d800c
GLOBL sideOrder<>(SB), RODATA|NOPTR, $32

// SIDE unpacks the scales and minima of Q4_K and Q5_K: the low bits of bytes 0 to 7;
// and the nibbles of bytes 8 to 11, below the upper bits of bytes 0 to 7.
#define SIDE \
	MOVQ    4(DX), AX                 \
	MOVL    12(DX), BX                \
	MOVQ    BX, CX                    \
	SHLQ    $28, CX                   \
	ORQ     CX, BX                    \
	ANDQ    nibbleMask<>(SB), BX      \
	MOVQ    AX, CX                    \
	SHRQ    $2, CX                    \
	ANDQ    highMask<>(SB), CX        \
	ORQ     CX, BX                    \
	ANDQ    scaleMask<>(SB), AX       \
	VMOVQ   AX, X0                    \
	VPINSRQ $1, BX, X0, X0            \
	VPSHUFB sideOrder<>+0(SB), X0, X1 \
	VPSHUFB sideOrder<>+16(SB), X0, X2 \
	VMOVDQU X1, 274(DI)               \
	VMOVDQU X2, 290(DI)               \
	MOVWLZX 2(DX), AX                 \
	MOVW    AX, 272(DI)               \
	MOVWLZX (DX), AX

// func expandQ4KAVX2(s *super, src *byte)
TEXT ·expandQ4KAVX2(SB), NOSPLIT, $0-16
	MOVQ         s+0(FP), DI
	MOVQ         src+8(FP), DX
	VPBROADCASTQ nibbleMask<>(SB), Y15
	SIDE
	D
	BOTH(16, 0)
	BOTH(48, 68)
	BOTH(80, 136)
	BOTH(112, 204)
	VZEROUPPER
	RET

// FIFTH adds the fifth bits to y, which shift(n) brings to their place, and stores it.
#define FIFTH(shift, n, y, to) \
	shift   n, Y13, Y2         \
	VPAND   Y14, Y2, Y2        \
	VPOR    Y2, y, y           \
	VMOVDQU y, to+2(DI)

#define BOTH5(from, to, shiftA, a, shiftB, b) \
	VMOVDQU from(DX), Y0             \
	VPSRLW  $4, Y0, Y1               \
	VPAND   Y15, Y0, Y0              \
	VPAND   Y15, Y1, Y1              \
	FIFTH(shiftA, a, Y0, to)         \
	FIFTH(shiftB, b, Y1, to+34)

// func expandQ5KAVX2(s *super, src *byte)
TEXT ·expandQ5KAVX2(SB), NOSPLIT, $0-16
	MOVQ         s+0(FP), DI
	MOVQ         src+8(FP), DX
	VPBROADCASTQ nibbleMask<>(SB), Y15
	VPBROADCASTQ fifthMask<>(SB), Y14
	SIDE
	D
	VMOVDQU      16(DX), Y13
	BOTH5(48, 0, VPSLLW, $4, VPSLLW, $3)
	BOTH5(80, 68, VPSLLW, $2, VPSLLW, $1)
	BOTH5(112, 136, VPSLLW, $0, VPSRLW, $1)
	BOTH5(144, 204, VPSRLW, $2, VPSRLW, $3)
	VZEROUPPER
	RET

// SIX joins the four low bits in y and the upper two that shift(n) brings to their
// place in Y2, subtracts 32, and stores the block.
#define SIX(shift, n, y, to) \
	shift   n, Y2, Y3          \
	VPAND   Y14, Y3, Y3        \
	VPAND   Y15, y, y          \
	VPOR    Y3, y, y           \
	VPSUBB  Y13, y, y          \
	VMOVDQU y, to+2(DI)

// HALF6 does 128 columns.
#define HALF6(low, high, to) \
	VMOVDQU low(DX), Y0          \
	VMOVDQU low+32(DX), Y1       \
	VMOVDQU high(DX), Y2         \
	VPSRLW  $4, Y0, Y4           \
	VPSRLW  $4, Y1, Y5           \
	SIX(VPSLLW, $4, Y0, to)      \
	SIX(VPSLLW, $2, Y1, to+34)   \
	SIX(VPSLLW, $0, Y4, to+68)   \
	SIX(VPSRLW, $2, Y5, to+102)

// func expandQ6KAVX2(s *super, src *byte)
TEXT ·expandQ6KAVX2(SB), NOSPLIT, $0-16
	MOVQ         s+0(FP), DI
	MOVQ         src+8(FP), DX
	VPBROADCASTQ nibbleMask<>(SB), Y15
	VPBROADCASTQ highMask<>(SB), Y14
	VPBROADCASTQ thirtyTwo<>(SB), Y13
	VMOVDQU      192(DX), X0
	VPXOR        X1, X1, X1
	VMOVDQU      X0, 274(DI)
	VMOVDQU      X1, 290(DI)
	XORL         AX, AX
	MOVW         AX, 272(DI)
	MOVWLZX      208(DX), AX
	D
	HALF6(0, 128, 0)
	HALF6(64, 160, 136)
	VZEROUPPER
	RET
