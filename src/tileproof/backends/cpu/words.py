"""What the code of a kernel and its launches agree on: the words of the arguments, the numbers of checks and prints.

A launch loads this, and what it needs to fill in words, but nothing that writes code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from tileproof.diagnostics.records import dataclass
from tileproof.ir import ops
from tileproof.ir.types import TensorType, Walker
from tileproof.ir.walk import walk
from tileproof.language.dtypes import DType
from tileproof.lowering.joins import cut

from .packed_operands import candidates


@dataclass
class Words:
    """Which word of the arguments holds what."""

    kernel: ops.KernelIR
    places: dict[object, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("record", "printer", "programs", "shares", "space"):
            self._add(name)
        for parameter in self.kernel.parameters:
            value = parameter.value
            if isinstance(value.type, TensorType):
                rank = len(value.type.dimensions)
                self._add((value.name, "pointer"))
                for axis in range(rank):
                    self._add((value.name, "extent", axis))
                for axis in range(rank):
                    self._add((value.name, "stride", axis))
                if value.type.access.combines:
                    self._add((value.name, "share"))
            else:
                self._add(value.name)
        for walker in self.walkers:
            self._add((walker.name, "count"))
            if walker in self.segments:
                self._add((walker.name, "table"))
        for place in range(len(candidates(self.kernel))):
            self._add(("packed", place))

    def _add(self, key: object) -> None:
        self.places[key] = len(self.places)

    def dimension(self, name: str) -> int:
        """The word of a dimension's extent, made when it is first asked for."""
        if ("dimension", name) not in self.places:
            self._add(("dimension", name))
        return self.places["dimension", name]

    @property
    def parallel(self) -> ops.Parallel | None:
        return next((op for op in self.kernel.body.ops if isinstance(op, ops.Parallel)), None)

    @property
    def walkers(self) -> tuple[Walker, ...]:
        return () if self.parallel is None else self.parallel.walkers

    @property
    def combines_after(self) -> bool:
        """Whether what follows a join combines into a tensor."""
        return self.parallel is not None and any(isinstance(op, ops.Update) for op in walk(cut(self.parallel).after))

    @property
    def segments(self) -> dict[Walker, ops.Segments]:
        return {} if self.parallel is None else {each.walker: each for each in self.parallel.segments}


@dataclass(frozen=True, slots=True)
class Shown:
    """How a value of `tp.print` lies in memory: a pointer and its live lengths follow each other in the call."""

    dtype: DType
    strides: tuple[int, ...]


def sites_of(kernel: ops.KernelIR) -> Sequence[ops.AnyOp]:
    """Every check and print of a kernel, by number."""
    return [op for op in walk(kernel.body) if isinstance(op, ops.Check | ops.Print)]
