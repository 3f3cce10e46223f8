"""Launches in which many programs combine into the same elements, for all element types."""

from __future__ import annotations

from functools import cache, partial
from typing import Any, Final

import numpy as np

import tileproof as tp
from samples.launch import Made, Make
from samples.small_kernels import Small
from tileproof.language.dtypes import ALL, DType

TYPES: Final = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64")
FLOATS: Final = ("f16", "bf16", "f32", "f64")
_TEXT: Final = """
    @tp.kernel{options}
    def k(total: Sum[T, "V"], top: Max[T, "V"], low: Min[T, "V"], rows: Sum[T, "D"], x: In[T, "N D"],
          ids: In[Index["V"], "N"], *, BN: int = 12) -> None:
        for n, d in tp.parallel(N=BN, D=6):
            if d.start == 0:
                first = x[n, 0]
                total[ids[n]] += first
                tp.update(top, ids[n], first)
                tp.update(low, ids[n], first)
            rows[d] += x[n, d].sum(axis=0).to(x.dtype)
"""


@cache
def kernel(deterministic: bool = False) -> tp.Kernel:
    """Sums, maxima and minima by an index with duplicates, and sums of rows."""
    return Small("combined", _TEXT.format(options="(deterministic=True)" if deterministic else "")).kernel()


def combined(name: str, *, special: bool = False, deterministic: bool = False, seed: int = 0) -> Made:
    """Rows fall into few places, some into none; `special` ones hold NaN, infinities and both zeros too."""
    dtype = next(of for of in ALL if of.name == name)
    rng = np.random.default_rng(seed)
    x = _numbers(rng, dtype, (77, 9), special)
    ids = rng.integers(-1, 5, 77, dtype=np.int32)
    outputs = [np.full(length, 7, x.dtype) for length in (6, 6, 6, 9)]
    return kernel(deterministic), [*outputs, x, ids], {}


def _numbers(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...], special: bool) -> Any:
    storage = dtype.storage
    assert storage is not None
    if not dtype.is_float:
        low = 0 if dtype.kind == "uint" else -100
        return rng.integers(low, 120, shape).astype(storage)
    numbers = rng.normal(size=shape) * 4
    if special:
        odd = rng.random(shape) < 0.1
        numbers[odd] = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], odd.sum())
    return numbers.astype(storage)


def sums() -> dict[str, Make]:
    """All of them, by name; special numbers need no code of their own."""
    results: dict[str, Make] = {f"combined {name}": partial(combined, name) for name in TYPES}
    return results | {f"combined {name} in order": partial(combined, name, deterministic=True) for name in FLOATS}
