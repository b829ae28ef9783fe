// objc_msgSend keeps every register that may carry an argument, finds the method's
// body, and jumps there, so that the body sees the caller's registers and stack as
// they were. What the body returns goes straight to the caller.
//
// A program's message looks by itself in its class's bodies, at the offset that
// the selector has, and asks only where nothing is there; a message to nil returns
// zeros. The offsets below are those of struct class and struct sel.

_Static_assert(__builtin_offsetof(struct class, found_bodies) == 8, "the trampolines read found_bodies");
_Static_assert(__builtin_offsetof(struct sel, at) == 8, "the trampolines read at");

#define FUNCTION(name, body) \
	__asm__(".pushsection .text\n.globl " name "\n.type " name ",%function\n" name ":\n" body ".size " name ", . - " name "\n.popsection\n")

#if defined(__x86_64__)
// The System V ABI: rdi, rsi, rdx, rcx, r8, r9, xmm0 to xmm7, and al for the
// number of vector registers of a variadic call. A large struct's place is in
// rdi, which moves receiver and selector one register on: objc_msgSend_stret.
#define ASK(receiver, selector, by_pointer) \
	"push %rbp\n mov %rsp,%rbp\n sub $192,%rsp\n and $-16,%rsp\n" \
	"mov %rdi,-8(%rbp)\n mov %rsi,-16(%rbp)\n mov %rdx,-24(%rbp)\n" \
	"mov %rcx,-32(%rbp)\n mov %r8,-40(%rbp)\n mov %r9,-48(%rbp)\n mov %rax,-56(%rbp)\n" \
	"movups %xmm0,-80(%rbp)\n movups %xmm1,-96(%rbp)\n movups %xmm2,-112(%rbp)\n" \
	"movups %xmm3,-128(%rbp)\n movups %xmm4,-144(%rbp)\n movups %xmm5,-160(%rbp)\n" \
	"movups %xmm6,-176(%rbp)\n movups %xmm7,-192(%rbp)\n" \
	"mov " receiver ",%rax\n mov " selector ",%rsi\n mov %rax,%rdi\n" \
	"mov $" by_pointer ",%edx\n call standin_lookup@PLT\n mov %rax,%r11\n" \
	"mov -8(%rbp),%rdi\n mov -16(%rbp),%rsi\n mov -24(%rbp),%rdx\n" \
	"mov -32(%rbp),%rcx\n mov -40(%rbp),%r8\n mov -48(%rbp),%r9\n mov -56(%rbp),%rax\n" \
	"movups -80(%rbp),%xmm0\n movups -96(%rbp),%xmm1\n movups -112(%rbp),%xmm2\n" \
	"movups -128(%rbp),%xmm3\n movups -144(%rbp),%xmm4\n movups -160(%rbp),%xmm5\n" \
	"movups -176(%rbp),%xmm6\n movups -192(%rbp),%xmm7\n" \
	"leave\n jmp *%r11\n"
#ifdef INTROGEN_SDK
#define FIND(receiver, selector) \
	"test " receiver "," receiver "\n je 1f\n" \
	"mov sending@gottpoff(%rip),%r10\n mov " selector ",%fs:(%r10)\n" \
	"mov (" receiver "),%r10\n mov 8(%r10),%r10\n mov 8(" selector "),%r11\n" \
	"mov (%r10,%r11),%r11\n test %r11,%r11\n je 2f\n jmp *%r11\n"
FUNCTION("objc_msgSend", FIND("%rdi", "%rsi") "1: xor %eax,%eax\n xor %edx,%edx\n pxor %xmm0,%xmm0\n pxor %xmm1,%xmm1\n ret\n"
                         "2:\n" ASK("%rdi", "%rsi", "0"));
FUNCTION("objc_msgSend_stret", FIND("%rsi", "%rdx") "1: push %rdi\n mov %rdi,%rsi\n mov %rdx,%rdi\n call standin_nil@PLT\n pop %rax\n ret\n"
                               "2:\n" ASK("%rsi", "%rdx", "1"));
#else
FUNCTION("objc_msgSend", ASK("%rdi", "%rsi", "0"));
FUNCTION("objc_msgSend_stret", ASK("%rsi", "%rdx", "1"));
#endif

#elif defined(__aarch64__)
// AAPCS64: x0 to x7, v0 to v7, and x8 for the place of a large struct, which
// moves nothing: there is no objc_msgSend_stret.
#define ASK \
	"stp x29,x30,[sp,#-224]!\n mov x29,sp\n" \
	"stp x0,x1,[sp,#16]\n stp x2,x3,[sp,#32]\n stp x4,x5,[sp,#48]\n stp x6,x7,[sp,#64]\n str x8,[sp,#80]\n" \
	"stp q0,q1,[sp,#96]\n stp q2,q3,[sp,#128]\n stp q4,q5,[sp,#160]\n stp q6,q7,[sp,#192]\n" \
	"mov x2,#0\n bl standin_lookup\n mov x16,x0\n" \
	"ldp x0,x1,[sp,#16]\n ldp x2,x3,[sp,#32]\n ldp x4,x5,[sp,#48]\n ldp x6,x7,[sp,#64]\n ldr x8,[sp,#80]\n" \
	"ldp q0,q1,[sp,#96]\n ldp q2,q3,[sp,#128]\n ldp q4,q5,[sp,#160]\n ldp q6,q7,[sp,#192]\n" \
	"ldp x29,x30,[sp],#224\n br x16\n"
#ifdef INTROGEN_SDK
FUNCTION("objc_msgSend",
         "cbz x0,1f\n"
         "mrs x17,tpidr_el0\n adrp x16,:gottprel:sending\n ldr x16,[x16,:gottprel_lo12:sending]\n str x1,[x17,x16]\n"
         "ldr x16,[x0]\n ldr x16,[x16,#8]\n ldr x17,[x1,#8]\n ldr x16,[x16,x17]\n cbz x16,2f\n br x16\n"
         "1: stp x29,x30,[sp,#-16]!\n mov x29,sp\n mov x0,x1\n mov x1,x8\n bl standin_nil\n"
         "mov x0,#0\n mov x1,#0\n movi d0,#0\n movi d1,#0\n movi d2,#0\n movi d3,#0\n ldp x29,x30,[sp],#16\n ret\n"
         "2:\n" ASK);
#else
FUNCTION("objc_msgSend", ASK);
#endif

#else
#error "the stand-in is for amd64 and arm64"
#endif
