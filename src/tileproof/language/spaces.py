"""Spaces and loops: which programs there are, which tiles each visits, and what the sizes must satisfy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .outside import only_in_kernels


class Each:
    """The type of `tp.each`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "tp.each"


each: Final = Each()
"""In place of a tile size: walks single elements and drops the axis. `for n in tp.parallel(N=tp.each):`"""


def parallel(*pairs: tuple[str, Any], **sizes: Any) -> Iterator[Any]:
    """The parallel space: the body runs once for every combination of tiles, as a program of its own.

    A keyword is a dimension and its tile size, a constant or `tp.each`; pairs are for a dimension walked
    twice. There is one parallel space in a kernel, at its top level. An empty dimension has no tiles, so no
    program runs.

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


__all__ = ["Each", "dim", "each", "group", "parallel", "require", "tiles"]
