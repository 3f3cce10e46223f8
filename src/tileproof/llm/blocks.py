"""Memory for weights: slices of a few large tensors.

A CPU reads large pages of memory faster than small ones, and is given them for large pieces only.
"""

from __future__ import annotations

from math import prod

import tileproof as tp
from tileproof.language.dtypes import DType

_SIZE = 64 << 20
_ALIGNED = 256


class Blocks:
    """Makes tensors on a device. What is left at the end of a block is never touched."""

    def __init__(self, device: str) -> None:
        self.device = device
        self._left: dict[DType, tp.Tensor] = {}

    def empty(self, shape: tuple[int, ...], dtype: DType) -> tp.Tensor:
        """A tensor nobody has written yet."""
        step = _ALIGNED * 8 // dtype.bits
        size = -(-prod(shape) // step) * step
        left = self._left.get(dtype)
        if left is None or left.shape[0] < size:
            try:
                left = tp.empty(max(size, _SIZE * 8 // dtype.bits), dtype, self.device)
            except tp.OutOfMemory:
                left = tp.empty(size, dtype, self.device)
        self._left[dtype] = left[size:]
        return left[: prod(shape)].reshape(*shape)
