"""The models of architectures.py: what differs between them, and why it is there.

A case is small enough to be run in milliseconds, and large enough that a wrong
order of rows, a missing norm or a wrong frequency changes every logit.
"""
from dataclasses import dataclass, field


@dataclass
class Case:
    name: str
    family: str  # which class of transformers; mistral's files say llama
    heads: int
    kv: int
    dim: int  # of a head
    hidden: int
    ffn: int
    vocab: int
    layers: int = 2
    eps: float = 1e-5
    base: float = 10000.0
    tied: bool = True
    context: int = 2048
    prompt: int = 24  # tokens
    biases: bool = False  # llama: of all projections
    scaling: dict = field(default_factory=dict)  # rope_scaling of transformers' config
    original: int = 0  # positions before YaRN or LongRoPE; phi3 always has it
    rotary: float = 1.0  # phi3: part of a head that is turned
    window: int = 0  # positions that windowed layers see; transformers' sliding_window
    pattern: int = 0  # gemma3: every so many-th layer sees everything
    local: float = 10000.0  # gemma3: base of the windowed layers
    # Keys that the converter does not write, but llama.cpp reads.
    extra: list = field(default_factory=list)
    # Whether the converter can make the file's tensors and other keys.
    converted: bool = True


def linear(factor):
    return {"rope_type": "linear", "factor": factor}


def yarn(factor, original):
    return {"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": original}


