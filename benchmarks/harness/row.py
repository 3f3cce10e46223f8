"""What a row is: one call of a library function at one size, its peers, what is right, and what it should reach.

The device is a parameter. Arguments are described, and made in three ways: as tensors of torch on a GPU, as arrays of
numpy on the CPU with torch's views of the same memory, and as stand-ins without memory where a launch is only compiled.
What is right is stated once, for `xp`, which is torch or numpy. Nothing here needs a GPU or torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Final, Literal, TypeAlias, TypeVar

import ml_dtypes
import numpy as np

from tileproof.runtime.launch.ahead_of_time import stand_in

from .result import Goal, Line, Unit

BANDWIDTH: Final = 4.8e12
"""Bytes per second of an H200, from its datasheet."""
PRODUCTS: Final = 989e12
"""Operations per second of its tensor cores on bf16, dense, from the same."""
Element: TypeAlias = Literal["f32", "bf16", "i32", "i64", "i8", "u8", "f8e4m3"]
DTYPES: Final[Mapping[str, Any]] = {
    "f32": np.float32, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i64": np.int64, "i8": np.int8, "u8": np.uint8,
    "f8e4m3": ml_dtypes.float8_e4m3fn,
}  # fmt: skip
Args: TypeAlias = SimpleNamespace
"""The arguments of a row by name, and among them `out` where it has one output."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Array:
    """An argument. Floats hold normal numbers times `scale`, integers those from `low` to below `below`."""

    shape: tuple[int, ...]
    element: Element = "bf16"
    below: int = 0
    low: int = 0
    scale: float = 1.0
    values: tuple[float, ...] = ()
    """What it holds, where random numbers would not do: borders of segments, for instance."""
    is_unique: bool = False
    """Whether no two of its integers are the same."""
    is_output: bool = False
    is_count: bool = False
    """Whether its integers are numbers that no launch has to look at, and not positions."""

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * int(np.dtype(DTYPES[self.element]).itemsize)

    @property
    def is_index(self) -> bool:
        return self.element in ("i32", "i64")


@dataclass(frozen=True, slots=True)
class Place:
    """Where rows are to run: on "cpu" or "gpu", and whether they are only small, to see that everything works."""

    device: Literal["cpu", "gpu"] = "gpu"
    small: bool = False

    def of(self, gpu: T, cpu: T, small: T | None = None) -> T:
        """What fits the place."""
        return small if self.small and small is not None else gpu if self.device == "gpu" else cpu

    @property
    def element(self) -> Element:
        """The element type of most rows."""
        return self.of("bf16", "f32")

    def array(self, *shape: int, element: Element | None = None, **more: Any) -> Array:
        return Array(shape, element or self.element, **more)

    def out(self, *shape: int, element: Element | None = None) -> Array:
        """What a row writes."""
        return Array(shape, element or self.element, is_output=True)

    def named(self, name: str, number: int) -> str:
        """On a GPU, where there are several sizes, they are part of the name."""
        return f"{name} {number}" if self.device == "gpu" else name

    def goals(self, *, gpu: Sequence[Goal] = (), cpu: Sequence[Goal] = ()) -> tuple[Goal, ...]:
        return tuple(self.of(gpu, cpu))


@dataclass(frozen=True, slots=True)
class Peer:
    """One way of somebody else to do the work; gives the result, or None if it was written to `out`."""

    column: str
    name: str
    way: Callable[[Any, Args], Any]
    """Gets the tools (`torch`, `triton`, `cutile`, `compiled`) and the arguments: numpy arrays, others tensors."""
    threads: int | None = None
    """On the CPU, the one number of threads it is timed with."""
    only: str = ""
    """The device it runs on; any if empty."""


Right: TypeAlias = Callable[[Any, Args], Any]
"""Gets torch or numpy and the arguments; gives what the outputs should be, in float64."""
Check: TypeAlias = Callable[[Any, Args, Any], Iterable[tuple[Any, Any]]]
"""Gets the result too; gives parts of it, each with what is right."""


