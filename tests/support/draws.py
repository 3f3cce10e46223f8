"""How often tokens should be drawn, and whether they were."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def chances(row: Any, temperature: float, top_k: int, top_p: float, min_p: float) -> Any:
    """The probability of each token of a row that has a distribution; tokens that do not stay have none."""
    top = row.max()
    with np.errstate(invalid="ignore", over="ignore"):
        weight = np.where(row == top, 1.0, np.where(np.isneginf(row), 0.0, np.exp((row - top) / temperature)))
    order = np.lexsort((np.arange(len(row)), -row))
    if 0 < top_k < len(row):
        order = order[: int(top_k)]
    if top_p < 1:
        before = np.cumsum(weight[order]) - weight[order]
        stays = before < top_p * weight[order].sum()
        stays[0] = True
        order = order[stays]
    order = order[weight[order] >= min(min_p, 1.0)]
    kept = np.zeros(len(row))
    kept[order] = weight[order]
    return kept / kept.sum()


def assert_as_often(counts: Any, chance: Any) -> None:
    """Draws are of a distribution: none is of a token that has no chance, and chi-square is no wonder."""
    assert counts[chance == 0].sum() == 0
    expected = chance * counts.sum()
    often = expected >= 5
    rest = counts[~often].sum(), expected[~often].sum()
    counts, expected = np.append(counts[often], rest[0]), np.append(expected[often], rest[1])
    assert chance_of_worse(counts[expected > 0], expected[expected > 0]) > 1e-4


def chance_of_worse(counts: Any, expected: Any) -> float:
    """How likely a chi-square at least as large is, by the cube root of Wilson and Hilferty."""
    freedom = len(counts) - 1
    ratio = float(((counts - expected) ** 2 / expected).sum()) / freedom
    spread = 2 / (9 * freedom)
    return 0.5 * math.erfc((ratio ** (1 / 3) - (1 - spread)) / math.sqrt(2 * spread))
