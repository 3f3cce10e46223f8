"""The points of the parallel space: how many, in which order, and what each is called."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from tileproof.ir.extent import Extent, Length
from tileproof.ir.ops import KernelIR, Parallel
from tileproof.ir.types import Walker

Order: TypeAlias = Literal["forward", "reverse"] | int
"""In which order points run: an integer shuffles them by that seed."""

Interval: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Step:
    """One walker of the space: steps of `size` along `extent` elements."""

    walker: Walker
    size: int
    extent: int

    @property
    def count(self) -> int:
        return -(-self.extent // self.size)

    def interval(self, number: int) -> Interval:
        return number * self.size, min((number + 1) * self.size, self.extent)


@dataclass(frozen=True, slots=True)
class Space:
    """The product of its steps, the last fastest. Without steps it is one point, `()`.

    Points are numbered from 0 in this order, whatever order they run in.
    """

    steps: tuple[Step, ...] = ()

    @property
    def count(self) -> int:
        return math.prod(step.count for step in self.steps)

    def ordered(self, order: Order) -> Iterable[int]:
        """The numbers of all points, in the order they are to run."""
        match order:
            case "forward":
                return range(self.count)
            case "reverse":
                return reversed(range(self.count))
            case seed:
                return map(int, np.random.default_rng(seed).permutation(self.count))

    def intervals(self, number: int) -> dict[Walker, Interval]:
        """What each walker covers at a point."""
        found: dict[Walker, Interval] = {}
        for step in reversed(self.steps):
            number, place = divmod(number, step.count)
            found[step.walker] = step.interval(place)
        return found

    def describe(self, number: int) -> str:
        """A point in the user's words: `i=128:256, n=3`."""
        intervals = self.intervals(number)
        return ", ".join(describe(step.walker, intervals[step.walker]) for step in self.steps)


def describe(walker: Walker, interval: Interval) -> str:
    """A walker's place: `i=128:256`, or `n=3` for a `tp.each` walker."""
    start, stop = interval
    return f"{walker.name}={start}" if walker.type.is_each else f"{walker.name}={start}:{stop}"


def space_of(kernel: KernelIR, dimensions: Mapping[str, int]) -> Space:
    """The kernel's parallel space at these extents."""
    found = next((op for op in kernel.body.ops if isinstance(op, Parallel)), None)
    if found is None:
        return Space()
    steps = (
        Step(walker, evaluate(size_of(walker), dimensions), dimensions[walker.type.dimension])
        for walker in found.walkers
    )
    return Space(tuple(steps))


def size_of(walker: Walker) -> Length:
    """How many elements a walker steps by."""
    return 1 if walker.type.size is None else walker.type.size


def evaluate(length: Length, dimensions: Mapping[str, int]) -> int:
    """A length as a number."""
    if not isinstance(length, Extent):
        return length
    total = length.constant
    for atom, factor in length.terms:
        if isinstance(atom, str):
            total += factor * dimensions[atom]
            continue
        left, right = evaluate(atom.left, dimensions), evaluate(atom.right, dimensions)
        match atom.op:
            case "*":
                total += factor * left * right
            case "//":
                total += factor * (left // right)
            case "%":
                total += factor * (left % right)
            case op:
                raise TypeError(f"a length cannot be made by {op}")
    return total
