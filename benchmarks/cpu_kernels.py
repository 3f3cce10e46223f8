"""Kernels of the CPU benchmark that are not among the examples, each in its natural form."""

from __future__ import annotations

import tileproof as tp
from tileproof import In, Out, T, f32, i8, i32


@tp.kernel
def saxpy(z: Out[T, "N"], x: In[T, "N"], y: In[T, "N"], a: f32, *, BN: int = 4096) -> None:
    """z = a * x + y."""
    for n in tp.parallel(N=BN):
        z[n] = a * x[n] + y[n]


@tp.kernel
def gelu(z: Out[T, "N"], x: In[T, "N"], y: In[T, "N"], *, BN: int = 4096) -> None:
    """z = gelu(x + y) * y, in the form with tanh."""
    for n in tp.parallel(N=BN):
        v = x[n] + y[n]
        z[n] = 0.5 * v * (1.0 + tp.tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))) * y[n]


@tp.kernel
def softmax_row(y: Out[T, "R C"], x: In[T, "R C"], *, C: int) -> None:
    """exp(x) of each row, divided by its sum; a whole row in one tile, because C is static."""
    for r in tp.parallel(R=tp.each):
        row = x[r, :].to(f32)
        weight = tp.exp(row - row.max())
        y[r, :] = weight / weight.sum()


@tp.kernel
def int8_matmul(
    c: Out[i32, "M N"], a: In[i8, "M K"], b: In[i8, "K N"], *, BM: int = 128, BN: int = 256, BK: int = 256
) -> None:
    """c = a @ b, exactly."""
    for i, j in tp.parallel(M=BM, N=BN):
        acc = tp.zeros((i, j), i32)
        for k in tp.tiles(K=BK):
            acc = tp.mma(a[i, k], b[k, j], acc)
        c[i, j] = acc


@tp.kernel
def matvec(y: Out[f32, "N"], w: In[T, "N K"], x: In[f32, "K"], *, K: int, BN: int = 8) -> None:
    """y = w @ x, with whole rows of weights of any element type."""
    for n in tp.parallel(N=BN):
        y[n] = (w[n, :].to(f32) * x[:]).sum(axis=1)


@tp.kernel
def full_attention(
    o: Out[T, "H S D"], q: In[T, "H S D"], k: In[T, "H C D"], v: In[T, "H C D"], scale: f32, *,
    D: int, BS: int = 64, BT: int = 128,
) -> None:  # fmt: skip
    """Every query of a head looks at all its keys."""
    for h, s in tp.parallel(H=tp.each, S=BS):
        top, total, acc = tp.full((s,), -tp.inf), tp.zeros((s,)), tp.zeros((s, D))
        for t in tp.tiles(C=BT):
            w = (q[h, s, :] @ k[h, t, :].T) * scale
            new = tp.maximum(top, w.max(axis=1))
            w, fade = tp.exp(w - new[:, None]), tp.exp(top - new)
            total, top = total * fade + w.sum(axis=1), new
            acc = acc * fade[:, None] + w.to(v.dtype) @ v[h, t, :]
        o[h, s, :] = acc / total[:, None]
