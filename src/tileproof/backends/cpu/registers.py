"""How elements are held: in memory as their bits, in registers in the type they are computed in.

A float of 16 bits or less is a `float` in a register, always one that its own type can represent; a bool is an `i1`.
"""

from __future__ import annotations

from functools import cache

from tileproof.language.dtypes import BOOL, F16, F64, TF32, DType


@cache
def register(dtype: DType) -> str:
    """The LLVM type of one element in a register."""
    if dtype.is_float:
        return "double" if dtype == F64 else "float"
    return "i1" if dtype == BOOL else f"i{dtype.bits}"


@cache
def memory(dtype: DType) -> str:
    """The LLVM type of one element in memory."""
    if dtype in (F64, F16, TF32) or (dtype.is_float and dtype.bits == 32):
        return {64: "double", 32: "float", 16: "half"}[dtype.bits]
    return f"i{dtype.bits}"


def size(dtype: DType) -> int:
    """How many bytes an element takes in memory."""
    return dtype.bits // 8


def vector(element: str, lanes: int) -> str:
    """The LLVM type of so many lanes; one lane is no vector."""
    return element if lanes == 1 else f"<{lanes} x {element}>"


def suffix(element: str, lanes: int) -> str:
    """How an intrinsic names a type: `v8f32`, `i64`."""
    short = {"float": "f32", "double": "f64", "half": "f16", "ptr": "p0"}.get(element, element)
    return short if lanes == 1 else f"v{lanes}{short}"


def each(lanes: int, number: str, element: str) -> str:
    """A literal in every lane."""
    return number if lanes == 1 else f"splat ({element} {number})"
