"""Elementwise operations of Tile IR code have the values that the interpreter gives them, whatever the lanes hold."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.tile_ir_operations import Array, computed
from support.agreement import assert_agree
from support.cpu_values import anything, corners, pairs
from tileproof.backends.cuda.codegen.arithmetic import binary, constant, unary
from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.interpreter import semantics
from tileproof.ir.ops import BinaryFn, UnaryFn
from tileproof.language.dtypes import ALL, BOOL, ENTRY, F16, F32, F64, I8, I32, INDEX, TF32, U8, DType

NUMBERS = [dtype for dtype in ALL if not dtype.is_storage_only and dtype not in (TF32, BOOL)]
EXACT = (UnaryFn.NEG, UnaryFn.ABS, UnaryFn.FLOOR, UnaryFn.CEIL, UnaryFn.ROUND, UnaryFn.ISNAN)
BITS = (BinaryFn.AND, BinaryFn.OR, BinaryFn.XOR, BinaryFn.SHL, BinaryFn.SHR)
UNEVEN = (BinaryFn.FLOORDIV, BinaryFn.MOD, BinaryFn.CDIV, BinaryFn.POW, BinaryFn.SHL, BinaryFn.SHR)
"""Written differently where the right operand is known."""


def functions(dtype: DType) -> list[BinaryFn]:
    if dtype == BOOL:
        return [BinaryFn.AND, BinaryFn.OR, BinaryFn.XOR, BinaryFn.EQ, BinaryFn.NE]
    if dtype.is_float:
        return [fn for fn in BinaryFn if fn not in (*BITS, BinaryFn.POW, BinaryFn.DIV)]
    if dtype == ENTRY:
        return [BinaryFn.FLOORDIV, BinaryFn.MOD]
    return [fn for fn in BinaryFn if fn is not BinaryFn.DIV]


@np.errstate(invalid="ignore")
def check(actual: Array, expected: Array, *operands: Array, signs: bool = True) -> None:
    """Equal, with the sign of zero if `signs`."""
    right = (actual == expected) | ((actual != actual) & (expected != expected))
    if signs and expected.dtype.kind not in "biu":
        right &= np.isnan(expected) | (np.signbit(actual) == np.signbit(expected))
    if not right.all():
        wrong = int(np.argmin(right))
        inputs = ", ".join(repr(operand[wrong]) for operand in operands)
        pytest.fail(f"{(~right).sum()} wrong, first ({inputs}) gives {actual[wrong]!r}, not {expected[wrong]!r}")


def two(fn: BinaryFn, x: Array, y: Array, dtype: DType) -> Array:
    result = BOOL if fn.compares else dtype
    return computed(lambda b, x, y: binary(b, fn, x, y, dtype), [(x, dtype), (y, dtype)], result)


@pytest.mark.parametrize("dtype", [BOOL, *NUMBERS, ENTRY], ids=str)
def test_two_operands(dtype: DType) -> None:
    x, y = pairs(dtype, 1000)
    for fn in functions(dtype):
        actual, expected = two(fn, x, y, dtype), semantics.binary(fn, x, y, dtype)
        check(actual, expected, x, y, signs=fn not in (BinaryFn.MIN, BinaryFn.MAX))


@pytest.mark.parametrize("dtype", [F16, F32, F64], ids=str)
def test_quotients_are_within_the_units(dtype: DType) -> None:
    x, y = pairs(dtype, 1000)
    assert_agree(two(BinaryFn.DIV, x, y, dtype), semantics.binary(BinaryFn.DIV, x, y, dtype))


def test_positions_are_exact() -> None:
    generator = np.random.default_rng(3)
    x, y = (generator.integers(-1000, 1000, 2000) for _ in range(2))
    for fn in functions(INDEX):
        if fn not in (*BITS, BinaryFn.POW):
            check(two(fn, x, y, INDEX), semantics.binary(fn, x, y, INDEX), x, y)


@pytest.mark.parametrize("fn", UNEVEN)
@pytest.mark.parametrize("dtype", [I8, I32, U8, INDEX, ENTRY], ids=str)
def test_operands_written_in_the_program(fn: BinaryFn, dtype: DType) -> None:
    if (dtype == INDEX and fn in (BinaryFn.POW, *BITS)) or (dtype == ENTRY and fn not in functions(ENTRY)):
        pytest.skip("no such operation")
    numbers = [0, 1, 2, 3, 7, 8, 64, 100] + ([] if dtype == U8 else [-1, -2, -3, -8])
    x = np.arange(-40, 40) if dtype == INDEX else np.arange(-1, 70) if dtype == ENTRY else corners(dtype)
    x = x.astype(semantics.storage(dtype))
    for number in numbers:
        y = np.full_like(x, number)
        actual = computed(lambda b, x, y, n=number: binary(b, fn, x, y, dtype, n), [(x, dtype), (y, dtype)], dtype)
        check(actual, semantics.binary(fn, x, y, dtype), x, y)


@pytest.mark.parametrize("dtype", [BOOL, *NUMBERS], ids=str)
def test_one_operand(dtype: DType) -> None:
    x = anything(dtype, 2000)
    chosen = EXACT if dtype.is_float else (UnaryFn.NOT,) if dtype == BOOL else (UnaryFn.NOT, UnaryFn.NEG, UnaryFn.ABS)
    for fn in chosen:
        result = BOOL if fn is UnaryFn.ISNAN else dtype
        actual = computed(lambda b, x, fn=fn: unary(b, fn, x, dtype), [(x, dtype)], result)
        check(actual, semantics.unary(fn, x, dtype), x)


@pytest.mark.parametrize("dtype", [F16, F32, F64], ids=str)
@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0, 4.0, 2.5])
def test_powers_written_in_the_program(dtype: DType, exponent: float) -> None:
    x = corners(dtype)
    y = np.full_like(x, exponent)
    actual = computed(lambda b, x, y: binary(b, BinaryFn.POW, x, y, dtype, exponent), [(x, dtype), (y, dtype)], dtype)
    assert_agree(actual, semantics.binary(BinaryFn.POW, x, y, dtype))


def test_select_takes_one_of_two() -> None:
    x, y = pairs(F32, 500)
    actual = computed(Builder.select, [(x > y, BOOL), (x, F32), (y, F32)], F32)
    check(actual, np.where(x > y, x, y), x, y)


@pytest.mark.parametrize("dtype", [dtype for dtype in (*ALL, INDEX) if dtype != BOOL], ids=str)
def test_numbers_are_rounded_once(dtype: DType) -> None:
    values: list[int | float] = [0, 1, 100]
    if dtype.is_float:
        values = [*corners(F64).tolist(), -0.0, 2**64 - 1, 2**53 + 1, 2**24 + 1]
    spare = np.zeros(1, semantics.storage(dtype))
    for value in values:
        actual = computed(lambda b, x, v=value: constant(b, dtype, (1,), v), [(spare, dtype)], dtype)
        check(actual, np.broadcast_to(semantics.constant(value, dtype), 1), np.array([value]))


def test_operations_that_a_type_lacks_are_refused() -> None:
    spare = np.zeros(1, np.int32)
    for fn, dtype in ((BinaryFn.DIV, I32), (BinaryFn.SHL, F32), (BinaryFn.SHL, BOOL)):
        with pytest.raises(TypeError, match=f"{fn.value} of {dtype}"):
            computed(lambda b, x, y, fn=fn, dtype=dtype: binary(b, fn, x, y, dtype), [(spare, dtype)] * 2, dtype)
    with pytest.raises(TypeError, match="exp of i32"):
        computed(lambda b, x: unary(b, UnaryFn.EXP, x, I32), [(spare, I32)], I32)
