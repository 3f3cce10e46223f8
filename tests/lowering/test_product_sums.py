"""A product that is added to a value accumulates into it, if it has no other use."""

from __future__ import annotations

import pytest

import tileproof as tp
from tileproof import In, Out, f32, i32
from tileproof.compiler.pipeline import FRONT_END, apply
from tileproof.frontend.elaborate import accepted
from tileproof.ir import ops
from tileproof.ir.ops import BinaryFn
from tileproof.ir.walk import walk
from tileproof.lowering.product_sums import add_products, single_products
from tileproof.lowering.split_join import tile_sizes


@tp.kernel
def on_the_right(y: Out[f32, "M N"], x: In[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=16, N=16):
        y[i, j] = x[i, j] + a[i, :] @ b[:, j]


@tp.kernel
def on_the_left(y: Out[f32, "M N"], x: In[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=16, N=16):
        y[i, j] = a[i, :] @ b[:, j] + x[i, j]


@tp.kernel
def used_twice(y: Out[f32, "M N"], x: In[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=16, N=16):
        p = a[i, :] @ b[:, j]
        y[i, j] = (x[i, j] + p) * p


@tp.kernel
def used_in_a_loop(y: Out[f32, "M N"], x: In[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=16, N=16):
        p = a[i, :] @ b[:, j]
        total = x[i, j] + p
        for _ in range(3):
            total = total * p
        y[i, j] = total


@tp.kernel
def handed_on(y: Out[f32, "M N"], x: In[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=16, N=16):
        total, last = x[i, j], x[i, j]
        for _ in range(3):
            last = a[i, :] @ b[:, j]
            total = total + last
        y[i, j] = total * last


@tp.kernel
def begun_with_one(y: Out[f32, "M N"], x: In[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=16, N=16):
        y[i, j] = x[i, j] + tp.mma(a[i, :], b[:, j], tp.full((i, j), 1.0))


@tp.kernel
def begun_with_a_tile(y: Out[f32, "M N"], x: In[f32, "M N"], a: In[f32, "M K"], b: In[f32, "K N"], *, K: int) -> None:
    for i, j in tp.parallel(M=16, N=16):
        y[i, j] = x[i, j] + tp.mma(a[i, :], b[:, j], x[i, j])


def lowered(kernel: tp.Kernel) -> tuple[int, int]:
    """How many sums a kernel has before and after the pass, which leaves its products."""
    before = apply(FRONT_END, accepted(kernel, {}).ir)
    after = add_products(before)
    counts = []
    for ir in (before, after):
        results = list(walk(ir.body))
        assert sum(isinstance(op, ops.Mma) for op in results) == 1
        counts.append(sum(isinstance(op, ops.Binary) and op.fn is BinaryFn.ADD and op.result.type.rank == 2
                          for op in results))  # fmt: skip
    return counts[0], counts[1]


@pytest.mark.parametrize("kernel", [on_the_right, on_the_left], ids=lambda kernel: kernel.name)
def test_a_product_begins_with_what_it_is_added_to(kernel: tp.Kernel) -> None:
    assert lowered(kernel) == (1, 0)


@pytest.mark.parametrize(
    "kernel", [used_twice, used_in_a_loop, handed_on, begun_with_one, begun_with_a_tile],
    ids=lambda kernel: kernel.name,
)  # fmt: skip
def test_a_product_that_is_needed_by_itself_stays(kernel: tp.Kernel) -> None:
    assert lowered(kernel) == (1, 1)


@tp.kernel
def scaled(y: Out[f32, "N"], x: In[f32, "N"], z: In[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[n] * z[n] - z[n]


@tp.kernel
def scaled_and_squared(y: Out[f32, "N"], x: In[f32, "N"], z: In[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        p = x[n] * z[n]
        y[n] = (p - z[n]) * p


@tp.kernel
def scaled_integers(y: Out[i32, "N"], x: In[i32, "N"], z: In[i32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[n] * z[n] - z[n]


@pytest.mark.parametrize(
    ("kernel", "count"), [(scaled, 1), (scaled_and_squared, 0), (scaled_integers, 0)],
    ids=lambda value: getattr(value, "name", ""),
)  # fmt: skip
def test_only_a_float_product_of_one_use_is_rounded_with_its_sum(kernel: tp.Kernel, count: int) -> None:
    assert len(single_products(accepted(kernel, {}).ir.body)) == count


@tp.kernel
def walked(y: Out[f32, "M"], x: In[f32, "M K"], z: In[f32, "L"]) -> None:
    for i in tp.parallel(M=2):
        total = tp.zeros((i,))
        for k in tp.tiles(K=16):
            total += x[i, k].sum(axis=1)
        for e in tp.tiles(L=tp.each):
            total += z[e]
        y[i] = total


def test_the_tiles_that_a_kernel_walks_by_are_those_of_spaces_and_loops() -> None:
    assert tile_sizes(accepted(walked, {}).ir) == (("M", 2), ("K", 16))
