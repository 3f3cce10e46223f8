"""The kernel of the host benchmark: so little work that what surrounds it is what is timed."""

from __future__ import annotations

from typing import Final

import tileproof as tp
from tileproof import In, Out, T

SMALL: Final = 1024
"""Elements of the tensors of most rows."""
LARGE: Final = 1 << 20
"""Elements of the add by which launches on a GPU are compared elsewhere."""


@tp.kernel(deny_checks=True)
def add(z: Out[T, "N"], x: In[T, "N"], y: In[T, "N"], *, BN: int = 1024) -> None:
    """z = x + y."""
    for n in tp.parallel(N=BN):
        z[n] = x[n] + y[n]
