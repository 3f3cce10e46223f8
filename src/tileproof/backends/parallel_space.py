"""The points of the parallel space: how many, in which order, and what each is called.

Points are numbered from 0, the last walker fastest, whatever order they run in. Where a walker is split, what follows
the join is done by programs of their own, one for each combination of the other walkers, numbered after the points.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.ir.ops import KernelIR, Parallel
from tileproof.ir.types import Tensor, Tile, Walker, evaluate, size_of

Order: TypeAlias = Literal["forward", "reverse"] | int
"""In which order points run: an integer shuffles them by that seed."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a walker is: the elements from `start` to `stop`, with `number` tiles of the same walk before them."""

    start: int
    stop: int
    number: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One walker of the space, and the places it goes to in order; for segments, the segment of each too."""

    walker: Walker
    places: tuple[Place, ...]
    index: Tile | None = None
    segments: tuple[int, ...] = ()

    def describe(self, place: int) -> str:
        """A place in the user's words: `i=128:256`, `n=3` for a `tp.each` walker, `e=2, i=128:256` in a segment."""
        here = self.places[place]
        where = f"{here.start}" if self.walker.type.is_each else f"{here.start}:{here.stop}"
        segment = f"{self.index}={self.segments[place]}, " if self.index is not None else ""
        return f"{segment}{self.walker}={where}"


@dataclass(frozen=True, slots=True)
class Space:
    """The product of its steps. Without steps it is one point, `()`."""

    steps: tuple[Step, ...] = ()

    @property
    def count(self) -> int:
        return math.prod(len(step.places) for step in self.steps)

    @property
    def pieces(self) -> int:
        """How many points meet at a join."""
        return math.prod(len(step.places) for step in self.steps if step.walker.type.is_piece)

    @property
    def joined(self) -> Space:
        """The space of the programs after the join: the same without the pieces."""
        return Space(tuple(step for step in self.steps if not step.walker.type.is_piece))

    def ordered(self, order: Order) -> Iterable[int]:
        """The numbers of all points, in the order they are to run."""
        match order:
            case "forward":
                return range(self.count)
            case "reverse":
                return reversed(range(self.count))
            case seed:
                return map(int, np.random.default_rng(seed).permutation(self.count))

    def places(self, point: int) -> list[tuple[Step, int]]:
        """Each step, and which of its places it is at."""
        places = []
        for step in reversed(self.steps):
            point, place = divmod(point, len(step.places))
            places.append((step, place))
        return places[::-1]

    def after_join(self, point: int) -> int:
        """The number of the program that follows the join of a point with the other pieces."""
        number = 0
        for step, place in self.places(point):
            if not step.walker.type.is_piece:
                number = number * len(step.places) + place
        return self.count + number

    def is_joined(self, program: int) -> bool:
        """Whether a number is that of a program after the join."""
        return program >= self.count

    def describe(self, program: int) -> str:
        """A point in the user's words, `i=128:256, n=3`; a program after the join by the walkers left to it."""
        if self.is_joined(program):
            return self.joined.describe(program - self.count)
        return ", ".join(step.describe(place) for step, place in self.places(program))


def space_of(kernel: KernelIR, dimensions: Mapping[str, int], tensors: Mapping[Tensor, npt.NDArray[Any]]) -> Space:
    """The kernel's parallel space at these extents and borders of segments."""
    parallel = next((op for op in kernel.body.ops if isinstance(op, Parallel)), None)
    if parallel is None:
        return Space()
    ragged = {segments.walker: segments for segments in parallel.segments}
    steps = []
    for walker in parallel.walkers:
        if walker in ragged:
            borders = [int(border) for border in tensors[ragged[walker].offsets]]
            steps.append(_segment_step(walker, ragged[walker].index, borders, dimensions))
        else:
            steps.append(_step(walker, dimensions))
    return Space(tuple(steps))


def _step(walker: Walker, dimensions: Mapping[str, int]) -> Step:
    extent = dimensions[walker.type.dimension]
    places = tuple(tiles(0, extent, evaluate(size_of(walker), dimensions)))
    if walker.type.is_piece and not extent:
        places = (Place(0, 0),)
    return Step(walker, places)


def _segment_step(walker: Walker, index: Tile, borders: list[int], dimensions: Mapping[str, int]) -> Step:
    size = evaluate(size_of(walker), dimensions)
    walked = [
        (place, segment)
        for segment, (start, stop) in enumerate(pairwise(borders))
        for place in tiles(start, stop, size)
    ]
    places, segments = zip(*walked, strict=True) if walked else ((), ())
    return Step(walker, places, index, segments)


def tiles(start: int, stop: int, size: int) -> Iterable[Place]:
    """A walk from `start` to `stop`, whose last tile may be short."""
    for number, place in enumerate(range(start, stop, size)):
        yield Place(place, min(place + size, stop), number)


# For compiled code.


def place_count(walker: Walker, dimensions: Mapping[str, int]) -> int:
    """How many places a walker of the parallel space has, where it does not go by segments."""
    count = -(-dimensions[walker.type.dimension] // evaluate(size_of(walker), dimensions))
    return max(count, 1) if walker.type.is_piece else count


def segment_table(borders: npt.NDArray[Any], size: int) -> npt.NDArray[np.int64]:
    """Start, stop, number and segment of every tile of a ragged walk."""
    starts, stops = borders[:-1], borders[1:]
    counts = -(-(stops - starts) // size)
    segment = np.repeat(np.arange(len(counts)), counts)
    turn = np.arange(len(segment)) - np.repeat(np.cumsum(counts) - counts, counts)
    begin = starts[segment] + turn * size
    return np.ascontiguousarray(np.stack([begin, np.minimum(begin + size, stops[segment]), turn, segment], axis=1))
