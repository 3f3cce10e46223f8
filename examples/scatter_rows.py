"""Rows put where a tensor says: no place is named twice, so no two programs write one row."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, InOut, T, Unique


@tp.kernel
def scatter_rows(
    y: InOut[T, "V D"], x: In[T, "N D"], rows: In[Unique["V"], "N"], *, BN: int = 16, BD: int = 256
) -> None:
    """y[rows[n]] = x[n], where a row of -1 goes nowhere; the other rows of y keep their values."""
    for n, d in tp.parallel(N=BN, D=BD):
        y[rows[n], d] = x[n, d]


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, V: int = 17, N: int = 11, D: int = 21
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, about a quarter of the rows without a place, and tile sizes for several programs."""
    rng = np.random.default_rng(seed)
    y, x = (rng.uniform(-8, 8, (count, D)).astype(dtype) for count in (V, N))
    rows = np.full(N, -1, np.int32)
    placed = rng.permutation(N)[: min(V, N - N // 4)]
    rows[placed] = rng.permutation(V)[: len(placed)]
    return [y, x, rows], {"BN": 4, "BD": 8}


def reference(y: Any, x: Any, rows: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    expected = y.copy()
    expected[rows[rows >= 0]] = x[rows >= 0]
    return (expected,)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    scatter_rows(*args, **constants)
    np.testing.assert_array_equal(args[0], expected)
    print(f"scatter_rows: {args[0].shape} agrees with numpy, rows {args[2].tolist()}")
