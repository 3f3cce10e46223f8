"""Whoever writes an index tensor again and again keeps nobody from launching with it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tileproof as tp
from fuzz.attack_memory import Memory
from fuzz.attacks import attack
from tileproof import In, Index, Out, f32, i32

M, N, V, LAUNCHES, WRITES = 2**10, 2**12, 1024, 20, 4_000_000


@tp.kernel
def fill(at: Out[i32, "N"], value: i32, *, BN: int = 1024) -> None:
    for n in tp.parallel(N=BN):
        at[n] = tp.full((n,), value, i32)


@tp.kernel
def gather(y: Out[f32, "N"], x: In[f32, "V"], at: In[Index["V"], "M N"]) -> None:
    for n in tp.parallel(N=1024):
        y[n] = x[at[0, n]]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("kind", ["asarray", "tensor"])
@pytest.mark.parametrize("writer", ["host", "launches"])
@attack
def test_launches_end_while_others_write_their_index_tensor(kind: str, writer: str) -> None:
    y, x, at = (Memory(kind, array) for array in
                (np.zeros(N, np.float32), np.ones(V, np.float32), np.zeros((M, N), np.int32)))  # fmt: skip
    gather(y.argument, x.argument, at.argument)
    few = at.argument[0, :16]
    fill(few, 0)
    launches = writes = 0
    is_written, is_over = threading.Event(), threading.Event()

    def launch() -> None:
        nonlocal launches
        is_written.wait()
        while launches < LAUNCHES and not is_over.is_set():
            gather(y.argument, x.argument, at.argument)
            launches += not is_over.is_set()

    thread = threading.Thread(target=launch)
    thread.start()
    for number in range(2 * WRITES):
        if writes >= WRITES or min(launches, writes) >= LAUNCHES:
            break
        try:
            if writer == "host":
                few[...] = number % V
            else:
                fill(few, number % V)
        except tp.InFlight:
            continue
        writes += 1
        is_written.set()
    is_over.set()
    thread.join()
    assert launches >= LAUNCHES, f"{launches} launches during {writes} writes"
    assert writes >= LAUNCHES, f"{writes} writes during {launches} launches"
