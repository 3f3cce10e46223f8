"""Elementwise operations have the values that the interpreter gives them, on every type and number of lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.cpu_elements import Array, Case, compiled, same, ulps
from support.cpu_values import anything, corners, pairs
from tileproof.backends.cpu.codegen.arithmetic import binary, constant, fill_value, fma, select, unary
from tileproof.backends.cpu.codegen.emitter import Emitter
from tileproof.backends.interpreter import semantics
from tileproof.ir.ops import BinaryFn, ReduceFn, UnaryFn
from tileproof.language.dtypes import ALL, BOOL, ENTRY, F16, F32, F64, I32, INDEX, U8, DType

WIDTHS = (1, 2, 4, 8, 16, 32)
EXACT = (UnaryFn.NEG, UnaryFn.ABS, UnaryFn.SQRT, UnaryFn.FLOOR, UnaryFn.CEIL, UnaryFn.ROUND, UnaryFn.ISNAN)
WHOLE = (UnaryFn.NOT, UnaryFn.NEG, UnaryFn.ABS, UnaryFn.FLOOR, UnaryFn.ISNAN)
LOGIC = (BinaryFn.AND, BinaryFn.OR, BinaryFn.XOR, BinaryFn.MIN, BinaryFn.MAX)
BITS = (BinaryFn.AND, BinaryFn.OR, BinaryFn.XOR, BinaryFn.SHL, BinaryFn.SHR)
UNEVEN = (BinaryFn.FLOORDIV, BinaryFn.MOD, BinaryFn.CDIV, BinaryFn.POW, BinaryFn.SHL, BinaryFn.SHR)
"""Written differently where the right operand is known."""


def functions(dtype: DType) -> list[BinaryFn]:
    if dtype == BOOL:
        return [fn for fn in BinaryFn if fn.compares or fn in LOGIC]
    if dtype.is_float:
        return [fn for fn in BinaryFn if fn not in BITS and fn is not BinaryFn.POW]
    if dtype == ENTRY:
        return [BinaryFn.FLOORDIV, BinaryFn.MOD]
    return [fn for fn in BinaryFn if fn is not BinaryFn.DIV]


def two(fn: BinaryFn, dtype: DType) -> Case:
    result = BOOL if fn.compares else dtype
    return Case([dtype, dtype], result, lambda e, x, y, w: binary(e, fn, x, y, dtype, w))


def one(fn: UnaryFn, dtype: DType) -> Case:
    result = BOOL if fn is UnaryFn.ISNAN else dtype
    return Case([dtype], result, lambda e, x, w: unary(e, fn, x, dtype, w))


def check(actual: Array, expected: Array, *operands: Array, signs: bool = True) -> None:
    """Equal, with the sign of zero if `signs`."""
    right = same(actual, expected)
    if signs and actual.dtype.kind not in "biu":
        right &= np.isnan(expected) | (np.signbit(actual) == np.signbit(expected))
    if not right.all():
        wrong = int(np.argmin(right))
        inputs = ", ".join(repr(operand[wrong]) for operand in operands)
        pytest.fail(f"{(~right).sum()} wrong, first ({inputs}) gives {actual[wrong]!r}, not {expected[wrong]!r}")


@pytest.mark.sweep(2)
@pytest.mark.parametrize("dtype", [*ALL, ENTRY], ids=str)
def test_two_operands(dtype: DType) -> None:
    x, y = pairs(dtype)
    for w in WIDTHS:
        ran = compiled({fn.value: two(fn, dtype) for fn in functions(dtype)}, w)
        for fn in functions(dtype):
            actual, expected = ran[fn](x, y), semantics.binary(fn, x, y, dtype)
            check(actual, expected, x, y, signs=fn not in (BinaryFn.MIN, BinaryFn.MAX))


def test_positions_are_exact() -> None:
    generator = np.random.default_rng(3)
    x, y = (generator.integers(-1000, 1000, 5000) for _ in range(2))
    amounts = np.abs(y) % 20
    for w in (1, 8):
        ran = compiled({fn.value: two(fn, INDEX) for fn in functions(INDEX)}, w)
        for fn in functions(INDEX):
            right = amounts if fn in (BinaryFn.SHL, BinaryFn.SHR) else amounts % 6 if fn is BinaryFn.POW else y
            check(ran[fn](x, right), semantics.binary(fn, x, right, INDEX), x, right)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("fn", UNEVEN)
@pytest.mark.parametrize("dtype", [I32, U8, INDEX], ids=str)
def test_operands_written_in_the_program(fn: BinaryFn, dtype: DType) -> None:
    numbers = [0, 1, 2, 3, 7, 8, 64, 100] + ([] if dtype == U8 else [-1, -2, -3, -8])
    x = np.arange(-40, 40).astype(semantics.storage(dtype)) if dtype == INDEX else anything(dtype)
    if dtype == INDEX and fn in (BinaryFn.POW, BinaryFn.SHL):
        numbers = [number for number in numbers if number < 8]

    def with_number(number: int) -> Case:
        return Case([dtype], dtype, lambda e, x, w: binary(e, fn, x, constant(number, dtype, w), dtype, w))

    ran = compiled({f"by{index}": with_number(number) for index, number in enumerate(numbers)}, 4)
    for index, number in enumerate(numbers):
        y = np.full_like(x, number)
        check(ran[f"by{index}"](x), semantics.binary(fn, x, y, dtype), x, y)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_one_operand(dtype: DType) -> None:
    x = anything(dtype)
    chosen = EXACT if dtype.is_float else (UnaryFn.NOT, UnaryFn.ISNAN) if dtype == BOOL else WHOLE
    for w in WIDTHS:
        ran = compiled({fn.value: one(fn, dtype) for fn in chosen}, w)
        for fn in chosen:
            check(ran[fn](x), semantics.unary(fn, x, dtype), x)


@pytest.mark.parametrize("w", WIDTHS)
def test_powers(w: int) -> None:
    x, y = pairs(F32)
    close = np.random.default_rng(5)
    x = np.concatenate([x, close.uniform(0, 20, 20000).astype(np.float32)])
    y = np.concatenate([y, close.normal(size=20000).astype(np.float32) * 8])
    actual = compiled({"pow": two(BinaryFn.POW, F32)}, w)["pow"](x, y)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
    assert ulps(actual, exact).max() <= 0.51
    check(actual[actual == 0], exact[actual == 0].astype(np.float32), x[actual == 0], y[actual == 0])


def test_powers_of_f64_and_f16() -> None:
    for dtype, allowed in ((F64, 2), (F16, 0.51)):
        x, y = pairs(dtype)
        actual = compiled({"pow": two(BinaryFn.POW, dtype)}, 4)["pow"](x, y)
        with np.errstate(all="ignore"):
            exact = np.power(x.astype(np.float64), y.astype(np.float64))
        assert ulps(actual, exact.astype(np.longdouble)).max() <= allowed


@pytest.mark.parametrize("dtype", [F16, F32, F64], ids=str)
@pytest.mark.parametrize("exponent", [2.0, 3.0])
def test_powers_written_in_the_program(dtype: DType, exponent: float) -> None:
    x = corners(dtype)
    case = Case([dtype], dtype, lambda e, x, w: binary(e, BinaryFn.POW, x, constant(exponent, dtype, w), dtype, w))
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.longdouble), exponent)
    assert ulps(compiled({"pow": case}, 4)["pow"](x), exact).max() <= exponent / 2


def test_select_takes_one_of_two() -> None:
    x, y = pairs(F32)
    c = x > y
    for w in WIDTHS:
        case = Case([BOOL, F32, F32], F32, lambda e, c, x, y, w: select(e, c, x, y, F32, w))
        check(compiled({"select": case}, w)["select"](c, x, y), np.where(c, x, y), x, y)


def test_fused_multiplication_rounds_once() -> None:
    x, y = pairs(F32)
    x, y = (np.where(np.isfinite(array), array, np.float32(1)) for array in (x, y))
    with np.errstate(all="ignore"):
        z = -(x * y)
        exact = (x.astype(np.float64) * y + z.astype(np.float64)).astype(np.float32)
    usual = np.isfinite(z) & (np.abs(exact) > 1e-30)
    for w in WIDTHS:
        case = Case([F32] * 3, F32, lambda e, x, y, z, w: fma(e, x, y, z, F32, w))
        actual = compiled({"fma": case}, w)["fma"](x, y, z)
        check(actual[usual], exact[usual], x[usual], y[usual])
        assert usual.sum() > 1000


@pytest.mark.sweep(5)
@pytest.mark.parametrize("dtype", [*ALL, INDEX], ids=str)
def test_numbers_are_rounded_once(dtype: DType) -> None:
    values: list[Any] = [False, True] if dtype == BOOL else [0, 1, 100]
    if dtype.is_float:
        values = [*corners(F64).tolist(), -0.0, 2**64 - 1, 2**53 + 1, 2**24 + 1]
    cases = {}
    for index, value in enumerate(values):
        cases[f"c{index}"] = Case([dtype], dtype, lambda e, x, w, value=value: constant(value, dtype, w))
    ran = compiled(cases, 2)
    for index, value in enumerate(values):
        expected = np.broadcast_to(semantics.constant(value, dtype), 2)
        check(ran[f"c{index}"](np.zeros(2, semantics.storage(dtype))), expected, np.array([value] * 2))


@pytest.mark.parametrize("dtype", [dtype for dtype in (*ALL, INDEX) if dtype != BOOL], ids=str)
def test_nothing_to_combine_gives_the_neutral_value(dtype: DType) -> None:
    for fn in (ReduceFn.SUM, ReduceFn.MAX, ReduceFn.MIN):
        actual = compiled({"fill": Case([dtype], dtype, lambda e, x, w, fn=fn: fill_value(fn, dtype, w))}, 2)["fill"]
        expected = np.broadcast_to(semantics.identity(fn, dtype), 2)
        check(actual(np.zeros(2, semantics.storage(dtype))), expected, expected)
    assert (fill_value(ReduceFn.ANY, BOOL, 1), fill_value(ReduceFn.ALL, BOOL, 1)) == ("false", "true")


def test_operations_that_a_type_lacks_are_refused() -> None:
    for fn, dtype in ((BinaryFn.DIV, I32), (BinaryFn.SHL, F32), (BinaryFn.SHL, BOOL)):
        with pytest.raises(TypeError, match=f"{fn.value} of {dtype}"):
            binary(Emitter(), fn, "%x", "%y", dtype, 4)
    with pytest.raises(TypeError, match="exp of i32"):
        unary(Emitter(), UnaryFn.EXP, "%x", I32, 4)
