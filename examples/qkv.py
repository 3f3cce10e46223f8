"""All that attention needs of one new token, in one launch: projections, norms, rotation, and the append to caches."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, InOut, Out, T, f32, i32


@tp.kernel
def qkv(
    q: Out[T, "H D"], keys: InOut[T, "G C D"], values: InOut[T, "G C D"], x: In[T, "K"],
    w: In[T, "N=H+2*G D=2*E K"], q_norm: In[T, "D"], k_norm: In[T, "D"], cos: In[f32, "C E"], sin: In[f32, "C E"],
    pos: In[i32, "1"], eps: f32, *, D: int, E: int, BK: int = 256,
) -> None:  # fmt: skip
    """H heads of queries, then G of keys, then G of values, each a product of x with D rows of w.

    Queries and keys are normalised and turned by the angles of `pos`; keys and values go to the caches there.
    """
    queries, turned = tp.dim("H"), tp.dim("H") + tp.dim("G")
    for n in tp.parallel(N=tp.each):
        y = tp.zeros((D,))
        for k in tp.tiles(K=BK):
            y += (w[n, :, k].to(f32) * x[k].to(f32)).sum(axis=1)
        if n < turned:
            norm = tp.where(n < queries, q_norm[:], k_norm[:]).to(f32)
            y = y * tp.rsqrt((y * y).mean() + eps) * norm
            c, s = cos[pos[0], :], sin[pos[0], :]
            y = tp.cat((y[:E] * c - y[E:] * s, y[E:] * c + y[:E] * s))
        if n < queries:
            q[n.start, :] = y
        elif n < turned:
            keys[n - queries, pos[0], :] = y
        else:
            values[n - turned, pos[0], :] = y


OUTPUTS = (0, 1, 2)


def arguments(
    seed: int = 0, dtype: Any = np.float32, H: int = 4, G: int = 2, C: int = 9, E: int = 4, K: int = 21, pos: int = 5
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and a tile size that cuts the products; D and E are bound from the arguments."""
    rng = np.random.default_rng(seed)
    keys, values = (rng.standard_normal((G, C, 2 * E)).astype(dtype) for _ in range(2))
    x, w = rng.standard_normal(K).astype(dtype), rng.standard_normal((H + 2 * G, 2 * E, K)).astype(dtype)
    q_norm, k_norm = (rng.standard_normal(2 * E).astype(dtype) for _ in range(2))
    angle = np.arange(C)[:, None] * 10000.0 ** (-np.arange(E) / max(E, 1))
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    place = np.array([pos], np.int32)
    return [np.empty((H, 2 * E), dtype), keys, values, x, w, q_norm, k_norm, cos, sin, place, 1e-6], {"BK": 8}


def reference(
    q: Any, keys: Any, values: Any, x: Any, w: Any, q_norm: Any, k_norm: Any, cos: Any, sin: Any, pos: Any, eps: float
) -> tuple[Any, ...]:
    """What the outputs should hold."""
    heads, groups = len(q), len(keys)
    made = w.astype(np.float64) @ x.astype(np.float64)
    angle = cos[pos[0]].astype(np.float64) + 1j * sin[pos[0]].astype(np.float64)

    def turned(rows: Any, norm: Any) -> Any:
        square = (rows * rows).sum(axis=1, keepdims=True) / max(rows.shape[1], 1)
        first, second = np.split(rows / np.sqrt(square + eps) * norm.astype(np.float64), 2, axis=1)
        point = (first + 1j * second) * angle
        return np.concatenate((point.real, point.imag), axis=1)

    new_keys, new_values = keys.copy(), values.copy()
    new_keys[:, pos[0]] = turned(made[heads : heads + groups], k_norm)
    new_values[:, pos[0]] = made[heads + groups :]
    return turned(made[:heads], q_norm).astype(q.dtype), new_keys, new_values


if __name__ == "__main__":
    args, constants = arguments()
    expected = reference(*args)
    qkv(*args, **constants)
    for position, wanted in zip(OUTPUTS, expected, strict=True):
        np.testing.assert_allclose(args[position], wanted, rtol=1e-4, atol=1e-4)
    error = np.abs(args[0] - expected[0]).max()
    print(f"qkv: {args[0].shape} agrees with numpy, largest error {error:.1e}")
