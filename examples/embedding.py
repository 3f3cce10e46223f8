"""Rows of a table by number: the numbers are positions in V, which the launch makes sure of."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Index, Out, T


@tp.kernel
def embedding(y: Out[T, "N D"], table: In[T, "V D"], ids: In[Index["V"], "N"], *, BD: int = 512) -> None:
    """y[n] = table[ids[n]]."""
    for n, d in tp.parallel(N=tp.each, D=BD):
        y[n, d] = table[ids[n], d]


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, N: int = 9, V: int = 6, D: int = 21
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and a tile size that cuts rows into several tiles."""
    rng = np.random.default_rng(seed)
    table = rng.uniform(-8, 8, (V, D)).astype(dtype)
    ids = rng.integers(0, max(V, 1), N, dtype=np.int32)
    return [np.empty((N, D), dtype), table, ids], {"BD": 8}


def reference(y: Any, table: Any, ids: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    return (table[ids],)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    embedding(*args, **constants)
    np.testing.assert_array_equal(args[0], expected)
    print(f"embedding: {args[0].shape} agrees with numpy")
