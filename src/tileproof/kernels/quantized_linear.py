"""Quantized weights, and linear layers y = x @ w.T with them: int8, fp8 and int4.

Weights have a row per output. For int8 each group of 16 to 256 neighbors along a row shares a scale, or the whole row
does. An int4 weight is its bits, less a zero point, times a scale; two weights share a byte: the first half of a group
is in the low bits, the second half in the high bits. Quantization is symmetric and rounds to nearest, ties to even:
zero stays zero, and the error is at most half a scale (for fp8 1/16 of the value, or half of the smallest step). A
group that contains NaN or infinity dequantizes to NaN, because its scale is NaN or infinite; a group of zeros has the
scale 0.

Sums of layers are computed in f32 (f64 where x is) and rounded once. Weights are exact in every type that they are
multiplied in; only the variant that scales weights first rounds them to the type of x. NaN and infinity, in x or in a
scale, propagate as in IEEE arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, Literal, TypeAlias

import tileproof as tp
from tileproof import In, Out, Schedule, T, U, f8e4m3, f32, i8, i32, u8
from tileproof.diagnostics.codes import Code
from tileproof.language.dtypes import F8E4M3, F32, I8, U8, DType
from tileproof.tuning import Choice, Sizes, Tunable, choices
from tileproof.tuning.choices import takes

from . import arrays
from .arrays import choose, rows_for, weight_shape
from .heuristics import LASTING, linear_default, linear_space, tile_size
from .numerics import accumulator

GROUPS: Final = (16, 32, 64, 128, 256)
"""How many weights may share a scale, apart from a whole row."""


def _divided(v: Any, scale: Any) -> Any:
    """v in units of its scale; 0 where that is 0, infinite or NaN."""
    step = scale[:, None]
    return tp.where((step > 0) & (step < tp.inf), v / step, 0)


@tp.kernel(deny_checks=True)
def quantize_int8_kernel(
    q: Out[i8, "N K"], scale: Out[U, "N K/G"], w: In[T, "N K"], *, G: int = 64, BN: int = 16
) -> None:
    """w is about q * scale, with q from -127 to 127 and a scale for each G neighbours along a row."""
    for n, k in tp.parallel(N=BN, K=G):
        v = w[n, k].to(f32)
        step = (tp.abs(v).max(axis=1) / 127).to(scale.dtype)
        scale[n, k.number] = step
        q[n, k] = tp.clip(tp.round(_divided(v, step.to(f32))), -127, 127).to(i8)


def rounded(v: Any) -> Any:
    """A row of numbers for each group as integers from -127 to 127, and the scale of each group.

    Numbers are multiplied by the inverse of their scale, which is faster than to divide, so what lies half way may be
    rounded to the other side. A group of numbers that are all so small that this would be infinite becomes zeros.
    """
    top = tp.abs(v).max(axis=1)
    units = tp.where((top > 1e-36) & (top < tp.inf), 127 / top, 0)
    return tp.round(v * units[:, None]).to(i8), top / 127


def inverse_root(squares: Any, count: Any, eps: Any) -> Any:
    """What so many numbers are multiplied by to norm them, from the sum of their squares."""
    return tp.rsqrt(squares / count + eps)


@tp.kernel(deny_checks=True)
def quantize_int8_groups_kernel(
    q: Out[i8, "M C S"], scale: Out[f32, "M C"], x: In[T, "M C S"], *, C: int, S: int
) -> None:
    """x is about q * scale, with a scale for each S neighbours, row by row: for activations, in f32."""
    for m in tp.parallel(M=tp.each):
        q[m, :, :], scale[m, :] = rounded(x[m, :, :].to(f32))


@tp.kernel(deny_checks=True)
def norm_quantize_int8_kernel(
    q: Out[i8, "M C S"], scale: Out[f32, "M C"], x: In[T, "M C S"], g: In[Any, "C S"], eps: f32, *, C: int, S: int
) -> None:
    """x / rms(x) * g is about q * scale, with a scale for each S neighbours, row by row."""
    for m in tp.parallel(M=tp.each):
        v = x[m, :, :].to(f32)
        units, grain = rounded(v * g[:, :].to(f32))
        q[m, :, :] = units
        scale[m, :] = grain * inverse_root((v * v).sum(), C * S, eps)


@tp.kernel(deny_checks=True)
def quantize_int8_rows_kernel(
    q: Out[i8, "N K"], scale: Out[U, "N"], w: In[T, "N K"], *, BN: int = 4, BK: int = 512
) -> None:
    """w is about q * scale, with q from -127 to 127 and a scale for each row."""
    for n in tp.parallel(N=BN):
        top = tp.zeros((n,))
        for k in tp.tiles(K=BK):
            top = tp.maximum(top, tp.abs(w[n, k].to(f32)).max(axis=1))
        step = (top / 127).to(scale.dtype)
        scale[n] = step
        for k in tp.tiles(K=BK):
            q[n, k] = tp.clip(tp.round(_divided(w[n, k].to(f32), step.to(f32))), -127, 127).to(i8)


@tp.kernel(deny_checks=True)
def quantize_fp8_kernel(
    q: Out[f8e4m3, "N K"], scale: Out[U, "N"], w: In[T, "N K"], *, BN: int = 4, BK: int = 512
) -> None:
    """w is about q * scale, with q from -448 to 448 and a scale for each row."""
    for n in tp.parallel(N=BN):
        top = tp.zeros((n,))
        for k in tp.tiles(K=BK):
            top = tp.maximum(top, tp.abs(w[n, k].to(f32)).max(axis=1))
        step = (top / 448).to(scale.dtype)
        scale[n] = step
        for k in tp.tiles(K=BK):
            q[n, k] = _divided(w[n, k].to(f32), step.to(f32)).to(f8e4m3)


@tp.kernel(deny_checks=True)
def quantize_int4_kernel(
    q: Out[u8, "N K/G G/2"], scale: Out[U, "N K/G"], w: In[T, "N K"], *, G: int = 128, BN: int = 16
) -> None:
    """w is about (q - 8) * scale, with q from 1 to 15 and a scale for each G neighbours along a row.

    Of the G weights of a group the first half is in the low bits of its bytes, the second half in the high bits. What
    the last group lacks is 0.
    """
    for n, k in tp.parallel(N=BN, K=G):
        v = w[n, k].to(f32).fill(0)
        step = (tp.abs(v).max(axis=1) / 7).to(scale.dtype)
        scale[n, k.number] = step
        bits = (tp.clip(tp.round(_divided(v, step.to(f32))), -7, 7) + 8).to(u8)
        q[n, k.number, :] = bits[:, : G // 2] | (bits[:, G // 2 :] << 4)


@tp.kernel(deny_checks=True)
def padded_kernel(y: Out[T, "M P"], x: In[T, "M K"], *, BM: int = 4, BP: int = 512) -> None:
    """The rows of x padded with zeros."""
    for m, p in tp.parallel(M=BM, P=BP):
        y[m, p] = x.get((m, p.elements), 0)


# Functions.

Pair: TypeAlias = tuple[Any, Any]
"""Quantised numbers, and their scales."""


def quantize_int8(w: Any, group: int | None = 64, scale_dtype: DType = F32, out: Pair | None = None) -> Pair:
    """A matrix as integers from -127 to 127, and a scale for each `group` neighbours along a row, or for each row.

    Groups are of 16, 32, 64, 128 or 256; the last one of a row may be short. Weights are then q * scale.

    Example:
        q, scale = tk.quantize_int8(w, group=64)
        y = tk.int8_linear(x, q, scale)
    """
    rows, columns = weight_shape(w)
    count = 1 if group is None else -(-columns // _known(group))
    q, scale = _results(out, w, (rows, columns), I8, (rows, count), scale_dtype)
    if group is None:
        _by_rows(quantize_int8_rows_kernel, rows, columns)(q, arrays.view(scale, (rows,)), w)
    else:
        Choice(quantize_int8_kernel, {"G": group, "BN": 16 if rows > 1 else 1})(q, scale, w)
    return q, scale


def norm_quantize_int8(x: Any, g: Any, eps: float = 1e-6, group: int = 64, out: Pair | None = None) -> Pair:
    """rms_norm(x, g) as integers from -127 to 127, and a scale in f32 for each `group` neighbours along a row.

    Groups are whole. The pair is what `int8_linear` takes in place of x.

    Example:
        q, scale = tk.quantize_int8(w, group=64)
        y = tk.int8_linear(tk.norm_quantize_int8(x, g), q, scale)
    """
    flat = arrays.as_matrix(x)
    rows, columns = flat.shape
    pieces = whole_groups(columns, -(-columns // _known(group)))
    q, scale = _results(out, x, (rows, columns), I8, (rows, pieces[0]), F32)
    norm_quantize_int8_kernel(
        arrays.view(q, (rows, *pieces)), scale, arrays.view(flat, (rows, *pieces)), arrays.view(g, pieces), eps
    )
    return q, scale


def rounded_rows(x: Any, group: int | None, out: Pair | None = None) -> Pair:
    """The rows of activations as integers and scales in f32, of the shapes that `quantize_int8` gives."""
    rows, columns = weight_shape(x)
    if group is None or columns % group or not columns:
        return quantize_int8(x, group, out=out)
    pieces = columns // group, group
    q, scale = _results(out, x, (rows, columns), I8, (rows, pieces[0]), F32)
    quantize_int8_groups_kernel(arrays.view(q, (rows, *pieces)), scale, arrays.view(x, (rows, *pieces)))
    return q, scale


def quantize_fp8(w: Any, scale_dtype: DType = F32, out: Pair | None = None) -> Pair:
    """A matrix as floats of 8 bits (e4m3) from -448 to 448, and a scale for each row. Weights are then q * scale.

    Example:
        q, scale = tk.quantize_fp8(w)
        y = tk.fp8_linear(x, q, scale)
    """
    rows, columns = weight_shape(w)
    q, scale = _results(out, w, (rows, columns), F8E4M3, (rows,), scale_dtype)
    _by_rows(quantize_fp8_kernel, rows, columns)(q, scale, w)
    return q, scale


def quantize_int4(w: Any, group: int = 128, scale_dtype: DType = F32, out: Pair | None = None) -> Pair:
    """A matrix as integers from -7 to 7, two in a byte, and a scale for each `group` neighbours along a row.

    The bytes are of shape (rows, groups, group / 2). The first half of a group is in the low bits, the second in the
    high bits, both with 8 added; a last group that is short is filled up with zeros. Groups are of 16 to 256.

    Example:
        q, scale = tk.quantize_int4(w, group=128)
        y = tk.int4_linear(x, q, scale)
    """
    rows, columns = weight_shape(w)
    count = -(-columns // _known(group))
    q, scale = _results(out, w, (rows, count, group // 2), U8, (rows, count), scale_dtype)
    Choice(quantize_int4_kernel, {"G": group, "BN": 16 if rows > 1 else 1})(q, scale, w)
    return q, scale


def padded(x: Any, columns: int) -> Any:
    """A matrix padded with zeros, up to so many columns; itself if it has them."""
    rows, there = x.shape
    if there == columns:
        return x
    y = arrays.new(x, (rows, columns))
    Choice(padded_kernel, {"BM": 4 if rows > 1 else 1, "BP": tile_size(columns, 512, 128)})(y, x)
    return y


def group_of(columns: int, count: int) -> int | None:
    """How many neighbours share a scale, if `count` scales are there for so many columns; None for a whole row."""
    for group in GROUPS:
        if -(-columns // group) == count:
            return group
    if count == 1:
        return None
    raise arrays.launch_error(
        Code.DIMENSION_DIFFERS, f"{count} scales for {columns} columns are of no known group",
        f"quantize with a group of {', '.join(map(str, GROUPS))}, or with one scale for each row",
    )  # fmt: skip


def whole_groups(columns: int, count: int) -> tuple[int, int]:
    """How many groups rows have if there are so many scales, and of how many columns each, none of them short."""
    group = (group_of(columns, count) if count > 1 else None) or columns
    if count * group != columns or not columns:
        raise arrays.launch_error(
            Code.DIMENSION_DIFFERS, f"{columns} columns are not whole groups of {group}",
            "use `quantize_int8` and `int8_linear`, which take a last group that is short",
        )  # fmt: skip
    return count, group


def _by_rows(kernel: tp.Kernel, rows: int, columns: int) -> Choice:
    return Choice(kernel, {"BN": 4, "BK": tile_size(columns, 512, 128)})


def _results(
    out: Pair | None, like: Any, shape: Sequence[int], dtype: DType, scales: Sequence[int], scale_dtype: DType
) -> Pair:
    q, scale = (None, None) if out is None else out
    return arrays.output_for(q, like, shape, dtype), arrays.output_for(scale, like, scales, scale_dtype)


def _known(group: int) -> int:
    if group not in GROUPS:
        raise arrays.launch_error(
            Code.CONSTANT_VALUE, f"groups of {group} are not supported",
            f"choose {', '.join(map(str, GROUPS[:-1]))} or {GROUPS[-1]}",
        )  # fmt: skip
    return group


def _low(byte: Any, kind: Any) -> Any:
    return (byte & 15).to(kind)


def _high(byte: Any, kind: Any) -> Any:
    return (byte >> 4).to(kind)


@tp.kernel(deny_checks=True)
def int4_linear_kernel(
    y: Out[T, "M N"], x: In[T, "M C 2 S"], w: In[u8, "N C S"], scale: In[Any, "N C"], zero: In[Any, "N C"] | None, *,
    S: int, BM: int = 64, BN: int = 64,
) -> None:  # fmt: skip
    """y = x @ ((w - zero) * scale).T, where the products of a group are added up before they are scaled."""
    for i, j in tp.parallel(M=BM, N=BN):
        kind = accumulator(x.dtype)
        acc = tp.zeros((i, j), kind)
        for c in tp.tiles(C=tp.each):
            byte = w[j, c, :]
            if zero is None:
                part = tp.mma(x[i, c, 0, :], (_low(byte, x.dtype) - 8).T, 0)
                part = tp.mma(x[i, c, 1, :], (_high(byte, x.dtype) - 8).T, part)
            else:
                base = zero[j, c].to(kind)[:, None]
                part = tp.mma(x[i, c, 0, :], (_low(byte, kind) - base).to(x.dtype).T, 0)
                part = tp.mma(x[i, c, 1, :], (_high(byte, kind) - base).to(x.dtype).T, part)
            acc += part * scale[j, c].to(kind)
        y[i, j] = acc


@tp.kernel(deny_checks=True)
def int4_linear_vector_kernel(
    y: Out[T, "M N"], x: In[T, "M C 2 S"], w: In[u8, "N C S"], scale: In[Any, "N C"], zero: In[Any, "N C"] | None, *,
    S: int, BN: int = 8, BC: int = 8,
) -> None:  # fmt: skip
    """The same row by row of x: weights are streamed, and sums of each lane carried."""
    for m, n in tp.parallel(M=tp.each, N=BN):
        kind = accumulator(x.dtype)
        acc = tp.zeros((n, BC, S), kind)
        for c in tp.tiles(C=BC):
            byte = w[n, c, :]
            base = 8 if zero is None else zero[n, c].to(kind)[:, :, None]
            low = (_low(byte, kind) - base) * x[m, c, 0, :].to(kind)
            high = (_high(byte, kind) - base) * x[m, c, 1, :].to(kind)
            acc += ((low + high) * scale[n, c].to(kind)[:, :, None]).fill(0)
        y[m, n] = acc.sum(axis=2).sum(axis=1)


# Choices.


def _default(sizes: Sizes, target: str, layer: tp.Kernel, vector: tp.Kernel) -> Choice:
    m, n, c, s = sizes["M"], sizes["N"], sizes["C"], sizes["S"]
    if m > 1:
        return linear_default(layer, m, n, target)
    if target == "cpu":
        return Choice(vector, {"BN": 8, "BC": 1})
    return Choice(vector, {"BN": 8, "BC": tile_size(c, max(512 // s, 1))}, LASTING)


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
    yield from linear_space(layer, sizes["M"], target, "")


def _int4(name: str, layer: tp.Kernel, vector: tp.Kernel) -> Tunable:
    default, space = partial(_default, layer=layer, vector=vector), partial(_space, layer=layer, vector=vector)
    return Tunable(name, (layer, vector), default, space, exact=("N", "C", "S"))


INT4_LINEAR: Final = _int4(
    "int4_linear", int4_linear_kernel.without("zero"), int4_linear_vector_kernel.without("zero")
)
INT4_LINEAR_ZERO: Final = _int4("int4_linear_zero", int4_linear_kernel, int4_linear_vector_kernel)


# Functions.


def int4_linear(x: Any, w: Any, scale: Any, zero: Any = None, out: Any = None) -> Any:
    """x @ ((w - zero) * scale).T for 4-bit integers w from 0 to 15, two in a byte; zero is 8 unless given.

    `w` has the shape (outputs, groups, half of a group), as `quantize_int4` makes it: the first half of a group in the
    low bits, the second in the high bits. `scale` and `zero` are of shape (outputs, groups). x may end inside the last
    group; then it is copied, with zeros behind it.

    Example:
        q, scale = tk.quantize_int4(w, group=128)
        y = tk.int4_linear(x, q, scale)
    """
    rows, groups, half = w.shape
    flat = arrays.as_matrix(x)
    count, columns = flat.shape
    if -(-columns // (2 * half)) != groups:
        raise arrays.launch_error(
            Code.DIMENSION_DIFFERS, f"x has {columns} columns, and w has {groups} groups of {2 * half}",
            f"pass x with {groups * 2 * half} columns, or fewer by less than a group",
        )  # fmt: skip
    y = arrays.output_for(out, x, (*x.shape[:-1], rows))
    halves = arrays.view(padded(flat, groups * 2 * half), (count, groups, 2, half))
    sizes = {"M": count, "N": rows, "C": groups, "S": half}
    choice = choose(INT4_LINEAR if zero is None else INT4_LINEAR_ZERO, x, **sizes)
    choice(*arrays.present(arrays.as_matrix(y), halves, w, scale, zero))
    return y


# A scale for each group.


@tp.kernel(deny_checks=True)
def int8_linear_kernel(
    y: Out[Any, "M N"], x: In[T, "M K"], w: In[i8, "N K"], scale: In[Any, "N K/G"], *,
    G: int = 64, BM: int = 64, BN: int = 64,
) -> None:  # fmt: skip
    """y = x @ (w * scale).T, where the products of a group are added up before they are scaled."""
    for i, j in tp.parallel(M=BM, N=BN):
        kind = accumulator(x.dtype)
        acc = tp.zeros((i, j), kind)
        for k in tp.tiles(K=G):
            acc += tp.mma(x[i, k], w[j, k].to(x.dtype).T, 0) * scale[j, k.number].to(kind)
        y[i, j] = acc


@tp.kernel(deny_checks=True)
def int8_linear_scaled_kernel(
    y: Out[Any, "M N"], x: In[T, "M K"], w: In[i8, "N K"], scale: In[Any, "N K/G"], *,
    G: int = 64, BM: int = 128, BN: int = 128,
) -> None:  # fmt: skip
    """y = x @ (w * scale).T, where weights are scaled and rounded to the type of x before they are multiplied."""
    for i, j in tp.parallel(M=BM, N=BN):
        kind = accumulator(x.dtype)
        acc = tp.zeros((i, j), kind)
        for k in tp.tiles(K=G):
            weights = w[j, k].to(kind) * scale[j, k.number].to(kind)[:, None]
            acc = tp.mma(x[i, k], weights.to(x.dtype).T, acc)
        y[i, j] = acc


@tp.kernel(deny_checks=True)
def int8_linear_vector_kernel(
    y: Out[Any, "M N"], x: In[T, "M C S"], w: In[i8, "N C S"], scale: In[Any, "N C"], *,
    S: int, BN: int = 8, BC: int = 8,
) -> None:  # fmt: skip
    """y = x @ (w * scale).T row by row of x, of whole groups: weights are streamed, and sums of each lane carried."""
    for m, n in tp.parallel(M=tp.each, N=BN):
        kind = accumulator(x.dtype)
        acc = tp.zeros((n, BC, S), kind)
        for c in tp.tiles(C=BC):
            acc += (w[n, c, :].to(kind) * x[m, c, :].to(kind) * scale[n, c].to(kind)[:, :, None]).fill(0)
        y[m, n] = acc.sum(axis=2).sum(axis=1)


# The same with activations of 8 bits.


@tp.kernel(deny_checks=True)
def int8_linear_integer_kernel(
    y: Out[T, "M N"], x: In[i8, "M K"], grain: In[f32, "M K/G"], w: In[i8, "N K"], scale: In[Any, "N K/G"], *,
    G: int = 64, BM: int = 64, BN: int = 64,
) -> None:  # fmt: skip
    """y = (x * grain) @ (w * scale).T, where the products of a group are added up as integers."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), f32)
        for k in tp.tiles(K=G):
            dots = tp.mma(x[i, k], w[j, k].T, 0).to(f32)
            acc += dots * scale[j, k.number].to(f32) * grain[i, k.number][:, None]
        y[i, j] = acc


