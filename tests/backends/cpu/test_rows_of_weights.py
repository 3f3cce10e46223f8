"""Rows that pass by a vector, or by several: what is the same for all programs is made once, memory is asked for ahead,
and every element is what float64 says."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileproof as tp
from support.cpu_assembly import assembly
from tileproof import In, Offsets, Out, T, U, f32
from tileproof.backends.cpu import target
from tileproof.backends.cpu.codegen.materialization import hoisted, reused_tiles
from tileproof.backends.cpu.codegen.program import module
from tileproof.backends.cpu.device.loaded_code import Lowered
from tileproof.ir import ops
from tileproof.runtime.launch.launch import prepare

Array = np.ndarray[Any, Any]
BF16 = ml_dtypes.bfloat16


@tp.kernel
def numbered_segments(y: Out[f32, "N"], borders: In[Offsets["N"], "E+1"], x: In[f32, "2"]) -> None:
    for e, i in tp.parallel(tp.segments(borders, N=4)):
        y[i] = x[0:2].sum() + e.to(f32) * 2


@tp.kernel(deny_checks=True)
def normed_rows(y: Out[f32, "N"], w: In[T, "N K"], x: In[T, "K"], *, K: int, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        v = x[:].to(f32)
        y[n] = (w[n, :].to(f32) * (v + 1.0)).sum(axis=1) * tp.rsqrt((v * v).mean() + 1.0)


@tp.kernel(deny_checks=True)
def all_rows(y: Out[f32, "M N"], x: In[U, "M K"], w: In[T, "N K"], *, M: int, K: int, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        y[:, n] = (x[:, :].to(f32)[:, None, :] * w[n, :].to(f32)[None, :, :]).sum(axis=2)


@tp.kernel(deny_checks=True)
def swapped_rows(y: Out[f32, "N M"], x: In[U, "M K"], w: In[T, "N K"], *, M: int, K: int, BN: int = 8) -> None:
    for n in tp.parallel(N=BN):
        y[n, :] = (w[n, :].to(f32)[:, None, :] * x[:, :].to(f32)[None, :, :]).sum(axis=2)


@tp.kernel(deny_checks=True)
def in_place(y: tp.InOut[f32, "N K"], x: In[f32, "K"], *, K: int, BN: int = 2) -> None:
    for n in tp.parallel(N=BN):
        y[n, :] = y[n, :] * (x[:] + 1.0)


def numbers(rng: np.random.Generator, *shape: int, dtype: Any = BF16) -> Array:
    return rng.standard_normal(shape).astype(dtype)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("level", ["host", "avx2", "sse2"])
def test_every_element_is_right(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if level != "host" and target._missing(target.named(level), target.host()):
        pytest.skip(f"this machine has no {level}")
    monkeypatch.setenv(target.VARIABLE, level)
    rng = np.random.default_rng(0)
    sizes = [(1, 9, 1), (2, 13, 63), (3, 21, 576), (13, 30, 577), (16, 48, 64)]
    for m, n, k in sizes if level == "host" else sizes[1:4:2]:
        for dtype in (BF16, np.float32):
            x, w = numbers(rng, m, k, dtype=dtype), numbers(rng, n, k)
            wide, rows = x.astype(np.float64), w.astype(np.float64)
            y, z = np.full((m, n), np.nan, np.float32), np.full((n, m), np.nan, np.float32)
            all_rows(y, x, w)
            swapped_rows(z, x, w)
            assert np.abs(y - wide @ rows.T).max() < 1e-5 * k
            assert np.abs(z - rows @ wide.T).max() < 1e-5 * k
        vector, total = numbers(rng, k), np.full(n, np.nan, np.float32)
        normed_rows(total, w, vector)
        v = vector.astype(np.float64)
        assert np.abs(total - rows @ (v + 1) / np.sqrt((v * v).mean() + 1)).max() < 1e-5 * k


def test_a_row_does_not_depend_on_how_many_there_are() -> None:
    rng = np.random.default_rng(1)
    x, w = numbers(rng, 11, 577), numbers(rng, 29, 577)
    y, one = np.empty((11, 29), np.float32), np.empty((2, 29), np.float32)
    all_rows(y, x, w)
    for row in range(10):
        all_rows(one, x[row : row + 2], w)
        assert one.tobytes() == y[row : row + 2].tobytes()


def body_of(kernel: tp.Kernel, *args: Array) -> ops.Block:
    proved, _ = prepare(kernel, args, {})
    return next(op for op in proved.ready.body.ops if isinstance(op, ops.Parallel)).body


def test_what_follows_from_whole_tensors_is_made_once() -> None:
    w, x, y = np.zeros((8, 64), BF16), np.zeros(64, BF16), np.zeros(8, np.float32)
    same, rest = hoisted(body_of(normed_rows, y, w, x))
    assert sum(isinstance(op, ops.Reduce) for op in same.ops) == 1  # the mean
    assert sum(isinstance(op, ops.Reduce) for op in rest.ops) == 1  # the rows
    assert {op.tensor.name for op in same.ops if isinstance(op, ops.Load)} == {"x"}
    assert len(reused_tiles(same, rest, 1 << 20)) == 1  # v + 1
    assert reused_tiles(same, rest, 4) == set()


def test_what_a_kernel_writes_is_not_read_ahead_of_its_program() -> None:
    y, x = np.ones((5, 64), np.float32), np.ones(64, np.float32)
    same, _ = hoisted(body_of(in_place, y, x))
    assert {op.tensor.name for op in same.ops if isinstance(op, ops.Load)} == {"x"}
    in_place(y, x)
    assert (y == 2).all()


def test_the_number_of_a_segment_is_not_asked_for_ahead_of_its_program() -> None:
    y, x = np.zeros(5, np.float32), np.ones(2, np.float32)
    numbered_segments(y, np.array([0, 3, 3, 5]), x)
    np.testing.assert_array_equal(y, [2, 2, 2, 6, 6])


def test_rows_are_asked_for_ahead_once_for_each_line() -> None:
    w, x, y = np.zeros((64, 1024), BF16), np.zeros((8, 1024), BF16), np.zeros((8, 64), np.float32)
    proved, bound = prepare(all_rows, (y, x, w), {})
    there = target.named("avx512")
    specialization = Lowered(proved.ready).specialization(bound.tensors, bound.dimensions, there.caches.l3)
    code = assembly(module(proved.ready, specialization, there, "kernel").text, there).partition("kernel.main:")[2]
    assert 0 < code.count("prefetcht0") <= 8
