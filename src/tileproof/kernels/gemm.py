"""GEMM: of two matrices, of weights by rows, with an epilogue, gated, batched, and grouped by expert.

All accumulate in f32 (f64 for f64), apply the epilogue there, and round once; NaN and infinity propagate as in IEEE
arithmetic, so `silu` and `gelu` of minus infinity are NaN. Partial sums of a split are added in their order, so the
same choice gives the same bits every time; another choice may round differently. Tiles and schedules are ranked by an
estimate in `heuristics` and measured by the tuner.

The gated half of a feed-forward layer is two GEMMs that share the loads of x. On a GPU the tiles of both matrices come
by one load and one MMA, whose halves are gate and up: nearly as fast as one GEMM of that size, and its result is never
stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

import tileproof as tp
from tileproof import In, Offsets, Out, Schedule, T, U
from tileproof.diagnostics.codes import Code
from tileproof.language.dtypes import I32
from tileproof.runtime.interop.describe import torch_of
from tileproof.runtime.tensor.tensors import Tensor
from tileproof.tuning import Choice, Sizes, Tunable, choices
from tileproof.tuning.choices import scheduled, takes

from . import arrays
from .arrays import choose
from .elementwise import gelu_of
from .heuristics import LONGEST, GemmTiles, GemmVariants, gemm_on_cpu, tile_size
from .numerics import silu, start, sum_type


@tp.kernel(deny_checks=True)
def silu_linear_kernel(
    y: Out[T, "M I"], x: In[T, "M K"], w: In[T, "2 I K"], *, BM: int = 64, BI: int = 128, BK: int = 64, SWAPPED: int = 0
) -> None:
    """y = silu(x @ w[0].T) * (x @ w[1].T). Both GEMMs share the loads of x."""
    for i, j in tp.parallel(M=BM, I=BI):
        if SWAPPED == 1:
            gate, up = start((j, i), x.dtype), start((j, i), x.dtype)
            for k in tp.tiles(K=BK):
                gate = tp.mma(w[0, j, k], x[i, k].T, gate)
                up = tp.mma(w[1, j, k], x[i, k].T, up)
            y[i, j] = (silu(gate) * up).T
        else:
            gate, up = start((i, j), x.dtype), start((i, j), x.dtype)
            for k in tp.tiles(K=BK):
                gate = tp.mma(x[i, k], w[0, j, k].T, gate)
                up = tp.mma(x[i, k], w[1, j, k].T, up)
            y[i, j] = silu(gate) * up


def stacked(t: Any, rows: int, inner: int) -> Any:
    """Tiles of both matrices below each other, as columns of what meets x."""
    return t.fill(0).reshape(rows, inner).T


def gated_halves(both: Any, width: int) -> Any:
    """silu of the first columns times the others."""
    gate, up = both[:, :width], both[:, width:]
    return silu(gate) * up


@tp.kernel(deny_checks=True)
def silu_linear_joined_kernel(
    y: Out[T, "M I"], x: In[T, "M K"], w: In[T, "2 I K"], *, BM: int = 128, BI: int = 64, BK: int = 64
) -> None:
    """The same by one MMA with tiles of both matrices."""
    for i, j in tp.parallel(M=BM, I=BI):
        acc = start((i, 2 * BI), x.dtype)
        for k in tp.tiles(K=BK):
            acc = tp.mma(x[i, k], stacked(w[:, j, k], 2 * BI, BK), acc)
        y[i, j] = gated_halves(acc, BI)


@tp.kernel(deny_checks=True)
def silu_linear_wide_kernel(
    y: Out[T, "M J P"], x: In[T, "M K"], w: In[T, "2 J P K"], *, P: int, P0: int = 128, BM: int = 128, BK: int = 64
) -> None:
    """The same by tiles of P columns, P0 in one product, the rest in two: 152 may share the work where 128 do not."""
    for i, j in tp.parallel(M=BM, J=tp.each):
        both = start((i, 2 * P0), x.dtype)
        gate, up = start((i, P - P0), x.dtype), start((i, P - P0), x.dtype)
        for k in tp.tiles(K=BK):
            left = x[i, k]
            both = tp.mma(left, stacked(w[:, j, :P0, k], 2 * P0, BK), both)
            gate = tp.mma(left, w[0, j, P0:, k].T, gate)
            up = tp.mma(left, w[1, j, P0:, k].T, up)
        y[i, j, :P0] = gated_halves(both, P0)
        y[i, j, P0:] = silu(gate) * up


def _by_tiles(constants: Mapping[str, int], y: Any, x: Any, w: Any) -> tuple[Any, ...]:
    (rows, columns), inner, width = y.shape, w.shape[-1], constants["P"]
    return arrays.view(y, (rows, columns // width, width)), x, arrays.view(w, (2, columns // width, width, inner))


takes(silu_linear_wide_kernel, _by_tiles)


def silu_linear(x: Any, w: Any, out: Any = None) -> Any:
    """The gated half of a feed-forward layer: `silu(x @ gate.T) * (x @ up.T)`.

    w holds the rows of `gate` and then those of `up`, "2*I K" or "2 I K". x has any axes before K.

    Example:
        y = tk.fused_linear(tk.silu_linear(x, gate_up), down, residual=x)
    """
    if len(w.shape) == 2:
        if w.shape[0] % 2:
            message = f"`w` has {w.shape[0]} rows, and half of them are the gate"
            raise arrays.launch_error(Code.DIMENSION_DIFFERS, message, "pass as many rows of `up` as of `gate`")
        w = arrays.view(w, (2, w.shape[0] // 2, w.shape[1]))
    out = arrays.output_for(out, x, (*x.shape[:-1], w.shape[-2]))
    rows = arrays.as_matrix(x)
    sizes = {"M": rows.shape[0], "I": w.shape[-2], "K": rows.shape[1]}
    if arrays.element_of(x).bits == 32 and arrays.target_of(x) != "cpu":  # tiles of f32 are twice as large
        choice = _TILES.default(sizes["M"], sizes["I"], arrays.target_of(x))
    else:
        choice = _TILES.choose(SILU_LINEAR, x, **sizes)
    choice(arrays.as_matrix(out), rows, w)
    return out


# Which sizes and schedules.

_TILES: Final = GemmTiles(silu_linear_kernel, "BM", "BI", accumulators=2)
_FEW_ROWS: Final = 64
"""More rows than these are taken by one MMA for both matrices."""
_LASTING: Final = Schedule(group=8, persistent=True)
_TWICE: Final = Schedule(group=8, occupancy=2)
_MANY: Final = 8192
"""So many rows are taken by pairs of blocks, which share what they read of both matrices."""
_WIDTHS: Final = (152, 160)
"""Numbers of columns that may leave fewer programs without work than 64 and 128 do."""
_WAVE: Final = range(120, 133)
"""Programs that keep nearly all multiprocessors of an H200 busy, once."""
_PAIRS: Final = Schedule(group=8, persistent=True, warps=8, cluster=2)


def _default(sizes: Sizes, target: str) -> Choice:
    if not _is_joined(sizes, target):
        return _TILES.default(sizes["M"], sizes["I"], target)
    if target == "sm_90" and sizes["M"] >= _MANY:
        return Choice(silu_linear_joined_kernel, {"BM": 256, "BI": 128, "BK": 64}, _PAIRS)
    width = next((each for each in _WIDTHS if _wide_programs(sizes, each) in _WAVE), None)
    if target == "sm_90" and width is not None and sizes["M"] > 128:
        wide = {"P": width, "P0": 128, "BM": 128, "BK": 64}
        return Choice(silu_linear_wide_kernel, wide, Schedule(group=8, warps=8, latency=6))
    # Up to 128 rows the weights are read once, and it is memory that two programs keep busier than one.
    schedule = _TWICE if sizes["M"] <= 128 else _LASTING
    return Choice(silu_linear_joined_kernel, {"BM": 128, "BI": 64, "BK": 64}, schedule)


def _space(sizes: Sizes, target: str) -> Iterator[Choice]:
    if not _is_joined(sizes, target):
        yield from _TILES.space(sizes["M"], target)
        return
    eight = Schedule(group=8, warps=8, persistent=True), Schedule(group=8, warps=8)
    yield from choices(silu_linear_joined_kernel, "BM=128,BI=64,BK=64", _LASTING, _TWICE, Schedule(group=8))
    yield from choices(silu_linear_joined_kernel, "BM=64,BI=128,BK=64 BM=64,BI=64,BK=64", _LASTING, _TWICE)
    yield from choices(silu_linear_joined_kernel, "BM=128,BI=128,BK=64", *eight)
    for width in _WIDTHS if sizes["M"] > 128 else ():
        if _wide_programs(sizes, width):
            deeper = (Schedule(group=8, warps=8, latency=latency) for latency in (6, 8))
            yield from choices(silu_linear_wide_kernel, f"P={width},P0=128,BM=128,BK=64", *eight, *deeper)
    if target == "sm_90" and sizes["M"] >= _MANY:
        yield from choices(silu_linear_joined_kernel, "BM=256,BI=128,BK=64", _PAIRS)


def _wide_programs(sizes: Sizes, width: int) -> int:
    """How many programs take tiles of so many columns; 0 if these do not come out even."""
    return 0 if sizes["I"] % width else -(-sizes["M"] // 128) * (sizes["I"] // width)


def _is_joined(sizes: Sizes, target: str) -> bool:
    """Tiles that lie whole in both matrices are read as they are; others are filled up, in registers."""
    return target != "cpu" and sizes["M"] > _FEW_ROWS and sizes["I"] % 128 == sizes["K"] % 64 == 0


SILU_LINEAR: Final = Tunable(
    "silu_linear",
    (silu_linear_kernel, silu_linear_joined_kernel, silu_linear_wide_kernel),
    default=_default,
    space=_space,
    exact=("I", "K"),
)


# Batches.


def either(a: Any, across: Any, z: Any, i: Any, k: Any) -> Any:
    """A tile of an operand, or of the same one transposed."""
    return a[z, i, k] if across is None else across[z, k, i].T


@tp.kernel(deny_checks=True)
def batched_matmul_kernel(
    c: Out[T, "B M N"], a: In[T, "B M K"] | None, at: In[T, "B K M"] | None, b: In[T, "B K N"] | None,
    bt: In[T, "B N K"] | None, *, BM: int = 128, BN: int = 128, BK: int = 64,
) -> None:  # fmt: skip
    """c[z] = a[z] @ b[z]. Of each operand there is one, as it is or transposed."""
    tp.require((a is None) != (at is None) and (b is None) != (bt is None))
    for z, i, j in tp.parallel(B=tp.each, M=BM, N=BN):
        acc = start((i, j), T)
        for k in tp.tiles(K=BK):
            acc = tp.mma(either(a, at, z, i, k), either(b, bt, z, k, j), acc)
        c[z, i, j] = acc


_BATCHED: Final = batched_matmul_kernel.without("at", "bt")


def batched_matmul(a: Any, b: Any, out: Any = None) -> Any:
    """The products `a[z] @ b[z]` of two stacks of matrices, "B M K" and "B K N".

    Either may be a transposed view: it is then read along its memory, not across.

    Example:
        scores = tk.batched_matmul(q, k.swapaxes(1, 2))
    """
    out = arrays.output_for(out, a, (a.shape[0], *a.shape[-2:-1], b.shape[-1]))
    is_transposed = _is_transposed(a), _is_transposed(b)
    left, right = _transposed(a) if is_transposed[0] else a, _transposed(b) if is_transposed[1] else b
    choice = _BATCHED_TILES.choose(BATCHED_MATMUL, a, B=a.shape[0], M=a.shape[-2], N=b.shape[-1], K=a.shape[-1])
    absent = "a" if is_transposed[0] else "at", "b" if is_transposed[1] else "bt"
    scheduled(batched_matmul_kernel.without(*absent), choice.schedule)(out, left, right, **choice.constants)
    return out


def _is_transposed(array: Any) -> bool:
    """Whether the matrices of a stack lie in memory column by column."""
    if len(array.shape) != 3:
        return False
    strides = array.stride() if torch_of(array) is not None else array.strides
    return bool(abs(strides[-2]) < abs(strides[-1]))


def _transposed(array: Any) -> Any:
    return array.permute(0, 2, 1) if isinstance(array, Tensor) else array.swapaxes(1, 2)


# What follows a linear layer.

_ACTIVATIONS: Final = {None: 0, "relu": 1, "silu": 2, "gelu": 3}


def apply_activation(t: Any, ACTIVATION: int) -> Any:
    """0 changes nothing, 1 is relu, 2 is silu and 3 is gelu, by the error function."""
    if ACTIVATION == 1:
        t = tp.maximum(t, 0.0)
    elif ACTIVATION == 2:
        t = silu(t)
    elif ACTIVATION == 3:
        t = gelu_of(t)
    return t


def gemm_tile(x: Any, w: Any, i: Any, j: Any, BK: int, SWAPPED: int) -> Any:
    """Rows i of x times rows j of w. Swapped, w is the left operand: tensor cores take no less than 64 rows of that."""
    if SWAPPED == 1:
        acc = start((j, i), x.dtype)
        for k in tp.tiles(K=BK):
            acc = tp.mma(w[j, k], x[i, k].T, acc)
        acc = acc.T
    else:
        acc = start((i, j), x.dtype)
        for k in tp.tiles(K=BK):
            acc = tp.mma(x[i, k], w[j, k].T, acc)
    return acc


@tp.kernel(deny_checks=True)
def fused_linear_kernel(
    y: Out[T, "M N"], x: In[T, "M K"], w: In[T, "N K"], bias: In[T, "B N"], residual: In[T, "R M N"], *, B: int, R: int,
    ACTIVATION: int = 0, BM: int = 128, BN: int = 128, BK: int = 64, SWAPPED: int = 0,
) -> None:  # fmt: skip
    """y = activated(x @ w.T + bias) + residual. B and R are 1, or 0 where there is no bias and no residual."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = gemm_tile(x, w, i, j, BK, SWAPPED)
        if B > 0:
            acc = acc + bias[0, j].to(acc.dtype)
        acc = apply_activation(acc, ACTIVATION)
        if R > 0:
            acc = acc + residual[0, i, j].to(acc.dtype)
        y[i, j] = acc


