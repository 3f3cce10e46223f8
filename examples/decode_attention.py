"""Attention of one new token to a long cache: programs share the cache and merge their partial softmaxes."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T, f32, i32


def merge(one: Any, two: Any) -> Any:
    """The partial softmax of two pieces: greatest score, total weight and weighted sum of the values."""
    (top_one, total_one, acc_one), (top_two, total_two, acc_two) = one, two
    top = tp.maximum(top_one, top_two)
    fade_one, fade_two = tp.exp(top_one - top), tp.exp(top_two - top)
    total = total_one * fade_one + total_two * fade_two
    return top, total, acc_one * fade_one[:, None] + acc_two * fade_two[:, None]


@tp.kernel
def decode_attention(
    o: Out[T, "G R D"], q: In[T, "G R D"], k: In[T, "G C D"], v: In[T, "G C D"], used: In[i32, "1"], scale: f32, *,
    R: int, D: int, SC: int = 512, BC: int = 64,
) -> None:  # fmt: skip
    """The R query heads that share key head g look at the first `used` entries of the cache."""
    for g, z in tp.parallel(G=tp.each, C=tp.split(SC)):
        # Not -inf: two pieces that have seen nothing must not make NaN when they merge.
        top, total, acc = tp.full((R,), tp.lowest), tp.zeros((R,)), tp.zeros((R, D))
        for t in z.tiles(BC, stop=used[0]):
            w = (q[g, :, :] @ k[g, t, :].T) * scale
            new = tp.maximum(top, w.max(axis=1))
            w, fade = tp.exp(w - new[:, None]), tp.exp(top - new)
            total, top = total * fade + w.sum(axis=1), new
            acc = acc * fade[:, None] + w.to(v.dtype) @ v[g, t, :]
        top, total, acc = tp.join((top, total, acc), over=z, by=merge)
        o[g, :, :] = acc / total[:, None]


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, G: int = 2, R: int = 3, C: int = 37, D: int = 8, used: int = 29
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and sizes that cut the cache into several pieces, one of them past `used`."""
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((G, R, D)).astype(dtype)
    k, v = (rng.standard_normal((G, C, D)).astype(dtype) for _ in range(2))
    return [np.empty_like(q), q, k, v, np.array([used], np.int32), 1 / max(D, 1) ** 0.5], {"SC": 10, "BC": 4}


def reference(o: Any, q: Any, k: Any, v: Any, used: Any, scale: float) -> tuple[Any, ...]:
    """What the outputs should hold: NaN where there is no entry to look at."""
    keys, values = (x[:, : max(used[0], 0)].astype(np.float64) for x in (k, v))
    scores = np.einsum("grd,gcd->grc", q.astype(np.float64), keys) * scale
    weight = np.exp(scores - scores.max(axis=2, keepdims=True, initial=-np.inf))
    with np.errstate(invalid="ignore"):
        mean = np.einsum("grc,gcd->grd", weight, values) / weight.sum(axis=2, keepdims=True)
    return (mean.astype(o.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    decode_attention(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5, atol=1e-5)
    error = np.abs(args[0] - expected).max()
    print(f"decode_attention: {args[0].shape} agrees with numpy, largest error {error:.1e}")
