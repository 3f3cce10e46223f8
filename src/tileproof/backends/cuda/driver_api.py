"""How a function of the CUDA driver is called: in the right context, with failures in words, never after its end.

An error that loses the context, as an illegal address does, comes from work that was started earlier, and every call
after it would fail with the same words. The first one is reported as it comes; later calls are refused here, with what
lost the context, and what is freed is not given back any more.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from types import TracebackType
from typing import Any, Final, Protocol

from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import LaunchError
from tileproof.diagnostics.values import in_words

from .driver_failures import explained, is_lost_by, lost_earlier, too_old

OLDEST: Final = 13000
"""The least version of CUDA that a driver must support: 13.0, which came with driver 580."""


class Driver:
    """The functions of `cuda.bindings.driver`, and what one process keeps of them."""

    __slots__ = ("__weakref__", "api", "contexts", "count", "devices", "events", "host", "launched", "lost", "pools",
                 "process")  # fmt: skip

    def __init__(self, api: Any) -> None:
        self.api = api
        self.count: int | None = None
        """How many GPUs there are, once somebody asked."""
        self.devices: dict[int, Any] = {}
        self.contexts: dict[int, int] = {}
        """The primary contexts that were retained, by GPU."""
        self.pools: dict[int, Any] = {}
        self.events: dict[int, list[Any]] = {}
        """Events that were given back, by GPU."""
        self.launched: deque[str] = deque(maxlen=4)
        self.lost: Diagnostic | None = None
        """What the context was lost by."""
        self.process = os.getpid()

    def call(self, doing: str, name: str, *args: Any, size: int | None = None) -> Any:
        """What a function of the driver gives. `doing` says in an error what for, with `size` in words at its `{}`."""
        if self.lost is not None:
            raise self.gone(doing, size)
        answer = getattr(self.api, name)(*args)
        if answer[0]:
            raise LaunchError(self.failure(answer[0], doing, size, is_of_host=name == "cuMemHostAlloc"))
        return answer[1] if len(answer) == 2 else answer[1:]

    def failure(self, result: Any, doing: str, size: int | None = None, *, is_of_host: bool = False) -> Diagnostic:
        """What went wrong, and the way out. Remembers it if nothing works any more."""
        number = int(result)
        said = getattr(result, "name", f"error {number}")
        known, text = self.api.cuGetErrorString(result)
        if not int(known) and text:
            said += f" ({bytes(text).decode()})"
        known, *room = self.api.cuMemGetInfo()
        found = explained(
            number,
            said,
            _worded(doing, size),
            room=None if int(known) or is_of_host else (int(room[0]), int(room[1])),
            launched=tuple(self.launched),
            is_forked=os.getpid() != self.process,
            is_of_host=is_of_host,
        )
        if is_lost_by(number) and self.lost is None:
            self.lost = found
        return found

    def gone(self, doing: str, size: int | None = None) -> LaunchError:
        """The refusal of a call after the context was lost."""
        assert self.lost is not None
        return LaunchError(lost_earlier(_worded(doing, size), self.lost))

    def entry_point(self, name: str) -> int:
        """The address of a function of the driver."""
        # 0 stands for the default flags.
        address, status = self.call(f"looking up {name}", "cuGetProcAddress", name.encode(), OLDEST, 0)
        if not int(address):
            said = f"CUDA says {getattr(status, 'name', status)}"
            raise LaunchError(too_old(f"the NVIDIA driver has no {name}", said))
        return int(address)

    # Contexts.

    def device(self, ordinal: int) -> Any:
        """The driver's name of a GPU."""
        if ordinal not in self.devices:
            self.devices[ordinal] = self.call("opening the GPU", "cuDeviceGet", ordinal)
        return self.devices[ordinal]

    def context(self, ordinal: int) -> int:
        """The primary context of a GPU."""
        if ordinal not in self.contexts:
            # Never given back: torch and others count on theirs until the process ends, and so do our kernels.
            made = self.call("making a context", "cuDevicePrimaryCtxRetain", self.device(ordinal))
            self.contexts[ordinal] = int(made)
        return self.contexts[ordinal]

    def enter(self, ordinal: int) -> bool:
        """Has a context of a GPU current in this thread; whether that of another is to be current again afterwards."""
        if self.lost is not None:
            raise self.gone("looking for a context")
        # Without `call`: this comes before every other call.
        result, found = self.api.cuCtxGetCurrent()
        if result:
            raise LaunchError(self.failure(result, "looking for a context"))
        before = int(found)
        if not before:
            self.call("entering the GPU's context", "cuCtxSetCurrent", self.context(ordinal))
            return False
        if before == self.contexts.get(ordinal):
            return False
        if int(self.call("looking for a context", "cuCtxGetDevice")) == int(self.device(ordinal)):
            return False
        self.call("entering the GPU's context", "cuCtxPushCurrent", self.context(ordinal))
        return True

    def leave(self) -> None:
        """Has the context current again that was so before `enter`."""
        if self.lost is None:
            self.call("leaving the GPU's context", "cuCtxPopCurrent")

    # What ends with a Python object.

    def drop_with(self, owner: object, name: str, handle: int) -> None:
        """Has a function of the driver end what `handle` names, when its owner is gone."""
        # The end of the process ends everything, and the driver may be gone before Python is.
        weakref.finalize(owner, _drop, self, name, handle).atexit = False


def _worded(doing: str, size: int | None) -> str:
    return doing if size is None else doing.format(in_words(size))


def _drop(driver: Driver, name: str, handle: int) -> None:
    # There is nobody to tell that it failed. What belongs to the process this one was forked from is not ours to end.
    if driver.lost is None and driver.process == os.getpid():
        getattr(driver.api, name)(handle)


class Current:
    """A `with` block in which a context of a GPU is current."""

    __slots__ = ("driver", "is_other", "ordinal")

    def __init__(self, driver: Driver, ordinal: int) -> None:
        self.driver, self.ordinal, self.is_other = driver, ordinal, False

    def __enter__(self) -> None:
        self.is_other = self.driver.enter(self.ordinal)

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, at: TracebackType | None
    ) -> None:
        if self.is_other:
            self.driver.leave()


class Gpu(Protocol):
    """A GPU as the things on it know it, such as events and graphs: what calls the driver in a context of it."""

    @property
    def ordinal(self) -> int: ...
    @property
    def driver(self) -> Driver: ...
    def call(self, doing: str, name: str, *args: Any, size: int | None = None) -> Any: ...
