"""Steps as data: memory that is shared only by buffers of different times, and operations that become one."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from checkpoints import tiny

from tileproof.language.dtypes import BF16, F32
from tileproof.llm import SamplingParams
from tileproof.llm.arena import Arena, lives_of, planned
from tileproof.llm.flight import turns_for
from tileproof.llm.fusing import Fusion, fused
from tileproof.llm.penalties import Penalties
from tileproof.llm.running import Runner, in_blocks
from tileproof.llm.schedule import Piece
from tileproof.llm.sequence import Sequence
from tileproof.llm.step import Buffer, Op, Step, StepClass

KIND = StepClass(1, 1, 8, True)


def nothing(*_: Any) -> None:
    pass


def chain(*names: str) -> Step:
    """Operations that each read what the one before makes."""
    step = Step(KIND)
    x = step.add("begin", nothing, (1, 64), BF16)
    for name in names:
        x = step.add(name, nothing, (1, 64), BF16, x, given=(name,))
    return step


def test_operations_in_a_row_become_one_that_takes_what_they_took() -> None:
    step = fused(chain("norm", "linear", "add"), [Fusion(("norm", "linear"), "both", nothing)])
    assert [op.name for op in step.ops] == ["begin", "both", "add"]
    assert step.ops[1].given == ("norm", "linear")
    assert step.ops[1].reads == step.ops[0].writes
    assert step.ops[2].reads == step.ops[1].writes


def test_what_others_read_is_not_fused_away() -> None:
    step = chain("norm", "linear")
    between = step.ops[1].writes[0]
    step.add("late", nothing, (1, 64), BF16, between)
    assert [op.name for op in fused(step, [Fusion(("norm", "linear"), "both", nothing)]).ops] == [
        "begin", "norm", "linear", "late",
    ]  # fmt: skip
    kept = fused(step, [Fusion(("norm", "linear"), "both", nothing, keeps=True)])
    assert [op.name for op in kept.ops] == ["begin", "both", "late"]
    assert kept.ops[1].writes == (*step.ops[2].writes, between)


def test_of_several_fusions_the_first_in_the_table_is_taken() -> None:
    table = [Fusion(("a", "b", "c"), "abc", nothing), Fusion(("a", "b"), "ab", nothing)]
    assert [op.name for op in fused(chain("a", "b", "c", "a", "b"), table).ops] == ["begin", "abc", "ab"]
    assert [op.name for op in fused(chain("a", "b"), [Fusion(("a", "b"), "ab", nothing, lambda *_: False)]).ops] == [
        "begin", "a", "b",
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_buffers_that_are_in_use_together_share_no_memory(seed: int) -> None:
    rng = np.random.default_rng(seed)
    buffers: list[Buffer] = []
    ops = []
    for _ in range(30):
        reads = [buffers[at] for at in rng.integers(0, len(buffers), 2)] if buffers else []
        dtype = BF16 if rng.random() < 0.7 else F32
        made = Buffer((1, int(rng.integers(1, 2000))), dtype, bool(rng.random() < 0.1))
        ops.append(Op("any", nothing, (made,), tuple(reads), (), (Buffer((7,), dtype),)))
        buffers.append(made)
    plan = planned(ops)
    for (one, at), (other, place) in combinations(plan.places, 2):
        if one.buffer.dtype == other.buffer.dtype and one.first <= other.last and other.first <= one.last:
            assert at + one.elements <= place or place + other.elements <= at
    assert plan.nbytes < sum(life.elements * life.buffer.dtype.bits // 8 for life in lives_of(ops))


def test_an_output_shares_its_memory_with_nothing_that_comes_later() -> None:
    step = Step(KIND)
    step.add("answer", nothing, (1, 64), BF16, is_output=True)
    step.add("more", nothing, (1, 64), BF16)
    answer, more = lives_of(step.ops)
    assert (answer.first, answer.last, more.first, more.last) == (0, 2, 1, 1)
    (_, at), (_, place) = planned(step.ops).places
    assert at != place


def test_an_arena_that_grows_leaves_steps_their_memory() -> None:
    arena = Arena("cpu")
    small, large = chain("a"), Step(KIND)
    large.add("begin", nothing, (1, 4096), BF16)
    first = arena.tensors(planned(small.ops))
    mine = first[id(small.ops[0].writes[0])]
    mine.copy_from(3.0)
    arena.tensors(planned(large.ops))
    assert (mine.numpy() == 3).all()
    assert arena.nbytes == 4096 * 2


def test_buffers_in_the_same_place_are_one_tensor() -> None:
    step = chain(*"abcdef")
    found = Arena("cpu").tensors(planned(step.ops))
    assert len({id(tensor) for tensor in found.values()}) < len(found)
    for one, other in combinations({id(each): each for each in found.values()}.values(), 2):
        assert (one.address, one.key) != (other.address, other.key)


def test_a_tiny_config_counts_its_parameters() -> None:
    config = tiny("qwen3")
    layer = 64 * 8 * 32 + 4 * 32 * 64 + 3 * 64 * 192 + 2 * 64 + 2 * 32
    assert config.parameters == 2 * layer + 320 * 64 + 64


@pytest.mark.parametrize(("device", "expected"), [("cpu", (8, 8, 8, 32, 32)), ("cuda:0", (4, 4, 8, 16, 32))])
def test_tables_of_steps_that_make_tokens_are_as_short_as_their_device_likes(
    device: str, expected: tuple[int, ...]
) -> None:
    decoder: Any = SimpleNamespace(device=device, config=tiny())
    runner = Runner(decoder, Penalties(decoder.config, device, 1), budget=512, pages=100, fusions=())
    sequence = Sequence((0,) * 2048, SamplingParams())
    made = [runner.kind_of([Piece(sequence, at, 1)], "greedy", False).pages for at in (0, 255, 256, 1023, 1024)]
    assert tuple(made) == expected
    prompt = runner.kind_of([Piece(sequence, 0, 100)], "greedy", False)
    assert (prompt.is_decode, prompt.pages) == (False, 8)


@pytest.mark.parametrize(("count", "last"), [(4, [8, 9, 10, 11]), (5, [12, -1, -1, -1]), (1, [8, -1, -1, -1])])
def test_rows_are_named_block_by_block(count: int, last: list[int]) -> None:
    named = in_blocks(8, count, 4)
    assert named[-1].tolist() == last
    assert named[named >= 0].tolist() == list(range(8, 8 + count))


def test_a_run_makes_more_tokens_the_less_there_is_to_read() -> None:
    assert [turns_for(size) for size in (0, 8_000_000_000, 65_500_000_000, 1_000_000_000_000)] == [8, 8, 2, 1]
