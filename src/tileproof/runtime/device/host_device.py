"""The host as a device: native code runs as jobs of its pool, any other code as a function of Python.

A function is called where the launch is made, under the leases of the launch, and is done when that returns: so its
errors are raised there. In a graph the thread of the stream calls it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from tileproof.backends.base import Backend
from tileproof.backends.cpu.device.loaded_code import Loaded
from tileproof.backends.cpu.device.queue import copy_of
from tileproof.backends.scalars import require
from tileproof.compiler.proved import Proved, signature_of
from tileproof.runtime.interop.describe import Array
from tileproof.runtime.launch import cpu_launches
from tileproof.runtime.launch.binding import Bound
from tileproof.runtime.launch.premises import Watch, separate
from tileproof.runtime.memory.accounting import Account
from tileproof.runtime.memory.ledger import Outdated, Work, ledger_of
from tileproof.runtime.memory.recorder import recording, reject_recording
from tileproof.runtime.stream.cpu_streams import Called, CpuStream, current
from tileproof.runtime.tensor.host_access import in_flight, read_only
from tileproof.runtime.tensor.tensors import Tensor

if TYPE_CHECKING:
    from tileproof.runtime.graph.cpu_graphs import Player
    from tileproof.runtime.graph.graphs import Recorded

R = TypeVar("R")
_SMALL: Final = 1 << 16
"""Bytes that are copied in less time than it takes to have a stream do it."""


class HostDevice:
    """The memory of the host."""

    streams = CpuStream
    others_write = True

    def launch(self, backend: Backend, proved: Proved, bound: Bound) -> None:
        """Runs a launch; what code is, if it is not native, calls for no more than a function of the arguments."""
        require(proved.ready, bound.scalars, bound.dimensions)
        code = backend.compile(proved, bound)
        try:
            if isinstance(code, Loaded):
                cpu_launches.launch(code, proved, bound)
            else:
                cpu_launches.run_here(_function(code, bound), proved, bound)
        except Outdated:
            # Another thread wrote what was looked at. The second try looks at copies, which nobody writes.
            separate(proved, signature_of(proved), bound, all_of_them=True)
            self.launch(backend, proved, bound)

    def part_of(
        self, backend: Backend, args: tuple[Any, ...], named: dict[str, Any], proved: Proved, bound: Bound, ahead: Any
    ) -> tuple[Work, array[int]]:
        """The steps of a queue. What is ahead of them does not matter: each waits for the one before."""
        require(proved.ready, bound.scalars, bound.dimensions)
        code = backend.compile(proved, bound)
        if isinstance(code, Loaded):
            return cpu_launches.steps_of(code, proved, bound)
        return cpu_launches.called(_function(code, bound), proved, bound)

    def copy_part(self, to: Tensor, source: Tensor) -> tuple[Work, array[int]]:
        """A copy as work, and the steps of a queue that do it."""
        reads, writes = (source.span,), (to.span,)
        own = (to,) if to.block.is_owned else ()
        if to.is_contiguous and source.is_contiguous:
            steps = array("Q", copy_of(to.address, source.address, to.nbytes))
            work = Work("copy", reads, writes, (to, source, steps))
            work.views = own
            return work, steps
        into, outof = to._array, source._array
        called = Called("copy", lambda: np.copyto(into, outof), reads, writes, (to, source))
        called.views = own
        return called, called.steps

    def player_of(
        self, recorded: Sequence[Recorded], edges: Sequence[tuple[int, int]], watches: Sequence[Watch]
    ) -> Player:
        """The steps of all parts, one after another: the order of recording is one that the edges allow."""
        from tileproof.runtime.graph.cpu_graphs import Player

        return Player(recorded, watches)

    def account(self) -> Account:
        """The memory of the host that tensors take."""
        account = Account(None)
        ledger_of(None).owner_of = account.owner_of
        return account

    def look(self, tensor: Tensor, use: Callable[[Array], R]) -> R:
        """Calls a function with the elements where they lie, while no work can begin that writes them."""
        ledger, span = ledger_of(None), tensor.span
        if recording.get() is not None or ledger.lock._is_owned():  # type: ignore[attr-defined]
            ledger.wait_for_host(span, writing=False)  # which knows what to do amid a launch
        while True:
            with ledger.lock, ledger.door:  # no launch begins meanwhile
                if not ledger.holders(span, False):
                    ledger.retire()
                    if not ledger.poisoned or ledger.poison_in(span) is None:
                        return use(tensor._array)
            ledger.wait_for_host(span, writing=False)

    def write(self, tensor: Tensor, values: Array) -> None:
        """Writes elements if no kernel uses them."""
        reject_recording("a tensor is written by the host", "write it before the graph, or record `tp.copy(x, y)`")
        if not tensor.block.is_writeable:
            raise read_only(tensor)
        ledger = ledger_of(None)
        with ledger.lock, ledger.door:
            holders = ledger.holders(tensor.span, True)
            if holders:
                raise in_flight(tensor, *holders[0])
            ledger.retire()
            if ledger.poisoned:
                for low, high in tensor.runs.tolist():
                    ledger.cure((low, high))
            tensor.note_write()
            tensor._array[...] = values

    def send(self, tensor: Tensor, values: Array) -> None:
        """The same: elements that come from a GPU have been waited for."""
        self.write(tensor, values)

    def fill(self, tensor: Tensor, value: Any) -> None:
        """Writes one value to all elements of a tensor that was just made."""
        tensor.block.written = None
        tensor._array[...] = value

    def copy(self, to: Tensor, source: Tensor) -> None:
        """Has the current stream copy elements; waits for it if others can reach the memory."""
        if to.nbytes <= _SMALL and self._copied_now(to, source):
            return
        work, steps = self.copy_part(to, source)
        is_own = not (to.block.is_shared or source.block.is_shared)
        if not is_own:
            ledger_of(None).wait_for_host(source.span, writing=False)  # others would not learn what went wrong with it
        stream = current()
        work.note = to.note_write
        turn = stream.push(work, steps)
        if not is_own:
            stream.until(turn)
            stream.settle((turn,))

    def _copied_now(self, to: Tensor, source: Tensor) -> bool:
        """Copies elements here if no work is under way: a stream takes longer to be given so few."""
        ledger, stream = ledger_of(None), current()
        ledger.demand_free()
        with ledger.lock, ledger.door:
            if ledger.is_quiet and stream.done >= stream.turn:
                to._array[...] = source._array
                to.note_write()
                return True
        return False

    def fetch(self, tensor: Tensor) -> Callable[[], Array]:
        """A copy in memory of its own, made by the current stream."""
        from tileproof.runtime.tensor.creation import empty

        copy = empty(tensor.shape, tensor.dtype)
        self.copy(copy, tensor)
        return copy.numpy

    def lend(self, tensor: Tensor, stream: int) -> None:
        """Nothing: the host has no streams of other libraries."""


def _function(code: Callable[..., None], bound: Bound) -> Callable[[], None]:
    arguments = {**bound.tensors, **bound.scalars}
    return lambda: code(arguments, bound.dimensions)


class CpuBackend:
    """The backend that makes native code for this machine."""

    on_gpu = False

    def compile(self, proved: Proved, bound: Bound) -> Loaded:
        """Native code for what a launch lets it rely on: in memory, on disk, or made now."""
        return cpu_launches.loaded_for(proved, bound)
