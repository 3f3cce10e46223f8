"""GEMM: `matmul`, with both operands row-major, and `linear`, whose weights have a row per output.

All variants accumulate in f32 (f64 for f64) and round once; NaN and infinity propagate as in IEEE arithmetic. Partial
sums of split variants are added in their order, so the same choice gives the same bits every time; another choice may
round differently. Tiles and schedules are ranked by an estimate in `heuristics` and measured by the tuner.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import tileproof as tp
from tileproof import In, Out, Schedule, T, U
from tileproof.diagnostics.codes import Code
from tileproof.language.dtypes import I32
from tileproof.tuning import Choice, Sizes, Tunable, choices
from tileproof.tuning.choices import takes

from . import arrays
from .arrays import choose
from .fused_gemm import batched_matmul
from .heuristics import LONGEST, GemmVariants, gemm_on_cpu, tile_size
from .numerics import start, sum_type

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
TUNABLES: Final = (MATMUL, LINEAR, LINEAR_TYPED, LINEAR_ROWS, INT8)


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
