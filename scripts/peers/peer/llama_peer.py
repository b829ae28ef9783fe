#!/usr/bin/env python3
"""One peer of introgen: greedy generation with llama.cpp on the CPU.

It drives llama.cpp through the C interface that PyPI's llama-cpp-python
carries, and prints the lines that `introgen cpu` prints, so that one parser
reads both. What is timed is llama.cpp alone: batches are built before the
clock starts, logits stay where llama.cpp put them, and the greedy choice is
numpy's argmax over that memory (some 15 µs a step). Run it with the Python
and the PYTHONPATH that build.py made.
"""
import argparse
import ctypes
import json
import pathlib
import time

import numpy
from llama_cpp import llama_cpp as ll

# "<|im_start|>user\nWhat is Rust?<|im_end|>\n<|im_start|>assistant\n"
DEFAULT_IDS = [1, 4093, 198, 1780, 314, 36828, 47, 2, 198, 1, 520, 9531, 198]
FLASH = {"auto": -1, "off": 0, "on": 1}  # enum llama_flash_attn_type
LOAD = {"none": 0, "mmap": 1}  # enum llama_load_mode
MAX_THREADS = 512  # GGML_MAX_N_THREADS


class ThreadPoolParams(ctypes.Structure):
    """struct ggml_threadpool_params of ggml.h."""

    _fields_ = [
        ("cpumask", ctypes.c_bool * MAX_THREADS),
        ("n_threads", ctypes.c_int),
        ("prio", ctypes.c_int),
        ("poll", ctypes.c_uint32),
        ("strict_cpu", ctypes.c_bool),
        ("paused", ctypes.c_bool),
    ]


def thread_pool(threads, poll):
    """Makes a pool of ggml's own threads, as llama.cpp's tools do.

    Without one, a build without OpenMP starts new threads for every graph.
    """
    lib = pathlib.Path(ll.__file__).parent / "lib"
    base = ctypes.CDLL(next(map(str, lib.glob("libggml-base.*"))))
    cpu = ctypes.CDLL(next(map(str, lib.glob("libggml-cpu.*"))))
    params = ThreadPoolParams()
    base.ggml_threadpool_params_init.argtypes = [ctypes.c_void_p, ctypes.c_int]
    base.ggml_threadpool_params_init.restype = None
    base.ggml_threadpool_params_init(ctypes.byref(params), threads)
    if params.n_threads != threads:
        raise SystemExit("llama_peer: ggml_threadpool_params has another layout in this build")
    params.poll = poll
    cpu.ggml_threadpool_new.argtypes = [ctypes.c_void_p]
    cpu.ggml_threadpool_new.restype = ctypes.c_void_p
    return cpu.ggml_threadpool_new(ctypes.byref(params))


def attach(ctx, pool):
    """llama_attach_threadpool, which the Python package leaves out."""
    call = ll._lib.llama_attach_threadpool
    call.argtypes = [ctypes.c_void_p] * 3
    call.restype = None
    call(ctx, pool, pool)


def batch_of(ids, first):
    """A batch of one sequence whose first token stands at position `first`;
    only the last token's logits are asked for."""
    batch = ll.llama_batch_init(len(ids), 0, 1)
    batch.n_tokens = len(ids)
    for i, token in enumerate(ids):
        batch.token[i] = token
        batch.pos[i] = first + i
        batch.n_seq_id[i] = 1
        batch.seq_id[i][0] = 0
        batch.logits[i] = i == len(ids) - 1
    return batch


