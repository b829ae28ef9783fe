#!/usr/bin/env python3
"""Write engine/transformer/transformertest/testdata/gemma3-270m-exact.json: what Gemma 3
270M answers to five prompts, by programs that are not ours.

    VENV/bin/python scripts/reference/gemma_exact.py --llama-cpp UNPACKED/vendor/llama.cpp \\
        gemma-3-270m-q4_k_m.gguf engine/transformer/transformertest/testdata/gemma3-270m-exact.json

VENV and UNPACKED are those of architectures.py; `introgen model fetch gemma3-270m`
brings the file. The ids of a prompt are llama.cpp's, with the token that begins a
text, and so are the ids that follow. It rounds activations to 8 bits, so they are not
those of the weights where two logits lie close to each other: the prompts are those
of PROMPTS after which the narrowest choice is widest, and all 60 ids must be those of
transformers, which computes in float64 with weights that the package gguf dequantizes.
"""
import argparse
import json
import logging
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from llama_cpp import llama_cpp as ll

from architectures import CONTEXT, Double, Llama, single

STEPS, WANTED = 60, 5
PROMPTS = [
    "The capital of France is",
    "Once upon a time, there was a little girl who",
    "def fibonacci(n):\n    ",
    "Water boils at",
    "1, 2, 3, 4, 5, 6, 7, 8,",
    "Die Hauptstadt von Deutschland ist",
    "Q: What is the largest planet?\nA:",
    "import numpy as np\n\n",
    "The quick brown fox",
    "Roses are red, violets are",
    "El sol es una estrella",
    "#include <stdio.h>\n\nint main(",
    "In the beginning God created",
    "To be, or not to be:",
    "SELECT name, age FROM",
    "<html>\n<head>\n",
]


class Program(Llama):
    """llama.cpp with the file, as it runs it."""

    def __init__(self, path):
        super().__init__(path, 0)
        self.words = ll.llama_model_get_vocab(self.model)
        self.vocab = ll.llama_vocab_n_tokens(self.words)

    def ids(self, text):
        out, raw = (ll.llama_token * CONTEXT)(), text.encode()
        return list(out[:ll.llama_tokenize(self.words, raw, len(raw), out, CONTEXT, True, True)])

    def follow(self, prompt):
        """The ids that follow, and the narrowest lead of one."""
        ll.llama_memory_clear(ll.llama_get_memory(self.ctx), True)
        ids, at, out, lead = prompt, 0, [], np.inf
        for _ in range(STEPS):
            logits = self.step(ids, at)
            at += len(ids)
            second, first = np.partition(logits, -2)[-2:]
            lead = min(lead, first - second)
            ids = [int(logits.argmax())]
            out += ids
        return out, lead


def model_of(path, gguf):
    """transformers' model of the file, in float64."""
    r = gguf.GGUFReader(str(path))
    key = lambda name: r.fields["gemma3." + name].contents()  # noqa: E731
    config = transformers.Gemma3TextConfig(
        vocab_size=len(r.fields["tokenizer.ggml.tokens"].data), hidden_size=key("embedding_length"),
        intermediate_size=key("feed_forward_length"), num_hidden_layers=key("block_count"),
        num_attention_heads=key("attention.head_count"), num_key_value_heads=key("attention.head_count_kv"),
        head_dim=key("attention.key_length"), query_pre_attn_scalar=key("attention.key_length"),
        rms_norm_eps=single(key("attention.layer_norm_rms_epsilon")), rope_theta=key("rope.freq_base"),
        rope_local_base_freq=10000.0, sliding_window=key("attention.sliding_window"), sliding_window_pattern=6,
        max_position_embeddings=key("context_length"), tie_word_embeddings=True, attn_implementation="eager")
    names = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
             "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm",
             "attn_k_norm": "self_attn.k_norm", "post_attention_norm": "post_attention_layernorm",
             "post_ffw_norm": "post_feedforward_layernorm", "ffn_norm": "pre_feedforward_layernorm",
             "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
    state = {}
    for t in r.tensors:
        x = gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float64)
        if t.name == "token_embd.weight":
            target = "model.embed_tokens.weight"
        elif t.name == "output_norm.weight":
            target = "model.norm.weight"
        else:
            _, layer, part, _ = t.name.split(".")
            target = f"model.layers.{layer}.{names[part]}.weight"
        state[target] = torch.from_numpy(x - 1 if "norm" in target else x)
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    model = transformers.Gemma3ForCausalLM(config).eval()
    model.load_state_dict(state, strict=True)
    return model


def check(model, prompt, following):
    """How many of the ids are the model's greedy ones, by how much the closest of
    them leads, and the five largest logits after the prompt."""
    with torch.no_grad():
        o = model(torch.tensor([prompt + following[:-1]]), use_cache=False, logits_to_keep=STEPS)
    logits = o.logits[0].numpy()
    assert logits.dtype == np.float64 and len(logits) == STEPS
    top = np.argpartition(-logits, 5, axis=1)[:, :5]
    top = np.take_along_axis(top, np.argsort(-np.take_along_axis(logits, top, 1), axis=1), 1)
    largest = [{"id": int(i), "value": round(float(logits[0, i]), 8)} for i in top[0]]
    leads = [float(x[t[0]] - x[t[1]]) for x, t in zip(logits, top)]
    same = next((i for i in range(STEPS) if top[i, 0] != following[i]), STEPS)
    return same, min(leads), largest


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--llama-cpp", type=Path, required=True, help="source of llama.cpp, for its gguf package")
    p.add_argument("model", type=Path)
    p.add_argument("out", type=Path)
    args = p.parse_args()
    sys.path.insert(1, str(args.llama_cpp / "gguf-py"))
    import gguf
    logging.disable(logging.WARNING)
    quiet = ll.llama_log_callback(lambda level, text, data: None)
    ll.llama_log_set(quiet, None)
    ll.llama_backend_init()
    program, answers, tried = Program(args.model), [], []
    for text in PROMPTS:
        prompt = program.ids(text)
        following, lead = program.follow(prompt)
        tried.append((lead, text, prompt, following))
    program.close()
    tried.sort(reverse=True)
    with Double():
        model = model_of(args.model, gguf)
        for lead, text, prompt, following in tried:
            same, exact, largest = check(model, prompt, following)
            print(f"{text!r}: {same} ids are those of the weights, narrowest {exact:.3f}, llama.cpp's {lead:.3f}", file=sys.stderr)
            if same == STEPS:
                answers.append({"text": text, "prompt": prompt, "next": following, "margin": round(exact, 4), "largest": largest})
            if len(answers) == WANTED:
                break
    assert len(answers) == WANTED, f"only {len(answers)} prompts without near ties"
    args.out.write_text("[" + ",\n".join(json.dumps(a, ensure_ascii=False) for a in answers) + "]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
