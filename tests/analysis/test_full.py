"""Tiles that are never clipped need no mask, and are known."""

from __future__ import annotations

import tileproof as tp
from tileproof import In, Out, f32
from tileproof.compiler.compile import verdict
from tileproof.ir import ops


@tp.kernel
def any_size(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 8) -> None:
    for i in tp.parallel(N=B):
        y[i] = x[i]


@tp.kernel
def required(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 8) -> None:
    tp.require(tp.dim("N") % B == 0)
    for i in tp.parallel(N=B):
        y[i] = x[i]


@tp.kernel
def static(y: Out[f32, "N D"], x: In[f32, "N D"], *, D: int, B: int = 8) -> None:
    for n in tp.parallel(N=tp.each):
        for d in tp.tiles(D=B):
            y[n, d] = x[n, d]


@tp.kernel
def stopped(y: Out[f32, "N"], x: In[f32, "N"], last: tp.i32, *, B: int = 8) -> None:
    tp.require(tp.dim("N") % B == 0)
    for i in tp.parallel(N=B):
        for s in i.tiles(4, stop=last):
            tp.print("sum", x[s].sum())
        y[i] = 0.0


def full_axes(kernel: tp.Kernel, **constants: int) -> list[tuple[str, int]]:
    found = verdict(kernel, constants)
    assert found.accepted
    accesses = (one for one in found.full if isinstance(one.op, ops.Load | ops.Store))
    return [(one.op.tensor.name, one.axis) for one in accesses]  # type: ignore[attr-defined]


def test_a_size_nothing_is_known_of_is_clipped() -> None:
    assert full_axes(any_size) == []


def test_a_contract_makes_tiles_full() -> None:
    assert full_axes(required) == [("x", 0), ("y", 0)]
    assert full_axes(required, B=128) == [("x", 0), ("y", 0)]


def test_a_static_dimension_makes_tiles_full_if_they_divide_it() -> None:
    assert full_axes(static) == []
    assert full_axes(static, D=64) == [("x", 1), ("y", 1)]
    assert full_axes(static, D=60) == []


def test_a_walk_that_stops_earlier_is_clipped() -> None:
    assert full_axes(stopped) == [("y", 0)]
