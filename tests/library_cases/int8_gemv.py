"""Calls of layers of 8-bit weights for one vector, with what float64 says they give.

The vectors hold what 8-bit integers hold: nothing is lost where they are rounded, and where they are not, results are
the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from library_cases.gemv import normed
from support.library import DTYPES, Case, Made, random, wide_of
from tileproof.kernels.int8_gemv import int8_matvec_add, norm_int8_matvec, norm_int8_matvec_silu

# References.


def weights_of(w: Any, scale: Any) -> Any:
    """Weights as they are."""
    w, scale = wide_of(w, scale)
    return w * np.repeat(scale, w.shape[1] // scale.shape[1], axis=1)


def norm_reference(w: Any, scale: Any, x: Any, g: Any, eps: float = 1e-6, out: Any = None) -> Any:
    return weights_of(w, scale) @ normed(x, g, eps)


def silu_reference(w: Any, scale: Any, x: Any, g: Any, eps: float = 1e-6, out: Any = None) -> Any:
    gate, up = np.split(norm_reference(w, scale, x, g, eps), 2)
    return gate / (1 + np.exp(-gate)) * up


def add_reference(w: Any, scale: Any, x: Any, residual: Any, out: Any = None) -> Any:
    return wide_of(residual)[0] + weights_of(w, scale) @ wide_of(x)[0]


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "norm_int8_matvec": (norm_int8_matvec, norm_reference),
    "norm_int8_matvec_silu": (norm_int8_matvec_silu, silu_reference),
    "int8_matvec_add": (int8_matvec_add, add_reference),
}


# Arguments.


def arguments(
    name: str, n: int, k: int, group: int | None = 64, dtype: str = "f32", layout: str = "dense", seed: int = 0
) -> list[Any]:
    """8-bit weights and scales of the size of a real layer, a vector of integers in units of 1/64, and the rest."""
    rng = np.random.default_rng(seed)
    rows, count = 2 * n if name == "norm_int8_matvec_silu" else n, 1 if group is None else k // group
    held = rng.integers(-128, 128, (rows + 3, k + 5)).astype(np.int8)
    w = held[:rows, :k].copy() if layout == "dense" else held[1 : rows + 1, 2 : k + 2]
    scale = (rng.random((rows, count)) * 2e-3).astype(np.float32)
    units = rng.integers(-127, 128, (count, k // count))
    units[:, 0] = 127
    x = (units / 64).reshape(k).astype(DTYPES[dtype])
    if name == "int8_matvec_add":
        return [w, scale, x, random(rng, (rows,), dtype)]
    g = np.repeat(2.0 ** rng.integers(-2, 3, count), k // count).astype(np.float32)
    return [w, scale, x, g]


# Cases.


def cases() -> list[Case]:
    made: list[Case] = []

    def add(name: str, n: int, k: int, group: int | None = 64, dtype: str = "f32", layout: str = "dense",
            **more: Any) -> None:  # fmt: skip
        function, reference = FUNCTIONS[name]

        def make() -> Made:
            return arguments(name, n, k, group, dtype, layout), {}

        made.append(Case(f"{name} {n}x{k} {group} {dtype} {layout}", function, make, reference, **more))

    for name in FUNCTIONS:
        add(name, 37, 192, dtype="bf16", on_gpu=True)
        add(name, 70, 576, on_interpreter=False)
        add(name, 300, 1088, dtype="bf16", on_interpreter=False)
        add(name, 5, 128, 16, layout="sliced")
        add(name, 33, 96, 32)
        add(name, 3, 48, None)
        add(name, 3, 512, 256, on_interpreter=False)
        add(name, 1, 64, dtype="f16", on_gpu=True)
        add(name, 9, 20, None, dtype="f64", tolerance=2e-5)
        add(name, 0, 64)
    return made
