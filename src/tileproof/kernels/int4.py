"""Linear layers with weights of 4 bits: y = x @ w.T, where a weight is its bits, less a zero point, times a scale.

Two weights share a byte: of each group of neighbours along a row, the first half is in the low bits and the second half
in the high bits. Sums are made in f32 (f64 where x is) and rounded once, and the differences of bits and whole zero
points are exact in every type that they are multiplied in. NaN and infinity, in x or in a scale, spread as IEEE says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import In, Out, Schedule, T, u8
from tileproof.diagnostics.codes import Code
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .arrays import chosen
from .quantising import padded
from .streaming import LASTING, fitting, layer_default, layer_space, sum_type


def _low(byte: Any, kind: Any) -> Any:
    return (byte & 15).to(kind)


def _high(byte: Any, kind: Any) -> Any:
    return (byte >> 4).to(kind)


@tp.kernel(deny_checks=True)
def int4_linear_kernel(
    y: Out[T, "M N"], x: In[T, "M C 2 S"], w: In[u8, "N C S"], scale: In[Any, "N C"], *,
    S: int, BM: int = 64, BN: int = 64,
) -> None:  # fmt: skip
    """y = x @ ((w - 8) * scale).T, where the products of a group are added up before they are scaled."""
    for i, j in tp.parallel(M=BM, N=BN):
        kind = sum_type(x, x)
        acc = tp.zeros((i, j), kind)
        for c in tp.tiles(C=tp.each):
            byte = w[j, c, :]
            part = tp.mma(x[i, c, 0, :], (_low(byte, x.dtype) - 8).T, 0)
            part = tp.mma(x[i, c, 1, :], (_high(byte, x.dtype) - 8).T, part)
            acc += part * scale[j, c].to(kind)
        y[i, j] = acc


@tp.kernel(deny_checks=True)
def int4_linear_zero_kernel(
    y: Out[T, "M N"], x: In[T, "M C 2 S"], w: In[u8, "N C S"], scale: In[Any, "N C"], zero: In[Any, "N C"], *,
    S: int, BM: int = 64, BN: int = 64,
) -> None:  # fmt: skip
    """y = x @ ((w - zero) * scale).T, where the products of a group are added up before they are scaled."""
    for i, j in tp.parallel(M=BM, N=BN):
        kind = sum_type(x, x)
        acc = tp.zeros((i, j), kind)
        for c in tp.tiles(C=tp.each):
            byte, base = w[j, c, :], zero[j, c].to(kind)[:, None]
            part = tp.mma(x[i, c, 0, :], (_low(byte, kind) - base).to(x.dtype).T, 0)
            part = tp.mma(x[i, c, 1, :], (_high(byte, kind) - base).to(x.dtype).T, part)
            acc += part * scale[j, c].to(kind)
        y[i, j] = acc


@tp.kernel(deny_checks=True)
def int4_linear_vector_kernel(
    y: Out[T, "M N"], x: In[T, "M C 2 S"], w: In[u8, "N C S"], scale: In[Any, "N C"], *,
    S: int, BN: int = 8, BC: int = 8,
) -> None:  # fmt: skip
    """y = x @ ((w - 8) * scale).T row by row of x: weights are streamed, and sums of each lane carried."""
    for m, n in tp.parallel(M=tp.each, N=BN):
        kind = sum_type(x, x)
        acc = tp.zeros((n, BC, S), kind)
        for c in tp.tiles(C=BC):
            byte = w[n, c, :]
            low = (_low(byte, kind) - 8) * x[m, c, 0, :].to(kind)
            high = (_high(byte, kind) - 8) * x[m, c, 1, :].to(kind)
            acc += ((low + high) * scale[n, c].to(kind)[:, :, None]).fill(0)
        y[m, n] = acc.sum(axis=2).sum(axis=1)


@tp.kernel(deny_checks=True)
def int4_linear_zero_vector_kernel(
    y: Out[T, "M N"], x: In[T, "M C 2 S"], w: In[u8, "N C S"], scale: In[Any, "N C"], zero: In[Any, "N C"], *,
    S: int, BN: int = 8, BC: int = 8,
) -> None:  # fmt: skip
    """y = x @ ((w - zero) * scale).T row by row of x: weights are streamed, and sums of each lane carried."""
    for m, n in tp.parallel(M=tp.each, N=BN):
        kind = sum_type(x, x)
        acc = tp.zeros((n, BC, S), kind)
        for c in tp.tiles(C=BC):
            byte, base = w[n, c, :], zero[n, c].to(kind)[:, :, None]
            low = (_low(byte, kind) - base) * x[m, c, 0, :].to(kind)
            high = (_high(byte, kind) - base) * x[m, c, 1, :].to(kind)
            acc += ((low + high) * scale[n, c].to(kind)[:, :, None]).fill(0)
        y[m, n] = acc.sum(axis=2).sum(axis=1)


# Choices.


def _default(sizes: Sizes, target: str, layer: tp.Kernel, vector: tp.Kernel) -> Choice:
    m, n, c, s = sizes["M"], sizes["N"], sizes["C"], sizes["S"]
    if m > 1:
        return layer_default(layer, m, n, target)
    if target == "cpu":
        return Choice(vector, {"BN": 8, "BC": 1})
    return Choice(vector, {"BN": 8, "BC": fitting(max(512 // s, 1), c, 1)}, LASTING)


def _space(sizes: Sizes, target: str, layer: tp.Kernel, vector: tp.Kernel) -> Iterator[Choice]:
    if sizes["M"] == 1:
        if target == "cpu":
            yield from choices(vector, "BN=4,BC=1 BN=8,BC=1 BN=16,BC=1 BN=8,BC=4")
        else:
            for columns in (256, 512, 1024):
                groups = max(columns // sizes["S"], 1)
                yield from choices(
                    vector, f"BN={2048 // columns},BC={groups} BN={4096 // columns},BC={groups}",
                    LASTING, Schedule(occupancy=2), Schedule(occupancy=4), Schedule(occupancy=2, latency=6),
                )  # fmt: skip
    yield from layer_space(layer, sizes["M"], target, "")


def _plain_default(sizes: Sizes, target: str) -> Choice:
    return _default(sizes, target, int4_linear_kernel, int4_linear_vector_kernel)


def _plain_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    return _space(sizes, target, int4_linear_kernel, int4_linear_vector_kernel)


def _zero_default(sizes: Sizes, target: str) -> Choice:
    return _default(sizes, target, int4_linear_zero_kernel, int4_linear_zero_vector_kernel)


def _zero_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    return _space(sizes, target, int4_linear_zero_kernel, int4_linear_zero_vector_kernel)


INT4_LINEAR: Final = Tunable(
    "int4_linear", (int4_linear_kernel, int4_linear_vector_kernel), _plain_default, _plain_space,
    exact=("N", "C", "S"),
)  # fmt: skip
INT4_LINEAR_ZERO: Final = Tunable(
    "int4_linear_zero", (int4_linear_zero_kernel, int4_linear_zero_vector_kernel), _zero_default, _zero_space,
    exact=("N", "C", "S"),
)  # fmt: skip


# Functions.


def int4_linear(x: Any, w: Any, scale: Any, zero: Any = None, out: Any = None) -> Any:
    """x @ ((w - zero) * scale).T for 4-bit integers w from 0 to 15, two in a byte; zero is 8 unless given.

    `w` has the shape (outputs, groups, half of a group), as `quantise_int4` makes it: the first half of a group in the
    low bits, the second in the high bits. `scale` and `zero` are of shape (outputs, groups). x may end inside the last
    group; then it is copied, with zeros behind it.

    Example:
        q, scale = tk.quantise_int4(w, group=128)
        y = tk.int4_linear(x, q, scale)
    """
    rows, groups, half = w.shape
    flat = arrays.matrix(x)
    count, columns = flat.shape
    if -(-columns // (2 * half)) != groups:
        raise arrays.refused(
            Code.DIMENSION_DIFFERS, f"x has {columns} columns, and w has {groups} groups of {2 * half}",
            f"pass x with {groups * 2 * half} columns, or fewer by less than a group",
        )  # fmt: skip
    y = arrays.result(out, x, (*x.shape[:-1], rows))
    halves = arrays.view(padded(flat, groups * 2 * half), (count, groups, 2, half))
    sizes = {"M": count, "N": rows, "C": groups, "S": half}
    if zero is None:
        chosen(INT4_LINEAR, x, **sizes)(arrays.matrix(y), halves, w, scale)
    else:
        chosen(INT4_LINEAR_ZERO, x, **sizes)(arrays.matrix(y), halves, w, scale, zero)
    return y
