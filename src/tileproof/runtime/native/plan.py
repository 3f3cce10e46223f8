"""Plans: what one launch found out that holds for every launch like it.

A plan is made of a launch that went the full way. It is keyed by exact element types, extents and strides, so all that
the full launch derived from those (facts, dimensions, grid, contracts) is a constant of the plan. Addresses and scalars
differ from launch to launch; what was demanded of them is part of the plan and looked at every time.

The second call of the driver that a launch has where pieces are joined, and the memory between the two. The memory is
taken and given back in the order of the stream, at every launch. To keep some with the plan would save two calls of the
driver, and costs more than that: plans are many and the memory may be large, and whoever launches on another stream, or
replays what a stream has recorded, would have to be kept away from it.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from dataclasses import field
from typing import Any, Final, NamedTuple, TypeAlias

from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.language.dtypes import BOOL, F32, F64, DType, limits

from .structures import (
    MOST_ARGUMENTS,
    MOST_AXES,
    MOST_DIMENSIONS,
    MOST_WORDS,
    ArgumentData,
    DividedData,
    Division,
    Form,
    From,
    JoinData,
    PlanData,
    SourceData,
    StoredAs,
    Unit,
)


@dataclass(frozen=True, slots=True)
class Join:
    """What comes after the first call: another one, with the same words, that reads what the first left."""

    name: str
    function: int
    grid: tuple[int, int, int]
    word: int
    """Which of the driver's parameters is the address of the memory."""
    nbytes: int
    allocate: int
    """The addresses of `cuMemAllocAsync`, `cuMemFreeAsync` and `cuStreamIsCapturing`."""
    release: int
    recording: int
    early: int = 0
    """The address of `cuLaunchKernelEx`, if the second may come to the GPU while the first runs: it waits by itself."""
    broke: Callable[[tuple[Any, ...], int, int], object] | None = field(default=None, repr=False, compare=False)
    """Is called with arguments, stream and error if the driver took the first call only, and raises."""

    def __post_init__(self) -> None:
        if not all(0 < count < 2**31 for count in self.grid) or not 0 < self.nbytes < 2**63:
            raise ValueError(f"a second call with a grid of {self.grid} and {self.nbytes} bytes")

    def packed(self) -> JoinData:
        """The same for the native code."""
        data = JoinData(
            function=self.function, word=self.word, bytes=self.nbytes, allocate=self.allocate, release=self.release,
            recording=self.recording, early=self.early, broke=id(self.broke),
        )  # fmt: skip
        data.grid[:] = self.grid
        return data


Three: TypeAlias = tuple[int, int, int]

CPU: Final = (1, 0)
"""The device of memory that the CPU owns, as DLPack names it."""
CUDA: Final = 2
"""DLPack's number for memory of a CUDA device."""
LONG: Final = 2**63
"""Whole numbers are recognised from minus this to below it, also for u64."""
_DLPACK_KINDS: Final = {"int": 0, "uint": 1, "float": 2, "bool": 6}
_DLPACK_CODES: Final = {"bf16": 4, "f8e4m3": 10, "f8e5m2": 12}


def element_code(dtype: DType) -> int:
    """DLPack's code, bits and number of lanes of an element type, in one number."""
    code = _DLPACK_CODES.get(dtype.name, _DLPACK_KINDS.get(dtype.kind))
    if code is None or dtype.storage is None:
        raise ValueError(f"no tensor holds {dtype}")
    return code | dtype.bits << 8 | 1 << 16


