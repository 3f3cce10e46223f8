"""The IR as text, close to the kernel it came from: the output of `tileproof ir`, and the format of golden files.

A block is indented, a line that defines values ends with their types, and constants are printed where they are used.
The same kernel always has the same text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from . import ops
from .types import AnyValue, Extent, Length, Tensor, Tile, Walker
from .walk import uses, walk

_INDENT = "    "


def print_kernel(kernel: ops.KernelIR, *, lines: bool = False) -> str:
    """The kernel as text that ends with a newline; `lines` adds the source line of each operation."""
    used = uses(kernel.body)
    numbers: dict[AnyValue, str] = {
        op.result: _number(op.value)
        for op in walk(kernel.body)
        if isinstance(op, ops.Constant) and op.result.type.rank == 0 and op.result in used
    }
    printer = _Printer(numbers, lines)
    text = [_header(kernel), *printer.block(kernel.body, "")]
    return "\n".join(text) + "\n"


def print_op(op: ops.AnyOp) -> str:
    """One operation on one line, without the blocks it holds."""
    return _Printer().line(op)


def _header(kernel: ops.KernelIR) -> str:
    parameters = ", ".join(f"{parameter.name}: {parameter.value.type}" for parameter in kernel.parameters)
    text = f"kernel {kernel.name}({parameters})"
    constants = [f"{name}={value}" for name, value in kernel.constants.items() if name not in kernel.static]
    static = [name if name == str(length) else f"{name}={length}" for name, length in kernel.static.items()]
    if constants:
        text += "  " + " ".join(constants)
    if static:
        text += "  static " + " ".join(static)
    return text


def _number(value: bool | int | float | Length) -> str:
    """A number as an operand; a symbolic length of several words is in parentheses."""
    if not isinstance(value, Extent):
        return repr(value)
    return str(value) if value.is_atom else f"({value})"


_Effect: TypeAlias = (
    ops.Load | ops.Get | ops.Store | ops.Update | ops.SplitAt | ops.Check | ops.Print | ops.Assume | ops.Require
)


@dataclass(frozen=True, slots=True)
class _Printer:
    numbers: Mapping[AnyValue, str] = field(default_factory=dict)
    lines: bool = False

    def block(self, block: ops.Block, indent: str) -> Iterator[str]:
        is_empty = True
        for op in block.ops:
            if isinstance(op, ops.Constant) and op.result in self.numbers:
                continue
            is_empty = False
            place = f"  ; line {op.span.line}" if self.lines else ""
            yield f"{indent}{self.line(op)}{place}"
            yield from self._inner(op, indent)
        if block.yields:
            yield f"{indent}yield {self._list(block.yields)}"
        elif is_empty:
            yield f"{indent}pass"

    def _inner(self, op: ops.AnyOp, indent: str) -> Iterator[str]:
        inside = indent + _INDENT
        match op:
            case ops.Parallel(body=body) | ops.TilesLoop(body=body) | ops.RangeLoop(body=body):
                yield from self.block(body, inside)
            case ops.Fold(combiner=combiner) | ops.Scan(combiner=combiner) | ops.Join(combiner=combiner):
                yield f"{inside}by {_pair(combiner)}"
                yield from self.block(combiner.body, inside + _INDENT)
            case ops.While(test=test, body=body):
                yield f"{inside}test"
                yield from self.block(test, inside + _INDENT)
                yield f"{inside}do"
                yield from self.block(body, inside + _INDENT)
            case ops.If(then=then, orelse=orelse):
                yield from self.block(then, inside)
                if orelse.ops or orelse.yields:
                    yield f"{indent}else"
                    yield from self.block(orelse, inside)
            case _:
                pass

    def line(self, op: ops.AnyOp) -> str:
        defined = ops.results(op)
        if not defined:
            return self._words(op)
        names = ", ".join(value.name for value in defined)
        types = ", ".join(str(value.type) for value in defined)
        return f"{names} = {self._words(op)} : {types}"

    def _words(self, op: ops.AnyOp) -> str:
        """The line of an operation between the names and the types it defines."""
        match op:
            case ops.Parallel() | ops.TilesLoop() | ops.RangeLoop() | ops.While() | ops.If():
                return self._control(op)
            case ops.Load() | ops.Get() | ops.Store() | ops.Update() | ops.SplitAt():
                return self._effect(op)
            case ops.Check() | ops.Print() | ops.Assume() | ops.Require():
                return self._effect(op)
            case ops.Fold() | ops.Scan() | ops.Join():
                return self._combining(op)
            case ops.Constant(value=value):
                return _number(value)
            case ops.Extents(dimension=dimension, tensor=tensor, axis=axis):
                return f"extent {dimension}" if tensor is None else f"extent {tensor.name}, axis {axis}"
            case ops.Start() | ops.Stop() | ops.Elements() | ops.Number():
                return f"{op.walker.name}.{type(op).__name__.lower()}"
            case ops.Shift(walker=walker, by=by):
                return f"{walker.name}.shift({self._name(by)})"
            case ops.Iota():
                return "arange"
            case ops.Group(index=index, dimension=dimension, into=into):
                return f"group {self._name(index)} of {dimension} into {into}"
            case ops.Unary(fn=fn, operand=operand):
                return f"{fn} {self._name(operand)}"
            case ops.Binary(fn=fn, left=left, right=right):
                if fn in ops.SIGNS:
                    return f"{self._name(left)} {ops.SIGNS[fn]} {self._name(right)}"
                return f"{fn} {self._list((left, right))}"
            case ops.Select(condition=condition, yes=yes, no=no):
                return f"where {self._list((condition, yes, no))}"
            case ops.Cast(operand=operand) | ops.Bitcast(operand=operand) | ops.Reshape(operand=operand):
                return f"{type(op).__name__.lower()} {self._name(operand)}"
            case ops.Broadcast(operand=operand):
                return f"{'full' if operand in self.numbers else 'broadcast'} {self._name(operand)}"
            case ops.Expand(operand=operand, axis=axis):
                return f"expand {self._name(operand)}, axis {axis}"
            case ops.Permute(operand=operand, order=order):
                return f"permute {self._name(operand)}, {' '.join(map(str, order))}"
            case ops.Slice(operand=operand, axis=axis, start=start, length=length):
                return f"slice {self._name(operand)}, {_window(start, length)}, axis {axis}"
            case ops.Take(operand=operand, axis=axis, index=index):
                return f"take {self._name(operand)} at {self._name(index)}, axis {axis}"
            case ops.Cat(operands=tiles, axis=axis):
                return f"cat {self._list(tiles)}, axis {axis}"
            case ops.Reduce(fn=fn, operand=operand, axis=axis):
                return f"{fn} {self._name(operand)}, axis {axis}"
            case ops.CumSum(operand=operand, axis=axis):
                return f"cumsum {self._name(operand)}, axis {axis}"
            case ops.Fill(operand=operand, value=value):
                return f"fill {self._name(operand)} with {self._name(value)}"
            case ops.Random(seed=seed, offset=offset):
                return f"random {self._list((seed, offset))}"
            case ops.Mma(left=left, right=right, acc=acc):
                return f"mma {self._list((left, right, acc))}"
            case _:
                assert_never(op)

    def _control(self, op: ops.Parallel | ops.TilesLoop | ops.RangeLoop | ops.While | ops.If) -> str:
        match op:
            case ops.Parallel(walkers=walkers, segments=segments):
                cut = {segment.walker: segment for segment in segments}
                return f"parallel {', '.join(_walked(walker, cut.get(walker)) for walker in walkers)}"
            case ops.TilesLoop(walker=walker, start=start, stop=stop, inits=inits, carried=carried):
                text = f"for {walker.name}: {walker.type}"
                text += "" if start is None else f" from {self._name(start)}"
                text += "" if stop is None else f" to {self._name(stop)}"
                return ", ".join([text, *self._carried(carried, inits)])
            case ops.RangeLoop(variable=variable, inits=inits, carried=carried):
                text = f"for {variable.name} in range({self._list((op.start, op.stop, op.step))})"
                return ", ".join([text, *self._carried(carried, inits)])
            case ops.While(inits=inits, carried=carried):
                return f"while {', '.join(self._carried(carried, inits))}".rstrip()
            case ops.If(condition=condition):
                return f"if {self._name(condition)}"
            case _:
                assert_never(op)

    def _combining(self, op: ops.Fold | ops.Scan | ops.Join) -> str:
        match op:
            case ops.Fold(operands=tiles, identities=identities, axis=axis):
                return f"reduce {self._list(tiles)}, axis {axis}, from {self._list(identities)}"
            case ops.Scan(operands=tiles, axis=axis):
                return f"scan {self._list(tiles)}, axis {axis}"
            case ops.Join(operands=tiles, walker=walker):
                return f"join {self._list(tiles)} over {walker.name}"
            case _:
                assert_never(op)

    def _effect(self, op: _Effect) -> str:
        match op:
            case ops.Load(tensor=tensor, picks=picks, raw=raw):
                return f"{'raw ' if raw else ''}load {tensor.name}{self._picks(picks)}"
            case ops.Get(tensor=tensor, picks=picks, fill=fill):
                return f"get {tensor.name}{self._picks(picks)} else {self._name(fill)}"
            case ops.Store(tensor=tensor, picks=picks, value=value, raw=raw):
                text = f"{'raw ' if raw else ''}store {tensor.name}{self._picks(picks)} = {self._name(value)}"
                return text + self._guard(op.guard)
            case ops.Update(tensor=tensor, picks=picks, value=value):
                return f"update {tensor.name}{self._picks(picks)} by {self._name(value)}{self._guard(op.guard)}"
            case ops.Check(ok=ok, index=index, low=low, high=high, what=what):
                both = "" if ok is None else f"{self._name(ok)} and "
                unless = f" unless none in {self._list(op.entries)}" if op.entries else ""
                bounds = f"{self._name(low)}:{self._name(high)}"
                return f"check {both}{self._name(index)} in {bounds}{unless}, {_quoted(what)}"
            case ops.SplitAt(tensor=tensor, axis=axis, at=at):
                return f"split {tensor.name} at {self._name(at)} along {_along(tensor, axis)}"
            case ops.Print(label=label, values=values):
                return ", ".join([f"print {_quoted(label)}", *map(self._name, values)])
            case ops.Assume(condition=condition, reason=reason):
                return f"assume {self._name(condition)}, because {_quoted(reason)}"
            case ops.Require(condition=condition):
                return f"require {self._name(condition)}"
            case _:
                assert_never(op)

    def _guard(self, guard: Tile | None) -> str:
        return "" if guard is None else f" if {self._name(guard)}"

    def _picks(self, picks: tuple[ops.Pick, ...]) -> str:
        return f"[{', '.join(map(self._pick, picks))}]"

    def _pick(self, pick: ops.Pick) -> str:
        match pick:
            case ops.Along(walker):
                return walker.name
            case ops.At(index) | ops.Gather(index):
                return self._name(index)
            case ops.Whole():
                return ":"
            case ops.Window(start, length):
                return _window(start, length)
            case _:
                assert_never(pick)

    def _carried(self, carried: tuple[Tile, ...], inits: tuple[Tile, ...]) -> list[str]:
        return [f"{value.name} = {self._name(init)}" for value, init in zip(carried, inits, strict=False)]

    def _list(self, values: tuple[Tile, ...]) -> str:
        return ", ".join(map(self._name, values))

    def _name(self, value: AnyValue) -> str:
        return self.numbers.get(value, value.name)


def _window(start: Length, length: Length) -> str:
    return f"{_number(start)}:{_number(start + length)}"


def _walked(walker: Walker, cut: ops.Segments | None) -> str:
    if cut is None:
        return f"{walker.name}: {walker.type}"
    return f"({cut.index.name}, {walker.name}): {walker.type} in segments of {cut.offsets.name}"


def _along(tensor: Tensor, axis: int) -> str:
    """The dimension of an axis; the number of the axis where there is none."""
    dimensions = tensor.type.dimensions
    return str(dimensions[axis]) if 0 <= axis < len(dimensions) else f"axis {axis}"


def _pair(combiner: ops.Combiner) -> str:
    """The values a combiner makes one of: `a, b`, or `(a, c), (b, d)` where each is several."""
    sides = [", ".join(tile.name for tile in side) for side in (combiner.left, combiner.right)]
    if max(len(combiner.left), len(combiner.right)) == 1:
        return ", ".join(sides)
    return ", ".join(f"({side})" for side in sides)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
