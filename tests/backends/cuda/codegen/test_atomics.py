"""Sum, Max and Min on a GPU: NaN propagates, and types too narrow for atomics use a wider shadow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_programs import assert_simulated, lowered
from samples.launch import Made
from tileproof import In, Max, Min, Out, Sum, bf16, f16, f32, i8, i32, u16
from tileproof.backends.cuda.codegen.stores import shadow
from tileproof.frontend.elaborate import accepted
from tileproof.ir.types import TensorType


@tp.kernel
def extremes(top: Max[f32, "1"], low: Min[f32, "1"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        tp.update(top, 0, x[n])
        tp.update(low, 0, x[n])


@pytest.mark.parametrize("sign", [0, 1 << 31])
def test_nan_of_either_sign_wins(sign: int) -> None:
    nan = np.array([0x7FC00000 | sign], np.uint32).view(np.float32)

    def make() -> Made:
        x: Any = np.concatenate([np.array([1, -2, np.inf, -np.inf], np.float32), nan, np.array([3], np.float32)])
        return extremes, [np.zeros(1, np.float32), np.zeros(1, np.float32), x], {}

    assert assert_simulated(make) == []


@tp.kernel
def narrow(
    a: Sum[f16, "N"], b: Sum[bf16, "N"], c: Max[i8, "N"], d: Min[u16, "N"], e: Sum[f32, "N"], f: Sum[i32, "N"],
    g: Out[f16, "N"], x: In[f16, "N"],
) -> None:  # fmt: skip
    for n in tp.parallel(N=4):
        g[n] = x[n]


@tp.kernel
def kept(
    a: Sum[f16, "N", "keep"], b: Max[i8, "N", "keep"], c: Min[f32, "1", "keep"], d: Sum[i32, "N"], x: In[f16, "N"],
    y: In[i8, "N"],
) -> None:  # fmt: skip
    for n in tp.parallel(N=2):
        a[n] += x[n]
        a[n] += x[n]
        tp.update(b, n, y[n])
        tp.update(c, 0, x[n].to(f32).min())
        d[n] += 1


def test_what_keeps_starts_from_what_it_holds() -> None:
    def make() -> Made:
        x, y = np.arange(5, dtype=np.float16), np.arange(-3, 2, dtype=np.int8)
        sums, tops = np.full(10, 8, np.float16)[::2], np.full(5, -1, np.int8)
        held: list[Any] = [sums, tops, np.float32([1]), np.full(5, 9, np.int32)]
        return kept, [*held, x, y], {}

    assert assert_simulated(make) == []


@tp.kernel
def only_kept(total: Sum[f32, "N", "keep"], x: In[f32, "M N"]) -> None:
    for i, j in tp.parallel(M=2, N=4):
        total[j] += x[i, j].sum(axis=0)


def test_what_is_kept_needs_nothing_before_its_programs() -> None:
    def make() -> Made:
        return only_kept, [np.arange(5, dtype=np.float32), np.ones((3, 5), np.float32)], {}

    assert assert_simulated(make) == []
    assert [stage.grid for stage in lowered(*make()).program.stages] == ["programs"]


def test_what_is_narrower_than_32_bits_is_combined_elsewhere() -> None:
    results = {p.value.name: shadow(p.value.type) for p in accepted(narrow, {}).ir.parameters
             if isinstance(p.value.type, TensorType)}  # fmt: skip
    assert {name: dtype and dtype.name for name, dtype in results.items()} == {
        "a": "f32", "b": "f32", "c": "i32", "d": "u32", "e": None, "f": None, "g": None, "x": None,
    }  # fmt: skip
