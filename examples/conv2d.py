"""A convolution of images as a matrix product: what lies outside the image is read as 0, not stored as padding."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Out, T


@tp.kernel
def conv2d(
    y: Out[T, "N OH=(H+2*PAD-R+1)/STRIDE OW=(W+2*PAD-S+1)/STRIDE F"], x: In[T, "N H W C"], w: In[T, "R S C F"], *,
    R: int, S: int, STRIDE: int = 2, PAD: int = 1, BW: int = 64, BC: int = 32, BF: int = 64,
) -> None:  # fmt: skip
    """y[n, i, j] = the sum over r, s of x[n, i * STRIDE + r - PAD, j * STRIDE + s - PAD] @ w[r, s]."""
    for n, i, j, f in tp.parallel(N=tp.each, OH=tp.each, OW=BW, F=BF):
        acc = tp.zeros((j, f))
        for r in range(R):
            for s in range(S):
                row, column = i * STRIDE + r - PAD, j.elements * STRIDE + s - PAD
                for c in tp.tiles(C=BC):
                    acc = tp.mma(x.get((n, row, column, c), 0.0), w[r, s, c, f], acc)
        y[n, i, j, f] = acc


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, N: int = 2, H: int = 7, W: int = 9, C: int = 5, F: int = 6, R: int = 3,
    S: int = 3, STRIDE: int = 2, PAD: int = 1,
) -> tuple[list[Any], dict[str, int]]:  # fmt: skip
    """Arguments of a launch, and tile sizes that cut them into several programs."""
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal((N, H, W, C)).astype(dtype), rng.standard_normal((R, S, C, F)).astype(dtype)
    rows, columns = ((extent + 2 * PAD - size) // STRIDE + 1 for extent, size in ((H, R), (W, S)))
    sizes = {"STRIDE": STRIDE, "PAD": PAD, "BW": 4, "BC": 2, "BF": 4}
    return [np.empty((N, rows, columns, F), dtype), x, w], sizes


def reference(y: Any, x: Any, w: Any, STRIDE: int = 2, PAD: int = 1) -> tuple[Any, ...]:
    """What the outputs should hold."""
    padded = np.pad(x.astype(np.float64), ((0, 0), (PAD, PAD), (PAD, PAD), (0, 0)))
    expected = np.zeros(y.shape)
    for i in range(y.shape[1]):
        for j in range(y.shape[2]):
            top, left = i * STRIDE, j * STRIDE
            window = padded[:, top : top + w.shape[0], left : left + w.shape[1]]
            expected[:, i, j] = np.einsum("nrsc,rscf->nf", window, w.astype(np.float64))
    return (expected.astype(y.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    conv2d(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-4, atol=1e-4)
    error = np.abs(args[0] - expected).max()
    print(f"conv2d: {args[0].shape} agrees with numpy, largest error {error:.1e}")
