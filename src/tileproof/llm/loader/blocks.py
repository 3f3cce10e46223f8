"""Memory for weights: slices of one large tensor for each element type.

A CPU reads large pages of memory faster than small ones, and is given them for large pieces only. The end of a piece
costs up to a large page more than it holds, so there are as few pieces as can be, and no longer than is known to be
needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import prod

import tileproof as tp
from tileproof.language.dtypes import DType

_ALIGNED = 256


class Blocks:
    """Makes tensors on a device, of which the element types and sizes are known before."""

    def __init__(self, device: str, sizes: Iterable[tuple[DType, int]]) -> None:
        self.device = device
        self._ahead: Counter[DType] = Counter()
        self._left: dict[DType, tp.Tensor] = {}
        for dtype, size in sizes:
            self._ahead[dtype] += _rounded(size, dtype)

    def empty(self, shape: tuple[int, ...], dtype: DType) -> tp.Tensor:
        """A tensor nobody has written yet."""
        size = _rounded(prod(shape), dtype)
        left = self._left.get(dtype)
        if left is None or left.shape[0] < size:
            try:
                left = tp.empty(max(size, self._ahead[dtype]), dtype, self.device)
            except tp.OutOfMemory:
                left = tp.empty(size, dtype, self.device)
        self._left[dtype] = left[size:]
        self._ahead[dtype] -= size
        return left[: prod(shape)].reshape(*shape)


def _rounded(size: int, dtype: DType) -> int:
    step = _ALIGNED * 8 // dtype.bits
    return -(-size // step) * step
