"""Launches of several jobs in a graph of the CPU: joins, totals and contracts are steps that need no Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Max, Out, Sum, T, f32, i32
from tileproof.backends.cpu.device.queue import STEP

CALL = 2


@tp.kernel
def joined(y: Out[f32, "M"], x: In[f32, "M N"], by: f32, *, SN: int = 8, TWICE: bool = False) -> None:
    """Sums of rows in pieces."""
    tp.require(tp.dim("N") >= 3)
    for m, z in tp.parallel(M=tp.each, N=tp.split(SN)):
        total = tp.join(x[m, z].sum(), over=z) * by
        y[m] = total * 2 if TWICE else total


@tp.kernel
def tops(top: Max[f32, "V"], count: Sum[i32, "1"], x: In[f32, "V"], *, B: int = 64) -> None:
    """What is there and 0, and how much that is."""
    for v in tp.parallel(V=B):
        tp.update(top, v, x[v])
        tp.update(top, v, 0.0)
        count[0] += 1


@tp.kernel
def least(y: Out[T, "N"], x: In[T, "N"], past: i32) -> None:
    tp.require(past >= 1)
    for n in tp.parallel(N=8):
        y[n] = x[n]


def kinds(graph: tp.Graph) -> list[int]:
    player: Any = graph._player
    return list(player.steps[::STEP])


def numbers(*shape: int) -> Any:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("columns", [3, 8, 9, 100])
def test_a_join_is_two_jobs_and_gives_the_bits_of_a_launch(columns: int) -> None:
    arguments = numbers(5, columns)
    x, y, z = tp.from_numpy(arguments), tp.empty(5), tp.empty(5)
    with tp.Graph() as graph:
        joined(y, x, 0.5)
        joined(z, x, 0.5, TWICE=True)
    assert CALL not in kinds(graph)
    for times in (1, 3):
        x[...] = arguments * times
        graph.replay()
        expected = np.empty(5, np.float32)
        joined(expected, arguments * times, 0.5)
        assert y.numpy().tobytes() == expected.tobytes()
        assert z.numpy().tobytes() == (expected * 2).tobytes()


def test_two_joins_in_one_graph_have_memory_of_their_own() -> None:
    one, other = tp.from_numpy(numbers(4, 90)), tp.from_numpy(numbers(4, 90)[::-1].copy())
    y, z = tp.empty(4), tp.empty(4)
    with tp.Graph() as graph:
        with tp.Stream():
            joined(y, one, 1.0)
        joined(z, other, 1.0)
    graph.replay()
    assert y.tolist() == z.tolist()[::-1]


def test_totals_begin_anew_at_every_replay() -> None:
    x, top, count = tp.from_numpy(numbers(40)), tp.full(40, 9), tp.full(1, 9, tp.i32)
    with tp.Graph() as graph:
        tops(top, count, x)
    assert CALL not in kinds(graph)
    for sign in (1, -1, 1):
        x[...] = sign * numbers(40)
        graph.replay()
        np.testing.assert_array_equal(top.numpy(), np.maximum(sign * numbers(40), 0))
        assert count.item() == 1


@tp.kernel
def more(total: Sum[f32, "1", "keep"], x: In[f32, "N"], *, B: int = 64) -> None:
    """Adds to what is there."""
    for n in tp.parallel(N=B):
        total[0] += x[n].sum()


def test_totals_that_are_kept_go_on_at_every_replay() -> None:
    total, x = tp.zeros(1), tp.ones(100)
    with tp.Graph() as graph:
        more(total, x)
        more(total, x)
    assert CALL not in kinds(graph)
    for times in (1, 2, 3):
        graph.replay()
        assert total.item() == 200 * times
    unwritten = tp.empty(1)
    with tp.Graph() as graph:
        more(unwritten, x)
    with pytest.raises(tp.LaunchError, match="TP0615"):
        graph.replay()


def test_totals_of_several_copies_are_added_as_in_a_launch() -> None:
    x, top, count = tp.from_numpy(numbers(400)), tp.empty(400), tp.empty(1, tp.i32)
    with tp.Graph() as graph:
        tops(top, count, x)
    graph.replay()
    np.testing.assert_array_equal(top.numpy(), np.maximum(numbers(400), 0))
    assert count.item() == 7


def test_a_contract_is_tested_when_a_launch_is_recorded_and_for_every_size_anew() -> None:
    x, y = tp.from_numpy(numbers(2, 5)), tp.empty(2)
    for columns, is_right in ((5, True), (2, False), (5, True), (2, False)):
        if is_right:
            joined(y, x[:, :columns], 1.0)
            with tp.Graph():
                joined(y, x[:, :columns], 1.0)
            continue
        with pytest.raises(tp.LaunchError, match="TP0605"):
            joined(y, x[:, :columns], 1.0)
        with pytest.raises(tp.LaunchError, match="TP0605"), tp.Graph():
            joined(y, x[:, :columns], 1.0)


def test_a_contract_of_scalars_is_tested_at_every_launch() -> None:
    x, y = tp.from_numpy(numbers(20)), tp.empty(20)
    for past in (1, 0, 1, 0):
        if past:
            least(y, x, past)
            continue
        with pytest.raises(tp.LaunchError, match="TP0605"):
            least(y, x, past)
        with pytest.raises(tp.LaunchError, match="TP0605"), tp.Graph():
            least(y, x, past)
