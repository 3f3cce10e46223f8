"""Elementary functions stay within their errors, and are right where functions usually go wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from support.cpu_elements import Array, Case, compiled, same, ulps
from support.cpu_values import anything, corners
from tileproof.backends.cpu.codegen.arithmetic import unary
from tileproof.backends.interpreter import semantics
from tileproof.ir.ops import UnaryFn
from tileproof.language.dtypes import BF16, F16, F32, F64, TF32, DType

WIDTHS = (1, 2, 4, 8, 16, 32)


def sigmoid(x: Array) -> Array:
    fade = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, x.dtype.type(1), fade) / (1 + fade))


def erf(x: Array) -> Array:
    return np.array([math.erf(number) for number in x.tolist()]).astype(x.dtype)


REFERENCES: dict[UnaryFn, Callable[[Array], Any]] = {
    UnaryFn.EXP: np.exp,
    UnaryFn.EXP2: np.exp2,
    UnaryFn.LOG: np.log,
    UnaryFn.LOG2: np.log2,
    UnaryFn.TANH: np.tanh,
    UnaryFn.SIGMOID: sigmoid,
    UnaryFn.SIN: np.sin,
    UnaryFn.COS: np.cos,
    UnaryFn.ERF: erf,
    UnaryFn.RSQRT: lambda x: 1 / np.sqrt(x),
}
ALLOWED = {
    UnaryFn.EXP: 1.0,
    UnaryFn.EXP2: 1.0,
    UnaryFn.LOG: 1.0,
    UnaryFn.LOG2: 1.0,
    UnaryFn.TANH: 1.5,
    UnaryFn.SIGMOID: 2.0,
    UnaryFn.SIN: 0.51,
    UnaryFn.COS: 0.51,
    UnaryFn.ERF: 1.5,
    UnaryFn.RSQRT: 1.5,
}
"""Units in the last place of f32."""
LONG = dict.fromkeys(REFERENCES, 2.0)
"""Units in the last place of f64."""


@np.errstate(all="ignore")
def exact(fn: UnaryFn, x: Array, wider: type[np.floating[Any]]) -> Array:
    return np.asarray(REFERENCES[fn](x.astype(wider)))


def case(fn: UnaryFn, dtype: DType) -> Case:
    return Case([dtype], dtype, lambda e, x, w: unary(e, fn, x, dtype, w))


@cache
def sweep() -> Array:
    """f32 of every exponent, more where functions bend, and the ends of their ranges."""
    generator = np.random.default_rng(11)
    everywhere = generator.integers(0, 2**32, 100_000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    bends = [generator.normal(size=50_000) * scale for scale in (0.1, 1, 10, 60, 1e4)]
    near_one = 1 + generator.normal(size=50_000) * 0.01
    ends = [88.72, 88.73, 89, -87.3, -87.4, -103.9, -104, -104.1, 128, 127.99, -149, -149.5, -150, -151, 9.01, 3.92]
    quarters = np.arange(1, 4000) * (math.pi / 2)
    numbers = np.concatenate([*bends, near_one, ends, quarters]).astype(np.float32)
    return np.concatenate([corners(F32), everywhere, numbers])


@pytest.mark.parametrize("fn", REFERENCES)
def test_single(fn: UnaryFn) -> None:
    x = sweep()
    error = ulps(compiled({"f": case(fn, F32)}, 8)["f"](x), exact(fn, x, np.float64))
    assert error.max() <= ALLOWED[fn], x[np.argmax(error)]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("w", WIDTHS)
def test_lanes_do_not_matter(w: int) -> None:
    x = sweep()[::101]
    ran = compiled({fn.value: case(fn, F32) for fn in REFERENCES}, w)
    for fn in REFERENCES:
        assert ulps(ran[fn](x), exact(fn, x, np.float64)).max() <= ALLOWED[fn], fn


@pytest.mark.sweep(4)
@pytest.mark.parametrize("fn", REFERENCES)
def test_double(fn: UnaryFn) -> None:
    ends = [-745.1, -745.2, 709.7, 709.8, -1074.5, 1023.99]
    with np.errstate(invalid="ignore"):
        x = np.concatenate([anything(F64), sweep()[::7].astype(np.float64), ends])
    if fn in (UnaryFn.SIN, UnaryFn.COS):
        x = x[~(np.abs(x) > 2.0**60)]
    for w in (1, 4, 8):
        error = ulps(compiled({"f": case(fn, F64)}, w)["f"](x), exact(fn, x, np.longdouble))
        assert error.max() <= LONG[fn], x[np.argmax(error)]


@pytest.mark.parametrize("dtype", [F16, BF16, TF32], ids=str)
def test_short_floats_are_at_most_a_neighbour_away(dtype: DType) -> None:
    """They are rounded twice, so a value close to the middle of two may go to the other; most do not."""
    x = anything(dtype)
    ran = compiled({fn.value: case(fn, dtype) for fn in REFERENCES}, 8)
    for fn in REFERENCES:
        actual, expected = ran[fn](x), semantics.unary(fn, x, dtype)
        right = same(actual, expected)
        with np.errstate(all="ignore"):
            off = np.abs(actual[~right].astype(np.float64) / expected[~right].astype(np.float64) - 1)
        assert right.mean() > 0.999, fn
        assert (off < 2.0**-7 if dtype == BF16 else off < 2.0**-9).all(), fn


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_zeros_keep_their_sign(dtype: DType) -> None:
    x = np.array([0.0, -0.0], semantics.storage(dtype))
    for fn in (UnaryFn.TANH, UnaryFn.SIN, UnaryFn.ERF):
        assert np.signbit(compiled({"f": case(fn, dtype)}, 2)["f"](x)).tolist() == [False, True], fn


@pytest.mark.parametrize("fn", [UnaryFn.SIN, UnaryFn.COS])
def test_far_and_near_angles_in_one_vector(fn: UnaryFn) -> None:
    x = np.array([1.0, 1e38, -1e30, 2.0**48, -(2.0**47), np.inf, 3e15, np.nan], np.float32)
    actual = compiled({"f": case(fn, F32)}, 8)["f"](x)
    assert ulps(actual, exact(fn, x, np.float64)).max() <= ALLOWED[fn]
