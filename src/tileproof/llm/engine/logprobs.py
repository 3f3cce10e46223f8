"""Logprobs of tokens that were chosen, computed where the logits are."""

from __future__ import annotations

from typing import Any

import numpy as np

import tileproof as tp
import tileproof.kernels as tk

from ..sampling import TokenLogprob


def logprob_of(logits: Any, row: int, token: int, count: int, tokens: int, device: str) -> TokenLogprob:
    """The logprob of a token, and those of the `count` likeliest, by the logits of one row as the model made them."""
    mine = logits[row : row + 1, :tokens]
    top: tuple[tuple[int, float], ...] = ()
    if count:
        values, ids = tk.top_logprobs(mine, count)
        top = tuple(zip(ids.numpy()[0].tolist(), values.numpy()[0].tolist(), strict=True))
    own = dict(top).get(token)  # two kernels may differ in the last digit, and a token has one logprob
    if own is None:
        chosen = tp.asarray(np.array([token], np.int32), device)
        own = float(tk.token_logprobs(mine, chosen).numpy()[0])
    return TokenLogprob(token, own, top)
