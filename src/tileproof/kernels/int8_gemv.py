"""GEMV with int8 weights: the linear layers of a quantized model that decodes one sequence.

Weights have a row per output, and a scale per group of neighbors along a row. On a CPU every program quantizes the
vector to int8 itself, with a scale per group, and then streams many rows of weights: dot products of a group are
summed as integers. On a GPU the vector stays as it is. Sums are computed in f32 and rounded once; a norm before the
layer needs no pass of its own. NaN and infinity in the vector or in a scale give NaN.

With parts a vector is split for int8 tensor cores: in each group of 64 neighbors an element is grain * (high +
low / 254), where high and low are integers from -127 to 127 and the grain is the scale of the group. The error is
1/64000 of the largest element of the group, less than that of bf16. Each part of a group has a row of its own, which is
zero outside of the group: so eight groups, a block of 512 columns, are multiplied by one MMA, and the sums of each
group come out separately, to be scaled. Weights go from memory to the tensor cores as they are; sums of groups are
exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import tileproof as tp
from tileproof import In, Out, Schedule, T, U, f32, i8, i32
from tileproof.diagnostics.codes import Code
from tileproof.language.dtypes import F32, I8
from tileproof.tuning import Choice, Sizes, Tunable, choices
from tileproof.tuning.choices import takes

from . import arrays
from .arrays import choose, half_of, weight_shape
from .heuristics import LASTING, MULTIPROCESSORS, occupied, tile_size
from .numerics import silu
from .quantized_linear import inverse_root, rounded, whole_groups

# Inside kernels.


def _scaled(dots: Any, factors: Any) -> Any:
    """The sums of rows from those of their groups."""
    return (dots.to(f32) * factors).sum(axis=1)


# The vector in 8-bit integers.


@tp.kernel(deny_checks=True)
def int8_matvec_kernel(
    y: Out[U, "N"], w: In[i8, "N C S"], scale: In[Any, "N C"], x: In[T, "C S"], g: In[Any, "C S"] | None,
    eps: f32 | None, residual: In[Any, "N"] | None, *, C: int, S: int, SN: int = 256, BN: int = 16,
) -> None:  # fmt: skip
    """y = (w * scale) @ x, of x / rms(x) * g with a norm, or added to a residual.

    What is multiplied is made integers once for SN rows.
    """
    tp.require((g is None) == (eps is None) and (g is None or residual is None))
    for part in tp.parallel(N=SN):
        v = x[:, :].to(f32)
        root = 1.0 if g is None else inverse_root((v * v).sum(), C * S, eps)
        q, grain = rounded(v if g is None else v * g[:, :].to(f32))
        for n in part.tiles(BN):
            dots = (w[n, :, :].to(i32) * q.to(i32)).sum(axis=2)
            if residual is not None:
                y[n] = residual[n].to(f32) + _scaled(dots, scale[n, :].to(f32) * grain)
            elif g is not None:
                y[n] = _scaled(dots, scale[n, :].to(f32) * (grain * root))
            else:
                y[n] = _scaled(dots, scale[n, :].to(f32) * grain)


@tp.kernel(deny_checks=True)
def norm_int8_matvec_silu_kernel(
    y: Out[U, "I"], w: In[i8, "2 I C S"], scale: In[Any, "2 I C"], x: In[T, "C S"], g: In[Any, "C S"], eps: f32, *,
    C: int, S: int, SI: int = 128, BI: int = 16,
) -> None:  # fmt: skip
    """y = silu(gate) * up, of both halves of (w * scale) @ (x / rms(x) * g), with x * g in integers."""
    for part in tp.parallel(I=SI):
        v = x[:, :].to(f32)
        root = inverse_root((v * v).sum(), C * S, eps)
        q, grain = rounded(v * g[:, :].to(f32))
        for i in part.tiles(BI):
            gates = (w[0, i, :, :].to(i32) * q.to(i32)).sum(axis=2)
            ups = (w[1, i, :, :].to(i32) * q.to(i32)).sum(axis=2)
            gate = _scaled(gates, scale[0, i, :].to(f32) * (grain * root))
            y[i] = silu(gate) * _scaled(ups, scale[1, i, :].to(f32) * (grain * root))


# The vector as it is.


@tp.kernel(deny_checks=True)
def int8_matvec_float_kernel(
    y: Out[U, "N"], w: In[i8, "N C S"], scale: In[Any, "N C"], x: In[T, "C S"], g: In[Any, "C S"] | None,
    eps: f32 | None, residual: In[Any, "N"] | None, *, S: int, BN: int = 8, BC: int = 8,
) -> None:  # fmt: skip
    """The same."""
    tp.require((g is None) == (eps is None) and (g is None or residual is None))
    for n in tp.parallel(N=BN):
        acc = tp.zeros((n, BC, S))
        squares: Any = 0.0 if g is None else tp.zeros((BC, S))
        for c in tp.tiles(C=BC):
            if g is None:
                acc += (w[n, c, :].to(f32) * x[c, :].to(f32) * scale[n, c].to(f32)[:, :, None]).fill(0)
            else:
                v = x[c, :].to(f32)
                acc += (w[n, c, :].to(f32) * (v * g[c, :].to(f32)) * scale[n, c].to(f32)[:, :, None]).fill(0)
                squares += (v * v).fill(0)
        if residual is not None:
            y[n] = residual[n].to(f32) + acc.sum(axis=2).sum(axis=1)
        elif g is not None:
            y[n] = acc.sum(axis=2).sum(axis=1) * inverse_root(squares.sum(), tp.dim("C").to(f32) * S, eps)
        else:
            y[n] = acc.sum(axis=2).sum(axis=1)


@tp.kernel(deny_checks=True)
def norm_int8_matvec_silu_float_kernel(
    y: Out[U, "I"], w: In[i8, "2 I C S"], scale: In[Any, "2 I C"], x: In[T, "C S"], g: In[Any, "C S"], eps: f32, *,
    S: int, BI: int = 4, BC: int = 8,
) -> None:  # fmt: skip
    """y = silu(gate) * up, of both halves of (w * scale) @ (x / rms(x) * g)."""
    for i in tp.parallel(I=BI):
        gate, up, squares = tp.zeros((i, BC, S)), tp.zeros((i, BC, S)), tp.zeros((BC, S))
        for c in tp.tiles(C=BC):
            v = x[c, :].to(f32)
            scaled = v * g[c, :].to(f32)
            gate += (w[0, i, c, :].to(f32) * scaled * scale[0, i, c].to(f32)[:, :, None]).fill(0)
            up += (w[1, i, c, :].to(f32) * scaled * scale[1, i, c].to(f32)[:, :, None]).fill(0)
            squares += (v * v).fill(0)
        root = inverse_root(squares.sum(), tp.dim("C").to(f32) * S, eps)
        y[i] = silu(gate.sum(axis=2).sum(axis=1) * root) * (up.sum(axis=2).sum(axis=1) * root)


# Choices.

_ROWS: Final = 128
"""Rows of weights for each time that the vector is rounded, at least about: that takes as long as five rows."""


def _share(rows: int, each: int = _ROWS, *, most: int = 64) -> int:
    """How many rows a program takes: shares of one size, a multiple of 16, so that no thread waits for another."""
    count = min(most, max(4, rows // each // 4 * 4))
    return max(16, -(-rows // count // 16) * 16)


def _tunable(name: str, kernel: tp.Kernel, plain: tp.Kernel, axis: str, **more: Any) -> Tunable:
    """Of a kernel for CPUs and one for GPUs, with N outputs, or I gated ones."""
    is_gated = axis == "I"

    def default(sizes: Sizes, target: str) -> Choice:
        if target == "cpu":
            share = _share(sizes[axis], _ROWS // 2 if is_gated else _ROWS)
            return Choice(kernel, {f"S{axis}": share, f"B{axis}": 16})
        groups = tile_size(sizes["C"], 512 // tile_size(sizes["S"], 512))
        return Choice(plain, {f"B{axis}": 4 if is_gated else 8, "BC": groups}, LASTING)

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        if target == "cpu":
            for share in sorted({_share(sizes[axis], each) for each in (64, 128, 256, 512)}):
                yield from choices(kernel, f"S{axis}={share},B{axis}=16 S{axis}={share},B{axis}=32")
            return
        for columns in (256, 512, 1024):
            groups = max(columns // sizes["S"], 1)
            tiles = f"B{axis}={2048 // columns},BC={groups} B{axis}={4096 // columns},BC={groups}"
            yield from choices(plain, tiles, LASTING, *occupied(2, 4))

    return Tunable(name, (kernel, plain), default, space, exact=(axis, "C", "S"), **more)


NORM_INT8_MATVEC: Final = _tunable(
    "norm_int8_matvec", int8_matvec_kernel.without("residual"), int8_matvec_float_kernel.without("residual"), "N",
    scalars={"eps": 1e-6},
)  # fmt: skip
NORM_INT8_MATVEC_SILU: Final = _tunable(
    "norm_int8_matvec_silu", norm_int8_matvec_silu_kernel, norm_int8_matvec_silu_float_kernel, "I",
    scalars={"eps": 1e-6},
)  # fmt: skip
INT8_MATVEC_ADD: Final = _tunable(
    "int8_matvec_add", int8_matvec_kernel.without("g", "eps"), int8_matvec_float_kernel.without("g", "eps"), "N"
)


# Functions.


def norm_int8_matvec(w: Any, scale: Any, x: Any, g: Any, eps: float = 1e-6, out: Any = None) -> Any:
    """(w * scale) @ rms_norm(x, g), for 8-bit integers w and a scale for each group of neighbours along their rows.

    `out` may be of another type than x, as logits in f32. On a CPU x * g is rounded to 8-bit integers, group by group;
    on a GPU it is not. Groups are whole.

    Example:
        q, scale = tk.quantize_int8(w, group=64)
        y = tk.norm_int8_matvec(q, scale, x, g)
    """
    rows, pieces = _pieces(w, scale)
    y = arrays.output_for(out, x, (rows,))
    vectors = arrays.view(x, pieces), arrays.view(g, pieces)
    choose(NORM_INT8_MATVEC, x, N=rows, C=pieces[0], S=pieces[1])(
        y, arrays.view(w, (rows, *pieces)), scale, *vectors, eps
    )
    return y


def norm_int8_matvec_silu(w: Any, scale: Any, x: Any, g: Any, eps: float = 1e-6, out: Any = None) -> Any:
    """silu(gate) * up, where gate and up are the first and the second half of (w * scale) @ rms_norm(x, g).

    Example:
        q, scale = tk.quantize_int8(w, group=64)
        y = tk.norm_int8_matvec_silu(q, scale, x, g)
    """
    rows, pieces = _pieces(w, scale)
    half = half_of(rows)
    y = arrays.output_for(out, x, (half,))
    weights = arrays.view(w, (2, half, *pieces)), arrays.view(scale, (2, half, pieces[0]))
    vectors = arrays.view(x, pieces), arrays.view(g, pieces)
    choose(NORM_INT8_MATVEC_SILU, x, I=half, C=pieces[0], S=pieces[1])(y, *weights, *vectors, eps)
    return y


def int8_matvec_add(w: Any, scale: Any, x: Any, residual: Any, out: Any = None) -> Any:
    """residual + (w * scale) @ x, added before the result is rounded. `out` is another array than the residual.

    Example:
        q, scale = tk.quantize_int8(w, group=64)
        y = tk.int8_matvec_add(q, scale, x, residual)
    """
    rows, pieces = _pieces(w, scale)
    y = arrays.output_for(out, x, (rows,))
    whole = arrays.view(w, (rows, *pieces)), scale, arrays.view(x, pieces)
    choose(INT8_MATVEC_ADD, x, N=rows, C=pieces[0], S=pieces[1])(y, *whole, residual)
    return y


def _pieces(w: Any, scale: Any) -> tuple[int, tuple[int, int]]:
    """How many rows there are, and of how many groups of how many weights."""
    rows, columns = weight_shape(w)
    return rows, whole_groups(columns, scale.shape[1] if len(scale.shape) == 2 else 1)


BLOCK: Final = 512
"""Columns of weights that are multiplied at once: eight groups of 64."""
Parts: TypeAlias = tuple[Any, Any]
"""(16, K) of i8, and the grains of both parts of each group, (K / 64, 2) of f32."""


# Inside kernels.


def split_groups(v: Any) -> Any:
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
        parts, grains = split_groups(x[p, :, :].to(f32))
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
        parts, grains = split_groups(x[p, :, :].to(f32) * g[p, :, :].to(f32))
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
        parts, grains = split_groups(v.to(f32) * g[p, :, :].to(f32))
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
    """A vector split into int8 parts and grains, the pair that products with 8-bit weights take.

    Its length is a multiple of 512.

    Example:
        q, scale = tk.quantize_int8(w, group=64)
        y = tk.parts_matvec(q, scale, tk.int8_parts(x))
    """
    blocks = block_count(x.shape[-1])
    q, grain = pair_for(out, x, blocks)
    _APART(*_as_blocks(q, grain, blocks), arrays.view(x, (blocks, 8, 64)))
    return q, grain


def norm_int8_parts(x: Any, g: Any, eps: float = 1e-6, out: Parts | None = None) -> Parts:
    """rms_norm(x, g), split.

    Example:
        q, scale = tk.quantize_int8(w, group=64)
        y = tk.parts_matvec(q, scale, tk.norm_int8_parts(x, g))
    """
    blocks = block_count(x.shape[-1])
    q, grain = pair_for(out, x, blocks)
    vectors = arrays.view(x, (blocks, 8, 64)), arrays.view(g, (blocks, 8, 64))
    _NORM_APART(*_as_blocks(q, grain, blocks), *vectors, eps)
    return q, grain


def add_norm_int8_parts(
    x: Any, pieces: Any, g: Any, eps: float = 1e-6, out: tuple[Any, Any, Any] | None = None
) -> tuple[Any, Any, Any]:
    """rms_norm(total, g), split, and the total: x and all rows of `pieces`, rounded to the type of x.

    Example:
        q, scale = tk.quantize_int8(w, group=64)
        *parts, total = tk.add_norm_int8_parts(x, tk.parts_matvec_pieces(q, scale, tk.int8_parts(x), 2), g)
    """
    blocks = block_count(x.shape[-1])
    q, grain = pair_for(None if out is None else out[:2], x, blocks)
    total = arrays.output_for(None if out is None else out[2], x, x.shape)
    seen = (blocks, 8, 64)
    vectors = arrays.view(total, seen), arrays.view(x, seen), arrays.view(pieces, (pieces.shape[0], *seen))
    _ADD_NORM_APART(*_as_blocks(q, grain, blocks), *vectors, arrays.view(g, seen), eps)
    return q, grain, total


def block_count(columns: int) -> int:
    if columns % BLOCK or not columns:
        raise arrays.launch_error(
            Code.DIMENSION_DIFFERS, f"{columns} columns are not whole blocks of {BLOCK}",
            f"pass a multiple of {BLOCK}, or use int8_linear, which takes any",
        )  # fmt: skip
    return columns // BLOCK


def pair_for(out: Parts | None, like: Any, blocks: int) -> Parts:
    q, grain = (None, None) if out is None else out
    return arrays.output_for(q, like, (16, blocks * BLOCK), I8), arrays.output_for(grain, like, (blocks * 8, 2), F32)


def _as_blocks(q: Any, grain: Any, blocks: int) -> tuple[Any, Any]:
    """The pair as kernels write it."""
    return arrays.view(q, (8, 2, blocks, 8, 64)), arrays.view(grain, (blocks, 8, 2))


def _dots(w: Any, q: Any, scale: Any, grain: Any, BN: int) -> Any:
    """The sums of the groups of a block, scaled; w is a tile of BN rows."""
    sums = tp.mma(w, q.T, 0).fill(0).to(f32).reshape(BN, 8, 2)
    return sums * scale.to(f32).fill(0)[:, :, None] * grain


@tp.kernel(deny_checks=True)
def parts_matvec_kernel(
    y: Out[Any, "N"], w: In[i8, "N P 512"], scale: In[Any, "N P 8"], q: In[i8, "16 P 512"], grain: In[f32, "P 8 2"],
    residual: In[Any, "N"] | None, *, BN: int = 64,
) -> None:  # fmt: skip
    """y = (w * scale) @ x, added to a residual if there is one."""
    for n in tp.parallel(N=BN):
        acc = tp.zeros((BN, 8, 2))
        for p in tp.tiles(P=tp.each):
            acc += _dots(w[n, p, :], q[:, p, :], scale[n, p, :], grain[p, :, :], BN)
        if residual is None:
            y[n] = acc.sum(axis=2).sum(axis=1)
        else:
            y[n] = residual[n].to(f32) + acc.sum(axis=2).sum(axis=1)


@tp.kernel(deny_checks=True)
def parts_matvec_silu_kernel(
    y: Out[T, "I"], w: In[i8, "2 I P 512"], scale: In[Any, "2 I P 8"], q: In[i8, "16 P 512"], grain: In[f32, "P 8 2"],
    *, BI: int = 64,
) -> None:  # fmt: skip
    """y = silu(gate) * up, of both halves of (w * scale) @ x."""
    for i in tp.parallel(I=BI):
        gate, up = tp.zeros((BI, 8, 2)), tp.zeros((BI, 8, 2))
        for p in tp.tiles(P=tp.each):
            gate += _dots(w[0, i, p, :], q[:, p, :], scale[0, i, p, :], grain[p, :, :], BI)
            up += _dots(w[1, i, p, :], q[:, p, :], scale[1, i, p, :], grain[p, :, :], BI)
        y[i] = silu(gate.sum(axis=2).sum(axis=1)) * up.sum(axis=2).sum(axis=1)


@tp.kernel(deny_checks=True)
def parts_matvec_silu_pairs_kernel(
    y: Out[T, "J 32"], w: In[i8, "2 J 32 P 512"], scale: In[Any, "2 J 32 P 8"], q: In[i8, "16 P 512"],
    grain: In[f32, "P 8 2"],
) -> None:
    """The same, with 32 rows of each half in one product: less to load at a time, so more of it ahead."""
    for j in tp.parallel(J=tp.each):
        acc = tp.zeros((64, 8, 2))
        for p in tp.tiles(P=tp.each):
            rows, scales = w[:, j, :, p, :].reshape(64, 512), scale[:, j, :, p, :].reshape(64, 8)
            acc += _dots(rows, q[:, p, :], scales, grain[p, :, :], 64)
        both = acc.sum(axis=2).sum(axis=1).reshape(2, 32)
        y[j, :] = silu(both[:1, :].reshape(32)) * both[1:, :].reshape(32)


def _in_pairs(_: Any, y: Any, w: Any, scale: Any, q: Any, grain: Any) -> tuple[Any, ...]:
    blocks, pairs = q.shape[1], y.shape[0] // 32
    seen = arrays.view(w, (2, pairs, 32, blocks, BLOCK)), arrays.view(scale, (2, pairs, 32, blocks, 8))
    return arrays.view(y, (pairs, 32)), *seen, q, grain


takes(parts_matvec_silu_pairs_kernel, _in_pairs)


@tp.kernel(deny_checks=True)
def parts_silu_parts_kernel(
    y: Out[i8, "8 2 J 64"], grains: Out[f32, "J 2"], w: In[i8, "2 J 64 2*P 256"], scale: In[Any, "2 J 64 2*P 4"],
    q: In[i8, "2 8 P 2 256"], grain: In[f32, "2*P 4 2"],
) -> None:  # fmt: skip
    """silu(gate) * up of the same, in parts: a group by each program, which takes half a block at a time."""
    for j in tp.parallel(J=tp.each):
        gate, up = tp.zeros((64, 4, 2)), tp.zeros((64, 4, 2))
        for k in tp.tiles(("2*P", tp.each)):
            v = q[k % 2, :, k // 2, k % 2, :].T
            gates = tp.mma(w[0, j, :, k, :], v, 0).to(f32).reshape(64, 4, 2)
            gate += gates * scale[0, j, :, k, :].to(f32)[:, :, None] * grain[k, :, :]
            ups = tp.mma(w[1, j, :, k, :], v, 0).to(f32).reshape(64, 4, 2)
            up += ups * scale[1, j, :, k, :].to(f32)[:, :, None] * grain[k, :, :]
        parts, each = split_groups((silu(gate.sum(axis=2).sum(axis=1)) * up.sum(axis=2).sum(axis=1))[None, :])
        grains[j, :] = each.reshape(2)
        y[:, :, j, :] = tp.where((tp.arange(8) == j % 8)[:, None, None], parts, 0.0).to(i8)


@tp.kernel(deny_checks=True)
def parts_silu_parts_pairs_kernel(
    y: Out[i8, "8 2 J 64"], grains: Out[f32, "J 2"], w: In[i8, "2 J 64 2*P 256"], scale: In[Any, "2 J 64 2*P 4"],
    q: In[i8, "2 8 P 2 256"], grain: In[f32, "2*P 4 2"],
) -> None:  # fmt: skip
    """The same, with the rows of both halves in one product."""
    for j in tp.parallel(J=tp.each):
        acc = tp.zeros((128, 4, 2))
        for k in tp.tiles(("2*P", tp.each)):
            rows, scales = w[:, j, :, k, :].reshape(128, 256), scale[:, j, :, k, :].reshape(128, 4)
            sums = tp.mma(rows, q[k % 2, :, k // 2, k % 2, :].T, 0).to(f32).reshape(128, 4, 2)
            acc += sums * scales.to(f32)[:, :, None] * grain[k, :, :]
        both = acc.sum(axis=2).sum(axis=1).reshape(2, 64)
        parts, each = split_groups((silu(both[:1, :].reshape(64)) * both[1:, :].reshape(64))[None, :])
        grains[j, :] = each.reshape(2)
        y[:, :, j, :] = tp.where((tp.arange(8) == j % 8)[:, None, None], parts, 0.0).to(i8)


@tp.kernel(deny_checks=True)
def parts_matvec_pieces_kernel(
    y: Out[f32, "P/SP N"], w: In[i8, "N P 512"], scale: In[Any, "N P 8"], q: In[i8, "16 P 512"],
    grain: In[f32, "P 8 2"], *, SP: int = 8, BN: int = 64,
) -> None:  # fmt: skip
    """Pieces that add up to (w * scale) @ x, each of SP blocks of columns, for too few rows to fill a GPU."""
    for z, n in tp.parallel(P=SP, N=BN):
        acc = tp.zeros((BN, 8, 2))
        for p in tp.tiles(P=tp.each, start=z.start, stop=z.stop):
            acc += _dots(w[n, p, :], q[:, p, :], scale[n, p, :], grain[p, :, :], BN)
        y[z.number, n] = acc.sum(axis=2).sum(axis=1)


# Choices.

_AT_ONCE: Final = occupied(1, 2, 3, 4)


def _default(kernel: tp.Kernel, rows: int) -> Choice:
    # Where programs are so few that each has a multiprocessor to itself, they load as far ahead as its memory allows.
    return Choice(kernel, {"BN": 64}, Schedule(occupancy=1 if rows <= 88 * 64 else 2))


def _space(kernel: tp.Kernel, target: str) -> Iterator[Choice]:
    if target == "cpu":
        yield from choices(kernel, "BN=64 BN=128")
        return
    yield from choices(kernel, "BN=64", *_AT_ONCE, Schedule(occupancy=2, latency=8))
    yield from choices(kernel, "BN=128", *occupied(1, 2))


def _tunable_of_parts(name: str, kernel: tp.Kernel) -> Tunable:
    return Tunable(
        name, (kernel,), lambda sizes, target: _default(kernel, sizes["N"]),
        lambda sizes, target: _space(kernel, target), exact=("N", "P"),
    )  # fmt: skip


def _silu_default(sizes: Sizes, target: str) -> Choice:
    if target == "cpu" or sizes["I"] % 32:
        return Choice(parts_matvec_silu_kernel, {"BI": 64}, Schedule(occupancy=2))
    return Choice(parts_matvec_silu_pairs_kernel, {}, Schedule(occupancy=2))


def _silu_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    schedules = [Schedule()] if target == "cpu" else _AT_ONCE
    yield from choices(parts_matvec_silu_kernel, "BI=64", *schedules)
    if sizes["I"] % 32 == 0:
        yield from choices(parts_matvec_silu_pairs_kernel, "", *schedules)


def _silu_parts_default(sizes: Sizes, target: str) -> Choice:
    # Programs that all fit at once load more at a time; with more than that, more of them are under way.
    if target == "cpu" or sizes["J"] > 3 * MULTIPROCESSORS:
        return Choice(parts_silu_parts_kernel, {}, Schedule(occupancy=4))
    return Choice(parts_silu_parts_pairs_kernel, {}, Schedule(occupancy=3))


def _silu_parts_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    for kernel in (parts_silu_parts_kernel, parts_silu_parts_pairs_kernel):
        yield from choices(kernel, "", *([Schedule()] if target == "cpu" else _AT_ONCE))


def _pieces_default(sizes: Sizes, target: str) -> Choice:
    return Choice(parts_matvec_pieces_kernel, {"SP": sizes["SP"], "BN": 64}, Schedule(occupancy=2))


def _pieces_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    schedules = [Schedule()] if target == "cpu" else _AT_ONCE
    yield from choices(parts_matvec_pieces_kernel, f"SP={sizes['SP']},BN=64", *schedules)


PARTS_MATVEC: Final = _tunable_of_parts("parts_matvec", parts_matvec_kernel.without("residual"))
PARTS_MATVEC_ADD: Final = _tunable_of_parts("parts_matvec_add", parts_matvec_kernel)
PARTS_MATVEC_SILU: Final = Tunable(
    "parts_matvec_silu", (parts_matvec_silu_kernel, parts_matvec_silu_pairs_kernel), _silu_default, _silu_space,
    exact=("I", "P"),
)  # fmt: skip
PARTS_SILU_PARTS: Final = Tunable(
    "parts_silu_parts", (parts_silu_parts_kernel, parts_silu_parts_pairs_kernel), _silu_parts_default,
    _silu_parts_space, exact=("J", "P"),
)  # fmt: skip
PARTS_MATVEC_PIECES: Final = Tunable(
    "parts_matvec_pieces", (parts_matvec_pieces_kernel,), _pieces_default, _pieces_space, exact=("N", "P", "SP")
)


def split_count(rows: int, blocks: int) -> int:
    """In how many pieces a product is made best: in three where programs of 64 rows would leave a GPU half idle."""
    return min(3, blocks) if rows <= 88 * 64 else 1


# Functions.


def parts_matvec(w: Any, scale: Any, parts: Parts, out: Any = None) -> Any:
    """(w * scale) @ x, for 8-bit integers w, a scale for each 64 neighbours along their rows, and x in parts.

    Without an `out` the result is in f32.

    Example:
        q, scale = tk.quantize_int8(w, group=64)
        y = tk.parts_matvec(q, scale, tk.int8_parts(x))
    """
    rows, operands = _operands(w, scale, parts)
    y = arrays.output_for(out, parts[1], (rows,))
    choose(PARTS_MATVEC, parts[1], N=rows, P=operands[2].shape[1])(y, *operands)
    return y


def parts_matvec_add(w: Any, scale: Any, parts: Parts, residual: Any, out: Any = None) -> Any:
    """residual + (w * scale) @ x, added before the result is rounded. `out` is another array than the residual.

    Example:
        q, scale = tk.quantize_int8(w, group=64)
        y = tk.parts_matvec_add(q, scale, tk.int8_parts(x), residual)
    """
    rows, operands = _operands(w, scale, parts)
    y = arrays.output_for(out, residual, (rows,))
    choose(PARTS_MATVEC_ADD, parts[1], N=rows, P=operands[2].shape[1])(y, *operands, residual)
    return y


def parts_matvec_silu(w: Any, scale: Any, parts: Parts, out: Any = None) -> Any:
    """silu(gate) * up, where gate and up are the first and the second half of (w * scale) @ x.

    Example:
        q, scale = tk.quantize_int8(w, group=64)
        y = tk.parts_matvec_silu(q, scale, tk.int8_parts(x))
    """
    rows, (weights, scales, *rest) = _operands(w, scale, parts)
    half, blocks = half_of(rows), rest[0].shape[1]
    y = arrays.output_for(out, parts[1], (half,))
    halves = arrays.view(weights, (2, half, blocks, BLOCK)), arrays.view(scales, (2, half, blocks, 8))
    choose(PARTS_MATVEC_SILU, parts[1], I=half, P=blocks)(y, *halves, *rest)
    return y


def parts_silu_parts(w: Any, scale: Any, parts: Parts, out: Parts | None = None) -> Parts:
    """silu(gate) * up of the same, split for the next product. Their number is a multiple of 512.

    Example:
        q, scale = tk.quantize_int8(w, group=64)
        inner = tk.parts_silu_parts(q, scale, tk.int8_parts(x))
    """
    rows, (weights, scales, *rest) = _operands(w, scale, parts)
    output, blocks = block_count(half_of(rows)), rest[0].shape[1]
    q, grain = pair_for(out, parts[1], output)
    groups, halves = 8 * output, 2 * blocks
    arguments = arrays.view(weights, (2, groups, 64, halves, 256)), arrays.view(scales, (2, groups, 64, halves, 4))
    vector = arrays.view(rest[0], (2, 8, blocks, 2, 256)), arrays.view(rest[1], (halves, 4, 2))
    output = arrays.view(q, (8, 2, groups, 64))
    choose(PARTS_SILU_PARTS, parts[1], J=groups, P=blocks)(output, grain, *arguments, *vector)
    return q, grain


def parts_matvec_pieces(w: Any, scale: Any, parts: Parts, pieces: int, out: Any = None) -> Any:
    """(w * scale) @ x as rows that add up to it, of f32: `pieces` of them, or fewer where blocks do not go round.

    Example:
        q, scale = tk.quantize_int8(w, group=64)
        y = tk.parts_matvec_pieces(q, scale, tk.int8_parts(x), 2).sum(axis=0)
    """
    rows, operands = _operands(w, scale, parts)
    blocks = operands[2].shape[1]
    share = -(-blocks // max(pieces, 1))
    y = arrays.output_for(out, parts[1], (-(-blocks // share), rows))
    choose(PARTS_MATVEC_PIECES, parts[1], N=rows, P=blocks, SP=share)(y, *operands)
    return y


def _operands(w: Any, scale: Any, parts: Parts) -> tuple[int, tuple[Any, Any, Any, Any]]:
    """How many rows there are; weights, scales, integers and grains in blocks."""
    rows, columns = weight_shape(w)
    blocks = block_count(columns)
    q, grain = parts
    whole = arrays.view(w, (rows, blocks, BLOCK)), arrays.view(scale, (rows, blocks, 8))
    return rows, (*whole, arrays.view(q, (16, blocks, BLOCK)), arrays.view(grain, (blocks, 8, 2)))


TUNABLES: Final = (
    NORM_INT8_MATVEC, NORM_INT8_MATVEC_SILU, INT8_MATVEC_ADD, PARTS_MATVEC, PARTS_MATVEC_ADD, PARTS_MATVEC_SILU,
    PARTS_SILU_PARTS, PARTS_MATVEC_PIECES,
)  # fmt: skip
