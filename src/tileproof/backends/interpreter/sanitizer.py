"""Who touched each element of a written tensor: the ownership law, watched while it runs.

Two accesses to one element by two different points, at least one of them a write, are a race. Accesses of one point
happen in order and never are. For each element the first writer and the first reader are remembered. That is enough,
for points run one after another: when a point finds itself as the first, no other was there before it. What follows a
join is a point of its own, other than its pieces. Two lanes of one store at one element are a fault too, whatever they
write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import KernelIR, SplitAt
from tileproof.ir.types import Access, Tensor, TensorType

from .regions import Region
from .reports import Reporter, Touch
from .semantics import Array

_NOBODY = -1


@dataclass(slots=True)
class Trace:
    """For each element of a tensor, the point that touched it, and where in the source."""

    verb: str
    point: Array
    site: Array

    @staticmethod
    def empty(verb: str, shape: tuple[int, ...]) -> Trace:
        return Trace(verb, np.full(shape, _NOBODY, np.int64), np.full(shape, _NOBODY, np.int32))

    def part(self, window: tuple[slice, ...]) -> Trace:
        """The trace of a view: what is marked there is marked here."""
        return Trace(self.verb, self.point[window], self.site[window])

    def others(self, where: Region, point: int) -> Array:
        """Which elements of the region another point touched."""
        points = self.point[where.mesh]
        return np.asarray((points != _NOBODY) & (points != point))

    def mark(self, where: Region, point: int, site: int) -> None:
        """Records the point at the elements of the region that nobody touched yet."""
        mesh = where.mesh
        free = self.point[mesh] == _NOBODY
        self.point[mesh] = np.where(free, point, self.point[mesh])
        self.site[mesh] = np.where(free, site, self.site[mesh])


@dataclass(frozen=True, slots=True)
class Traces:
    """The first writer and the first reader of each element of a tensor."""

    writer: Trace
    reader: Trace

    @staticmethod
    def empty(shape: tuple[int, ...]) -> Traces:
        return Traces(Trace.empty("writes", shape), Trace.empty("reads", shape))

    def part(self, window: tuple[slice, ...]) -> Traces:
        return Traces(self.writer.part(window), self.reader.part(window))


class Sanitizer:
    """Watches every access of a run to a written tensor, and raises at the first race."""

    def __init__(self, kernel: KernelIR, arrays: Mapping[Tensor, Array], report: Reporter) -> None:
        self._kernel = kernel
        self._report = report
        written = ((tensor, array) for tensor, array in arrays.items() if tensor.type.access.writes)
        self._traces = {tensor: Traces.empty(array.shape) for tensor, array in written}
        self._sites: dict[Span, int] = {}

    def split(self, op: SplitAt, past: tuple[slice, ...], fresh: tuple[slice, ...]) -> None:
        """Two views of a tensor are made; what is done to them is done to its elements."""
        beneath = self._traces[op.tensor]
        self._traces[op.past], self._traces[op.fresh] = beneath.part(past), beneath.part(fresh)

    def read(self, tensor: Tensor, where: Region, point: int | None, span: Span) -> None:
        """A point reads a region. What is read before the space, by all programs, has no writer."""
        traces = self._traces.get(tensor)
        if traces is None or (point is None and tensor.type.access is Access.IN):
            return
        touch = self._touch(tensor, point, "reads", span)
        self._meet(tensor, where, touch, traces.writer)
        traces.reader.mark(where, touch.point, self._site(span))

    def write(self, tensor: Tensor, where: Region, point: int | None, span: Span) -> None:
        """A point writes a region."""
        traces = self._traces.get(tensor)
        if traces is None:
            return
        touch = self._touch(tensor, point, "writes", span)
        meeting = where.meeting()
        if meeting is not None:
            raise self._report.lanes_meet(tensor, meeting, touch)
        self._meet(tensor, where, touch, traces.writer)
        self._meet(tensor, where, touch, traces.reader)
        traces.writer.mark(where, touch.point, self._site(span))

    def finish(self) -> None:
        """Every program has run: each element of an `Out` must have a writer."""
        for parameter in self._kernel.parameters:
            match parameter.value.type:
                case TensorType(access=Access.OUT):
                    missing = self._traces[parameter.value].writer.point == _NOBODY
                    if missing.any():
                        first = np.unravel_index(int(np.argmax(missing)), missing.shape)
                        element = tuple(int(place) for place in first)
                        raise self._report.unwritten(parameter, element, int(missing.sum()))

    def _meet(self, tensor: Tensor, where: Region, touch: Touch, trace: Trace) -> None:
        met = trace.others(where, touch.point)
        if not met.any():
            return
        element = where.element(int(np.argmax(met)))
        span = list(self._sites)[trace.site[element]]
        raise self._report.race(tensor, element, touch, Touch(int(trace.point[element]), trace.verb, span))

    def _touch(self, tensor: Tensor, point: int | None, verb: str, span: Span) -> Touch:
        if point is None:
            raise TypeError(f"{tensor.name} is accessed outside the parallel space, by every program")
        return Touch(point, verb, span)

    def _site(self, span: Span) -> int:
        return self._sites.setdefault(span, len(self._sites))
