#!/usr/bin/env python3
"""Records what candle 0.11.0 asks of Metal over small models.

    scripts/reference/candlemetal/record.py engine/metal/forward/testdata/models

builds candle's own sources over crates that write down what reaches Metal
(mock), makes a model file of zeros for each of CASES, runs candle's model of its
architecture over it, and writes NAME.txt.gz: the model as JSON in a line "model …", then the events in the form
that scripts/reference/candletrace describes. cargo brings the sources. No
kernel runs; what candle itself computes on the CPU, it does.

The device that is mocked allows 1024 threads in a threadgroup, and completes a
command buffer when it is waited for.
"""
import gzip
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# GGUF's number of a type, elements and bytes of a block.
TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22),
         "Q5_1": (7, 32, 24), "Q8_0": (8, 32, 34), "Q2_K": (10, 256, 84), "Q3_K": (11, 256, 110),
         "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210), "BF16": (30, 1, 2)}

BASE = {"layers": 2, "heads": 4, "kv_heads": 2, "head_dim": 32, "ffn": 96, "vocab": 100, "own_output": False,
        "types": {"*": "F16"}, "passes": [13, 1, 1], "architecture": ""}

CASES = {
    "f32": {"types": {"*": "F32"}},
    "f16": {},
    "bf16": {"types": {"*": "BF16"}},
    "q8-own-output": {"own_output": True, "types": {"*": "Q8_0"}},
    "f16-own-output": {"own_output": True},
    "mixed": {"own_output": True, "types": {"*": "Q8_0", "output": "F16", "attn_v": "BF16", "ffn_down": "F32"}},
    "mixed-tied": {"types": {"*": "F16", "token_embd": "Q8_0", "ffn_gate": "Q4_1", "attn_k": "F32"}},
    "k-types": {"heads": 8, "ffn": 256, "own_output": True, "types": {
        "*": "Q4_K", "output": "Q6_K", "attn_v": "Q5_K", "ffn_down": "Q3_K", "ffn_up": "Q2_K"}},
    "legacy-types": {"types": {"*": "Q4_0", "attn_q": "Q5_0", "attn_k": "Q5_1", "ffn_up": "Q4_1"}},
    "half-norms": {"types": {"*": "F16", "attn_norm": "F16", "output_norm": "BF16"}},
    "small-sides": {"ffn": 3, "vocab": 2, "own_output": True},
    "one-token": {"passes": [1, 1, 1]},
    "two-tokens": {"passes": [2, 1]},
    "16-tokens": {"passes": [16, 1]},
    "40-tokens": {"passes": [40, 1]},
    "large-product": {"heads": 8, "kv_heads": 8, "head_dim": 64, "ffn": 9000, "vocab": 5000, "layers": 1,
                      "passes": [400, 1, 1]},
    "narrow": {"heads": 1, "kv_heads": 1, "head_dim": 64, "vocab": 5000, "passes": [7, 1]},
    "one-head": {"heads": 1, "kv_heads": 1},
    "one-key-head": {"heads": 5, "kv_heads": 1},
    "no-groups": {"heads": 3, "kv_heads": 3},
    "head-96": {"head_dim": 96}, "head-128": {"head_dim": 128}, "head-256": {"head_dim": 256},
    "head-512": {"head_dim": 512, "heads": 2, "kv_heads": 1},
    "head-512-two-pass": {"head_dim": 512, "heads": 2, "kv_heads": 1, "layers": 1, "passes": [1023, 1]},
    "two-pass": {"layers": 1, "passes": [1022, 1, 1, 1]},
    "more-tokens": {"passes": [13, 4, 1, 16, 1]},
    "g-40-tokens": {"architecture": "applegpu_g13g", "passes": [40, 1]},
    "p-16-tokens": {"architecture": "applegpu_g16p", "passes": [16, 1]},
    "s-16-tokens": {"architecture": "applegpu_g14s", "passes": [16, 1]},
    "d-400-tokens": {"architecture": "applegpu_g13d", "heads": 8, "kv_heads": 8, "layers": 1, "passes": [400, 1]},
    "g-400-tokens": {"architecture": "applegpu_g13g", "heads": 8, "kv_heads": 8, "layers": 1, "passes": [400, 1]},
}

