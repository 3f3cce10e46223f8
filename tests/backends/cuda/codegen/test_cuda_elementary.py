"""Elementary functions of Tile IR code are within the units that backends may differ by, and random numbers are equal.

Tile IR's own functions are taken to be as near as `test_cuda_elementary_gpu` measured them on a GPU.
"""

from __future__ import annotations

import numpy as np
import pytest

from oracles.tile_ir_operations import Array, computed
from support.agreement import assert_agree
from support.cpu_values import anything, pairs
from tileproof.backends.cuda.codegen import arithmetic
from tileproof.backends.cuda.codegen.arithmetic import binary, unary
from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.types import I32, Tile, Value
from tileproof.backends.interpreter import semantics
from tileproof.backends.interpreter import semantics as law
from tileproof.ir.ops import BinaryFn, UnaryFn
from tileproof.language.dtypes import BF16, F16, F32, F64, I64, DType

FUNCTIONS = (
    UnaryFn.EXP, UnaryFn.EXP2, UnaryFn.LOG, UnaryFn.LOG2, UnaryFn.SQRT, UnaryFn.RSQRT, UnaryFn.TANH, UnaryFn.SIGMOID,
    UnaryFn.SIN, UnaryFn.COS, UnaryFn.ERF,
)  # fmt: skip


def dense(dtype: DType) -> Array:
    """Every number of 16 bits; of others those of all magnitudes, and those between the ends of the functions."""
    x = anything(dtype, 6000)
    if dtype.bits == 16:
        return x
    between = np.random.default_rng(1).uniform(-1, 1, 4000)
    return np.concatenate([x, *((between * size).astype(x.dtype) for size in (1, 6, 110, 800))])


@pytest.mark.parametrize("fn", FUNCTIONS)
@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64], ids=str)
def test_functions_are_within_the_units(fn: UnaryFn, dtype: DType) -> None:
    x = dense(dtype)
    actual = computed(lambda b, x: unary(b, fn, x, dtype), [(x, dtype)], dtype)
    assert_agree(actual, semantics.unary(fn, x, dtype))


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64], ids=str)
@pytest.mark.parametrize("fn", [BinaryFn.POW, BinaryFn.DIV])
def test_functions_of_two_are_within_the_units(fn: BinaryFn, dtype: DType) -> None:
    x, y = pairs(dtype, 3000)
    actual = computed(lambda b, x, y: binary(b, fn, x, y, dtype), [(x, dtype), (y, dtype)], dtype)
    assert_agree(actual, semantics.binary(fn, x, y, dtype))


def test_erf_is_odd_and_keeps_the_sign_of_zero() -> None:
    for dtype in (F32, F64):
        x = np.array([0.0, 1e-30, 0.5, 0.9, 2.0, 7.0, np.inf]).astype(semantics.storage(dtype))
        right, left = (
            computed(lambda b, x, d=dtype: unary(b, UnaryFn.ERF, x, d), [(side, dtype)], dtype) for side in (x, -x)
        )
        assert_agree(left, -right)
        assert np.signbit(left).all()
        assert left[-1] == -1


@pytest.mark.parametrize("seed", [0, 1, -1, 2**63 - 1, -(2**63), 0x123456789ABCDEF])
def test_random_numbers_are_equal(seed: int) -> None:
    generator = np.random.default_rng(4)
    offsets = np.concatenate([np.arange(100), generator.integers(-(2**63), 2**63 - 1, 400)])
    seeds = np.full(len(offsets), seed, np.int64)

    def write(b: Builder, seed: Value, offset: Value) -> Value:
        first = b.extract(seed, [b.constant(Tile(I32), 0)], (1,))
        return arithmetic.uniform(b, b.reshape(first, ()), offset)

    actual = computed(write, [(seeds, I64), (offsets, I64)], F32)
    np.testing.assert_array_equal(actual, law.uniform(np.asarray(seed), offsets))
