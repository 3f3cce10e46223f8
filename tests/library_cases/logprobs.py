"""Calls of token_logprobs and top_logprobs, with what float64 says they give."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from support.library import Case, Made, random
from tileproof.kernels.sampling import token_logprobs, top_logprobs

# References.


def logprobs(logits: Any, vocabulary: int | None) -> Any:
    real = logits[:, :vocabulary].astype(np.float64)
    low = real - real.max(axis=1, keepdims=True, initial=-np.inf)
    return low - np.log(np.exp(low).sum(axis=1, keepdims=True))


def token_logprobs_reference(logits: Any, tokens: Any, vocabulary: int | None = None, out: Any = None) -> Any:
    picked = np.take_along_axis(logprobs(logits, vocabulary), np.maximum(tokens, 0)[:, None].astype(np.int64), axis=1)
    return np.where(tokens < 0, np.nan, picked[:, 0])


def top_logprobs_reference(logits: Any, count: int, vocabulary: int | None = None, out: Any = None) -> Any:
    of_each = logprobs(logits, vocabulary)
    order = np.argsort(-of_each, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(of_each, order, axis=1), order


# Cases.


def cases() -> list[Case]:
    """Over shapes, layouts, element types and vocabularies."""
    found = []
    for shape in ((5, 300), (1, 1), (0, 7), (2, 9001), (1, 70000)):
        made = partial(_token, shape, "f32", "dense", None)
        on_gpu = shape in ((2, 9001), (5, 300))
        name = f"token {shape[0]}x{shape[1]}"
        found.append(Case(name, token_logprobs, made, token_logprobs_reference, on_gpu=on_gpu))
    for dtype, layout in (("bf16", "dense"), ("f64", "sliced"), ("f32", "transposed")):
        made = partial(_token, (5, 300), dtype, layout, 290)
        name = f"token below 290 {dtype} {layout}"
        found.append(Case(name, token_logprobs, made, token_logprobs_reference, on_gpu=dtype == "bf16"))
    for count, dtype, columns in ((5, "f32", 300), (0, "f32", 9), (20, "bf16", 300), (9, "f32", 9), (3, "f32", 9001)):
        made = partial(_top, (3, columns), dtype, count)
        name = f"top {count} of {columns} {dtype}"
        found.append(Case(name, top_logprobs, made, top_logprobs_reference, on_gpu=count in (5, 20)))
    return found


def _logits(shape: tuple[int, int], dtype: str, layout: str, vocabulary: int | None) -> Any:
    """Far from 0 either way, so that nothing but a stable sum is right; some equal; NaN where there are no tokens."""
    x = random(np.random.default_rng(shape[1]), shape, dtype, layout)
    np.rint(x * 8, out=x)
    x += np.asarray(200 if shape[0] < 5 else -200, x.dtype)
    if vocabulary is not None:
        x[:, vocabulary:] = np.nan
    return x


def _token(shape: tuple[int, int], dtype: str, layout: str, vocabulary: int | None) -> Made:
    tokens = np.random.default_rng(1).integers(-1, vocabulary or shape[1], shape[0]).astype(np.int32)
    return [_logits(shape, dtype, layout, vocabulary), tokens], {"vocabulary": vocabulary}


def _top(shape: tuple[int, int], dtype: str, count: int) -> Made:
    vocabulary = shape[1] - (dtype == "bf16")
    return [_logits(shape, dtype, "dense", vocabulary), count], {"vocabulary": vocabulary}
