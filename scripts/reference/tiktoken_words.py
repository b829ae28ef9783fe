#!/usr/bin/env python3
"""Print how tokenizers and tiktoken cut texts by the patterns of tekken and GPT-4o.

    python3 -m venv VENV && VENV/bin/pip install tokenizers==0.23.3 tiktoken==0.14.0
    VENV/bin/python scripts/reference/tiktoken_words.py

The lines are those of wordsOf in engine/tokenizer/pretokenize_test.go. The two must
agree, on Llama 3's pattern too, or the script fails. The pattern of GPT-4o is
tiktoken's own; the others are those of the models' tokenizer.json files.
"""
import ast
import inspect

import tiktoken
import tiktoken_ext.openai_public as public
from tokenizers import Regex, pre_tokenizers

WORD = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
CAPITALS = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
SPACES = r"|\s*[\r\n]+|\s+(?!\S)|\s+"


def o200k():
    """The pattern that stands in the function which also fetches the ranks."""
    for node in ast.walk(ast.parse(inspect.getsource(public.o200k_base))):
        if isinstance(node, ast.List):
            return "|".join(ast.literal_eval(node))


PATTERNS = {
    "tekken": WORD + "|" + CAPITALS + r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + SPACES,
    "gpt-4o": o200k(),
    "llama-bpe": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + SPACES,
}

TEXTS = [
    "Hello world", "  two  spaces", "tab\tand\ttab", "it's I'LL they've o'clock", "'sun 'S'\u017fx",
    "a1b22 333 4444", "x  = 10;\n\n\tif (y) {\r\n", "\n\n  \n x", "end  ", "end \n",
    "don\u2019t \u00bfqu\u00e9?", "\u65e5\u672c\u8a9e123\u30c6\u30b9\u30c8", "\u00bd \u2167 \u00b2",
    "a\u00a0b\u3000 c", "!!!\n\n?", "..word _x", "e\u0301a\u0301", "'", "''s", "1 2", "\u200bx", "  7",
    "a\r\n\r\nb", "camelCase HTTPServer XMLs iOS McDonald", "DON'T Don't dON'Ts", "a/b/c //\n/x",
    "\u01c5ungla \u01c4UNGLA", "\u00aaABC ABC\u00aa \u00aaABc", "\u0301\u0301 !\u0301 \u0301A",
    "\u05e9\u05dc\u05d5\u05ddABC \u0410\u0411\u0432\u0413", "A\u0301B\u0301c\u0301D", "\u02b0a\u02b0A", "'s 'S A's",
]


def by_tiktoken(pattern, text, words):
    ranks = {bytes([b]): b for b in range(256)}
    for word in words:
        ranks.setdefault(word.encode(), len(ranks))
    encoding = tiktoken.Encoding("words", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return encoding.decode_tokens_bytes(encoding.encode_ordinary(text))


def quoted(word):
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(short.get(c, c if c.isascii() else f"\\u{ord(c):04x}") for c in word) + '"'


for name, pattern in PATTERNS.items():
    split = pre_tokenizers.Split(Regex(pattern), behavior="isolated")
    print(f'\t"{name}": {{')
    for text in TEXTS:
        words = [word for word, _ in split.pre_tokenize_str(text)]
        if by_tiktoken(pattern, text, words) != [word.encode() for word in words]:
            raise SystemExit(f"{name}, {text!r}: tokenizers has {words}")
        print("\t\t{" + ", ".join(map(quoted, words)) + "},")
    print("\t},")
