"""The builder of an entry: one method for each operation, which checks its operands and infers its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .builder_arithmetic import Arithmetic
from .builder_checks import INTEGERS, expect, permutation, tile, well_formed, wrong
from .builder_memory import Memory
from .builder_regions import Control
from .literals import Scalar, payload
from .types import (
    BF16,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    F64,
    I8,
    I32,
    TF32,
    TOKEN,
    Bounded,
    Divisible,
    Element,
    Number,
    Pointer,
    Promise,
    Signedness,
    Tile,
    Value,
)

_PRODUCTS: Final[dict[Element, tuple[Number, ...]]] = {
    F8E4M3: (F16, F32),
    F8E5M2: (F16, F32),
    F16: (F16, F32),
    BF16: (F32,),
    TF32: (F32,),
    F32: (F32,),
    F64: (F64,),
}
"""The element types of matrices, and of what their products may be added up in."""


class Builder(Arithmetic, Control, Memory):
    """Writes one entry. A mistake in the operands is a TypeError that names the operation and the types."""

    # Making tiles.

    def constant(self, kind: Tile, value: Scalar | Sequence[Scalar]) -> Value:
        """A tile of numbers known now: one for all elements, or all of them in a flat sequence."""
        well_formed("constant", kind)
        return self.one("constant", (), kind, {"value": payload(kind, value)})

    def iota(self, length: int, element: Number = I32) -> Value:
        """The numbers from 0 to `length - 1`."""
        kind = well_formed("iota", Tile(element, (length,)))
        if element not in INTEGERS or length > 1 << element.bits:
            raise wrong("iota", f"{length} numbers from 0 must fit", kind)
        return self.one("iota", (), kind)

    # Shaping tiles. What would change nothing gives the tile itself.

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """The same elements, in row-major order, in another shape."""
        kind = tile("reshape", x)
        result = well_formed("reshape", Tile(kind.element, tuple(shape)))
        if result.count != kind.count:
            raise wrong("reshape", f"{result} has another number of elements", x)
        return x if result == kind else self.one("reshape", (x,), result)

    def broadcast(self, x: Value, shape: Sequence[int]) -> Value:
        """The tile repeated along dimensions of length one."""
        kind = tile("broadcast", x)
        result = well_formed("broadcast", Tile(kind.element, tuple(shape)))
        if result.rank != kind.rank or any(was not in (1, now) for was, now in zip(kind.shape, shape, strict=True)):
            raise wrong("broadcast", f"{result} must have the same rank and differ only where the length is one", x)
        return x if result == kind else self.one("broadcast", (x,), result)

    def permute(self, x: Value, order: Sequence[int]) -> Value:
        """The tile with dimension `i` being dimension `order[i]` of `x`."""
        kind = tile("permute", x)
        moved = permutation("permute", order, kind.rank)
        if moved == tuple(range(kind.rank)):
            return x
        return self.one("permute", (x,), Tile(kind.element, tuple(kind.shape[at] for at in moved)), {"order": moved})

    def cat(self, x: Value, y: Value, axis: int) -> Value:
        """Two tiles one after the other along a dimension."""
        left, right = tile("cat", x), tile("cat", y)
        joined = list(left.shape)
        if left.element != right.element or left.rank != right.rank or not 0 <= axis < left.rank:
            raise wrong("cat", f"the tiles must have one element type and rank, with a dimension {axis}", x, y)
        joined[axis] += right.shape[axis]
        if any(a != b for at, (a, b) in enumerate(zip(left.shape, right.shape, strict=True)) if at != axis):
            raise wrong("cat", f"the tiles may differ along dimension {axis} only", x, y)
        return self.one("cat", (x, y), well_formed("cat", Tile(left.element, tuple(joined))), {"axis": axis})

    def extract(self, x: Value, indices: Sequence[Value], shape: Sequence[int]) -> Value:
        """The part of a tile that is number `indices` among parts of that shape."""
        kind = tile("extract", x)
        part = well_formed("extract", Tile(kind.element, tuple(shape)))
        self._part("extract", part, kind, indices)
        return self.one("extract", (x, tuple(indices)), part)

    # Products of matrices: m x k times k x n, added to m x n; a third dimension in front is a batch.

    def mmaf(self, x: Value, y: Value, acc: Value) -> Value:
        """The product of float matrices plus `acc`."""
        left, right, total = self._matrices("mmaf", x, y, acc)
        if left.element != right.element or total.element not in _PRODUCTS.get(left.element, ()):
            raise wrong("mmaf", "there is no such product of floats", x, y, acc)
        return self.one("mmaf", (x, y, acc), total, {"fast": False})

    def mmai(self, x: Value, y: Value, acc: Value, *, signed_left: bool, signed_right: bool) -> Value:
        """The product of i8 matrices plus `acc` in i32."""
        left, right, total = self._matrices("mmai", x, y, acc)
        if left.element != I8 or right.element != I8 or total.element != I32:
            raise wrong("mmai", "the matrices must be i8 and what they are added to i32", x, y, acc)
        signs = {"signedness_left": Signedness(signed_left), "signedness_right": Signedness(signed_right)}
        return self.one("mmai", (x, y, acc), total, signs)

    # Programs.

    def get_tile_block_id(self) -> tuple[Value, Value, Value]:
        """Which program of the grid this is, along each of its dimensions."""
        x, y, z = self.emit("get_tile_block_id", (), (Tile(I32),) * 3)
        return x, y, z

    def get_num_tile_blocks(self) -> tuple[Value, Value, Value]:
        """How many programs the grid has along each of its dimensions."""
        x, y, z = self.emit("get_num_tile_blocks", (), (Tile(I32),) * 3)
        return x, y, z

    # Facts. They hold for the value that is given back, so that one must be used from then on.

    def assume_divisible(self, x: Value, divisor: int) -> Value:
        """`x`, known to be a multiple of a power of two: of bytes if it is a pointer."""
        kind = tile("assume", x)
        if divisor < 1 or divisor & (divisor - 1) or divisor > 1 << 62:
            raise wrong("assume", f"the divisor {divisor} must be a power of two up to 2^62")
        if not isinstance(kind.element, Pointer) and kind.element not in INTEGERS:
            raise wrong("assume", "the operand must be integers or pointers", x)
        return x if divisor == 1 else self._assume(x, Divisible(divisor))

    def assume_bounded(self, x: Value, low: int | None = None, high: int | None = None) -> Value:
        """`x`, known to lie between two numbers, both included; signed."""
        kind = tile("assume", x)
        if not isinstance(kind.element, Number) or kind.element not in INTEGERS:
            raise wrong("assume", "the operand must be integers", x)
        half = 1 << kind.element.bits - 1
        if any(bound is not None and not -half <= bound < half for bound in (low, high)):
            raise wrong("assume", f"the bounds {low} and {high} must fit the type", x)
        if low is not None and high is not None and low > high:
            raise wrong("assume", f"no number lies between {low} and {high}", x)
        return x if low is None and high is None else self._assume(x, Bounded(low, high))

    # Debugging.

    def print_(self, form: str, values: Sequence[Value] = ()) -> None:
        """Print values as a format of printf says."""
        for value in values:
            tile("print_tko", value)
        self.one("print_tko", (tuple(values), None), TOKEN, {"format": form})

    # What several of the above share.

    def _assume(self, x: Value, promise: Promise) -> Value:
        return self.one("assume", (x,), x.type, {"promise": promise})

    def _part(self, op: str, part: Tile, whole: Tile, indices: Sequence[Value]) -> None:
        if part.element != whole.element or part.rank != whole.rank or len(indices) != whole.rank:
            raise wrong(op, f"{len(indices)} indices and both tiles must have one rank and element", part, whole)
        if any(length % piece for length, piece in zip(whole.shape, part.shape, strict=True)):
            raise wrong(op, "the part must fit a whole number of times", part, whole)
        for value in indices:
            expect(op, "an index", value, Tile(I32))

    def _matrices(self, op: str, x: Value, y: Value, acc: Value) -> tuple[Tile, Tile, Tile]:
        left, right, total = tile(op, x), tile(op, y), tile(op, acc)
        match left.shape, right.shape:
            case ((*batch, m, k), (*others, depth, n)) if batch == others and k == depth and len(batch) < 2:
                if total.shape == (*batch, m, n):
                    return left, right, total
        raise wrong(op, "the operands must be m x k, k x n and m x n, with one batch dimension or none", x, y, acc)
