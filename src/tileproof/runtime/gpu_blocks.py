"""Memory of a GPU, of which launches that follow a plan know what they must: see `fast`."""

from __future__ import annotations

from ctypes import addressof
from typing import Any

from tileproof.backends.cuda.driver import Memory
from tileproof.language.dtypes import DType

from .accounting import Account
from .devices import Described
from .fast.layout import StateData
from .fast.plan import CUDA
from .fast.readers import record
from .storage import Block, Written


class GpuBlock(Block):
    """A piece of memory of a GPU. The native code counts writes and notes when all of it was written."""

    __slots__ = ("_noted", "_unwritten", "borrowers", "state")

    def __init__(
        self, device: int, address: int, nbytes: int, owner: object, account: Account | None, **how: Any
    ) -> None:
        self.state = StateData(0, address, address + nbytes)
        self._unwritten: Written | None = None
        self._noted = -1
        self.borrowers: set[int] = set()
        """Streams on which other libraries were lent the memory: it goes back behind what they do there."""
        super().__init__(device, address, nbytes, owner, account, **how)
        self.state.lent = id(self.lent)

    @property
    def version(self) -> int:
        """How often a launch or the host was allowed to write it."""
        return self._noted + int(self.state.version)

    @version.setter
    def version(self, version: int) -> None:
        # Whatever is assigned is meant to be one more; what the native code counts meanwhile is not lost.
        self._noted += 1

    @property
    def written(self) -> Written | None:
        """What was ever written; None for all of it."""
        return self._unwritten if self.state.unwritten else None

    @written.setter
    def written(self, written: Written | None) -> None:
        self._unwritten = written
        self.state.unwritten = written is not None

    def record(self, dtype: DType, address: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> bytes | None:
        """What the native code reads of a tensor here; None if each launch must look closer."""
        lender = self.owner
        if isinstance(lender, Described) and (lender.stream is not None or lender.memory is not Memory.DEVICE):
            return None
        assert self.device is not None
        return record(address, dtype, shape, strides, (CUDA, self.device), self.is_writeable, addressof(self.state))
