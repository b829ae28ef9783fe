#include "textflag.h"
#include "neon_arm64.h"

// Blocks with a byte for each number (see widen.go, kquants.go), of one row.

// func widenNibblesNEON(dst, src *byte, blocks int, values *nibbleValues)
// blocks is not 0.
TEXT ·widenNibblesNEON(SB), NOSPLIT, $0-32
	MOVD  dst+0(FP), R0
	MOVD  src+8(FP), R1
	MOVD  blocks+16(FP), R2
	MOVD  values+24(FP), R3
	VLD1  (R3), [V30.B16]
	VMOVI $15, V31.B16

block:
	MOVHU.P 2(R1), R4
	MOVH.P  R4, 2(R0)
	VLD1.P  16(R1), [V1.B16]
	VAND    V31.B16, V1.B16, V0.B16
	VUSHR   $4, V1.B16, V1.B16
	VTBL    V0.B16, [V30.B16], V0.B16
	VTBL    V1.B16, [V30.B16], V1.B16
	VST1.P  [V0.B16, V1.B16], 32(R0)
	SUB     $1, R2
	CBNZ    R2, block
	RET

// func widenQ50NEON(dst, src *byte, blocks int)
// As widenNibblesNEON. V28 and V29 say which byte of four has the bits of a column, and
// V27 which bit; V26 is 240, the upper bits of a number that is 16 less.
TEXT ·widenQ50NEON(SB), NOSPLIT, $0-24
	MOVD  dst+0(FP), R0
	MOVD  src+8(FP), R1
	MOVD  blocks+16(FP), R2
	VMOVI $15, V31.B16
	VMOVI $240, V26.B16
	MOVD  $0x0101010101010101, R4
	MOVD  $0x8040201008040201, R5
	VMOV  ZR, V28.D[0]
	VMOV  R4, V28.D[1]
	ADD   R4, R4, R6
	VMOV  R6, V29.D[0]
	ADD   R4, R6, R6
	VMOV  R6, V29.D[1]
	VMOV  R5, V27.D[0]
	VMOV  R5, V27.D[1]

block:
	MOVHU.P 2(R1), R4
	MOVH.P  R4, 2(R0)
	VLD1R.P 4(R1), [V2.S4]
	VLD1.P  16(R1), [V1.B16]
	VTBL    V29.B16, [V2.B16], V3.B16
	VTBL    V28.B16, [V2.B16], V2.B16
	VAND    V31.B16, V1.B16, V0.B16
	VUSHR   $4, V1.B16, V1.B16
	VAND    V27.B16, V2.B16, V2.B16
	VAND    V27.B16, V3.B16, V3.B16
	VCMEQ   V27.B16, V2.B16, V2.B16
	VCMEQ   V27.B16, V3.B16, V3.B16
	VAND    V26.B16, V2.B16, V2.B16
	VAND    V26.B16, V3.B16, V3.B16
	VEOR    V26.B16, V2.B16, V2.B16
	VEOR    V26.B16, V3.B16, V3.B16
	VORR    V2.B16, V0.B16, V0.B16
	VORR    V3.B16, V1.B16, V1.B16
	VST1.P  [V0.B16, V1.B16], 32(R0)
	SUB     $1, R2
	CBNZ    R2, block
	RET

// SCALEALL writes R4 as the scale of all blocks.
#define SCALEALL \
	MOVH R4, (R0)      \
	MOVH R4, 34(R0)    \
	MOVH R4, 68(R0)    \
	MOVH R4, 102(R0)   \
	MOVH R4, 136(R0)   \
	MOVH R4, 170(R0)   \
	MOVH R4, 204(R0)   \
	MOVH R4, 238(R0)

// SIDE unpacks what Q4_K and Q5_K begin with, as expand_amd64.s does. R3 is left at the
// first block's values.
#define SIDE \
	MOVHU (R1), R4                       \
	SCALEALL                             \
	MOVHU 2(R1), R4                      \
	MOVH  R4, 272(R0)                    \
	MOVD  4(R1), R5                      \
	MOVWU 12(R1), R6                     \
	ORR   R6<<28, R6, R6                 \
	AND   $0x0f0f0f0f0f0f0f0f, R6, R6    \
	LSR   $2, R5, R7                     \
	AND   $0x3030303030303030, R7, R7    \
	ORR   R7, R6, R6                     \
	AND   $0x3f3f3f3f3f3f3f3f, R5, R5    \
	VMOV  R5, V0.D[0]                    \
	VMOV  R6, V0.D[1]                    \
	MOVD  $0x0303020201010000, R5        \
	MOVD  $0x0b0b0a0a09090808, R6        \
	VMOV  R5, V1.D[0]                    \
	VMOV  R6, V1.D[1]                    \
	MOVD  $0x8007800680058004, R5        \
	MOVD  $0x800f800e800d800c, R6        \
	VMOV  R5, V2.D[0]                    \
	VMOV  R6, V2.D[1]                    \
	VTBL  V1.B16, [V0.B16], V1.B16       \
	VTBL  V2.B16, [V0.B16], V2.B16       \
	ADD   $274, R0, R3                   \
	VST1  [V1.B16, V2.B16], (R3)         \
	ADD   $2, R0, R3

