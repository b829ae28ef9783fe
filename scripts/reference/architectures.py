#!/usr/bin/env python3
"""Write engine/transformer/transformertest/testdata/architectures.json: what small
random models of each architecture answer, by programs that are not ours.

    python3 -m venv VENV
    VENV/bin/pip install torch==2.6.0 transformers==4.57.6 numpy==2.4.6 \\
        sentencepiece==0.2.1 llama-cpp-python==0.3.36
    pip download --no-binary :all: --no-deps llama-cpp-python==0.3.36   # and unpack it
    VENV/bin/python scripts/reference/architectures.py \\
        --llama-cpp UNPACKED/vendor/llama.cpp \\
        engine/transformer/transformertest/testdata/architectures.json

The weights are drawn as transformertest/drawn.go draws them, in the order and
layout of the GGUF file. From one model come

  logits   of the last token of a prompt: transformers' in float64. What its
           modules call float32 is float64 here (norms, softmax, frequencies), so
           that nothing is rounded on the way. Numbers that stand in the file, or
           are the same for all tokens (the scales of attention and embedding),
           are taken as float32 holds them.
  next     the ids that llama.cpp generates greedily from the same file: KV cache
           and weights of F32, no flash attention. The prompt is one of those
           tried after which the best id leads the second most clearly; margin is
           the smallest lead, in logits.

The script stops unless llama.cpp's own converter makes the same tensors and keys
from transformers' model (of those files that it can make), transformers generates
the same ids, and the logits of the two are as close as float32 lets them be.
"""
import argparse
import hashlib
import json
import logging
import math
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers
from llama_cpp import llama_cpp as ll

from architecture_cases import CASES

STEPS = 16  # ids that are generated
PROMPTS = 40  # prompts that are tried
ROW = 1.75  # the root mean square of a row's values, times the root of their number
# Architectures whose files have the rows of a head in llama.cpp's order.
LLAMAS = ("llama", "mistral3", "smollm3")
CONTEXT = 256  # llama.cpp's context: it is a multiple of 256


def single(x):
    """x as float32 holds it."""
    return float(np.float32(x))


class Drawer:
    """The generator of drawn.go: states are 64 bits of Knuth's MMIX, values their upper 24."""

    def __init__(self, state):
        self.state = np.uint64(state)

    def draw(self, n, scale, mean):
        a, c = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
        with np.errstate(over="ignore"):
            powers = np.cumprod(np.full(n, a, dtype=np.uint64))  # a, a², …
            sums = np.cumsum(np.concatenate([np.ones(1, np.uint64), powers[:-1]]))  # 1, 1+a, …
            states = powers * self.state + c * sums
        self.state = states[-1]
        unit = (states >> np.uint64(40)).astype(np.float32) / np.float32(1 << 23) - np.float32(1)
        return np.float32(mean) + np.float32(scale) * unit


class File:
    """A GGUF file that is being described: keys, and tensors in their order."""

    def __init__(self, case, seed):
        self.case, self.drawer = case, Drawer(seed)
        self.arch = "llama" if case.family == "mistral" else case.family
        self.keys, self.tensors, self.described = [], {}, []

    def key(self, name, kind, value):
        self.keys.append([f"{self.arch}.{name}", kind, value])

    def matrix(self, name, rows, cols, gain=1.0):
        # A power of two, so that a value is one float32 on any machine.
        scale = 2.0 ** round(math.log2(gain * ROW / math.sqrt(cols)))
        self.add(name, [rows, cols], scale, 0.0)

    def vector(self, name, n, scale, mean):
        self.add(name, [n], scale, mean)

    def add(self, name, shape, scale, mean):
        self.tensors[name] = self.drawer.draw(math.prod(shape), scale, mean).reshape(shape)
        if not name.startswith("blk.") or name.startswith("blk.0."):  # each layer has those of the first
            self.described.append({"name": name, "dims": shape[::-1], "scale": scale, "mean": mean})

    def factors(self, name, values):
        """A vector of values that are not drawn."""
        self.tensors[name] = np.array(values, dtype=np.float32)
        self.described.append({"name": name, "dims": [len(values)], "values": [float(v) for v in self.tensors[name]]})

    def hash(self):
        h = hashlib.sha256()
        for name, data in self.tensors.items():
            h.update(name.encode() + b"\n" + data.astype("<f4").tobytes())
        return h.hexdigest()

    def write(self, gguf, path):
        w = gguf.GGUFWriter(str(path), self.arch)
        add = {"u32": w.add_uint32, "f32": w.add_float32, "string": w.add_string, "bools": w.add_array}
        for name, kind, value in self.keys:
            if name != "general.architecture":  # the writer adds it
                add[kind](name, value)
        for name, data in self.tensors.items():
            w.add_tensor(name, data)
        w.write_header_to_file()
        w.write_kv_data_to_file()
        w.write_tensors_to_file()
        w.close()


