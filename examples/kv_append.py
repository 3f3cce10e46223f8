"""Appending to a cache at a position read from memory: no program can write another's entry."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, InOut, T, i32


@tp.kernel
def kv_append(cache: InOut[T, "G C D"], new: In[T, "G N D"], pos: In[i32, "1"], *, D: int) -> None:
    """Puts the N new entries of each head into the cache, from `pos` on; the others keep their values."""
    for g, n in tp.parallel(G=tp.each, N=tp.each):
        cache[g, pos[0] + n, :] = new[g, n, :]


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, G: int = 2, C: int = 17, N: int = 3, D: int = 5, pos: int = 9
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and its constants; D is bound from the arguments."""
    rng = np.random.default_rng(seed)
    cache, new = (rng.uniform(-8, 8, (G, length, D)).astype(dtype) for length in (C, N))
    return [cache, new, np.array([pos], np.int32)], {}


def reference(cache: Any, new: Any, pos: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    expected = cache.copy()
    expected[:, pos[0] : pos[0] + new.shape[1]] = new
    return (expected,)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    kv_append(*args, **constants)
    np.testing.assert_array_equal(args[0], expected)
    print(f"kv_append: {args[0].shape} agrees with numpy")
