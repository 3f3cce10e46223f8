"""A tensor as text. To show one never waits, and never fails: it is what debuggers and error messages do."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import numpy as np

from tileproof.backends.base import device_of

from .leases import ledger_of
from .storage import View

_MOST: Final = 200
"""How many elements are text_of in full."""
_MARGIN: Final = "Tensor("


def text_of(tensor: View) -> str:
    """What a tensor holds, or why that cannot be told now; its shape, element type and device."""
    contents = "its contents cannot be read"
    with suppress(Exception):
        contents = _contents(tensor)
    return f"{_MARGIN}{contents}, shape={tensor.shape}, dtype={tensor.dtype}, device={tensor.device})"


def _contents(tensor: View) -> str:
    ledger = ledger_of(tensor.block.device)
    with ledger.lock, ledger.door:
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
    if tensor.size > _MOST:
        return "[...]"  # to show it would copy much from the GPU
    text: str = device_of(tensor.block.device).look(tensor, _elements)
    return text


def _elements(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str:
    # Numpy writes bf16 and 8-bit floats as if they were objects.
    plain = values if values.dtype.isbuiltin == 1 or values.size > _MOST else values.astype(np.float32)
    return np.array2string(plain, separator=", ", prefix=_MARGIN, threshold=_MOST)


def _first_line(error: BaseException) -> str:
    diagnostics = getattr(error, "diagnostics", ())
    text = diagnostics[0].message if diagnostics else str(error)
    return text.strip().split("\n")[0] or type(error).__name__
