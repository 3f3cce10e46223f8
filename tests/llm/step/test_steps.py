"""Steps as data: memory that is shared only by buffers of different times, and operations that become one."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.checkpoints import tiny
from support.step_ops import KIND, A, B, C, Join, Make, Map, MapKeeping, Use, chain, names_of
from tileproof.language.dtypes import BF16, F32
from tileproof.llm import SamplingParams
from tileproof.llm.engine.async_decode import decode_steps_for
from tileproof.llm.engine.runner import Runner, query_blocks
from tileproof.llm.engine.scheduler import ScheduledChunk
from tileproof.llm.request import Request
from tileproof.llm.step import ops
from tileproof.llm.step.buffers import Arena, lives_of, planned
from tileproof.llm.step.fusion import Fusion, fused
from tileproof.llm.step.ir import Buffer, Op, Step
from tileproof.llm.step.kernels import KERNELS
from tileproof.llm.step.sampler import Penalties


def fused_names(step: Step, *table: Fusion) -> list[str]:
    return names_of(fused(step, table))


BOTH = Fusion((A, B), lambda kind, a, b: Map(out=b.out, x=a.x))
KEEPING = Fusion((A, B), lambda kind, a, b: MapKeeping(out=b.out, kept=a.out, x=a.x))
ALL = Fusion((A, B, C), lambda kind, a, b, c: Map(out=c.out, x=a.x))


def test_operations_in_a_row_become_one_that_takes_what_they_took() -> None:
    step = fused(chain(A, B, C), [BOTH])
    assert names_of(step) == ["make", "map", "c"]
    assert step.ops[1].reads == step.ops[0].writes
    assert step.ops[2].reads == step.ops[1].writes


def test_what_others_read_is_not_fused_away() -> None:
    step = chain(A, B)
    (between,), (last,) = step.ops[1].writes, step.ops[2].writes
    step.add(Use(x=between))
    assert fused_names(step, BOTH) == ["make", "a", "b", "use"]
    kept = fused(step, [KEEPING])
    assert names_of(kept) == ["make", "map_keeping", "use"]
    assert kept.ops[1].writes == (last, between)


def test_what_is_read_by_none_is_no_reason_to_write_it() -> None:
    assert fused_names(chain(A, B), KEEPING) == ["make", "a", "b"]


def test_of_several_fusions_the_first_in_the_table_is_taken() -> None:
    assert fused_names(chain(A, B, C, A, B), ALL, BOTH) == ["make", "map", "map"]
    assert fused_names(chain(A, B), Fusion((A, B), lambda *_: None)) == ["make", "a", "b"]


def test_every_operation_has_a_kernel() -> None:
    kinds = {kind for kind in vars(ops).values() if isinstance(kind, type) and issubclass(kind, Op)} - {Op}
    assert kinds == set(KERNELS)


@pytest.mark.sweep(5)
@pytest.mark.parametrize("seed", range(30))
def test_buffers_that_are_in_use_together_share_no_memory(seed: int) -> None:
    rng = np.random.default_rng(seed)
    buffers: list[Buffer] = []
    ops: list[Op] = []
    for _ in range(30):
        dtype = BF16 if rng.random() < 0.7 else F32
        made = Buffer((1, int(rng.integers(1, 2000))), dtype, bool(rng.random() < 0.1))
        if buffers:
            x, y = (buffers[at] for at in rng.integers(0, len(buffers), 2))
            ops.append(Join(out=made, x=x, y=y, room=(Buffer((7,), dtype),)))
        else:
            ops.append(Make(out=made))
        buffers.append(made)
    plan = planned(ops)
    for (one, at), (other, place) in combinations(plan.places, 2):
        if one.buffer.dtype == other.buffer.dtype and one.first <= other.last and other.first <= one.last:
            assert at + one.elements <= place or place + other.elements <= at
    assert plan.nbytes < sum(life.elements * life.buffer.dtype.bits // 8 for life in lives_of(ops))


def test_an_output_shares_its_memory_with_nothing_that_comes_later() -> None:
    step = Step(KIND)
    step.add(Make(out=Buffer((1, 64), BF16, is_output=True)))
    step.add(Make(out=Buffer((1, 64), BF16)))
    answer, more = lives_of(step.ops)
    assert (answer.first, answer.last, more.first, more.last) == (0, 2, 1, 1)
    (_, at), (_, place) = planned(step.ops).places
    assert at != place


def test_an_arena_that_grows_leaves_steps_their_memory() -> None:
    arena = Arena("cpu")
    small, large = chain(A), Step(KIND)
    large.add(Make(out=Buffer((1, 4096), BF16)))
    first = arena.tensors(planned(small.ops))
    mine = first[small.ops[0].writes[0]]
    mine.copy_from(3.0)
    arena.tensors(planned(large.ops))
    assert (mine.numpy() == 3).all()
    assert arena.nbytes == 4096 * 2


def test_buffers_in_the_same_place_are_one_tensor() -> None:
    step = chain(A, B, C, A, B, C)
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
    runner = Runner(decoder, Penalties(decoder.config, device, 1), token_budget=512, pages=100, fusions=())
    request = Request((0,) * 2048, SamplingParams())
    kinds = [
        runner.class_of([ScheduledChunk(request, at, 1)], "greedy", has_penalties=False)
        for at in (0, 255, 256, 1023, 1024)
    ]
    assert tuple(kind.pages for kind in kinds) == expected
    prompt = runner.class_of([ScheduledChunk(request, 0, 100)], "greedy", has_penalties=False)
    assert (prompt.is_decode, prompt.pages) == (False, 8)


@pytest.mark.parametrize(("count", "last"), [(4, [8, 9, 10, 11]), (5, [12, -1, -1, -1]), (1, [8, -1, -1, -1])])
def test_rows_are_named_block_by_block(count: int, last: list[int]) -> None:
    named = query_blocks(8, count, 4)
    assert named[-1].tolist() == last
    assert named[named >= 0].tolist() == list(range(8, 8 + count))


def test_a_run_makes_more_tokens_the_less_there_is_to_read() -> None:
    assert [decode_steps_for(size) for size in (0, 8_000_000_000, 65_500_000_000, 1_000_000_000_000)] == [8, 8, 2, 1]
