"""Handing the memory of a tensor to others: numpy, DLPack, and the CUDA array interface. Nothing is copied.

Whoever has such a view reads and writes without asking, so the memory counts as written, and as shared until the last
view is gone: an `Export` is kept by every one of them. The end of a view makes another version of the memory before
the memory counts as shared no more: what was looked at before that is never taken for what is there now.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from tileproof.backends.base import device_of
from tileproof.diagnostics.values import formatted
from tileproof.runtime.interop import dlpack
from tileproof.runtime.interop.describe import Array, array_over, without_gaps
from tileproof.runtime.memory.block import Block, View
from tileproof.runtime.memory.ledger import ledger_of

from .views import rejection


class Lent(weakref.ref["Export"]):
    """That a view lives, as a block lists it."""

    __slots__ = ("before",)

    before: weakref.ref[Export]
    """What is called before this: of several references to one object, the last is called first."""


class Export:
    """That a view of a block was handed out. It keeps the memory; the view is gone when this is."""

    __slots__ = ("__weakref__", "block")

    def __init__(self, block: Block) -> None:
        self.block = block
        # It goes without a function of Python: before one begins, a handler of a signal may raise.
        lent = Lent(self, block.lent.remove)
        lent.before = weakref.ref(self, block.counts_end())
        block.lent.append(lent)


def hand_over(tensor: View) -> Export:
    """Gives the memory of a tensor on the CPU to someone who may write it, once no kernel uses it."""
    # From here on launches are waited for, so none begins after the wait.
    export = Export(tensor.block)
    is_writeable = tensor.block.is_writeable
    try:
        ledger_of(None).wait_for_host(tensor.span, writing=is_writeable)
    except BaseException:
        del export  # the error remembers this frame, and lives as long as what failed is not written anew
        raise
    if is_writeable:
        tensor.note_write()
    return export


def as_numpy(tensor: View) -> Array:
    """A numpy array over the memory of a tensor on the CPU."""
    export = hand_over(tensor)
    is_read_only = not tensor.block.is_writeable
    return array_over(tensor.address, tensor.shape, tensor.strides, tensor.storage, export, is_read_only=is_read_only)


def as_capsule(
    tensor: View, stream: int | None, max_version: tuple[int, int] | None, *, is_copy: bool = False
) -> Any:
    """A DLPack capsule over the memory of a tensor, for work on a stream."""
    device = tensor.block.device
    if device is None:
        if stream is not None:
            raise rejection(BufferError, f"the CPU has no stream {formatted(stream)}", "pass `stream=None`")
        export = hand_over(tensor)
    else:
        export = Export(tensor.block)
        if tensor.block.is_writeable:
            tensor.note_write()
        if stream != -1:  # by the protocol: the consumer waits by itself
            device_of(device).lend(tensor, stream if stream not in (None, 1) else 0)
    plain = np.dtype(f"u{tensor.itemsize}")
    # Strides of axes of one element may be anything; consumers need whole elements.
    strides = tensor.strides if tensor.size else without_gaps(tensor.shape, tensor.itemsize)
    is_read_only = not tensor.block.is_writeable
    array: Any = array_over(tensor.address, tensor.shape, strides, plain, export, is_read_only=is_read_only)
    asked = {} if max_version is None or max_version[0] < 1 else {"max_version": max_version}
    try:
        capsule = array.__dlpack__(**asked)
    except TypeError:  # numpy before 2.1, which knows the older protocol only
        capsule = array.__dlpack__()
    return dlpack.relabel(capsule, tensor.dtype.name, device, is_copy=is_copy)


def as_interface(tensor: View) -> dict[str, Any]:
    """What a tensor on a GPU says of itself to those who read `__cuda_array_interface__`.

    They keep the tensor, so that the memory is shared as long as it lives.
    """
    if tensor._lent is None:
        tensor._lent = Export(tensor.block)
    if tensor.block.is_writeable:
        tensor.note_write()
    device_of(tensor.block.device).lend(tensor, 0)
    return {
        "version": 3,
        "shape": tensor.shape,
        "strides": None if tensor.is_contiguous else tensor.strides,
        "typestr": tensor.storage.str,
        "data": (tensor.address, not tensor.block.is_writeable),
        "stream": 1,
    }
