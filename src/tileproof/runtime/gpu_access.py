"""The host reads and writes memory of tensors on GPUs: work of the current stream, in order with all other.

What does it is in `cuda_copies`, which is loaded when there is a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .host_arrays import Array
from .leases import ledger_of
from .streams import refuse_recording

if TYPE_CHECKING:
    from .tensors import Tensor

_BY_HOST: Final = frozenset(("allocation", "fill", "copy", "copy from the host", "copy to the host"))
"""Work that is no kernel: what the host has streams do for it."""


def read(tensor: Tensor) -> Array:
    """A copy of the elements on the host, made when no kernel is about to write them."""
    from . import cuda_copies

    refuse_recording("a tensor is read by the host", "read it when the graph was replayed; nothing runs before")
    return cuda_copies.to_host(tensor)


def write(tensor: Tensor, values: Array) -> None:
    """Writes elements, one for each, if no kernel uses them. The host does not wait until they are there."""
    from . import host_access

    ledger = ledger_of(tensor.block.device)
    with ledger.lock:
        for stream, turn in ledger.holders(tensor.span, True):
            work = next((work for at, work in stream.pending if at == turn), None)
            # What the host itself had written or read is in order with what it has written now.
            if work is None or work.name not in _BY_HOST:
                raise host_access.in_flight(tensor, stream, turn)
    send(tensor, values)


def send(tensor: Tensor, values: Array) -> None:
    """Has the current stream write elements, in order with all other work."""
    from . import cuda_copies

    _demand_writeable(tensor)
    cuda_copies.from_host(tensor, values)


def fill(tensor: Tensor, value: Any) -> None:
    """Has the current stream write one value to all elements of a tensor that was just made."""
    from . import cuda_copies

    cuda_copies.fill(tensor, value)


def copy(to: Tensor, source: Tensor) -> None:
    """Copies elements within a GPU, or from one to another; both tensors have one shape and type, and no gaps."""
    from . import cuda_copies

    _demand_writeable(to)
    cuda_copies.device_to_device(to, source)


def _demand_writeable(tensor: Tensor) -> None:
    from . import host_access

    refuse_recording("a tensor is written by the host", "write it before the graph, or record `tp.copy(x, y)`")
    if not tensor.block.is_writeable:
        raise host_access.read_only(tensor)
