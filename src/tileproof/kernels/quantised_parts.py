"""Vectors taken apart into 8-bit integers, for tensor cores that multiply such with 8-bit weights.

In each group of 64 neighbours an element is grain * (high + low / 254), where high and low are integers from -127 to
127. What is lost is 1/64000 of the largest element of the group, less than bf16 loses. Both parts of a group have a row
of their own, which is zero outside of the group: so eight groups, a block, are multiplied at once, and the sums of each
come out apart, to be scaled. NaN and infinity make the grain of their group NaN or infinite. The products are in
`parted_vectors`.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import tileproof as tp
from tileproof import In, Out, Schedule, T, f32, i8
from tileproof.diagnostics.codes import Code
from tileproof.language.dtypes import F32, I8
from tileproof.tuning import Choice

from . import arrays
from .quantising import inverse_root

BLOCK: Final = 512
"""Columns of weights that are multiplied at once: eight groups of 64."""
Parts: TypeAlias = tuple[Any, Any]
"""(16, K) of i8, and the grains of both parts of each group, (K / 64, 2) of f32."""


# Inside kernels.


def taken_apart(v: Any) -> Any:
    """Rows of numbers as two rows of integers each, and the grains of both."""
    top = tp.abs(v).max(axis=1)
    units = tp.where((top > 1e-36) & (top < tp.inf), 127 / top, 0)
    at = v * units[:, None]
    high = tp.round(at)
    low = tp.round((at - high) * 254)
    grain = (top / 127)[:, None] * tp.where(tp.arange(2) == 0, 1.0, 1 / 254)
    return tp.cat((high[:, None, :], low[:, None, :]), axis=1), grain


def _columns(parts: Any) -> Any:
    """The parts of the groups of a block, each in a row of its own that is zero in the other groups."""
    own = tp.arange(8)[:, None] == tp.arange(8)
    return tp.where(own[:, None, :, None], parts.reshape(8, 2, 1, 64), 0.0).to(i8)


def _summed(pieces: Any, p: Any, Z: int) -> Any:
    """A block of all pieces, added up: the first of them one by one, by the threads that hold them."""
    total = pieces[0, p, :, :]
    if Z >= 2:
        total = total + pieces[1, p, :, :]
    if Z >= 3:
        total = total + pieces[2, p, :, :]
    if Z >= 4:
        total = total + pieces[3:, p, :, :].sum(axis=0)
    return total


# Kernels: short ones, for which the copy engine takes too long to start.

_DIRECT: Final = Schedule(tma=False)
_MANY_THREADS: Final = Schedule(tma=False, warps=8)


@tp.kernel(deny_checks=True, schedule=_DIRECT)
def int8_parts_kernel(q: Out[i8, "8 2 P 8 64"], grain: Out[f32, "P 8 2"], x: In[T, "P 8 64"]) -> None:
    """x in parts, a block by each program."""
    for p in tp.parallel(P=tp.each):
        parts, grains = taken_apart(x[p, :, :].to(f32))
        grain[p, :, :] = grains
        q[:, :, p, :, :] = _columns(parts)


@tp.kernel(deny_checks=True, schedule=_DIRECT)
def norm_int8_parts_kernel(
    q: Out[i8, "8 2 P 8 64"], grain: Out[f32, "P 8 2"], x: In[T, "P 8 64"], g: In[Any, "P 8 64"], eps: f32, *, P: int
) -> None:
    """x / rms(x) * g in parts: every program adds up all squares, and takes a block apart."""
    for p in tp.parallel(P=tp.each):
        whole = x[:, :, :].to(f32)
        root = inverse_root((whole * whole).sum(), P * 512, eps)
        parts, grains = taken_apart(x[p, :, :].to(f32) * g[p, :, :].to(f32))
        grain[p, :, :] = grains * root
        q[:, :, p, :, :] = _columns(parts)


@tp.kernel(deny_checks=True, schedule=_MANY_THREADS)
def add_norm_int8_parts_kernel(
    q: Out[i8, "8 2 P 8 64"], grain: Out[f32, "P 8 2"], total: Out[T, "P 8 64"], x: In[T, "P 8 64"],
    pieces: In[f32, "Z P 8 64"], g: In[Any, "P 8 64"], eps: f32, *, P: int, Z: int,
) -> None:  # fmt: skip
    """total = x + the sum of the pieces, and total / rms(total) * g in parts."""
    for p in tp.parallel(P=tp.each):
        v = (x[p, :, :].to(f32) + _summed(pieces, p, Z)).to(x.dtype)
        total[p, :, :] = v
        parts, grains = taken_apart(v.to(f32) * g[p, :, :].to(f32))
        q[:, :, p, :, :] = _columns(parts)
        squares = tp.zeros((8, 64))
        for o in tp.tiles(P=tp.each):
            other = (x[o, :, :].to(f32) + _summed(pieces, o, Z)).to(x.dtype).to(f32)
            squares += other * other
        grain[p, :, :] = grains * inverse_root(squares.sum(), P * 512, eps)


# As choices, so that they are part of a chain of launches that overlap.
_APART: Final = Choice(int8_parts_kernel, schedule=_DIRECT)
_NORM_APART: Final = Choice(norm_int8_parts_kernel, schedule=_DIRECT)
_ADD_NORM_APART: Final = Choice(add_norm_int8_parts_kernel, schedule=_MANY_THREADS)


# Functions.


def int8_parts(x: Any, out: Parts | None = None) -> Parts:
    """A vector taken apart into 8-bit integers and grains, the pair that products with 8-bit weights take.

    Its length is a multiple of 512.

    Example:
        q, scale = tk.quantise_int8(w, group=64)
        y = tk.parts_matvec(q, scale, tk.int8_parts(x))
    """
    blocks = blocks_of(x.shape[-1])
    q, grain = pair_for(out, x, blocks)
    _APART(*_seen(q, grain, blocks), arrays.view(x, (blocks, 8, 64)))
    return q, grain


def norm_int8_parts(x: Any, g: Any, eps: float = 1e-6, out: Parts | None = None) -> Parts:
    """rms_norm(x, g), taken apart.

    Example:
        q, scale = tk.quantise_int8(w, group=64)
        y = tk.parts_matvec(q, scale, tk.norm_int8_parts(x, g))
    """
    blocks = blocks_of(x.shape[-1])
    q, grain = pair_for(out, x, blocks)
    vectors = arrays.view(x, (blocks, 8, 64)), arrays.view(g, (blocks, 8, 64))
    _NORM_APART(*_seen(q, grain, blocks), *vectors, eps)
    return q, grain


def add_norm_int8_parts(
    x: Any, pieces: Any, g: Any, eps: float = 1e-6, out: tuple[Any, Any, Any] | None = None
) -> tuple[Any, Any, Any]:
    """rms_norm(total, g), taken apart, and the total: x and all rows of `pieces`, rounded to the type of x.

    Example:
        q, scale = tk.quantise_int8(w, group=64)
        *parts, total = tk.add_norm_int8_parts(x, tk.parts_matvec_pieces(q, scale, tk.int8_parts(x), 2), g)
    """
    blocks = blocks_of(x.shape[-1])
    q, grain = pair_for(None if out is None else out[:2], x, blocks)
    total = arrays.result(None if out is None else out[2], x, x.shape)
    seen = (blocks, 8, 64)
    vectors = arrays.view(total, seen), arrays.view(x, seen), arrays.view(pieces, (pieces.shape[0], *seen))
    _ADD_NORM_APART(*_seen(q, grain, blocks), *vectors, arrays.view(g, seen), eps)
    return q, grain, total


def blocks_of(columns: int) -> int:
    if columns % BLOCK or not columns:
        raise arrays.refused(
            Code.DIMENSION_DIFFERS, f"{columns} columns are not whole blocks of {BLOCK}",
            f"pass a multiple of {BLOCK}, or use int8_linear, which takes any",
        )  # fmt: skip
    return columns // BLOCK


def pair_for(out: Parts | None, like: Any, blocks: int) -> Parts:
    q, grain = (None, None) if out is None else out
    return arrays.result(q, like, (16, blocks * BLOCK), I8), arrays.result(grain, like, (blocks * 8, 2), F32)


def _seen(q: Any, grain: Any, blocks: int) -> tuple[Any, Any]:
    """The pair as kernels write it."""
    return arrays.view(q, (8, 2, blocks, 8, 64)), arrays.view(grain, (blocks, 8, 2))