def fused_linear(
    x: Any, w: Any, bias: Any = None, activation: str | None = None, residual: Any = None, out: Any = None
) -> Any:
    """`activation(x @ w.T + bias) + residual`, where each row of w "N K" makes one output. x has any axes before K.

    The activation is "relu", "silu", "gelu" (by the error function) or None. A bias or a residual that is not given is
    not read. `out` and `residual` are two arrays: what one launch writes it does not read.

    Example:
        y = tk.fused_linear(x, w, bias, "gelu")
        h = tk.fused_linear(y, down, residual=h)
    """
    if activation not in _ACTIVATIONS:
        raise arrays.launch_error(
            Code.CONSTANT_VALUE, f"there is no activation {activation!r}", 'pass "relu", "silu", "gelu" or None'
        )
    out = arrays.output_for(out, x, (*x.shape[:-1], w.shape[0]))
    if residual is not None and tuple(residual.shape) != tuple(out.shape):
        message = f"`residual` has shape {tuple(residual.shape)}, and the result has {tuple(out.shape)}"
        raise arrays.launch_error(Code.DIMENSION_DIFFERS, message, "pass a residual of the shape of the result")
    rows, y = arrays.as_matrix(x), arrays.as_matrix(out)
    (m, k), n = rows.shape, w.shape[0]
    choice = _FUSED_TILES.choose(FUSED_LINEAR, x, M=m, N=n, K=k, B=int(bias is not None), R=int(residual is not None))
    # What is not there is no row of the result: nothing is made for it, so that a graph can hold the launch.
    given_bias = y[:0] if bias is None else bias[None]
    given_residual = y[None][:0] if residual is None else arrays.as_matrix(residual)[None]
    constants = {**choice.constants, "ACTIVATION": _ACTIVATIONS[activation]}
    choice.launched(y, rows, w, given_bias, given_residual, **constants)
    return out


