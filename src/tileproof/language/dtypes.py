"""Element types. To type checkers each is `Any`, so that `x: f32` and `tp.zeros(shape, f32)` both read well."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    import numpy as np


class Named:
    """An immutable value identified by its name.

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

    def __or__(self, other: None) -> Any:
        """`eps: f32 | None`: the annotation of an optional scalar, which is read from the source."""
        return self if other is None else NotImplemented

    __ror__ = __or__

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
        return _storage(self)

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


_OF_ML_DTYPES: Final = {BF16: "bfloat16", F8E4M3: "float8_e4m3fn", F8E5M2: "float8_e5m2"}
"""Element types that numpy itself does not have."""


@cache
def _storage(dtype: DType) -> np.dtype[Any] | None:
    """The numpy type of an element type. On demand: a program that only defines kernels never loads numpy, and one
    without small floats never loads `ml_dtypes`."""
    import numpy as np

    if dtype in _OF_ML_DTYPES:
        import ml_dtypes

        storage: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _OF_ML_DTYPES[dtype]))
        return storage
    if dtype.kind == "index" or dtype is TF32:
        return None
    return np.dtype("bool" if dtype is BOOL else f"{dtype.kind}{dtype.bits}")


def by_storage() -> dict[np.dtype[Any], DType]:
    """Our element types by the numpy types that hold them, as far as arrays of these types can exist by now."""
    return _by_storage("ml_dtypes" in sys.modules)


@cache
def _by_storage(has_ml_dtypes: bool) -> dict[np.dtype[Any], DType]:
    known = ((dtype, dtype.storage) for dtype in ALL if has_ml_dtypes or dtype not in _OF_ML_DTYPES)
    return {storage: dtype for dtype, storage in known if storage is not None}


@cache
def limits(dtype: DType) -> tuple[float, float]:
    """The least and greatest finite value of an element type."""
    if dtype is TF32:
        dtype = F32
    if dtype.kind == "index":
        return -(2**63), 2**63 - 1
    import numpy as np

    assert dtype.storage is not None
    if not dtype.is_float:
        whole = np.iinfo(dtype.storage)
        return int(whole.min), int(whole.max)
    if dtype in _OF_ML_DTYPES:
        import ml_dtypes

        info = ml_dtypes.finfo(dtype.storage)  # type: ignore[no-untyped-call]
        return float(info.min), float(info.max)
    real = np.finfo(dtype.storage)
    return float(real.min), float(real.max)


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
