"""A GPU as a device: launches, graphs, streams, memory, and elements that the host reads and writes.

The host's reads and writes are work of the current stream, in order with all other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from tileproof.backends.base import Backend
from tileproof.backends.cuda.device.driver import Device
from tileproof.compiler.proved import Proved
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.runtime.graph import cuda_graphs
from tileproof.runtime.graph.graphs import Recorded
from tileproof.runtime.interop.describe import Array
from tileproof.runtime.launch import cuda_plans as following
from tileproof.runtime.launch.binding import Bound
from tileproof.runtime.launch.launch import check
from tileproof.runtime.launch.premises import Watch
from tileproof.runtime.memory.ledger import Outdated, Work, ledger_of
from tileproof.runtime.memory.recorder import reject_recording
from tileproof.runtime.stream.cuda_streams import CudaStream, lend
from tileproof.runtime.tensor import cuda_copies, host_access
from tileproof.runtime.tensor.tensors import Tensor

from .cuda_memory import CudaAccount

R = TypeVar("R")
_BY_HOST: Final = frozenset(("allocation", "fill", "copy", "copy from the host", "copy to the host"))
"""Work that is no kernel: what the host has streams do for it."""


class CudaDevice:
    """The GPU with a number."""

    streams = CudaStream
    others_write = False  # the leases and the order of the stream keep writers away

    def __init__(self, number: int | None) -> None:
        assert number is not None
        self.number = number

    def launch(self, backend: Backend, proved: Proved, bound: Bound) -> None:
        """Runs a launch on the current stream."""
        try:
            following.launch(backend.compile(proved, bound), proved, bound)
        except Outdated:  # another thread wrote what was looked at
            check(proved, bound)
            self.launch(backend, proved, bound)

    def part_of(
        self, backend: Backend, args: tuple[Any, ...], named: dict[str, Any], proved: Proved, bound: Bound, ahead: Any
    ) -> tuple[Work, cuda_graphs.Part]:
        """A launch that is ready to be captured. It may begin before the one ahead of it has ended."""
        return cuda_graphs.part_of(args, named, proved, bound, ahead)

    def copy_part(self, to: Tensor, source: Tensor) -> tuple[Work, cuda_graphs.CopyPart]:
        """A copy within the GPU that is ready to be captured."""
        _demand_dense(to, source)
        if source.block.device != self.number:
            reject_recording("memory is copied between two GPUs", "copy before the replay")
        work = Work("copy", (source.span,), (to.span,), (to, source))
        return work, cuda_graphs.CopyPart(Device(self.number), to.address, source.address, to.nbytes)

    def player_of(
        self, recorded: Sequence[Recorded], edges: Sequence[tuple[int, int]], watches: Sequence[Watch]
    ) -> cuda_graphs.Player | None:
        """A graph of the driver, captured now."""
        return cuda_graphs.player_of(recorded, edges, watches)

    def account(self) -> CudaAccount:
        """The memory of the GPU that tensors take."""
        return CudaAccount(self.number)

    def look(self, tensor: Tensor, use: Callable[[Array], R]) -> R:
        """Calls a function with a copy on the host, made when no kernel is about to write the elements."""
        reject_recording("a tensor is read by the host", "read it when the graph was replayed; nothing runs before")
        ledger_of(self.number).demand_free()
        return use(cuda_copies.to_host(tensor))

    def write(self, tensor: Tensor, values: Array) -> None:
        """Writes elements if no kernel uses them. The host does not wait until they are there."""
        ledger = ledger_of(self.number)
        with ledger.lock:
            for stream, turn in ledger.holders(tensor.span, True):
                work = next((work for at, work in stream.pending if at == turn), None)
                # What the host itself had written or read is in order with what it has written now.
                if work is None or work.name not in _BY_HOST:
                    raise host_access.in_flight(tensor, stream, turn)
        self.send(tensor, np.broadcast_to(values, tensor.shape))

    def send(self, tensor: Tensor, values: Array) -> None:
        """Has the current stream write elements, in order with all other work."""
        _demand_writeable(tensor)
        cuda_copies.from_host(tensor, values)

    def fill(self, tensor: Tensor, value: Any) -> None:
        """Has the current stream write one value to all elements of a tensor that was just made."""
        cuda_copies.fill(tensor, value)

    def copy(self, to: Tensor, source: Tensor) -> None:
        """Has the current stream copy elements within the GPU, or from another one."""
        _demand_dense(to, source)
        _demand_writeable(to)
        cuda_copies.device_to_device(to, source)

    def fetch(self, tensor: Tensor) -> Callable[[], Array]:
        """Has the current stream copy the elements to the host."""
        return cuda_copies.fetch(tensor)

    def lend(self, tensor: Tensor, stream: int) -> None:
        """Has work of another library on a stream begin when ours on the tensor is done; memory goes back after it."""
        lend(self.number, tensor.span, stream)
        tensor.block.borrowers.add(stream)


def _demand_dense(to: Tensor, source: Tensor) -> None:
    if not (to.is_contiguous and source.is_contiguous):
        message = "a tensor with gaps is copied within a GPU"
        cure = "copy it with a kernel: `y[i, j] = x[i, j]`"
        raise LaunchError(Diagnostic(Code.DIMENSION_DIFFERS, message, help=cure))


def _demand_writeable(tensor: Tensor) -> None:
    reject_recording("a tensor is written by the host", "write it before the graph, or record `tp.copy(x, y)`")
    if not tensor.block.is_writeable:
        raise host_access.read_only(tensor)
