"""Penalties, biases and bans on logits by the tokens of a sequence so far, and the counts of these tokens.

The state of a sequence (which tokens its prompt has, how often each was generated, its biases) is in rows of tables
that stay where they are: `slots` maps rows of logits to rows of the tables.
"""

from __future__ import annotations

from typing import Any, Final

import tileproof as tp
from tileproof import In, Index, InOut, Out, T, U, Unique, f32, i32

from . import arrays
from .arrays import choose
from .heuristics import row_tiles
from .numerics import wide

# Logits.


def penalize(logit: Any, known: Any, settings: Any) -> Any:
    """Logits by what is known of their tokens: first by repetition, then for each use and for any, then by the bias."""
    (is_prompt, count, favour), (repetition, presence, frequency) = known, settings
    x, is_used = wide(logit), count > 0
    repeated = tp.where(x > 0, x / repetition.to(x.dtype), x * repetition.to(x.dtype))
    x = tp.where(is_prompt | is_used, repeated, x)
    x -= count.to(x.dtype) * frequency.to(x.dtype)
    x -= tp.where(is_used, presence.to(x.dtype), 0)
    return x + favour.to(x.dtype)


@tp.kernel(deny_checks=True)
def penalized_kernel(
    y: Out[T, "R V"], logits: In[T, "R V"], prompt: In[U, "R V"], counts: In[i32, "R V"], bias: In[f32, "R V"],
    repetition: In[f32, "R"], presence: In[f32, "R"], frequency: In[f32, "R"], *, BV: int = 2048,
) -> None:  # fmt: skip
    """Each logit as `penalize` says, with a row of the tables for each row of logits."""
    for r, v in tp.parallel(R=tp.each, V=BV):
        known = prompt[r, v].to(bool), counts[r, v], bias[r, v]
        y[r, v] = penalize(logits[r, v], known, (repetition[r], presence[r], frequency[r]))


@tp.kernel(deny_checks=True)
def penalized_slots_kernel(
    y: Out[T, "R V"], logits: In[T, "R V"], prompt: In[U, "S V"], counts: In[i32, "S V"], bias: In[f32, "S V"],
    repetition: In[f32, "R"], presence: In[f32, "R"], frequency: In[f32, "R"], slots: In[Index["S"], "R"], *,
    BV: int = 2048,
) -> None:  # fmt: skip
    """The same with row slots[r] of the tables; without one logits stay as they are."""
    for r, v in tp.parallel(R=tp.each, V=BV):
        at = slots[r], v
        known = prompt.get(at, False if prompt.dtype == bool else 0).to(bool), counts.get(at, 0), bias.get(at, 0)
        y[r, v] = penalize(logits[r, v], known, (repetition[r], presence[r], frequency[r]))


def penalized(
    logits: Any, prompt: Any, counts: Any, bias: Any, repetition: Any, presence: Any, frequency: Any, slots: Any = None,
    out: Any = None,
) -> Any:  # fmt: skip
    """Logits, "R V", changed by the tokens of each sequence. Settings are f32, with an element for each row.

    In this order:

    1. Tokens of the prompt (`prompt`, bool or u8) and of the output (`counts`, i32): a logit above 0 is divided by
       `repetition`, any other is multiplied by it.
    2. `frequency` times the count is taken away, and `presence` where there is one.
    3. `bias` (f32) is added; -inf bans a token.

    These three are tables, "R V", or with `slots` "S V": row slots[r] is that of logits[r], and several rows may share
    one. At -1 there is none, and the logits stay as they are.

    Example:
        >>> logits, one = np.array([[4, -4, 4]], np.float32), np.ones(1, np.float32)
        >>> counts = np.array([[0, 0, 2]], np.int32)
        >>> tk.penalized(logits, logits < 0, counts, 0 * logits, 2 * one, one / 2, one / 4).tolist()
        [[4.0, -8.0, 1.0]]
    """
    y = arrays.output_for(out, logits, logits.shape)
    arguments = y, logits, prompt, counts, bias, repetition, presence, frequency
    if slots is None:
        choose(PENALIZED, logits, R=logits.shape[0], V=logits.shape[1])(*arguments)
    else:
        sizes = {"R": logits.shape[0], "S": counts.shape[0], "V": logits.shape[1]}
        choose(PENALIZED_SLOTS, logits, **sizes)(*arguments, slots)
    return y


# Counts.


@tp.kernel(deny_checks=True)
def count_tokens_kernel(counts: InOut[i32, "R V"], tokens: In[Index["V"], "R"]) -> None:
    """One more of the token of each row; of none, nothing."""
    for r in tp.parallel(R=tp.each):
        counts[r, tokens[r]] = counts.get((r, tokens[r]), 0) + 1


@tp.kernel(deny_checks=True)
def count_tokens_slots_kernel(
    counts: InOut[i32, "S V"], tokens: In[Index["V"], "R"], slots: In[Unique["S"], "R"]
) -> None:
    """The same in row slots[r]."""
    for r in tp.parallel(R=tp.each):
        counts[slots[r], tokens[r]] = counts.get((slots[r], tokens[r]), 0) + 1


def count_tokens(counts: Any, tokens: Any, slots: Any = None) -> Any:
    """Adds 1 to counts[r, tokens[r]], or with `slots` to counts[slots[r], tokens[r]], in place. Gives `counts` (i32).

    A token or a slot of -1 counts nothing. No slot may be named twice, which the launch makes sure of.

    Example:
        >>> tk.count_tokens(np.zeros((2, 3), np.int32), np.array([2, -1], np.int32)).tolist()
        [[0, 0, 1], [0, 0, 0]]
    """
    if slots is None:
        count_tokens_kernel(counts, tokens)
    else:
        count_tokens_slots_kernel(counts, tokens, slots)
    return counts


# Choices.


def _known(rng: Any, arguments: dict[str, Any]) -> None:
    """Sequences of which every slot is in use."""
    arguments["repetition"][...] = 1.1
    if "slots" in arguments:
        slots = arguments["slots"]
        slots[...] = rng.integers(0, arguments["counts"].shape[0], slots.shape)


PENALIZED: Final = row_tiles("penalized", penalized_kernel, inputs=_known, types={"U": "u8"})
PENALIZED_SLOTS: Final = row_tiles(
    "penalized_slots", penalized_slots_kernel, inputs=_known, types={"U": "u8"}
)
TUNABLES: Final = (PENALIZED, PENALIZED_SLOTS)
