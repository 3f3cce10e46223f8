"""What a step that makes one token of each text leaves for the next one, so that the next needs no word of the host."""

from __future__ import annotations

from typing import Any

import tileproof as tp
from tileproof import In, InOut, Out, i32, i64


@tp.kernel(deny_checks=True)
def advance_kernel(
    tokens: InOut[i32, "R"], positions: InOut[i32, "R"], used: InOut[i32, "R"], slots: InOut[i32, "R"],
    draws: InOut[i64, "R"], said: Out[i32, "R"], chosen: In[i32, "R"], table: In[i32, "R L"], *, S: int = 64,
) -> None:  # fmt: skip
    """The next token of each text, and where its key and value go; a text without a slot stays as it is."""
    for r in tp.parallel(R=tp.each):
        said[r] = chosen[r]
        is_live = slots[r] >= 0
        at = positions[r] + 1
        page = table.get((r, at // S), -1)
        goes_on = is_live & (page >= 0)
        tokens[r] = tp.where(goes_on, tp.maximum(chosen[r], 0), tokens[r])
        positions[r] = tp.where(goes_on, at, positions[r])
        used[r] = tp.where(goes_on, at + 1, used[r])
        draws[r] = tp.where(goes_on, draws[r] + 1, draws[r])
        slots[r] = tp.where(goes_on, page * S + at % S, -1)


def advance(
    tokens: Any, positions: Any, used: Any, slots: Any, draws: Any, chosen: Any, table: Any, *, page: int, out: Any
) -> Any:
    """Moves R texts on by the tokens that were `chosen`, in place, and gives these in `out`.

    Each gets its token (0 for one below), the next position, one more place in use, the next draw (i64), and the slot
    of that position: of page table[r, position // page], where `page` are the places of one. A text whose slot is
    below 0, or whose next page is not in the table, keeps all else, and has the slot -1 from then on. All but draws are
    i32.

    Example:
        >>> tokens, positions, used, slots = (np.array([each], np.int32) for each in (5, 63, 64, 63))
        >>> table, draws, said = np.array([[0, 3]], np.int32), np.zeros(1, np.int64), np.zeros(1, np.int32)
        >>> tk.advance(tokens, positions, used, slots, draws, said + 9, table, page=64, out=said).tolist()
        [9]
        >>> tokens.tolist(), positions.tolist(), slots.tolist()
        ([9], [64], [192])
    """
    advance_kernel(tokens, positions, used, slots, draws, out, chosen, table, S=page)
    return out
