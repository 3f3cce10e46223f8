"""After a failed check a program stores nothing, and its loads stay inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Out, f32, i32
from tileproof.compiler.compile import verdict
from tileproof.compiler.pipeline import with_checks
from tileproof.ir import ops
from tileproof.ir.walk import walk


@tp.kernel
def beside_a_shift(y: Out[f32, "N"], x: In[f32, "N+1"], z: In[f32, "N"], pos: In[i32, "1"]) -> None:
    for i in tp.parallel(N=4):
        w = i.shift(pos[0])
        y[i] = z[w].fill(0.0) + x[pos[0] + i.start]


def test_a_load_beside_a_walker_that_is_brought_inside_may_leave() -> None:
    judged = verdict(beside_a_shift)
    assert judged.accepted
    assert not any(isinstance(one.op, ops.Load) and one.op.tensor.name == "x" for one in judged.residuals)
    ways = {type(op) for op in walk(with_checks(judged).body)
            if isinstance(op, ops.Load | ops.Get) and op.tensor.name == "x"}  # fmt: skip
    assert ways == {ops.Get}


@tp.kernel
def loaded_in_a_branch(y: Out[f32, "N"], x: In[f32, "V"], at: In[i32, "N"], flag: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        t = 0.0
        if flag[n] > 0:
            t = x[at[n]]
        else:
            t = x[at[n] + 1]
        y[n] = t


@tp.kernel
def loaded_in_turns(y: Out[f32, "N"], x: In[f32, "V"], at: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        t = 0.0
        for r in range(3):
            t += x[at[n] - r]
        y[n] = t


def failed(kernel: tp.Kernel, *args: Any) -> None:
    with tp.backend("cpu"), pytest.raises(tp.OutOfBounds):
        kernel(*args)


def sevens(count: int) -> Any:
    return np.full(count, 7, np.float32)


def ramp(count: int) -> Any:
    return np.arange(count, dtype=np.float32)


def ints(*values: int) -> Any:
    return np.array(values, np.int32)


def test_a_check_that_failed_in_a_branch_guards_what_follows_both() -> None:
    y = sevens(4)
    failed(loaded_in_a_branch, y, ramp(4), ints(1, 9, 9, 1), ints(1, 1, 0, 0))
    assert y.tolist() == [1, 7, 7, 2]


def test_a_check_that_failed_in_one_turn_guards_what_follows_the_loop() -> None:
    y = sevens(3)
    failed(loaded_in_turns, y, ramp(5), ints(4, 5, 2))
    assert y.tolist() == [9, 7, 3]


@tp.kernel
def summed(y: Out[f32, "1"], x: In[f32, "V"], at: In[i32, "N"]) -> None:
    for z in tp.parallel(N=tp.split(2)):
        total = 0.0
        for n in z.tiles(tp.each):
            total += x[at[n]]
        y[0] = tp.join(total, over=z)


@pytest.mark.parametrize("wrong", [0, 3])
def test_a_piece_that_failed_guards_what_follows_the_join(wrong: int) -> None:
    at = ints(0, 1, 2, 0)
    at[wrong] = 3
    y = sevens(1)
    failed(summed, y, ramp(3), at)
    assert y.tolist() == [7]