class Session:
    """A loaded model with its context. `load_ms` is what making it took."""

    def __init__(self, args, pool):
        mp = ll.llama_model_default_params()
        mp.use_extra_bufts = args.repack == "on"
        mp.load_mode = LOAD[args.load]
        cp = ll.llama_context_default_params()
        cp.n_ctx = args.context
        cp.n_ubatch = args.ubatch
        cp.n_batch = max(args.ubatch, len(args.ids))  # llama.cpp divides it
        cp.n_threads = cp.n_threads_batch = args.threads
        cp.flash_attn_type = FLASH[args.flash_attn]
        cp.no_perf = True
        start = time.perf_counter()
        self.model = ll.llama_model_load_from_file(args.model.encode(), mp)
        if not self.model:
            raise SystemExit(f"llama_peer: llama.cpp cannot load {args.model}")
        self.ctx = ll.llama_init_from_model(self.model, cp)
        if not self.ctx:
            raise SystemExit("llama_peer: llama.cpp cannot make a context")
        self.load_ms = (time.perf_counter() - start) * 1e3
        if pool:
            attach(self.ctx, pool)
        self.vocab = ll.llama_model_get_vocab(self.model)
        self.size = ll.llama_vocab_n_tokens(self.vocab)

    def step(self, batch):
        """One forward pass; returns the greedy id and the milliseconds."""
        start = time.perf_counter()
        if ll.llama_decode(self.ctx, batch) != 0:
            raise SystemExit("llama_peer: llama_decode failed")
        logits = numpy.ctypeslib.as_array(ll.llama_get_logits(self.ctx), (self.size,))
        best = int(logits.argmax())
        return best, (time.perf_counter() - start) * 1e3

    def warm_up(self, ids):
        """An untimed pass, as llama.cpp's own tools make before they measure; of
        a long prompt, what is passed at once of it."""
        batch = batch_of(ids, 0)
        self.step(batch)
        ll.llama_batch_free(batch)
        ll.llama_memory_clear(ll.llama_get_memory(self.ctx), True)

    def text(self, ids):
        out = b""
        for token in ids:
            buf = ctypes.create_string_buffer(256)
            n = ll.llama_token_to_piece(self.vocab, token, buf, len(buf), 0, True)
            out += buf.raw[: max(n, 0)]
        return out.decode("utf-8", "replace")

    def close(self):
        ll.llama_free(self.ctx)
        ll.llama_model_free(self.model)


def generate(args, pool):
    """One round: load, prefill, decode. Returns (load ms, step ms, new ids, text)."""
    session = Session(args, pool)
    if args.warmup == "on":
        session.warm_up(args.ids[: args.ubatch])
    ids, times, new = args.ids, [], []
    position = 0
    for _ in range(args.steps + 1):
        batch = batch_of(ids, position)
        best, ms = session.step(batch)
        ll.llama_batch_free(batch)
        position += len(ids)
        times.append(ms)
        new.append(best)
        ids = [best]
    text = session.text(new)
    session.close()
    return session.load_ms, times, new, text


def parse_args(argv=None):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--model", required=True)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--ids", type=lambda s: [int(x) for x in s.replace(",", " ").split()], default=DEFAULT_IDS)
    p.add_argument("--repack", choices=["on", "off"], default="on")
    p.add_argument("--flash-attn", choices=sorted(FLASH), default="auto")
    p.add_argument("--load", choices=sorted(LOAD), default="mmap")
    p.add_argument("--warmup", choices=["on", "off"], default="on")
    p.add_argument("--pool", choices=["on", "off"], default="on", help="attach a pool of ggml's own threads")
    p.add_argument("--poll", type=int, default=50, help="how eagerly the pool's threads poll, 0 to 100")
    p.add_argument("--context", type=int, default=256)
    p.add_argument("--ubatch", type=int, default=64)
    p.add_argument("--verbose", action="store_true", help="let llama.cpp log to standard error")
    args = p.parse_args(argv)
    if args.rounds < 1 or args.steps < 1 or not 1 <= args.threads <= MAX_THREADS:
        p.error(f"rounds and steps are at least 1, threads 1 to {MAX_THREADS}")
    if not args.ids or args.ubatch < 1 or len(args.ids) + args.steps > args.context:
        p.error("there must be a prompt, --ubatch is at least 1, and prompt and steps must fit --context")
    return args


def main():
    args = parse_args()
    # Kept in a name that lives as long as the process: llama.cpp calls it.
    quiet = ll.llama_log_callback(lambda level, text, data: None)
    if not args.verbose:
        ll.llama_log_set(quiet, None)
    ll.llama_backend_init()
    pool = thread_pool(args.threads, args.poll) if args.pool == "on" else None
    print(f"# llama.cpp, {pathlib.Path(args.model).name}, threads {args.threads}, repack {args.repack}, "
          f"flash-attn {args.flash_attn}, pool {args.pool}, warm-up {args.warmup}")
    print(f"# {ll.llama_print_system_info().decode().strip()}")
    for number in range(1, args.rounds + 1):
        load, times, ids, text = generate(args, pool)
        head = f"[cpu round {number}]"
        decode = sum(times[1:])
        print(f"{head} load {load:.1f} ms, prefill ({len(args.ids)} tokens) {times[0]:.1f} ms, "
              f"{args.steps} decode steps {decode:.1f} ms (mean {decode / args.steps:.1f} ms), "
              f"total {times[0] + decode:.1f} ms")
        print(f"{head} decode steps (ms): " + " ".join(f"{t:.1f}" for t in times[1:]))
        if number == 1:
            print(f"{head} text: {json.dumps(text, ensure_ascii=False)}")
            print(f"{head} ids: " + " ".join(map(str, ids)))


if __name__ == "__main__":
    main()