def llama3(factor, original):
    return {"rope_type": "llama3", "factor": factor, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": original}


def longrope(half):
    """Factors of `half` pairs, in eighths: float32 holds them."""
    return {"short_factor": [1 + i % 3 / 8 for i in range(half)],
            "long_factor": [1.5 + i * i % 7 / 8 + i / 4 for i in range(half)]}


CASES = [
    # llama: neighbours are turned together, biases where the file has them.
    Case("llama-small", "llama", 2, 2, 32, 64, 128, 128),
    Case("llama-grouped", "llama", 4, 2, 32, 128, 256, 160, base=500000.0, tied=False),
    Case("llama-one-key-head", "llama", 2, 1, 64, 96, 160, 96, layers=3, eps=1e-6),
    Case("llama-blocks-of-256", "llama", 4, 2, 64, 256, 512, 288, tied=False, prompt=33),
    Case("llama-biases-linear", "llama", 3, 3, 32, 96, 192, 128, biases=True, scaling=linear(2.5)),
    Case("llama-llama3-factors", "llama", 4, 1, 64, 128, 256, 128, base=500000.0, scaling=llama3(8.0, 256), prompt=40),
    Case("llama-yarn", "llama", 2, 1, 64, 128, 256, 128, tied=False, scaling=yarn(4.0, 64), context=256, prompt=40),
    # transformers and llama.cpp compute LongRoPE for llama; the converter makes no such file.
    Case("llama-longrope", "llama", 2, 2, 64, 128, 192, 128, original=16, context=256,
         scaling={"rope_type": "longrope", **longrope(32)}, converted=False),

    # mistral: files say llama. The converter drops the window and llama.cpp attends
    # to everything; in the case that has one, it is longer than what is run.
    Case("mistral-small", "mistral", 2, 1, 32, 64, 96, 96),
    Case("mistral-blocks-of-256", "mistral", 4, 2, 64, 256, 512, 256, tied=False, base=1000000.0),
    Case("mistral-key-length", "mistral", 2, 1, 128, 160, 224, 128, tied=False, base=1000000.0),
    Case("mistral-window", "mistral", 4, 4, 32, 128, 256, 128, tied=False, window=64, prompt=32),
    Case("mistral-three-layers", "mistral", 2, 2, 96, 192, 256, 160, layers=3),
    Case("mistral-yarn", "mistral", 2, 1, 64, 128, 160, 128, scaling=yarn(8.0, 32), context=256, prompt=40),
    Case("mistral-linear", "mistral", 6, 2, 32, 192, 192, 128, tied=False, scaling=linear(4.0)),
    Case("mistral-one-key-head", "mistral", 4, 1, 32, 96, 128, 288, eps=1e-6, base=100000.0),

    # qwen2: halves are turned together, queries, keys and values have biases.
    Case("qwen2-small", "qwen2", 2, 2, 32, 64, 128, 128, eps=1e-6),
    Case("qwen2-grouped", "qwen2", 4, 2, 32, 128, 256, 160, eps=1e-6, base=1000000.0, tied=False),
    Case("qwen2-blocks-of-256", "qwen2", 4, 2, 64, 256, 512, 288, eps=1e-6, base=1000000.0),
    Case("qwen2-one-key-head", "qwen2", 3, 1, 64, 192, 192, 96, layers=3, eps=1e-6),
    Case("qwen2-wide-heads", "qwen2", 2, 1, 128, 256, 320, 128, tied=False, eps=1e-6),
    Case("qwen2-yarn", "qwen2", 2, 1, 64, 128, 256, 128, eps=1e-6, base=1000000.0, scaling=yarn(4.0, 64), context=256,
         prompt=40),
    Case("qwen2-linear", "qwen2", 6, 3, 32, 192, 160, 128, eps=1e-6, scaling=linear(2.0)),
    Case("qwen2-seven-to-a-key-head", "qwen2", 7, 1, 32, 224, 256, 128, tied=False, eps=1e-6, prompt=20),

    # qwen3: halves, norms of heads, heads of a length of their own.
    Case("qwen3-small", "qwen3", 2, 2, 32, 64, 128, 128, eps=1e-6),
    Case("qwen3-long-heads", "qwen3", 2, 1, 128, 64, 192, 128, eps=1e-6, base=1000000.0),
    Case("qwen3-blocks-of-256", "qwen3", 4, 2, 64, 256, 512, 288, eps=1e-6, base=1000000.0, tied=False),
    Case("qwen3-short-heads", "qwen3", 2, 1, 32, 128, 256, 96, layers=3, eps=1e-6, tied=False),
    Case("qwen3-yarn", "qwen3", 2, 1, 64, 128, 256, 128, eps=1e-6, base=1000000.0, scaling=yarn(4.0, 32), context=128,
         prompt=40),
    Case("qwen3-linear", "qwen3", 4, 4, 32, 96, 160, 128, eps=1e-6, scaling=linear(4.0)),
    Case("qwen3-one-key-head", "qwen3", 5, 1, 64, 160, 224, 160, eps=1e-6, tied=False),
    Case("qwen3-heads-of-96", "qwen3", 2, 2, 96, 128, 128, 128, eps=1e-6, base=500000.0, prompt=20),

    # gemma3: halves, norms of heads and after both parts, GELU, scaled embeddings;
    # windowed layers turn by a base of their own and without scaling.
    Case("gemma3-small", "gemma3", 2, 1, 32, 64, 128, 128, layers=3, eps=1e-6, base=1000000.0, window=8, pattern=3,
         extra=[("attention.sliding_window_pattern", "u32", 3)]),
    Case("gemma3-heads-of-256", "gemma3", 2, 1, 256, 128, 256, 160, eps=1e-6, base=1000000.0, window=12, pattern=2,
         extra=[("attention.sliding_window_pattern", "bools", [True, False])]),
    Case("gemma3-pattern-of-six", "gemma3", 2, 2, 32, 64, 96, 128, layers=7, eps=1e-6, base=1000000.0, window=8,
         pattern=6),
    Case("gemma3-blocks-of-256", "gemma3", 4, 2, 64, 256, 512, 288, eps=1e-6, base=1000000.0, window=16, pattern=2,
         prompt=33, extra=[("attention.sliding_window_pattern", "u32", 2)]),
    Case("gemma3-linear", "gemma3", 2, 1, 64, 128, 192, 128, layers=4, eps=1e-6, base=1000000.0, window=10, pattern=2,
         scaling=linear(8.0), extra=[("attention.sliding_window_pattern", "u32", 2)]),
    Case("gemma3-no-window", "gemma3", 4, 4, 32, 96, 160, 128, eps=1e-6, base=1000000.0, pattern=1),
    Case("gemma3-own-output", "gemma3", 2, 1, 96, 160, 192, 128, layers=3, tied=False, eps=1e-6, base=500000.0,
         window=6, pattern=3, extra=[("attention.sliding_window_pattern", "bools", [True, True, False])]),
    Case("gemma3-all-windowed", "gemma3", 3, 1, 128, 144, 128, 96, eps=1e-6, base=1000000.0, window=4, pattern=6,
         prompt=20),

    # phi3: queries, keys and values in one matrix, gate and up in another; halves.
    # llama.cpp ignores the window that the file states (its pull request 13676); here
    # it is none, or longer than what is run.
    Case("phi3-small", "phi3", 2, 2, 32, 64, 128, 128, original=2048),
    Case("phi3-heads-of-96", "phi3", 2, 2, 96, 192, 256, 160, original=2048, window=2047, tied=False),
    Case("phi3-blocks-of-256", "phi3", 4, 2, 64, 256, 512, 288, tied=False, original=2048, prompt=33),
    Case("phi3-part-of-a-head", "phi3", 4, 2, 32, 128, 192, 128, layers=3, original=2048, rotary=0.75),
    # Which factors count is decided by the positions of the prompt in transformers,
    # and by those of the context in llama.cpp; both stay on one side here.
    Case("phi3-longrope-short", "phi3", 2, 1, 64, 128, 256, 128, original=256, context=1024, tied=False,
         scaling={"type": "longrope", **longrope(32)}),
    Case("phi3-longrope-long", "phi3", 2, 2, 64, 128, 256, 128, original=16, context=1024, tied=False,
         scaling={"type": "longrope", **longrope(32)}, prompt=40),
    Case("phi3-longrope-part", "phi3", 3, 1, 64, 192, 128, 128, original=16, context=512, base=250000.0, rotary=0.75,
         scaling={"type": "longrope", **longrope(24)}),
    Case("phi3-wide-heads", "phi3", 2, 1, 128, 256, 192, 96, original=2048, base=250000.0, tied=False),

    # mistral3: llama, with a share of YaRN's scale and queries that are scaled by
    # position, from original on. The converter wants transformers 5 for it.
    Case("mistral3-small", "mistral3", 2, 1, 32, 96, 128, 128, tied=False, base=1000000.0, converted=False),
    Case("mistral3-yarn", "mistral3", 4, 2, 32, 96, 160, 128, tied=False, base=1000000.0,
         scaling={**yarn(16.0, 64), "mscale": 1.0, "mscale_all_dim": 1.0}, context=1024, prompt=40, converted=False,
         extra=[("rope.scaling.yarn_log_multiplier", "f32", 1.0), ("attention.temperature_scale", "f32", 0.1)]),
    Case("mistral3-yarn-share", "mistral3", 2, 2, 64, 128, 160, 128, base=1000000.0,
         scaling={**yarn(8.0, 32), "mscale": 1.0, "mscale_all_dim": 0.5, "beta_fast": 4.0, "beta_slow": 1.5}, context=256, prompt=40,
         converted=False, extra=[("rope.scaling.yarn_log_multiplier", "f32", 0.5), ("rope.scaling.yarn_beta_fast", "f32", 4.0),
                                 ("rope.scaling.yarn_beta_slow", "f32", 1.5)]),

    # smollm3: llama, but every fourth layer does not turn its heads.
    Case("smollm3-small", "smollm3", 2, 1, 32, 64, 128, 128, layers=4, eps=1e-6),
    Case("smollm3-nine-layers", "smollm3", 4, 2, 32, 128, 160, 160, layers=9, eps=1e-6, base=2000000.0, tied=False),
    Case("smollm3-yarn", "smollm3", 3, 3, 64, 192, 192, 128, layers=5, eps=1e-6, base=1000000.0, scaling=yarn(2.0, 64), context=128,
         prompt=40),
]