def layout(case, seed):
    """The file of a case, as llama.cpp's converter lays it out."""
    c, f = case, File(case, seed)
    f.keys.append(["general.architecture", "string", f.arch])
    for name, value in [("block_count", c.layers), ("context_length", c.context), ("embedding_length", c.hidden),
                        ("feed_forward_length", c.ffn), ("attention.head_count", c.heads),
                        ("attention.head_count_kv", c.kv), ("vocab_size", c.vocab)]:
        f.key(name, "u32", value)
    f.key("attention.layer_norm_rms_epsilon", "f32", single(c.eps))
    f.key("rope.freq_base", "f32", c.base)
    if c.family in ("llama", "mistral3", "qwen3", "gemma3") or c.family == "mistral" and stated(c):
        f.key("attention.key_length", "u32", c.dim)
        f.key("attention.value_length", "u32", c.dim)
    if f.arch in LLAMAS or f.arch == "phi3":
        f.key("rope.dimension_count", "u32", int(c.rotary * c.dim))
    if c.family == "gemma3":
        f.key("rope.freq_base_swa", "f32", c.local)
    if c.family == "phi3":
        f.key("rope.scaling.original_context_length", "u32", c.original)
        f.key("attention.sliding_window", "u32", c.window)
    elif c.family == "gemma3" and c.window:
        f.key("attention.sliding_window", "u32", c.window)
    for name, kind, value in c.extra:
        f.key(name, kind, value)
    scaled(f)

    q, kv = c.heads * c.dim, c.kv * c.dim
    # What a token adds to its own logit must not hide what the layers do.
    gemma = c.family == "gemma3"
    scale = 2.0 ** round(math.log2((0.5 if gemma else 4.0) / math.sqrt(c.hidden))) if gemma or c.tied else 1.0
    f.add("token_embd.weight", [c.vocab, c.hidden], scale, 0.0)
    f.vector("output_norm.weight", c.hidden, 2.0 if gemma else 0.25, 8.0 if gemma else 1.0)
    if not c.tied:
        f.matrix("output.weight", c.vocab, c.hidden, 0.5 if gemma else 4.0)
    for layer in range(c.layers):
        b = f"blk.{layer}."
        f.vector(b + "attn_norm.weight", c.hidden, 0.25, 1.0)
        if c.family == "phi3":
            f.matrix(b + "attn_qkv.weight", q + 2 * kv, c.hidden, 1.5)
        else:
            f.matrix(b + "attn_q.weight", q, c.hidden, 1.5)
            f.matrix(b + "attn_k.weight", kv, c.hidden, 1.5)
            f.matrix(b + "attn_v.weight", kv, c.hidden)
        if c.biases or c.family == "qwen2":
            f.vector(b + "attn_q.bias", q, 0.5, 0.0)
            f.vector(b + "attn_k.bias", kv, 0.5, 0.0)
            f.vector(b + "attn_v.bias", kv, 0.5, 0.0)
        if c.family in ("qwen3", "gemma3"):
            f.vector(b + "attn_q_norm.weight", c.dim, 0.5, 1.25)
            f.vector(b + "attn_k_norm.weight", c.dim, 0.5, 1.25)
        f.matrix(b + "attn_output.weight", c.hidden, q, 2.0)
        if c.biases:
            f.vector(b + "attn_output.bias", c.hidden, 0.5, 0.0)
        if c.family == "gemma3":
            f.vector(b + "post_attention_norm.weight", c.hidden, 0.5, 1.25)
            f.vector(b + "post_ffw_norm.weight", c.hidden, 0.5, 1.25)
        f.vector(b + "ffn_norm.weight", c.hidden, 0.25, 1.0)
        if c.family == "phi3":
            f.matrix(b + "ffn_up.weight", 2 * c.ffn, c.hidden, 1.5)
        else:
            f.matrix(b + "ffn_gate.weight", c.ffn, c.hidden, 1.5)
            f.matrix(b + "ffn_up.weight", c.ffn, c.hidden, 1.5)
        f.matrix(b + "ffn_down.weight", c.hidden, c.ffn, 1.5)
        if c.biases:
            f.vector(b + "ffn_gate.bias", c.ffn, 0.5, 0.0)
            f.vector(b + "ffn_up.bias", c.ffn, 0.5, 0.0)
            f.vector(b + "ffn_down.bias", c.hidden, 0.5, 0.0)
    return f


