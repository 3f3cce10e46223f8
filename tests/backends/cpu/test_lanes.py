"""Lanes: one value in all, all in one, rows to columns."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from support.cpu_elements import Array, Case, compiled, same
from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.codegen.arithmetic import binary
from tileproof.backends.cpu.codegen.emitter import Emitter, register, vector
from tileproof.backends.cpu.codegen.lanes import fold_lanes, iota, splat, transpose
from tileproof.backends.cpu.target import host
from tileproof.backends.interpreter import semantics
from tileproof.ir.ops import BinaryFn
from tileproof.language.dtypes import BF16, BOOL, F16, F32, F64, I8, I16, I32, I64, U8, DType

WIDTHS = (1, 2, 4, 8, 16, 32)
ELEMENTS = {"i8": np.int8, "i16": np.int16, "float": np.float32, "i32": np.int32, "double": np.float64, "i64": np.int64}


def run_text(name: str, text: str, *arrays: Array) -> None:
    address = llvm.load_object(llvm.compile_object(text, host()), [name])[name]
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))(address)
    call(*(array.ctypes.data for array in arrays))


@pytest.mark.sweep(13)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("w", WIDTHS)
def test_rows_become_columns(element: str, w: int) -> None:
    e, lanes = Emitter(), vector(element, w)
    places = [f"getelementptr {lanes}, ptr {{}}, i64 {row}" for row in range(w)]
    rows = [e.here(f"load {lanes}, ptr {{}}, align 1", e.op(place, "%in")) for place in places]
    for place, column in zip(places, transpose(e, rows, element, w), strict=True):
        e.do(f"store {lanes} {{}}, ptr {{}}, align 1", column, e.op(place, "%out"))
    square = np.arange(w * w).reshape(w, w).astype(ELEMENTS[element])
    out = np.zeros_like(square)
    name = f"transpose_{element}_{w}"
    run_text(name, e.function(f"void @{name}(ptr %in, ptr %out)"), square, out)
    assert (out == square.T).all()


@pytest.mark.sweep(15)
@pytest.mark.parametrize("dtype", [I8, U8, I64, F16, BF16, F32, F64], ids=str)
@pytest.mark.parametrize("w", WIDTHS)
def test_lanes_fold_in_halves(dtype: DType, w: int) -> None:
    generator = np.random.default_rng(w)
    values = (generator.normal(size=w) * 20).astype(semantics.storage(dtype))
    chosen = [BinaryFn.ADD, BinaryFn.MAX, BinaryFn.MIN]
    for fn in chosen:
        case = Case([dtype], dtype, lambda e, x, w, fn=fn: splat(e, fold_lanes(e, fn, x, dtype, w), register(dtype), w))
        expected = values
        while len(expected) > 1:
            half = len(expected) // 2
            expected = semantics.binary(fn, expected[:half], expected[half:], dtype)
        assert same(compiled({"fold": case}, w)["fold"](values), np.repeat(expected, w)).all(), fn


@pytest.mark.parametrize("w", WIDTHS)
@pytest.mark.parametrize(("fn", "whole"), [(BinaryFn.AND, np.all), (BinaryFn.OR, np.any)])
def test_conditions_fold(fn: BinaryFn, whole: np.ufunc, w: int) -> None:
    case = Case([BOOL], BOOL, lambda e, x, w: splat(e, fold_lanes(e, fn, x, BOOL, w), "i1", w))
    run = compiled({"fold": case}, w)["fold"]
    for values in ([True] * w, [False] * w, [lane == w - 1 for lane in range(w)], [lane != 0 for lane in range(w)]):
        assert run(np.array(values)).tolist() == [bool(whole(values))] * w


def test_nan_in_any_lane_is_the_extreme() -> None:
    for lane in range(8):
        values = np.arange(8, dtype=np.float32)
        values[lane] = np.nan
        for fn in (BinaryFn.MAX, BinaryFn.MIN):
            case = Case([F32], F32, lambda e, x, w, fn=fn: splat(e, fold_lanes(e, fn, x, F32, w), "float", w))
            assert np.isnan(compiled({"fold": case}, 8)["fold"](values)).all()


@pytest.mark.parametrize("w", WIDTHS)
def test_numbers_of_lanes(w: int) -> None:
    for element, dtype in (("i64", I64), ("i32", I32), ("i16", I16)):
        case = Case([dtype], dtype, lambda e, x, w, d=dtype, of=element: binary(e, BinaryFn.ADD, x, iota(w, of), d, w))
        actual = compiled({"iota": case}, w)["iota"](np.full(w, 5, semantics.storage(dtype)))
        assert actual.tolist() == list(range(5, 5 + w))


def test_splat_of_a_number_is_a_number() -> None:
    e = Emitter()
    assert splat(e, "7", "i64", 4) == "splat (i64 7)"
    assert splat(e, "7", "i64", 1) == "7"
    assert e.levels[0].lines == []
