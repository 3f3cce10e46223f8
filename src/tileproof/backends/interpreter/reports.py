"""What the interpreter says when a kernel breaks a promise: all sentences a user may read are here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tileproof.backends.parallel_space import Space
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, Label, LaunchError, OutOfBounds, Race, SanitizerError, Unwritten
from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import Check, KernelIR, Parameter, ReduceFn
from tileproof.ir.types import NOWHERE, Tensor, Walker

from .regions import Meeting, Outside
from .semantics import Array


@dataclass(frozen=True, slots=True)
class Touch:
    """One access to an element: by which point, to do what, where in the source."""

    point: int
    verb: str
    span: Span


@dataclass(frozen=True, slots=True)
class Reporter:
    """Makes the exceptions of one run."""

    kernel: KernelIR
    space: Space
    dimensions: Mapping[str, int]

    def race(self, tensor: Tensor, element: tuple[int, ...], later: Touch, earlier: Touch) -> Race:
        """Two points met at an element; `later` is the access that found the other's trace."""
        place = _at(tensor.name, element)
        here, there = self._point(later.point), self._point(earlier.point)
        if later.verb == earlier.verb:
            message = f"programs {there} and {here} both write {place}"
            cure = (
                f"index {tensor.name} with {self._walkers(later.point)}, so that each program writes its own "
                f"elements, or declare it Sum, Max or Min if what they write is to be combined"
            )
        else:
            reader, writer = (here, there) if later.verb == "reads" else (there, here)
            message = f"program {reader} reads {place}, which program {writer} writes"
            cure = (
                f"read only elements of {tensor.name} that the same program writes, "
                f"or write to another tensor than the one that is read"
            )
            if later.span == earlier.span:  # `x[i] += t` reads and writes in one place
                cure = f"declare {tensor.name} Sum, Max or Min: such an update is combined, whoever makes it"
        if self.space.is_joined(later.point) != self.space.is_joined(earlier.point):
            cure = f"touch {tensor.name} either before the join or after it: what follows is a program of its own"
        return Race(
            Diagnostic(
                Code.RACE,
                message,
                later.span,
                f"program {here} {later.verb} it here",
                (Label(earlier.span, f"program {there} {earlier.verb} it here"),),
                ("programs run in any order, also at the same time", *self._sizes()),
                cure,
                kernel=self.kernel.name,
            )
        )

    def lanes_meet(self, tensor: Tensor, meeting: Meeting, touch: Touch) -> Race:
        """One store holds two values for an element."""
        place = _at(tensor.name, meeting.element)
        one, two = meeting.lanes
        return Race(
            Diagnostic(
                Code.LANES_MEET,
                f"{self._program(touch.point)} writes {place} twice in one store",
                touch.span,
                f"lanes {one} and {two} along axis {meeting.axis} meet",
                (),
                ("the lanes of a store are written in any order, so either value may stay", *self._sizes()),
                f"take the positions from a Unique tensor, or declare {tensor.name} Sum, Max or Min",
                kernel=self.kernel.name,
            )
        )

    def unwritten(self, parameter: Parameter, element: tuple[int, ...], missing: int) -> Unwritten:
        """Every program has run; `missing` elements of an `Out` were written by none, this one first."""
        name = parameter.name
        count = "1 element is" if missing == 1 else f"{missing} elements are"
        return Unwritten(
            Diagnostic(
                Code.UNWRITTEN,
                f"no program writes {_at(name, element)}",
                parameter.span,
                "an Out is written as a whole",
                (),
                (f"{count} never written", *self._sizes()),
                f"write every element of {name}, or declare it InOut to keep the others as they are",
                kernel=self.kernel.name,
            )
        )

    def outside(self, tensor: Tensor, fault: Outside, verb: str, point: int | None, span: Span) -> OutOfBounds:
        """An index left its axis, or is none where there must be an element."""
        if fault.is_none:
            return self._out_of_bounds(
                Code.OUT_OF_BOUNDS,
                f"{self._program(point)} {verb} axis {fault.axis} of {tensor.name} at none",
                span,
                "the index is -1, none",
                self._sizes(),
                f"read it with {tensor.name}.get(index, fill), or give every entry of the index tensor a position",
            )
        cure = "guard the access with `if`"
        if fault.extent:
            cure = f"keep the index in 0:{fault.extent} with tp.clip, or {cure}"
        return self._out_of_bounds(
            Code.OUT_OF_BOUNDS,
            f"{self._program(point)} {verb} index {_shown(fault.position)} of axis {fault.axis} of {tensor.name}, "
            f"which has {_elements(fault.extent)}",
            span,
            f"index {_shown(fault.position)} is outside",
            self._sizes(),
            cure,
        )

    def taken_outside(self, axis: int, place: int, live: int, point: int | None, span: Span) -> OutOfBounds:
        """An element of a tile was asked for that is not there."""
        return self._out_of_bounds(
            Code.OUT_OF_BOUNDS,
            f"{self._program(point)} takes index {place} of axis {axis} of a tile, which has {_elements(live)} there",
            span,
            f"index {place} is outside",
            self._sizes(),
            "guard it with `if`, or keep the index inside with tp.clip",
        )

    def no_position(
        self, tensor: Tensor, dimension: str, value: int, extent: int, point: int | None, span: Span
    ) -> OutOfBounds:
        """What was stored into an index tensor is no position of its dimension."""
        return self._out_of_bounds(
            Code.OUT_OF_BOUNDS,
            f"{self._program(point)} stores {_shown(value)} into {tensor.name}, "
            f"and {dimension} has {_elements(extent)}",
            span,
            f"{_shown(value)} is no position of {dimension}",
            self._sizes(),
            f"store -1 (none) or a position of {dimension}",
        )

    def failed_check(self, op: Check, index: int, low: int, high: int, point: int | None) -> OutOfBounds:
        """A check that stayed in the kernel found an index outside; the program stored nothing more."""
        return self._out_of_bounds(
            Code.OUT_OF_BOUNDS,
            f"{self._program(point)}: {op.what} is {_shown(index)}, and {low}:{high} is allowed",
            op.span,
            f"index {_shown(index)} is outside",
            ("a check at run time found this; that program stored nothing after it", *self._sizes()),
            "pass arguments that keep the index inside, or guard the access with `if`",
        )

    def starts_outside(self, walker: Walker, start: int, point: int | None, span: Span) -> OutOfBounds:
        """A walk began before its axis."""
        dimension = walker.type.dimension
        return self._out_of_bounds(
            Code.OUT_OF_BOUNDS,
            f"{self._program(point)} walks {dimension} from {start}, before its first element",
            span,
            f"{_named(walker)} starts at {start}",
            self._sizes(),
            "start at 0 or later, for example at tp.maximum(start, 0)",
        )

    def shifted_outside(self, walker: Walker, start: int, point: int | None, span: Span) -> OutOfBounds:
        """A tile was moved off its axis."""
        dimension = walker.type.dimension
        return self._out_of_bounds(
            Code.OUT_OF_BOUNDS,
            f"{self._program(point)} shifts a tile of {dimension} to start at {start}, "
            f"and {dimension} has {_elements(self.dimensions[dimension])}",
            span,
            f"{_named(walker)} starts at {start}",
            self._sizes(),
            "shift less far, or guard the shift with `if`",
        )

    def split_outside(self, tensor: Tensor, axis: int, at: int, extent: int, span: Span) -> OutOfBounds:
        """A tensor was split where it has no elements."""
        return self._out_of_bounds(
            Code.OUT_OF_BOUNDS,
            f"{self.kernel.name} splits axis {axis} of {tensor.name} at {at}, and it has {_elements(extent)}",
            span,
            f"{at} is not in 0:{extent + 1}",
            self._sizes(),
            f"split at 0 to {extent}",
        )

    def false_assumption(self, reason: str, point: int | None, span: Span) -> SanitizerError:
        """`tp.raw.assume` was told something that is not so."""
        return SanitizerError(
            Diagnostic(
                Code.FALSE_ASSUMPTION,
                f"{self._program(point)} assumes something that is false",
                span,
                "false here",
                (),
                (f"the reason given: {reason}", *self._sizes()),
                "correct the assumption, or the code that was to make it true",
                kernel=self.kernel.name,
            )
        )

    def formatted(self, label: str, values: Sequence[Array], point: int | None) -> str:
        """The text of `tp.print`: the program in brackets, the label, the values."""
        described = "" if point is None else self.space.describe(point)
        head = f"[{self.kernel.name} {described}]" if described else f"[{self.kernel.name}]"
        if not values:
            return f"{head} {label}"
        start = f"{head} {label}: "
        return start + ", ".join(np.array2string(value, separator=", ", prefix=start) for value in values)

    def empty_argmax(self, fn: ReduceFn, point: int | None, span: Span) -> OutOfBounds:
        """No element, no position."""
        return self._out_of_bounds(
            Code.EMPTY_ARGMAX,
            f"{self._program(point)} takes {fn} of an axis without elements",
            span,
            "no position is valid here",
            self._sizes(),
            "guard it with `if`, or demand elements with tp.require",
        )

    def overflow(self, operands: tuple[int, ...], point: int | None, span: Span) -> OutOfBounds:
        """Index arithmetic is exact or nothing."""
        met = " and ".join(map(str, operands))
        return self._out_of_bounds(
            Code.INDEX_OVERFLOW,
            f"{self._program(point)} computes an index that does not fit 64 bits",
            span,
            "outside 64 bits",
            (f"reached from {met}", *self._sizes()),
            "if it is not a position, compute it in a type that wraps: .to(i64)",
        )

    def broken_contract(self, span: Span) -> LaunchError:
        """`tp.require` found its condition false."""
        condition = " ".join(span.text.split())
        return LaunchError(
            Diagnostic(
                Code.CONTRACT,
                f"{self.kernel.name} demands something that does not hold",
                span,
                "false for these arguments",
                (),
                (*((f"demanded: {condition}",) if condition else ()), *self._sizes()),
                "call the kernel with arguments that meet it",
                kernel=self.kernel.name,
            )
        )

    def _out_of_bounds(
        self, code: Code, message: str, span: Span, label: str, notes: tuple[str, ...], cure: str
    ) -> OutOfBounds:
        return OutOfBounds(Diagnostic(code, message, span, label, (), notes, cure, kernel=self.kernel.name))

    def _program(self, point: int | None) -> str:
        """The one who acts: a program by its point, or the kernel where all programs do the same."""
        if point is None or not self.space.steps:
            return self.kernel.name
        return f"program {self._point(point)}"

    def _point(self, point: int) -> str:
        """A program by its walkers; one that has none left follows the join of all."""
        return self.space.describe(point) or "after the join"

    def _walkers(self, point: int) -> str:
        space = self.space.joined if self.space.is_joined(point) else self.space
        names = [step.walker.name for step in space.steps]
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

    def _sizes(self) -> tuple[str, ...]:
        sizes = ", ".join(f"{name}={extent}" for name, extent in self.dimensions.items())
        return (f"with {sizes}",) if sizes else ()


def _named(walker: Walker) -> str:
    """A walker as the user calls it: without the number that tells it from others of the name."""
    return walker.name.partition(".")[0]


def _shown(index: int) -> str:
    """An index; of an entry that was made of a negative one no more is known."""
    return "below 0" if index == NOWHERE else str(index)


def _elements(extent: int) -> str:
    return "1 element" if extent == 1 else f"{extent} elements"


def _at(name: str, element: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, element))}]" if element else name
