"""Sums of products of 8-bit integers wrap, though tensor cores stop at the limit, and so does the evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_programs import Lowered, assert_simulated, lowered, walk
from samples.limit_launches import from_zero, limits
from tileproof import In, Out, f32, i8, i32
from tileproof.backends.cuda.codegen import mma as products
from tileproof.backends.cuda.codegen import wrapping_sums as small_sums
from tileproof.backends.cuda.codegen.wrapping_sums import Sums
from tileproof.kernels.int8_gemv import parts_matvec_kernel, parts_silu_parts_kernel

LAUNCHES = limits()


def counted(code: Lowered) -> tuple[int, int]:
    """Products of matrices of integers, and how many of them are added to something outside."""
    results = [op for entry in code.module.entries for op in walk(entry.body)]
    made_by = [op.results[0] for op in results if op.name == "mmai"]
    apart = [op for op in results if op.name == "xori" and op.operands[0] in made_by]
    return len(made_by), len(apart)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", LAUNCHES)
def test_sums_wrap(name: str) -> None:
    assert assert_simulated(LAUNCHES[name]) == []


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["onto int8", "once uint8", "from zero uint8 33100", "from zero int8 131072",
                                  "nested int8", "again", "doubled uint8", "in steps uint8 34000",
                                  "in steps int8 140000", "filled"])  # fmt: skip
def test_tensor_cores_that_add_to_any_sum_are_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sums, "fits", lambda *_: True)
    with pytest.raises(AssertionError):
        assert_simulated(LAUNCHES[name])


@pytest.mark.parametrize("name", ["one turn int8", "one turn uint8", "by groups int8", "by groups uint8",
                                  "in disguise int8", "in disguise uint8", "combined"])  # fmt: skip
def test_additions_that_are_left_to_the_assembler_are_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "sum_with_product", lambda *_: None)
    with pytest.raises(AssertionError):
        assert_simulated(LAUNCHES[name])


def test_products_that_are_counted_as_if_of_another_type_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_sums, "_largest", lambda dtype: 128 * 128)
    with pytest.raises(AssertionError):
        assert_simulated(LAUNCHES["both types"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("from zero int8 32767", (1, 0)), ("from zero uint8 32767", (1, 0)), ("from zero int8 32768", (1, 1)),
        ("onto int8", (1, 1)), ("once int8", (2, 1)), ("nested int8", (1, 1)), ("again", (1, 1)),
        ("doubled int8", (1, 1)), ("in steps int8 32000", (1, 0)), ("in steps uint8 32000", (1, 0)),
        ("in steps uint8 34000", (1, 1)), ("in steps int8 140000", (1, 1)), ("filled", (1, 1)),
    ],
)  # fmt: skip
def test_sums_that_cannot_be_too_large_are_left_to_tensor_cores(name: str, expected: tuple[int, int]) -> None:
    assert counted(lowered(*LAUNCHES[name]())) == expected


@tp.kernel
def static(y: Out[i32, "M N"], a: In[i8, "M J K"], b: In[i8, "N J K"], *, J: int, K: int, BK: int = 64) -> None:
    for i, j in tp.parallel(M=64, N=16):
        acc = tp.zeros((i, j), i32)
        for outer in tp.tiles(J=tp.each):
            for k in tp.tiles(K=BK):
                acc = tp.mma(a[i, outer, k], b[j, outer, k].T, acc)
        y[i, j] = acc


@tp.kernel
def behind(y: Out[i32, "M N"], a: In[i8, "M K"], b: In[i8, "N K"], start: i32) -> None:
    tp.require(start >= 0)
    for i, j in tp.parallel(M=64, N=16):
        acc = tp.zeros((i, j), i32)
        for k in tp.tiles(K=64, start=start):
            acc = tp.mma(a[i, k], b[j, k].T, acc)
        y[i, j] = acc


def i8s(*shape: int) -> Any:
    return np.full(shape, -128, np.int8)


def result() -> Any:
    return np.zeros((3, 2), np.int32)


def test_extents_that_are_known_to_the_compiler_are_multiplied() -> None:
    assert counted(lowered(static, [result(), i8s(3, 9, 14000), i8s(2, 9, 14000)])) == (1, 0)
    assert counted(lowered(static, [result(), i8s(3, 10, 14000), i8s(2, 10, 14000)])) == (1, 1)


def test_where_a_loop_begins_is_not_known() -> None:
    assert counted(lowered(behind, [result(), i8s(3, 100), i8s(2, 100), 3])) == (1, 1)


def test_code_for_short_dimensions_is_not_that_for_long_ones() -> None:
    short, long = (lowered(from_zero, [result(), i8s(3, n), i8s(2, n)]).variant for n in (32767, 32768 + 32767))
    assert "K" in short.specialization.short
    assert "K" not in long.specialization.short
    assert short.key != long.key


@tp.kernel
def of_floats(y: Out[f32, "M N"], a: In[f32, "M K"], b: In[f32, "N K"]) -> None:
    for i, j in tp.parallel(M=16, N=16):
        acc = tp.zeros((i, j))
        for k in tp.tiles(K=16):
            acc = tp.mma(a[i, k], b[j, k].T, acc)
        y[i, j] = acc


def test_kernels_without_products_of_integers_have_no_more_forms_than_before() -> None:
    floats = [np.zeros(shape, np.float32) for shape in ((3, 2), (3, 5), (2, 5))]
    assert lowered(of_floats, floats).variant.specialization.short == ()


def test_kernels_of_the_library_leave_their_sums_to_tensor_cores() -> None:
    blocks = np.zeros((16, 2, 512), np.int8), np.zeros((2, 8, 2), np.float32)
    weights = np.zeros((64, 2, 512), np.int8), np.zeros((64, 2, 8), np.float32)
    assert counted(lowered(parts_matvec_kernel, [np.zeros(64, np.float32), *weights, *blocks, None])) == (1, 0)
    halves = np.zeros((2, 8, 64, 4, 256), np.int8), np.zeros((2, 8, 64, 4, 4), np.float32)
    vector = np.zeros((2, 8, 2, 2, 256), np.int8), np.zeros((4, 4, 2), np.float32)
    parts = np.zeros((8, 2, 8, 64), np.int8), np.zeros((8, 2), np.float32)
    assert counted(lowered(parts_silu_parts_kernel, [*parts, *halves, *vector])) == (2, 0)


@pytest.mark.parametrize("most", [1, 40, 63, 64])
def test_a_tile_with_too_many_products_is_multiplied_in_parts(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "most", lambda dtype: most)
    launch = LAUNCHES["once int8"]
    assert assert_simulated(launch) == []
    assert counted(lowered(*launch())) == (1 + -(-64 // most), -(-64 // most))
