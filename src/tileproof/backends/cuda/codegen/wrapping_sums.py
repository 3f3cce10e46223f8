"""Which sums of products of 8-bit integers fit 32 bits.

Integers wrap. Tensor cores keep a sum that is too large at the limit instead, and what Tile IR is to do is not said. So
they are given a sum to add to only if so few products are in it that it cannot come so far; what they make from zero is
added to any other. The assembler makes additions part of products, also behind loops of one turn and whatever else it
sees through; so it is told of no addition to what comes from a product, unless the sum fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tileproof.ir import ops
from tileproof.ir.types import AnyValue, Tile
from tileproof.ir.walk import walk
from tileproof.language.dtypes import DType

from .layout_specialization import SHORT, Specialization

_LARGEST: Final = 2**31 - 1
IsZero: TypeAlias = Callable[[Tile], bool]
"""Knows constants."""


def most(dtype: DType) -> int:
    """How many products of two elements of a type surely fit 32 bits."""
    return _LARGEST // _largest(dtype)


def _largest(dtype: DType) -> int:
    """The magnitude of a product of two elements of a type at most."""
    return 128 * 128 if dtype.kind == "int" else 255 * 255


@dataclass
class Sums:
    """The sums of a kernel, by how large the products in them can be together."""

    kernel: ops.KernelIR
    specialization: Specialization
    _makers: dict[AnyValue, ops.AnyOp] = field(init=False, default_factory=dict)
    _loops: dict[AnyValue, tuple[ops.TilesLoop, int]] = field(init=False, default_factory=dict)
    """For what a loop carries, or gives, the loop and the place."""
    _pending: set[AnyValue] = field(init=False, default_factory=set)
    """What loops carry whose growth is being found: a sum that grows with itself has no bound."""
    products: set[AnyValue] = field(init=False, default_factory=set)
    """What comes from products of matrices of integers, whatever was done to it."""

    def __post_init__(self) -> None:
        for op in walk(self.kernel.body):
            self._makers.update(dict.fromkeys(ops.results(op), op))
            if isinstance(op, ops.TilesLoop):
                for place, (carried, result) in enumerate(zip(op.carried, op.results, strict=True)):
                    self._loops[carried] = self._loops[result] = op, place
        self.products = _from_products(self.kernel.body)

    def fits(self, sum_: Tile, is_zero: IsZero) -> bool:
        """Whether a sum of products fits 32 bits at every moment."""
        size = self._total(sum_, is_zero)
        return size is not None and size <= _LARGEST

    def _total(self, sum_: Tile, is_zero: IsZero) -> int | None:
        """The size of a sum that began with zero; None if it began otherwise, or has no bound."""
        if is_zero(sum_):
            return 0
        if sum_ in self._loops:
            loop, place = self._loops[sum_]
            grown = self._growth(loop, place, is_zero, is_inside=sum_ is loop.carried[place])
            return _added(self._total(loop.inits[place], is_zero), grown)
        return self._total_by_parts(sum_, is_zero, lambda part: self._total(part, is_zero))

    def _growth(self, loop: ops.TilesLoop, place: int, is_zero: IsZero, *, is_inside: bool = False) -> int | None:
        """What a loop adds to what it carries; inside of it, before the last turn."""
        carried, extent = loop.carried[place], self.kernel.static.get(loop.walker.type.dimension)
        if not isinstance(extent, int):
            extent = SHORT - 1 if loop.walker.type.dimension in self.specialization.short else None
        size = 1 if loop.walker.type.size is None else loop.walker.type.size
        if extent is None or loop.start is not None or not isinstance(size, int) or carried in self._pending:
            return None
        self._pending.add(carried)
        of_turn = self._since(loop.body.yields[place], carried, is_zero)
        self._pending.discard(carried)
        turns = -(-extent // size)
        return None if of_turn is None else max(turns - is_inside, 0) * of_turn

    def _since(self, sum_: Tile, origin: Tile, is_zero: IsZero) -> int | None:
        """What is in a sum beyond the one it comes from."""
        if sum_ is origin:
            return 0
        if sum_ in self._loops:
            loop, place = self._loops[sum_]
            before = self._since(loop.inits[place], origin, is_zero)
            return _added(before, self._growth(loop, place, is_zero, is_inside=sum_ is loop.carried[place]))
        return self._total_by_parts(sum_, is_zero, lambda part: self._since(part, origin, is_zero))

    def _total_by_parts(self, sum_: Tile, is_zero: IsZero, counted: Callable[[Tile], int | None]) -> int | None:
        """The size of a sum, by that of the one that it is made of."""
        maker = self._makers.get(sum_)
        match maker:
            case ops.Mma():
                inner, dtype = maker.left.type.axes[-1].length, maker.left.type.dtype
                return _added(counted(maker.acc), inner * _largest(dtype) if isinstance(inner, int) else None)
            case ops.Binary(fn=ops.BinaryFn.ADD, left=left, right=right):
                for one, other in ((left, right), (right, left)):
                    if isinstance(self._makers.get(other), ops.Mma):
                        return _added(counted(one), self._total(other, is_zero))
        return None


def _added(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _from_products(body: ops.Block) -> set[AnyValue]:
    """The values of a kernel that products of matrices of integers may be in."""
    every = list(walk(body))
    values: set[AnyValue] = {op.result for op in every if isinstance(op, ops.Mma) and op.left.type.dtype.is_integer}
    before = 0
    while len(values) > before:
        before = len(values)
        for sources, results in (way for op in every for way in _ways(op)):
            if not values.isdisjoint(sources):
                values.update(results)
    return values


def _ways(op: ops.AnyOp) -> Iterator[tuple[Sequence[AnyValue], Sequence[AnyValue]]]:
    """What values go into an operation, and into which they go from there."""
    match op:
        case ops.TilesLoop() | ops.RangeLoop() | ops.While():
            for init, carried, left, result in zip(op.inits, op.carried, op.body.yields, op.results, strict=True):
                yield (init, left), (carried, result)
        case ops.Fold(combiner=by) | ops.Scan(combiner=by) | ops.Join(combiner=by):
            for place, (operand, end, result) in enumerate(zip(op.operands, by.body.yields, op.results, strict=True)):
                first = (op.identities[place],) if isinstance(op, ops.Fold) else ()
                yield (operand, *first, end), (by.left[place], by.right[place], result)
        case ops.If():
            for one, other, result in zip(op.then.yields, op.orelse.yields, op.results, strict=True):
                yield (one, other), (result,)
        case _:
            yield ops.operands(op), ops.results(op)
