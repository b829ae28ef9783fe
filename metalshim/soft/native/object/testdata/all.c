// What of a linker's work an object can ask for: constants, tables, variables,
// addresses in data, calls near and far, and what is not there.
//
// all.amd64.o and all.arm64.o are made of it by clang 19:
//   clang-19 --target=x86_64-linux-gnu -O2 -fPIC -fvisibility=hidden -fno-stack-protector -fno-math-errno -nostdinc -c all.c -o all.amd64.o
// and the same with --target=aarch64-linux-gnu.
typedef unsigned int u32;
typedef unsigned long u64;
#define SHOWN __attribute__((visibility("default")))
#define APART __attribute__((noinline))

float cosf(float);
void *memcpy(void *, const void *, u64);
extern int not_there(void) __attribute__((weak));
extern int not_there_either __attribute__((weak));

SHOWN const u64 answer = 0x1122334455667788;
SHOWN int counter = 40;   // found through the table of addresses
static u32 zeros[5000];   // .bss, more than a page of it
static short small[3] = {-7, 8, -9};
static const char *const words[] = {"none", "one", "two"}; // addresses in data
static const unsigned char bytes[] = {3, 1, 4, 1, 5, 9, 2, 6};
static const double halves[] = {0.5, 1.5, 2.5};

SHOWN int count(void) { return ++counter; }
static APART int twice(int x) { zeros[x & 4095] += 1; return 2 * x; }
SHOWN int last(int x) { return twice(x + 1); }             // a jump
SHOWN int first(int x) { return twice(x) + twice(x + 100); } // calls
SHOWN int cosine(int x) { return (int)(1000 * cosf(x)); }
SHOWN int copied(int n) {
  unsigned char to[8] = {0};
  memcpy(to, bytes, (u64)n);
  return to[0] + to[1] + to[2] + to[3] + to[4] + to[5] + to[6] + to[7];
}
SHOWN int letter(int word, int at) { return words[word][at]; }
SHOWN int half(int i) { return (int)(halves[i] * 2); }
SHOWN int sum(int i) { small[i] += 1; return small[i] + (int)zeros[4] + (int)zeros[4999]; }
SHOWN int weak(void) { return (not_there ? 1 : 0) + (&not_there_either ? 2 : 0); }
SHOWN int (*pick(int i))(int) { static int (*const list[])(int) = {last, twice, cosine}; return list[i]; }
SHOWN int picked(int i, int x) { return pick(i)(x); }
SHOWN int cases(int x) {
  switch (x) {
  case 0: return twice(3);
  case 1: return 17;
  case 2: return counter;
  case 3: return cosine(0);
  case 4: return last(9);
  case 5: return 5;
  case 6: return first(1);
  }
  return -1;
}
typedef float v4 __attribute__((vector_size(16)));
SHOWN int lanes(int x) { v4 a = {1, 2, 3, 4}, b = {10, 20, 30, 40}; v4 r = a * (float)x + b; return (int)(r[0] + r[1] + r[2] + r[3]); }
