"""Quantization: int8 and int4 with a scale per group or row, and fp8 with a scale per row.

All are symmetric and round to nearest, ties to even: zero stays zero, and the error is at most half a scale (for fp8
1/16 of the value, or half of the smallest step). A group that contains NaN or infinity dequantizes to NaN, because its
scale is NaN or infinite; a group of zeros has the scale 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import tileproof as tp
from tileproof import In, Out, T, U, f8e4m3, f32, i8, u8
from tileproof.diagnostics.codes import Code
from tileproof.language.dtypes import F8E4M3, F32, I8, U8, DType
from tileproof.tuning import Choice

from . import arrays
from .arrays import weight_shape
from .heuristics import tile_size

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
