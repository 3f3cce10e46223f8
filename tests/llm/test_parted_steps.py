"""Steps of one row with 8-bit weights in which the row is taken apart for tensor cores, as on a GPU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from engines import decoded_logits
from reference_model import nearness

from tileproof.language.dtypes import BF16, F32
from tileproof.llm import LLM
from tileproof.llm.fusing import Fusion, fused
from tileproof.llm.model import Decoder
from tileproof.llm.ops import fusions_of
from tileproof.llm.shapes import random_model, shape
from tileproof.llm.step import Buffer, Step, StepClass

CONFIG = replace(
    shape("qwen3-0.6b"), layers=2, width=512, heads=8, groups=2, depth=64, inner=1024, vocabulary=320, tokens=320
)
TOKENS = list(range(7, 19))


def engine(device: str, fusions: tuple[Fusion, ...] | None = None) -> LLM:
    config, weights = random_model(CONFIG, device, "int8")
    return LLM.of(config, weights, device=device, max_seq_len=64, max_batch=1, fusions=fusions)


def names_of(llm: LLM) -> list[str]:
    return [op.name for kind, step in llm.runner.steps.items() if kind.is_decode for op in step.ops]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("is_fused", [False, True])
def test_a_row_taken_apart_gives_the_logits_of_the_row(
    is_fused: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Decoder, "is_parting", property(lambda self: False))
    whole = decoded_logits(engine(device, ()), TOKENS)
    monkeypatch.setattr(Decoder, "is_parting", property(lambda self: True))
    parted = engine(device, fusions_of("cuda:0") if is_fused else ())
    # On a CPU the row itself is rounded to 8 bits, which the parts are not.
    assert nearness(whole, decoded_logits(parted, TOKENS)).distance < 3e-2
    found = names_of(parted)
    made = {"norm_parts", "linear_add_norm_parts", "linear_silu_parts"}
    assert made & set(found) == (made if is_fused else set())
    assert ("norm" in found) != is_fused
    assert "parts" in found


def test_a_row_is_taken_apart_on_a_gpu_only(device: str) -> None:
    llm = engine(device)
    decoded_logits(llm, TOKENS)
    assert ("norm_parts" in names_of(llm)) == (device != "cpu")


def nothing(*_: Any) -> None:
    pass


def test_a_fused_operation_writes_what_others_read_of_those_between_and_has_scratch_of_its_own() -> None:
    step = Step(StepClass(1, 1, 8, True))
    x = step.add("begin", nothing, (1, 64), BF16)
    y = step.add("linear", nothing, (1, 64), BF16, x)
    total = step.add("add", nothing, (1, 64), BF16, x, y)
    normed = step.add("norm", nothing, (1, 64), BF16, total)
    step.add("late", nothing, (1, 64), BF16, total, normed)
    room = Buffer((2, 64), F32)
    names = "linear", "add", "norm"
    found = fused(step, [Fusion(names, "all", nothing, keeps=True, scratch=lambda ops: (room,))]).ops
    assert [op.name for op in found] == ["begin", "all", "late"]
    assert (found[1].writes, found[1].reads, found[1].scratch) == ((normed, total), (x,), (room,))
    step.add("later", nothing, (1, 64), BF16, y)
    assert [op.name for op in fused(step, [Fusion(names, "all", nothing, keeps=True)]).ops] == [
        "begin", "linear", "add", "norm", "late", "later",
    ]  # fmt: skip
