"""Calls of penalized and count_tokens, with what float64 and integers say they give."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from support.library import Case, Made, random
from tileproof.kernels.sampling import count_tokens, penalized

# References.


def penalized_reference(
    logits: Any, prompt: Any, counts: Any, bias: Any, repetition: Any, presence: Any, frequency: Any, slots: Any = None,
    out: Any = None,
) -> Any:  # fmt: skip
    """Row by row, and only where a row has a slot."""
    x = logits.astype(np.float64)
    for r in range(len(x)):
        at = r if slots is None else slots[r]
        if at < 0:
            continue
        times, row = counts[at].astype(np.float64), x[r].copy()
        is_met = (prompt[at] != 0) | (times > 0)
        by = float(repetition[r])
        row[is_met] = np.where(row > 0, row / by, row * by)[is_met]
        row -= times * float(frequency[r])
        row[times > 0] -= float(presence[r])
        x[r] = row + bias[at].astype(np.float64)
    return x


def count_tokens_reference(counts: Any, tokens: Any, slots: Any = None) -> Any:
    found = counts.copy()
    for r, token in enumerate(tokens):
        at = r if slots is None else slots[r]
        if at >= 0 and token >= 0:
            found[at, token] += 1
    return found


# Cases.


def cases() -> list[Case]:
    """Over shapes, layouts, element types, and with rows of tables found by slots or not."""
    found = []
    for shape in ((5, 300), (1, 1), (0, 7), (3, 0), (2, 9001)):
        made = partial(_penalised, shape, "f32", "dense", None)
        on_gpu = shape == (2, 9001)
        found.append(Case(f"penalized {shape[0]}x{shape[1]}", penalized, made, penalized_reference, on_gpu=on_gpu))
    for dtype, layout in (("bf16", "dense"), ("f16", "sliced"), ("f64", "dense"), ("f32", "transposed")):
        made = partial(_penalised, (5, 300), dtype, layout, 4)
        on_gpu = dtype in ("bf16", "f32")
        found.append(Case(f"penalized slots {dtype} {layout}", penalized, made, penalized_reference, on_gpu=on_gpu))
    for number, (rows, slots) in enumerate(((5, None), (0, None), (5, 9), (70, 100))):
        made = partial(_counted, rows, 40, slots)
        name = f"count_tokens {rows} in {slots}"
        found.append(Case(name, count_tokens, made, count_tokens_reference, on_gpu=number in (0, 2)))
    return found


def _penalised(shape: tuple[int, int], dtype: str, layout: str, slots: int | None) -> Made:
    """A table has what no row needs too; one row has no slot, and two share one."""
    rng = np.random.default_rng(shape[1])
    x = random(rng, shape, dtype, layout)
    rows, columns = shape if slots is None else (slots, shape[1])
    prompt = rng.random((rows, columns)) < 0.3
    counts = np.where(rng.random((rows, columns)) < 0.2, rng.integers(1, 5, (rows, columns)), 0).astype(np.int32)
    bias = np.where(rng.random((rows, columns)) < 0.1, rng.normal(size=(rows, columns)) * 3, 0).astype(np.float32)
    bias[rng.random((rows, columns)) < 0.05] = -np.inf
    settings = (np.linspace(*ends, shape[0], dtype=np.float32) for ends in ((1, 1.5), (0, 0.7), (0.4, -0.2)))
    given = [x, prompt.view(np.uint8) if slots else prompt, counts, bias, *settings]
    if slots is not None:
        given.append(np.array([2, -1, 0, 2, slots - 1], np.int32))
    return given, {}


def _counted(rows: int, columns: int, slots: int | None) -> Made:
    rng = np.random.default_rng(rows)
    counts = rng.integers(0, 3, (rows if slots is None else slots, columns)).astype(np.int32)
    tokens = rng.integers(-1, columns, rows).astype(np.int32)
    if slots is None:
        return [counts, tokens], {}
    at = rng.permutation(slots)[:rows].astype(np.int64)
    at[1] = -1
    return [counts, tokens, at], {}
