#!/usr/bin/env python3
"""Writes what llama.cpp generates with Gemma 3 270M after five prompts.

    PEER/bin/python scripts/reference/gemma_greedy.py gemma-3-270m-q4_k_m.gguf \\
        engine/transformer/transformertest/testdata/gemma3-270m.json

needs llama-cpp-python 0.3.36. Of each prompt: its ids, and 60 greedy steps, each the
largest logit and the tokens whose logits lie less than 1 below it, each with how far
it does. The cache of keys and values is float32, and there is no flash attention; activations are
rounded to 8 bits, as llama.cpp does.
"""
import json
import sys

import llama_cpp
import numpy as np

PROMPTS = ["What is Rust?", "The capital of France is", "Once upon a time, in a small village by the sea,",
           "def fibonacci(n):\n", "La photosynthèse est le processus par lequel"]

model = llama_cpp.Llama(sys.argv[1], n_ctx=512, n_threads=2, n_threads_batch=2, flash_attn=False,
                        type_k=0, type_v=0, verbose=False)
lines = []
for prompt in PROMPTS:
    ids = model.tokenize(prompt.encode(), add_bos=True, special=True)
    model.reset()
    model.eval(ids)
    steps = []
    for _ in range(60):
        logits = np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(model.ctx, -1),
                                       shape=(model.n_vocab(),)).astype(np.float64)
        best = [int(i) for i in np.argsort(-logits, kind="stable")[:20]]
        largest = logits[best[0]]
        steps.append([round(largest, 4)] + [[i, round(largest - logits[i], 4)] for i in best if largest - logits[i] < 1])
        model.eval([best[0]])
    lines.append(json.dumps({"prompt": prompt, "ids": ids, "steps": steps}, ensure_ascii=False, separators=(",", ":")))
with open(sys.argv[2], "w") as out:
    out.write("[\n" + ",\n".join(lines) + "\n]\n")
