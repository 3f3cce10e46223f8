"""Runs operations on elements as the CPU backend writes them, over whole arrays."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.codegen.conversions import pack, software_f16, unpack
from tileproof.backends.cpu.codegen.emitter import Emitter, Operand, memory, nbytes, vector
from tileproof.backends.cpu.target import Target, host
from tileproof.backends.interpreter.semantics import storage
from tileproof.language.dtypes import DType

Array = npt.NDArray[Any]
Write = Callable[..., Operand]
"""What writes an operation: the emitter, the operands, the lanes."""
_numbers = itertools.count()


@dataclass(frozen=True)
class Case:
    """An operation: the types of its operands, of its result, and what writes it."""

    operands: Sequence[DType]
    result: DType
    write: Write


def module(cases: Mapping[str, Case], w: int, target: Target) -> str:
    """A function per case, which applies it to arrays by `w` lanes."""
    needed = {} if target.has_f16c else software_f16()
    functions = [_function(name, case, w, needed, target.attributes) for name, case in cases.items()]
    return "\n".join([*needed.values(), *functions])


def _function(name: str, case: Case, w: int, needed: dict[str, str], attributes: str) -> str:
    e = Emitter()
    e.globals = needed

    def turn(at: Operand, _: list[Operand]) -> list[Operand]:
        operands = []
        for number, dtype in enumerate(case.operands):
            place = e.op(f"getelementptr {memory(dtype)}, ptr %x{number}, i64 {{}}", at)
            bits = e.here(f"load {vector(memory(dtype), w)}, ptr {{}}, align {nbytes(dtype)}", place)
            operands.append(unpack(e, bits, dtype, w))
        bits = pack(e, case.write(e, *operands, w), case.result, w)
        place = e.op(f"getelementptr {memory(case.result)}, ptr %out, i64 {{}}", at)
        e.do(f"store {vector(memory(case.result), w)} {{}}, ptr {{}}, align {nbytes(case.result)}", bits, place)
        return []

    e.loop("0", "%count", w, turn)
    inputs = "".join(f", ptr %x{number}" for number in range(len(case.operands)))
    return e.function(f"void @{name}(i64 %count, ptr %out{inputs}) {attributes}")


def compiled(cases: Mapping[str, Case], w: int, target: Target | None = None) -> dict[str, Callable[..., Array]]:
    """Each case as a function of arrays."""
    target = target or host()
    number = next(_numbers)
    named = {f"elements{number}_{name}": case for name, case in cases.items()}
    addresses = llvm.load_object(llvm.compile_object(module(named, w, target), target), list(named))
    return {name: _runner(addresses[full], case, w) for (full, case), name in zip(named.items(), cases, strict=True)}


def _runner(address: int, case: Case, w: int) -> Callable[..., Array]:
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (len(case.operands) + 1))(address)

    def run(*arrays: Array) -> Array:
        count = len(arrays[0])
        padded = -(-count // w) * w
        inputs = []
        for array, dtype in zip(arrays, case.operands, strict=True):
            values = np.zeros(padded, storage(dtype))
            values[:count] = array
            inputs.append(values)
        out = np.zeros(padded, storage(case.result))
        function(padded, out.ctypes.data, *(array.ctypes.data for array in inputs))
        return out[:count]

    return run


def run(write: Write, operands: Sequence[tuple[Array, DType]], result: DType, w: int) -> Array:
    """One operation on arrays."""
    case = Case([dtype for _, dtype in operands], result, write)
    return compiled({"only": case}, w)["only"](*(array for array, _ in operands))


def same(left: Array, right: Array) -> Array:
    """Where values are equal, one NaN like another."""
    if left.dtype.kind in "biu":
        return np.asarray(left == right)
    with np.errstate(invalid="ignore"):
        wide = [array.astype(np.float64) for array in (left, right)]
    return np.asarray((wide[0] == wide[1]) | (np.isnan(wide[0]) & np.isnan(wide[1])))


def ulps(actual: Array, exact: Array) -> Array:
    """The error of f32 or f64 in units in the last place of the result, infinite where a NaN or infinity is wrong.

    `exact` is of a longer type. What rounds to infinity may be infinity or the largest number.
    """
    kind = actual.dtype.type
    with np.errstate(all="ignore"):
        rounded = exact.astype(kind)
        unit = np.abs(np.spacing(np.where(np.isfinite(rounded), rounded, np.finfo(kind).max))).astype(exact.dtype)
        error = np.abs(actual.astype(exact.dtype) - exact) / unit
    right = same(actual, rounded)
    return np.where(right & ~np.isfinite(rounded), 0, np.where(np.isnan(error), np.inf, error))
