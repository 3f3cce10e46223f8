"""The smallest kernel there is: `tileproof doctor` runs it, and `tileproof init` writes it out for you to change."""

from __future__ import annotations

import tileproof as tp
from tileproof import In, Out, f32


@tp.kernel
def double(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 1024) -> None:
    """Every element of x, doubled."""
    for n in tp.parallel(N=B):
        y[n] = x[n] * 2
