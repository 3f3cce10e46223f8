"""Attention that reads a cache and appends to it in one launch: no program reads what another writes."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, InOut, Out, T, f32, i32


def attend(state: Any, scores: Any, values: Any) -> Any:
    """The running softmax after more entries: greatest score, total weight and weighted sum of the values."""
    top, total, acc = state
    new = tp.maximum(top, scores.max(axis=1))
    w, fade = tp.exp(scores - new[:, None]), tp.exp(top - new)
    return new, total * fade + w.sum(axis=1), acc * fade[:, None] + w.to(values.dtype) @ values


@tp.kernel
def append_attention(
    o: Out[T, "G R N D"], keys: InOut[T, "G C D"], values: InOut[T, "G C D"], q: In[T, "G R N D"],
    k: In[T, "G N D"], v: In[T, "G N D"], pos: In[i32, "1"], scale: f32, *, D: int, BN: int = 64, BT: int = 128,
) -> None:  # fmt: skip
    """N new tokens look at the cache before `pos` and at each other, causally; theirs is put in from `pos` on."""
    past_keys, new_keys = tp.split_at(keys, "C", pos[0])
    past_values, new_values = tp.split_at(values, "C", pos[0])
    for g, n in tp.parallel(G=tp.each, N=BN):
        new_keys[g, n, :] = k[g, n, :]
        new_values[g, n, :] = v[g, n, :]
        for r in tp.tiles(R=tp.each):
            query = q[g, r, n, :]
            state = tp.full((n,), tp.lowest), tp.zeros((n,)), tp.zeros((n, D))
            for t in tp.tiles(C=BT, stop=pos[0]):
                scores = (query @ past_keys[g, t, :].T) * scale
                state = attend(state, scores, past_values[g, t, :])
            for t in tp.tiles(N=BT, stop=n.stop):
                scores = (query @ k[g, t, :].T) * scale
                scores = tp.where(n.elements[:, None] >= t.elements[None, :], scores, -tp.inf)
                state = attend(state, scores, v[g, t, :])
            _, total, acc = state
            o[g, r, n, :] = acc / total[:, None]


OUTPUTS = (0, 1, 2)


def arguments(
    seed: int = 0, dtype: Any = np.float32, G: int = 2, R: int = 3, C: int = 31, N: int = 7, D: int = 8, pos: int = 17
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and tile sizes that cut both the cache and the new tokens."""
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((G, R, N, D)).astype(dtype)
    keys, values, k, v = (rng.standard_normal((G, length, D)).astype(dtype) for length in (C, C, N, N))
    scale = 1 / max(D, 1) ** 0.5
    return [np.empty_like(q), keys, values, q, k, v, np.array([pos], np.int32), scale], {"BN": 4, "BT": 5}


def reference(o: Any, keys: Any, values: Any, q: Any, k: Any, v: Any, pos: Any, scale: float) -> tuple[Any, ...]:
    """What the outputs should hold."""
    start, count = pos[0], k.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, start : start + count], values[:, start : start + count] = k, v
    scores = np.einsum("grnd,gcd->grnc", q.astype(np.float64), keys.astype(np.float64)) * scale
    seen = start + np.arange(count)[:, None] >= np.arange(keys.shape[1])
    scores = np.where(seen, scores, -np.inf)
    weight = np.exp(scores - scores.max(axis=3, keepdims=True, initial=-np.inf))
    mean = np.einsum("grnc,gcd->grnd", weight, values.astype(np.float64)) / weight.sum(axis=3, keepdims=True)
    return mean.astype(o.dtype), keys, values


if __name__ == "__main__":
    args, constants = arguments()
    expected, keys, values = reference(*args)
    append_attention(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(args[1], keys)
    np.testing.assert_array_equal(args[2], values)
    error = np.abs(args[0] - expected).max()
    print(f"append_attention: {args[0].shape} agrees with numpy, largest error {error:.1e}")
