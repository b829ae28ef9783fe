"""Prints the table newInNFC of engine/tokenizer/nfc.go: the code points that
Unicode 16's NFC (PyPI's unicodedata2 16.0.0) orders or composes otherwise than
the NFC of HuggingFace's tokenizers, which is that of Unicode 9.

    python3 -m venv V && V/bin/pip install unicodedata2==16.0.0 tokenizers==0.21.0
    V/bin/python scripts/reference/unicode_nfc.py
"""

import unicodedata2
from tokenizers import normalizers

hf = normalizers.NFC().normalize_str
new = lambda s: unicodedata2.normalize("NFC", s)

# One mark of each of the classes 1, 220, 230 and 240.
MARKS = "\u0334\u0323\u0301\u0345"


def differs(c):
    """Whether the library lacks c's class or a composition with it."""
    tests = [c, unicodedata2.normalize("NFD", c)]
    if unicodedata2.combining(c):
        tests += ["a" + m + c for m in MARKS] + ["a" + c + m for m in MARKS]
    return any(hf(t) != new(t) for t in tests)


points = set()
for i in range(0x110000):
    if 0xD800 <= i < 0xE000 or not differs(chr(i)):
        continue
    points.add(i)
    # Of what is composed all parts that are new too; 0307 and such are older.
    points |= {ord(p) for p in unicodedata2.normalize("NFD", chr(i)) if ord(p) > 0xFFFF}

runs = []
for i in sorted(points):
    if runs and runs[-1][1] == i - 1:
        runs[-1][1] = i
    else:
        runs.append([i, i])
for i in range(0, len(runs), 8):
    print("\t" + " ".join(f"{{{a:#x}, {b:#x}}}," for a, b in runs[i : i + 8]))
