"""Element types. To type checkers each is `Any`, so that `x: f32` and `tp.zeros(shape, f32)` both read well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import ml_dtypes
import numpy as np


@dataclass(frozen=True, slots=True)
class DType:
    """An element type of tiles and tensors.

    `kind` is one of bool, int, uint, float, index. `storage` is the numpy type that holds it; `tf32` has none,
    it exists in tiles only, and `index` is read from i32 or i64 tensors.
    """

    name: str
    kind: str
    bits: int
    storage: np.dtype[Any] | None

    def __repr__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """An integer that wraps. `index`, which is exact, is not one."""
        return self.kind in ("int", "uint")

    @property
    def is_storage_only(self) -> bool:
        """8-bit floats can be loaded, stored, converted and multiplied by `mma`, nothing else."""
        return self.kind == "float" and self.bits == 8


def _dtype(name: str, kind: str, bits: int, storage: Any) -> DType:
    return DType(name, kind, bits, None if storage is None else np.dtype(storage))


BOOL: Final = _dtype("bool", "bool", 8, np.bool_)
I8: Final = _dtype("i8", "int", 8, np.int8)
I16: Final = _dtype("i16", "int", 16, np.int16)
I32: Final = _dtype("i32", "int", 32, np.int32)
I64: Final = _dtype("i64", "int", 64, np.int64)
U8: Final = _dtype("u8", "uint", 8, np.uint8)
U16: Final = _dtype("u16", "uint", 16, np.uint16)
U32: Final = _dtype("u32", "uint", 32, np.uint32)
U64: Final = _dtype("u64", "uint", 64, np.uint64)
F16: Final = _dtype("f16", "float", 16, np.float16)
BF16: Final = _dtype("bf16", "float", 16, ml_dtypes.bfloat16)
TF32: Final = _dtype("tf32", "float", 32, None)
F32: Final = _dtype("f32", "float", 32, np.float32)
F64: Final = _dtype("f64", "float", 64, np.float64)
F8E4M3: Final = _dtype("f8e4m3", "float", 8, ml_dtypes.float8_e4m3fn)
F8E5M2: Final = _dtype("f8e5m2", "float", 8, ml_dtypes.float8_e5m2)
INDEX: Final = _dtype("index", "index", 64, None)
"""Positions: exact, in elements. Walkers and dimensions have it; it is not written in signatures."""
ENTRY: Final = _dtype("index?", "index", 64, None)
"""An entry of an index tensor: a position, or -1 for none. `// c` and `% c` keep none; all else makes it a number."""

ALL: Final = (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, TF32, F32, F64, F8E4M3, F8E5M2)
BY_STORAGE: Final = {dtype.storage: dtype for dtype in ALL if dtype.storage is not None}


@dataclass(frozen=True, slots=True)
class DTypeVar:
    """An element type taken from the arguments, the same wherever it is named."""

    name: str

    def __repr__(self) -> str:
        return self.name


if TYPE_CHECKING:
    i8: TypeAlias = Any
    i16: TypeAlias = Any
    i32: TypeAlias = Any
    i64: TypeAlias = Any
    u8: TypeAlias = Any
    u16: TypeAlias = Any
    u32: TypeAlias = Any
    u64: TypeAlias = Any
    f16: TypeAlias = Any
    bf16: TypeAlias = Any
    tf32: TypeAlias = Any
    f32: TypeAlias = Any
    f64: TypeAlias = Any
    f8e4m3: TypeAlias = Any
    f8e5m2: TypeAlias = Any
    T: TypeAlias = Any
    U: TypeAlias = Any
else:
    i8, i16, i32, i64 = I8, I16, I32, I64
    u8, u16, u32, u64 = U8, U16, U32, U64
    f16, bf16, tf32, f32, f64 = F16, BF16, TF32, F32, F64
    f8e4m3, f8e5m2 = F8E4M3, F8E5M2
    T, U = DTypeVar("T"), DTypeVar("U")
