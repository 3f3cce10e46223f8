"""A pass: inserts the residual checks, those of rungs 5 and 6.

A check never branches. It computes a truth, and every store that follows is guarded by it; a load whose index failed,
or depends on something that failed, is replaced by one that reads nothing outside. So a program with a failed check
goes on, touches nothing it should not, stores nothing, and is reported. A pre-check stands before every loop of the
program, with what its index is made of; a check in place stands where the index is used, and what it found is carried
through loops and branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from tileproof.analysis.ranges import CARRIED_LIMIT, START_LIMIT
from tileproof.analysis.verdict import Residual, Rung
from tileproof.diagnostics.spans import Span
from tileproof.ir import ops
from tileproof.ir.types import (
    INDEX_SCALAR,
    AnyValue,
    Axis,
    Content,
    DimensionTag,
    Fixed,
    Length,
    Named,
    Tensor,
    Tile,
    TileType,
    Value,
    Walker,
    WalkerTag,
)
from tileproof.ir.walk import walk
from tileproof.language.dtypes import BOOL, ENTRY, DType

_TRUTH = TileType(BOOL)


def place_checks(kernel: ops.KernelIR, residuals: Sequence[Residual]) -> ops.KernelIR:
    """The kernel with a check for each obligation that its proof left; the kernel itself if it left none."""
    return _Placing(kernel, residuals).kernel() if residuals else kernel


def _is_wide(operand: Tile, result: Tile) -> bool:
    """Whether a cast makes an index of a 64-bit number."""
    return result.type.dtype == INDEX_SCALAR.dtype and operand.type.dtype.is_integer and operand.type.dtype.bits == 64


def _index_values(op: ops.AnyOp) -> list[AnyValue]:
    """The values that index a store or update; all operands of another operation."""
    if not isinstance(op, ops.Store | ops.Update):
        return list(ops.operands(op))
    return list(ops.picked_values(op.picks))


def names_of(body: ops.Block) -> set[str]:
    """Every name that is in use."""
    names: set[str] = set()
    for op in walk(body):
        names.update(value.name for value in ops.results(op))
        names.update(value.name for value in getattr(op, "carried", ()))
    return names


@dataclass(slots=True)
class _Out:
    """Emits operations for one span of the source."""

    placing: _Placing
    span: Span
    emitted: list[ops.AnyOp] = field(default_factory=list)

    def number(self, value: Length, dtype: DType = INDEX_SCALAR.dtype) -> Tile:
        result = self.placing.value(TileType(dtype))
        self.emitted.append(ops.Constant(self.span, result, value))
        return result

    def true(self) -> Tile:
        result = self.placing.value(_TRUTH, "ok")
        self.emitted.append(ops.Constant(self.span, result, True))
        return result

    def extent(self, dimension: str | None, tensor: Tensor | None = None, axis: int = 0) -> Tile:
        result = self.placing.value(INDEX_SCALAR)
        self.emitted.append(ops.Extents(self.span, result, dimension, tensor, axis))
        return result

    def binary(self, fn: ops.BinaryFn, left: Tile, right: Tile) -> Tile:
        result = self.placing.value(left.type)
        self.emitted.append(ops.Binary(self.span, result, fn, left, right))
        return result

    def clamped(self, index: Tile, low: Tile, last: Tile) -> Tile:
        return self.binary(ops.BinaryFn.MAX, self.binary(ops.BinaryFn.MIN, index, last), low)

    def start(self, walker: Walker) -> Tile:
        result = self.placing.value(INDEX_SCALAR)
        self.emitted.append(ops.Start(self.span, result, walker))
        return result

    def check(
        self, ok: Tile | None, index: Tile, low: Tile, high: Tile, what: str, entries: tuple[Tile, ...] = ()
    ) -> Tile:
        result = self.placing.value(_TRUTH, "ok")
        self.emitted.append(ops.Check(self.span, result, ok, index, low, high, what, entries))
        return result


class _Placing:
    def __init__(self, kernel: ops.KernelIR, residuals: Sequence[Residual]) -> None:
        self.old = kernel
        self.used = names_of(kernel.body) | {parameter.name for parameter in kernel.parameters}
        self.count = 0
        self.residuals: dict[int, list[Residual]] = {}
        for residual in residuals:
            self.residuals.setdefault(id(residual.op), []).append(residual)
        self.views: dict[Tensor, tuple[Tensor, int, Tile, bool]] = {}
        """Parts of a split tensor: the whole, the axis, where it was split, whether it is the part before."""
        self.tainted: set[AnyValue] = set()
        """Values that are not what the proof took them for once a check has failed."""
        self.tested: set[int] = set()
        """Operations whose pre-check is made already, by id."""
        self.clamps = any(residual.axis is None and not isinstance(residual.op, ops.Store) for residual in residuals)
        """Whether something is brought inside: what the proof took for granted of it may then be false anywhere."""

    def kernel(self) -> ops.KernelIR:
        body, _ = self._ops(self.old.body.ops, None, control=False)
        return replace(self.old, body=ops.Block(tuple(body)))

    def value(self, kind: TileType, name: str = "c") -> Tile:
        while True:
            self.count += 1
            text = f"{name}.{self.count}" if name != "c" else f"%c{self.count}"
            if text not in self.used:
                self.used.add(text)
                return Value(text, kind)

    # Blocks.

    def _ops(
        self, block: Iterable[ops.AnyOp], ok: Tile | None, *, control: bool, is_program: bool = False
    ) -> tuple[list[ops.AnyOp], Tile | None]:
        """The operations with their checks, and the truth that guards what follows.

        `control`: whether they run at all depends on something tainted.
        """
        placed: list[ops.AnyOp] = []
        done: set[int] = set()
        block = list(block)
        if is_program:
            placed, ok = self._pre_checks(block, ok, done)
        for op in block:
            if id(op) not in done:
                new, ok = self._op(op, ok, control)
                placed += new
        return placed, ok

    def _pre_checks(
        self, block: list[ops.AnyOp], ok: Tile | None, done: set[int]
    ) -> tuple[list[ops.AnyOp], Tile | None]:
        """Pre-checks of a program, and the operations that compute their indices, which are added to `done`."""
        needed: set[AnyValue] = set()
        wanted: set[int] = set()
        for op in reversed(block):
            is_early = self._is_early(op)
            if not needed.isdisjoint(ops.results(op)):
                wanted.add(id(op))
            if id(op) in wanted or is_early:
                needed.update(_index_values(op) if is_early and id(op) not in wanted else ops.operands(op))
        placed: list[ops.AnyOp] = []
        for op in block:
            if self._is_early(op) and isinstance(op, ops.Load | ops.Store | ops.Update):
                out = _Out(self, op.span)
                for residual in self.residuals[id(op)]:
                    assert residual.axis is not None
                    ok = self._check_pick(out, op, residual.axis, ok)
                    self.tested.add(id(residual))
                placed += out.emitted
            if id(op) in wanted:
                new, ok = self._op(op, ok, control=False)
                placed += new
                done.add(id(op))
        return placed, ok

    def _is_early(self, op: ops.AnyOp) -> bool:
        residuals = self.residuals.get(id(op), ())
        return bool(residuals) and all(residual.rung is Rung.PRECHECK for residual in residuals)

    def _op(self, op: ops.AnyOp, ok: Tile | None, control: bool) -> tuple[list[ops.AnyOp], Tile | None]:
        match op:
            case ops.Load() | ops.Store() | ops.Update():
                return self._access(op, ok, control)
            case ops.Shift() | ops.SplitAt() | ops.Cast() | ops.Take() if id(op) in self.residuals:
                return self._clamp(op, ok)
            case ops.Shift() | ops.SplitAt() if control or not self.tainted.isdisjoint(ops.operands(op)):
                return self._clamp(op, ok)
            case ops.Cast(operand=operand, result=result) if operand in self.tainted and _is_wide(operand, result):
                return self._clamp(op, ok)
            case ops.Parallel():
                inner, _ = self._ops(op.body.ops, ok, control=control, is_program=True)
                return [replace(op, body=ops.Block(tuple(inner)))], ok
            case ops.TilesLoop() | ops.RangeLoop() | ops.While():
                return self._loop(op, ok, control)
            case ops.If():
                return self._branches(op, ok, control)
            case ops.Join() if ok is not None:
                return self._join(op, ok)
            case _:
                if isinstance(op, ops.SplitAt):
                    self._note_split(op)
                self._spread(op)
                return [op], ok

    def _spread(self, op: ops.AnyOp) -> None:
        if not self.tainted.isdisjoint(ops.operands(op)):
            self.tainted.update(ops.results(op))

    # Accesses.

    def _access(
        self, op: ops.Load | ops.Store | ops.Update, ok: Tile | None, control: bool
    ) -> tuple[list[ops.AnyOp], Tile | None]:
        out = _Out(self, op.span)
        own = self.residuals.get(id(op), [])
        for residual in own:
            if residual.axis is None:
                assert isinstance(op, ops.Store)
                ok = self._check_contents(out, op, ok)
            elif id(residual) not in self.tested:
                ok = self._check_pick(out, op, residual.axis, ok)
        if not isinstance(op, ops.Load):
            self._spread(op)
            return [*out.emitted, replace(op, guard=ok)], ok
        is_tainted = control or self.clamps or not self.tainted.isdisjoint(ops.operands(op))
        if not own and not (is_tainted and self._may_leave(op)):
            self._spread(op)
            return [*out.emitted, op], ok
        self.tainted.add(op.result)
        fill = out.number(-1 if op.result.type.dtype.name == "index?" else 0, op.result.type.dtype)
        if op.result.type.dtype.kind == "bool":
            out.emitted[-1] = ops.Constant(op.span, fill, False)
        return [*out.emitted, ops.Get(op.span, op.result, op.tensor, op.picks, fill)], ok

    def _may_leave(self, op: ops.Load) -> bool:
        """Whether a load is inside by proof, not by construction."""
        for axis, pick in enumerate(op.picks):
            dimension = op.tensor.type.dimensions[axis]
            match pick:
                case ops.Along(walker) if isinstance(dimension, Named) and op.tensor not in self.views:
                    if walker.type.dimension == dimension.name:
                        continue
                    return True
                case ops.Whole() if op.tensor not in self.views:
                    continue
                case _:
                    return True
        return False

    def _check_pick(
        self, out: _Out, op: ops.Load | ops.Store | ops.Update, axis: int, ok: Tile | None
    ) -> Tile:
        what = f"the index of axis {axis} of {op.tensor.name}"
        match op.picks[axis]:
            case ops.At(index) | ops.Gather(index):
                if isinstance(op, ops.Load) and index.type.dtype == ENTRY:
                    # A load at none has no value: as a number, it is outside.
                    entry, index = index, self.value(TileType(INDEX_SCALAR.dtype, index.type.axes))
                    out.emitted.append(ops.Cast(op.span, index, entry))
            case ops.Along(walker):
                if walker.type.size is None:
                    index = out.start(walker)
                else:
                    # Element by element: a tile may be empty, and then is nowhere.
                    axis_of = Axis(walker.type.size, WalkerTag(walker))
                    index = self.value(TileType(INDEX_SCALAR.dtype, (axis_of,)))
                    out.emitted.append(ops.Elements(op.span, index, walker))
            case ops.Whole():
                index = out.number(self._length(op.tensor, axis) - 1)
            case ops.Window(start, length):
                index = out.number(start + length - 1)
        entries: tuple[Tile, ...] = ()
        if not isinstance(op, ops.Load):
            others = (pick for number, pick in enumerate(op.picks) if number != axis)
            picked = (pick.index if isinstance(pick, ops.At) else pick.indices for pick in others
                      if isinstance(pick, ops.At | ops.Gather))  # fmt: skip
            entries = tuple(tile for tile in picked if tile.type.dtype == ENTRY)
        return out.check(ok, index, out.number(0), self._extent(out, op.tensor, axis), what, entries)

    def _check_contents(self, out: _Out, op: ops.Store, ok: Tile | None) -> Tile:
        element = op.tensor.type.element
        assert isinstance(element, Content)
        extent = out.extent(element.dimension)
        return out.check(ok, op.value, out.number(-1), extent, f"what is stored into {op.tensor.name}")

    def _length(self, tensor: Tensor, axis: int) -> Length:
        match tensor.type.dimensions[axis]:
            case Fixed(extent):
                return extent
            case Named(name):
                return self.old.static[name]
            case _:
                raise TypeError(f"axis {axis} of {tensor!r} has no length")

    def _extent(self, out: _Out, tensor: Tensor, axis: int) -> Tile:
        """How many elements an axis has: of a part of a tensor, up to or from where it was split."""
        if tensor in self.views:
            whole, cut, at, is_past = self.views[tensor]
            if axis != cut:
                return self._extent(out, whole, axis)
            return at if is_past else out.binary(ops.BinaryFn.SUB, self._extent(out, whole, axis), at)
        match tensor.type.dimensions[axis]:
            case Fixed(extent):
                return out.number(extent)
            case Named(name):
                return out.extent(name)
            case _:
                return out.extent(None, tensor, axis)

    # Walkers, cuts and wide numbers: what is used is brought inside.

    def _clamp(
        self, op: ops.Shift | ops.SplitAt | ops.Cast | ops.Take, ok: Tile | None
    ) -> tuple[list[ops.AnyOp], Tile | None]:
        out = _Out(self, op.span)
        new: ops.AnyOp
        match op:
            case ops.Shift(walker=walker, by=by, result=result):
                start = out.start(walker)
                moved = out.binary(ops.BinaryFn.ADD, start, by)
                extent = out.extent(walker.type.dimension)
                last = extent if walker.type.size is not None else out.binary(ops.BinaryFn.SUB, extent, out.number(1))
                high = out.binary(ops.BinaryFn.ADD, last, out.number(1))
                ok = out.check(ok, moved, out.number(0), high, f"the start of {result.name.partition('.')[0]}")
                inside = out.clamped(moved, out.number(0), last)
                new = replace(op, by=out.binary(ops.BinaryFn.SUB, inside, start))
                self.tainted.add(result)
            case ops.SplitAt(tensor=tensor, axis=axis, at=at):
                extent = self._extent(out, tensor, axis)
                high = out.binary(ops.BinaryFn.ADD, extent, out.number(1))
                ok = out.check(ok, at, out.number(0), high, f"the place where {tensor.name} is split")
                new = replace(op, at=out.clamped(at, out.number(0), extent))
                self._note_split(new)
                self.tainted.update((op.past, op.fresh))
            case ops.Take(operand=operand, axis=axis, index=index, result=result):
                # At a place that is none, code takes any element, and touches no other memory.
                high = self._live(out, operand.type.axes[axis])
                ok = out.check(ok, index, out.number(0), high, f"the index of axis {axis} of a tile")
                new = op
                self.tainted.add(result)
            case ops.Cast(operand=operand, result=result):
                dtype = operand.type.dtype
                low, limit = out.number(-START_LIMIT, dtype), out.number(START_LIMIT, dtype)
                above = out.number(START_LIMIT + 1, dtype)
                ok = out.check(ok, operand, low, above, "a number that becomes an index")
                lanes = [self._spread_out(out, bound, operand) for bound in (low, limit)]
                new = replace(op, operand=out.clamped(operand, *lanes))
                self.tainted.add(result)
        return [*out.emitted, new], ok

    def _live(self, out: _Out, axis: Axis) -> Tile:
        """How many elements an axis of a tile has."""
        match axis.tag:
            case None:
                return out.number(axis.length)
            case WalkerTag(walker):
                stop = self.value(INDEX_SCALAR)
                out.emitted.append(ops.Stop(out.span, stop, walker))
                return out.binary(ops.BinaryFn.SUB, stop, out.start(walker))
            case DimensionTag(name):
                return out.extent(name)

    def _spread_out(self, out: _Out, scalar: Tile, like: Tile) -> Tile:
        if like.type.rank == 0:
            return scalar
        result = self.value(like.type)
        out.emitted.append(ops.Broadcast(out.span, result, scalar))
        return result

    def _note_split(self, op: ops.SplitAt) -> None:
        self.views[op.past] = op.tensor, op.axis, op.at, True
        self.views[op.fresh] = op.tensor, op.axis, op.at, False

    # Control.

    def _loop(
        self, op: ops.TilesLoop | ops.RangeLoop | ops.While, ok: Tile | None, control: bool
    ) -> tuple[list[ops.AnyOp], Tile | None]:
        out = _Out(self, op.span)
        if isinstance(op, ops.TilesLoop) and op.start is not None and (
            control or id(op) in self.residuals or op.start in self.tainted
        ):
            limit = out.number(CARRIED_LIMIT)
            ok = out.check(ok, op.start, out.number(0), limit, f"the start of {op.walker.name.partition('.')[0]}")
            start = out.binary(ops.BinaryFn.MAX, op.start, out.number(0))
            op = replace(op, start=start)
            self.tainted.update((start, op.walker))
        turned = self._taint_loop(op)
        control = control or turned
        if not self._has_checks(ops.blocks(op)):
            return [*out.emitted, self._plain(op, ok, control)], ok
        if ok is None:
            ok = out.true()
        carried, result = self.value(_TRUTH, "ok"), self.value(_TRUTH, "ok")
        inner, last = self._ops(op.body.ops, carried, control=control)
        assert last is not None
        body = ops.Block(tuple(inner), (*op.body.yields, last))
        new = replace(
            op, inits=(*op.inits, ok), carried=(*op.carried, carried), results=(*op.results, result), body=body
        )
        if isinstance(op, ops.While) and isinstance(new, ops.While):
            new = replace(new, test=self._test(op, carried, control))
        return [*out.emitted, new], result

    def _plain(self, op: ops.TilesLoop | ops.RangeLoop | ops.While, ok: Tile | None, control: bool) -> ops.AnyOp:
        """A loop without checks of its own; the stores in it are guarded too."""
        inner, _ = self._ops(op.body.ops, ok, control=control)
        new = replace(op, body=ops.Block(tuple(inner), op.body.yields))
        if isinstance(op, ops.While) and isinstance(new, ops.While):
            new = replace(new, test=self._test(op, ok, control))
        return new

    def _test(self, op: ops.While, ok: Tile | None, control: bool) -> ops.Block:
        """The test of a loop, which ends when its program has failed: what it waits for may never come."""
        test, _ = self._ops(op.test.ops, ok, control=control)
        (going,) = op.test.yields
        if ok is None:
            return ops.Block(tuple(test), (going,))
        both = self.value(_TRUTH, "ok")
        return ops.Block((*test, ops.Binary(op.span, both, ops.BinaryFn.AND, going, ok)), (both,))

    def _taint_loop(self, op: ops.TilesLoop | ops.RangeLoop | ops.While) -> bool:
        """Marks what a loop carries if anything in it may be tainted; returns whether its iterations are."""
        bounds = [value for value in ops.operands(op) if value not in op.inits]
        turned = not self.tainted.isdisjoint(bounds) or not self.tainted.isdisjoint(op.inits)
        if turned or self._has_checks(ops.blocks(op)) or self._uses_tainted(op):
            self.tainted.update((*op.carried, *op.results))
            match op:
                case ops.TilesLoop(walker=walker):
                    self.tainted.add(walker)
                case ops.RangeLoop(variable=variable):
                    self.tainted.add(variable)
                case ops.While():
                    turned = True
        return turned

    def _uses_tainted(self, op: ops.AnyOp) -> bool:
        return any(
            not self.tainted.isdisjoint(ops.operands(inner)) for block in ops.blocks(op) for inner in walk(block)
        )

    def _has_checks(self, blocks: Iterable[ops.Block]) -> bool:
        return any(
            id(op) in self.residuals and not all(id(r) in self.tested for r in self.residuals[id(op)])
            for block in blocks for op in walk(block)
        )  # fmt: skip

    def _branches(self, op: ops.If, ok: Tile | None, control: bool) -> tuple[list[ops.AnyOp], Tile | None]:
        control = control or op.condition in self.tainted
        has_checks = self._has_checks((op.then, op.orelse))
        out = _Out(self, op.span)
        if has_checks and ok is None:
            ok = out.true()
        then, one = self._ops(op.then.ops, ok, control=control)
        orelse, two = self._ops(op.orelse.ops, ok, control=control)
        self._taint_results(op, control)
        if not has_checks:
            then_block = ops.Block(tuple(then), op.then.yields)
            return [replace(op, then=then_block, orelse=ops.Block(tuple(orelse), op.orelse.yields))], ok
        assert one is not None
        assert two is not None
        result = self.value(_TRUTH, "ok")
        new = replace(
            op,
            results=(*op.results, result),
            then=ops.Block(tuple(then), (*op.then.yields, one)),
            orelse=ops.Block(tuple(orelse), (*op.orelse.yields, two)),
        )
        return [*out.emitted, new], result

    def _taint_results(self, op: ops.If, control: bool) -> None:
        for result, *ways in zip(op.results, op.then.yields, op.orelse.yields, strict=True):
            if control or not self.tainted.isdisjoint(ways):
                self.tainted.add(result)

    def _join(self, op: ops.Join, ok: Tile) -> tuple[list[ops.AnyOp], Tile | None]:
        """What follows the join of all pieces stores only if no piece failed."""
        left, right, both, result = (self.value(_TRUTH, "ok") for _ in range(4))
        combiner = op.combiner
        met = ops.Binary(op.span, both, ops.BinaryFn.AND, left, right)
        body = ops.Block((*combiner.body.ops, met), (*combiner.body.yields, both))
        grown = ops.Combiner((*combiner.left, left), (*combiner.right, right), body)
        self.tainted.update(op.results)
        new = replace(op, results=(*op.results, result), operands=(*op.operands, ok), combiner=grown)
        return [new], result
