"""Logits of which only some tokens are allowed, as the grammar of a structured output says: a bit for each token."""

from __future__ import annotations

from typing import Any, Final

import tileproof as tp
from tileproof import In, Index, Out, T, i32

from . import arrays
from .arrays import choose
from .heuristics import row_tiles


@tp.kernel(deny_checks=True)
def mask_logits_kernel(
    y: Out[T, "R V"], logits: In[T, "R V"], masks: In[i32, "S V/32"], rows: In[Index["S"], "R"], *, BV: int = 2048
) -> None:
    """Logits whose bit in row rows[r] of the masks is set, and -inf for all others; without a row logits stay."""
    for r, v in tp.parallel(R=tp.each, V=BV):
        words = masks.get((rows[r], v.elements // 32), -1)
        is_allowed = (words >> (v.elements % 32).to(i32)) & 1 != 0
        y[r, v] = tp.where(is_allowed, logits[r, v], -tp.inf)


def mask_logits(logits: Any, masks: Any, rows: Any, out: Any = None) -> Any:
    """Logits, "R V", with -inf for each token that row rows[r] of `masks` does not allow.

    `masks` (i32) has 32 tokens in each word, "S V/32": bit v % 32 of word v // 32, the lowest first, allows token v.
    Several rows of logits may share a mask. Where `rows` has -1 there is none, and the logits stay as they are.

    Example:
        >>> logits = np.array([[3, 1, 2], [3, 1, 2]], np.float32)
        >>> tk.mask_logits(logits, np.array([[0b110]], np.int32), np.array([0, -1], np.int32)).tolist()
        [[-inf, 1.0, 2.0], [3.0, 1.0, 2.0]]
    """
    y = arrays.output_for(out, logits, logits.shape)
    sizes = {"R": logits.shape[0], "S": masks.shape[0], "V": logits.shape[1]}
    choose(MASK_LOGITS, logits, **sizes)(y, logits, masks, rows)
    return y


def _masked(rng: Any, arguments: dict[str, Any]) -> None:
    """A mask for each row."""
    arguments["masks"][...] = rng.integers(-(2**31), 2**31, arguments["masks"].shape)
    arguments["rows"][...] = rng.integers(0, arguments["masks"].shape[0], arguments["rows"].shape)


MASK_LOGITS: Final = row_tiles("mask_logits", mask_logits_kernel, inputs=_masked)
TUNABLES: Final = (MASK_LOGITS,)
