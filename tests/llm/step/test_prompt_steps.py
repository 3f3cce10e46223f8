"""Steps of prompts with the fusions of a GPU, on any device, against the same steps one operation at a time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from oracles.reference_model import nearness
from support.engines import engine_of, poisoned
from support.model_cases import by_name
from tileproof.language.dtypes import BF16
from tileproof.llm import LLM
from tileproof.llm.engine.scheduler import ScheduledChunk
from tileproof.llm.request import Request
from tileproof.llm.sampling import SamplingParams
from tileproof.llm.step.capture import is_chained
from tileproof.llm.step.fusion import fusions_of
from tileproof.llm.step.ir import Buffer, StepClass
from tileproof.llm.step.ops import Linear, SiluMul


def last_logits(llm: LLM, tokens: tuple[int, ...], border: int) -> object:
    """The logits behind a prompt that is read in two pieces."""
    request = Request(tokens, SamplingParams())
    request.pages = llm.pool.take(request.pages_for(len(tokens)))
    for first, last in ((0, border), (border, len(tokens))):
        step, _ = llm.runner.run([ScheduledChunk(request, first, last - first)])
    return step.logits.numpy()[:1, : llm.config.tokens].copy()


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["qwen3, tied", "llama, untied"])
def test_a_prompt_in_pieces_gives_what_single_operations_do(name: str, device: str) -> None:
    case = by_name(name)
    tokens = tuple(case.tokens(171))
    plain = engine_of(case, device, max_seq_len=192, fusions=())
    wanted = last_logits(plain, tokens, 70)
    fused = poisoned(engine_of(case, device, max_seq_len=192, fusions=fusions_of("cuda:0")))
    for border in (70, 100):
        assert nearness(wanted, last_logits(fused, tokens, border)).distance < 3e-2
    names = [{op.name for step in llm.runner.steps.values() for op in step.ops} for llm in (plain, fused)]
    assert names[0].isdisjoint({"linear_silu", "prompt_attention"})
    assert names[1] >= {"linear_silu", "prompt_attention"}


@pytest.mark.parametrize(
    ("rows", "inputs", "kind", "is_fused"),
    [
        (64, 2560, "bf16", False), (128, 2560, "bf16", True), (8192, 2560, "bf16", True), (512, 2560, "int8", False),
        (128, 5120, "bf16", False), (129, 5120, "bf16", True), (256, 5120, "bf16", True), (257, 5120, "bf16", False),
        (1024, 5120, "bf16", False), (2048, 5120, "bf16", True), (8192, 5120, "bf16", True), (256, 5120, "int8", False),
    ],
)  # fmt: skip
def test_the_gate_is_made_in_its_product_where_that_was_seen_to_be_faster(
    rows: int, inputs: int, kind: str, is_fused: bool
) -> None:
    (fusion,) = (each for each in fusions_of("cuda:0") if each.pattern == (Linear, SiluMul))
    x, y, z = (Buffer((rows, 64), BF16) for _ in range(3))
    weight: Any = SimpleNamespace(kind=kind, columns=inputs)
    ops = Linear(out=y, x=x, weight=weight), SiluMul(out=z, x=y)
    assert (fusion.fuse(StepClass(4096, 1, 64, is_decode=False), *ops) is not None) is is_fused


@pytest.mark.parametrize("fusions", [(), fusions_of("cpu"), fusions_of("cuda:0")], ids=["none", "cpu", "gpu"])
def test_behind_the_last_attention_are_only_the_rows_that_logits_are_made_of(fusions: object, device: str) -> None:
    case = by_name("qwen3, tied")
    llm = engine_of(case, device, max_seq_len=192, fusions=fusions)
    last_logits(llm, tuple(case.tokens(171)), 70)
    for kind, step in llm.runner.steps.items():
        names = [op.name for op in step.ops]
        border = max(number for number, name in enumerate(names) if name.endswith("attention"))
        before, behind = step.ops[:border], step.ops[border + 1 :]
        assert kind.outputs == 1 < kind.rows
        assert {buffer.shape[0] for op in before for buffer in op.writes} == {kind.rows}
        assert {buffer.shape[0] for op in behind for buffer in op.writes} == {1}
        assert names[border + 1 : border + 3] == ["gather_rows", "gather_rows"]
        assert len(behind) > 5


def test_launches_of_few_rows_overlap_in_steps_of_few_and_behind_the_last_attention_of_others(device: str) -> None:
    case = by_name("llama, untied")
    llm = engine_of(case, device, max_seq_len=192, fusions=fusions_of("cuda:0"))
    last_logits(llm, tuple(case.tokens(171)), 140)
    many, few = sorted(llm.runner.steps, key=lambda kind: -kind.rows)
    assert few.rows <= 128 < many.rows
    assert all(is_chained(few, op) for op in llm.runner.steps[few].ops)
    ops = llm.runner.steps[many].ops
    border = next(number for number, op in enumerate(ops) if op.name == "gather_rows")
    assert [is_chained(many, op) for op in ops] == [False] * border + [True] * (len(ops) - border)


def test_all_rows_are_taken_through_all_layers_where_all_have_logits(device: str) -> None:
    case = by_name("qwen3, tied")
    llm = engine_of(case, device, max_seq_len=192)
    tokens = case.tokens(40)
    whole = llm.logits(tokens)
    assert whole.shape[0] == len(tokens)
    assert nearness(whole[-1:, : llm.config.tokens], last_logits(llm, tuple(tokens), 17)).distance < 3e-2
