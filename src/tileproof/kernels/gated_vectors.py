"""A vector times two matrices, gate and up, of which one opens the other: a gated layer of a model making one token.

Numbers are computed as in `vectors`; silu(t) is t * sigmoid(t).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import In, Out, Schedule, T, U
from tileproof.diagnostics.codes import Code
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .arrays import chosen
from .streaming import LASTING, by_rows, extents, fitting, on_cpu, share_of, sum_type


@tp.kernel(deny_checks=True)
def matvec_silu_kernel(
    y: Out[U, "I"], w: In[T, "2 I K"], x: In[U, "K"], *, BI: int = 4, BK: int = 512
) -> None:
    """y = silu(w[0] @ x) * (w[1] @ x)."""
    for i in tp.parallel(I=BI):
        kind = sum_type(w, x)
        gate, up = tp.zeros((i, BK), kind), tp.zeros((i, BK), kind)
        for k in tp.tiles(K=BK):
            v = x[k].to(kind)
            gate += (w[0, i, k].to(kind) * v).fill(0)
            up += (w[1, i, k].to(kind) * v).fill(0)
        open = gate.sum(axis=1)
        y[i] = open * tp.sigmoid(open) * up.sum(axis=1)


@tp.kernel(deny_checks=True)
def matvec_silu_rows_kernel(y: Out[U, "I"], w: In[T, "2 I K"], x: In[U, "K"], *, K: int, BI: int = 1) -> None:
    """The same with whole rows in one tile."""
    for i in tp.parallel(I=BI):
        kind = sum_type(w, x)
        v = x[:].to(kind)
        open = (w[0, i, :].to(kind) * v).sum(axis=1)
        y[i] = open * tp.sigmoid(open) * (w[1, i, :].to(kind) * v).sum(axis=1)


@tp.kernel(deny_checks=True)
def matvec_silu_pair_kernel(y: Out[U, "I"], w: In[T, "2 I K"], x: In[U, "K"], *, K: int) -> None:
    """The same with a row of gate and one of up in one tile, whose sums are made together."""
    for i in tp.parallel(I=tp.each):
        kind = sum_type(w, x)
        both = (w[:, i, :].to(kind) * x[:].to(kind)).sum(axis=1)
        open = both[:1].sum()
        y[i] = open * tp.sigmoid(open) * both[1:].sum()


def _silu_default(sizes: Sizes, target: str) -> Choice:
    i, k = sizes["I"], sizes["K"]
    if target == "cpu":
        whole = 512 <= k <= 1 << 15
        return Choice(matvec_silu_rows_kernel, {"BI": share_of(i)}) if whole else _lanes(k, 16, Schedule())
    direct = Schedule(tma=False, occupancy=8 if k <= 4096 else 4)  # two rows at once have to fit the registers
    return Choice(matvec_silu_pair_kernel, {}, direct) if 1 <= k <= 8192 else _lanes(k, 1, direct)


def _lanes(k: int, rows: int, schedule: Schedule) -> Choice:
    return Choice(matvec_silu_kernel, {"BI": rows, "BK": fitting(512, k)}, schedule)


def _silu_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    k = sizes["K"]
    if target == "cpu":
        yield from on_cpu("BI", matvec_silu_kernel, matvec_silu_rows_kernel, k)
        return
    yield from by_rows("BI", matvec_silu_rows_kernel, k)
    yield from choices(matvec_silu_kernel, "BI=4,BK=512 BI=8,BK=256 BI=8,BK=512", LASTING, Schedule(occupancy=2))
    direct = Schedule(occupancy=4, tma=False), Schedule(occupancy=8, tma=False)
    if 1 <= k <= 8192:
        yield from choices(matvec_silu_pair_kernel, "", *direct)
    yield from choices(matvec_silu_kernel, "BI=1,BK=1024 BI=2,BK=1024 BI=1,BK=2048", *direct)


MATVEC_SILU: Final = Tunable(
    "matvec_silu", (matvec_silu_kernel, matvec_silu_rows_kernel, matvec_silu_pair_kernel), _silu_default, _silu_space,
    exact=("I", "K"),
)


def matvec_silu(w: Any, x: Any, out: Any = None) -> Any:
    """silu(gate) * up, where gate and up are the first and the second half of w @ x.

    Example:
        y = tk.matvec_silu(w, x)
    """
    rows, columns = extents(w)
    half = half_of(rows)
    y = arrays.result(out, x, (half,))
    chosen(MATVEC_SILU, w, I=half, K=columns)(y, arrays.view(w, (2, half, columns)), x)
    return y


def half_of(rows: int) -> int:
    """How many outputs a gated layer has whose weights have so many rows."""
    if rows % 2:
        raise arrays.refused(
            Code.DIMENSION_DIFFERS, f"{rows} rows of weights are not two halves",
            "pass a matrix with the rows of gate first and those of up behind them",
        )  # fmt: skip
    return rows // 2
