"""GEMV with int8 weights: the linear layers of a quantized model that decodes one sequence.

Weights have a row per output, and a scale per group of neighbors along a row. On a CPU every program quantizes the
vector to int8 itself, with a scale per group, and then streams many rows of weights: dot products of a group are
summed as integers. On a GPU the vector stays as it is. Sums are computed in f32 and rounded once; a norm before the
layer needs no pass of its own. NaN and infinity in the vector or in a scale give NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import In, Out, T, U, f32, i8, i32
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .arrays import choose, half_of, weight_shape
from .heuristics import LASTING, occupied, tile_size
from .numerics import silu
from .quantization import inverse_root, rounded, whole_groups

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
TUNABLES: Final = (NORM_INT8_MATVEC, NORM_INT8_MATVEC_SILU, INT8_MATVEC_ADD)


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