@tp.kernel(deny_checks=True)
def int8_linear_integer_vector_kernel(
    y: Out[T, "M N"], x: In[i8, "M C S"], grain: In[f32, "M C"], w: In[i8, "N C S"], scale: In[Any, "N C"], *,
    C: int, S: int, BN: int = 16,
) -> None:  # fmt: skip
    """y = (x * grain) @ (w * scale).T, of whole groups: some rows of w at a time meet every row of x."""
    for n in tp.parallel(N=BN):
        for m in tp.tiles(M=tp.each):
            dots = (w[n, :, :].to(i32) * x[m, :, :].to(i32)).sum(axis=2)
            y[m, n] = (dots.to(f32) * (scale[n, :].to(f32) * grain[m, :])).sum(axis=1)


def _in_groups(_: Any, y: Any, x: Any, grain: Any, w: Any, scale: Any) -> tuple[Any, ...]:
    count = scale.shape[1]
    pieces = count, w.shape[1] // count
    return y, arrays.view(x, (x.shape[0], *pieces)), grain, arrays.view(w, (w.shape[0], *pieces)), scale


takes(int8_linear_integer_vector_kernel, _in_groups)


@tp.kernel(deny_checks=True)
def int8_linear_integer_rows_kernel(
    y: Out[T, "M N"], x: In[i8, "M K"], grain: In[f32, "M"], w: In[i8, "N K"], scale: In[Any, "N"], *,
    BM: int = 64, BN: int = 64, BK: int = 128,
) -> None:  # fmt: skip
    """y = (x * grain) @ (w * scale).T, with a scale for each row: all products are added up as integers.

    They fit 32 bits for up to 2**17 columns.
    """
    tp.require(tp.dim("K") <= 131072)
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), i32)
        for k in tp.tiles(K=BK):
            acc = tp.mma(x[i, k], w[j, k].T, acc)
        y[i, j] = acc.to(f32) * scale[j].to(f32) * grain[i][:, None]


