"""The state of compilation at a point of a kernel, and the builder of operations."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from types import FunctionType
from typing import TypeVar

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, Edit, Frame, Label
from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import AnyOp, Shift, SplitAt, results
from tileproof.ir.types import (
    Length,
    Tensor,
    TensorType,
    TileType,
    Value,
    Walker,
    WalkerType,
)
from tileproof.ir.walk import substitute_op
from tileproof.language.dtypes import DType, DTypeVar

from .captures import MISSING, Capture, as_dtype, check_capture, find_name, in_reach
from .constant_folding import limited
from .entities import Binding, Bundle, Entity, Known, Poison, Scope, Unbound
from .hints import NAME_HINTS
from .signature import Signature
from .source import FunctionSource, Rejected, Suppressed, reject

_UNNAMED = "%"
_MOST_WORK = 50_000
V = TypeVar("V", bound=TileType | WalkerType | TensorType)


@dataclass(slots=True)
class Builder:
    """Fills blocks with operations."""

    ops: list[AnyOp] = field(default_factory=list)
    used: dict[str, int] = field(default_factory=dict)
    work: int = 0
    """Operations emitted, helpers inlined and turns of loops written out, also where a body is compiled again."""
    untyped: dict[Value[TileType], Span] = field(default_factory=dict)
    """Tiles that are f32 because no element type was written, and the calls that made them."""

    def value(self, type_: V, name: str = _UNNAMED) -> Value[V]:
        """A new value, named after the user's name for it where there is one."""
        count = self.used.get(name, 0)
        self.used[name] = count + 1
        if name == _UNNAMED:
            return Value(f"{name}{count}", type_)
        return Value(f"{name}.{count}" if count else name, type_)

    def emit(self, op: AnyOp) -> None:
        self.spend(op.span)
        self.ops.append(op)

    def spend(self, span: Span) -> None:
        """Counts a piece of work; a kernel of more than the limit is rejected, once."""
        self.work += 1
        if self.work == _MOST_WORK:
            message = f"this kernel becomes more than {_MOST_WORK} operations"
            notes = ("each call of a helper and each turn of tp.static_range is compiled anew",)
            cure = "loop with `range`, whose body is compiled once, or compute on larger tiles"
            raise reject(Code.TOO_LONG, message, span, notes=notes, help=cure)
        if self.work > _MOST_WORK:
            raise Suppressed

    @contextmanager
    def block(self) -> Iterator[list[AnyOp]]:
        """Sends operations to a new block while the context lasts."""
        outer, self.ops = self.ops, []
        try:
            yield self.ops
        finally:
            self.ops = outer

    def rename(self, value: Value[V], name: str) -> Value[V]:
        """`value` under the name it is assigned to, if the last operation has just made it and it has none yet.

        A shifted walker and the views of a split are named after what they were made from until then.
        """
        last = self.ops[-1] if self.ops else None
        if last is None or value not in results(last):
            return value
        if not (value.name.startswith(_UNNAMED) or isinstance(last, Shift | SplitAt)):
            return value
        named = self.value(value.type, name)
        self.ops[-1] = substitute_op(last, {value: named})
        if value in self.untyped:
            self.untyped[named] = self.untyped[value]  # type: ignore[index]
        return named


class Place(Enum):
    """The part of a kernel a statement is in; it decides which accesses are allowed."""

    OUTSIDE = "outside tp.parallel"
    INSIDE = "inside tp.parallel"
    ALONE = "a kernel without tp.parallel"