@dataclass(frozen=True, slots=True)
class TensorArgument:
    """A tensor: exactly these extents and strides (in bytes), at an address that is a multiple of `alignment`."""

    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    alignment: int
    is_written: bool
    word: int | None
    """Which of the driver's parameters is its address; None if the kernel does not take it."""
    is_read: bool = True
    """Whether what it held before matters; if not, all its elements are written."""
    code: int = field(init=False, repr=False, compare=False)
    """The element type as DLPack names it."""
    storage: Any = field(init=False, repr=False, compare=False)
    """The element type as numpy names it."""
    is_empty: bool = field(init=False, repr=False, compare=False)
    reach: tuple[int, int] = field(init=False, repr=False, compare=False)
    """Bytes from the first element down to the lowest, and up to the end of the highest."""

    def __post_init__(self) -> None:
        if len(self.shape) != len(self.strides):
            raise ValueError(f"{len(self.shape)} extents and {len(self.strides)} strides")
        if self.alignment < self.itemsize or self.alignment & self.alignment - 1:
            raise ValueError(f"elements of {self.itemsize} bytes at multiples of {self.alignment}")
        if any(extent < 0 for extent in self.shape):
            raise ValueError(f"a shape of {self.shape}")
        _set(self, code=element_code(self.dtype), storage=self.dtype.storage, is_empty=0 in self.shape)
        if any(step % self.itemsize for step in self._steps):
            raise ValueError(f"strides of {self.strides} for elements of {self.itemsize} bytes")
        _set(self, reach=self._reach())

    @property
    def itemsize(self) -> int:
        return self.dtype.bits // 8

    @property
    def _steps(self) -> list[int]:
        """The strides that lead to other elements."""
        pairs = zip(self.strides, self.shape, strict=True)
        return [] if self.is_empty else [stride for stride, extent in pairs if extent > 1]

    def _reach(self) -> tuple[int, int]:
        if self.is_empty:
            return 0, 0
        lengths = [stride * (extent - 1) for stride, extent in zip(self.strides, self.shape, strict=True)]
        return -sum(min(length, 0) for length in lengths), self.itemsize + sum(max(length, 0) for length in lengths)

    @property
    def fills(self) -> bool:
        """Whether every byte from the first to the last is written, and none is read."""
        return self.is_written and not self.is_read and sum(self.reach) == math.prod(self.shape) * self.itemsize

    @property
    def may_be_negated(self) -> bool:
        """Whether torch may store its elements negated: views of an imaginary part, which step over the real one."""
        return self.dtype.is_float and not self.is_empty and self.itemsize not in self._steps

    def packed(self) -> ArgumentData:
        """The same for the native code."""
        data = ArgumentData(form=Form.TENSOR, word=_place(self.word), rank=len(self.shape))
        data.is_written, data.is_empty, data.fills = self.is_written, self.is_empty, self.fills
        data.element[Unit.BYTES], data.element[Unit.ELEMENTS] = id(self.storage), self.code
        data.misaligned = self.alignment - 1
        data.before, data.behind = self.reach
        for axis, extent, stride in zip(data.axis, self.shape, self.strides, strict=False):
            axis.extent = extent
            axis.stride[Unit.BYTES], axis.stride[Unit.ELEMENTS] = stride, stride // self.itemsize
        return data


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A number of exactly the Python type `python_type`; a whole one may be narrowed to `least` to `most`."""

    dtype: DType
    python_type: type[bool] | type[int] | type[float]
    word: int | None
    least: int | None = None
    most: int | None = None
    stored_as: StoredAs = field(init=False, repr=False, compare=False)
    range: tuple[int, int] = field(init=False, repr=False, compare=False)
    """The least and the greatest whole number that is recognised."""
    greatest: float = field(init=False, repr=False, compare=False)
    """The greatest finite value of a float."""

    def __post_init__(self) -> None:
        dtype = self.dtype
        is_real = dtype in (F32, F64)
        fits = {bool: dtype is BOOL, int: dtype.is_integer or is_real, float: is_real}
        if not fits.get(self.python_type):
            raise ValueError(f"a scalar of {dtype} for a {self.python_type.__name__}")
        stored_as = {"f32": StoredAs.F32, "f64": StoredAs.F64}.get(dtype.name, StoredAs.WHOLE)
        least, most = map(int, limits(dtype)) if dtype.is_integer else (0, 1) if dtype is BOOL else (-LONG, LONG)
        least = least if self.least is None else max(least, self.least)
        most = most if self.most is None else min(most, self.most)
        _set(self, stored_as=stored_as, range=(max(least, -LONG), min(most, LONG - 1)))
        _set(self, greatest=limits(dtype)[1] if is_real else 0.0)

    @property
    def form(self) -> Form:
        return {bool: Form.TRUTH, int: Form.WHOLE, float: Form.REAL}[self.python_type]

    def packed(self) -> ArgumentData:
        """The same for the native code."""
        data = ArgumentData(form=self.form, word=_place(self.word), is_stored_as=self.stored_as)
        data.least, data.most = self.range
        data.greatest = self.greatest
        return data


def _set(argument: TensorArgument | OpenTensor | ScalarArgument, **derived: object) -> None:
    for name, value in derived.items():
        object.__setattr__(argument, name, value)


class OpenAxis(NamedTuple):
    """An axis of an argument of an open plan."""

    dimension: int
    """Which dimension of the plan it is; -1 for none."""
    extent: int
    """How many elements it has, if it is none."""
    is_unit: bool
    """Whether neighbours along it are neighbours in memory, which the code relies on."""


@dataclass(frozen=True, slots=True)
class OpenTensor:
    """A tensor of any shape and strides that the code is made for."""

    dtype: DType
    axes: tuple[OpenAxis, ...]
    is_written: bool
    word: int | None
    is_read: bool = True
    is_large: bool | None = None
    """Whether it has at least as many bytes as the plan's `cache`; None if that does not matter."""
    code: int = field(init=False, repr=False, compare=False)
    storage: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _set(self, code=element_code(self.dtype), storage=self.dtype.storage)

    @property
    def itemsize(self) -> int:
        return self.dtype.bits // 8

    @property
    def may_be_negated(self) -> bool:
        """As of `TensorArgument`: strides are not known here."""
        return self.dtype.is_float

    def packed(self) -> ArgumentData:
        """The same for the native code."""
        data = ArgumentData(form=Form.TENSOR, word=_place(self.word), rank=len(self.axes))
        data.is_written, data.is_read, data.itemsize = self.is_written, self.is_read, self.itemsize
        data.is_large = -1 if self.is_large is None else self.is_large
        data.element[Unit.BYTES], data.element[Unit.ELEMENTS] = id(self.storage), self.code
        data.misaligned = self.itemsize - 1
        for axis, open_axis in zip(data.axis, self.axes, strict=False):
            axis.dimension, axis.extent, axis.is_unit = open_axis
        return data


