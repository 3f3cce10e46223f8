"""What the code of a kernel on the CPU and its launches agree on: specialization, packed operands, argument words.

A launch loads this, and nothing that writes code.

What a launch tells the compiler about its arguments: part of the key a compiled kernel is kept under. A fact is stated
only if the launch verified it, and a kernel specialized to it runs only where it holds.

GEMM operands that many programs share are packed once for all of them, before they run. An operand qualifies if it is a
tile of a tensor that is only read, possibly converted or transposed, whose place follows from indices and from walkers
that step by whole tiles. It is then packed for every place of the tensor, so that none is missing. That is worth the
memory where each packed tile is used several times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field

from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.ir import ops
from tileproof.ir.types import Access, AnyValue, Named, TensorType, Tile, Walker, WalkerTag, number
from tileproof.ir.walk import walk
from tileproof.language.dtypes import INDEX, DType
from tileproof.lowering.split_join import split_at_join


@dataclass(frozen=True, slots=True)
class Specialization:
    """What the compiler may rely on about the arguments of a launch."""

    unit: tuple[tuple[bool, ...], ...]
    """For each tensor and axis, whether neighbours along it are neighbours in memory."""
    divided: tuple[tuple[str, int], ...]
    """Dimensions and the tile sizes that divide them."""
    stream: tuple[bool, ...]
    """For each tensor, whether it is so large that stores had better pass by the caches."""
    packed: tuple[bool, ...] = ()
    """For each operand of a product that can be packed beforehand, whether it is worth it."""


_USES = 4
"""How often a packed tile must be used, on average."""
_MOST = 64 << 20
"""How many bytes packed operands may take in all."""
_WIDE = 64
"""Columns of the right operand from which on a left one, which is only copied, is packed for less than the launch of
another job takes."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An operand of a product that can be packed beforehand."""

    product: ops.Mma
    is_left: bool
    load: ops.Load
    chain: tuple[ops.Cast | ops.Permute, ...]
    """What is done to what is loaded."""
    loops: tuple[Walker, ...]
    """The walkers of sequential loops among its picks."""

    @property
    def tile(self) -> Tile:
        return self.product.left if self.is_left else self.product.right

    @property
    def is_copied(self) -> bool:
        """Whether it is packed as it lies, and each of its elements is then used often."""
        columns = number(self.product.right.type.axes[1].length)
        return self.is_left and columns >= _WIDE and not any(isinstance(op, ops.Permute) for op in self.chain)


def candidates(kernel: ops.KernelIR) -> list[Candidate]:
    """All operands of a kernel that can be packed beforehand, in the order of the program."""
    space = next((op for op in kernel.body.ops if isinstance(op, ops.Parallel)), None)
    if space is None:
        return []
    within = tuple(walk(space.body))
    if not any(isinstance(op, ops.Mma) for op in within):
        return []
    parameters = {parameter.value for parameter in kernel.parameters}
    ragged = {segments.walker for segments in space.segments}
    steady = {walker for walker in space.walkers if walker not in ragged and not walker.type.is_piece}
    producers: dict[AnyValue, ops.AnyOp] = {}
    loops: dict[Walker, bool] = {}
    for op in within:
        producers |= dict.fromkeys(ops.results(op), op)
        if isinstance(op, ops.TilesLoop) and op.start is None:
            loops[op.walker] = op.stop is None
    operands = []
    for op in within:
        if isinstance(op, ops.Mma) and op.result.type.rank == 2:
            for tile, is_left in ((op.left, True), (op.right, False)):
                load, chain = _chain(tile, producers)
                if load is not None and load.tensor in parameters and _is_steady(op, load, is_left, steady, loops):
                    walkers = [pick.walker for pick in load.picks if isinstance(pick, ops.Along)]
                    operands.append(Candidate(op, is_left, load, chain, tuple(w for w in walkers if w in loops)))
    return operands


def _chain(
    tile: Tile, producers: Mapping[AnyValue, ops.AnyOp]
) -> tuple[ops.Load | None, tuple[ops.Cast | ops.Permute, ...]]:
    """The load of a tensor that is only read which a tile begins with, and its conversions and transpositions."""
    op = producers.get(tile)
    match op:
        case ops.Load(tensor=tensor) if tensor.type.access is Access.IN:
            return op, ()
        case ops.Cast(operand=operand) | ops.Permute(operand=operand):
            load, before = _chain(operand, producers)
            return load, (*before, op)
        case _:
            return None, ()


def _is_steady(
    product: ops.Mma, load: ops.Load, is_left: bool, steady: set[Walker], loops: Mapping[Walker, bool]
) -> bool:
    inner = product.left.type.axes[1].tag if is_left else product.right.type.axes[0].tag
    for pick, dimension in zip(load.picks, load.tensor.type.dimensions, strict=True):
        match pick:
            case ops.Along(walker) if dimension != Named(walker.type.dimension):
                return False  # its tiles end where that dimension does, not where the axis does
            case ops.Along(walker):
                # What a loop's bound cuts off of the inner axis is not to be multiplied, and it is packed here.
                is_cut = walker in loops and not loops[walker] and inner == WalkerTag(walker)
                if walker not in steady and (walker not in loops or is_cut):
                    return False
            case ops.At(index) if index.type.dtype == INDEX:
                pass
            case ops.Whole():
                pass
            case _:
                return False
    return True