# The models of other architectures (general.architecture in "model", llama where it
# is not said), each over LENGTHS and in its own shapes. "hidden" is heads times
# head_dim where it is not said. gemma3 always has heads in groups, or one alone:
# candle's refuses to multiply by values that it has not repeated.
OTHERS = {
    "qwen2": {
        "": {"context": 640},
        "q8-own-output": {"context": 100, "own_output": True, "types": {"*": "Q8_0"}, "passes": [13, 1]},
        "k-types": {"context": 64, "heads": 4, "kv_heads": 1, "head_dim": 64, "ffn": 512, "passes": [40, 1],
                    "types": {"*": "Q4_K", "token_embd": "Q6_K", "ffn_down": "Q6_K", "attn_v": "Q5_K"}},
        "half-biases": {"context": 64, "heads": 3, "kv_heads": 3, "passes": [16, 1],
                        "types": {"*": "Q4_0", "bias": "F16"}},
        "more-tokens": {"context": 64, "heads": 1, "kv_heads": 1, "passes": [13, 4, 1, 16, 1]},
        "g-40-tokens": {"context": 64, "architecture": "applegpu_g13g", "passes": [40, 1]},
        "two-pass": {"context": 2048, "layers": 1, "head_dim": 128, "passes": [1022, 1, 1]},
    },
    "qwen3": {
        "": {"context": 640, "hidden": 96},
        "q8-own-output": {"context": 100, "own_output": True, "types": {"*": "Q8_0"}, "passes": [13, 1]},
        "k-types": {"context": 64, "hidden": 256, "heads": 4, "kv_heads": 1, "head_dim": 128, "ffn": 512,
                    "passes": [40, 1],
                    "types": {"*": "Q4_K", "token_embd": "Q6_K", "ffn_down": "Q6_K", "attn_v": "Q5_K"}},
        "f32-tables": {"context": 64, "dtype": 0, "heads": 3, "kv_heads": 3, "passes": [16, 1], "types": {"*": "Q4_0"}},
        "f32-more-tokens": {"context": 64, "dtype": 0, "passes": [13, 4, 1, 16, 1]},
        "more-tokens": {"context": 64, "dtype": 1, "heads": 1, "kv_heads": 1, "passes": [13, 4, 1, 16, 1]},
        "g-40-tokens": {"context": 64, "architecture": "applegpu_g13g", "passes": [40, 1]},
    },
    "gemma3": {
        "": {"hidden": 96, "window": 8, "layers": 3, "pattern": 2},
        "q8-own-output": {"window": 512, "own_output": True, "types": {"*": "Q8_0"}, "passes": [13, 1]},
        "k-types": {"hidden": 256, "heads": 4, "kv_heads": 1, "head_dim": 256, "ffn": 512, "window": 16, "layers": 7,
                    "passes": [40, 1],
                    "types": {"*": "Q5_0", "token_embd": "Q8_0", "ffn_down": "Q6_K", "attn_v": "Q8_0"}},
        "groups-of-3": {"heads": 3, "kv_heads": 1, "window": 4, "passes": [16, 1], "types": {"*": "Q4_0"}},
        "one-head": {"heads": 1, "kv_heads": 1, "window": 4, "passes": [16, 1]},
        "g-40-tokens": {"window": 512, "architecture": "applegpu_g13g", "passes": [40, 1]},
    },
    "phi3": {
        "": {"context": 640, "own_output": True},
        "q8": {"context": 100, "own_output": True, "types": {"*": "Q8_0"}, "heads": 2, "kv_heads": 2, "passes": [13, 1]},
        "k-types": {"context": 64, "own_output": True, "heads": 4, "kv_heads": 2, "head_dim": 64, "ffn": 512,
                    "passes": [40, 1],
                    "types": {"*": "Q4_K", "output": "Q6_K", "ffn_down": "Q6_K", "attn_qkv": "Q5_K"}},
        "head-96": {"context": 64, "own_output": True, "heads": 3, "kv_heads": 1, "head_dim": 96, "passes": [16, 1]},
        "more-tokens": {"context": 64, "own_output": True, "heads": 1, "kv_heads": 1, "passes": [13, 4, 1, 16, 1]},
        "g-40-tokens": {"context": 64, "own_output": True, "architecture": "applegpu_g13g", "passes": [40, 1]},
    },
}
LENGTHS = {"1-token": [1, 1, 1], "13-tokens": [13, 1, 1], "40-tokens": [40, 1], "300-tokens": [300, 1, 1]}

for model, shapes in OTHERS.items():
    for name, change in shapes.items():
        if name:
            CASES[f"{model}/{name}"] = {"model": model, **change}
        else:
            CASES.update((f"{model}/{n}", {"model": model, **change, "passes": passes}) for n, passes in LENGTHS.items())


def string(text):
    b = text.encode()
    return struct.pack("<Q", len(b)) + b


def metadata(key, value):
    if isinstance(value, str):
        return string(key) + struct.pack("<I", 8) + string(value)
    if isinstance(value, float):
        return string(key) + struct.pack("<If", 6, value)
    return string(key) + struct.pack("<II", 4, value)