# A scale for each row.


@tp.kernel(deny_checks=True)
def fp8_linear_kernel(
    y: Out[T, "M N"], x: In[T, "M K"], w: In[Any, "N K"], scale: In[Any, "N"], *,
    BM: int = 64, BN: int = 64, BK: int = 64,
) -> None:  # fmt: skip
    """y = (x @ w.T) * scale, for weights of any type that the type of x holds: 8-bit floats and integers."""
    for i, j in tp.parallel(M=BM, N=BN):
        kind = accumulator(x.dtype)
        acc = tp.zeros((i, j), kind)
        for k in tp.tiles(K=BK):
            acc = tp.mma(x[i, k], w[j, k].to(x.dtype).T, acc)
        y[i, j] = acc * scale[j].to(kind)


@tp.kernel(deny_checks=True)
def fp8_linear_vector_kernel(
    y: Out[T, "M N"], x: In[T, "M K"], w: In[Any, "N K"], scale: In[Any, "N"], *, BN: int = 8, BK: int = 512
) -> None:
    """y = (x @ w.T) * scale row by row of x: weights are streamed, and sums of each lane carried."""
    for m, n in tp.parallel(M=tp.each, N=BN):
        kind = accumulator(x.dtype)
        acc = tp.zeros((n, BK), kind)
        for k in tp.tiles(K=BK):
            acc += (w[n, k].to(kind) * x[m, k].to(kind)).fill(0)
        y[m, n] = acc.sum(axis=1) * scale[n].to(kind)