def stated(c):
    """Whether mistral's config states the length of a head; its YaRN needs it."""
    return c.dim * c.heads != c.hidden or bool(c.scaling)


def scaled(f):
    """The keys and factors of a scaling."""
    c, s = f.case, f.case.scaling
    kind = s.get("rope_type", s.get("type"))
    if kind in ("linear", "yarn", "longrope") and c.family != "phi3":  # phi3's files do not say it
        f.key("rope.scaling.type", "string", kind)
    if kind in ("linear", "yarn"):
        f.key("rope.scaling.factor", "f32", s["factor"])
    if kind == "yarn" or kind == "longrope" and c.family != "phi3":
        f.key("rope.scaling.original_context_length", "u32", s.get("original_max_position_embeddings", c.original))
    if kind == "longrope":
        f.key("rope.scaling.attn_factor", "f32", attention_factor(c))
        f.factors("rope_factors_long.weight", s["long_factor"])
        f.factors("rope_factors_short.weight", s["short_factor"])
    if kind == "llama3":
        f.factors("rope_freqs.weight", llama3_factors(c))


def attention_factor(case):
    """LongRoPE's, of the paper (arXiv 2402.13753)."""
    return single(math.sqrt(1 + math.log(case.context / case.original) / math.log(case.original)))


def llama3_factors(case):
    """What frequencies are divided by: those of no scaling by those of transformers."""
    with Double():
        plain, llama3 = (transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS[kind](config_of(case), None)[0]
                         for kind in ("default", "llama3"))
    return (plain / llama3).numpy().astype(np.float32)


def config_of(c):
    """transformers' config of a case."""
    same = dict(vocab_size=c.vocab, hidden_size=c.hidden, intermediate_size=c.ffn, num_hidden_layers=c.layers,
                num_attention_heads=c.heads, num_key_value_heads=c.kv, max_position_embeddings=c.context,
                rms_norm_eps=single(c.eps), rope_theta=c.base, tie_word_embeddings=c.tied,
                rope_scaling=dict(c.scaling) or None, attn_implementation="eager",
                pad_token_id=None, bos_token_id=None, eos_token_id=None)
    if c.family == "llama":
        own = {"original_max_position_embeddings": c.original} if c.original else {}
        return transformers.LlamaConfig(**same, **own, head_dim=c.dim, attention_bias=c.biases, mlp_bias=c.biases)
    if c.family == "mistral":
        own = {"head_dim": c.dim} if stated(c) else {}
        return transformers.MistralConfig(**same, **own, sliding_window=c.window or None)
    if c.family == "mistral3":  # transformers 4 has no class of its own for its text model
        return transformers.MistralConfig(**same, head_dim=c.dim, sliding_window=None)
    if c.family == "smollm3":
        return transformers.SmolLM3Config(**same)
    if c.family == "qwen2":
        return transformers.Qwen2Config(**same)
    if c.family == "qwen3":
        return transformers.Qwen3Config(**same, head_dim=c.dim)
    if c.family == "phi3":
        return transformers.Phi3Config(**same, original_max_position_embeddings=c.original,
                                       partial_rotary_factor=c.rotary, sliding_window=c.window or None)
    every = c.pattern
    return transformers.Gemma3TextConfig(
        **same, head_dim=c.dim, query_pre_attn_scalar=c.dim, rope_local_base_freq=c.local,
        sliding_window=c.window, sliding_window_pattern=every)


