"""Memory of our own on a GPU: the driver's pool gives it in the order of a stream, and takes it back in that order.

New memory is for the current stream at once, and for others when that one comes to it: the allocation is work, which
others wait for as for any that writes. Memory goes back on the stream it came from, its home, when all streams that use
it are done with it; nobody waits for that on the host, so a tensor may be dropped while a kernel uses it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from tileproof.backends.cuda.device.driver import Device
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import LaunchError
from tileproof.diagnostics.values import in_words
from tileproof.language.dtypes import DType
from tileproof.runtime.interop.describe import current_stream
from tileproof.runtime.memory.accounting import Account, Taken
from tileproof.runtime.memory.block import Block
from tileproof.runtime.memory.ledger import Span, Work, ledger_of
from tileproof.runtime.stream.cuda_streams import CudaStream, current_cuda_stream


class CudaAccount(Account):
    """The memory of one GPU."""

    def __init__(self, device: int) -> None:
        super().__init__(device)
        self.gpu = Device(device)
        self.gpu.pool()
        self._driver = self.gpu.driver
        self._postponed: list[tuple[Span, CudaStream]] = []
        """What could not go back yet, because a stream was recording a graph."""
        self._aside: CudaStream | None = None

    def _take(self, nbytes: int, what: tuple[Any, DType], is_zero: bool) -> Block:
        assert self.device is not None
        assert not is_zero
        stream = current_cuda_stream(self.device)
        if stream.is_recording:
            # A graph would have memory of its own here, which is gone after each replay.
            stream = self._side_stream()
        address = self._allocate(nbytes, what, stream)
        if nbytes:
            stream.note(Work("allocation", (), ((address, address + nbytes),)))
        if stream is self._aside:
            stream.until(stream.turn)
        block = Block(self.device, address, nbytes, None, self, is_written=False, home=stream)
        try:
            self._note(block)
        except BaseException:
            self._note(block)  # or it would not be given back
            raise
        return block

    def _note(self, block: Block) -> None:
        """Counts memory that was taken; what is counted is not counted again."""
        taken = Taken(block, self.dropped.append)
        taken.address, taken.nbytes, taken.home = block.address, block.nbytes, block.home
        taken.borrowers = block.borrowers
        if taken not in self.taken:
            self.taken[taken] = None
            self.in_use += taken.nbytes
            if self.in_use > self.high_water:
                self.high_water = self.in_use

    def _side_stream(self) -> CudaStream:
        """A stream that records nothing."""
        if self._aside is None:
            self._aside = CudaStream(f"cuda:{self.device}")
        return self._aside

    def _allocate(self, nbytes: int, what: tuple[Any, DType], stream: CudaStream) -> int:
        try:
            return self.gpu.allocate_async(nbytes, stream.handle)
        except LaunchError as error:
            if error.diagnostics[0].code is not Code.OUT_OF_DEVICE_MEMORY:
                raise
        with suppress(LaunchError):  # while a graph is recorded nobody can wait for the GPU
            self._make_room()
        try:
            return self.gpu.allocate_async(nbytes, stream.handle)
        except LaunchError as error:
            if error.diagnostics[0].code is not Code.OUT_OF_DEVICE_MEMORY:
                raise
            free, total = self.gpu.memory_info()
            why = f"{in_words(free)} of {in_words(total)} are free there"
            raise self.refusal(nbytes, what, why) from None

    def _make_room(self) -> None:
        """Lets go of all that finished work holds, and has the pool give back what nobody uses."""
        self.gpu.call("waiting for the GPU", "cuCtxSynchronize")
        ledger = ledger_of(self.device)
        with ledger.lock:
            for stream in ledger.under_way():
                stream.has_done(stream.turn)
            ledger.retire()
        self.settle()
        # What was given back just now is free when the streams come to it.
        self.gpu.call("waiting for the GPU", "cuCtxSynchronize")
        self.gpu.trim_pool()

    def settle(self) -> None:
        postponed, self._postponed = self._postponed, []
        for span, home in postponed:
            self._free(span, home)
        super().settle()

    def _give_back(self, gone: Taken) -> None:
        if gone.borrowers:
            self._order_behind_borrowers(gone.home, gone.borrowers)
        if gone.nbytes:
            self._free((gone.address, gone.address + gone.nbytes), gone.home)

    def _order_behind_borrowers(self, home: CudaStream, borrowers: Iterable[int]) -> None:
        """Memory that was lent goes back after what its borrowers do with it, on their streams and on torch's now."""
        if self._driver.lost is not None or self._driver.process != os.getpid():
            return
        try:
            for handle in {*borrowers, current_stream(home.gpu.ordinal)} - {home.handle}:
                event = self.gpu.event()
                event.record(handle)
                event.wait_on(home.handle)
                event.give_back()
        except LaunchError:  # a stream that is no more, or records a graph
            with suppress(LaunchError):
                self.gpu.call("waiting for the GPU", "cuCtxSynchronize")

    def _free(self, span: Span, home: CudaStream) -> None:
        """Gives memory back when all who use it are done. Where the context is lost, it went with that."""
        driver = self._driver
        if driver.lost is not None or driver.process != os.getpid():
            return
        ledger = ledger_of(self.device)
        with ledger.lock:
            others = [(stream, turn) for stream, turn in ledger.users(span, True) if stream is not home]
            if home.is_recording or any(stream.is_recording for stream, _ in others):
                self._postponed.append((span, home))
                return
            with suppress(LaunchError):
                for stream, turn in others:
                    if turn > home.seen.get(stream, 0):
                        home.order_behind(stream, turn)
                self.gpu.free_async(span[0], home.handle)
            if ledger.poisoned:
                ledger.cure(span)

    def _room(self) -> tuple[int | None, int | None]:
        return self.gpu.memory_info()
