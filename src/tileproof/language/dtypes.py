"""Element types. To type checkers each is `Any`, so that `x: f32` and `tp.zeros(shape, f32)` both read well."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    import numpy as np


class Named:
    """A value that its name stands for, and that never changes.

    Written out, because to load `dataclasses` would double the time that `import tileproof` takes.
    """

    __match_args__ = ("name",)
    __slots__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "name", name)

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and type(other) is type(self) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __setattr__(self, attribute: str, value: object) -> None:
        raise AttributeError(f"{self.name} is an element type: its {attribute} cannot be set")

    def __delattr__(self, attribute: str) -> None:
        raise AttributeError(f"{self.name} is an element type: its {attribute} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name,)


_MADE: Final[dict[tuple[str, str, int], DType]] = {}
"""Every element type that was made."""


class DType(Named):
    """An element type of tiles and tensors. `kind` is one of bool, int, uint, float, index."""

    __slots__ = ("bits", "kind")
    kind: str
    bits: int

    def __new__(cls, name: str, kind: str, bits: int) -> DType:
        """One object for each type, also for one that was stored and is read again."""
        return _MADE.setdefault((name, kind, bits), super().__new__(cls))

    def __init__(self, name: str, kind: str, bits: int) -> None:
        super().__init__(name)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "bits", bits)

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return DType, (self.name, self.kind, self.bits)

    @property
    def storage(self) -> np.dtype[Any] | None:
        """The numpy type that holds it. `tf32` has none, it exists in tiles only; `index` is read from i32 or i64."""
        return _storages().get(self.name)

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


BOOL: Final = DType("bool", "bool", 8)
I8: Final = DType("i8", "int", 8)
I16: Final = DType("i16", "int", 16)
I32: Final = DType("i32", "int", 32)
I64: Final = DType("i64", "int", 64)
U8: Final = DType("u8", "uint", 8)
U16: Final = DType("u16", "uint", 16)
U32: Final = DType("u32", "uint", 32)
U64: Final = DType("u64", "uint", 64)
F16: Final = DType("f16", "float", 16)
BF16: Final = DType("bf16", "float", 16)
TF32: Final = DType("tf32", "float", 32)
F32: Final = DType("f32", "float", 32)
F64: Final = DType("f64", "float", 64)
F8E4M3: Final = DType("f8e4m3", "float", 8)
F8E5M2: Final = DType("f8e5m2", "float", 8)
INDEX: Final = DType("index", "index", 64)
"""Positions: exact, in elements. Walkers and dimensions have it; it is not written in signatures."""
ENTRY: Final = DType("index?", "index", 64)
"""An entry of an index tensor: a position, or -1 for none. `// c` and `% c` keep none; all else makes it a number."""

ALL: Final = (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, TF32, F32, F64, F8E4M3, F8E5M2)


@cache
def _storages() -> dict[str, np.dtype[Any]]:
    """The numpy types by our names. They are made on demand: a program that only defines kernels never loads numpy."""
    import ml_dtypes
    import numpy as np

    types = {
        "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
        "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
        "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
        "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
    }  # fmt: skip
    return {name: np.dtype(stored) for name, stored in types.items()}


@cache
def by_storage() -> dict[np.dtype[Any], DType]:
    """Our element types by the numpy types that hold them."""
    return {dtype.storage: dtype for dtype in ALL if dtype.storage is not None}


class DTypeVar(Named):
    """An element type taken from the arguments, the same wherever it is named."""

    __slots__ = ()


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
