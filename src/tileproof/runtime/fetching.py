"""Copies to the host that nobody waits for yet: the elements as they are when the stream comes to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .host_arrays import Array
from .streams import refuse_recording

if TYPE_CHECKING:
    from .tensors import Tensor


class Fetched:
    """Elements on their way to the host. What is launched behind it may write the tensor: this has its own copy."""

    __slots__ = ("_finish",)

    _finish: Callable[[], Array]

    def __init__(self, tensor: Tensor) -> None:
        refuse_recording("a tensor is read by the host", "fetch it when the graph was replayed; nothing runs before")
        tensor.demand_written("fetch")
        if tensor.block.device is None:
            from .copying import copy
            from .making import empty

            self._finish = copy(empty(tensor.shape, tensor.dtype), tensor).numpy
        else:
            from .cuda_copies import fetch

            self._finish = fetch(tensor)

    def numpy(self) -> Array:
        """The elements, once they are there; raises what went wrong with the work that wrote them."""
        return self._finish()
