"""Causal attention with grouped heads and a cache, computed tile by tile without storing the weights."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, f32, i32


@tp.kernel
def attention(
    o: Out[T, "H S D"], q: In[T, "H S D"], k: In[T, "G C D"], v: In[T, "G C D"], scale: f32, past: i32, *,
    D: int, BS: int = 64, BT: int = 128,
) -> None:  # fmt: skip
    """Query s of each head looks at the first past + s + 1 entries of the cache; H / G heads share keys."""
    for h, s in tp.parallel(H=tp.each, S=BS):
        g = tp.group(h, "G")
        top, total, acc = tp.full((s,), -tp.inf), tp.zeros((s,)), tp.zeros((s, D))
        for t in tp.tiles(C=BT, stop=past + s.stop):
            w = (q[h, s, :] @ k[g, t, :].T) * scale
            w = tp.where(past + s.elements[:, None] >= t.elements[None, :], w, -tp.inf)
            new = tp.maximum(top, w.max(axis=1))
            w, fade = tp.exp(w - new[:, None]), tp.exp(top - new)
            total, top = total * fade + w.sum(axis=1), new
            acc = acc * fade[:, None] + w.to(v.dtype) @ v[g, t, :]
        o[h, s, :] = acc / total[:, None]


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, G: int = 2, heads: int = 2, S: int = 13, C: int = 31, D: int = 8,
    past: int = 11,
) -> tuple[list[Any], dict[str, int]]:  # fmt: skip
    """Arguments of a launch with `heads` query heads for each of G key heads, and tile sizes."""
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((G * heads, S, D)).astype(dtype)
    k, v = (rng.standard_normal((G, C, D)).astype(dtype) for _ in range(2))
    return [np.empty_like(q), q, k, v, 1 / max(D, 1) ** 0.5, past], {"BS": 8, "BT": 4}


def reference(o: Any, q: Any, k: Any, v: Any, scale: float, past: int) -> tuple[Any, ...]:
    """What the outputs should hold: NaN where a query sees no entry at all."""
    heads, (_, length, _), context = q.shape[0] // k.shape[0], q.shape, k.shape[1]
    keys, values = (np.repeat(x.astype(np.float64), heads, axis=0) for x in (k, v))
    scores = np.einsum("hsd,hcd->hsc", q.astype(np.float64), keys) * scale
    scores = np.where(past + np.arange(length)[:, None] >= np.arange(context), scores, -np.inf)
    with np.errstate(invalid="ignore"):
        weight = np.exp(scores - scores.max(axis=2, keepdims=True, initial=-np.inf))
        weight /= weight.sum(axis=2, keepdims=True)
    seen = past + np.arange(length)[:, None] >= 0 if context else np.zeros((length, 1), bool)
    return (np.where(seen, np.einsum("hsc,hcd->hsd", weight, values), np.nan).astype(o.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    attention(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5, atol=1e-5)
    error = np.abs(args[0] - expected).max()
    print(f"attention: {args[0].shape} agrees with numpy, largest error {error:.1e}")
