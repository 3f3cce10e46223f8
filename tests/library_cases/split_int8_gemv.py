"""Calls of products of 8-bit weights and a vector in parts, with what float64 says they give for the whole vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from library_cases.gemv import normed
from library_cases.int8_gemv import weights_of
from support.library import DTYPES, Case, Made, random, wide_of
from tileproof.kernels.int8_gemv import (
    add_norm_int8_parts,
    int8_parts,
    norm_int8_parts,
    parts_matvec,
    parts_matvec_add,
    parts_matvec_pieces,
    parts_matvec_silu,
    parts_silu_parts,
)

TOLERANCE = 5e-4
"""Of results in f32: what is lost of the vector, and some sums."""


def together(parts: Any) -> Any:
    """The vector that was taken apart, in float64."""
    q, grain = wide_of(*parts)
    columns = q.reshape(8, 2, -1, 8, 64).sum(axis=0).reshape(2, -1, 64)
    return (columns * grain.T[:, :, None]).sum(axis=0).reshape(-1)


def product(w: Any, scale: Any, x: Any) -> Any:
    return weights_of(w, scale) @ wide_of(x)[0]


def gated(w: Any, scale: Any, x: Any) -> Any:
    gate, up = np.split(product(w, scale, x), 2)
    return gate / (1 + np.exp(-gate)) * up


def _total(x: Any, pieces: Any) -> Any:
    return (x.astype(np.float32) + pieces.sum(axis=0)).astype(x.dtype)


def _and_total(w: Any, scale: Any, made: Any) -> Any:
    q, grain, total = made
    return parts_matvec(w, scale, (q, grain)), total


def _halves(array: Any) -> Any:
    """The columns of the first blocks, and of the rest."""
    block = 512 if array.shape[-1] >= 512 else 8
    return np.split(array, [-(-array.shape[-1] // block // 2) * block], axis=-1)


CALLS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "parts_matvec": (lambda w, scale, x: parts_matvec(w, scale, int8_parts(x)), product),
    "parts_matvec_add": (
        lambda w, scale, x, residual: parts_matvec_add(w, scale, int8_parts(x), residual),
        lambda w, scale, x, residual: wide_of(residual)[0] + product(w, scale, x),
    ),
    "parts_matvec_silu": (lambda w, scale, x: parts_matvec_silu(w, scale, int8_parts(x)), gated),
    "norm_int8_parts": (
        lambda w, scale, x, g: parts_matvec(w, scale, norm_int8_parts(x, g, 1e-5)),
        lambda w, scale, x, g: weights_of(w, scale) @ normed(x, g, 1e-5),
    ),
    "add_norm_int8_parts": (
        lambda w, scale, x, g, pieces: _and_total(w, scale, add_norm_int8_parts(x, pieces, g, 1e-5)),
        lambda w, scale, x, g, pieces: (
            weights_of(w, scale) @ normed(_total(x, pieces), g, 1e-5), _total(x, pieces).astype(np.float64),
        ),
    ),
    "parts_matvec_pieces": (
        lambda w, scale, x: parts_matvec_pieces(w, scale, int8_parts(x), 2),
        lambda w, scale, x: np.stack([product(*each) for each in zip(*map(_halves, (w, scale, x)), strict=True)]),
    ),
    "parts_silu_parts": (
        lambda w, scale, x, down, scales: parts_matvec(down, scales, parts_silu_parts(w, scale, int8_parts(x))),
        lambda w, scale, x, down, scales: weights_of(down, scales) @ gated(w, scale, x),
    ),
}


def arguments(name: str, n: int, k: int, dtype: str = "bf16", seed: int = 0) -> list[Any]:
    """8-bit weights and scales of the size of a real layer, a vector of normal numbers, and the rest."""
    rng = np.random.default_rng(seed)

    def weights(rows: int, columns: int) -> tuple[Any, Any]:
        w = rng.integers(-128, 128, (rows, columns)).astype(np.int8)
        return w, (rng.random((rows, columns // 64)) * 2e-3).astype(np.float32)

    rows = 2 * n if "silu" in name else n
    given = [*weights(rows, k), (rng.standard_normal(k) * np.exp(rng.standard_normal(k))).astype(DTYPES[dtype])]
    if name == "parts_matvec_add":
        given.append(random(rng, (rows,), "f32"))
    elif "norm" in name:
        given.append((1 + 0.3 * rng.standard_normal(k)).astype(np.float32))
        given += [rng.standard_normal((3, k)).astype(np.float32)] if name == "add_norm_int8_parts" else []
    elif name == "parts_silu_parts":
        given += weights(70, n)
    return given


def cases() -> list[Case]:
    made: list[Case] = []

    def add(name: str, n: int, k: int, dtype: str = "bf16", **more: Any) -> None:
        function, reference = CALLS[name]

        def make() -> Made:
            return arguments(name, n, k, dtype), {}

        made.append(Case(f"{name} {n}x{k} {dtype}", function, make, reference, TOLERANCE, **more))

    for name in CALLS:
        if name == "parts_silu_parts":
            add(name, 512, 1024, on_gpu=True, on_interpreter=False)
            add(name, 1024, 512, "f32", on_interpreter=False)
            continue
        two = 2 if name == "parts_matvec_pieces" else 1
        add(name, 70, 512 * two, on_gpu=True)
        add(name, 192, 2560, "f32", on_interpreter=False)
        add(name, 1, 1536, "f16", on_gpu=True)
        add(name, 0, 512 * two, "f32")
    return made
