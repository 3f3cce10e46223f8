"""Copies to the host that nobody waits for yet: the elements as they are when the stream comes to it."""

from __future__ import annotations

from collections.abc import Callable

from tileproof.backends.base import device_of

from .host_arrays import Array
from .recording import refuse_recording
from .storage import View


class Fetched:
    """Elements on their way to the host. What is launched behind it may write the tensor: this has its own copy."""

    __slots__ = ("_finish",)

    _finish: Callable[[], Array]

    def __init__(self, tensor: View) -> None:
        refuse_recording("a tensor is read by the host", "fetch it when the graph was replayed; nothing runs before")
        tensor.demand_written("fetch")
        self._finish = device_of(tensor.block.device).fetch(tensor)

    def numpy(self) -> Array:
        """The elements, once they are there; raises what went wrong with the work that wrote them."""
        return self._finish()
