"""Functions on tiles. A tile is an immutable block of elements; a scalar is a tile without axes.

Operands broadcast as in numpy and have one element type; literals take the type they meet. Only live elements
count: at the ragged end of a dimension nothing that does not exist enters a reduction or a store. Every
operation has a value for every operand; where that is a choice, the function says which.

The examples are lines of one kernel, in which `i` is a tile of rows and N is static:

    def example(y: InOut[f32, "M N"], q: InOut[i32, "M N"], r: InOut[f32, "M"],
                x: In[f32, "M N"], p: In[i32, "M N"], *, N: int) -> None:
        for i in tp.parallel(M=8):
            ...
"""

from __future__ import annotations

import math
from typing import Any, Final

from .host_calls import on_host, only_in_kernels


class Lowest:
    """The type of `tp.lowest`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "tp.lowest"


inf: Final[Any] = math.inf
"""Infinity, a weak literal: it takes the float type it meets. `top = tp.full((i,), -tp.inf)`"""

lowest: Final[Any] = Lowest()
"""The least finite value of the type it meets; f32's where it meets none. `top = tp.lowest`"""


class NoPosition:
    """The type of `tp.none`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "tp.none"


none: Final[Any] = NoPosition()
"""No position: what is stored there is not written. `y[tp.where(keep, n.elements, tp.none)] = t`"""


class Tile:
    """An immutable block of elements of one type, with a static shape; a scalar has no axes.

    Operators: `+ - *`, `/` (floats only), `// % **`, `& | ^ ~ << >>`, comparisons, `a @ b` (a product from
    zero), `t[:, None]`, `t[:8]` (constant slices of full axes), and `t[k, :]` (one place of an axis). Operands
    broadcast as in numpy. Every reduction is a method too, as in `t.sum(axis=1)`: sum mean max min argmax argmin any
    all cumsum.

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

    def permute(self, *axes: Any) -> Any:
        """The axes in another order: `t.permute(1, 2, 0)` is `tp.permute(t, (1, 2, 0))`."""
        only_in_kernels("Tile.permute")


# Making tiles.


def zeros(shape: Any, dtype: Any = None, device: str = "cpu") -> Any:
    """A tile of zeros, of f32 unless `dtype` is given. `shape` is made of lengths and walkers.

    On the host: a `tp.Tensor` of zeros on a device, "cpu" or "cuda".

    Example:
        y[i, :] = tp.zeros((i, N))
    """
    return on_host("zeros")(shape, dtype, device)


def full(shape: Any, value: Any, dtype: Any = None, device: str = "cpu") -> Any:
    """A tile with `value` everywhere: a literal (f32 unless `dtype` is given) or a scalar (of its own type).

    On the host: a `tp.Tensor` with `value` everywhere, of f32 unless `dtype` is given.

    Example:
        r[i] = tp.full((i,), -tp.inf)
    """
    return on_host("full")(shape, value, dtype, device)


def arange(n: Any, dtype: Any = None, device: str = "cpu") -> Any:
    """The numbers 0, 1, ... n - 1 for a constant n, of type `index` unless `dtype` is given.

    On the host: a `tp.Tensor` of these numbers, of i64 unless `dtype` is given.

    Example:
        q[i, :] = tp.arange(N, i32)[None, :]
    """
    return on_host("arange")(n, dtype, device)


# Products.


def mma(a: Any, b: Any, acc: Any) -> Any:
    """The matrix product `a @ b + acc`, accumulated in f32; in f64 for f64, in i32 for 8-bit integers.

    The inner axes of `a` and `b` must be the same tile of one dimension; what is missing there counts as 0.
    With a first axis that both have, each of its places has a product of its own.

    Example:
        square = tp.mma(x[i, :], x[i, :].T, tp.zeros((i, i), f32))
        r[i] = square.sum(axis=1)
    """
    only_in_kernels("mma")


# Choosing.