def chosen(
    kernel: ops.KernelIR, packable: Sequence[Candidate], dimensions: Mapping[str, int],
    shapes: Mapping[str, Sequence[int]],
) -> tuple[bool, ...]:  # fmt: skip
    """Which candidates are worth it in a launch, given the extents of its tensors."""
    choices, left = [], _MOST
    space = next((op for op in kernel.body.ops if isinstance(op, ops.Parallel)), None)
    for candidate in packable:
        assert space is not None
        programs = math.prod(_tiles(dimensions[w.type.dimension], w) for w in space.walkers)
        turns = math.prod(_tiles(dimensions[w.type.dimension], w) for w in candidate.loops)
        places = math.prod(counts(candidate, shapes[candidate.load.tensor.name]))
        amount = places * math.prod(number(axis.length) for axis in candidate.tile.type.axes) * 4
        is_worth = programs * turns >= _USES * places and programs > 1 and 0 < amount <= left
        is_worth = is_worth and not candidate.is_copied
        left -= amount if is_worth else 0
        choices.append(is_worth)
    return tuple(choices)


def limits(kernel: ops.KernelIR, packable: Sequence[Candidate]) -> tuple[tuple[str, int], ...] | None:
    """Dimensions and their greatest extents up to which nothing is packed, whatever else; None if it is not so simple.

    A packed tile is used by every place of the walkers that do not pick it, and is not worth it below `_USES` of them.
    """
    space = next((op for op in kernel.body.ops if isinstance(op, ops.Parallel)), None)
    limits = []
    for candidate in packable:
        assert space is not None
        picked = {pick.walker for pick in candidate.load.picks if isinstance(pick, ops.Along)}
        others = [walker for walker in space.walkers if walker not in picked]
        if candidate.is_copied or not others:
            continue
        if len(others) > 1:
            return None
        size = others[0].type.size
        limits.append((others[0].type.dimension, (_USES - 1) * (1 if size is None else number(size))))
    return tuple(limits)


def _tiles(extent: int, walker: Walker) -> int:
    return -(-extent // (1 if walker.type.size is None else number(walker.type.size)))


def counts(candidate: Candidate, shape: Sequence[int]) -> list[int]:
    """How many places the tile has along each axis of its tensor."""
    counts = []
    for pick, extent in zip(candidate.load.picks, shape, strict=True):
        match pick:
            case ops.Along(walker):
                counts.append(_tiles(extent, walker))
            case ops.Whole():
                counts.append(1)
            case _:
                counts.append(extent)
    return counts


@dataclass
class Words:
    """Which word of the arguments holds what."""

    kernel: ops.KernelIR
    places: dict[object, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("record", "printer", "programs", "shares", "space"):
            self._add(name)
        for parameter in self.kernel.parameters:
            value = parameter.value
            if isinstance(value.type, TensorType):
                rank = len(value.type.dimensions)
                self._add((value.name, "pointer"))
                for axis in range(rank):
                    self._add((value.name, "extent", axis))
                for axis in range(rank):
                    self._add((value.name, "stride", axis))
                if value.type.access.combines:
                    self._add((value.name, "share"))
            else:
                self._add(value.name)
        for walker in self.walkers:
            self._add((walker.name, "count"))
            if walker in self.segments:
                self._add((walker.name, "table"))
        for place in range(len(candidates(self.kernel))):
            self._add(("packed", place))

    def _add(self, key: object) -> None:
        self.places[key] = len(self.places)

    def dimension(self, name: str) -> int:
        """The word of a dimension's extent, made when it is first asked for."""
        if ("dimension", name) not in self.places:
            self._add(("dimension", name))
        return self.places["dimension", name]

    @property
    def parallel(self) -> ops.Parallel | None:
        return next((op for op in self.kernel.body.ops if isinstance(op, ops.Parallel)), None)

    @property
    def walkers(self) -> tuple[Walker, ...]:
        return () if self.parallel is None else self.parallel.walkers

    @property
    def combines_after(self) -> bool:
        """Whether what follows a join combines into a tensor."""
        after = None if self.parallel is None else split_at_join(self.parallel).after
        return after is not None and any(isinstance(op, ops.Update) for op in walk(after))

    @property
    def segments(self) -> dict[Walker, ops.Segments]:
        return {} if self.parallel is None else {each.walker: each for each in self.parallel.segments}


@dataclass(frozen=True, slots=True)
class Shown:
    """How a value of `tp.print` lies in memory: a pointer and its live lengths follow each other in the call."""

    dtype: DType
    strides: tuple[int, ...]


def sites_of(kernel: ops.KernelIR) -> Sequence[ops.AnyOp]:
    """Every check and print of a kernel, by number."""
    return [op for op in walk(kernel.body) if isinstance(op, ops.Check | ops.Print)]
