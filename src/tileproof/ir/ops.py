"""The operations of the IR: one frozen dataclass each, its operands and results as fields.

First those that make tiles of tiles, then those that move them from and to memory, then those that hold blocks of other
operations. A block is a list of operations and the values it passes to the operation that holds it (`yields`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Final, TypeAlias, assert_never

from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.diagnostics.spans import Span
from tileproof.language.dtypes import DType

from .types import Access, AnyValue, Length, Tensor, Tile, Walker


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
        """Whether the result is bool for every element type."""
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
class Take(Op):
    """What a tile has at one place along `axis`, which is dropped. The place, an `index`, is that of a live element."""

    result: Tile
    operand: Tile
    axis: int
    index: Tile


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
    """`left @ right + acc`, accumulated in the type of `acc`; for each place of a first axis that all have, if any."""

    result: Tile
    left: Tile
    right: Tile
    acc: Tile


COMBINED_BY: Final = {Access.SUM: BinaryFn.ADD, Access.MAX: BinaryFn.MAX, Access.MIN: BinaryFn.MIN}
"""The function that combines a value into an element of a tensor that many programs update."""
BEGINS_AS: Final = {Access.SUM: ReduceFn.SUM, Access.MAX: ReduceFn.MAX, Access.MIN: ReduceFn.MIN}
"""The reduction whose identity such an element has before the launch."""

# How an access picks elements along one axis of a tensor.


@dataclass(frozen=True, slots=True)
class Along:
    """The walker's tile of the axis; its one element (and no axis) for a `tp.each` walker."""

    walker: Walker


@dataclass(frozen=True, slots=True)
class At:
    """One element, at an `index` scalar or an entry of an index tensor; the axis is dropped."""

    index: Tile


@dataclass(frozen=True, slots=True)
class Gather:
    """The elements at a 1-D tile of indices or entries; the axis takes that tile's axis."""

    indices: Tile


@dataclass(frozen=True, slots=True)
class Whole:
    """`:`, all of a static dimension."""


@dataclass(frozen=True, slots=True)
class Window:
    """A constant slice: `length` elements from `start`."""

    start: Length
    length: Length


Pick: TypeAlias = Along | At | Gather | Whole | Window


@dataclass(frozen=True, slots=True)
class Load(Op):
    """Reads a region. `raw`: inside `tp.unsafe`, where the author vouches for it."""

    result: Tile
    tensor: Tensor
    picks: tuple[Pick, ...]
    raw: bool = False


@dataclass(frozen=True, slots=True)
class Get(Op):
    """Reads a region, and `fill` (a scalar) at every position that is outside the tensor or none."""

    result: Tile
    tensor: Tensor
    picks: tuple[Pick, ...]
    fill: Tile


@dataclass(frozen=True, slots=True)
class Store(Op):
    """Writes the live elements of `value`, whose type is the tensor's and whose axes are those of the picks.

    Where an index is none, nothing is written; nor anywhere if there is a `guard`, a bool, and it is false.
    """

    tensor: Tensor
    picks: tuple[Pick, ...]
    value: Tile
    raw: bool = False
    guard: Tile | None = None


@dataclass(frozen=True, slots=True)
class Update(Op):
    """Combines every live element of `value` into a `Sum`, `Max` or `Min`, element by element; none is passed over.

    Nothing is combined if there is a `guard`, a bool, and it is false.
    """

    tensor: Tensor
    picks: tuple[Pick, ...]
    value: Tile
    guard: Tile | None = None


@dataclass(frozen=True, slots=True)
class Check(Op):
    """Whether every lane of `index` is in `low` up to but without `high`, or none, and `ok` holds too.

    Where one of `entries` is none in every lane the index picks nothing, and is not looked at. A program for which the
    check is false first is reported, with the lane, `what` it is a position of, and `high`. It stores nothing more: the
    result guards its stores.
    """

    result: Tile
    ok: Tile | None
    index: Tile
    low: Tile
    high: Tile
    what: str
    entries: tuple[Tile, ...] = ()


@dataclass(frozen=True, slots=True)
class SplitAt(Op):
    """Two views of an `InOut`: `past`, the elements before position `at` of an axis, read by all programs, and `fresh`,
    those from it on, an `InOut` whose axis has no name and counts from `at`."""

    past: Tensor
    fresh: Tensor
    tensor: Tensor
    axis: int
    at: Tile


