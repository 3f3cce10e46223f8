"""Runs of the kernel of `with_body` against a reference that says what each program writes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from kernel_files import codes, kernel

import tileproof as tp
from tileproof.runtime.launch.backend_choice import ON_HOST

M, N, D, BM, BN = 5, 7, 4, 2, 3
Tile = Any


def arguments() -> list[Any]:
    """y, x, v, w, d, n of `with_body`: whole numbers and halves, so that sums are exact."""
    rng = np.random.default_rng(7)

    def numbers(*shape: int) -> Any:
        return (rng.integers(-9, 10, shape) / 2).astype(np.float32)

    shapes = [(M, N), (M, N), (M,), (N,), (M, D)]
    return [*(numbers(*shape) for shape in shapes), rng.integers(-3, 6, M).astype(np.int32)]


def check(text: str, wanted: Callable[..., Tile]) -> None:
    """Interprets a kernel in several orders, and launches it on every backend.

    `wanted` says for each program what it writes, from the tiles it reads.
    """
    y, x, v, w, d, n = arguments()
    expected = y.copy()
    for i, j in itertools.product(range(0, M, BM), range(0, N, BN)):
        rows, columns = slice(i, i + BM), slice(j, j + BN)
        expected[rows, columns] = wanted(x[rows, columns], v[rows], w[columns], d[rows], n[rows])
    assert codes(text) == []
    compiled = kernel(text)
    for order in ("forward", "reverse", 3):
        found = y.copy()
        tp.interpret(compiled, found, x, v, w, d, n, BM=BM, BN=BN, order=order)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    for backend in ON_HOST:
        found = y.copy()
        with tp.backend(backend):
            compiled(found, x, v, w, d, n, BM=BM, BN=BN)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
