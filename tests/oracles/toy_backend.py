"""A backend of its own, to show what one takes: it writes a function of Python over numpy for each kernel.

A tile is an array of its live elements, so a ragged one is shorter. The parallel space is a nest of loops, a walker two
variables, `start` and `stop`. It knows the operations that a few kernels have, and raises at the first one it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.ir import ops
from tileproof.ir.ops import BinaryFn, ReduceFn, UnaryFn
from tileproof.ir.types import AnyValue, DimensionTag, Length, TensorType, Tile, Walker, WalkerTag
from tileproof.language.kernel import Memo

_UNARY: Final = {
    UnaryFn.NEG: "-{}", UnaryFn.ABS: "np.abs({})", UnaryFn.EXP: "np.exp({})", UnaryFn.LOG: "np.log({})",
    UnaryFn.SQRT: "np.sqrt({})", UnaryFn.RSQRT: "1 / np.sqrt({})", UnaryFn.TANH: "np.tanh({})",
}  # fmt: skip
_BINARY: Final = {
    BinaryFn.ADD: "{} + {}", BinaryFn.SUB: "{} - {}", BinaryFn.MUL: "{} * {}", BinaryFn.DIV: "{} / {}",
    BinaryFn.MIN: "np.minimum({}, {})", BinaryFn.MAX: "np.maximum({}, {})", BinaryFn.LT: "{} < {}",
    BinaryFn.LE: "{} <= {}", BinaryFn.GT: "{} > {}", BinaryFn.GE: "{} >= {}", BinaryFn.EQ: "{} == {}",
}  # fmt: skip
_REDUCE: Final = {
    ReduceFn.SUM: "{}.sum(axis={})", ReduceFn.MEAN: "{}.mean(axis={})",
    ReduceFn.MAX: "{}.max(axis={}, initial=-np.inf)", ReduceFn.MIN: "{}.min(axis={}, initial=np.inf)",
}  # fmt: skip


class Toy:
    """The backend."""

    on_gpu = False

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}
        """What was written, by the name of the kernel."""
        self._made = Memo[list[Callable[..., None]]](list)

    def compile(self, proved: Any, bound: Any) -> Callable[..., None]:
        """A function of the arguments and dimensions of a launch."""
        result = self._made.of(proved)
        if not result:
            source = self.sources[proved.ready.name] = _Writer(proved.ready).source()
            names: dict[str, Any] = {"np": np}
            exec(source, names)
            result.append(names["run"])
        return result[0]


@dataclass
class _Writer:
    kernel: ops.KernelIR
    lines: list[str] = field(default_factory=list)
    names: dict[AnyValue, str] = field(default_factory=dict)
    depth: int = 0

    def source(self) -> str:
        self.line("def run(arguments, dimensions):")
        self.depth += 1
        for parameter in self.kernel.parameters:
            arguments = f"arguments[{parameter.name!r}]"
            is_tensor = isinstance(parameter.value.type, TensorType)
            value = arguments if is_tensor else self.number(arguments, parameter.value)
            self.line(f"{self.name(parameter.value)} = {value}")
        self.line("with np.errstate(all='ignore'):")
        self.depth += 1
        self.line("pass")
        self.block(self.kernel.body)
        return "\n".join(self.lines) + "\n"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def name(self, value: AnyValue) -> str:
        return self.names.setdefault(value, f"v{len(self.names)}")

    def number(self, text: str, tile: Any) -> str:
        return f"np.array({text}, {str(tile.type.dtype.storage)!r})[()]"

    def shape(self, tile: Tile) -> str:
        """The live lengths of a tile."""
        lengths = []
        for axis in tile.type.axes:
            match axis.tag:
                case WalkerTag(walker):
                    lengths.append(f"{self.name(walker)}_stop - {self.name(walker)}_start")
                case DimensionTag(name):
                    lengths.append(f"dimensions[{name!r}]")
                case None:
                    lengths.append(self.length(axis.length))
        return f"({''.join(f'{length}, ' for length in lengths)})"

    def length(self, length: Length) -> str:
        if not isinstance(length, int):
            raise _unknown(f"a length of {length}", self.kernel)
        return str(length)

    def region(self, tensor: AnyValue, picks: Iterable[ops.Pick]) -> str:
        """The elements that an access picks."""
        places = []
        for pick in picks:
            match pick:
                case ops.Along(walker) if walker.type.is_each:
                    places.append(f"{self.name(walker)}_start")
                case ops.Along(walker):
                    places.append(f"{self.name(walker)}_start:{self.name(walker)}_stop")
                case ops.Whole():
                    places.append(":")
                case _:
                    raise _unknown(f"an access by {type(pick).__name__}", self.kernel)
        return f"{self.name(tensor)}[{', '.join((*places, '...'))}]"

    def block(self, block: ops.Block) -> None:
        for op in block.ops:
            self.op(op)

    def loop(self, walker: Walker, start: str, stop: str) -> None:
        name, extent = self.name(walker), f"dimensions[{walker.type.dimension!r}]"
        size = "1" if walker.type.size is None else self.length(walker.type.size)
        self.line(f"{name}_end = min({stop}, {extent})")
        self.line(f"for {name}_start in range({start}, {name}_end, {size}):")
        self.depth += 1
        self.line(f"{name}_stop = min({name}_start + {size}, {name}_end)")

    def op(self, op: ops.AnyOp) -> None:
        name = self.name
        match op:
            case ops.Parallel(walkers=walkers, body=body, segments=()) if not any(w.type.is_piece for w in walkers):
                for walker in walkers:
                    self.loop(walker, "0", f"dimensions[{walker.type.dimension!r}]")
                self.block(body)
                self.depth -= len(walkers)
            case ops.TilesLoop(walker=walker, start=start, stop=stop, body=body):
                self.assign(op.carried, op.inits)
                extent = f"dimensions[{walker.type.dimension!r}]"
                self.loop(walker, name(start) if start else "0", name(stop) if stop else extent)
                self.block(body)
                self.assign(op.carried, body.yields)
                self.depth -= 1
                self.assign(op.results, op.carried)
            case ops.Store(tensor=tensor, picks=picks, value=value, guard=None):
                self.line(f"{self.region(tensor, picks)} = {name(value)}")
            case ops.Require():  # tested before the launch
                pass
            case _:
                (result,) = ops.results(op)
                self.line(f"{name(result)} = {self.expression(op)}")

    def assign(self, targets: tuple[Tile, ...], values: tuple[Tile, ...]) -> None:
        if targets:
            self.line(f"{', '.join(map(self.name, targets))} = {', '.join(map(self.name, values))}")

    def expression(self, op: ops.AnyOp) -> str:
        """What an operation computes."""
        name = self.name
        match op:
            case ops.Constant(result=result, value=bool() | int() | float() as value):
                return self.number(f"float({str(value)!r})" if isinstance(value, float) else repr(value), result)
            case ops.Load(tensor=tensor, picks=picks):
                return self.region(tensor, picks)
            case ops.Unary(fn=fn, operand=operand) if fn in _UNARY:
                return _UNARY[fn].format(name(operand))
            case ops.Binary(fn=fn, left=left, right=right) if fn in _BINARY:
                return _BINARY[fn].format(name(left), name(right))
            case ops.Select(condition=condition, yes=yes, no=no):
                return f"np.where({name(condition)}, {name(yes)}, {name(no)})"
            case ops.Cast(result=result, operand=operand) if result.type.dtype.is_float:
                return f"{name(operand)}.astype({str(result.type.dtype.storage)!r})"
            case ops.Broadcast(result=result, operand=operand) if not operand.type.axes:
                return f"np.broadcast_to({name(operand)}, {self.shape(result)})"
            case ops.Reduce(fn=fn, operand=operand, axis=axis) if fn in _REDUCE and operand.type.dtype.is_float:
                return _REDUCE[fn].format(name(operand), axis)
            case ops.Mma(left=left, right=right, acc=acc):
                return f"{name(left)} @ {name(right)} + {name(acc)}"
            case _:
                raise _unknown(type(op).__name__, self.kernel)


def _unknown(what: str, kernel: ops.KernelIR) -> LaunchError:
    return LaunchError(Diagnostic(Code.NO_BACKEND, f"the toy backend does not know {what}", kernel=kernel.name))
