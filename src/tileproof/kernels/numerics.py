"""What kernels share: the types that sums are computed in."""

from __future__ import annotations

from typing import Any

import tileproof as tp
from tileproof import f32, f64, i8, i32


def accumulator(dtype: Any) -> Any:
    """The type that elements of a type are summed in: f64 for f64, i32 for i8, f32 for all others."""
    return f64 if dtype == f64 else i32 if dtype == i8 else f32


def sum_type(w: Any, x: Any) -> Any:
    """The type that products of two tensors are summed in."""
    return f64 if w.dtype == f64 or x.dtype == f64 else f32


def wide(x: Any) -> Any:
    """Elements in the type that they are summed in."""
    return x.to(accumulator(x.dtype))


def start(shape: Any, dtype: Any) -> Any:
    """Zeros that products of this element type are added to."""
    return tp.zeros(shape, accumulator(dtype))


def silu(x: Any) -> Any:
    """x * sigmoid(x)."""
    return x * tp.sigmoid(x)
