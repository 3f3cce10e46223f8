"""Elements in order: as unsigned integers that compare as they do, for kernels that select; and the k greatest."""

from __future__ import annotations

from typing import Any, Final

import tileproof as tp
from tileproof import In, Index, Out, T, bf16, f16, f32, i32, u8, u16, u32, u64
from tileproof.diagnostics.codes import Code

from . import arrays
from .row_choices import ENOUGH, power, tile

__all__ = ["top_k", "top_k_kernel", "top_k_merge_kernel", "top_k_pieces_kernel"]

TOP: Final = 1 << 31
LOW: Final = (1 << 32) - 1


def ordered(x: Any) -> Any:
    """Elements of up to 32 bits as u32 of the same order: -0 equals 0, and NaN is above all."""
    if x.dtype == f32 or x.dtype == f16 or x.dtype == bf16:
        bits = tp.bitcast(x.to(f32), u32)
        key = tp.where(bits < TOP, bits | TOP, ~bits)
        found = tp.where(tp.isnan(x), LOW, tp.where(x == 0, TOP, key))
    elif x.dtype == u8 or x.dtype == u16 or x.dtype == u32:
        found = x.to(u32)
    else:
        found = tp.bitcast(x.to(i32), u32) ^ TOP
    return found


def element_at(key: Any, x: Any) -> Any:
    """What has this place in the order of elements like those of x."""
    if x.dtype == f32 or x.dtype == f16 or x.dtype == bf16:
        found = tp.bitcast(tp.where(key >= TOP, key ^ TOP, ~key), f32).to(x.dtype)
    elif x.dtype == u8 or x.dtype == u16 or x.dtype == u32:
        found = key.to(x.dtype)
    else:
        found = tp.bitcast(key ^ TOP, i32).to(x.dtype)
    return found


def keyed(x: Any, positions: Any) -> Any:
    """One number for element and position: the greater, then the earlier, is greater. None is 0, no two are equal."""
    return (ordered(x).to(u64) << 32) | (LOW - positions).to(u64)


def position_of(key: Any) -> Any:
    """The position in a key."""
    return (LOW - (key & LOW)).to(u32)


def greatest_of(kept: Any, keys: Any) -> Any:
    """The greatest of what was kept so far and of a tile of keys: one after another takes the place of the least."""
    best = keys.max()
    while best > kept.min():
        kept = tp.where(tp.arange(kept.shape[0]) == kept.argmin(), best, kept)
        keys = tp.where(keys == best, 0, keys)
        best = keys.max()
    return kept


# The k greatest.


@tp.kernel(deny_checks=True)
def top_k_kernel(value: Out[T, "R K"], at: Out[Index["C"], "R K"], x: In[T, "R C"], *, K: int, BC: int = 1024) -> None:
    """The K greatest of each row in falling order, and where they are: NaN first, then the earlier of equals.

    A row of fewer elements is followed by NaN, or the least integer, at none.
    """
    for r in tp.parallel(R=tp.each):
        kept = tp.zeros((K,), u64)
        for c in tp.tiles(C=BC):
            kept = greatest_of(kept, keyed(x[r, c], c.elements).fill(0))
        for k in tp.tiles(K=tp.each):
            best = kept.max()
            value[r, k] = element_at((best >> 32).to(u32), x)
            at[r, k] = tp.where(best == 0, -1, tp.clip(position_of(best), 0, tp.dim("C") - 1))  # type: ignore[index]
            kept = tp.where(kept == best, 0, kept)


@tp.kernel(deny_checks=True)
def top_k_pieces_kernel(key: Out[u64, "R C/SC K"], x: In[T, "R C"], *, K: int, SC: int = 4096, BC: int = 1024) -> None:
    """Keys of the K greatest of each piece of a row, in any order; 0 where it has fewer."""
    for r, z in tp.parallel(R=tp.each, C=SC):
        kept = tp.zeros((K,), u64)
        for c in z.tiles(BC):
            kept = greatest_of(kept, keyed(x[r, c], c.elements).fill(0))
        key[r, z.number, :] = kept


@tp.kernel(deny_checks=True)
def top_k_merge_kernel(
    value: Out[T, "R K"], at: Out[Index["C"], "R K"], key: In[u64, "R N"], x: In[T, "R C"], *, K: int, BN: int = 1024
) -> None:
    """The K greatest of each row in falling order, from the keys of those of its pieces."""
    for r in tp.parallel(R=tp.each):
        kept = tp.zeros((K,), u64)
        for n in tp.tiles(N=BN):
            kept = greatest_of(kept, key[r, n].fill(0))
        for k in tp.tiles(K=tp.each):
            best = kept.max()
            value[r, k] = element_at((best >> 32).to(u32), x)
            at[r, k] = tp.where(best == 0, -1, tp.clip(position_of(best), 0, tp.dim("C") - 1))  # type: ignore[index]
            kept = tp.where(kept == best, 0, kept)


def top_k(x: Any, k: int) -> tuple[Any, Any]:
    """The k greatest along the last axis in falling order, and their positions as i32.

    NaN comes first; of equal elements the earlier. Elements have up to 32 bits; zeros come as 0, never as -0.

    Example:
        >>> value, at = tk.top_k(np.array([3, 9, 4, 9], np.float32), 3)
        >>> value.tolist(), at.tolist()
        ([9.0, 9.0, 4.0], [1, 3, 2])
    """
    element = arrays.element_of(x)
    if element.bits > 32 or element.kind == "bool":
        raise arrays.refused(
            Code.ARGUMENT_DTYPE, f"top_k takes elements of up to 32 bits, not {element.name}", "cast x to f32 first"
        )
    rows = arrays.matrix(x)
    count, length = rows.shape
    if not 0 <= k <= length:
        raise arrays.refused(
            Code.DIMENSION_DIFFERS, f"the {k} greatest of rows of {length} elements", f"take a k from 0 to {length}"
        )
    value, at = (arrays.new(x, (*tuple(x.shape)[:-1], k), each) for each in (element, i32))
    if k == 0:
        return value, at
    results = arrays.view(value, (count, k)), arrays.view(at, (count, k))
    piece = _piece(count, length, k, arrays.target_of(x))
    if piece is None:
        top_k_kernel(*results, rows, BC=tile(length, 1024))
        return value, at
    keys = arrays.new(x, (count, -(-length // piece), k), u64)
    top_k_pieces_kernel(keys, rows, SC=piece, BC=tile(piece, 2048))
    keys = arrays.view(keys, (count, keys.shape[1] * k))
    top_k_merge_kernel(*results, keys, rows, BN=tile(keys.shape[1], 2048))
    return value, at


def _piece(rows: int, length: int, k: int, target: str) -> int | None:
    """How much of a row a program looks through; None where programs for whole rows are enough."""
    if target == "cpu" or rows >= ENOUGH or length < 16384:
        return None
    return max(4096, power(8 * k))