def unpermuted(w, heads):
    """The rows of a head as transformers has them, whose halves are turned
    together, from those of llama.cpp's llama, whose neighbours are."""
    shape = w.shape
    return w.reshape(heads, shape[0] // heads // 2, 2, *shape[1:]).swapaxes(1, 2).reshape(shape)


def state_of(f):
    """transformers' weights of a file."""
    c, out = f.case, {}
    shift = 1.0 if c.family == "gemma3" else 0.0  # its norms add 1 to what they multiply by
    whole = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight",
             "output.weight": "lm_head.weight"}
    parts = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
             "attn_v": "self_attn.v_proj", "attn_qkv": "self_attn.qkv_proj", "attn_output": "self_attn.o_proj",
             "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
             "post_attention_norm": "post_attention_layernorm", "post_ffw_norm": "post_feedforward_layernorm",
             "ffn_norm": "pre_feedforward_layernorm" if c.family == "gemma3" else "post_attention_layernorm",
             "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.gate_up_proj" if c.family == "phi3" else "mlp.up_proj",
             "ffn_down": "mlp.down_proj"}
    for name, data in f.tensors.items():
        if name.startswith("rope_"):
            continue
        x = data.astype(np.float64)
        if name in whole:
            target = whole[name]
        else:
            _, layer, part, end = name.split(".")
            target = f"model.layers.{layer}.{parts[part]}.{end}"
            if f.arch in LLAMAS and part in ("attn_q", "attn_k"):
                x = unpermuted(x, c.heads if part == "attn_q" else c.kv)
        if "norm" in target:
            x = x - shift
        out[target] = torch.from_numpy(np.ascontiguousarray(x))
    if c.tied:
        out["lm_head.weight"] = out["model.embed_tokens.weight"]
    return out


class Double:
    """Inside, what transformers' modules call float32 is float64."""

    def __enter__(self):
        self.kept = torch.float32, torch.float, torch.Tensor.float
        torch.set_default_dtype(torch.float64)
        torch.float32 = torch.float = torch.float64
        torch.Tensor.float = torch.Tensor.double

    def __exit__(self, *_):
        torch.float32, torch.float, torch.Tensor.float = self.kept
        torch.set_default_dtype(torch.float32)


def model_of(f):
    """transformers' model of a file, in float64."""
    config = config_of(f.case)
    kind = {"llama": transformers.LlamaForCausalLM, "mistral": transformers.MistralForCausalLM,
            "mistral3": transformers.MistralForCausalLM, "smollm3": transformers.SmolLM3ForCausalLM,
            "qwen2": transformers.Qwen2ForCausalLM, "qwen3": transformers.Qwen3ForCausalLM,
            "gemma3": transformers.Gemma3ForCausalLM, "phi3": transformers.Phi3ForCausalLM}[f.case.family]
    model = kind(config).eval()
    model.load_state_dict(state_of(f), strict=True)
    for layer in model.model.layers:
        layer.self_attn.scaling = single(layer.self_attn.scaling)
    if f.case.family == "gemma3":
        embedding = model.model.embed_tokens
        embedding.embed_scale.fill_(single(embedding.embed_scale))
    turn = model.model.rotary_emb
    if "rope_freqs.weight" in f.tensors:  # as the file states them, and not as they were computed
        plain = transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS["default"](config)[0]
        stated = plain / torch.from_numpy(f.tensors["rope_freqs.weight"].astype(np.float64))
        assert torch.allclose(stated, turn.inv_freq, rtol=2e-7, atol=0)
        turn.inv_freq = turn.original_inv_freq = stated
    if "rope_factors_long.weight" in f.tensors:
        assert abs(turn.attention_scaling - attention_factor(f.case)) < 1e-7
        turn.attention_scaling = attention_factor(f.case)
    return model


