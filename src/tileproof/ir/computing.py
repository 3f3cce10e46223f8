"""Operations on tiles: they compute and touch no memory. Also what every operation has, and the functions by name.

Elementwise operations take operands whose axes are already equal; `Broadcast` makes them so.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Final

from tileproof.diagnostics.records import dataclass
from tileproof.diagnostics.spans import Span

from .types import Length, Tensor, Tile, Walker


@dataclass(frozen=True, slots=True)
class Op:
    """What every operation has."""

    span: Span = field(repr=False, compare=False)


class UnaryFn(StrEnum):
    NEG = "neg"
    NOT = "not"
    ABS = "abs"
    EXP = "exp"
    EXP2 = "exp2"
    LOG = "log"
    LOG2 = "log2"
    SQRT = "sqrt"
    RSQRT = "rsqrt"
    TANH = "tanh"
    SIGMOID = "sigmoid"
    SIN = "sin"
    COS = "cos"
    ERF = "erf"
    FLOOR = "floor"
    CEIL = "ceil"
    ROUND = "round"
    ISNAN = "isnan"


class BinaryFn(StrEnum):
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    FLOORDIV = "floordiv"
    CDIV = "cdiv"
    MOD = "mod"
    POW = "pow"
    MIN = "min"
    MAX = "max"
    AND = "and"
    OR = "or"
    XOR = "xor"
    SHL = "shl"
    SHR = "shr"
    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"

    @property
    def compares(self) -> bool:
        """Gives bool, whatever the operands are."""
        return self in (BinaryFn.EQ, BinaryFn.NE, BinaryFn.LT, BinaryFn.LE, BinaryFn.GT, BinaryFn.GE)


SIGNS: Final = {
    BinaryFn.ADD: "+", BinaryFn.SUB: "-", BinaryFn.MUL: "*", BinaryFn.DIV: "/", BinaryFn.FLOORDIV: "//",
    BinaryFn.MOD: "%", BinaryFn.POW: "**", BinaryFn.AND: "&", BinaryFn.OR: "|", BinaryFn.XOR: "^",
    BinaryFn.SHL: "<<", BinaryFn.SHR: ">>", BinaryFn.EQ: "==", BinaryFn.NE: "!=", BinaryFn.LT: "<",
    BinaryFn.LE: "<=", BinaryFn.GT: ">", BinaryFn.GE: ">=",
}  # fmt: skip
"""How Python writes functions of two operands that it has a sign for."""


class ReduceFn(StrEnum):
    SUM = "sum"
    MEAN = "mean"
    MAX = "max"
    MIN = "min"
    ARGMAX = "argmax"
    ARGMIN = "argmin"
    ANY = "any"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Constant(Op):
    """A number. Float constants are exact doubles, rounded to `result.type.dtype`."""

    result: Tile
    value: bool | int | float | Length


@dataclass(frozen=True, slots=True)
class Extents(Op):
    """The extent of a dimension; of axis `axis` of `tensor` where the dimension has no name."""

    result: Tile
    dimension: str | None
    tensor: Tensor | None = None
    axis: int = 0


@dataclass(frozen=True, slots=True)
class Start(Op):
    """The first position of a walker's tile; the position itself for `tp.each`."""

    result: Tile
    walker: Walker


@dataclass(frozen=True, slots=True)
class Stop(Op):
    """The position after the last live element of a walker's tile."""

    result: Tile
    walker: Walker


@dataclass(frozen=True, slots=True)
class Elements(Op):
    """The positions of a walker's tile, as a 1-D tile tagged by the walker."""

    result: Tile
    walker: Walker


@dataclass(frozen=True, slots=True)
class Number(Op):
    """How many tiles of the same walk come before a walker's."""

    result: Tile
    walker: Walker


@dataclass(frozen=True, slots=True)
class Shift(Op):
    """The walker moved by `by` elements, clipped at the end of the axis: a walker of its own, with a tag of its own."""

    result: Walker
    walker: Walker
    by: Tile


@dataclass(frozen=True, slots=True)
class Iota(Op):
    """0, 1, 2, ... along one untagged axis of dtype `index`."""

    result: Tile


@dataclass(frozen=True, slots=True)
class Group(Op):
    """The element of `into` that element `index` of `dimension` belongs to: `index // (dimension / into)`."""

    result: Tile
    index: Tile
    dimension: str
    into: str


@dataclass(frozen=True, slots=True)
class Unary(Op):
    """A function of each element."""

    result: Tile
    fn: UnaryFn
    operand: Tile


@dataclass(frozen=True, slots=True)
class Binary(Op):
    """A function of the elements of two tiles at the same place."""

    result: Tile
    fn: BinaryFn
    left: Tile
    right: Tile


@dataclass(frozen=True, slots=True)
class Select(Op):
    """`yes` where `condition`, else `no`; both are evaluated."""

    result: Tile
    condition: Tile
    yes: Tile
    no: Tile


@dataclass(frozen=True, slots=True)
class Cast(Op):
    """The value as `result.type.dtype`: nearest even to floats, truncating and saturating to integers."""

    result: Tile
    operand: Tile


@dataclass(frozen=True, slots=True)
class Bitcast(Op):
    """The same bits as another type of the same width."""

    result: Tile
    operand: Tile


@dataclass(frozen=True, slots=True)
class Broadcast(Op):
    """numpy's broadcasting to `result.type.axes`; a full axis meeting a tag keeps its live elements only."""

    result: Tile
    operand: Tile


@dataclass(frozen=True, slots=True)
class Expand(Op):
    """A new untagged axis of length 1 at `axis`."""

    result: Tile
    operand: Tile
    axis: int


@dataclass(frozen=True, slots=True)
class Permute(Op):
    """Axes in another order: axis n of the result is axis `order[n]` of the operand."""

    result: Tile
    operand: Tile
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reshape(Op):
    """The same elements, row by row, in another shape; all axes are full."""

    result: Tile
    operand: Tile


@dataclass(frozen=True, slots=True)
class Slice(Op):
    """Elements `start` to `start + length` of a full axis, which becomes untagged."""

    result: Tile
    operand: Tile
    axis: int
    start: Length
    length: Length


@dataclass(frozen=True, slots=True)
class Cat(Op):
    """Tiles one after another along a full axis."""

    result: Tile
    operands: tuple[Tile, ...]
    axis: int


@dataclass(frozen=True, slots=True)
class Reduce(Op):
    """Live elements combined along `axis`, which is dropped."""

    result: Tile
    fn: ReduceFn
    operand: Tile
    axis: int


@dataclass(frozen=True, slots=True)
class CumSum(Op):
    """Sums of all live elements up to each, along `axis`."""

    result: Tile
    operand: Tile
    axis: int


@dataclass(frozen=True, slots=True)
class Fill(Op):
    """The full tile: `value` where the operand has no live element. Every axis becomes untagged."""

    result: Tile
    operand: Tile
    value: Tile


@dataclass(frozen=True, slots=True)
class Random(Op):
    """Uniform f32 in [0, 1), a function of `seed` (an i64 scalar) and of each `offset` (index) alone."""

    result: Tile
    seed: Tile
    offset: Tile


@dataclass(frozen=True, slots=True)
class Mma(Op):
    """`left @ right + acc`, accumulated in the type of `acc`."""

    result: Tile
    left: Tile
    right: Tile
    acc: Tile
