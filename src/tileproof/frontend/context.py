"""What is known at a point of a kernel while it is compiled."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import FunctionType

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic, Edit, Frame, Label
from tileproof.diagnostics.spans import Span
from tileproof.ir.types import Length, Tensor, Walker
from tileproof.language.dtypes import DType

from .builder import Builder
from .fold import bounded
from .names import MISSING, Capture, as_dtype, check_capture, find_name, in_reach
from .signature import Signature
from .source import FunctionSource, Refused, Suppressed, refuse
from .values import Binding, Bundle, Entity, Known, Poison, Scope, Unbound


class Place(Enum):
    """Where in a kernel a statement stands; it decides what may be touched."""

    OUTSIDE = "outside tp.parallel"
    INSIDE = "inside tp.parallel"
    ALONE = "a kernel without tp.parallel"


@dataclass(slots=True)
class Context:
    """The state of compilation. Helpers get a copy with a scope of their own and the same builder."""

    builder: Builder
    signature: Signature
    dtypes: Mapping[str, DType]
    """What `T` and `U` stand for."""
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
    """Every walker made so far, oldest first: those younger than a loop belong to one turn of it."""
    cut: dict[Tensor, Span] = field(default_factory=dict)
    """Tensors that tp.split_at cut in two, and where: from there on only the views are used."""
    parallel_span: Span | None = None
    unsafe: str | None = None
    """The reason of the `tp.unsafe` block around, where there is one."""

    def evaluate(self, node: ast.expr) -> Entity:
        """The value of an expression."""
        return self.evaluator(self, node)

    def run_helper(self) -> Entity:
        """Runs the statements of the helper this context was made for, and gives what it returns."""
        return self.helper_runner(self)

    def span(self, node: ast.AST) -> Span:
        return self.function.span(node)

    def report(self, refused: Refused) -> None:
        """Keeps a mistake, with the calls that led to it, unless it was found before."""
        found = replace(refused.diagnostic, stack=self.stack, kernel=self.signature.name)
        if found.edit is not None:
            text, span = found.edit.replacement, found.edit.span
            written = in_reach(text, self.function.function)
            found = replace(found, help=found.help.replace(text, written), edit=Edit(span, written))
        if all((found.code, found.span, found.message) != (d.code, d.span, d.message) for d in self.diagnostics):
            self.diagnostics.append(found)

    def bind(self, name: str, entity: Entity, span: Span) -> None:
        if name in self.frozen:
            outer = self.scope.get(name)
            raise refuse(
                Code.OUTER_REBOUND,
                f"`{name}` is bound outside tp.parallel and cannot be rebound inside",
                span,
                notes=(
                    "the points of the parallel space are programs of their own: nothing passes from one to the next",
                ),
                help="use another name, or move its first value into the loop; what programs make together is a Sum, "
                "Max or Min parameter, or goes through tp.split and tp.join",
                labels=_first_bound(outer),
            )
        self.scope[name] = Binding(entity, span)

    def lookup(self, name: str, span: Span) -> Entity:
        """What `name` stands for: the kernel's own names first, then Python's."""
        match self.scope.get(name):
            case Binding() as binding:
                binding.was_read = True
                if isinstance(binding.entity, Poison):
                    raise Suppressed
                return binding.entity
            case Unbound(reason, where, cure, code):
                lacks = "value" if code is Code.MAYBE_UNBOUND else "single type"
                raise refuse(
                    code,
                    f"`{name}` has no {lacks} here: {reason}",
                    span,
                    labels=_label(where, "this is where"),
                    help=cure or f"give `{name}` a value before",
                )
            case _ if name in self.function.own_names:
                # As in Python, a name assigned anywhere in a function is its own everywhere in it.
                reason = f"`{self.function.name}` assigns it, but not on the way here"
                raise refuse(Code.MAYBE_UNBOUND, f"`{name}` has no value here: {reason}", span, help="assign it before")
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
            return Known(self.dtypes.get(dtype.name, dtype) if not isinstance(dtype, DType) else dtype)
        if isinstance(value, tuple):
            return Bundle(tuple(self.constant(item, span) for item in value))
        return Known(bounded(value, span))

    def _unknown(self, name: str, span: Span) -> Refused:
        if name in self.signature.dimensions:
            message, written = f"`{name}` is a dimension, not a name", f'tp.dim("{name}")'
            cure = f"write `{written}` for its extent"
            return refuse(Code.UNKNOWN_NAME, message, span, help=cure, edit=Edit(span, written))
        names = [bound for bound, entry in self.scope.items() if isinstance(entry, Binding)]
        near = _nearest(name, names)
        cure = f"did you mean `{near}`?" if near else "define it before the kernel, or pass it as a parameter"
        return refuse(Code.UNKNOWN_NAME, f"`{name}` is not defined", span, help=cure)


def _nearest(name: str, names: list[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, names, 1, 0.7)), None)


def _label(span: Span, text: str) -> tuple[Label, ...]:
    return (Label(span, text),)


def _first_bound(entry: Binding | Unbound | None) -> tuple[Label, ...]:
    return _label(entry.span, "bound here, outside") if isinstance(entry, Binding) else ()
