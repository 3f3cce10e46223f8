"""A matrix product with one slip, `a[k, i]` for `a[i, k]`: it is rejected before anything runs."""

import tileproof as tp
from tileproof import In, Out, T, f32


@tp.kernel
def matmul(
    c: Out[T, "M N"], a: In[T, "M K"], b: In[T, "K N"], *, BM: int = 128, BN: int = 128, BK: int = 64
) -> None:
    """Axis 0 of `a` is M, and k walks K."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), f32)
        for k in tp.tiles(K=BK):
            acc = tp.mma(a[k, i], b[k, j], acc)
        c[i, j] = acc
