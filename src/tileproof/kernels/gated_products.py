"""The gated half of a feed-forward layer: two products that share the loads of x, and what is made of them.

Numbers are computed as in `products`. On a GPU tiles of both matrices come by one load and meet x in one product, whose
halves are then the gate and the rest: nearly as fast as one product of that size, whose result is never stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import tileproof as tp
from tileproof import In, Out, Schedule, T
from tileproof.diagnostics.codes import Code
from tileproof.tuning import Choice, Sizes, Tunable, choices
from tileproof.tuning.choices import takes

from . import arrays
from .product_sizes import Tiles
from .streaming import start


def opened(gate: Any, up: Any) -> Any:
    """silu(gate) * up."""
    return gate * tp.sigmoid(gate) * up


@tp.kernel(deny_checks=True)
def silu_linear_kernel(
    y: Out[T, "M I"], x: In[T, "M K"], w: In[T, "2 I K"], *, BM: int = 64, BI: int = 128, BK: int = 64, SWAPPED: int = 0
) -> None:
    """y = silu(x @ w[0].T) * (x @ w[1].T). Both products share the loads of x."""
    for i, j in tp.parallel(M=BM, I=BI):
        if SWAPPED == 1:
            gate, up = start((j, i), x.dtype), start((j, i), x.dtype)
            for k in tp.tiles(K=BK):
                gate = tp.mma(w[0, j, k], x[i, k].T, gate)
                up = tp.mma(w[1, j, k], x[i, k].T, up)
            y[i, j] = opened(gate, up).T
        else:
            gate, up = start((i, j), x.dtype), start((i, j), x.dtype)
            for k in tp.tiles(K=BK):
                gate = tp.mma(x[i, k], w[0, j, k].T, gate)
                up = tp.mma(x[i, k], w[1, j, k].T, up)
            y[i, j] = opened(gate, up)


def joined(t: Any, rows: int, inner: int) -> Any:
    """Tiles of both matrices below each other, as columns of what meets x."""
    return t.fill(0).reshape(rows, inner).T


def gated(both: Any, width: int) -> Any:
    """silu of the first columns times the others."""
    return opened(both[:, :width], both[:, width:])


@tp.kernel(deny_checks=True)
def silu_linear_joined_kernel(
    y: Out[T, "M I"], x: In[T, "M K"], w: In[T, "2 I K"], *, BM: int = 128, BI: int = 64, BK: int = 64
) -> None:
    """The same by one product with tiles of both matrices."""
    for i, j in tp.parallel(M=BM, I=BI):
        acc = start((i, 2 * BI), x.dtype)
        for k in tp.tiles(K=BK):
            acc = tp.mma(x[i, k], joined(w[:, j, k], 2 * BI, BK), acc)
        y[i, j] = gated(acc, BI)


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
            both = tp.mma(left, joined(w[:, j, :P0, k], 2 * P0, BK), both)
            gate = tp.mma(left, w[0, j, P0:, k].T, gate)
            up = tp.mma(left, w[1, j, P0:, k].T, up)
        y[i, j, :P0] = gated(both, P0)
        y[i, j, P0:] = opened(gate, up)


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
            raise arrays.refused(Code.DIMENSION_DIFFERS, message, "pass as many rows of `up` as of `gate`")
        w = arrays.view(w, (2, w.shape[0] // 2, w.shape[1]))
    out = arrays.result(out, x, (*x.shape[:-1], w.shape[-2]))
    rows = arrays.matrix(x)
    sizes = {"M": rows.shape[0], "I": w.shape[-2], "K": rows.shape[1]}
    if arrays.element_of(x).bits == 32 and arrays.target_of(x) != "cpu":  # tiles of f32 are twice as large
        choice = _TILES.default(sizes["M"], sizes["I"], arrays.target_of(x))
    else:
        choice = _TILES.choose(SILU_LINEAR, x, **sizes)
    choice(arrays.matrix(out), rows, w)
    return out


# Which sizes and schedules.

_TILES: Final = Tiles(silu_linear_kernel, "BM", "BI", accumulators=2)
_FEW_ROWS: Final = 64
"""More rows than these are taken by one product for both matrices."""
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
