"""The gradients of layer normalisation: each row has its own for x, and all rows add up to those of w and b."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, Sum, T, f32


@tp.kernel
def layer_norm_backward(
    dx: Out[T, "N D"], dw: Sum[f32, "D"], db: Sum[f32, "D"], dy: In[T, "N D"], x: In[T, "N D"], w: In[T, "D"],
    eps: f32, *, D: int, BN: int = 16,
) -> None:  # fmt: skip
    """From dy, the gradient of y = layer_norm(x, w, b, eps), those of x, w and b."""
    for n in tp.parallel(N=BN):
        rows, grad = x[n, :].to(f32), dy[n, :].to(f32)
        centred = rows - rows.mean(axis=1, keepdims=True)
        scale = tp.rsqrt((centred * centred).mean(axis=1, keepdims=True) + eps)
        scaled, inner = centred * scale, grad * w[:].to(f32)
        along = (inner * scaled).mean(axis=1, keepdims=True)
        dx[n, :] = (inner - inner.mean(axis=1, keepdims=True) - scaled * along) * scale
        dw[:] += (grad * scaled).sum(axis=0)
        db[:] += grad.sum(axis=0)


OUTPUTS = (0, 1, 2)


def arguments(
    seed: int = 0, dtype: Any = np.float32, N: int = 11, D: int = 20
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, and a tile size that makes several programs; D is bound from the arguments."""
    rng = np.random.default_rng(seed)
    x, dy = (rng.standard_normal((N, D)).astype(dtype) for _ in range(2))
    w, dw, db = rng.standard_normal(D).astype(dtype), np.empty(D, np.float32), np.empty(D, np.float32)
    return [np.empty((N, D), dtype), dw, db, dy, x, w, 1e-2], {"BN": 4}


def reference(dx: Any, dw: Any, db: Any, dy: Any, x: Any, w: Any, eps: float) -> tuple[Any, ...]:
    """What the outputs should hold, from the derivative of each y by each x of its row."""
    rows, grad = x.astype(np.float64), dy.astype(np.float64)
    count = max(x.shape[1], 1)
    centring = np.eye(x.shape[1]) - 1 / count
    centred = rows @ centring
    deviation = np.sqrt((centred * centred).sum(axis=1) / count + eps)
    scaled = centred / deviation[:, None]
    slopes = (np.eye(x.shape[1]) - scaled[:, :, None] * scaled[:, None, :] / count) @ centring
    made = np.einsum("nd,nde->ne", grad * w.astype(np.float64), slopes) / deviation[:, None]
    return made.astype(dx.dtype), (grad * scaled).sum(axis=0).astype(dw.dtype), grad.sum(axis=0).astype(db.dtype)


if __name__ == "__main__":
    args, constants = arguments()
    expected = reference(*args)
    layer_norm_backward(*args, **constants)
    for position, wanted in zip(OUTPUTS, expected, strict=True):
        np.testing.assert_allclose(args[position], wanted, rtol=1e-4, atol=1e-4)
    error = np.abs(args[0] - expected[0]).max()
    print(f"layer_norm_backward: {args[0].shape} agrees with numpy, largest error {error:.1e}")
