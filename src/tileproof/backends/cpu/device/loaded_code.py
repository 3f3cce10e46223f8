"""Compiled kernels in memory, and the words that a launch fills in for them."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy.typing as npt

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.codegen.parameters import Shown, Specialization, Words, candidates, chosen, sites_of
from tileproof.backends.parallel_space import place_count
from tileproof.backends.scalars import requires_scalars
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.ir import ops
from tileproof.ir.types import Tensor, TensorType, TileType
from tileproof.ir.walk import walk
from tileproof.lowering.split_join import tile_sizes

if TYPE_CHECKING:
    from tileproof.backends.interpreter.reports import Reporter

Array: TypeAlias = npt.NDArray[Any]

NOBODY: Final = 2**63 - 1
"""The program in a record that holds no report."""
_ALL: Final = 2**64 - 1
_SHARES: Final = 16
"""The most copies of a tensor that is combined into."""
_SHARED_BYTES: Final = 64 << 20
"""The most memory those copies take together."""
_SETUP = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
class Code:
    """A kernel compiled for a specialization, as it is kept on disk."""

    name: str
    object: bytes
    arena: int
    """Bytes of scratch memory that a thread needs."""
    piece: int
    """Bytes that each program leaves for the join."""
    dimensions: tuple[str, ...]
    """The dimensions whose extents follow the other words, in order."""
    shown: Mapping[int, tuple[Shown, ...]]
    packs: tuple[tuple[int, int], ...]
    """The candidates for packing that are packed beforehand, and the bytes of a tile of each."""
    is_ordered: bool
    """Whether programs must run one after another, because they print."""

    @property
    def has_after(self) -> bool:
        """Whether something follows a join."""
        return self.piece > 0


def load(code: Code) -> dict[str, int]:
    """Puts code into memory, for good and only once; gives the addresses of its functions by what they do."""
    after = ("after",) if code.has_after else ()
    what = ("setup", "main", *after, *(f"pack{place}" for place, _ in code.packs))
    addresses = llvm.load_object(code.object, [f"{code.name}.{part}" for part in what])
    return dict(zip(what, addresses.values(), strict=True))


class Lowered:
    """The IR that code is made of, and what every launch asks of it, found out once."""

    __slots__ = ("kernel", "packable", "tensors", "walks")

    def __init__(self, kernel: ops.KernelIR) -> None:
        self.kernel = kernel
        self.packable = candidates(kernel)
        self.tensors = tuple(p.value for p in kernel.parameters if isinstance(p.value.type, TensorType))
        self.walks = tile_sizes(kernel)

    def specialization(self, arguments: Mapping[str, Any], dimensions: Mapping[str, int], cache: int) -> Specialization:
        """What the arguments of a launch allow the compiler to rely on."""
        unit, stream, shapes = [], [], {}
        for tensor in self.tensors:
            array, access = arguments[tensor.name], tensor.type.access
            steps = _row_by_row(array) if access.combines else array.strides
            unit.append(tuple(step == array.itemsize for step in steps))
            stream.append(access.writes and array.nbytes >= cache)
            shapes[tensor.name] = array.shape
        divided = tuple(
            (name, size) for name, size in self.walks if dimensions[name] and dimensions[name] % size == 0
        )
        packed = chosen(self.kernel, self.packable, dimensions, shapes) if self.packable else ()
        return Specialization(tuple(unit), divided, tuple(stream), packed)


class Loaded:
    """A compiled kernel that can run."""

    def __init__(
        self, lowered: Lowered, specialization: Specialization, code: Code, addresses: Mapping[str, int] | None = None
    ) -> None:
        """`addresses` are those of the functions of the code, if it is loaded."""
        addresses = load(code) if addresses is None else addresses
        self.packing = [addresses[f"pack{place}"] for place, _ in code.packs]
        self.lowered, self.specialization, self.code = lowered, specialization, code
        self.kernel = kernel = lowered.kernel
        self.setup = _SETUP(addresses["setup"])
        self.main = addresses["main"]
        self.after = addresses.get("after", 0)
        self.words = Words(kernel)
        for name in code.dimensions:
            self.words.dimension(name)
        self.tensors = lowered.tensors
        self.scalars = [p.value for p in kernel.parameters if isinstance(p.value.type, TileType)]
        outer = [op for op in kernel.body.ops if not isinstance(op, ops.Parallel)]
        is_alone = self.words.parallel is None
        tested = (ops.Require,) if is_alone else (ops.Require, ops.Check)
        self.has_setup = any(isinstance(op, tested) for op in outer)
        is_tested = not is_alone and any(isinstance(op, ops.Check) for op in outer)
        is_simple = not (is_tested or self.words.segments or code.is_ordered or code.packs)
        self.has_checks = any(isinstance(op, ops.Check) for op in walk(kernel.body))
        """Whether a program may report that one failed."""
        self.combined = [tensor for tensor in self.tensors if tensor.type.access.combines]
        self.is_plain = is_simple and not (code.has_after or self.combined or requires_scalars(kernel))
        """Whether a launch is one job and nothing else, once contracts of its extents were tested."""
        self.is_native = is_simple and not (code.has_after and self.combined)
        """Whether it is copies and jobs in a fixed order, once its contracts were tested: what tensors begin as, the
        programs, and those after a join."""

    def programs(self, dimensions: Mapping[str, int]) -> int:
        """How many programs there are at these extents, where no walker goes by segments."""
        return math.prod(place_count(walker, dimensions) for walker in self.words.walkers)

    def shares(self, tensors: Mapping[str, Array], programs: int) -> int:
        """How many copies of the tensors that are combined into so many programs share."""
        amounts = [tensors[tensor.name].nbytes for tensor in self.combined]
        return min((_shares(amount, max(programs, 1)) for amount in amounts), default=1)

    def joins(self, dimensions: Mapping[str, int]) -> int:
        """How many programs follow the join."""
        return math.prod(place_count(walker, dimensions) for walker in self.words.walkers if not walker.type.is_piece)

    def fixed_words(self, tensors: Mapping[str, Array], dimensions: Mapping[str, int]) -> list[int]:
        """The words of the arguments that follow from shapes and strides; 0 for the others."""
        places = self.words.places
        values = [0] * len(places)
        for walker in self.words.walkers:
            if walker not in self.words.segments:
                values[places[walker.name, "count"]] = place_count(walker, dimensions)
        for tensor in self.tensors:
            array = tensors[tensor.name]
            for axis in range(array.ndim):
                values[places[tensor.name, "extent", axis]] = array.shape[axis]
                values[places[tensor.name, "stride", axis]] = array.strides[axis] // array.itemsize & _ALL
        for name in self.code.dimensions:
            values[self.words.dimension(name)] = dimensions[name]
        values[places["programs"]] = 0 if self.words.segments else self.programs(dimensions)
        return values

    def failure(
        self, record: Sequence[int], dimensions: Mapping[str, int], tensors: Mapping[Tensor, Array]
    ) -> Exception:
        """What a failed check reported."""
        point, site, index, low, high = (int(word) - (1 << 64 if word >> 63 else 0) for word in record[1:])
        op = sites_of(self.kernel)[site]
        assert isinstance(op, ops.Check)
        return self.report(dimensions, tensors).failed_check(op, index, low, high, None if point < 0 else point)

    def report(self, dimensions: Mapping[str, int], tensors: Mapping[Tensor, Array]) -> Reporter:
        """Who says what went wrong."""
        from tileproof.backends.interpreter.reports import Reporter
        from tileproof.backends.parallel_space import space_of

        return Reporter(self.kernel, space_of(self.kernel, dimensions, tensors), dimensions)


def is_row_by_row(array: Array) -> bool:
    """Whether an array has no gaps."""
    return array.strides == _row_by_row(array)


def _shares(amount: int, count: int) -> int:
    """How many copies of a tensor of so many bytes programs combine into: a function of sizes, not of threads."""
    return max(1, min(_SHARES, count, _SHARED_BYTES // max(amount, 1)))


def _row_by_row(array: Array) -> tuple[int, ...]:
    """The steps of an array without gaps, in bytes: those that code relies on for tensors that are combined into."""
    steps = [array.itemsize]
    for extent in reversed(array.shape[1:]):
        steps.append(steps[-1] * extent)
    return tuple(reversed(steps[: array.ndim]))
