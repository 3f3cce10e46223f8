"""What a row of the GPU book is: a call of a library function at one size, its peers, and what it should reach.

Nothing here needs a GPU or torch. Arguments are described, and made in three ways: as tensors of torch on the GPU, as
stand-ins without memory where a launch is only compiled, and small on the CPU where tests look at results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Final, Literal, TypeAlias

BANDWIDTH: Final = 4.8e12
"""Bytes per second of an H200, from its datasheet."""
PRODUCTS: Final = 989e12
"""Operations per second of its tensor cores on bf16, dense, from the same."""
Element: TypeAlias = Literal["f32", "bf16", "i32", "i64", "i8", "u8", "f8e4m3"]
BYTES: Final[dict[str, int]] = {"f32": 4, "bf16": 2, "i32": 4, "i64": 8, "i8": 1, "u8": 1, "f8e4m3": 1}
Args: TypeAlias = SimpleNamespace
"""The arrays of a row by name, and among them `out` where it has one output."""


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
    def nbytes(self) -> int:
        return math.prod(self.shape) * BYTES[self.element]

    @property
    def is_index(self) -> bool:
        return self.element in ("i32", "i64")


def out(*shape: int, element: Element = "bf16") -> Array:
    """What a row writes."""
    return Array(shape, element, is_output=True)


@dataclass(frozen=True, slots=True)
class Goal:
    """So many times as fast as a peer, such a part of a yardstick's rate, or so many seconds at most."""

    ratio: float
    peer: str
    """The first word of a peer's or a yardstick's name; "seconds" for a time."""

    @property
    def wanted(self) -> str:
        if self.peer == "seconds":
            return f"<= {self.ratio * 1e3:g} ms"
        return (
            f">= {self.ratio:.0%} of the {self.peer} rate"
            if self.peer in YARDSTICKS
            else (f"{'<=' if self.peer == 'torch launch' else '>='} {self.ratio:.2f} x {self.peer}")
        )


YARDSTICKS: Final = ("copy", "read")
"""What only moves the same bytes: reads and writes half of them each, or reads them all."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One way of somebody else to do the work; gives the result, or None if it was written to `out`."""

    column: str
    name: str
    way: Callable[[Any, Args], Any]
    """Gets the tools (`torch`, `triton`, `cutile`, `compiled`) and the arguments."""


Check: TypeAlias = Callable[[Any, Args, Any], Iterable[tuple[Any, Any]]]
"""Gets torch, the arguments and the result; gives parts of the result, each with what is right, in float64."""