Argument: TypeAlias = TensorArgument | OpenTensor | ScalarArgument


class Source(NamedTuple):
    """A word that follows from extents and strides: `layout.From` says how."""

    word: int
    """-1 for none: of a walker whose places count."""
    kind: From
    first: int = 0
    second: int = 0
    size: int = 1


@dataclass(frozen=True, slots=True)
class OnCpu:
    """What a plan of the CPU has besides."""

    first: int
    """Which word is the first argument of the code."""
    record: int
    """Which is the first that a failed check reports in."""
    programs: int
    """How many there are, in a plan for one shape."""
    dimensions: tuple[str, ...] = ()
    """Of an open plan: what decides the rest."""
    is_open: bool = False
    is_quick: bool = False
    """Whether a small launch may be done at once: it has no checks, and its loops end with its dimensions."""
    chunks: int = 1
    cache: int = 0
    arena: int = 0
    sources: tuple[Source, ...] = ()
    divided: tuple[tuple[int, int, Division], ...] = ()
    """Dimensions, sizes, and how those relate to these."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """One remembered launch."""

    arguments: tuple[Argument, ...]
    words: tuple[int, ...]
    """What the driver's parameters point at, 64 bits each; what stands at the words of arguments is replaced."""
    function: int
    grid: Three
    entry: int
    """The address of `cuLaunchKernel`, or of something that is called like it."""
    device: tuple[int, int]
    """Where every tensor is, as DLPack names it: `CPU`, or `(CUDA, ordinal)`."""
    stream: int | None
    """The stream; None for the current one at each launch: torch's, if nobody says another. With a stream of its own a
    plan takes no torch tensors, because their memory is ordered by torch's."""
    block: Three = (1, 1, 1)
    shared_bytes: int = 0
    context: int = 0
    context_entry: int = 0
    """The address of `cuCtxGetCurrent`; if it is given, `context` must be current."""
    releases_gil: bool = True
    """Whether other threads may run Python while the driver works, which may wait for room in its queue."""
    lanes: int = 0
    """Where the `Lanes` of the device are, which take the leases; 0 if none are taken."""
    join: Join | None = None
    """What comes after the first call of the driver, where there are two."""
    keep: Any = field(default=None, repr=False)
    """What must live as long as the plan, such as the loaded code."""
    cpu: OnCpu | None = None
    """Of a plan of the CPU, which no driver is called for."""

    def __post_init__(self) -> None:
        places = [argument.word for argument in self.arguments if argument.word is not None]
        if len(set(places)) < len(places) or any(not 0 <= place < len(self.words) for place in places):
            raise ValueError(f"arguments at the words {places} of {len(self.words)}")
        if not all(0 <= count < 2**31 for count in (*self.grid, *self.block, self.shared_bytes)):
            raise ValueError(f"a grid of {self.grid}, blocks of {self.block}, {self.shared_bytes} shared bytes")
        if not all(0 <= word < 2**64 for word in self.words):
            raise ValueError("a word that is not 64 bits, not negative")
        if self.join is not None and (self.join.word in places or not 0 <= self.join.word < len(self.words)):
            raise ValueError(f"memory at the word {self.join.word} of {len(self.words)}")

    @property
    def has_room(self) -> bool:
        """Whether the fast path takes launches of this size."""
        ranks = [len(argument.shape) for argument in self.arguments if isinstance(argument, TensorArgument)]
        ranks += [len(argument.axes) for argument in self.arguments if isinstance(argument, OpenTensor)]
        reach = [max(argument.reach) for argument in self.arguments if isinstance(argument, TensorArgument)]
        return (
            len(self.arguments) <= MOST_ARGUMENTS and len(self.words) <= MOST_WORDS
            and max(ranks, default=0) <= MOST_AXES and max(reach, default=0) < 2**63
            and (self.cpu is None or len(self.cpu.dimensions) <= MOST_DIMENSIONS)
        )  # fmt: skip

    @property
    def has_programs(self) -> bool:
        return math.prod(self.grid) > 0