def where(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where `condition` is true, else `no`, element by element. Both are evaluated.

    Example:
        y[i, :] = tp.where(x[i, :] > 0, x[i, :], 0)
    """
    only_in_kernels("where")


def maximum(a: Any, b: Any) -> Any:
    """The greater of two tiles, element by element; NaN if either is NaN.

    Example:
        y[i, :] = tp.maximum(x[i, :], 0)
    """
    only_in_kernels("maximum")


def minimum(a: Any, b: Any) -> Any:
    """The lesser of two tiles, element by element; NaN if either is NaN.

    Example:
        y[i, :] = tp.minimum(x[i, :], 6)
    """
    only_in_kernels("minimum")


def clip(x: Any, low: Any, high: Any) -> Any:
    """`x` kept between `low` and `high`: `minimum(maximum(x, low), high)`, so `high` wins if they cross.

    Example:
        y[i, :] = tp.clip(x[i, :], -1, 1)
    """
    only_in_kernels("clip")


# Functions of one element. Those of floats follow IEEE 754: NaN gives NaN.


def exp(x: Any) -> Any:
    """e to the power of x, on floats: 0 at -inf, inf where the result is too large.

    Example:
        y[i, :] = tp.exp(x[i, :])
    """
    only_in_kernels("exp")


def exp2(x: Any) -> Any:
    """2 to the power of x, on floats: 0 at -inf, inf where the result is too large.

    Example:
        y[i, :] = tp.exp2(x[i, :])
    """
    only_in_kernels("exp2")


def log(x: Any) -> Any:
    """The natural logarithm, on floats: -inf at 0, NaN below.

    Example:
        y[i, :] = tp.log(x[i, :])
    """
    only_in_kernels("log")


def log2(x: Any) -> Any:
    """The logarithm to base 2, on floats: -inf at 0, NaN below.

    Example:
        y[i, :] = tp.log2(x[i, :])
    """
    only_in_kernels("log2")


def sqrt(x: Any) -> Any:
    """The square root, on floats: NaN below 0.

    Example:
        y[i, :] = tp.sqrt(x[i, :])
    """
    only_in_kernels("sqrt")


def rsqrt(x: Any) -> Any:
    """1 / sqrt(x), on floats: inf at 0, NaN below.

    Example:
        y[i, :] = tp.rsqrt(x[i, :])
    """
    only_in_kernels("rsqrt")


def tanh(x: Any) -> Any:
    """The hyperbolic tangent, on floats: -1 at -inf, 1 at inf.

    Example:
        y[i, :] = tp.tanh(x[i, :])
    """
    only_in_kernels("tanh")


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), on floats: 0 at -inf, 1 at inf.

    Example:
        y[i, :] = x[i, :] * tp.sigmoid(x[i, :])
    """
    only_in_kernels("sigmoid")


def sin(x: Any) -> Any:
    """The sine of an angle in radians, on floats: NaN at an infinity.

    Example:
        y[i, :] = tp.sin(x[i, :])
    """
    only_in_kernels("sin")


def cos(x: Any) -> Any:
    """The cosine of an angle in radians, on floats: NaN at an infinity.

    Example:
        y[i, :] = tp.cos(x[i, :])
    """
    only_in_kernels("cos")


def erf(x: Any) -> Any:
    """The error function, on floats: -1 at -inf, 1 at inf.

    Example:
        y[i, :] = 0.5 * x[i, :] * (1 + tp.erf(x[i, :] * 0.7071067811865476))
    """
    only_in_kernels("erf")


def floor(x: Any) -> Any:
    """The greatest whole number not above x, still as a float.

    Example:
        q[i, :] = tp.floor(x[i, :]).to(i32)
    """
    only_in_kernels("floor")


def ceil(x: Any) -> Any:
    """The least whole number not below x, still as a float.

    Example:
        q[i, :] = tp.ceil(x[i, :]).to(i32)
    """
    only_in_kernels("ceil")


def round(x: Any) -> Any:
    """The nearest whole number, still as a float; halves go to the even one, as in Python.

    Example:
        q[i, :] = tp.round(x[i, :]).to(i32)
    """
    only_in_kernels("round")


def abs(x: Any) -> Any:
    """The absolute value, on floats and integers; that of the least integer is itself.

    Example:
        y[i, :] = tp.abs(x[i, :])
    """
    only_in_kernels("abs")


def isnan(x: Any) -> Any:
    """Whether a float is not a number, as bool.

    Example:
        y[i, :] = tp.where(tp.isnan(x[i, :]), 0, x[i, :])
    """
    only_in_kernels("isnan")


def cdiv(a: Any, b: Any) -> Any:
    """Division of integers or indices rounded up; 0 where b is 0. `tp.cdiv(n, 8)` is how many eights cover n.

    Example:
        q[i, :] = tp.cdiv(p[i, :], 8)
    """
    only_in_kernels("cdiv")


# Other shapes and types.


def cat(tiles: Any, axis: Any = 0) -> Any:
    """Tiles one after another along an axis, which must be full in each of them.

    Example:
        digits = tp.cat((tp.arange(8, i32), tp.arange(8, i32)))
        q[i, :] = p[i, :] + digits.sum()
    """
    only_in_kernels("cat")


def permute(x: Any, axes: Any) -> Any:
    """The axes in another order: axis n of the result is axis `axes[n]` of `x`, with its tag. `x.T` reverses them.

    Example:
        y[i, :] = tp.permute(x[i, :], (1, 0)).T
    """
    only_in_kernels("permute")


def bitcast(x: Any, dtype: Any) -> Any:
    """The same bits read as another type of the same width; a conversion of value is `x.to(dtype)`.

    Example:
        q[i, :] = tp.bitcast(x[i, :], i32) & 0x7FFFFFFF
    """
    only_in_kernels("bitcast")


# Combining into memory.


def update(tensor: Any, index: Any, value: Any) -> None:
    """Combines `value` into elements of a `Sum`, `Max` or `Min`, by +, max or min.

    For `Sum` it may be written `s[i] += t`. Every live element counts, also where indices repeat.
    `index` is one index, or a tuple of one per axis.

    Example:
        for i in tp.parallel(N=BN):
            tp.update(top, group[i], x[i])
    """
    only_in_kernels("update")


# Reductions see live elements only. Without an axis they reduce all of them, to a scalar.


def sum(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The sum, 0 of nothing. 16-bit floats give f32; bool, 8- and 16-bit integers i32. Integers wrap.

    Example:
        r[i] = tp.sum(x[i, :], axis=1)
    """
    only_in_kernels("sum")


def mean(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The mean of floats, NaN of nothing. 16-bit floats give f32.

    Example:
        y[i, :] = x[i, :] - tp.mean(x[i, :], axis=1, keepdims=True)
    """
    only_in_kernels("mean")


def max(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The greatest element, of the same type: NaN if there is one, -inf (or the least integer) of nothing.

    Example:
        r[i] = tp.max(x[i, :], axis=1)
    """
    only_in_kernels("max")


def min(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The least element, of the same type: NaN if there is one, inf (or the greatest integer) of nothing.

    Example:
        r[i] = tp.min(x[i, :], axis=1)
    """
    only_in_kernels("min")


def argmax(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The position of the greatest element in the tile, an `index`: NaN wins, then the first. Needs one.

    Example:
        r[i] = tp.argmax(x[i, :], axis=1).to(f32)
    """
    only_in_kernels("argmax")


def argmin(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The position of the least element in the tile, an `index`: NaN wins, then the first. Needs one.

    Example:
        r[i] = tp.argmin(x[i, :], axis=1).to(f32)
    """
    only_in_kernels("argmin")


def any(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """Whether some element of a bool tile is true; false of nothing.

    Example:
        r[i] = tp.any(x[i, :] > 0, axis=1).to(f32)
    """
    only_in_kernels("any")


def all(x: Any, axis: Any = None, keepdims: Any = False, *more: Any) -> Any:
    """Whether every element of a bool tile is true; true of nothing.

    On the host: several operations side by side, as one: `tp.all(a, b, c)`. Its value is all their values.

    Example:
        r[i] = tp.all(x[i, :] > 0, axis=1).to(f32)
    """
    # On the host the places of `axis` and `keepdims` hold operations too.
    others = [operation for operation in (axis, keepdims) if operation is not None and operation is not False]
    return on_host("all_of")((x, *others, *more))


def cumsum(x: Any, axis: Any = None) -> Any:
    """Sums of all elements up to and with each one, of the type `tp.sum` gives. A 1-D tile may omit `axis`.

    Example:
        y[i, :] = tp.cumsum(x[i, :], axis=1)
    """
    only_in_kernels("cumsum")


# Combining with a function of your own.


def reduce(x: Any, by: Any, identity: Any, axis: Any = None) -> Any:
    """Combines the live elements of a tile, or of a tuple of tiles, along an axis.

    `by` takes two values (or two tuples) and gives one; it is associative. Elements combine in order. `identity` is
    what an axis without elements gives. The axis may be left out if there is one.

    Example:
        r[i] = tp.reduce(x[i, :], by=lambda a, b: tp.where(b > a, b, a), identity=-tp.inf, axis=1)
    """
    only_in_kernels("reduce")


def scan(x: Any, by: Any, axis: Any = None) -> Any:
    """What the live elements up to each one combine to, along an axis; `by` as in `tp.reduce`.

    Example:
        y[i, :] = tp.scan(x[i, :], tp.maximum, axis=1)
    """
    only_in_kernels("scan")


# Random numbers, and printing.


def random(seed: Any, offset: Any) -> Any:
    """Uniform f32 numbers in [0, 1), one for each `offset`, the same on every backend and in every order.

    They depend on `seed`, an integer, and `offset`, an integer or index tile, alone (Philox 4x32-10).

    Example:
        keep = tp.random(7, i.elements[:, None] * N + tp.arange(N)) >= 0.1
        y[i, :] = tp.where(keep, x[i, :] / 0.9, 0.0)
    """
    only_in_kernels("random")


def print(label: str, *values: Any) -> None:
    """Prints values of the running program, for debugging.

    Example:
        tp.print("first row", x[i, :])
    """
    only_in_kernels("print")


__all__ = [
    "Lowest", "NoPosition", "Tile", "abs", "all", "any", "arange", "argmax", "argmin", "bitcast", "cat", "cdiv",
    "ceil", "clip", "cos", "cumsum", "erf", "exp", "exp2", "floor", "full", "inf", "isnan", "log", "log2", "lowest",
    "max", "maximum", "mean", "min", "minimum", "mma", "none", "permute", "print", "random", "reduce", "round",
    "rsqrt", "scan", "sigmoid", "sin", "sqrt", "sum", "tanh", "update", "where", "zeros",
]  # fmt: skip
