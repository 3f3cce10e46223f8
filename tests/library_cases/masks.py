"""Calls of mask_logits, with what a loop over the bits gives."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from support.library import Case, Made, random
from tileproof.kernels.sampling import mask_logits


def mask_logits_reference(logits: Any, masks: Any, rows: Any, out: Any = None) -> Any:
    found = logits.astype(np.float64)
    for r, row in enumerate(rows):
        for v in range(found.shape[1]):
            if row >= 0 and not int(masks[row, v // 32]) >> (v % 32) & 1:
                found[r, v] = -np.inf
    return found


def cases() -> list[Case]:
    """Vocabularies of any length, in all layouts and element types; rows without a mask, and rows that share one."""
    shapes = ((5, 300), (1, 1), (0, 7), (3, 0), (4, 64), (3, 33))
    every = [(shape, "f32", "dense") for shape in shapes]
    every += [((4, 2100), "bf16", "dense"), ((4, 95), "f16", "sliced"), ((5, 95), "f64", "transposed")]
    return [
        Case(
            f"mask_logits {dtype} {shape[0]}x{shape[1]} {layout}", mask_logits, partial(_masked, shape, dtype, layout),
            mask_logits_reference, 0, on_gpu=(shape, dtype) in (((5, 300), "f32"), ((4, 2100), "bf16")),
        )
        for shape, dtype, layout in every
    ]  # fmt: skip


def _masked(shape: tuple[int, int], dtype: str, layout: str) -> Made:
    rng = np.random.default_rng(shape[1])
    masks = rng.integers(-(2**31), 2**31, (3, -(-shape[1] // 32))).astype(np.int32)
    rows = np.array([2, -1, 0, 2, 1], np.int32)[: shape[0]]
    return [random(rng, shape, dtype, layout), masks, rows], {}
