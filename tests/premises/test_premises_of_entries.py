"""Entries of index tensors and a position that all programs share, rewritten by others while they are used.

What a launch measured, tested and used is one copy: whatever is written meanwhile, by launches of another thread or by
stores that nobody sees, a launch uses entries that it found good, or it is rejected.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from fuzz.attack_memory import KINDS, Calls, Memory, Stores, launch_repeatedly, use_threads
from fuzz.attacks import attack
from support.source_files import load_file
from tileproof import In, Index, InOut, Offsets, Out, Unique, f32, i32

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
kv_append = load_file(EXAMPLES / "kv_append.py").kv_append
append_attention = load_file(EXAMPLES / "append_attention.py")
N, V = 4096, 8192
each_kind = pytest.mark.parametrize("kind", KINDS)
each_writer = pytest.mark.parametrize("writer", ["stores", "launches"])
ROUNDS = {"stores": 400, "launches": 200}
FAR = 1000
"""How far outside wrong entries lie at most: on the forbidden page, or among the elements that are compared."""


@tp.kernel
def write(to: Out[i32, "N"], source: In[i32, "N"], *, BN: int = 1024) -> None:
    for n in tp.parallel(N=BN):
        to[n] = source[n]


@tp.kernel
def gather(y: Out[f32, "N"], x: In[f32, "V"], at: In[Index["V"], "N"], *, BN: int = 64) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[at[n]]


@tp.kernel
def scatter(y: InOut[f32, "V"], x: In[f32, "N"], to: In[Unique["V"], "N"], *, BN: int = 64) -> None:
    for n in tp.parallel(N=BN):
        y[to[n]] = x[n]


@tp.kernel
def number(y: Out[f32, "N"], off: In[Offsets["N"], "E+1"]) -> None:
    for e, i in tp.parallel(tp.segments(off, N=4)):
        y[i] = e.to(f32)


def writing(writer: str, entries: Memory, *values: Any, hold: float = 1e-4) -> Stores | Calls:
    """Who rewrites entries: stores in a loop, or launches of a thread."""
    if writer == "stores":
        return Stores(entries, *values, hold=hold)
    sources = [Memory("numpy", value).argument for value in values]
    return Calls(*(lambda source=source: write(entries.argument, source) for source in sources))


@pytest.mark.sweep(2)
@each_kind
@each_writer
@attack
def test_a_gather_reads_what_its_entries_were_when_they_were_measured(kind: str, writer: str) -> None:
    rng = np.random.default_rng(0)
    one, two = (rng.integers(0, V, N).astype(np.int32) for _ in range(2))
    wrong = np.where(np.arange(N) % 7, one, V + rng.integers(0, FAR, N)).astype(np.int32)
    table = np.arange(V, dtype=np.float32) + 1000
    x, y, at = Memory(kind, table), Memory(kind, np.zeros(N, np.float32)), Memory(kind, one)

    def launch() -> None:
        gather(y.argument, x.argument, at.argument)
        result = y.get()
        first, second = result == table[one], result == table[two]
        assert (first | second).all(), "values that no good entry names"
        assert writer == "stores" or first.all() or second.all(), "entries of two writes in one launch"

    launch_repeatedly(ROUNDS[writer], writing(writer, at, one, wrong, two), launch, x, y)


@pytest.mark.sweep(2)
@each_kind
@each_writer
@attack
def test_a_scatter_puts_every_value_at_a_place_of_its_own(kind: str, writer: str) -> None:
    rng = np.random.default_rng(0)
    one, two = (rng.permutation(V)[:N].astype(np.int32) for _ in range(2))
    outside = np.where(np.arange(N) % 7, one, V + np.arange(N) % FAR).astype(np.int32)
    twice = np.where(np.arange(N) % 7, one, one[0]).astype(np.int32)
    values = np.arange(1, N + 1, dtype=np.float32)
    x, y, to = Memory(kind, values), Memory(kind, np.zeros(V, np.float32)), Memory(kind, one)

    def launch() -> None:
        y.set(0)
        scatter(y.argument, x.argument, to.argument)
        result = y.get()
        assert np.array_equal(np.sort(result[result != 0]), values), "a value was lost"

    launch_repeatedly(ROUNDS[writer], writing(writer, to, one, outside, two, twice), launch, x, y)


@pytest.mark.sweep(2)
@each_kind
@each_writer
@attack
def test_segments_cover_what_they_divide(kind: str, writer: str) -> None:
    one, two = (np.linspace(0, 1, 65) ** power * N for power in (1, 2))
    outside, falling = one + FAR // 2, one[::-1]
    borders = [each.astype(np.int32) for each in (one, outside, two, falling)]
    y, off = Memory(kind, np.zeros(N, np.float32)), Memory(kind, borders[0])

    def launch() -> None:
        y.set(-1)
        number(y.argument, off.argument)
        result = y.get()
        assert (result >= 0).all(), "an element of an `Out` is unwritten"
        assert (np.diff(result) >= 0).all(), "segments out of order"

    launch_repeatedly(ROUNDS[writer] // 2, writing(writer, off, *borders), launch, y)


@pytest.mark.sweep(2)
@each_kind
@each_writer
@attack
def test_all_programs_append_at_one_position(kind: str, writer: str) -> None:
    use_threads(2)  # one alone may read the position once
    G, C, D, steps = 2**14, 24, 1, 8
    cache, new = Memory(kind, np.zeros((G, C, D), np.float32)), Memory(kind, np.ones((G, steps, D), np.float32))
    pos = Memory(kind, np.array([3], np.int32))

    def launch() -> None:
        cache.set(0)
        kv_append(cache.argument, new.argument, pos.argument)
        used = cache.get()[:, :, 0].argmax(axis=1)
        assert used[0] in (3, 11)
        assert (used == used[0]).all(), "programs of one launch used several positions"

    values = [np.array([each], np.int32) for each in (3, 11)]
    launch_repeatedly(40, writing(writer, pos, *values, hold=0), launch, cache, new)


@pytest.mark.sweep(2)
@each_kind
@each_writer
@attack
def test_attention_appends_where_it_reads_up_to(kind: str, writer: str) -> None:
    use_threads(2)
    sizes = {"G": 128, "R": 1, "C": 48, "N": 8, "D": 4}
    positions = (3, 39)
    results = [append_attention.arguments(pos=position, **sizes) for position in positions]
    expected = [append_attention.reference(*args) for args, _ in results]
    (args, constants), scale = results[0], results[0][0][-1]
    o, keys, rows, q, k, v, pos = (Memory(kind, arg) for arg in args[:-1])

    def launch() -> None:
        o.set(np.nan)
        keys.set(args[1])
        rows.set(args[2])
        arguments = (each.argument for each in (o, keys, rows, q, k, v, pos))
        append_attention.append_attention(*arguments, scale, **constants)
        results = [each.get() for each in (o, keys, rows)]
        used = next(filter(lambda each: np.array_equal(results[1], each[1]), expected), None)
        assert used is not None, "programs of one launch used several positions"
        assert np.array_equal(results[2], used[2]), "programs of one launch used several positions"
        assert np.allclose(results[0], used[0], 1e-4, 1e-4), "programs of one launch used several positions"

    values = [np.array([position], np.int32) for position in positions]
    launch_repeatedly(40, writing(writer, pos, *values, hold=0), launch, o, keys, rows)
