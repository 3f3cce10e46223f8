"""Graphs on a GPU, as a stand-in for the driver runs them: Tile IR in the evaluator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.evaluated_gpu import Gpu
from oracles.tile_ir_operations import has_assembler
from support.cuda_host import CudaGate, clean_slate
from tileproof import In, Index, InOut, Out, Sum, T, f32
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.runtime.graph import cuda_graphs
from tileproof.runtime.launch.index_kernels import (  # noqa: F401 (the kernels of a test file start anew)
    copy_index,
    copy_rows,
)
from tileproof.runtime.stream.cuda_streams import CudaStream

pytestmark = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")


@pytest.fixture(autouse=True)
def slate(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with clean_slate(monkeypatch):
        yield


@tp.kernel
def add(c: Out[T, "N"], a: In[T, "N"], b: In[T, "N"], *, BN: int = 4) -> None:
    for n in tp.parallel(N=BN):
        c[n] = a[n] + b[n]


@tp.kernel
def take(y: Out[T, "N"], x: In[T, "V"], ids: In[Index["V"], "N"], *, BN: int = 4) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[ids[n]]


@tp.kernel
def total(s: Sum[f32, "1"], x: In[f32, "N"], *, BN: int = 4) -> None:
    for n in tp.parallel(N=BN):
        s[0:1] += x[n].sum()[None]


@tp.kernel
def put(y: InOut[f32, "N"], at: In[tp.i32, "1"], x: In[f32, "1"]) -> None:
    y[at[0] + 0] = x[0]


def on_gpu(*values: float, dtype: type = np.float32) -> tp.Tensor:
    return tp.from_numpy(np.array(values, dtype), "cuda")


def test_launches_are_replayed_in_order(gpu: Gpu) -> None:
    a, b, c, d = on_gpu(1, 2, 3, 4, 5), on_gpu(1, 1, 1, 1, 1), tp.zeros(5, device="cuda"), tp.empty(5, device="cuda")
    with tp.Graph() as graph:
        add(c, a, b)
        add(d, c, b)
    assert not d.is_initialised
    graph.replay()
    assert d.tolist() == [3, 4, 5, 6, 7]
    a[...] = 10
    graph.replay()
    graph.replay()
    assert d.tolist() == [12] * 5
    assert [node.name for node in graph.describe().nodes] == ["add", "add"]


def test_contents_are_tested_on_the_gpu_at_every_replay(gpu: Gpu) -> None:
    x, ids, y = on_gpu(10, 11, 12), on_gpu(0, 2, dtype=np.int32), tp.empty(2, device="cuda")
    with tp.Graph() as graph:
        take(y, x, ids)
    graph.replay()
    assert y.tolist() == [10, 12]
    ids[...] = np.array([1, 7], np.int32)
    graph.replay()
    with pytest.raises(tp.LaunchError, match=r"`ids\[1\]` is 7, and V has 3 elements") as raised:
        y.tolist()
    assert raised.value.diagnostics[0].code is Code.CONTENTS
    ids[...] = np.array([1, 1], np.int32)
    graph.replay()
    assert y.tolist() == [11, 11]


def test_entries_with_gaps_between_them_are_tested(gpu: Gpu) -> None:
    x, y = on_gpu(10, 11, 12), tp.empty(2, device="cuda")
    ids = tp.from_numpy(np.array([[0, 9], [2, 9]], np.int32), "cuda")
    with tp.Graph() as graph:
        take(y, x, ids[:, 0])
    graph.replay()
    assert y.tolist() == [10, 12]
    tp.copy(ids, tp.from_numpy(np.array([[1, 0], [3, 0]], np.int32), "cuda"))
    graph.replay()
    with pytest.raises(tp.LaunchError, match=r"`ids\[1\]` is 3, and V has 3 elements"):
        y.tolist()


def test_checks_report_at_every_replay(gpu: Gpu) -> None:
    y, at, x = tp.zeros(3, device="cuda"), on_gpu(1, dtype=np.int32), on_gpu(5)
    with tp.Graph() as graph:
        put(y, at, x)
    graph.replay()
    assert y.tolist() == [0, 5, 0]
    at[...] = 3
    graph.replay()
    with pytest.raises(tp.TileproofError, match="3"):
        tp.current_stream("cuda").synchronize()
    y[...] = 0
    at[...] = 0
    graph.replay()
    assert y.tolist() == [5, 0, 0]


def test_sums_begin_anew_at_every_replay(gpu: Gpu) -> None:
    s, x = tp.empty(1, device="cuda"), on_gpu(1, 2, 3, 4, 5)
    with tp.Graph() as graph:
        total(s, x)
    graph.replay()
    graph.replay()
    assert s.tolist() == [15]


# What is read before the launch ahead has ended.


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """For each launch that is recorded, in order, the tensors that it may read early."""
    results: list[set[str]] = []
    part_of, early = cuda_graphs.part_of, cuda_graphs.gpu.early

    def recorded(*values: Any) -> Any:
        results.append(set())
        return part_of(*values)

    def message(proved: Any, wanted: Any, unwritten: frozenset[str], ordinal: int) -> Any:
        loaded = early(proved, wanted, unwritten, ordinal)
        results[-1] = set(unwritten) if loaded is not None else set()
        return loaded

    monkeypatch.setattr(cuda_graphs, "part_of", recorded)
    monkeypatch.setattr(cuda_graphs.gpu, "early", message)
    return results


LINE = 32
"""Numbers that caches keep together."""


def lines(count: int) -> tuple[tp.Tensor, int]:
    """A tensor of some lines, and where the first of them begins."""
    array = tp.zeros(LINE * (count + 1), device="cuda")
    return array, -array.address % (4 * LINE) // 4


def pairs(*values: tuple[float, float]) -> list[tp.Tensor]:
    """Two numbers each, every pair in a line of its own."""
    result, first = lines(len(values))
    results = [result[start : start + 2] for start in range(first, first + LINE * len(values), LINE)]
    for pair, value in zip(results, values, strict=True):
        pair[...] = np.array(value, np.float32)
    return results


chained = add.with_schedule(tp.Schedule(dependent=True))


def test_a_launch_reads_early_what_the_one_ahead_does_not_write(gpu: Gpu, frozen: list[set[str]]) -> None:
    a, b, c, d, e = pairs((1, 2), (1, 1), (0, 0), (0, 0), (0, 0))
    with tp.Graph() as graph:
        chained(c, a, b)
        chained(d, c, b)
        chained(e, c, a)
        chained(c, e, e)
        chained(d, a, b)
    assert frozen == [set(), {"b"}, {"a", "b"}, set(), {"a", "b"}]
    parts = graph._player._parts
    assert [part.behind for part in parts] == [None, parts[0], parts[1], None, parts[3]]
    graph.replay()
    graph.replay()
    assert (c.tolist(), d.tolist(), e.tolist()) == ([6, 10], [2, 3], [3, 5])


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("low", "is_read"), [(0, True), (30, True), (31, False), (32, False), (63, False), (64, True)])
def test_one_byte_in_a_line_that_the_launch_ahead_writes_is_enough(
    gpu: Gpu, frozen: list[set[str]], low: int, is_read: bool
) -> None:
    """A line has 128 bytes; the launch ahead writes two numbers in the second of them."""
    (one, y), (x, first) = pairs((1, 1), (0, 0)), lines(4)
    with tp.Graph():
        chained(x[first + 40 : first + 42], one, one)
        chained(y, x[first + low : first + low + 2], one)
    assert frozen == [set(), {"a", "b"} if is_read else {"b"}]


def test_code_that_can_read_nothing_early_is_what_it_is_elsewhere(gpu: Gpu, frozen: list[set[str]]) -> None:
    """A check is made behind the wait, and everything behind the check."""
    early = put.with_schedule(tp.Schedule(dependent=True))
    y, at, x = tp.zeros(3, device="cuda"), on_gpu(1, dtype=np.int32), on_gpu(5)
    with tp.Graph() as graph:
        early(y, at, x)
        early(y, at, x)
    assert frozen == [set(), set()]
    one, other = graph._player._parts
    assert other.behind is None
    assert one.loaded is other.loaded


def test_nothing_is_read_early_behind_a_launch_that_waits_a_copy_or_another_stream(
    gpu: Gpu, frozen: list[set[str]]
) -> None:
    a, b, c, d, e = pairs((1, 2), (1, 1), (0, 0), (0, 0), (0, 0))
    with tp.Graph():
        add(c, a, b)
        chained(d, a, b)
        tp.copy(e, a)
        chained(d, a, b)
        with tp.Stream("cuda"):
            chained(c, a, b)
    assert frozen == [set()] * 4


def test_code_that_reads_early_begins_early_only_behind_the_launch_it_was_made_for(gpu: Gpu) -> None:
    a, b, c, d = pairs((1, 2), (1, 1), (0, 0), (0, 0))
    with tp.Graph() as graph:
        chained(c, a, b)
        chained(d, c, b)
    first, second = graph._player._parts
    assert second.can_begin(first)
    assert not second.can_begin(second)
    assert not second.can_begin(None)


def test_without_an_assembler_launches_wait_as_those_that_were_compiled_elsewhere(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = cuda_graphs.gpu.running.compile_kernel

    def unless_early(request: Any, *rest: Any) -> Any:
        if request.dependent is not None and request.dependent.frozen:
            raise LaunchError(Diagnostic(Code.NO_ASSEMBLER, "there is none", help="install it"))
        return compiled(request, *rest)

    monkeypatch.setattr(cuda_graphs.gpu.running, "compile_kernel", unless_early)
    # Not the kernel of other tests, whose code is loaded.
    other = add.with_schedule(tp.Schedule(dependent=True, occupancy=3))
    a, b, c, d = pairs((1, 2), (1, 1), (0, 0), (0, 0))
    with tp.Graph() as graph:
        other(c, a, b)
        other(d, c, b)
    assert [part.behind for part in graph._player._parts] == [None, None]
    graph.replay()
    assert d.tolist() == [3, 4]


def test_streams_of_a_graph_wait_for_one_another(gpu: Gpu) -> None:
    a, b, c, d = on_gpu(1, 2), on_gpu(1, 1), tp.empty(2, device="cuda"), tp.empty(2, device="cuda")
    e, side = tp.empty(2, device="cuda"), tp.Stream("cuda")
    with tp.Graph() as graph:
        add(c, a, b)
        with side:
            add(d, a, a)
            add(e, c, d)
    assert graph.describe().edges == ((0, 2), (1, 2))
    graph.replay()
    assert e.tolist() == [4, 7]


def test_copies_within_a_gpu_are_part_of_a_graph(gpu: Gpu) -> None:
    a, b, c = on_gpu(1, 2), tp.zeros(2, device="cuda"), tp.empty(2, device="cuda")
    with tp.Graph() as graph:
        tp.copy(b, a)
        add(c, a, b)
    graph.replay()
    assert c.tolist() == [2, 4]


def test_a_graph_keeps_the_memory_of_what_was_dropped(gpu: Gpu) -> None:
    a, b = on_gpu(1, 2), on_gpu(1, 1)
    middle, c = tp.empty(2, device="cuda"), tp.empty(2, device="cuda")
    with tp.Graph() as graph:
        add(middle, a, b)
        add(c, middle, b)
    del middle, b
    others = [tp.full(2, 77, device="cuda") for _ in range(8)]
    graph.replay()
    assert c.tolist() == [3, 4]
    assert all(other.tolist() == [77, 77] for other in others)


def test_the_host_does_not_write_what_a_kernel_uses(gpu: Gpu) -> None:
    a, b, c = on_gpu(1, 2), on_gpu(1, 1), tp.empty(2, device="cuda")
    stream = tp.current_stream("cuda")
    assert isinstance(stream, CudaStream)
    with CudaGate(stream) as gate:
        add(c, a, b)
        for used in (a, c):
            with pytest.raises(tp.InFlight, match="written by the host while `add` uses it"):
                used[0] = 5
        with tp.Graph() as graph:
            add(b, a, c)
        graph.replay()
        with pytest.raises(tp.InFlight, match="a graph"):
            b[0] = 5
        gate.open()
    a.wait()
    b.wait()
    a[0] = 5
    assert (a.tolist(), c.tolist(), b.tolist()) == ([5, 2], [2, 3], [3, 5])
