"""The engine against llama.cpp on the same GGUF file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oracles.llama_peer import LlamaCpp, log_softmax
from oracles.reference_model import margins
from support.checkpoints import write_gguf
from support.model_cases import by_name
from tileproof.llm import LLM

pytest.importorskip("xllamacpp")


@pytest.mark.parametrize("name", ["qwen3, calm", "llama, calm"])
def test_a_file_gives_the_logprobs_and_choices_of_llama_cpp(name: str, device: str, tmp_path: Path) -> None:
    case = by_name(name)
    path = write_gguf(tmp_path / "model.gguf", case.config, case.weights, "BF16")
    llm, peer = LLM(path, device=device, max_seq_len=192), LlamaCpp(path)
    tokens = case.tokens(80)
    theirs = peer.logprobs(tokens, case.config.vocab_size, first=60)
    # It counts the rows of padding as tokens; we do not.
    theirs = log_softmax(theirs[:, : case.config.tokens])
    ours = log_softmax(llm.logits(tokens))[59:]
    assert np.sqrt(np.mean((ours - theirs) ** 2)) < 0.03
    sure = margins(theirs) > 0.1
    assert sure.sum() > 10
    np.testing.assert_array_equal(ours.argmax(axis=1)[sure], theirs.argmax(axis=1)[sure])