@dataclass(frozen=True, slots=True)
class Print(Op):
    """Prints values of the running program, for debugging."""

    label: str
    values: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Assume(Op):
    """A fact the author vouches for, inside `tp.unsafe`."""

    condition: Tile
    reason: str


@dataclass(frozen=True, slots=True)
class Require(Op):
    """A contract, tested at launch. `condition` depends on dimensions, scalars and constants only."""

    condition: Tile


# Operations that hold blocks: the parallel space, loops, branches, and what combines values by a function.


@dataclass(frozen=True, slots=True)
class Block:
    """Operations in order, and the values they yield to the operation that holds the block."""

    ops: tuple[AnyOp, ...]
    yields: tuple[Tile, ...] = ()


@dataclass(frozen=True, slots=True)
class Combiner:
    """Combines two values into one: `body` reads `left` and `right` and yields as many values of the same types."""

    left: tuple[Tile, ...]
    right: tuple[Tile, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Fold(Op):
    """Live elements along `axis`, which is dropped, combined in order; `identities` (scalars) where there are none."""

    results: tuple[Tile, ...]
    operands: tuple[Tile, ...]
    identities: tuple[Tile, ...]
    axis: int
    combiner: Combiner


@dataclass(frozen=True, slots=True)
class Scan(Op):
    """Live elements up to each, along `axis`, combined in order."""

    results: tuple[Tile, ...]
    operands: tuple[Tile, ...]
    axis: int
    combiner: Combiner


@dataclass(frozen=True, slots=True)
class Join(Op):
    """The values of all pieces of a split walker, combined in index order. What follows runs once for all of them."""

    results: tuple[Tile, ...]
    walker: Walker
    operands: tuple[Tile, ...]
    combiner: Combiner


@dataclass(frozen=True, slots=True)
class Segments:
    """A walker of a parallel space whose tiles never cross a border in an `Offsets` tensor; `index` is the segment."""

    walker: Walker
    offsets: Tensor
    index: Tile


@dataclass(frozen=True, slots=True)
class Parallel(Op):
    """The parallel space: `body` runs once for each point, in any order."""

    walkers: tuple[Walker, ...]
    body: Block
    segments: tuple[Segments, ...] = ()


@dataclass(frozen=True, slots=True)
class TilesLoop(Op):
    """A sequential walk along a dimension from `start` (0 if None), clipped at `stop` and at the axis."""

    results: tuple[Tile, ...]
    walker: Walker
    start: Tile | None
    stop: Tile | None
    inits: tuple[Tile, ...]
    carried: tuple[Tile, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class RangeLoop(Op):
    """Python's `range`; a constant step of 0 is rejected by the front end, and any other runs no iteration."""

    results: tuple[Tile, ...]
    variable: Tile
    start: Tile
    stop: Tile
    step: Tile
    inits: tuple[Tile, ...]
    carried: tuple[Tile, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class While(Op):
    """`test` yields one bool; while it is true `body` runs. Both see `carried`."""

    results: tuple[Tile, ...]
    inits: tuple[Tile, ...]
    carried: tuple[Tile, ...]
    test: Block
    body: Block


@dataclass(frozen=True, slots=True)
class If(Op):
    """One of two blocks, by a condition."""

    results: tuple[Tile, ...]
    condition: Tile
    then: Block
    orelse: Block


PureOp: TypeAlias = (
    Constant | Extents | Start | Stop | Elements | Number | Iota | Group | Unary | Binary | Select | Cast | Bitcast
    | Broadcast | Expand | Permute | Reshape | Slice | Take | Cat | Reduce | CumSum | Fill | Random | Mma
)  # fmt: skip
"""Operations that make one tile of others and touch no memory."""
AnyOp: TypeAlias = (
    PureOp | Shift | Load | Get | Store | Update | Check | SplitAt | Print | Assume | Require | Fold | Scan | Join
    | Parallel | TilesLoop | RangeLoop | While | If
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument: a tensor, or a scalar (a tile without axes) by value."""

    value: Tensor | Tile
    span: Span = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.value.name


@dataclass(frozen=True, slots=True)
class KernelIR:
    """A kernel for given element types and constants. Dimensions stay symbolic but for `static` ones."""

    name: str
    parameters: tuple[Parameter, ...]
    constants: Mapping[str, bool | int | float | Length]
    static: Mapping[str, Length]
    """Dimensions bound as constants."""
    dtypes: Mapping[str, DType]
    body: Block
    span: Span = field(repr=False, compare=False)
    computed: Mapping[str, Length] = field(default_factory=dict)
    """Dimensions that are expressions of others (`"H+2*G"`): the launch checks that their extents agree."""


def operands(op: AnyOp) -> tuple[AnyValue, ...]:
    """The values an operation uses, not counting those its blocks use."""
    match op:
        case Constant() | Iota():
            return ()
        case Parallel(segments=segments):
            return tuple(segment.offsets for segment in segments)
        case Extents(tensor=tensor):
            return () if tensor is None else (tensor,)
        case Start(walker=walker) | Stop(walker=walker) | Elements(walker=walker) | Number(walker=walker):
            return (walker,)
        case Shift(walker=walker, by=by):
            return (walker, by)
        case Fill(operand=operand, value=value):
            return (operand, value)
        case Random(seed=seed, offset=offset):
            return (seed, offset)
        case Group(index=index):
            return (index,)
        case Unary() | Cast() | Bitcast() | Broadcast() | Expand() | Permute() | Reshape() | Slice():
            return (op.operand,)
        case Reduce() | CumSum():
            return (op.operand,)
        case Take(operand=operand, index=index):
            return (operand, index)
        case Binary(left=left, right=right):
            return (left, right)
        case Select(condition=condition, yes=yes, no=no):
            return (condition, yes, no)
        case Cat(operands=tiles) | Scan(operands=tiles):
            return tiles
        case Mma(left=left, right=right, acc=acc):
            return (left, right, acc)
        case Load(tensor=tensor, picks=picks):
            return (tensor, *picked_values(picks))
        case Get(tensor=tensor, picks=picks, fill=fill):
            return (tensor, *picked_values(picks), fill)
        case SplitAt(tensor=tensor, at=at):
            return (tensor, at)
        case Print(values=values):
            return values
        case Fold(operands=tiles, identities=identities):
            return (*tiles, *identities)
        case Join(operands=tiles, walker=walker):
            return (*tiles, walker)
        case Store(tensor=tensor, picks=picks, value=value) | Update(tensor=tensor, picks=picks, value=value):
            return (tensor, *picked_values(picks), value, *(() if op.guard is None else (op.guard,)))
        case Check(ok=ok, index=index, low=low, high=high, entries=entries):
            return (*(() if ok is None else (ok,)), index, low, high, *entries)
        case Require(condition=condition) | Assume(condition=condition) | If(condition=condition):
            return (condition,)
        case TilesLoop(start=start, stop=stop, inits=inits):
            return (*(bound for bound in (start, stop) if bound is not None), *inits)
        case RangeLoop(start=start, stop=stop, step=step, inits=inits):
            return (start, stop, step, *inits)
        case While(inits=inits):
            return inits
        case _:
            assert_never(op)


def picked_values(picks: Iterable[Pick]) -> Iterator[AnyValue]:
    """The walkers and indices by which an access picks elements."""
    for pick in picks:
        match pick:
            case Along(value) | At(value) | Gather(value):
                yield value
            case Whole() | Window():
                pass
            case _:
                assert_never(pick)


def results(op: AnyOp) -> tuple[AnyValue, ...]:
    """The values an operation defines for what follows it."""
    match op:
        case Parallel() | Store() | Update() | Require() | Print() | Assume():
            return ()
        case TilesLoop() | RangeLoop() | While() | If() | Fold() | Scan() | Join():
            return op.results
        case SplitAt(past=past, fresh=fresh):
            return (past, fresh)
        case _:
            return (op.result,)


_WITH_BLOCKS: Final = (Parallel, TilesLoop, RangeLoop, Fold, Scan, Join, While, If)


def blocks(op: AnyOp) -> tuple[Block, ...]:
    """The blocks an operation holds."""
    if not isinstance(op, _WITH_BLOCKS):  # most hold none, and each case of a match takes its time
        return ()
    match op:
        case Parallel() | TilesLoop() | RangeLoop():
            return (op.body,)
        case Fold(combiner=combiner) | Scan(combiner=combiner) | Join(combiner=combiner):
            return (combiner.body,)
        case While():
            return (op.test, op.body)
        case If():
            return (op.then, op.orelse)
        case _:
            return ()
