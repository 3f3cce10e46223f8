"""Attention of the rows of a step, which belong to several sequences, to their caches in pages.

The rows of a step come from prompts and from answers: many of one sequence, and one each of others. They are taken in
blocks, each of one sequence, and the heads of a block that share keys are the rows of one product. Numbers are computed
as in `attention`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import In, Index, InOut, Schedule, T, Unique, f64, i32
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .choosing import chosen
from .weighing import LOG2_E, axes_of, blank, mean_of, scale_of, shared, weighed, wide

__all__ = ["attend_rows", "attend_rows_kernel"]


@tp.kernel(deny_checks=True)
def attend_rows_kernel(
    o: InOut[T, "T G R D"], q: In[T, "T G R D"], k: In[T, "P G S D"], v: In[T, "P G S D"],
    table: In[Index["P"], "N L"], rows: In[Unique["T"], "B M"], sequence: In[Index["N"], "B"],
    positions: In[i32, "T"], scale: f64, *, R: int, S: int, D: int, M: int,
) -> None:  # fmt: skip
    """Block b looks at the pages of its sequence, up to the last position of its rows; a page is a tile.

    Pages that all rows see whole need no mask. In the others values behind the last position are taken as 0, because
    what was never written may be NaN, which a weight of 0 does not remove.
    """
    tp.require(tp.dim("P") >= 1)
    tp.require(tp.dim("N") >= 1)
    tp.require(tp.dim("T") >= 1)
    pages: Any = table
    block: Any = rows
    for b, g in tp.parallel(B=tp.each, G=tp.each):
        which: Any = sequence[b]
        if which >= 0:
            at, by = block[b, :], wide(scale, q.dtype) * LOG2_E
            row = tp.maximum(at, 0)
            query = q[row, g, :, :].reshape(M * R, D)
            place = tp.where(at >= 0, tp.clip(positions[row], -1, (tp.dim("L") * S).to(i32) - 1), -1)
            stop, number = place.max() + 1, tp.maximum(which, 0)
            whole = tp.minimum(tp.where(at >= 0, place + 1, stop).min(), stop) // S
            last = (place[:, None] + tp.zeros((1, R), i32)).reshape(M * R)
            state = blank(M * R, D, q.dtype)
            for n in tp.tiles(L=tp.each, stop=whole):
                page = tp.maximum(pages[number, n], 0)
                state = weighed(state, query @ k[page, g, :, :].T, v[page, g, :, :], by)
            for n in tp.tiles(L=tp.each, start=tp.maximum(whole, 0), stop=tp.cdiv(stop, S)):
                page, here = tp.maximum(pages[number, n], 0), n.to(i32) * S + tp.arange(S, i32)
                scores = tp.where(last[:, None] >= here[None, :], query @ k[page, g, :, :].T, -tp.inf)
                state = weighed(state, scores, tp.where(here[:, None] < stop, v[page, g, :, :], 0), by)
            o[at, g, :, :] = mean_of(state).reshape(M, R, D)


def attend_rows(
    q: Any, keys: Any, values: Any, table: Any, rows: Any, sequence: Any, positions: Any, *,
    scale: float | None = None, out: Any,
) -> Any:  # fmt: skip
    """Attention of T rows (q: T H D) of some sequences to their caches in pages (P G S D), which a table (N L) finds.

    Block b is the rows of q that `rows[b]` names, -1 for none; all are of sequence `sequence[b]`, and -1 there leaves
    the block out. Row t sees the places up to positions[t] of its sequence, its own among them: place c is place c % S
    of page table[n, c // S]. Entries of the table behind them may be -1, and what lies behind the last position of a
    block may be anything. No row may be in two blocks; rows in none keep what `out` holds. The result of a row does not
    depend on other blocks.

    Example:
        tk.attend_rows(q, key_pages, value_pages, table, rows, sequence, positions, out=o)
    """
    tokens, heads, depth = axes_of("q", q, "T H D")
    held, count, size, _ = axes_of("keys", keys, "P G S D")
    sequences, pages = axes_of("table", table, "N L")
    blocks, length = axes_of("rows", rows, "B M")
    groups, sharing = shared(heads, count)
    made, shape = arrays.result(out, q, q.shape), (tokens, groups, sharing, depth)
    if tokens == 0:
        return made
    sizes = {"T": tokens, "G": groups, "R": sharing, "D": depth, "P": held, "S": size, "L": pages, "N": sequences}
    choice = chosen(ROWS, q, **sizes, B=blocks, M=length)
    given = arrays.view(made, shape), arrays.view(q, shape), keys, values, table, rows, sequence, positions
    choice(*given, scale_of(scale, q))
    return made


# Which schedule.


def _default(sizes: Sizes, target: str) -> Choice:
    if target == "cpu":
        return Choice(attend_rows_kernel, {})
    return Choice(attend_rows_kernel, {}, Schedule(warps=8) if sizes["M"] * sizes["R"] > 64 else Schedule(occupancy=1))


def _space(sizes: Sizes, target: str) -> Iterator[Choice]:
    if target == "cpu":
        yield from choices(attend_rows_kernel, "")
        return
    yield from choices(attend_rows_kernel, "", *(Schedule(occupancy=count) for count in (1, 2, 4)), Schedule(warps=8))


def _full(rng: Any, arguments: dict[str, Any]) -> None:
    """Blocks without holes, of sequences that fill their caches."""
    table, rows, sequence = arguments["table"], arguments["rows"], arguments["sequence"]
    table[...] = rng.integers(0, arguments["k"].shape[0], table.shape)
    sequence[...] = rng.integers(0, len(table), sequence.shape)
    rows[...] = -1
    count = min(rows.size, len(arguments["q"]))
    rows.reshape(-1)[:count] = rng.permutation(count)
    arguments["positions"][...] = table.shape[1] * arguments["k"].shape[2] - 1


ROWS: Final = Tunable(
    "attend_rows", (attend_rows_kernel,), _default, _space, exact=("R", "S", "D", "M"), scalars={"scale": 0.1},
    inputs=_full,
)  # fmt: skip
TUNABLES: Final = (ROWS,)