def greedy(model, ids):
    """The logits after ids, and the STEPS ids that transformers generates."""
    ids, first, out = list(ids), None, []
    for _ in range(STEPS):
        with torch.no_grad():
            logits = model(torch.tensor([ids]), use_cache=False).logits[0, -1].numpy()
        assert logits.dtype == np.float64
        first = logits if first is None else first
        out.append(int(logits.argmax()))
        ids.append(out[-1])
    return first, out


class Llama:
    """llama.cpp with a file."""

    def __init__(self, path, vocab):
        mp, cp = ll.llama_model_default_params(), ll.llama_context_default_params()
        cp.n_ctx = cp.n_batch = cp.n_ubatch = CONTEXT
        cp.n_threads = cp.n_threads_batch = 1
        cp.flash_attn_type = 0
        cp.type_k = cp.type_v = 0  # F32
        cp.swa_full = True
        self.vocab = vocab
        self.model = ll.llama_model_load_from_file(str(path).encode(), mp)
        if not self.model:
            raise SystemExit(f"llama.cpp cannot load {path}")
        self.ctx = ll.llama_init_from_model(self.model, cp)
        self.batch = ll.llama_batch_init(CONTEXT, 0, 1)

    def step(self, ids, at):
        b = self.batch
        b.n_tokens = len(ids)
        for i, token in enumerate(ids):
            b.token[i], b.pos[i], b.n_seq_id[i], b.seq_id[i][0] = token, at + i, 1, 0
            b.logits[i] = i == len(ids) - 1
        if ll.llama_decode(self.ctx, b) != 0:
            raise SystemExit("llama_decode failed")
        return np.ctypeslib.as_array(ll.llama_get_logits(self.ctx), (self.vocab,)).astype(np.float64)

    def generate(self, prompt):
        """The logits after prompt, STEPS ids, and the smallest lead of one over the second."""
        ll.llama_memory_clear(ll.llama_get_memory(self.ctx), True)
        ids, at, first, out, margin = list(prompt), 0, None, [], math.inf
        for _ in range(STEPS):
            logits = self.step(ids, at)
            first = logits if first is None else first
            at += len(ids)
            best = np.sort(logits)[-2:]
            margin = min(margin, best[1] - best[0])
            ids = [int(logits.argmax())]
            out += ids
        return first, out, margin

    def close(self):
        ll.llama_batch_free(self.batch)
        ll.llama_free(self.ctx)
        ll.llama_model_free(self.model)


