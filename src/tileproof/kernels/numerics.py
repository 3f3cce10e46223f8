"""What kernels share: the types that sums are computed in, and sums of products."""

from __future__ import annotations

from typing import Any

import tileproof as tp
from tileproof import f32, f64


def accumulator(dtype: Any) -> Any:
    """The type that elements of a type are summed in: f64 for f64, f32 for all others."""
    return f64 if dtype == f64 else f32


def sum_type(w: Any, x: Any) -> Any:
    """The type that products of two tensors are summed in."""
    return f64 if w.dtype == f64 or x.dtype == f64 else f32


def wide(x: Any) -> Any:
    """Elements in the type that they are summed in."""
    return x.to(accumulator(x.dtype))


def start(shape: Any, dtype: Any) -> Any:
    """Zeros that products of this element type are added to."""
    return tp.zeros(shape, accumulator(dtype))


def lane_sums(w: Any, x: Any, n: Any, BK: int) -> Any:
    """Rows n of w @ x: each lane is summed through the loop, and lanes are added up once, after it."""
    kind = sum_type(w, x)
    acc = tp.zeros((n, BK), kind)
    for k in tp.tiles(K=BK):
        acc += (w[n, k].to(kind) * x[k].to(kind)).fill(0)
    return acc.sum(axis=1)


def silu(x: Any) -> Any:
    """x * sigmoid(x)."""
    return x * tp.sigmoid(x)
