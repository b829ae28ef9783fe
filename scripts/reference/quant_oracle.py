#!/usr/bin/env python3
"""Write the vectors that engine/quant is tested against, made by gguf's codecs.

    python3 -m venv VENV && VENV/bin/pip install gguf==0.19.0 numpy==2.4.6
    VENV/bin/python scripts/reference/quant_oracle.py engine/quant/testdata

Two files for each format, read by engine/quant/oracle_test.go:

  TYPE.decode   magic "QDEC", u32 type, u32 elements, u32 bytes; the bytes; the
                float32 values that gguf decodes them to.
  TYPE.encode   magic "QENC", u32 type, u32 elements, u32 bytes; the float32
                values; the bytes that gguf encodes them to.

All little-endian. The output depends on nothing but this file and the two
packages: the random numbers come from a generator written here.
"""
import struct
import sys
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Q, quants

DECODE = [Q.F32, Q.F16, Q.BF16, Q.Q4_0, Q.Q4_1, Q.Q5_0, Q.Q5_1, Q.Q8_0,
          Q.Q2_K, Q.Q3_K, Q.Q4_K, Q.Q5_K, Q.Q6_K,
          Q.IQ4_NL, Q.IQ4_XS, Q.IQ3_XXS, Q.IQ3_S, Q.IQ2_XXS, Q.IQ2_XS, Q.IQ2_S,
          Q.IQ1_S, Q.IQ1_M, Q.TQ1_0, Q.TQ2_0, Q.MXFP4]
ENCODE = [Q.F32, Q.F16, Q.Q8_0, Q.Q4_0]

# Where the binary16 numbers lie in a block.
HALVES = {Q.Q4_0: [0], Q.Q4_1: [0, 2], Q.Q5_0: [0], Q.Q5_1: [0, 2], Q.Q8_0: [0],
          Q.Q2_K: [80, 82], Q.Q3_K: [108], Q.Q4_K: [0, 2], Q.Q5_K: [0, 2],
          Q.Q6_K: [208], Q.IQ4_NL: [0], Q.IQ4_XS: [0], Q.IQ3_XXS: [0], Q.IQ3_S: [0],
          Q.IQ2_XXS: [0], Q.IQ2_XS: [0], Q.IQ2_S: [0], Q.IQ1_S: [0], Q.IQ1_M: [None],
          Q.TQ1_0: [52], Q.TQ2_0: [64], Q.MXFP4: []}  # None: spread, see spread

# Zeros, the smallest and largest subnormals, the smallest normal, one, and the
# largest, with both signs.
EDGE_HALVES = [0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00,
               0x7bff, 0xfbff]


