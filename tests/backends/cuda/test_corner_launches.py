"""Kernels at the corners of the lowering, in the evaluator of Tile IR: each of them was wrong once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_programs import MULTIPROCESSORS, Lowered, assert_simulated, lowered, simulated
from samples.launch import Made
from tileproof import In, InOut, Out, Sum, Unique, f32, i32, i64
from tileproof.backends.cuda.codegen import layout_specialization as facts
from tileproof.backends.cuda.codegen.layout_specialization import layout_of, steps_of
from tileproof.backends.cuda.device import loaded_code as running


def floats(*shape: int) -> Any:
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


# Parts of a tensor that was cut.


@tp.kernel
def read_behind_the_cut(cache: InOut[f32, "C"], at: i32, y: Out[f32, "N"], z: Out[f32, "N"]) -> None:
    tp.require(at >= 0)
    tp.require(at <= tp.dim("C"))
    _, fresh = tp.split_at(cache, "C", at)
    for n in tp.parallel(N=4):
        y[n] = fresh.get(n, -1.0)
        for m in tp.tiles(N=tp.each, start=n.start, stop=n.stop):
            z[m] = fresh.get(m - 2, -1.0)


@pytest.mark.parametrize("at", [0, 1, 5, 16])
def test_what_get_finds_outside_is_counted_from_the_cut(at: int) -> None:
    """Before the cut is what other programs read, and behind the end nothing."""

    def make() -> Made:
        return read_behind_the_cut, [floats(16), at, np.zeros(14, np.float32), np.zeros(14, np.float32)], {}

    assert assert_simulated(make) == []


@tp.kernel
def append_some(cache: InOut[f32, "C"], at: i32, rows: In[Unique["N"], "N"], x: In[f32, "N"]) -> None:
    tp.require(at >= 0)
    tp.require(at + tp.dim("N") <= tp.dim("C"))
    _, fresh = tp.split_at(cache, "C", at)
    for n in tp.parallel(N=tp.each):
        fresh[rows[n]] = x[n]


def test_none_behind_a_cut_is_not_the_element_before_it() -> None:
    def make() -> Made:
        return append_some, [floats(16), 5, np.array([3, -1, 1, 2, -1], np.int32), floats(5) + 100], {}

    assert assert_simulated(make) == []


@tp.kernel
def write_and_cut(cache: InOut[f32, "C"], at: i32, y: Out[f32, "C"]) -> None:
    tp.require(at >= 0)
    tp.require(at <= tp.dim("C"))
    for c in tp.tiles(C=4):
        cache[c] = cache[c] + 1
    past, _ = tp.split_at(cache, "C", at)
    for c in tp.tiles(C=4):
        y[c] = past.get(c, 0.0)


def test_a_program_that_is_alone_reads_what_it_wrote_before_the_cut() -> None:
    def make() -> Made:
        return write_and_cut, [floats(16), 5, np.zeros(16, np.float32)], {}

    assert assert_simulated(make) == []


@tp.kernel
def read_in_pieces(total: Out[f32, "1"], cache: InOut[f32, "C"], at: i32, x: In[f32, "N"]) -> None:
    tp.require(at >= 0)
    tp.require(at + tp.dim("N") <= tp.dim("C"))
    _, fresh = tp.split_at(cache, "C", at)
    for z in tp.parallel(N=tp.split(4)):
        total[0] = tp.join((fresh[z] + x[z]).sum(), over=z)


@pytest.mark.parametrize(("at", "extent"), [(8, 0), (3, 0), (3, 5), (0, 8)])
def test_the_one_piece_of_an_empty_axis_may_begin_at_the_end_of_a_tensor(at: int, extent: int) -> None:
    def make() -> Made:
        return read_in_pieces, [np.zeros(1, np.float32), floats(8), at, floats(extent)], {}

    assert assert_simulated(make) == []


# Guarded stores.


@tp.kernel
def guarded_twice(y: InOut[f32, "N"], z: InOut[f32, "N"], x: In[f32, "C"], place: In[i32, "1"]) -> None:
    for n in tp.parallel(N=4):
        value = x[place[0]]
        here = n.elements
        y[here] = value
        z[here] = value


@pytest.mark.parametrize("place", [3, 8])
def test_two_guarded_stores_share_a_tile_of_indices(place: int) -> None:
    """Each store is a branch of its own, and what one of them makes does not exist in the other."""

    def make() -> Made:
        return guarded_twice, [floats(10), floats(10), floats(8), np.array([place], np.int32)], {}

    assert len(assert_simulated(make)) == (place == 8)


# Numbers that are almost too large.


@tp.kernel
def far_apart(y: Out[bool, "N"], a: i64, b: i64) -> None:
    for n in tp.parallel(N=4):
        y[n] = n.elements + (a + tp.dim("N")) * 2 < (tp.dim("N") * 4096 + b) * -2


@pytest.mark.parametrize("a", [-(2**61), 0, 2**61])
@pytest.mark.parametrize("b", [-(2**61), 0, 2**61])
def test_indices_are_compared_whose_distance_does_not_fit_64_bits(a: int, b: int) -> None:
    def make() -> Made:
        return far_apart, [np.zeros(5, np.bool_), a, b], {}

    assert assert_simulated(make) == []


@tp.kernel
def counted(y: Out[i64, "1"], x: In[f32, "_"]) -> None:
    y[0] = x.shape[0].to(i64)


def test_an_axis_of_one_repeated_element_may_be_longer_than_32_bits_count() -> None:
    x = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (2**33,), (0,))
    y = np.zeros(1, np.int64)
    simulated(counted, [y, x], {})
    assert y[0] == 2**33


def test_the_step_of_an_axis_of_one_element_fits_32_bits() -> None:
    shape, strides = (1, 2), (8, 4 * 2**30)
    assert max(steps_of(shape, strides, 4)) < 2**31
    assert layout_of(0, shape, strides, 4).steps == (16, 16)


@tp.kernel
def numbered(y: Out[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=tp.each):
        y[m, n] = (m * 1000 + n).to(f32)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("group", [127, 128, 2**24, 2**40])
def test_a_group_may_be_larger_than_there_are_rows(group: int) -> None:
    """2**24 rows of 256 columns would be 0 programs, counted in 32 bits."""

    def make() -> Made:
        return numbered.with_schedule(tp.Schedule(group=group)), [np.zeros((2, 256), np.float32)], {}

    assert assert_simulated(make) == []


# What follows a join.


@tp.kernel(deterministic=True)
def joined(total: Sum[f32, "1"], x: In[f32, "M N"], *, SN: int = 4) -> None:
    for m, z in tp.parallel(M=tp.each, N=tp.split(SN)):
        row = tp.join(x[m, z].sum(), over=z)
        tp.update(total, 0, row)


def blocks(result: Lowered, cluster: int = 1) -> dict[str, int]:
    """How many blocks the programs of a launch, and those after the join, have on a small GPU."""
    program = result.program
    code = running.Code(
        "k", "sm_90", b"", program.slots, program.stages, program.piece, program.shadows, program.is_persistent,
        program.is_serial, program.has_report, 1, (), 0.0, cluster=cluster,
    )  # fmt: skip
    device: Any = SimpleNamespace(sm_count=MULTIPROCESSORS)
    loaded = running.Loaded(result.variant.kernel, code, device, [])
    return {stage.grid: loaded.grid(stage, result.space, result.bound.tensors) for stage in program.stages}


def test_what_follows_a_join_is_added_in_order_where_the_sum_is_to_come_out_the_same() -> None:
    code = lowered(joined, [np.zeros(1, np.float32), floats(7, 10)])
    assert code.space.left == 7
    assert blocks(code)["programs"] == blocks(code)["left"] == 1

    def make() -> Made:
        return joined, [np.zeros(1, np.float32), floats(7, 10)], {}

    assert assert_simulated(make) == []


@tp.kernel
def row_sums(y: Out[f32, "M"], x: In[f32, "M N"], *, SN: int = 4) -> None:
    for m, z in tp.parallel(M=tp.each, N=tp.split(SN)):
        y[m] = tp.join(x[m, z].sum(), over=z)


def test_more_joins_than_a_launch_counts_are_done_by_fewer_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> Made:
        return row_sums, [np.zeros(7, np.float32), floats(7, 10)], {}

    assert blocks(lowered(*make()))["left"] == 7
    monkeypatch.setattr(facts, "MANY", 7)
    assert blocks(lowered(*make()))["left"] == MULTIPROCESSORS
    assert assert_simulated(make) == []


def test_a_persistent_schedule_holds_for_what_follows_a_join_too() -> None:
    def make() -> Made:
        kernel = row_sums.with_schedule(tp.Schedule(persistent=True))
        return kernel, [np.zeros(7, np.float32), floats(7, 10)], {}

    assert blocks(lowered(*make()))["left"] == MULTIPROCESSORS
    assert assert_simulated(make) == []


def test_a_persistent_schedule_has_as_many_programs_as_there_are_pairs_of_multiprocessors_for() -> None:
    kernel = row_sums.with_schedule(tp.Schedule(persistent=True, cluster=2))
    code = lowered(kernel, [np.zeros(7, np.float32), floats(7, 10)])
    assert (blocks(code)["programs"], blocks(code, cluster=2)["programs"]) == (3, 1)


# Whole tiles at positions that are brought inside.


@tp.kernel
def rows_before_the_cut(cache: InOut[f32, "C D"], at: i32, y: Out[f32, "N D"], *, BD: int = 8) -> None:
    tp.require(at >= 0)
    tp.require(at <= tp.dim("C"))
    past, _ = tp.split_at(cache, "C", at)
    for n, d in tp.parallel(N=tp.each, D=BD):
        y[n, d] = past.get((n + 0, d), -1.0)


@pytest.mark.parametrize("at", [0, 1, 4])
def test_nothing_is_read_of_a_part_without_elements(at: int) -> None:
    def make() -> Made:
        return rows_before_the_cut, [floats(4, 8), at, np.zeros((6, 8), np.float32)], {}

    assert assert_simulated(make) == []


@tp.kernel
def rows_behind_the_last(x: InOut[f32, "N D"], y: Out[f32, "N D"], *, BD: int = 8) -> None:
    for n, d in tp.parallel(N=tp.each, D=BD):
        y[n, d] = x.get((n + tp.dim("N"), d), -1.0)
        x[n, d] = tp.zeros((d,))


def test_what_is_outside_is_not_read_inside_where_others_write() -> None:
    def make() -> Made:
        return rows_behind_the_last, [floats(4, 8), np.zeros((4, 8), np.float32)], {}

    assert assert_simulated(make) == []


# Bits of positions.


@tp.kernel
def partners(y: InOut[f32, "N"], swapped: InOut[f32, "N"], span: i32) -> None:
    for n in tp.parallel(N=8):
        other = n.elements ^ span
        inside = (other >= 0) & (other < tp.dim("N"))
        swapped[n] = tp.where(inside, n.elements ^ 3, other).to(f32)
        y[tp.where(other < tp.dim("N"), other, tp.none)] = n.elements.to(f32)


@pytest.mark.parametrize("span", [0, 5])
def test_positions_differ_in_the_same_bits(span: int) -> None:
    def make() -> Made:
        return partners, [floats(21), floats(21), span], {}

    assert assert_simulated(make) == []