# A matrix for each expert.


@tp.kernel(deny_checks=True)
def grouped_matmul_kernel(
    y: Out[T, "N F"], x: In[T, "N K"], w: In[T, "E F K"], offsets: In[Offsets["N"], "E+1"], *,
    BN: int = 64, BF: int = 128, BK: int = 64, SWAPPED: int = 0,
) -> None:  # fmt: skip
    """y[n] = x[n] @ w[e].T, where expert e has the rows from offsets[e] to offsets[e + 1]."""
    for (e, n), f in tp.parallel(tp.segments(offsets, N=BN), F=BF):
        if SWAPPED == 1:
            acc = start((f, n), x.dtype)
            for k in tp.tiles(K=BK):
                acc = tp.mma(w[e, f, k], x[n, k].T, acc)
            y[n, f] = acc.T
        else:
            acc = start((n, f), x.dtype)
            for k in tp.tiles(K=BK):
                acc = tp.mma(x[n, k], w[e, f, k].T, acc)
            y[n, f] = acc


def grouped_matmul(x: Any, w: Any, offsets: Any, out: Any = None) -> Any:
    """The GEMMs of a mixture of experts: `x[n] @ w[e].T` for the rows n of each expert e.

    The rows of x "N K" are sorted by expert: those of e go from offsets[e] to offsets[e + 1]. w is "E F K", where each
    row of an expert's matrix makes one output. What `offsets` "E+1" holds is checked by the launch: it starts at 0,
    never falls, and ends at N.

    Example:
        y = tk.grouped_matmul(x, w, np.array([0, 3, 3, 8], np.int32))
    """
    out = arrays.output_for(out, x, (x.shape[0], w.shape[-2]))
    choice = _GROUPED_TILES.choose(GROUPED_MATMUL, x, N=x.shape[0], E=w.shape[0], F=w.shape[-2], K=x.shape[-1])
    choice(out, x, w, offsets)
    return out


