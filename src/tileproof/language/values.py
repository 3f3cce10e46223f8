"""What the names inside a kernel stand for: tiles, and the walkers that spaces and loops hand out.

Neither exists at run time; the classes say what may be done with them. To type checkers both are `Any`.
"""

from __future__ import annotations

from typing import Any

from .outside import only_in_kernels


class Tile:
    """An immutable block of elements of one type, with a static shape; a scalar has no axes.

    Operators: `+ - *`, `/` (floats only), `// % **`, `& | ^ ~ << >>`, comparisons, `a @ b` (a product from
    zero), `t[:, None]`, and `t[:8]` (constant slices of full axes). Operands broadcast as in numpy. Every
    reduction is a method too, as in `t.sum(axis=1)`: sum mean max min argmax argmin any all cumsum.

    Integers wrap; `x // 0` is 0 and `x % 0` is x; `//` and `%` floor, as in Python. A shift past the width
    gives 0, or -1 for `>>` of a negative integer.
    """

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The element type; tensors have it too."""
        only_in_kernels("Tile.dtype")

    @property
    def shape(self) -> Any:
        """The lengths of the axes, as constants: those of the tile, not of what is live in it."""
        only_in_kernels("Tile.shape")

    @property
    def T(self) -> Any:  # noqa: N802
        """The axes in reverse order."""
        only_in_kernels("Tile.T")

    def to(self, dtype: Any) -> Any:
        """The values as another type: floats round to nearest even, integers truncate and saturate."""
        only_in_kernels("Tile.to")

    def reshape(self, *shape: Any) -> Any:
        """The same elements, row by row, in another shape. Every axis must be full."""
        only_in_kernels("Tile.reshape")


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


__all__ = ["Tile", "Walker"]
