"""Calls of the functions that multiply a matrix and a vector, with what float64 says they give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from support.library import FLOATS, LAYOUTS, Case, Made, random, wide_of
from tileproof.kernels.gemv import matvec, matvec_add, matvec_silu, norm_matvec, norm_matvec_silu

# References.


def matvec_reference(w: Any, x: Any, out: Any = None) -> Any:
    w, x = wide_of(w, x)
    return w @ x


def add_reference(w: Any, x: Any, residual: Any, out: Any = None) -> Any:
    w, x, residual = wide_of(w, x, residual)
    return residual + w @ x


def normed(x: Any, g: Any, eps: float = 1e-6) -> Any:
    """A vector divided by its root mean square, times g."""
    x, g = wide_of(x, g)
    return x / np.sqrt((x * x).sum() / max(x.size, 1) + eps) * g


def norm_reference(w: Any, x: Any, g: Any, eps: float = 1e-6, out: Any = None) -> Any:
    return wide_of(w)[0] @ normed(x, g, eps)


def silu_reference(w: Any, x: Any, g: Any, eps: float = 1e-6, out: Any = None) -> Any:
    gate, up = np.split(norm_reference(w, x, g, eps), 2)
    return gate / (1 + np.exp(-gate)) * up


def plain_silu_reference(w: Any, x: Any, out: Any = None) -> Any:
    gate, up = np.split(matvec_reference(w, x), 2)
    return gate / (1 + np.exp(-gate)) * up


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "matvec": (matvec, matvec_reference),
    "matvec_add": (matvec_add, add_reference),
    "matvec_silu": (matvec_silu, plain_silu_reference),
    "norm_matvec": (norm_matvec, norm_reference),
    "norm_matvec_silu": (norm_matvec_silu, silu_reference),
}

# Arguments.


def arguments(
    name: str, n: int, k: int, dtype: str = "f32", layout: str = "dense", *, of: str | None = None, seed: int = 0
) -> list[Any]:
    """Weights (of type `of` if given), a vector, and what else the function takes; of the size of a real layer."""
    rng = np.random.default_rng(seed)
    n = 2 * n if name.endswith("silu") else n
    w, x, g = (
        random(rng, (n, k), of or dtype, layout),
        random(rng, (k,), dtype, layout),
        random(rng, (k,), of or dtype),
    )
    match name:
        case "matvec":
            return [w, x]
        case "matvec_add":
            return [w, x, random(rng, (n,), dtype, layout)]
    with np.errstate(all="ignore"):
        small = (w / np.asarray(max(k, 1) ** 0.5, w.dtype)).astype(w.dtype)
    return [small, x] if name == "matvec_silu" else [small, x, g]


_SIZES = ((13, 7), (1, 1), (70, 600), (5, 0), (0, 5), (130, 33))
"""Rows and columns. Six hundred columns take the form with whole rows on a CPU."""


def cases() -> list[Case]:
    """On a CPU: all sizes in f32, every type and layout at one size."""
    made: list[Case] = []

    def add(name: str, n: int, k: int, dtype: str = "f32", layout: str = "dense", **more: Any) -> None:
        of = more.pop("of", None)

        def make() -> Made:
            return arguments(name, n, k, dtype, layout, of=of), {}

        function, reference = FUNCTIONS[name]
        title = f"{name} {n}x{k} {of + ' ' if of else ''}{dtype} {layout}"
        made.append(Case(title, function, make, reference, **more))

    for name in FUNCTIONS:
        for n, k in _SIZES:
            add(name, n, k, on_gpu=(n, k) in ((13, 7), (5, 0), (0, 5)))
        for dtype in FLOATS[1:]:
            add(name, 70, 100, dtype, on_gpu=dtype == "bf16")
        for layout in LAYOUTS[1:]:
            add(name, 40, 50, layout=layout, on_gpu=name == "matvec")
        add(name, 40, 50, of="bf16", on_gpu=name == "norm_matvec")
        add(name, 260, 1300, "bf16", "wide", on_gpu=True, on_interpreter=False)
    add("matvec", 5000, 300, "bf16", on_gpu=True, on_interpreter=False)
    add("norm_matvec_silu", 4100, 512, "bf16", on_gpu=True, on_interpreter=False)
    add("matvec", 40, 50, of="f8e4m3")
    return made