def converted(f, model, folder, gguf):
    """Has llama.cpp's converter make a file of the model, and compares."""
    import conversion
    c, out = f.case, folder / "converted.gguf"
    with open(folder / "tokenizer.json", "w", encoding="utf-8") as t:  # gemma3 counts its tokens
        json.dump({"model": {"vocab": {str(i): i for i in range(c.vocab)}}, "added_tokens": []}, t)
    model = model.to(torch.float32)
    model.config.dtype = torch.float32
    model.save_pretrained(folder)
    kind = conversion.get_model_class(type(model).__name__)
    kind.set_vocab = lambda self: self._set_vocab_none()  # the models have no texts
    kind(folder, gguf.LlamaFileType.ALL_F32, out).write()
    r = gguf.GGUFReader(str(out))
    tensors = {t.name: t.data for t in r.tensors}
    assert tensors.keys() == f.tensors.keys(), tensors.keys() ^ f.tensors.keys()
    for name, want in f.tensors.items():
        assert tensors[name].shape == want.shape and tensors[name].dtype == np.float32, name
        # The converter computes factors in float32, and states what is drawn as it is.
        assert np.array_equal(tensors[name], want) or \
            name == "rope_freqs.weight" and np.allclose(tensors[name], want, rtol=1e-5, atol=0), name
    aside = ("GGUF.", "general.", "tokenizer.")
    keys = {k: v.contents() for k, v in r.fields.items() if not k.startswith(aside)}
    extra = {f"{f.arch}.{name}" for name, _, _ in c.extra} | {f"{f.arch}.vocab_size"}
    for name, _, value in f.keys:
        if name == "general.architecture":
            assert r.fields[name].contents() == value
        elif name.startswith(aside):
            continue
        elif name in extra:
            assert keys.pop(name, value) == value, name
        else:
            assert name in keys, f"{c.name}: the converter does not write {name}"
            got = keys.pop(name)
            assert got == value or isinstance(value, float) and abs(got - value) <= 1e-6 * value, (name, got, value)
    assert not keys, f"{c.name}: the converter writes {keys} too"


def run(case, seed, gguf):
    f = layout(case, seed)
    f.keys.append(["tokenizer.ggml.model", "string", "no_vocab"])
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        path = folder / "model.gguf"
        f.write(gguf, path)
        program = Llama(path, case.vocab)
        drawer, tried = Drawer(seed + 1), []
        for _ in range(PROMPTS):
            prompt = [int(i) for i in (drawer.draw(case.prompt, 0.5, 0.5) * case.vocab).astype(int)]
            logits, ids, margin = program.generate(prompt)
            tried.append((len(set(ids)) >= 6, margin, prompt, logits, ids))
        program.close()
        _, margin, prompt, close, following = max(tried, key=lambda t: t[:2])
        with Double():
            model = model_of(f)
            logits, ids = greedy(model, prompt)
        apart = float(np.abs(logits - close).max() / np.abs(logits).max())
        print(f"{case.name}: margin {margin:.3f} of {logits.std():.2f}, {len(set(following))} ids, "
              f"llama.cpp's logits within {apart:.1e}", file=sys.stderr)
        assert ids == following, (ids, following)
        assert apart < (2e-3 if case.family == "gemma3" else 1e-4)  # llama.cpp's GELU is a table of binary16
        if case.converted:
            converted(f, model, folder, gguf)
    return {"name": case.name, "architecture": f.arch, "seed": seed, "layers": case.layers, "keys": f.keys,
            "tensors": f.described, "sha256": f.hash(), "prompt": prompt, "logits": [float(f"{x:.12g}") for x in logits],
            "next": following, "margin": float(f"{margin:.3g}")}


def compact(case):
    """One line for each part, so that a change shows where it is."""
    parts = [f"{json.dumps(k)}: " + (json.dumps(v) if k != "tensors" else "[\n   " + ",\n   ".join(map(json.dumps, v)) + "]")
             for k, v in case.items()]
    return "{" + ",\n  ".join(parts) + "}"


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--llama-cpp", type=Path, required=True, help="source of llama.cpp, for its converter and gguf package")
    p.add_argument("--only", default="", help="cases whose names begin so; those of others stay")
    p.add_argument("out", type=Path)
    args = p.parse_args()
    sys.path[1:1] = [str(args.llama_cpp), str(args.llama_cpp / "gguf-py")]
    import gguf
    logging.disable(logging.WARNING)
    quiet = ll.llama_log_callback(lambda level, text, data: None)
    ll.llama_log_set(quiet, None)
    ll.llama_backend_init()
    kept = {c["name"]: c for c in json.loads(args.out.read_text(encoding="utf-8"))} if args.only else {}
    cases = [run(c, 1000 * i + 1, gguf) if c.name.startswith(args.only) else kept[c.name] for i, c in enumerate(CASES)]
    args.out.write_text("[" + ",\n".join(map(compact, cases)) + "]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
