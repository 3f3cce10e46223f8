"""Graphs over memory that others rewrite or move between and during replays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tileproof as tp
from fuzz.attack_memory import Memory, Stores, launch_repeatedly, use_threads
from fuzz.attacks import attack
from support.source_files import load_file
from tileproof import In, Index, InOut, Offsets, Out, Unique, f32

kv_append = load_file(Path(__file__).resolve().parents[2] / "examples" / "kv_append.py").kv_append
each_kind = pytest.mark.parametrize("kind", ["numpy", "tensor"])
N, V, FAR = 4096, 8192, 1000
RNG = np.random.default_rng(0)
GOOD = RNG.permutation(V)[:N].astype(np.int32)
OUTSIDE = (V + RNG.integers(0, FAR, N)).astype(np.int32)
TABLE = np.arange(V, dtype=np.float32) + 1000


@tp.kernel
def gather(y: Out[f32, "N"], x: In[f32, "V"], at: In[Index["V"], "N"], *, BN: int = 64) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[at[n]]


@tp.kernel
def scatter(y: InOut[f32, "V"], x: In[f32, "N"], to: In[Unique["V"], "N"], *, BN: int = 64) -> None:
    for n in tp.parallel(N=BN):
        y[to[n]] = x[n]


@tp.kernel
def halves(at: Out[Index["V"], "N"], x: In[f32, "V"]) -> None:
    tp.require(tp.dim("N") <= tp.dim("V"))
    for n in tp.parallel(N=tp.each):
        at[n] = n // 2


@tp.kernel
def number(y: Out[f32, "N"], off: In[Offsets["N"], "E+1"]) -> None:
    for e, i in tp.parallel(tp.segments(off, N=4)):
        y[i] = e.to(f32)


@tp.kernel
def double(y: Out[f32, "N"], x: In[f32, "N"], *, BN: int = 256) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[n] + x[n]


def replaying(graph: tp.Graph) -> None:
    graph.replay()
    tp.current_stream().synchronize()


@pytest.mark.sweep(1)
@each_kind
@attack
def test_a_replay_gathers_by_entries_that_it_tested(kind: str) -> None:
    y, x, at = Memory(kind, np.zeros(N, np.float32)), Memory(kind, TABLE), Memory(kind, GOOD)
    with tp.Graph() as graph:
        gather(y.argument, x.argument, at.argument)

    def launch() -> None:
        replaying(graph)
        assert (y.get() == TABLE[GOOD]).all(), "a value that no good entry names"

    launch_repeatedly(300, Stores(at, OUTSIDE, GOOD), launch, x, y)


@pytest.mark.sweep(1)
@each_kind
@attack
def test_a_replay_scatters_by_entries_that_it_tested(kind: str) -> None:
    values = np.arange(1, N + 1, dtype=np.float32)
    y, x, to = Memory(kind, np.zeros(V, np.float32)), Memory(kind, values), Memory(kind, GOOD)
    twice = np.where(np.arange(N) % 7, GOOD, GOOD[0]).astype(np.int32)
    with tp.Graph() as graph:
        scatter(y.argument, x.argument, to.argument)

    def launch() -> None:
        y.set(0)
        replaying(graph)
        result = y.get()
        assert np.array_equal(np.sort(result[result != 0]), values), "a value was lost"

    launch_repeatedly(300, Stores(to, GOOD, OUTSIDE, GOOD[::-1], twice, hold=1e-4), launch, x, y)


@pytest.mark.sweep(1)
@each_kind
@attack
def test_what_a_launch_of_a_graph_vouches_for_may_be_rewritten(kind: str) -> None:
    y, x, at = Memory(kind, np.zeros(N, np.float32)), Memory(kind, TABLE), Memory(kind, GOOD)
    with tp.Graph() as graph:
        halves(at.argument, x.argument)
        gather(y.argument, x.argument, at.argument)

    def launch() -> None:
        replaying(graph)
        result = y.get()
        assert ((result == TABLE[np.arange(N) // 2]) | (result == TABLE[GOOD])).all(), "a value from outside"

    launch_repeatedly(300, Stores(at, OUTSIDE, GOOD), launch, x, y)


@pytest.mark.sweep(1)
@each_kind
@attack
def test_segments_of_a_replay_cover_what_they_divide(kind: str) -> None:
    one, two = (np.linspace(0, 1, 65) ** power * N for power in (1, 2))
    borders = [each.astype(np.int32) for each in (one, one + FAR // 2, two, one[::-1])]
    y, off = Memory(kind, np.zeros(N, np.float32)), Memory(kind, borders[0])
    with tp.Graph() as graph:
        number(y.argument, off.argument)

    def launch() -> None:
        y.set(-1)
        replaying(graph)
        assert (y.get() >= 0).all(), "an element of an `Out` is unwritten"

    launch_repeatedly(200, Stores(off, *borders, hold=1e-4), launch, y)


@each_kind
@attack
def test_all_programs_of_a_replay_append_at_one_position(kind: str) -> None:
    use_threads(2)  # one alone may read the position once
    before, fresh = np.zeros((2**14, 24, 1), np.float32), np.ones((2**14, 8, 1), np.float32)
    cache, new, pos = Memory(kind, before), Memory(kind, fresh), Memory(kind, np.array([3], np.int32))
    with tp.Graph() as graph:
        kv_append(cache.argument, new.argument, pos.argument)

    def launch() -> None:
        cache.set(before)
        replaying(graph)
        starts = cache.get()[:, :, 0].argmax(axis=1)
        assert starts[0] in (3, 11)
        assert (starts == starts[0]).all(), "programs of one replay used several positions"

    values = [np.array([each], np.int32) for each in (3, 11)]
    launch_repeatedly(40, Stores(pos, *values), launch, cache, new)


@pytest.mark.parametrize("size", [1, 2**24])
@attack
def test_a_replay_is_rejected_where_an_array_was_moved(size: int) -> None:
    x, y = np.ones(2**22, np.float32), np.zeros(2**22, np.float32)
    with tp.Graph() as graph:
        double(y, x)
    graph.replay()
    x.resize(size, refcheck=False)
    with pytest.raises(tp.LaunchError):
        graph.replay()


@attack
def test_a_replay_is_rejected_where_an_array_was_moved_that_it_writes() -> None:
    x, y = np.ones(2**22, np.float32), np.zeros(2**22, np.float32)
    with tp.Graph() as graph:
        double(y, x)
    graph.replay()
    y.resize(1, refcheck=False)
    with pytest.raises(tp.LaunchError):
        graph.replay()
