"""Element-wise addition: the smallest kernel."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T


@tp.kernel
def add(c: Out[T, "N"], a: In[T, "N"], b: In[T, "N"], *, BN: int = 1024) -> None:
    """c = a + b."""
    for n in tp.parallel(N=BN):
        c[n] = a[n] + b[n]


OUTPUTS = (0,)


def arguments(seed: int = 0, dtype: Any = np.float32, N: int = 100) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and tile sizes that cut them into several programs."""
    rng = np.random.default_rng(seed)
    a, b = (rng.uniform(-8, 8, N).astype(dtype) for _ in range(2))
    return [np.empty(N, dtype), a, b], {"BN": 16}


def reference(c: Any, a: Any, b: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    return ((a + b).astype(c.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    add(*args, **constants)
    np.testing.assert_array_equal(args[0], expected)
    print(f"add: {args[0].shape} agrees with numpy")
