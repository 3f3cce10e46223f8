"""The operations of the IR: one frozen dataclass each, its operands and results as fields.

They are told apart by what they do: `computing` makes tiles of tiles, `accesses` moves them from and to memory. This
file has those that hold blocks of other operations, gathers all, and says what any of them uses and defines. A block is
a list of operations and the values it hands on (`yields`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Final, TypeAlias, assert_never

from tileproof.diagnostics.records import dataclass
from tileproof.diagnostics.spans import Span
from tileproof.language.dtypes import DType

from .accesses import (
    BEGINS_AS,
    COMBINED_BY,
    Along,
    Assume,
    At,
    Check,
    Gather,
    Get,
    Load,
    Pick,
    Print,
    Require,
    SplitAt,
    Store,
    Update,
    Whole,
    Window,
)
from .computing import (
    Binary,
    BinaryFn,
    Bitcast,
    Broadcast,
    Cast,
    Cat,
    Constant,
    CumSum,
    Elements,
    Expand,
    Extents,
    Fill,
    Group,
    Iota,
    Mma,
    Number,
    Op,
    Permute,
    Random,
    Reduce,
    ReduceFn,
    Reshape,
    Select,
    Shift,
    Slice,
    Start,
    Stop,
    Unary,
    UnaryFn,
)
from .types import AnyValue, Length, Tensor, Tile, Walker

# Operations that hold blocks: the parallel space, loops, branches, and what combines values by a function.


@dataclass(frozen=True, slots=True)
class Block:
    """Operations in order, and the values handed to whoever holds the block."""

    ops: tuple[AnyOp, ...]
    yields: tuple[Tile, ...] = ()


@dataclass(frozen=True, slots=True)
class Combiner:
    """How two values of a kind make one: `body` sees `left` and `right` and yields as many values of the same types."""

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
    """Python's `range`; a step of 0 is refused by the front end or runs no turn."""

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
    | Broadcast | Expand | Permute | Reshape | Slice | Cat | Reduce | CumSum | Fill | Random | Mma
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
        case Binary(left=left, right=right):
            return (left, right)
        case Select(condition=condition, yes=yes, no=no):
            return (condition, yes, no)
        case Cat(operands=tiles):
            return tiles
        case Mma(left=left, right=right, acc=acc):
            return (left, right, acc)
        case Load(tensor=tensor, picks=picks):
            return (tensor, *_picked_by(picks))
        case Get(tensor=tensor, picks=picks, fill=fill):
            return (tensor, *_picked_by(picks), fill)
        case SplitAt(tensor=tensor, at=at):
            return (tensor, at)
        case Print(values=values):
            return values
        case Fold(operands=tiles, identities=identities):
            return (*tiles, *identities)
        case Scan(operands=tiles):
            return tiles
        case Join(operands=tiles, walker=walker):
            return (*tiles, walker)
        case Store(tensor=tensor, picks=picks, value=value) | Update(tensor=tensor, picks=picks, value=value):
            return (tensor, *_picked_by(picks), value, *(() if op.guard is None else (op.guard,)))
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


def _picked_by(picks: tuple[Pick, ...]) -> Iterator[AnyValue]:
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