# Choices.


def _grouped_default(sizes: Sizes, target: str) -> Choice:
    m, n, g = sizes["M"], sizes["N"], sizes["G"]
    if target == "cpu" and m > 16:
        return Choice(int8_linear_scaled_kernel, {"BM": tile_size(m, 256, 32), "BN": tile_size(n, 256, 32), "G": g})
    return linear_default(int8_linear_scaled_kernel if m > 64 else int8_linear_kernel, m, n, target, G=g)


def _grouped_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    for kernel in (int8_linear_kernel, int8_linear_scaled_kernel):
        yield from linear_space(kernel, sizes["M"], target, f",G={sizes['G']}")


def _vector_default(sizes: Sizes, target: str) -> Choice:
    if target == "cpu":
        return Choice(int8_linear_vector_kernel, {"BN": 4, "BC": 1})
    return Choice(int8_linear_vector_kernel, {"BN": 8, "BC": tile_size(sizes["C"], 512 // sizes["S"])}, LASTING)


def _vector_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    if target == "cpu":
        yield from choices(int8_linear_vector_kernel, "BN=4,BC=1 BN=8,BC=1 BN=16,BC=1 BN=4,BC=4")
        return
    for columns in (256, 512, 1024):
        groups = max(columns // sizes["S"], 1)
        yield from choices(
            int8_linear_vector_kernel, f"BN={4096 // columns},BC={groups} BN={8192 // columns},BC={groups}",
            LASTING, Schedule(occupancy=2), Schedule(occupancy=4), Schedule(occupancy=2, latency=6),
        )  # fmt: skip


def _integer_default(sizes: Sizes, target: str) -> Choice:
    m, n, g = sizes["M"], sizes["N"], sizes["G"]
    if target == "cpu" and m <= 16 and _is_whole(sizes):
        return Choice(int8_linear_integer_vector_kernel, {"BN": 16})
    return linear_default(int8_linear_integer_kernel, m, n, target, G=g)


def _is_whole(sizes: Sizes) -> bool:
    """Whether no group is short."""
    return sizes["K"] > 0 and sizes["K"] % sizes["G"] == 0


def _integer_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    rest = f",G={sizes['G']}"
    if target == "cpu" and sizes["M"] <= 64 and _is_whole(sizes):
        yield from choices(int8_linear_integer_vector_kernel, "BN=8 BN=16 BN=32 BN=64")
    yield from linear_space(int8_linear_integer_kernel, sizes["M"], target, rest)


def _integer_rows_default(sizes: Sizes, target: str) -> Choice:
    depth = tile_size(sizes["K"], 256 if target == "cpu" else 128, 32)
    return linear_default(int8_linear_integer_rows_kernel, sizes["M"], sizes["N"], target, BK=depth)


def _integer_rows_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    for depth in (64, 128, 256):
        yield from linear_space(int8_linear_integer_rows_kernel, sizes["M"], target, f",BK={depth}")


def _rows_default(sizes: Sizes, target: str) -> Choice:
    m, n, k = sizes["M"], sizes["N"], sizes["K"]
    if m == 1:
        return Choice(fp8_linear_vector_kernel, {"BN": 8, "BK": tile_size(k, 512, 32)}, LASTING)
    if target == "cpu":
        tiles = {"BM": tile_size(m, 256, 8), "BN": tile_size(n, 256, 32), "BK": tile_size(k, 256, 32)}
        return Choice(fp8_linear_kernel, tiles)
    return linear_default(fp8_linear_kernel, m, n, target, BK=tile_size(k, 128 if m <= 64 else 64, 32))


def _rows_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    if sizes["M"] == 1:
        tiles = "BN=8,BK=512 BN=16,BK=256 BN=4,BK=1024 BN=16,BK=512 BN=8,BK=1024 BN=4,BK=2048"
        yield from choices(fp8_linear_vector_kernel, tiles, LASTING, Schedule(occupancy=4), Schedule(occupancy=2))
    for depth in (64, 128):
        yield from linear_space(fp8_linear_kernel, sizes["M"], target, f",BK={depth}")


_EXACT: Final = ("N", "K", "G")
INT8_LINEAR: Final = Tunable(
    "int8_linear", (int8_linear_kernel, int8_linear_scaled_kernel), _grouped_default, _grouped_space, exact=_EXACT
)
INT8_VECTOR: Final = Tunable(
    "int8_linear_vector", (int8_linear_vector_kernel,), _vector_default, _vector_space, exact=("N", "C", "S")
)
INT8_INTEGER: Final = Tunable(
    "int8_linear_integer", (int8_linear_integer_kernel, int8_linear_integer_vector_kernel), _integer_default,
    _integer_space, exact=_EXACT,
)  # fmt: skip
INT8_INTEGER_ROWS: Final = Tunable(
    "int8_linear_integer_rows", (int8_linear_integer_rows_kernel,), _integer_rows_default, _integer_rows_space,
    exact=("N", "K"),
)  # fmt: skip
FP8_LINEAR: Final = Tunable(
    "fp8_linear", (fp8_linear_kernel, fp8_linear_vector_kernel), _rows_default, _rows_space, exact=("N", "K"),
    types={"w": "f8e4m3", "scale": "f32"},
)  # fmt: skip


# Functions.


def int8_linear(
    x: Any, w: Any, scale: Any, out: Any = None, *, activations: Literal["float", "int8"] = "float",
    workspace: tuple[Any, Any] | None = None,
) -> Any:  # fmt: skip
    """x @ (w * scale).T for 8-bit integers w and a scale for each group of neighbours along their rows, or each row.

    `scale` has a column for each group of 16, 32, 64, 128 or 256, which follows from their number, or one column for
    whole rows. With `activations="int8"` x is rounded to integers with scales of its own first, group by group, and
    products are added up as integers: the fast way on a CPU, off by at most half a scale of x for each product. The
    integers and their scales, of the shapes that `quantize_int8` gives, go to `workspace` if there is one. A pair that
    `quantize_int8` or `norm_quantize_int8` made, of the same groups, may stand in place of x; then the result is in f32
    unless there is an `out`.

    Example:
        q, scale = tk.quantize_int8(w, group=64)
        y = tk.int8_linear(x, q, scale, activations="int8")
    """
    rows, columns = weight_shape(w)
    group = group_of(columns, scale.shape[1] if len(scale.shape) == 2 else 1)
    if isinstance(x, tuple):
        q, grain = rows_for(x[0], columns), x[1]
        y = arrays.output_for(out, grain, (*x[0].shape[:-1], rows))
        _of_integers(y, q, grain, w, scale, group)
        return y
    flat = rows_for(x, columns)
    y = arrays.output_for(out, x, (*x.shape[:-1], rows))
    to, count = arrays.as_matrix(y), flat.shape[0]
    if activations == "int8":
        _of_integers(y, *rounded_rows(flat, group, workspace), w, scale, group)
    elif activations != "float":
        raise arrays.launch_error(
            Code.CONSTANT_VALUE, f"activations are float or int8, not {activations!r}", 'pass activations="int8"'
        )
    elif group is None:
        choose(FP8_LINEAR, x, M=count, N=rows, K=columns)(to, flat, w, arrays.view(scale, (rows,)))
    elif count == 1 and columns % group == 0:
        pieces = columns // group, group
        whole = arrays.view(flat, (count, *pieces)), arrays.view(w, (rows, *pieces))
        choose(INT8_VECTOR, x, M=count, N=rows, C=pieces[0], S=group)(to, *whole, scale)
    else:
        choose(INT8_LINEAR, x, M=count, N=rows, K=columns, G=group)(to, flat, w, scale)
    return y


def _of_integers(y: Any, q: Any, grain: Any, w: Any, scale: Any, group: int | None) -> None:
    (count, columns), rows, to = q.shape, w.shape[0], arrays.as_matrix(y)
    if group is None:
        factors = arrays.view(grain, (count,)), w, arrays.view(scale, (rows,))
        choose(INT8_INTEGER_ROWS, y, M=count, N=rows, K=columns)(to, q, *factors)
    else:
        choose(INT8_INTEGER, y, M=count, N=rows, K=columns, G=group)(to, q, grain, w, scale)


def fp8_linear(x: Any, w: Any, scale: Any, out: Any = None) -> Any:
    """(x @ w.T) * scale for 8-bit floats w and a scale for each of their rows.

    Example:
        q, scale = tk.quantize_fp8(w)
        y = tk.fp8_linear(x, q, scale)
    """
    rows, columns = weight_shape(w)
    flat = rows_for(x, columns)
    y = arrays.output_for(out, x, (*x.shape[:-1], rows))
    choose(FP8_LINEAR, x, M=flat.shape[0], N=rows, K=columns)(arrays.as_matrix(y), flat, w, scale)
    return y


TUNABLES: Final = (INT8_LINEAR, INT8_VECTOR, INT8_INTEGER, INT8_INTEGER_ROWS, FP8_LINEAR, INT4_LINEAR, INT4_LINEAR_ZERO)
