"""Calls of greedy and sample, with the tokens that float64 says they give."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from support.draws import chances
from support.library import LAYOUTS, Case, Made, random
from tileproof.kernels.sampling import greedy, sample

Settings = dict[str, Any]

# References.


def uniform(seed: int, position: int) -> float:
    """A number in [0, 1): 24 bits of what Philox 4x32-10 makes of a counter and a key of 64 bits each."""
    low = (1 << 32) - 1
    a, b, c, d = position & low, position >> 32 & low, 0, 0
    first, second = seed & low, seed >> 32 & low
    for _ in range(10):
        one, two = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = two >> 32 ^ b ^ first, two & low, one >> 32 ^ d ^ second, one & low
        first, second = first + 0x9E3779B9 & low, second + 0xBB67AE85 & low
    return (a >> 8) / 2**24


def greedy_reference(logits: Any, vocabulary: int | None = None, out: Any = None) -> Any:
    real = logits.astype(np.float64)[:, :vocabulary]
    if not real.shape[1]:
        return np.full(len(real), -1)
    has_none = np.isnan(real).any(axis=1) | (real.max(axis=1) == -np.inf)
    return np.where(has_none, -1, real.argmax(axis=1))


def sample_reference(
    logits: Any, seed: Any, step: Any, temperature: Any, top_k: Any, top_p: Any, min_p: Any,
    vocabulary: int | None = None, out: Any = None,
) -> Any:  # fmt: skip
    tokens = greedy_reference(logits, vocabulary)
    for r in np.flatnonzero((tokens >= 0) & (temperature > 0)):
        row = logits[r].astype(np.float64)[:vocabulary]
        chance = chances(row, float(temperature[r]), int(top_k[r]), float(top_p[r]), float(min_p[r]))
        crossed = np.cumsum(chance) > uniform(int(seed[r]), int(step[r]) % 2**60)
        tokens[r] = np.flatnonzero(crossed & (chance > 0))[0]
    return tokens


# Cases.


def settings_of(rows: int, **given: Any) -> tuple[Any, ...]:
    """Settings for each row, in the order of `sample`: what is not given lets every token stay."""
    kinds = {"seed": np.int64, "step": np.int64, "temperature": np.float32, "top_k": np.int32, "top_p": np.float32}
    plain: Settings = {"seed": np.arange(rows), "step": 3, "temperature": 1, "top_k": 0, "top_p": 1, "min_p": 0}
    return tuple(
        np.array(np.broadcast_to(np.asarray(value, kinds.get(name, np.float32)), rows))
        for name, value in (plain | given).items()
    )


MIXED: Settings = {
    "temperature": [1, 0, 0.7, 1.5, 1, 0.3, 1], "top_k": [0, 5, 4, 0, 20, 1, -1],
    "top_p": [1, 0.5, 1, 0.83, 0.61, 1, 0], "min_p": [0, 0, 0.05, 0, 0.02, 0.5, 0],
}  # fmt: skip
"""Rows of one batch with settings of their own."""


def cases() -> list[Case]:
    """Over shapes, layouts, element types, vocabularies and settings."""
    found = []
    for shape in ((7, 50), (1, 1), (0, 7), (3, 0), (2, 9001), (4, 3000)):
        made = partial(_logits, shape, "f32", "dense")
        on_gpu = shape in ((7, 50), (2, 9001))
        found.append(Case(f"greedy {shape[0]}x{shape[1]}", greedy, made, greedy_reference, on_gpu=on_gpu))
    for layout in LAYOUTS[1:]:
        made = partial(_logits, (7, 200), "f32", layout)
        found.append(Case(f"greedy {layout}", greedy, made, greedy_reference, on_gpu=layout == "wide"))
    for dtype in ("bf16", "f16", "f64"):
        made = partial(_logits, (7, 200), dtype, "dense", 180)
        found.append(Case(f"greedy below 180 {dtype}", greedy, made, greedy_reference, on_gpu=dtype == "bf16"))
    for dtype, layout in (("f32", "dense"), ("bf16", "dense"), ("f32", "transposed"), ("f32", "wide")):
        made = partial(_draws, (7, 50), dtype, layout, None, MIXED)
        on_gpu = layout == "dense"
        found.append(Case(f"sample mixed {dtype} {layout}", sample, made, sample_reference, on_gpu=on_gpu))
    for shape in ((1, 1), (0, 7), (3, 0), (3, 3000)):
        made = partial(_draws, shape, "f32", "dense", None, {"top_k": 40, "top_p": 0.9})
        found.append(Case(f"sample {shape[0]}x{shape[1]}", sample, made, sample_reference, on_gpu=shape == (3, 3000)))
    made = partial(_draws, (7, 64), "f32", "dense", 50, MIXED)
    found.append(Case("sample below 50", sample, made, sample_reference, on_gpu=True))
    return found


def _logits(shape: tuple[int, int], dtype: str, layout: str, vocabulary: int | None = None) -> Made:
    """Logits with many equal ones, and the greatest of all in the columns that are no tokens."""
    x = random(np.random.default_rng(shape[1]), shape, dtype, layout)
    np.rint(x * 2, out=x)
    if vocabulary is not None:
        x[:, vocabulary:] = 1000
    return [x], {"vocabulary": vocabulary}


def _draws(shape: tuple[int, int], dtype: str, layout: str, vocabulary: int | None, given: Settings) -> Made:
    (x,), named = _logits(shape, dtype, layout, vocabulary)
    return [x, *settings_of(shape[0], **given)], named
