"""Spaces and loops: which programs there are, which tiles each visits, and what the sizes must satisfy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .host_calls import only_in_kernels


class Each:
    """The type of `tp.each`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "tp.each"


each: Final = Each()
"""In place of a tile size: walks single elements and drops the axis. `for n in tp.parallel(N=tp.each):`"""


class Walker:
    """A tile of a dimension, as `tp.parallel` and `tp.tiles` hand it out: the place, not the elements.

    It indexes an axis of its dimension and stands for a length in a shape. A walker of `tp.each` is one
    position, an `index`, and takes arithmetic.
    """

    __slots__ = ()

    @property
    def start(self) -> Any:
        """The first position, as an `index`."""
        only_in_kernels("Walker.start")

    @property
    def stop(self) -> Any:
        """The position after the last element that exists, as an `index`."""
        only_in_kernels("Walker.stop")

    @property
    def elements(self) -> Any:
        """All positions, as a 1-D tile of `index`."""
        only_in_kernels("Walker.elements")


def parallel(*pairs: tuple[str, Any], **sizes: Any) -> Iterator[Any]:
    """The parallel space: the body runs once for every combination of tiles, as a program of its own.

    A keyword is a dimension, or a constant of the kernel, and its tile size, a constant or `tp.each`; pairs are for a
    dimension walked twice. There is one parallel space in a kernel, at its top level. An empty dimension has no tiles,
    so no program runs.

    Example:
        for i, j in tp.parallel(M=BM, N=BN):
            y[i, j] = x[i, j]
    """
    only_in_kernels("parallel")


def tiles(*pairs: tuple[str, Any], start: Any = None, stop: Any = None, **sizes: Any) -> Iterator[Any]:
    """A loop over the tiles of one dimension, in order, inside one program.

    It counts from `start` (0 unless given) and is clipped at `stop` and at the end of the dimension, so the
    last tile may be short; where nothing is left the body does not run.

    Example:
        total = tp.zeros((i,))
        for k in tp.tiles(N=4, stop=10):
            total = total + x[i, k].sum(axis=1)
        r[i] = total
    """
    only_in_kernels("tiles")


def static_range(start: int, stop: int | None = None, step: int = 1) -> Iterator[int]:
    """A loop over constants that is written out: its variable is a constant, which `range` has as an index.

    So it may count items of a tuple, slice a tile, and decide an `if`. Bounds are constants; each turn is code.

    Example:
        t, total = tp.arange(8), 0
        for n in tp.static_range(4):
            total += t[2 * n : 2 * n + 2].sum()
    """
    only_in_kernels("static_range")


def group(element: Any, dimension: str) -> Any:
    """The element of `dimension` that `element` belongs to, when its own dimension is cut into equal runs.

    With H query heads sharing G key heads, `tp.group(h, "G")` is `h // (H // G)`. The launch demands that H
    is a multiple of G, and that G is at least 1.

    Example:
        for h, s in tp.parallel(H=tp.each, S=BS):
            y[h, s] = k[tp.group(h, "G"), s]
    """
    only_in_kernels("group")


def dim(name: str) -> Any:
    """The extent of a dimension, as an `index`.

    Example:
        r[i] = x[i, :].sum(axis=1) / tp.dim("M").to(f32)
    """
    only_in_kernels("dim")


def require(condition: Any) -> None:
    """A contract of the kernel: tested at every launch, and a fact from there on.

    It stands before `tp.parallel` and speaks of dimensions, scalars and constants only.

    Example:
        tp.require(tp.dim("N") >= 1)
        for i, j in tp.parallel(M=BM, N=BN):
            y[i, j] = x[i, j]
    """
    only_in_kernels("require")


class Split:
    """The value of `tp.split`: the size of a walk in pieces."""

    __slots__ = ("length",)

    def __init__(self, length: Any) -> None:
        self.length = length


def split(length: Any) -> Any:
    """In place of a tile size: cuts an axis into pieces of `length`, each for a program of its own.

    The program walks its piece with `z.tiles(BK)`, and `tp.join` combines what the pieces made. An empty axis has
    one empty piece, so that there is always something to join. `tp.split(0)` leaves the axis whole: the code is that
    of a kernel without the split.

    Example:
        for i, z in tp.parallel(M=BM, N=tp.split(32)):
            total = tp.zeros((i,))
            for n in z.tiles(BN):
                total += x[i, n].sum(axis=1)
            r[i] = tp.join(total, over=z)
    """
    only_in_kernels("split")


def join(values: Any, over: Any, by: Any = None) -> Any:
    """Combines a value, or a tuple of them, of all pieces of a split walker, in index order.

    The rest of the body runs once for all pieces. `by` takes two values (or two tuples) and gives one; it is + unless
    given. A kernel has one join, at the top level of the body of its parallel space.

    Example:
        for i, z in tp.parallel(M=BM, N=tp.split(32)):
            top = tp.full((i,), -tp.inf)
            for n in z.tiles(BN):
                top = tp.maximum(top, x[i, n].max(axis=1))
            r[i] = tp.join(top, over=z, by=tp.maximum)
    """
    only_in_kernels("join")


def segments(offsets: Any, *pairs: tuple[str, Any], **sizes: Any) -> Any:
    """Inside `tp.parallel`: walks ragged segments of a dimension, given by an `Offsets` tensor.

    It hands out a pair: the number of the segment, an `index`, and a tile that stays inside it.

    Example:
        for (e, i), j in tp.parallel(tp.segments(borders, M=BM), N=BN):
            y[i, j] = x[i, j] * scales[e]
    """
    only_in_kernels("segments")


def split_at(tensor: Any, dimension: str, position: Any) -> Any:
    """Two views of an `InOut`, before and from `position` on, made before `tp.parallel`.

    Every program may read the first; it is walked by `tp.tiles(C=BT, stop=position)`. The second is written, each
    element by one program, and its axis counts from `position`. So one launch can read a cache and append to it.

    Example:
        past, fresh = tp.split_at(cache, "C", pos[0])
        for n in tp.parallel(N=tp.each):
            fresh[n, :] = new[n, :]
    """
    only_in_kernels("split_at")


__all__ = [
    "Each", "Split", "Walker", "dim", "each", "group", "join", "parallel", "require", "segments", "split",
    "split_at", "static_range", "tiles",
]  # fmt: skip
