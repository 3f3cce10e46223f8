"""Counting into buckets: many programs add to one `Sum`, nothing is lost, and -1 counts nowhere."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Index, Sum, i32


@tp.kernel
def histogram(count: Sum[i32, "B"], x: In[Index["B"], "N"], *, BN: int = 1024) -> None:
    """How often each bucket occurs in x; an entry of -1 is none and is skipped."""
    for n in tp.parallel(N=BN):
        count[x[n]] += 1


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.int32, N: int = 100, B: int = 7
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, where `dtype` is that of x, and a tile size that makes several programs."""
    rng = np.random.default_rng(seed)
    return [np.zeros(B, np.int32), rng.integers(-1, B, N, dtype=dtype)], {"BN": 16}


def reference(count: Any, x: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    return (np.bincount(x[x >= 0], minlength=len(count)).astype(count.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    histogram(*args, **constants)
    np.testing.assert_array_equal(args[0], expected)
    print(f"histogram: {args[1].shape} agrees with numpy, counts {args[0].tolist()}")
