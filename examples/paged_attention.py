"""Attention of one new token of each sequence to a cache in pages, which a table finds."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Index, Out, T, f32, i32


@tp.kernel
def paged_attention(
    o: Out[T, "B G R D"], q: In[T, "B G R D"], k: In[T, "P G S D"], v: In[T, "P G S D"], pages: In[Index["P"], "B L"],
    used: In[i32, "B"], scale: f32, *, R: int, S: int, D: int, BS: int = 16,
) -> None:  # fmt: skip
    """Sequence b has used[b] entries, S to a page, on the pages pages[b]; the rest of its table is not read."""
    table: Any = pages  # to type checkers `pages` is a string, which takes no pair
    for b, g in tp.parallel(B=tp.each, G=tp.each):
        top, total, acc = tp.full((R,), -tp.inf), tp.zeros((R,)), tp.zeros((R, D))
        for n in tp.tiles(L=tp.each, stop=tp.cdiv(used[b], S)):
            page = table[b, n]
            for s in tp.tiles(S=BS, stop=used[b] - n * S):
                w = (q[b, g, :, :] @ k[page, g, s, :].T) * scale
                new = tp.maximum(top, w.max(axis=1))
                w, fade = tp.exp(w - new[:, None]), tp.exp(top - new)
                total, top = total * fade + w.sum(axis=1), new
                acc = acc * fade[:, None] + w.to(v.dtype) @ v[page, g, s, :]
        o[b, g, :, :] = acc / total[:, None]


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, B: int = 3, G: int = 2, R: int = 2, D: int = 8, P: int = 9, S: int = 5,
    L: int = 4,
) -> tuple[list[Any], dict[str, int]]:  # fmt: skip
    """Arguments of a launch: sequences of any length that share some pages, and page 0 in unused entries."""
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((B, G, R, D)).astype(dtype)
    k, v = (rng.standard_normal((P, G, S, D)).astype(dtype) for _ in range(2))
    used = rng.integers(0, L * S + 1, B, dtype=np.int32)
    pages = rng.integers(0, P, (B, L), dtype=np.int32)
    pages[np.arange(L) * S >= used[:, None]] = 0
    return [np.empty_like(q), q, k, v, pages, used, 1 / max(D, 1) ** 0.5], {"BS": 2}


def reference(o: Any, q: Any, k: Any, v: Any, pages: Any, used: Any, scale: float) -> tuple[Any, ...]:
    """What the outputs should hold: NaN where there is no entry to look at."""
    expected = np.full(o.shape, np.nan)
    for b, count in enumerate(used):
        keys, values = (x[pages[b]].swapaxes(0, 1).astype(np.float64) for x in (k, v))
        groups, length, size, depth = keys.shape
        keys, values = (x.reshape(groups, length * size, depth)[:, :count] for x in (keys, values))
        scores = np.einsum("grd,gcd->grc", q[b].astype(np.float64), keys) * scale
        weight = np.exp(scores - scores.max(axis=2, keepdims=True, initial=-np.inf))
        if count:
            expected[b] = np.einsum("grc,gcd->grd", weight, values) / weight.sum(axis=2, keepdims=True)
    return (expected.astype(o.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    paged_attention(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5, atol=1e-5)
    error = np.nanmax(np.abs(args[0] - expected))
    print(f"paged_attention: {args[0].shape} agrees with numpy, largest error {error:.1e}")
