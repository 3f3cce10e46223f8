"""The pass `simplify`: removes operations whose results are unused, and merges duplicate numbers and positions.

An operation without uses stays if something has to be proved of it: a load that its index is in bounds, `argmax` and
`argmin` that their axis is not empty, a group that one dimension divides the other, the split of a tensor that the
position is in bounds. A join stays because what follows it runs once for all pieces. A value that a loop carries and
only its own update uses is removed too, and so is a loop or branch that becomes empty. A walker is in use wherever a
tile that stays has its tag.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from itertools import compress
from typing import TypeAlias

from tileproof.ir import ops
from tileproof.ir.types import AnyValue, Tile, TileType, WalkerTag
from tileproof.ir.walk import map_blocks, substitute, walk

_Position: TypeAlias = ops.Constant | ops.Start | ops.Stop | ops.Elements | ops.Number | ops.Extents
"""Operations that have the same result anywhere in one block."""


def simplify(kernel: ops.KernelIR) -> ops.KernelIR:
    """The same kernel without unused values and without duplicates of numbers and positions."""
    again: dict[Tile, Tile] = {}
    merged = _merged(kernel.body, again)
    return replace(kernel, body=_Liveness(substitute(merged, again)).body())


def _merged(block: ops.Block, again: dict[Tile, Tile]) -> ops.Block:
    """The block with the first of each number and position only; `again` maps the others to it."""
    first: dict[Hashable, Tile] = {}
    kept: list[ops.AnyOp] = []
    for op in block.ops:
        if isinstance(op, _Position):
            same = first.setdefault(_meaning(op), op.result)
            if same is not op.result:
                again[op.result] = same
                continue
        kept.append(map_blocks(op, lambda inner: _merged(inner, again)))
    return ops.Block(tuple(kept), block.yields)


def _meaning(op: _Position) -> Hashable:
    """A key that is equal for operations of one block with the same value."""
    kind, of = type(op), op.result.type
    match op:
        case ops.Constant(value=value):
            # 1, 1.0 and True are equal to Python, and so are 0.0 and -0.0; NaN equals nothing.
            exact = value.hex() if isinstance(value, float) else value
            return kind, of, type(value), exact
        case ops.Extents():
            return kind, of, op.dimension, op.tensor, op.axis
        case ops.Start() | ops.Stop() | ops.Elements() | ops.Number():
            return kind, of, op.walker


def _owes(op: ops.AnyOp) -> bool:
    """Whether an operation has an effect or an obligation even where nothing uses its result."""
    match op:
        case ops.Store() | ops.Update() | ops.Require() | ops.Load() | ops.Group() | ops.Parallel():
            return True
        case ops.SplitAt() | ops.Join() | ops.Print() | ops.Assume() | ops.Shift() | ops.Check():
            return True
        case ops.TilesLoop(start=start):  # a walk may not begin before its axis
            return start is not None
        case ops.Reduce(fn=fn):
            return fn in (ops.ReduceFn.ARGMAX, ops.ReduceFn.ARGMIN)
        case _:
            return False


class _Liveness:
    """Liveness: which operations stay and which values they use, computed backwards from those with effects."""

    def __init__(self, body: ops.Block) -> None:
        self.whole = body
        self.kept: set[int] = set()
        """Operations, by `id`: two stores may be equal."""
        self.used: set[AnyValue] = set()
        self.holder: dict[int, ops.AnyOp] = {}
        self.origin: dict[AnyValue, tuple[ops.AnyOp, int]] = {}
        """Where a value comes from: the operation, and the place among its results or carried values."""
        self.pending: list[AnyValue] = []
        for op in walk(body):
            self._record(op)
        for op in walk(body):
            if _owes(op):
                self._keep(op)
        while self.pending:
            self._trace(self.pending.pop())

    def body(self) -> ops.Block:
        return self._block(self.whole)

    def _record(self, op: ops.AnyOp) -> None:
        for place, value in enumerate(ops.results(op)):
            self.origin[value] = op, place
        if isinstance(op, ops.TilesLoop | ops.RangeLoop | ops.While):
            for place, value in enumerate(op.carried):
                self.origin[value] = op, place
        for block in ops.blocks(op):
            for inner in block.ops:
                self.holder[id(inner)] = op

    def _keep(self, op: ops.AnyOp) -> None:
        """An operation stays, and so does what it needs to run at all."""
        if id(op) in self.kept:
            return
        self.kept.add(id(op))
        match op:
            case ops.TilesLoop(start=start, stop=stop):
                self._use(*(bound for bound in (start, stop) if bound is not None))
            case ops.RangeLoop(start=start, stop=stop, step=step):
                self._use(start, stop, step)
            case ops.While(test=test):
                self._use(*test.yields)
            case ops.Fold(combiner=combiner) | ops.Scan(combiner=combiner) | ops.Join(combiner=combiner):
                self._use(*ops.operands(op), *op.results, *combiner.body.yields)
            case ops.If():
                self._use(*ops.operands(op))
            case _:
                self._use(*ops.operands(op), *ops.results(op))
        if id(op) in self.holder:
            self._keep(self.holder[id(op)])

    def _use(self, *values: AnyValue) -> None:
        fresh = [value for value in values if value not in self.used]
        self.used.update(fresh)
        self.pending.extend(fresh)

    def _trace(self, value: AnyValue) -> None:
        if isinstance(value.type, TileType):
            tags = (axis.tag for axis in value.type.axes)
            self._use(*(tag.walker for tag in tags if isinstance(tag, WalkerTag)))
        if value not in self.origin:
            return
        op, place = self.origin[value]
        self._keep(op)
        match op:
            case ops.TilesLoop() | ops.RangeLoop() | ops.While():
                self._use(op.inits[place], op.body.yields[place])
            case ops.If():
                self._use(op.then.yields[place], op.orelse.yields[place])
            case _:
                pass

    def _block(self, block: ops.Block) -> ops.Block:
        return ops.Block(tuple(self._op(op) for op in block.ops if id(op) in self.kept), block.yields)

    def _op(self, op: ops.AnyOp) -> ops.AnyOp:
        match op:
            case ops.TilesLoop() | ops.RangeLoop() | ops.While():
                pairs = zip(op.carried, op.results, strict=True)
                stays = [carried in self.used or result in self.used for carried, result in pairs]
                inner = map_blocks(op, self._block)
                assert isinstance(inner, ops.TilesLoop | ops.RangeLoop | ops.While)
                return replace(
                    inner,
                    results=_only(op.results, stays),
                    inits=_only(op.inits, stays),
                    carried=_only(op.carried, stays),
                    body=ops.Block(inner.body.ops, _only(op.body.yields, stays)),
                )
            case ops.If():
                stays = [result in self.used for result in op.results]
                return replace(
                    op,
                    results=_only(op.results, stays),
                    then=ops.Block(self._block(op.then).ops, _only(op.then.yields, stays)),
                    orelse=ops.Block(self._block(op.orelse).ops, _only(op.orelse.yields, stays)),
                )
            case _:
                return map_blocks(op, self._block)


def _only(values: tuple[Tile, ...], stays: list[bool]) -> tuple[Tile, ...]:
    return tuple(compress(values, stays))
