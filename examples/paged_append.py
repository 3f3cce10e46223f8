"""Appending to a cache in pages: each new token has a slot of its own, or none."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, InOut, T, Unique


@tp.kernel
def paged_append(
    keys: InOut[T, "P G S D"], values: InOut[T, "P G S D"], k: In[T, "N G D"], v: In[T, "N G D"],
    slots: In[Unique["P*S"], "N"], *, S: int, D: int,
) -> None:  # fmt: skip
    """Puts token n into slot slots[n], which is entry slot % S of page slot // S; a slot of -1 skips the token."""
    for n, g in tp.parallel(N=tp.each, G=tp.each):
        slot: Any = slots[n]
        keys[slot // S, g, slot % S, :] = k[n, g, :]
        values[slot // S, g, slot % S, :] = v[n, g, :]


OUTPUTS = (0, 1)


def arguments(
    seed: int = 0, dtype: Any = np.float32, P: int = 4, G: int = 2, S: int = 3, D: int = 5, N: int = 7
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, about a quarter of the tokens without a slot; constants are bound from them."""
    rng = np.random.default_rng(seed)
    keys, values = (rng.uniform(-8, 8, (P, G, S, D)).astype(dtype) for _ in range(2))
    k, v = (rng.uniform(-8, 8, (N, G, D)).astype(dtype) for _ in range(2))
    slots = np.full(N, -1, np.int32)
    filled = rng.permutation(N)[: min(P * S, N - N // 4)]
    slots[filled] = rng.permutation(P * S)[: len(filled)]
    return [keys, values, k, v, slots], {}


def reference(keys: Any, values: Any, k: Any, v: Any, slots: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    page, entry = np.divmod(slots[slots >= 0], max(keys.shape[2], 1))
    expected = keys.copy(), values.copy()
    for cache, new in zip(expected, (k, v), strict=True):
        cache[page, :, entry] = new[slots >= 0]
    return expected


if __name__ == "__main__":
    args, constants = arguments()
    keys, values = reference(*args)
    paged_append(*args, **constants)
    np.testing.assert_array_equal(args[0], keys)
    np.testing.assert_array_equal(args[1], values)
    print(f"paged_append: {args[0].shape} agrees with numpy, slots {args[4].tolist()}")
