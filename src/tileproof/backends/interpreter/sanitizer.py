"""Who touched each element of a written tensor: the ownership law, watched while it runs.

Two accesses to one element by two different points, at least one of them a write, are a race. Accesses of one point
happen in order and never are. For each element the first writer and the first reader are remembered. That is enough,
for points run one after another: when a point finds itself as the first, no other was there before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tileproof.diagnostics.spans import Span
from tileproof.ir.ops import KernelIR
from tileproof.ir.types import Access, Tensor, TensorType

from .memory import Region
from .reports import Reporter, Touch
from .semantics import Array

_NOBODY = -1


@dataclass(slots=True)
class Trace:
    """For each element of a tensor, the point that touched it, and where in the source."""

    shape: tuple[int, ...]
    verb: str
    point: Array = field(init=False)
    site: Array = field(init=False)

    def __post_init__(self) -> None:
        self.point = np.full(self.shape, _NOBODY, np.int64)
        self.site = np.full(self.shape, _NOBODY, np.int32)

    def others(self, where: Region, point: int) -> Array:
        """Which elements of the region another point touched."""
        found = self.point[where.mesh]
        return np.asarray((found != _NOBODY) & (found != point))

    def mark(self, where: Region, point: int, site: int) -> None:
        """Records the point at the elements of the region that nobody touched yet."""
        mesh = where.mesh
        free = self.point[mesh] == _NOBODY
        self.point[mesh] = np.where(free, point, self.point[mesh])
        self.site[mesh] = np.where(free, site, self.site[mesh])


class Traces:
    """The first writer and the first reader of each element of a tensor."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.writer = Trace(shape, "writes")
        self.reader = Trace(shape, "reads")


class Sanitizer:
    """Watches every access of a run to a written tensor, and raises at the first race."""

    def __init__(self, kernel: KernelIR, arrays: Mapping[Tensor, Array], report: Reporter) -> None:
        self._kernel = kernel
        self._report = report
        self._traces = {tensor: Traces(array.shape) for tensor, array in arrays.items() if tensor.type.access.writes}
        self._sites: dict[Span, int] = {}

    def read(self, tensor: Tensor, where: Region, point: int | None, span: Span) -> None:
        """A point reads a region."""
        traces = self._traces.get(tensor)
        if traces is None:
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
