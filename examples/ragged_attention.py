"""Causal attention within each sequence of a batch that is packed without padding."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Offsets, Out, T, f32


@tp.kernel
def ragged_attention(
    o: Out[T, "N H D"], q: In[T, "N H D"], k: In[T, "N G D"], v: In[T, "N G D"], borders: In[Offsets["N"], "B+1"],
    scale: f32, *, D: int, BN: int = 64, BT: int = 128,
) -> None:  # fmt: skip
    """Sequence b has the tokens from borders[b] to borders[b + 1], and each looks at those before it and itself."""
    for (b, n), h in tp.parallel(tp.segments(borders, N=BN), H=tp.each):
        g = tp.group(h, "G")
        top, total, acc = tp.full((n,), -tp.inf), tp.zeros((n,)), tp.zeros((n, D))
        for t in tp.tiles(N=BT, start=borders[b], stop=n.stop):
            w = (q[n, h, :] @ k[t, g, :].T) * scale
            w = tp.where(n.elements[:, None] >= t.elements[None, :], w, -tp.inf)
            new = tp.maximum(top, w.max(axis=1))
            w, fade = tp.exp(w - new[:, None]), tp.exp(top - new)
            total, top = total * fade + w.sum(axis=1), new
            acc = acc * fade[:, None] + w.to(v.dtype) @ v[t, g, :]
        o[n, h, :] = acc / total[:, None]


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, B: int = 4, N: int = 23, G: int = 2, heads: int = 2, D: int = 8
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch with `heads` query heads for each of G key heads; without sequences, without tokens."""
    rng = np.random.default_rng(seed)
    tokens = N if B else 0
    borders = np.concatenate(([0], np.sort(rng.integers(0, tokens + 1, max(B - 1, 0))), [tokens] * (B > 0)))
    q = rng.standard_normal((tokens, G * heads, D)).astype(dtype)
    k, v = (rng.standard_normal((tokens, G, D)).astype(dtype) for _ in range(2))
    return [np.empty_like(q), q, k, v, borders.astype(np.int32), 1 / max(D, 1) ** 0.5], {"BN": 4, "BT": 5}


def reference(o: Any, q: Any, k: Any, v: Any, borders: Any, scale: float) -> tuple[Any, ...]:
    """What the outputs should hold."""
    tokens, heads = np.arange(len(q)), q.shape[1] // k.shape[1]
    sequence = np.repeat(np.arange(len(borders) - 1), np.diff(borders))
    seen = (sequence[:, None] == sequence) & (tokens[:, None] >= tokens)
    keys, values = (np.repeat(x.astype(np.float64), heads, axis=1) for x in (k, v))
    scores = np.where(seen, np.einsum("nhd,thd->hnt", q.astype(np.float64), keys) * scale, -np.inf)
    weight = np.exp(scores - scores.max(axis=2, keepdims=True, initial=-np.inf))
    return (np.einsum("hnt,thd->nhd", weight / weight.sum(axis=2, keepdims=True), values).astype(o.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    ragged_attention(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5, atol=1e-5)
    error = np.abs(args[0] - expected).max()
    print(f"ragged_attention: {args[0].shape} agrees with numpy, largest error {error:.1e}")