class Packed:
    """A plan and its form for the native code, which lives as long as this object."""

    __slots__ = ("_arguments", "_cpu", "_join", "_words", "data", "plan")

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._words = (ctypes.c_uint64 * max(len(plan.words), 1))(*plan.words)
        self._arguments = (ArgumentData * max(len(plan.arguments), 1))(*(arg.packed() for arg in plan.arguments))
        self._join = None if plan.join is None else plan.join.packed()
        self.data = PlanData(
            arguments=len(plan.arguments), words=len(plan.words), device_type=plan.device[0], device=plan.device[1],
            shared_bytes=plan.shared_bytes, follows=plan.stream is None, releases_gil=plan.releases_gil,
            has_programs=plan.has_programs, function=plan.function, stream=plan.stream or 0, context=plan.context,
            launch=plan.entry, current_context=plan.context_entry, word=ctypes.addressof(self._words),
            argument=ctypes.addressof(self._arguments), lanes=plan.lanes,
            join=None if self._join is None else ctypes.addressof(self._join),
        )  # fmt: skip
        self.data.grid[:], self.data.block[:] = plan.grid, plan.block
        if plan.cpu is not None:
            self._on_cpu(plan.cpu)

    def _on_cpu(self, cpu: OnCpu) -> None:
        sources = (SourceData * max(len(cpu.sources), 1))(*(SourceData(*source) for source in cpu.sources))
        divided = (DividedData * max(len(cpu.divided), 1))()
        for division, (dimension, size, kind) in zip(divided, cpu.divided, strict=False):
            division.dimension, division.size, division.kind = dimension, size, kind
        self._cpu = sources, divided
        data = self.data
        data.is_open, data.is_quick, data.sources, data.divisions = (
            cpu.is_open, cpu.is_quick, len(cpu.sources), len(cpu.divided)
        )  # fmt: skip
        data.record, data.first, data.dimensions = cpu.record, cpu.first, len(cpu.dimensions)
        data.cache, data.chunks, data.programs, data.arena = cpu.cache, cpu.chunks, cpu.programs, cpu.arena
        data.source, data.divided = ctypes.addressof(sources), ctypes.addressof(divided)

    @property
    def address(self) -> int:
        return ctypes.addressof(self.data)


def bits_of(plan: Plan, name: str) -> int:
    """A number with a bit for every tensor of which the property `name` holds."""
    return sum(
        1 << place
        for place, argument in enumerate(plan.arguments)
        if isinstance(argument, TensorArgument | OpenTensor) and getattr(argument, name)
    )


def _place(word: int | None) -> int:
    return -1 if word is None else word
