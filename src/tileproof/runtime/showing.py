"""A tensor as text. To show one never waits, and never fails: it is what debuggers and error messages do."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np

from . import gpu_access
from .leases import ledger_of

if TYPE_CHECKING:
    from .tensors import Tensor

_MOST: Final = 200
"""How many elements are shown in full."""
_MARGIN: Final = "Tensor("


def shown(tensor: Tensor) -> str:
    """What a tensor holds, or why that cannot be told now; its shape, element type and device."""
    contents = "its contents cannot be read"
    with suppress(Exception):
        contents = _contents(tensor)
    return f"{_MARGIN}{contents}, shape={tensor.shape}, dtype={tensor.dtype}, device={tensor.device})"


def _contents(tensor: Tensor) -> str:
    ledger = ledger_of(tensor.block.device)
    with ledger.lock:
        if ledger.holders(tensor.span, False):
            return "in flight"
        ledger.retire()
        error = ledger.poison_in(tensor.span)
        if error is not None:
            return f"poisoned: {_first_line(error)}"
        if not tensor.is_initialised:
            return "uninitialised"
        if tensor.block.device is None:
            return _elements(tensor._array)
    # To show a large one would copy much of it from the GPU.
    return _elements(gpu_access.read(tensor)) if tensor.size <= _MOST else "[...]"


def _elements(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str:
    # Numpy writes bf16 and 8-bit floats as if they were objects.
    plain = values if values.dtype.isbuiltin == 1 or values.size > _MOST else values.astype(np.float32)
    return np.array2string(plain, separator=", ", prefix=_MARGIN, threshold=_MOST)


def _first_line(error: BaseException) -> str:
    diagnostics = getattr(error, "diagnostics", ())
    text = diagnostics[0].message if diagnostics else str(error)
    return text.strip().split("\n")[0] or type(error).__name__
