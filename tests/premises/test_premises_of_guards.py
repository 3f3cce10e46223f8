"""Guards, bounds and checks in a kernel whose premises others rewrite: what was tested is what is used."""

from __future__ import annotations

import numpy as np
import pytest

import tileproof as tp
from fuzz.attack_memory import Memory, Stores, launch_repeatedly
from fuzz.attacks import attack
from tileproof import In, InOut, Out, Sum, f32, i32

each_kind = pytest.mark.parametrize("kind", ["numpy", "tensor"])
# Few entries are rewritten often, and each of them is used by many programs.
M, N, V, FAR = 2048, 64, 32, 700
ROUNDS = 100
RNG = np.random.default_rng(0)
GOOD = RNG.integers(0, V, N).astype(np.int32)
OUTSIDE = (V + RNG.integers(0, FAR, N)).astype(np.int32)
TABLE = np.arange(V, dtype=np.float32) + 1000


@tp.kernel
def bounded(y: Out[f32, "M N"], x: In[f32, "V"], at: In[i32, "N"], *, BN: int = 64) -> None:
    for m, n in tp.parallel(M=tp.each, N=BN):
        y[m, n] = x.get(at[n], -1)


@tp.kernel
def histogram(y: Sum[i32, "V"], x: In[i32, "M"], at: In[i32, "N"], *, BN: int = 64) -> None:
    for m, n in tp.parallel(M=tp.each, N=BN):
        y[at[n]] += x[m]


@tp.kernel
def guarded_load(y: Out[f32, "M N"], x: In[f32, "V"], at: In[i32, "N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=tp.each):
        if (at[n] >= 0) & (at[n] < tp.dim("V")):
            y[m, n] = x[at[n]]
        else:
            y[m, n] = -1.0


@tp.kernel
def guarded_store(y: InOut[f32, "M N V"], at: In[i32, "N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=tp.each):
        if (at[n] >= 0) & (at[n] < tp.dim("V")):
            y[m, n, at[n]] = 1.0


@tp.kernel
def prefixes(y: InOut[f32, "M N V"], count: In[i32, "1"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=tp.each):
        if count[0] <= tp.dim("V"):
            for k in range(count[0]):
                y[m, n, k] = 1.0


@tp.kernel
def pieces(y: Out[f32, "M E"], x: In[f32, "N"], low: In[i32, "E"], high: In[i32, "E"]) -> None:
    for m, e in tp.parallel(M=tp.each, E=tp.each):
        total = tp.zeros((), f32)
        if (low[e] >= 0) & (high[e] <= tp.dim("N")):
            for k in range(low[e], high[e]):
                total += x[k]
        y[m, e] = total


@tp.kernel
def either(y: Out[f32, "M N"], sign: In[i32, "N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=tp.each):
        if sign[n] > 0:
            y[m, n] = 1.0
        if sign[n] <= 0:
            y[m, n] = 2.0


def zeros(kind: str, *shape: int) -> Memory:
    return Memory(kind, np.zeros(shape, np.float32))


@pytest.mark.sweep(1)
@each_kind
@attack
def test_what_get_finds_inside_is_what_it_loads(kind: str) -> None:
    y, x, at = zeros(kind, M, N), Memory(kind, TABLE), Memory(kind, GOOD)

    def launch() -> None:
        bounded(y.argument, x.argument, at.argument)
        result = y.get()
        assert ((result == TABLE[GOOD]) | (result == -1)).all(), "a value from outside"

    launch_repeatedly(ROUNDS, Stores(at, GOOD, OUTSIDE), launch, x, y)


@pytest.mark.sweep(1)
@each_kind
@attack
def test_an_update_uses_the_index_that_was_checked(kind: str) -> None:
    rows = 64
    y, at = Memory(kind, np.zeros(V, np.int32)), Memory(kind, GOOD)
    x, expected = Memory(kind, np.ones(rows, np.int32)), rows * np.bincount(GOOD, minlength=V)

    def launch() -> None:
        y.set(0)
        histogram(y.argument, x.argument, at.argument)
        assert (y.get() == expected).all(), "an update went elsewhere"

    # A check fails while entries are rewritten, and does not while they rest.
    launch_repeatedly(5 * ROUNDS, Stores(at, OUTSIDE, GOOD), launch, y)


@pytest.mark.sweep(1)
@each_kind
@attack
def test_a_guarded_load_stays_inside(kind: str) -> None:
    y, x, at = zeros(kind, M, N), Memory(kind, TABLE), Memory(kind, GOOD)

    def launch() -> None:
        guarded_load(y.argument, x.argument, at.argument)
        result = y.get()
        assert ((result == TABLE[GOOD]) | (result == -1)).all(), "a value from outside"

    launch_repeatedly(ROUNDS, Stores(at, GOOD, OUTSIDE), launch, x, y)


@pytest.mark.sweep(1)
@each_kind
@attack
def test_a_guarded_store_stays_inside(kind: str) -> None:
    good, outside = np.full(N, 3, np.int32), np.full(N, 8 + 5, np.int32)
    y, at = zeros(kind, 512, N, 8), Memory(kind, good)

    def launch() -> None:
        y.set(0)
        guarded_store(y.argument, at.argument)
        result = y.get()
        result[:, :, 3] = 0
        assert not result.any(), "an element was written by the program of another"

    launch_repeatedly(ROUNDS, Stores(at, good, outside), launch, y)


@pytest.mark.sweep(1)
@each_kind
@attack
def test_a_loop_ends_at_the_bound_that_was_compared(kind: str) -> None:
    good, outside = np.array([3], np.int32), np.array([8 + FAR], np.int32)
    y, count = zeros(kind, 512, N, 8), Memory(kind, good)

    def launch() -> None:
        y.set(0)
        prefixes(y.argument, count.argument)
        assert not y.get()[:, :, 3:].any(), "a loop went beyond its bound"

    launch_repeatedly(ROUNDS, Stores(count, good, outside), launch, y)


@pytest.mark.sweep(1)
@each_kind
@attack
def test_a_range_has_the_ends_that_were_compared(kind: str) -> None:
    low, high = np.zeros(N, np.int32), np.full(N, 4, np.int32)
    y, x = zeros(kind, M, N), Memory(kind, np.ones(V, np.float32))
    start, end = Memory(kind, low), Memory(kind, high)

    def launch() -> None:
        pieces(y.argument, x.argument, start.argument, end.argument)
        assert np.isin(y.get(), (0, 4)).all(), "a sum of what lies outside"

    launch_repeatedly(ROUNDS, Stores(end, high, np.full(N, V + FAR, np.int32)), launch, x, y)


@pytest.mark.sweep(1)
@each_kind
@attack
def test_guards_that_exclude_each_other_cover_an_out(kind: str) -> None:
    plus, minus = (np.full(N, each, np.int32) for each in (1, -1))
    y, sign = zeros(kind, M, N), Memory(kind, plus)

    def launch() -> None:
        y.set(-1)
        either(y.argument, sign.argument)
        assert np.isin(y.get(), (1, 2)).all(), "an element of an `Out` is unwritten"

    launch_repeatedly(ROUNDS, Stores(sign, plus, minus), launch, y)
