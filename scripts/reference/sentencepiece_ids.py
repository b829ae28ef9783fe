#!/usr/bin/env python3
"""Answer with SentencePiece what engine/tokenizer is tested against.

    python3 -m venv VENV && VENV/bin/pip install sentencepiece==0.2.3 gguf==0.19.0 protobuf==7.36.2
    PATH=VENV/bin:$PATH go test ./engine/tokenizer -run TestSentencePiece -update-spm -also-spm gemma-3-270m-q4_k_m.gguf

The test calls it:

  train DIR             trains the vocabularies of VOCABULARIES on the texts, a JSON
                        string a line, and writes them to DIR as GGUF files without
                        tensors.
  answer FILE.gguf      makes SentencePiece's model of the file's vocabulary, and
                        writes of each text a line: {"ids": [...], "text": "..."},
                        the ids and what they decode to.

SentencePiece's own trainer draws nothing: the same texts give the same files.
"""
import io
import json
import sys

import gguf
import sentencepiece as spm
from sentencepiece import sentencepiece_model_pb2 as pb

PIECE = pb.ModelProto.SentencePiece
SPACE = "\u2581"

# What is trained, beside what all have: no normalization but the spaces.
VOCABULARIES = {
    # As Llama 2: a space before the text, bytes for what has no piece.
    "prefix": dict(vocab_size=1500, byte_fallback=True, add_dummy_prefix=True,
                   user_defined_symbols=["<ud>", SPACE * 2, SPACE * 4, "\n\n", "the", "'s"]),
    # As Gemma: no such space, pieces across spaces. Every seventh piece is of type
    # unused afterwards, so it is merged and taken apart again.
    "plain": dict(vocab_size=1500, byte_fallback=True, add_dummy_prefix=False,
                  split_by_whitespace=False, user_defined_symbols=["\n", "\n\n", "\t\t", SPACE * 3, "<b>"]),
    # Nothing for what has no piece but the unknown token, single spaces, and scores of
    # which several are equal.
    "unknown": dict(vocab_size=900, byte_fallback=False, add_dummy_prefix=True,
                    remove_extra_whitespaces=True,
                    user_defined_symbols=["<ud>", "ing"]),
}


def texts():
    return [json.loads(line) for line in sys.stdin]


def train(folder):
    # The trainer wants a piece for nearly all characters that it sees.
    sentences = [s for s in texts() if s and max(s) < "\u0180"]
    for name, options in VOCABULARIES.items():
        options = {"remove_extra_whitespaces": False, **options}
        out = io.BytesIO()
        spm.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences), model_writer=out, model_type="bpe",
            normalization_rule_name="identity", max_sentence_length=1 << 20,
            num_threads=1, minloglevel=2, **options)
        model = pb.ModelProto.FromString(out.getvalue())
        normal = 0
        for piece in model.pieces:
            if piece.type != PIECE.NORMAL:
                continue
            normal += 1
            if name == "plain" and normal % 7 == 0:
                piece.type = PIECE.UNUSED
            if name == "unknown":
                piece.score = float(int(piece.score) // 5)
        write(model, f"{folder}/{name}.gguf")


def write(model, path):
    w = gguf.GGUFWriter(path, "llama")
    w.add_tokenizer_model("llama")
    w.add_token_list([p.piece.encode() for p in model.pieces])
    w.add_token_scores([p.score for p in model.pieces])
    w.add_token_types([int(p.type) for p in model.pieces])
    w.add_add_space_prefix(model.normalizer_spec.add_dummy_prefix)
    if model.normalizer_spec.remove_extra_whitespaces:
        w.add_remove_extra_whitespaces(True)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def processor(path):
    fields = gguf.GGUFReader(path).fields

    def value(key, default=None):
        field = fields.get("tokenizer.ggml." + key)
        return default if field is None else field.contents()

    types = value("token_type")
    unknown = value("unknown_token_id")
    if unknown is None:
        unknown = types.index(PIECE.UNKNOWN)
    model = pb.ModelProto()
    for i, (text, score) in enumerate(zip(value("tokens"), value("scores"))):
        typ = types[i]
        if i == unknown:
            typ = PIECE.UNKNOWN
        elif typ == PIECE.UNKNOWN:
            typ = PIECE.CONTROL  # SentencePiece takes one unknown piece only
        if typ == PIECE.USER_DEFINED:
            text = text.replace(" ", SPACE)
        model.pieces.add(piece=text, score=score, type=typ)
    model.trainer_spec.model_type = pb.TrainerSpec.BPE
    model.trainer_spec.byte_fallback = types.count(PIECE.BYTE) == 256
    for i, piece in enumerate(model.pieces):
        if piece.type == PIECE.UNKNOWN:
            model.trainer_spec.unk_piece = piece.piece
            model.trainer_spec.unk_id = i
    n = model.normalizer_spec
    n.name, n.escape_whitespaces = "identity", True
    n.add_dummy_prefix = value("add_space_prefix", True)
    n.remove_extra_whitespaces = value("remove_extra_whitespaces", False)
    return spm.SentencePieceProcessor(model_proto=model.SerializeToString())


def answer(path):
    sp = processor(path)
    for text in texts():
        ids = sp.encode(text)
        print(json.dumps({"ids": ids, "text": sp.decode(ids)}))


if __name__ == "__main__":
    {"train": train, "answer": answer}[sys.argv[1]](sys.argv[2])