def layer(m):
    """The tensors of a block, by their names in it."""
    hidden, q, kv = m.get("hidden", m["heads"] * m["head_dim"]), m["heads"] * m["head_dim"], m["kv_heads"] * m["head_dim"]
    model = m.get("model", "llama")
    tensors = [("attn_norm", (hidden,)), ("ffn_norm", (hidden,))]
    if model == "phi3":
        return tensors + [("attn_qkv", (q + 2 * kv, hidden)), ("attn_output", (hidden, q)),
                          ("ffn_up", (2 * m["ffn"], hidden)), ("ffn_down", (hidden, m["ffn"]))]
    tensors += [("attn_q", (q, hidden)), ("attn_k", (kv, hidden)), ("attn_v", (kv, hidden)),
                ("attn_output", (hidden, q)), ("ffn_gate", (m["ffn"], hidden)), ("ffn_up", (m["ffn"], hidden)),
                ("ffn_down", (hidden, m["ffn"]))]
    if model == "qwen2":
        tensors += [("attn_q.bias", (q,)), ("attn_k.bias", (kv,)), ("attn_v.bias", (kv,))]
    if model in ("qwen3", "gemma3"):
        tensors += [("attn_q_norm", (m["head_dim"],)), ("attn_k_norm", (m["head_dim"],))]
    if model == "gemma3":
        tensors += [("post_attention_norm", (hidden,)), ("post_ffw_norm", (hidden,))]
    return tensors


def keys(m):
    model = m.get("model", "llama")
    about = {"attention.head_count": m["heads"], "attention.head_count_kv": m["kv_heads"], "block_count": m["layers"],
             "embedding_length": m.get("hidden", m["heads"] * m["head_dim"]), "rope.dimension_count": m["head_dim"],
             "attention.layer_norm_rms_epsilon": 1e-5, "rope.freq_base": 100000.0, "feed_forward_length": m["ffn"],
             "context_length": m.get("context", 8192)}
    if model in ("qwen3", "gemma3"):
        about["attention.key_length"] = about["attention.value_length"] = m["head_dim"]
    if "window" in m:
        about["attention.sliding_window"] = m["window"]
    if "pattern" in m:
        about["attention.sliding_window_type"] = m["pattern"]
    general = [("general.architecture", model)]
    if "dtype" in m:
        general.append(("general.dtype", m["dtype"]))
    return general + [(f"{model}.{key}", value) for key, value in about.items()]


def write_model(path, m):
    """A GGUF file of the model's architecture whose weights are zeros."""
    hidden = m.get("hidden", m["heads"] * m["head_dim"])
    tensors = [("token_embd", (m["vocab"], hidden)), ("output_norm", (hidden,))]
    if m["own_output"]:
        tensors.append(("output", (m["vocab"], hidden)))
    for i in range(m["layers"]):
        tensors += [(f"blk.{i}.{name}", dims) for name, dims in layer(m)]
    about = keys(m)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(about)) + b"".join(metadata(*k) for k in about)
    at = 0
    for name, dims in tensors:
        kind = name.split(".")[-1]
        number, elements, size = TYPES[m["types"].get(kind, "F32" if kind.endswith(("norm", "bias")) else m["types"]["*"])]
        head += string(name if kind == "bias" else name + ".weight") + struct.pack("<I", len(dims))
        head += struct.pack(f"<{len(dims)}Q", *reversed(dims)) + struct.pack("<IQ", number, at)
        rows = dims[0] if len(dims) == 2 else 1
        at += (rows * (dims[-1] // elements) * size + 31) // 32 * 32
    head += bytes(-len(head) % 32)
    with open(path, "wb") as f:
        f.write(head)
        f.truncate(len(head) + at)


def build():
    """The program, and the folder of candle's kernels, by which it names libraries."""
    subprocess.run(["cargo", "build", "--quiet"], cwd=HERE, check=True)
    about = json.loads(subprocess.run(["cargo", "metadata", "--format-version", "1"], cwd=HERE, check=True,
                                      stdout=subprocess.PIPE).stdout)
    manifest = next(p["manifest_path"] for p in about["packages"] if p["name"] == "candle-metal-kernels")
    return os.path.join(about["target_directory"], "debug", "candlemetal"), \
        os.path.join(os.path.dirname(manifest), "src", "metal_src")


def record(program, kernels, m, out):
    with tempfile.TemporaryDirectory() as tmp:
        model, trace = os.path.join(tmp, "model.gguf"), os.path.join(tmp, "trace")
        write_model(model, m)
        env = dict(os.environ, METAL_SRC=kernels, ARCH=m["architecture"], TRACE=trace)
        for name in ("CANDLE_METAL_COMPUTE_PER_BUFFER", "CANDLE_DEQUANTIZE_ALL", "CANDLE_DEQUANTIZE_ALL_F16"):
            env.pop(name, None)
        subprocess.run([program, model, ",".join(map(str, m["passes"]))], env=env, check=True)
        with open(trace, "rb") as f, open(out, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as z:
            z.write(b"model " + json.dumps(m).encode() + b"\n" + f.read())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: record.py FOLDER")
    os.makedirs(sys.argv[1], exist_ok=True)
    program, kernels = build()
    for name, change in CASES.items():
        out = os.path.join(sys.argv[1], name + ".txt.gz")
        os.makedirs(os.path.dirname(out), exist_ok=True)
        record(program, kernels, {**BASE, **change}, out)
        print(name)
