"""Texts that tokenizers disagree on, small vocabularies in GGUF files, and the tokenizer of llama.cpp."""

from __future__ import annotations

import json
import random
import urllib.request
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

TEXTS: Final = (
    "", "a", " ", "  ", "\t", "\n\n\n \n  x", "   three in front", "three behind   ", "A" * 40, " " * 70,
    "Hello, world! 1234567", "The capital of France is Paris.",
    "1 12 123 1234 12345678 3.14159 1e-10 ½ Ⅷ ٣٤٥ 二〇一", "don't DON'T I'LL we've they're 'S 'x' o'clock",
    "日本語のテキスト。中文，测试！한국어 텍스트", "🙂👩‍👩‍👧‍👦🏳️‍🌈 é ñ naïve Ünïcödé", "اللغة العربية שלום हिन्दी ไทย",
    "def f(x):\n    return {'a': [1, 2, 3]}  # кириллица\n\n\n\tif x != 0: pass", "\r\n\r\n a\r\nb\r",
    "\u00a0nbsp\u2003em\u3000ideographic\u200b zero\ufeff", "$$ ^^ ~~ || <> == +++ --- ___ ``` %% ##",
    "ÀÈÌ ß ſ 's 'ſ K", "\x00\x01\x7f\x80", "가 ㄱ 나라", "https://example.org/z?q=1&r=2#h", "'''\"\"\"`´‘’“”",
)  # fmt: skip
"""Digits, runs of whitespace, scripts, accents, emoji, code, control characters; all composed (NFC)."""
SPECIALS: Final = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
UNMERGED: Final = "zqzq"
"""A token that no merges make: only splittings that keep whole words give it."""
_POOLS: Final = (
    "abcXYZ", "0123456789", " \t\n\r", "'!?.,;:$+<=>^~|`-_()[]{}", "éüßñÀ", "日本語中文", "🙂🏳️", "\u00a0\u2003\u3000",
    "½²٣", "'s't're've'm'll'd", "\u0301\u0300",
)  # fmt: skip


def random_texts(count: int, seed: int = 0) -> list[str]:
    """Short texts of characters that pre-tokenizers treat differently."""
    draw = random.Random(seed)
    return ["".join(draw.choice(draw.choice(_POOLS)) for _ in range(draw.randint(1, 40))) for _ in range(count)]


@cache
def vocabulary(size: int = 900) -> tuple[list[str], list[str]]:
    """Tokens and merges that cross words, digits and spaces: with them it shows how a text was split."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False, max_token_length=6
    )
    tokenizer.train_from_iterator([*TEXTS, *random_texts(300, 1)] * 2, trainer)
    merges = [" ".join(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]
    return [*map(tokenizer.id_to_token, range(tokenizer.get_vocab_size())), UNMERGED], merges


def write_vocabulary(path: Path, splitting: str | None, **values: Any) -> Path:
    """A GGUF file with the vocabulary, the special tokens behind it, and a model that llama.cpp can load.

    `values` go into the header under `tokenizer.ggml.`; None leaves out what is there otherwise.
    """
    import gguf

    tokens, merges = vocabulary()
    normal, width = len(tokens), 32
    header: dict[str, Any] = {
        "model": "gpt2", "pre": splitting, "tokens": [*tokens, *SPECIALS, "<think>", "[PAD]"], "merges": merges,
        "token_type": [1] * normal + [3] * len(SPECIALS) + [4, 5], "bos_token_id": normal, "eos_token_id": normal + 2,
    } | values  # fmt: skip
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(width)
    writer.add_head_count(1)
    writer.add_layer_norm_rms_eps(1e-5)
    for key, value in header.items():
        match value:
            case bool():
                writer.add_bool(f"tokenizer.ggml.{key}", value)
            case str():
                writer.add_string(f"tokenizer.ggml.{key}", value)
            case int():
                writer.add_uint32(f"tokenizer.ggml.{key}", value)
            case list():
                writer.add_array(f"tokenizer.ggml.{key}", value)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(width, np.float32))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        writer.add_tensor(f"blk.0.{name}.weight", np.ones((width, width), np.float32))
    writer.add_tensor("token_embd.weight", np.ones((len(header["tokens"] or tokens), width), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


class LlamaCppTokenizer:
    """What llama.cpp makes of a text, with the tokenizer in a GGUF file."""

    def __init__(self, path: Path) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx, params.n_parallel = 64, 1
        params.warmup, params.fit_params, params.verbosity = False, False, -1
        self._server = xllamacpp.Server(params)
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def encode(self, text: str, *, special: bool = True, start: bool = False) -> list[int]:
        """Its tokens; `special` and `start` are as for `Text.encode`."""
        asked = {"content": text, "parse_special": special, "add_special": start}
        request = urllib.request.Request(
            f"{self._server.listening_address}/tokenize",
            json.dumps(asked).encode(),
            {"Content-Type": "application/json"},
        )
        with self._opener.open(request) as answer:
            result: list[int] = json.load(answer)["tokens"]
        return result
