"""Dropout: the numbers come from a seed and a position alone, so any order of programs drops the same elements."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, f32, i64


@tp.kernel
def dropout(y: Out[T, "N"], x: In[T, "N"], p: f32, seed: i64, offset: i64, *, BN: int = 1024) -> None:
    """Each element becomes 0 with probability p, and is divided by 1 - p otherwise."""
    for n in tp.parallel(N=BN):
        keep = tp.random(seed, offset + n.elements) >= p
        y[n] = tp.where(keep, x[n].to(f32) / (1 - p), 0)


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, N: int = 100, percent: int = 30, key: int = -5, offset: int = 1 << 32
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and a tile size that makes several programs."""
    x = np.random.default_rng(seed).uniform(-8, 8, N).astype(dtype)
    return [np.empty(N, dtype), x, percent / 100, key, offset], {"BN": 16}


def uniform(seed: int, position: int) -> float:
    """A number in [0, 1): 24 bits of what Philox 4x32-10 makes of a counter and a key of 64 bits each."""
    low = (1 << 32) - 1
    a, b, c, d = position & low, position >> 32 & low, 0, 0
    first, second = seed & low, seed >> 32 & low
    for _ in range(10):
        one, two = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = two >> 32 ^ b ^ first, two & low, one >> 32 ^ d ^ second, one & low
        first, second = first + 0x9E3779B9 & low, second + 0xBB67AE85 & low
    return (a >> 8) / 2**24


def reference(y: Any, x: Any, p: float, seed: int, offset: int) -> tuple[Any, ...]:
    """What the outputs should hold."""
    keep = np.array([uniform(seed, offset + n) >= np.float32(p) for n in range(len(x))], bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (np.where(keep, x.astype(np.float64) / (1 - p), 0).astype(y.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    dropout(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5)
    print(f"dropout: {args[0].shape} agrees with numpy, {(args[0] == 0).sum()} dropped")