# Which sizes and schedules.

_BATCHED_TILES: Final = GemmTiles(_BATCHED, "BM", "BN", can_swap=False)
_FUSED_TILES: Final = GemmTiles(fused_linear_kernel, "BM", "BN")
_GROUPED_TILES: Final = GemmTiles(grouped_matmul_kernel, "BN", "BF")


def _rows_of_each(sizes: Sizes) -> int:
    """How many rows an expert has on average."""
    return -(-sizes["N"] // max(sizes["E"], 1))


def _random_offsets(rng: Any, arguments: dict[str, Any]) -> None:
    """Experts with many rows and few, as they come in use."""
    rows, experts = arguments["x"].shape[0], arguments["w"].shape[0]
    borders = np.sort(rng.integers(0, rows + 1, experts + 1))
    borders[0], borders[-1] = 0, rows
    arguments["offsets"][...] = borders


BATCHED_MATMUL: Final = Tunable(
    "batched_matmul",
    (_BATCHED,),
    default=lambda sizes, target: _BATCHED_TILES.default(sizes["M"], sizes["N"], target, sizes["B"]),
    space=lambda sizes, target: _BATCHED_TILES.space(sizes["M"], target),
)
FUSED_LINEAR: Final = Tunable(
    "fused_linear",
    (fused_linear_kernel,),
    default=lambda sizes, target: _FUSED_TILES.default(sizes["M"], sizes["N"], target),
    space=lambda sizes, target: _FUSED_TILES.space(sizes["M"], target),
    exact=("N", "K", "B", "R"),
)
GROUPED_MATMUL: Final = Tunable(
    "grouped_matmul",
    (grouped_matmul_kernel,),
    default=lambda sizes, target: _GROUPED_TILES.default(_rows_of_each(sizes), sizes["F"], target, sizes["E"]),
    space=lambda sizes, target: _GROUPED_TILES.space(_rows_of_each(sizes), target),
    exact=("E", "F", "K"),
    inputs=_random_offsets,
)


# Both operands by rows.


@tp.kernel(deny_checks=True)
def matmul_kernel(
    c: Out[U, "M N"], a: In[T, "M K"], b: In[T, "K N"], *, BM: int = 128, BN: int = 128, SK: int = 0, BK: int = 64
) -> None:
    """c = a @ b; each SK columns of a by programs of their own, for results too small to fill a GPU, or all by one."""
    for i, j, z in tp.parallel(M=BM, N=BN, K=tp.split(SK)):
        acc = start((i, j), a.dtype)
        for k in z.tiles(BK):
            acc = tp.mma(a[i, k], b[k, j], acc)
        c[i, j] = tp.join(acc, over=z)


@tp.kernel(deny_checks=True)
def matmul_wide_kernel(
    c: Out[T, "M J P"], a: In[T, "M K"], b: In[T, "K J P"], *, P: int, P0: int = 256, BM: int = 128, BK: int = 64
) -> None:
    """The same by tiles of P columns, P0 and the rest: widths such as 320 share the work evenly where 256 do not."""
    for i, j in tp.parallel(M=BM, J=tp.each):
        first, rest = start((i, P0), a.dtype), start((i, P - P0), a.dtype)
        for k in tp.tiles(K=BK):
            left = a[i, k]
            first = tp.mma(left, b[k, j, :P0], first)
            rest = tp.mma(left, b[k, j, P0:], rest)
        c[i, j, :P0] = first
        c[i, j, P0:] = rest


# Weights by rows of outputs.


@tp.kernel(deny_checks=True)
def linear_kernel(
    y: Out[U, "M N"], x: In[T, "M K"], w: In[T, "N K"], *,
    BM: int = 128, BN: int = 128, SK: int = 0, BK: int = 64, SWAPPED: int = 0,
) -> None:  # fmt: skip
    """y = x @ w.T; y may be of another element type. Each SK columns may be added up by programs of their own.

    Swapped, for few rows, the weights are the left operand, which tensor cores want 64 rows of.
    """
    for i, j, z in tp.parallel(M=BM, N=BN, K=tp.split(SK)):
        if SWAPPED == 1:
            acc = start((j, i), x.dtype)
            for k in z.tiles(BK):
                acc = tp.mma(w[j, k], x[i, k].T, acc)
            y[i, j] = tp.join(acc, over=z).T
        else:
            acc = start((i, j), x.dtype)
            for k in z.tiles(BK):
                acc = tp.mma(x[i, k], w[j, k].T, acc)
            y[i, j] = tp.join(acc, over=z)


@tp.kernel(deny_checks=True)
def linear_wide_kernel(
    y: Out[T, "M J P"], x: In[T, "M K"], w: In[T, "J P K"], *,
    P: int, P0: int = 256, BM: int = 128, SK: int = 0, BK: int = 64,
) -> None:  # fmt: skip
    """The same by tiles of P outputs, P0 and the rest: widths such as 320 share the work evenly where 256 do not."""
    for i, j, z in tp.parallel(M=BM, J=tp.each, K=tp.split(SK)):
        first, rest = start((i, P0), x.dtype), start((i, P - P0), x.dtype)
        for k in z.tiles(BK):
            left = x[i, k]
            first = tp.mma(left, w[j, :P0, k].T, first)
            rest = tp.mma(left, w[j, P0:, k].T, rest)
        first, rest = tp.join((first, rest), over=z)
        y[i, j, :P0] = first
        y[i, j, P0:] = rest


@tp.kernel(deny_checks=True)
def linear_rows_kernel(
    y: Out[Any, "M N"], x: In[U, "M K"], w: In[T, "N K"], *, M: int, K: int, BN: int = 16
) -> None:
    """y = x @ w.T for few rows, of any element type: whole rows of weights pass by all rows of x once."""
    for n in tp.parallel(N=BN):
        kind = sum_type(w, x)
        y[:, n] = (x[:, :].to(kind)[:, None, :] * w[n, :].to(kind)[None, :, :]).sum(axis=2)


def _wide_columns(constants: Mapping[str, int], c: Any, a: Any, b: Any) -> tuple[Any, ...]:
    (rows, columns), inner, width = c.shape, b.shape[0], constants["P"]
    return arrays.view(c, (rows, columns // width, width)), a, arrays.view(b, (inner, columns // width, width))


def _wide_rows(constants: Mapping[str, int], y: Any, x: Any, w: Any) -> tuple[Any, ...]:
    (rows, columns), inner, width = y.shape, w.shape[1], constants["P"]
    return arrays.view(y, (rows, columns // width, width)), x, arrays.view(w, (columns // width, width, inner))


takes(matmul_wide_kernel, _wide_columns)
takes(linear_wide_kernel, _wide_rows)


# What is launched.

_MATMUL: Final = GemmVariants(matmul_kernel, matmul_wide_kernel)
_LINEAR: Final = GemmVariants(linear_kernel, linear_wide_kernel, splits_wide=True, swaps=True)


_FEW: Final = 32
"""Rows that are few: a CPU reads the weights once for all of them, without a copy."""


def _linear(sizes: Sizes, target: str) -> Choice:
    return gemm_on_cpu(linear_kernel, sizes) if target == "cpu" else _LINEAR.default(sizes, target)


def _typed(sizes: Sizes, target: str) -> Choice:
    if target == "cpu":
        return gemm_on_cpu(linear_kernel, sizes)
    fits = {"BM": tile_size(sizes["M"], 128, 16), "BN": tile_size(sizes["N"], 128, 16)}
    schedule = Schedule(group=8) if sizes["M"] > 64 else Schedule(occupancy=2)
    return Choice(linear_kernel, {**fits, "BK": tile_size(sizes["K"], 64, 16)}, schedule)


def _int8(sizes: Sizes, target: str) -> Choice:
    big = {"BM": 128, "BN": 256, "BK": 256} if target == "cpu" else {"BM": 128, "BN": 128, "BK": 128}
    return Choice(matmul_kernel, {name: tile_size(sizes[name[1]], size, 16) for name, size in big.items()})


MATMUL: Final = Tunable("matmul", _MATMUL.kernels, _MATMUL.default, _MATMUL.space, exact=("N", "K"))
LINEAR: Final = Tunable("linear", _LINEAR.kernels, _linear, _LINEAR.space, exact=("N", "K"))
LINEAR_TYPED: Final = Tunable(
    "linear_typed", (linear_kernel,), _typed,
    lambda sizes, target: choices(linear_kernel, "BM=128,BN=128,BK=64 BM=64,BN=128,BK=64 BM=16,BN=64,BK=128"),
    exact=("N", "K"), types={"U": "f32"},
)  # fmt: skip
LINEAR_ROWS: Final = Tunable(
    "linear_rows", (linear_rows_kernel,), lambda sizes, target: Choice(linear_rows_kernel, {"BN": 48}),
    lambda sizes, target: choices(linear_rows_kernel, "BN=48 BN=24 BN=96 BN=16"), exact=("M", "N", "K"),
)  # fmt: skip
INT8: Final = Tunable(
    "int8_matmul", (matmul_kernel,), _int8,
    lambda sizes, target: choices(matmul_kernel, "BM=128,BN=256,BK=256 BM=128,BN=128,BK=128 BM=64,BN=128,BK=128"),
    exact=("N", "K"), types={"U": "i32"},
)  # fmt: skip


def matmul(a: Any, b: Any, out: Any = None) -> Any:
    """a @ b of two matrices, of one float type, or both of int8, which gives i32.

    Either may be a transposed view (`matmul(dy.T, x)` is a gradient of weights): what lies together in memory is read
    together.

    Example:
        c = tk.matmul(np.ones((4, 8), np.float32), np.ones((8, 2), np.float32))
    """
    if not len(a.shape) == len(b.shape) == 2:
        raise arrays.launch_error(
            Code.ARGUMENT_RANK,
            f"matmul multiplies two matrices, not arrays of shapes {tuple(a.shape)} and {tuple(b.shape)}",
            "`batched_matmul` takes three axes, `linear` any number with weights by rows",
        )
    (rows, inner), columns = a.shape, b.shape[1]
    element = arrays.element_of(a)
    if element.name == "i8":
        c = arrays.output_for(out, a, (rows, columns), I32)
        choose(INT8, a, M=rows, N=columns, K=inner)(c, a, b)
        return c
    c = arrays.output_for(out, a, (rows, columns))
    if arrays.element_of(c) != element:
        message = f"`out` is of {arrays.element_of(c)}, and the result of {element}"
        raise arrays.launch_error(Code.ARGUMENT_DTYPE, message, "use `linear` for an `out` of another type")
    if arrays.is_by_columns(a):
        batched_matmul(a[None], b[None], out=c[None])
    elif arrays.is_by_columns(b):
        _launch(LINEAR, c, a, b.T)
    else:
        _launch(MATMUL, c, a, b)
    return c


def linear(x: Any, w: Any, out: Any = None) -> Any:
    """x @ w.T, where each row of w makes one output: the form that checkpoints keep weights in.

    The last axis of x is what is multiplied; the axes before it stay. `out` may have another float type than x, for
    instance f32 beside bf16; else the result has that of x.

    Example:
        y = tk.linear(np.ones((4, 8), np.float32), np.ones((2, 8), np.float32))
    """
    y = arrays.output_for(out, x, (*x.shape[:-1], w.shape[0]))
    rows, to = arrays.as_matrix(x), arrays.as_matrix(y)
    element, count, inner = arrays.element_of(x), rows.shape[0], rows.shape[1]
    is_few = 0 < count <= _FEW and 0 < inner <= LONGEST and w.shape[-1] == inner and element.is_float
    if is_few and arrays.target_of(x) == "cpu" and arrays.element_of(w) == element:
        choose(LINEAR_ROWS, x, M=count, N=w.shape[0], K=inner)(to, rows, w)
    else:
        _launch(LINEAR if arrays.element_of(y) == element else LINEAR_TYPED, to, rows, w)
    return y


def _launch(tunable: Tunable, c: Any, a: Any, b: Any) -> None:
    """Launches a GEMM of a, "M K", and a result with N columns."""
    sizes = {"M": a.shape[0], "N": c.shape[1], "K": a.shape[1]}
    choice = choose(tunable, a, **sizes)
    if arrays.element_of(a).bits == 64 and arrays.target_of(a) != "cpu":
        choice = Choice(tunable.kernels[0], {"BM": 32, "BN": 32, "BK": 16})  # no tensor cores: larger tiles spill
    choice(c, a, b)


TUNABLES: Final = (
    BATCHED_MATMUL, FUSED_LINEAR, SILU_LINEAR, GROUPED_MATMUL, MATMUL, LINEAR, LINEAR_TYPED, LINEAR_ROWS, INT8
)  # fmt: skip