// STORE writes a block's values and goes to the next block.
#define STORE(a, b) \
	VST1 [a.B16, b.B16], (R3)  \
	ADD  $34, R3

// func expandQ4KNEON(s *super, src *byte)
TEXT ·expandQ4KNEON(SB), NOSPLIT, $0-16
	MOVD  s+0(FP), R0
	MOVD  src+8(FP), R1
	VMOVI $15, V31.B16
	SIDE
	ADD   $16, R1
	MOVD  $4, R2

blocks2:
	VLD1.P 32(R1), [V0.B16, V1.B16]
	VAND   V31.B16, V0.B16, V2.B16
	VAND   V31.B16, V1.B16, V3.B16
	VUSHR  $4, V0.B16, V4.B16
	VUSHR  $4, V1.B16, V5.B16
	STORE(V2, V3)
	STORE(V4, V5)
	SUB    $1, R2
	CBNZ   R2, blocks2
	RET

// FIFTH adds the lowest bits of V20 and V21 to a and b as fifth bits, and shifts them out.
#define FIFTH(a, b) \
	VAND  V30.B16, V20.B16, V6.B16   \
	VAND  V30.B16, V21.B16, V7.B16   \
	VSHL  $4, V6.B16, V6.B16         \
	VSHL  $4, V7.B16, V7.B16         \
	VORR  V6.B16, a.B16, a.B16       \
	VORR  V7.B16, b.B16, b.B16       \
	VUSHR $1, V20.B16, V20.B16       \
	VUSHR $1, V21.B16, V21.B16

// func expandQ5KNEON(s *super, src *byte)
TEXT ·expandQ5KNEON(SB), NOSPLIT, $0-16
	MOVD   s+0(FP), R0
	MOVD   src+8(FP), R1
	VMOVI  $15, V31.B16
	VMOVI  $1, V30.B16
	SIDE
	ADD    $16, R1
	VLD1.P 32(R1), [V20.B16, V21.B16]
	MOVD   $4, R2

blocks2:
	VLD1.P 32(R1), [V0.B16, V1.B16]
	VAND   V31.B16, V0.B16, V2.B16
	VAND   V31.B16, V1.B16, V3.B16
	VUSHR  $4, V0.B16, V4.B16
	VUSHR  $4, V1.B16, V5.B16
	FIFTH(V2, V3)
	FIFTH(V4, V5)
	STORE(V2, V3)
	STORE(V4, V5)
	SUB    $1, R2
	CBNZ   R2, blocks2
	RET

// SIX adds the lowest two bits of V20 and V21 to a and b as fifth and sixth, shifts them
// out, subtracts 32 and stores the block.
#define SIX(a, b) \
	VAND  V30.B16, V20.B16, V6.B16   \
	VAND  V30.B16, V21.B16, V7.B16   \
	VSHL  $4, V6.B16, V6.B16         \
	VSHL  $4, V7.B16, V7.B16         \
	VORR  V6.B16, a.B16, a.B16       \
	VORR  V7.B16, b.B16, b.B16       \
	VSUB  V29.B16, a.B16, a.B16      \
	VSUB  V29.B16, b.B16, b.B16      \
	VUSHR $2, V20.B16, V20.B16       \
	VUSHR $2, V21.B16, V21.B16       \
	STORE(a, b)

// func expandQ6KNEON(s *super, src *byte)
TEXT ·expandQ6KNEON(SB), NOSPLIT, $0-16
	MOVD  s+0(FP), R0
	MOVD  src+8(FP), R1
	VMOVI $15, V31.B16
	VMOVI $3, V30.B16
	VMOVI $32, V29.B16
	MOVHU 208(R1), R4
	SCALEALL
	MOVH  ZR, 272(R0)
	ADD   $192, R1, R3
	VLD1  (R3), [V0.B16]
	VEOR  V1.B16, V1.B16, V1.B16
	ADD   $274, R0, R3
	VST1  [V0.B16, V1.B16], (R3)
	ADD   $2, R0, R3
	ADD   $128, R1, R5
	MOVD  $2, R2

blocks4:
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1.P 32(R5), [V20.B16, V21.B16]
	VAND   V31.B16, V0.B16, V4.B16
	VAND   V31.B16, V1.B16, V5.B16
	SIX(V4, V5)
	VAND   V31.B16, V2.B16, V4.B16
	VAND   V31.B16, V3.B16, V5.B16
	SIX(V4, V5)
	VUSHR  $4, V0.B16, V0.B16
	VUSHR  $4, V1.B16, V1.B16
	SIX(V0, V1)
	VUSHR  $4, V2.B16, V2.B16
	VUSHR  $4, V3.B16, V3.B16
	SIX(V2, V3)
	SUB    $1, R2
	CBNZ   R2, blocks4
	RET
