// Runs one transformed kernel: reads the dispatch and its buffers from standard
// input, writes the buffers back to standard output.
//
// Input, 32-bit little-endian words: threads per threadgroup (3), threadgroups
// (3), stop flag, then the number of buffers and for each its bytes and content.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tg {
  void *tgs;
  const volatile uint32_t *stop;
  void *buf[31], *tgm[31];
  uint32_t tgp[3], tgd[3], ntg[3], grid[3], nsg;
};
extern uint32_t msl_sgk(const struct tg *, uint32_t, uint32_t, void *, uint32_t);
extern const uint64_t msl_frame_size, msl_tgs_size;

static uint32_t word(void) {
  uint32_t w;
  if (fread(&w, 4, 1, stdin) != 1) exit(3);
  return w;
}

int main(void) {
  static struct tg g;
  uint32_t bytes[31];
  for (int i = 0; i < 3; i++) g.tgd[i] = word();
  for (int i = 0; i < 3; i++) g.ntg[i] = word(), g.grid[i] = g.ntg[i] * g.tgd[i];
  uint32_t stop = word(), n = word(), worst = 0;
  for (uint32_t i = 0; i < n; i++) {
    bytes[i] = word();
    // guard: the buffer ends where its memory does, for tools that check
    g.buf[i] = malloc(bytes[i] ? bytes[i] : 1);
    if (bytes[i] && fread(g.buf[i], bytes[i], 1, stdin) != 1) return 3;
  }
  g.stop = &stop;
  g.tgs = aligned_alloc(64, (msl_tgs_size + 64) & ~63ul);
  for (int i = 0; i < 31; i++) g.tgm[i] = aligned_alloc(64, 32768);
  uint32_t threads = g.tgd[0] * g.tgd[1] * g.tgd[2];
  g.nsg = (threads + 31) / 32;
  char *frames = aligned_alloc(64, g.nsg * msl_frame_size);
  memset(frames, 0xa5, g.nsg * msl_frame_size); // nothing may rely on a cleared frame
  for (uint32_t s = 0; s < g.nsg; s++) {
    uint32_t *f = (uint32_t *)(frames + s * msl_frame_size), row = 1;
    for (uint32_t i = 0; i < 32; i++) {
      uint32_t t = s * 32 + i < threads ? s * 32 + i : threads - 1;
      f[i] = t % g.tgd[0], f[32 + i] = t / g.tgd[0] % g.tgd[1], f[64 + i] = t / g.tgd[0] / g.tgd[1];
      if (s * 32 + i < threads && (f[i] != f[0] + i || f[32 + i] != f[32] || f[64 + i] != f[64])) row = 0;
    }
    f[96] = row;
  }
  uint32_t *pc = calloc(g.nsg, 4);
  for (uint32_t t = 0; t < g.ntg[0] * g.ntg[1] * g.ntg[2]; t++) {
    g.tgp[0] = t % g.ntg[0], g.tgp[1] = t / g.ntg[0] % g.ntg[1], g.tgp[2] = t / g.ntg[0] / g.ntg[1];
    memset(pc, 0, g.nsg * 4);
    for (int live = 1; live;) {
      live = 0;
      for (uint32_t s = 0; s < g.nsg; s++) {
        if (pc[s] >= 65534) continue;
        uint32_t left = threads - s * 32;
        pc[s] = msl_sgk(&g, s, left < 32 ? left : 32, frames + s * msl_frame_size, pc[s]);
        if (pc[s] < 65534) live = 1;
        else if (pc[s] == 65534) worst = 1;
      }
    }
  }
  for (uint32_t i = 0; i < n; i++)
    if (bytes[i] && fwrite(g.buf[i], bytes[i], 1, stdout) != 1) return 3;
  return worst ? 9 : 0;
}
