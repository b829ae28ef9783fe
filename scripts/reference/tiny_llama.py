"""Prints the largest logits of the small llama model that
engine/transformer/transformertest/drawn.go draws, in double precision: as it is, with
positions divided by 4, and with biases of the feed-forward. It shares no code
with the project and needs nothing but Python.

    python3 scripts/reference/tiny_llama.py
"""

import math

LAYERS, HEADS, KV_HEADS, HEAD_DIM, HIDDEN, FFN, VOCAB = 2, 4, 2, 16, 64, 96, 80
EPS, BASE = 9.999999747378752e-06, 10000.0  # as float32 holds them
IDS = [10, 20, 30, 40, 50, 60]

state = 1


def draw(n, scale, mean=0.0):
    """n numbers from mean - scale to mean + scale; float32 holds them exactly."""
    global state
    out = []
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append(mean + scale * ((state >> 40) / 2**23 - 1))
    return out


def matrix(rows, cols, scale):
    x = draw(rows * cols, scale)
    return [x[i * cols : (i + 1) * cols] for i in range(rows)]


def model():
    m = {"embedding": matrix(VOCAB, HIDDEN, 1.0), "norm": draw(HIDDEN, 0.125, 1.0), "layers": []}
    for _ in range(LAYERS):
        m["layers"].append({
            "attn_norm": draw(HIDDEN, 0.125, 1.0),
            "q": matrix(HEADS * HEAD_DIM, HIDDEN, 0.25),
            "k": matrix(KV_HEADS * HEAD_DIM, HIDDEN, 0.25),
            "v": matrix(KV_HEADS * HEAD_DIM, HIDDEN, 0.25),
            "o": matrix(HIDDEN, HEADS * HEAD_DIM, 0.25),
            "ffn_norm": draw(HIDDEN, 0.125, 1.0),
            "gate": matrix(FFN, HIDDEN, 0.25),
            "up": matrix(FFN, HIDDEN, 0.25),
            "down": matrix(HIDDEN, FFN, 0.25),
        })
    biases = [{"gate": draw(FFN, 1.0), "up": draw(FFN, 1.0), "down": draw(HIDDEN, 1.0)} for _ in range(LAYERS)]
    return m, biases


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def norm(x, w):
    s = 1 / math.sqrt(dot(x, x) / len(x) + EPS)
    return [a * s * b for a, b in zip(x, w)]


def linear(w, x, bias=None):
    return [dot(row, x) + (bias[i] if bias else 0) for i, row in enumerate(w)]


def turn(x, position):
    out = []
    for i in range(0, len(x), 2):
        angle = position * BASE ** (-(i % HEAD_DIM) / HEAD_DIM)
        c, s = math.cos(angle), math.sin(angle)
        out += [x[i] * c - x[i + 1] * s, x[i] * s + x[i + 1] * c]
    return out


def attend(q, keys, values):
    out = []
    for h in range(HEADS):
        a, b = h * HEAD_DIM, h // (HEADS // KV_HEADS) * HEAD_DIM
        scores = [dot(q[a : a + HEAD_DIM], k[b : b + HEAD_DIM]) / math.sqrt(HEAD_DIM) for k in keys]
        e = [math.exp(s - max(scores)) for s in scores]
        out += [math.fsum(p * v[b + j] for p, v in zip(e, values)) / math.fsum(e) for j in range(HEAD_DIM)]
    return out


def logits(m, divisor=1.0, biases=None):
    xs = [m["embedding"][i][:] for i in IDS]
    for n, w in enumerate(m["layers"]):
        keys, values = [], []
        for t, x in enumerate(xs):
            h = norm(x, w["attn_norm"])
            keys.append(turn(linear(w["k"], h), t / divisor))
            values.append(linear(w["v"], h))
            o = linear(w["o"], attend(turn(linear(w["q"], h), t / divisor), keys, values))
            xs[t] = [a + b for a, b in zip(x, o)]
        bias = biases[n] if biases else {}
        for t, x in enumerate(xs):
            h = norm(x, w["ffn_norm"])
            gate, up = linear(w["gate"], h, bias.get("gate")), linear(w["up"], h, bias.get("up"))
            down = linear(w["down"], [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up)], bias.get("down"))
            xs[t] = [a + b for a, b in zip(x, down)]
    return linear(m["embedding"], norm(xs[-1], m["norm"]))


def show(name, values):
    best = sorted(range(VOCAB), key=lambda i: -values[i])[:3]
    print(name + ":", ", ".join(f"{{{i}, {values[i]:.6f}}}" for i in best))


weights, ffn_biases = model()
show("plain", logits(weights))
show("positions / 4", logits(weights, divisor=4.0))
show("biases of the feed-forward", logits(weights, biases=ffn_biases))