@dataclass(frozen=True, slots=True)
class Row:
    """One function at one size on one device."""

    name: str
    group: str
    size: str
    arrays: Mapping[str, Array]
    call: Callable[[Any, Args], Any]
    """Gets `tileproof.kernels` and the arguments."""
    right: Right | None = None
    along: tuple[str, ...] = ()
    """Arguments of whose first axis each element makes one of the outputs: of these some can be looked at alone."""
    check: Check | None = None
    """Instead of `right`, where results are not numbers to compare."""
    peers: tuple[Peer, ...] = ()
    operations: float = 0.0
    """As they are counted in this field: two for each product that is added up."""
    goals: tuple[Goal, ...] = ()
    yardsticks: tuple[str, ...] = ("copy",)
    moved: int | None = None
    """Bytes that must move, where that is less than all arrays together."""
    tolerance: float | None = None
    """How far a result may be from the right one, both as long vectors; by the element type unless given."""
    few: int = 0
    """Of how many outputs float64 is taken on a GPU; all are compared with the first peer then."""
    has_twin: bool = False
    """Whether it is timed without its checks too."""
    rounds: int | None = None
    unit: Unit = "B/s"
    rotated: int = 512 << 20
    """Bytes of arguments that launches on a GPU go through in turn: ten times the cache, so that nothing is found
    there. On the CPU arguments are larger than the cache, or, as those of GEMM, meant to stay in it."""
    is_cold: bool = False
    """Whether calls on the CPU go through several sets of arguments, too."""
    forms: Mapping[str, Callable[[Any, Args], Any]] = field(default_factory=dict)
    """All of our ways, where there are several."""
    is_host: bool = False
    """Whether it is timed what the call costs the host, on the wall."""
    scalars: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments, which are no arrays."""
    note: str = ""

    @property
    def bytes(self) -> int:
        """What must move through memory at least: each input once, each output once."""
        return self.held if self.moved is None else self.moved

    @property
    def held(self) -> int:
        """Bytes of one set of arguments."""
        return sum(array.nbytes for array in self.arrays.values())

    @property
    def limit(self) -> float | None:
        """The seconds that an H200's datasheet allows at best; None for the host's time."""
        return None if self.is_host else max(self.bytes / BANDWIDTH, self.operations / PRODUCTS)

    @property
    def has_indices(self) -> bool:
        """Whether the contents of arguments are looked at: a graph of torch's cannot hold that, one of ours can."""
        return any(array.is_index and not (array.is_output or array.is_count) for array in self.arrays.values())

    def sets(self, rotated: int) -> int:
        """How many sets of arguments are taken in turn, to go through so many bytes."""
        return max(min(-(-rotated // max(self.bytes, 1)), 64), 1)

    def line(self, limit: float | None) -> Line:
        """The line of a row of which nothing is known yet."""
        notes = (self.note,) if self.note else ()
        return Line(self.name, self.group, self.size, None, self.unit, self.operations, self.bytes, limit=limit,
                    goals=self.goals, notes=notes)  # fmt: skip


TOLERANCE: Final = {"f32": 1e-5, "bf16": 1e-2}


def wide(x: Any) -> Any:
    """In float64, of torch or numpy."""
    return x.double() if hasattr(x, "double") else np.asarray(x).astype(np.float64)


# How arguments are made.


def on_torch(row: Row, torch: Any, device: str) -> Args:
    """Arguments as tensors: fresh random numbers, and outputs full of NaN."""
    return Args(**{name: tensor_of(array, torch, device) for name, array in row.arrays.items()}, **row.scalars)


def tensor_of(each: Array, torch: Any, device: str) -> Any:
    """One argument as a tensor."""
    dtypes = {
        "f32": torch.float32, "bf16": torch.bfloat16, "i32": torch.int32, "i64": torch.int64, "i8": torch.int8,
        "u8": torch.uint8, "f8e4m3": torch.float8_e4m3fn,
    }  # fmt: skip
    dtype = dtypes[each.element]
    if each.is_output:
        return torch.full(each.shape, float("nan") if dtype.is_floating_point else -7, dtype=dtype, device=device)
    if each.values:
        return torch.tensor(each.values, dtype=dtype, device=device).reshape(each.shape)
    if each.is_unique:
        return torch.randperm(each.below, device=device)[: each.size].to(dtype).reshape(each.shape)
    if not dtype.is_floating_point:
        return torch.randint(each.low, each.below, each.shape, dtype=dtype, device=device)
    if each.element == "f8e4m3":
        return (torch.randn(each.shape, dtype=torch.bfloat16, device=device) * each.scale).to(dtype)
    result = torch.randn(each.shape, dtype=dtype, device=device)
    return result if each.scale == 1.0 else result.mul_(each.scale)


def on_numpy(row: Row, seed: int = 0) -> Args:
    """Arguments as arrays in memory that is there, aligned to 64 bytes as torch's is."""
    random = np.random.default_rng(seed)
    return Args(**{name: array_of(array, random) for name, array in row.arrays.items()}, **row.scalars)


def array_of(each: Array, random: np.random.Generator) -> Any:
    """One argument as an array; of normal numbers the same few over and over where there are many."""
    memory = np.zeros(each.nbytes + 64, np.uint8)
    memory[:] = 0
    start = -memory.ctypes.data % 64
    result = memory[start : start + each.nbytes].view(DTYPES[each.element]).reshape(each.shape)
    if each.is_output:
        result[...] = _nothing(result)
    elif each.values:
        result[...] = np.asarray(each.values).reshape(each.shape)
    elif each.is_unique:
        result[...] = random.permutation(each.below)[: each.size].reshape(each.shape)
    elif "float" not in str(result.dtype):
        result[...] = random.integers(each.low, each.below, each.shape)
    else:
        flat, some = result.reshape(-1), random.standard_normal(min(each.size, 1 << 20), np.float32) * each.scale
        for begin in range(0, flat.size, some.size):
            flat[begin : begin + some.size] = some[: flat.size - begin]
    return result


def as_tensors(args: Args, torch: Any) -> Args:
    """torch's views of arrays."""

    def view(array: Any) -> Any:
        if not isinstance(array, np.ndarray):
            return array
        if array.dtype == ml_dtypes.bfloat16:
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array)

    return Args(**{name: view(each) for name, each in vars(args).items()})


def stand_ins(row: Row) -> Args:
    """Arguments with the shape, strides and element type of those on a GPU, and no memory behind them."""
    return Args(**{name: stand_in_of(array) for name, array in row.arrays.items()}, **row.scalars)


def stand_in_of(each: Array) -> Any:
    """A stand-in for an argument; index tensors hold what they would, because launches look at it."""
    result = stand_in(each.shape, np.dtype(DTYPES[each.element]))
    if each.is_index and not each.is_output:
        count = np.arange(each.size)
        values: Any = each.values or (count if each.is_unique else count % max(each.below, 1))
        result[...] = np.asarray(values).reshape(each.shape)
    return result


# Right results.


def problem_of(row: Row, call: Callable[[], Any], args: Args, xp: Any, first: Callable[[], Any] | None = None) -> str:
    """What is wrong with the result of a call; empty if nothing is. `xp` is torch or numpy, as the arguments are.

    Where float64 is taken of few outputs, all are compared with `first`, another library's.
    """
    outputs = {name: getattr(args, name) for name, array in row.arrays.items() if array.is_output}
    actual = _called(call, outputs, xp)
    for part, right in _parts(row, args, actual, xp):
        wrong = _difference(part, right, row.tolerance, xp)
        if wrong:
            return wrong
    if first is not None and row.few:
        return _difference(actual.clone(), _called(first, outputs, xp), row.tolerance, xp)
    return ""


def _called(call: Callable[[], Any], outputs: Mapping[str, Any], xp: Any) -> Any:
    for output in outputs.values():
        output[...] = _nothing(output)
    actual = call()
    if xp is not np and xp.cuda.is_available():
        xp.cuda.synchronize()
    if actual is None:
        actual = next(iter(outputs.values())) if len(outputs) == 1 else tuple(outputs.values())
    if xp is np and not isinstance(actual, tuple):
        actual = _as_array(actual)
    return tuple(map(_as_array, actual)) if xp is np and isinstance(actual, tuple) else actual


def _as_array(result: Any) -> Any:
    if isinstance(result, np.ndarray) or not hasattr(result, "detach"):
        return np.asarray(result)
    if str(result.dtype) == "torch.bfloat16":
        return result.float().numpy().astype(ml_dtypes.bfloat16)
    return result.numpy()


def _nothing(array: Any) -> float:
    return float("nan") if "float" in str(array.dtype) else -7


def _parts(row: Row, args: Args, actual: Any, xp: Any) -> Iterator[tuple[Any, Any]]:
    if row.check is not None:
        yield from row.check(xp, args, actual)
        return
    assert row.right is not None
    many = actual if isinstance(actual, tuple) else (actual,)
    count = many[0].shape[0]
    few = row.few or (count if xp is not np else max(65536 * count // max(row.held // 4, 1), 4))
    if row.along and few < count:
        some = xp.arange(count)[-few:] if few < 2 else _some(count, few, xp, many[0])
        args = Args(**{**vars(args), **{name: getattr(args, name)[some] for name in row.along}})
        many = tuple(each[some] for each in many)
    right = row.right(xp, args)
    yield from zip(many, right if isinstance(right, tuple) else (right,), strict=True)


def _some(count: int, few: int, xp: Any, like: Any) -> Any:
    """Some places, the last one among them."""
    if xp is np:
        return np.append(np.random.default_rng().integers(0, count, few - 1), count - 1)
    return xp.cat((xp.randint(0, count, (few - 1,)), xp.tensor([count - 1]))).to(like.device)


def _difference(part: Any, right: Any, tolerance: float | None, xp: Any) -> str:
    if tuple(part.shape) != tuple(right.shape):
        return f"WRONG: its shape is {tuple(part.shape)}, not {tuple(right.shape)}"
    count = math.prod(part.shape)
    if "float" not in str(part.dtype):
        off = int((part != right).sum())
        return f"WRONG: {off} of {count} elements differ" if off else ""
    kind = "f32" if str(part.dtype).endswith(("float32", "float64")) else "bf16"
    allowed = TOLERANCE[kind] if tolerance is None else tolerance
    difference = length = 0.0
    left, good = part.reshape(-1), right.reshape(-1)
    for begin in range(0, count, 1 << 26):
        some, other = (wide(each[begin : begin + (1 << 26)]) for each in (left, good))
        missing = int((~xp.isfinite(some)).sum())
        if missing:
            return f"WRONG: {missing} of {count} elements are not finite or were not written"
        difference += float(((some - other) ** 2).sum())
        length += float((other**2).sum())
    error = (difference / length) ** 0.5 if length else (0.0 if difference == 0 else math.inf)
    return "" if error <= allowed else f"WRONG: relative error {error:.1e}"


def chosen(groups: Mapping[str, str], words: Sequence[str]) -> list[str]:
    """Names that have one of the words in them, or that are of such a group; all without words."""
    plain = [word.replace("_", " ") for word in words]

    def has(name: str, word: str) -> bool:
        return word in name.replace("_", " ") or word == groups[name]

    unknown = [word for word in plain if not any(has(name, word) for name in groups)]
    if unknown:
        there = ", ".join(dict.fromkeys(groups.values()))
        raise SystemExit(f"no row has {', '.join(unknown)} in its name; there are {there}: see --list")
    return [name for name in groups if not plain or any(has(name, word) for word in plain)]