@dataclass(slots=True)
class Context:
    """The state of compilation. Helpers get a copy with a scope of their own and the same builder."""

    builder: Builder
    signature: Signature
    dtypes: Mapping[str, DType]
    """The element types of `T` and `U`."""
    static: Mapping[str, Length]
    """Extents of the dimensions bound as constants."""
    function: FunctionSource
    scope: Scope
    evaluator: Callable[[Context, ast.expr], Entity]
    """`expressions.evaluate`, handed in because calls and expressions need each other."""
    helper_runner: Callable[[Context], Entity]
    """`statements.run_helper`, for the same reason."""
    sources: dict[FunctionType, FunctionSource] = field(default_factory=dict)
    """Helpers read so far."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    captures: dict[tuple[int, tuple[str, ...]], Capture] = field(default_factory=dict)
    stack: tuple[Frame, ...] = ()
    calling: tuple[object, ...] = ()
    """The helpers being inlined, to find one that calls itself."""
    place: Place = Place.OUTSIDE
    depth: int = 0
    """How many loops, branches and helpers are open: tp.parallel stands at depth 0."""
    frozen: frozenset[str] = frozenset()
    """Names bound outside tp.parallel, which may not be rebound inside."""
    walkers: list[Walker] = field(default_factory=list)
    """Every walker created so far, oldest first: those created in a loop belong to one iteration of it."""
    cut: dict[Tensor, Span] = field(default_factory=dict)
    """Tensors that tp.split_at cut in two, and where: from there on only the views are used."""
    parallel_span: Span | None = None
    unsafe: str | None = None
    """The reason of the enclosing `tp.unsafe` block, if there is one."""

    def evaluate(self, node: ast.expr) -> Entity:
        """The value of an expression."""
        return self.evaluator(self, node)

    def run_helper(self) -> Entity:
        """Compiles the statements of the helper this context is for, and returns its result."""
        return self.helper_runner(self)

    def span(self, node: ast.AST) -> Span:
        return self.function.span(node)

    def report(self, rejected: Rejected) -> None:
        """Keeps a mistake, with the calls that led to it, unless it was found before."""
        diagnostic = replace(rejected.diagnostic, stack=self.stack, kernel=self.signature.name)
        if diagnostic.edit is not None:
            text, span = diagnostic.edit.replacement, diagnostic.edit.span
            written = in_reach(text, self.function.function)
            diagnostic = replace(diagnostic, help=diagnostic.help.replace(text, written), edit=Edit(span, written))
        key = (diagnostic.code, diagnostic.span, diagnostic.message)
        if all(key != (known.code, known.span, known.message) for known in self.diagnostics):
            self.diagnostics.append(diagnostic)

    def bind(self, name: str, entity: Entity, span: Span) -> None:
        if name in self.frozen:
            outer = self.scope.get(name)
            raise reject(
                Code.OUTER_REBOUND,
                f"`{name}` is bound outside tp.parallel and cannot be rebound inside",
                span,
                notes=(
                    "the points of the parallel space are programs of their own: nothing passes from one to the next",
                ),
                help="use another name, or move its first value into the loop; what programs make together is a Sum, "
                "Max or Min parameter, or goes through tp.split and tp.join",
                labels=(Label(outer.span, "bound here, outside"),) if isinstance(outer, Binding) else (),
            )
        self.scope[name] = Binding(entity, span)

    def lookup(self, name: str, span: Span) -> Entity:
        """The entity of a name: the kernel's own names first, then Python's."""
        match self.scope.get(name):
            case Binding() as binding:
                binding.was_read = True
                if isinstance(binding.entity, Poison):
                    raise Suppressed
                return binding.entity
            case Unbound(reason, where, cure, code, edit):
                lacks = "value" if code is Code.MAYBE_UNBOUND else "single type"
                raise reject(
                    code,
                    f"`{name}` has no {lacks} here: {reason}",
                    span,
                    labels=(Label(where, "this is where"),),
                    help=cure or f"give `{name}` a value before",
                    edit=edit,
                )
            case _ if name in self.function.own_names:
                self.demand_known(name, span)
                # As in Python, a name assigned anywhere in a function is its own everywhere in it.
                reason = f"`{self.function.name}` assigns it, but not on the way here"
                raise reject(Code.MAYBE_UNBOUND, f"`{name}` has no value here: {reason}", span, help="assign it before")
            case _:
                return self.captured((name,), find_name(self.function.function, name), span)

    def captured(self, path: tuple[str, ...], value: object, span: Span) -> Entity:
        """A value from outside the kernel, recorded."""
        name = ".".join(path)
        if value is MISSING:
            raise self._unknown(name, span)
        check_capture(value, name, self.function, span)
        self.captures[id(self.function.function), path] = Capture(self.function.function, path, value)
        return self.constant(value, span)

    def constant(self, value: object, span: Span) -> Entity:
        """A value of Python's as one of the kernel's."""
        dtype = as_dtype(value)
        if dtype is not None:
            if isinstance(dtype, DTypeVar) and dtype.name not in self.dtypes:
                self.demand_known(dtype.name, span, kind="the element type")
            return Known(self.dtypes.get(dtype.name, dtype) if not isinstance(dtype, DType) else dtype)
        if isinstance(value, tuple):
            return Bundle(tuple(self.constant(item, span) for item in value))
        return Known(limited(value, span))

    def demand_known(self, name: str, span: Span, kind: str = "") -> None:
        """Rejects a dimension, or an element type, that only parameters which are None here name."""
        signature = self.signature
        if name in signature.unknown or (signature.absent and kind):
            absent, kind = " and ".join(f"`{each.name}`" for each in signature.absent), kind or "the dimension"
            raise reject(
                Code.MAY_BE_ABSENT,
                f"{kind} `{name}` is that of {absent} alone, which may be None: there is no test here",
                span,
                labels=tuple(Label(each.span, "declared with `| None`") for each in signature.absent),
                help=f"use it under `if {signature.absent[0].name} is not None:`",
            )

    def _unknown(self, name: str, span: Span) -> Rejected:
        self.demand_known(name, span)
        if name in self.signature.dimensions:
            message, written = f"`{name}` is a dimension, not a name", f'tp.dim("{name}")'
            cure = f"write `{written}` for its extent"
            return reject(Code.UNKNOWN_NAME, message, span, help=cure, edit=Edit(span, written))
        if name in NAME_HINTS:
            return reject(Code.UNKNOWN_NAME, f"`{name}` is not defined", span, help=NAME_HINTS[name])
        names = [bound for bound, entry in self.scope.items() if isinstance(entry, Binding)]
        near = difflib.get_close_matches(name, names, 1, 0.7)
        cure = f"did you mean `{near[0]}`?" if near else "define it before the kernel, or pass it as a parameter"
        return reject(Code.UNKNOWN_NAME, f"`{name}` is not defined", span, help=cure)