@dataclass(frozen=True, slots=True)
class Row:
    """One function at one size."""

    name: str
    group: str
    size: str
    arrays: Mapping[str, Array]
    call: Callable[[Any, Args], Any]
    """Gets `tileproof.kernels` and the arguments."""
    check: Check
    peers: tuple[Peer, ...] = ()
    operations: float = 0.0
    """On floats, as they are counted in this field: two for each product that is added up."""
    goals: tuple[Goal, ...] = ()
    yardsticks: tuple[str, ...] = ()
    moved: int | None = None
    """Bytes that must move, where that is less than all arrays together."""
    tolerance: float | None = None
    """How far a result may be from the right one, both as long vectors; by the element type unless given."""
    has_twin: bool = False
    """Whether it is timed without its checks too."""
    rounds: int | None = None
    peak: float = PRODUCTS
    """Operations per second that the datasheet allows for its element types."""
    rotated: int = 512 << 20
    """Bytes of arguments that launches go through in turn: ten times the cache, so that nothing is found there."""
    scalars: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments, which are no arrays."""

    @property
    def bytes(self) -> int:
        """What must move through memory at least: each input once, each output once."""
        return sum(each.nbytes for each in self.arrays.values()) if self.moved is None else self.moved

    @property
    def held(self) -> int:
        """Bytes of one set of arguments."""
        return sum(each.nbytes for each in self.arrays.values())

    @property
    def is_streaming(self) -> bool:
        """Whether memory is what limits it, and not arithmetic."""
        return self.bytes / BANDWIDTH > self.operations / self.peak

    @property
    def limit(self) -> float:
        """The seconds that the datasheet allows at best."""
        return max(self.bytes / BANDWIDTH, self.operations / self.peak)

    @property
    def has_indices(self) -> bool:
        """Whether the contents of arguments are looked at: a graph of torch's cannot hold that, one of ours can."""
        return any(each.is_index and not (each.is_output or each.is_count) for each in self.arrays.values())

    @property
    def sets(self) -> int:
        """How many sets of arguments are taken in turn."""
        return max(min(-(-self.rotated // max(self.bytes, 1)), 64), 1)


TOLERANCE: Final = {"f32": 1e-5, "bf16": 1e-2, "f8e4m3": 5e-2}


def whole(right: Callable[[Any, Args], Any]) -> Check:
    """A check of all of the result."""
    return lambda torch, a, got: [(got, right(torch, a))]


def wide(tensor: Any) -> Any:
    """In float64."""
    return tensor.double()


# How arguments are made.


def on_torch(row: Row, torch: Any, device: str) -> Args:
    """Arguments as tensors: fresh random numbers, and outputs full of NaN."""
    return Args(**{name: tensor_of(each, torch, device) for name, each in row.arrays.items()}, **row.scalars)


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
        count = math.prod(each.shape)
        return torch.randperm(each.below, device=device)[:count].to(dtype).reshape(each.shape)
    if not dtype.is_floating_point:
        return torch.randint(each.low, each.below, each.shape, dtype=dtype, device=device)
    if each.element == "f8e4m3":
        return (torch.randn(each.shape, dtype=torch.bfloat16, device=device) * each.scale).to(dtype)
    made = torch.randn(each.shape, dtype=dtype, device=device)
    return made if each.scale == 1.0 else made.mul_(each.scale)


def sets_of(row: Row, torch: Any, device: str = "cuda") -> list[Args]:
    """Arguments to take in turn."""
    return [on_torch(row, torch, device) for _ in range(row.sets)]


# Right results.


def problem_of(row: Row, call: Callable[[], Any], args: Args, torch: Any) -> str:
    """What is wrong with the result of a call; empty if nothing is."""
    outputs = {name: getattr(args, name) for name, each in row.arrays.items() if each.is_output}
    for each in outputs.values():
        each.fill_(float("nan") if each.dtype.is_floating_point else -7)
    got = call()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    if got is None:
        got = next(iter(outputs.values())) if len(outputs) == 1 else tuple(outputs.values())
    for part, right in row.check(torch, args, got):
        wrong = _difference(part, right, row.tolerance, torch)
        if wrong:
            return wrong
    return ""


def _difference(part: Any, right: Any, tolerance: float | None, torch: Any) -> str:
    if tuple(part.shape) != tuple(right.shape):
        return f"WRONG: its shape is {tuple(part.shape)}, not {tuple(right.shape)}"
    if not part.dtype.is_floating_point:
        off = int((part.long() != right.long()).sum())
        return f"WRONG: {off} of {part.numel()} elements differ" if off else ""
    kind = {torch.float32: "f32", torch.float64: "f32"}.get(part.dtype, "bf16")
    allowed = TOLERANCE[kind] if tolerance is None else tolerance
    difference = length = 0.0
    for some, good in zip(part.flatten().split(1 << 26), right.flatten().split(1 << 26), strict=True):
        missing = int((~torch.isfinite(some.float())).sum())
        if missing:
            return f"WRONG: {missing} of {part.numel()} elements are not finite or were not written"
        difference += float((some.double() - good.double()).square().sum())
        length += float(good.double().square().sum())
    error = (difference / length) ** 0.5 if length else (0.0 if difference == 0 else math.inf)
    return "" if error <= allowed else f"WRONG: relative error {error:.1e}"


def chosen(groups: Mapping[str, str], words: Sequence[str]) -> list[str]:
    """Names that have one of the words in them, or that are of such a group; all without words."""
    unknown = [word for word in words if not any(word in name or word == group for name, group in groups.items())]
    if unknown:
        there = ", ".join(dict.fromkeys(groups.values()))
        raise SystemExit(f"no row has {', '.join(unknown)} in its name; there are {there}: see --list")
    return [
        name for name, group in groups.items()
        if not words or any(word in name or word == group for word in words)
    ]  # fmt: skip
