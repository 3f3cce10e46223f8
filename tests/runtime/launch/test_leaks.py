"""Launches leave nothing behind, however many there are."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

import tileproof as tp
from tileproof import In, Out, T

WARM, MANY = 1_000, 5_000
"""Enough that a few bytes for each launch would be seen."""
ALLOWED = 50_000
"""Bytes: lists and dicts have room to spare."""


@tp.kernel
def add(c: Out[T, "N"], a: In[T, "N"], b: In[T, "N"], *, BN: int = 64) -> None:
    for n in tp.parallel(N=BN):
        c[n] = a[n] + b[n]


def launches(count: int, side: tp.Stream) -> None:
    a, c = tp.ones(64), tp.empty(64)
    for number in range(count):
        if number % 100 == 0:
            with side:
                add(c, a, a)
        elif number % 10 == 0:
            add(tp.empty(64), a, c)
        elif number % 77 == 0:
            add.op(c, a, a).run()
        else:
            add(c, a, a)
    tp.current_stream().synchronize()
    side.synchronize()


@pytest.mark.sweep(1)
@pytest.mark.usefixtures("still_memory")
@pytest.mark.parametrize("has_graph", [False, True])
def test_nothing_is_left_of_launches(has_graph: bool) -> None:
    side, a, c = tp.Stream(), tp.ones(64), tp.empty(64)
    with tp.Graph() as graph:
        add(c, a, a)

    def work(count: int) -> None:
        if has_graph:
            for _ in range(count):
                graph.replay()
            tp.current_stream().synchronize()
        else:
            launches(count, side)

    work(WARM)
    gc.collect()
    tracemalloc.start()
    try:
        before = tp.memory().in_use
        work(WARM)  # what is noted once for all is noted now
        gc.collect()
        start, _ = tracemalloc.get_traced_memory()
        work(MANY)
        gc.collect()
        end, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert end - start < ALLOWED
    assert tp.memory().in_use == before