class Random:
    """splitmix64, so that no change of numpy's changes the vectors."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        return z ^ (z >> 31)

    def bytes(self, n):
        b = b"".join(struct.pack("<Q", self.next()) for _ in range((n + 7) // 8))
        return np.frombuffer(b[:n], dtype=np.uint8).copy()

    def normal(self, n):
        """n numbers close to a normal distribution (Irwin and Hall)."""
        return np.array([sum(self.next() / 2**64 for _ in range(12)) - 6
                         for _ in range(n)])


def finite_half(r):
    while True:
        h = r.next() & 0xFFFF
        if h & 0x7C00 != 0x7C00:
            return h


def spread(b, h):
    """The number of an IQ1_M block: a nibble on top of each of its last four words."""
    for i in range(4):
        b[49 + 2 * i] = b[49 + 2 * i] & 15 | (h >> (4 * i) & 15) << 4


def decode_blocks(t):
    """Blocks with random, all-zero and all-one integers under edge and random
    scales. Scales are finite: what NaN makes of a block is not specified."""
    r = Random(1000 + int(t))
    if t == Q.F32:
        v = [0.0, -0.0, 1.0, -1.0, 3.4028234663852886e38, 1e-45, 1.1754943508222875e-38]
        return np.concatenate([np.array(v, np.float32), r.normal(249).astype(np.float32)]).view(np.uint8)
    if t == Q.F16:  # every 13th that is not NaN, and the edges
        h = np.concatenate([np.array(EDGE_HALVES + [0x7C00, 0xFC00]), np.arange(0, 65536, 13)])
        return h[(h & 0x7FFF) <= 0x7C00].astype(np.uint16).view(np.uint8)
    if t == Q.BF16:
        h = np.frombuffer(r.bytes(2048).tobytes(), np.uint16)
        h = np.concatenate([np.array([0, 0x8000, 1, 0x7F, 0x80, 0x7F7F, 0x7F80, 0xFF80], np.uint16), h])
        return h[(h & 0x7FFF) <= 0x7F80].astype(np.uint16).view(np.uint8)
    _, size = gguf.GGML_QUANT_SIZES[t]
    edges = len(EDGE_HALVES)
    blocks = []
    for i in range(3 * edges + 8):
        b = {0: r.bytes(size), 1: np.zeros(size, np.uint8), 2: np.full(size, 255, np.uint8)}[i // edges if i < 3 * edges else 0]
        for j, at in enumerate(HALVES[t]):
            h = EDGE_HALVES[(i + 3 * j) % edges] if i < 3 * edges else finite_half(r)
            if at is None:
                spread(b, h)
            else:
                b[at], b[at + 1] = h & 255, h >> 8
        blocks.append(b)
    return np.concatenate(blocks)


def encode_values(t):
    """Blocks of normal numbers of many sizes, and edge cases: zeros of both
    signs, one value, ties in magnitude, ties in rounding, tiny and large."""
    r = Random(2000 + int(t))
    blocks = [np.zeros(32), np.full(32, -0.0), np.full(32, 1.0), np.full(32, -1.0)]
    for e in range(-30, 13, 3):
        blocks.append(r.normal(32) * 2.0**e)
    b = np.zeros(32)
    b[5] = 3.0
    blocks.append(b)
    blocks.append(-b)
    b = b.copy()
    b[9] = -3.0  # the same magnitude later: the first decides the sign
    blocks.append(b)
    blocks.append(np.arange(32) - 16.0)  # 127/16 and 8/16 steps: many halves
    blocks.append((np.arange(32) - 15.5) / 15.5 * 127)
    blocks.append(np.where(np.arange(32) == 0, 127.0, np.arange(32) - 15.5))  # exact halves for Q8_0
    blocks.append(np.where(np.arange(32) == 0, -8.0, (np.arange(32) - 15.5) / 2.25))
    blocks.append(np.where(np.arange(32) == 0, -8.0, np.arange(32) / 2 - 7.5))  # exact halves for Q4_0
    blocks.append(r.normal(32) * 1e-36)  # below, 1/d overflows, which gguf leaves undefined
    blocks.append(r.normal(32) * 1e4)
    return np.concatenate(blocks).astype(np.float32)


def write(path, magic, t, elems, size, *parts):
    with open(path, "wb") as f:
        f.write(magic + struct.pack("<III", int(t), elems, size))
        for p in parts:
            f.write(p.tobytes())
    print(f"{path}: {elems} elements, {size} bytes")


def main():
    if gguf_version() != "0.19.0":
        sys.exit(f"needs gguf 0.19.0, has {gguf_version()}")
    out = Path(sys.argv[1])
    for t in DECODE:
        raw = decode_blocks(t)
        values = quants.dequantize(raw, t).astype(np.float32).ravel()
        assert len(raw) == len(values) // gguf.GGML_QUANT_SIZES[t][0] * gguf.GGML_QUANT_SIZES[t][1]
        write(out / f"{t.name}.decode", b"QDEC", t, len(values), len(raw), raw, values)
    for t in ENCODE:
        values = encode_values(t)
        raw = quants.quantize(values, t).view(np.uint8).ravel()
        write(out / f"{t.name}.encode", b"QENC", t, len(values), len(raw), values, raw)


def gguf_version():
    from importlib.metadata import version
    return version("gguf")


if __name__ == "__main__":
    main()
