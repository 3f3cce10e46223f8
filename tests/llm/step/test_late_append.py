"""Attention that takes the key and value of a new token from its row, and the append of all layers behind it."""

from __future__ import annotations

from unittest.mock import MagicMock

import numpy as np
import pytest

from oracles.reference_model import nearness
from support.engines import decoded_logits, engine_of, poisoned
from support.model_cases import by_name
from support.step_ops import Make, Map, Use
from tileproof.language.dtypes import BF16
from tileproof.llm import LLM
from tileproof.llm.sampling import SamplingParams
from tileproof.llm.step.buffers import Arena, lives_of, planned
from tileproof.llm.step.fusion import NEW_TOKENS, fusions_of
from tileproof.llm.step.ir import Buffer, Op, StepClass

LONG = {"max_new_tokens": 12, "ignore_eos": True}


def names_of(llm: LLM) -> list[str]:
    """Of the operations of the steps that decode one text."""
    return [
        op.name for kind, step in llm.runner.steps.items() if kind.is_decode and kind.sequences == 1 for op in step.ops
    ]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["qwen3, tied", "llama, untied"])
def test_late_appends_give_what_those_of_each_layer_do(name: str, device: str) -> None:
    case = by_name(name)
    plain = engine_of(case, device, max_seq_len=192, fusions=())
    late = poisoned(engine_of(case, device, max_seq_len=192, fusions=(*NEW_TOKENS, *fusions_of(device))))
    tokens = case.tokens(70)
    assert nearness(decoded_logits(plain, tokens), decoded_logits(late, tokens)).distance < 3e-2
    found = names_of(late)
    assert (found.count("new_token_attention"), found.count("append_layers")) == (case.config.num_hidden_layers, 1)
    assert not {"decode_attention", "append_k_v", "rotate_append"} & set(found)
    for ours, theirs in zip(late.runner.decoder.cache.keys, plain.runner.decoder.cache.keys, strict=True):
        one, other = (cache.numpy().astype(np.float32) for cache in (ours, theirs))
        is_written = ~np.isnan(one)
        assert is_written.sum() == 70 * case.config.num_key_value_heads * case.config.head_dim
        assert np.linalg.norm((one - other)[is_written]) < 3e-2 * np.linalg.norm(other[is_written])


def test_rows_of_a_batch_append_late_too(device: str) -> None:
    case = by_name("qwen3, calm")
    late = poisoned(engine_of(case, device, max_seq_len=192, max_batch=4, fusions=(*NEW_TOKENS, *fusions_of(device))))
    plain = engine_of(case, device, max_seq_len=192, max_batch=4, fusions=())
    prompts = [case.tokens(length) for length in (5, 63, 64)]
    made, wanted = (llm.generate(prompts, SamplingParams(**LONG, logprobs=1)) for llm in (late, plain))
    for one, other in zip(made, wanted, strict=True):
        assert one.tokens[:4] == other.tokens[:4]
        for mine, theirs in zip(one.logprobs[:4], other.logprobs[:4], strict=True):
            assert mine.top[0][1] == pytest.approx(theirs.top[0][1], abs=0.05)


def test_more_texts_than_were_measured_append_layer_by_layer() -> None:
    for fusion in NEW_TOKENS:
        ops = [MagicMock(spec=kind) for kind in fusion.pattern]
        found = [fusion.fuse(StepClass(rows, rows, 8, True), *ops) for rows in (1, 8, 16)]
        assert [each is not None for each in found] == [True, True, False]


def test_parts_of_a_buffer_lie_in_it_one_behind_the_other() -> None:
    whole = Buffer((3, 1, 64), BF16)
    parts = [Buffer((1, 64), BF16, whole=whole, number=number) for number in range(3)]
    other = Buffer((1, 64), BF16)
    ops: list[Op] = [Make(out=part) for part in parts]
    ops += [Map(out=other, x=parts[0]), Use(x=whole)]
    lives = {life.buffer: (life.first, life.last) for life in lives_of(ops)}
    assert lives == {whole: (0, 4), other: (3, 3)}
    tensors = Arena("cpu").tensors(planned(ops))
    for number, part in enumerate(parts):
        tensors[part].copy_from(number + 1.0)
    tensors[other].copy_from(9.0)
    assert (tensors[whole].numpy().astype(np.float32) == np.array([1, 2, 3])[:, None, None]).all()
