"""How a function of the CUDA driver is called: in the right context, with failures in words, never after its end.

An error that loses the context, as an illegal address does, comes from work that was started earlier, and every call
after it would fail with the same words. The first one is reported as it comes; later calls are rejected here, with what
lost the context, and what is freed is not given back any more.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, Protocol

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.diagnostics.values import in_words

NOT_READY: Final = 600
"""No failure: what was asked for has not come yet."""

_OUT_OF_MEMORY: Final = 2
_NOT_INITIALISED: Final = 3
_NO_GPU: Final = frozenset({34, 46, 100, 101, 102, 802})
"""A stub library in place of a driver; a GPU that is taken, absent, out of range, not licensed, not ready."""
_TOO_OLD: Final = frozenset({36, 227, 803, 804})
"""What a library of CUDA that is newer than the driver meets."""
_NOT_FOR_THIS_GPU: Final = frozenset({200, 209, 218, 222, 300})
"""An image that is invalid, has no code for this GPU, or holds a text that the driver cannot compile."""
_RECORDING: Final = {
    900: "the stream records a graph, where nothing can be waited for: do this before the recording",
    901: "what was asked for while the graph was recorded cannot be: look for the error before this one",
    902: "two graphs are recorded at once, and this would make one of them: let no stream wait for the other's",
    903: "end the recording on the stream that began it",
    904: "another stream joined the recording: have the one that began it wait for that one's last work",
    905: "a stream that records can only wait for what was recorded: start what it needs before the recording",
    906: "a stream that records makes the default stream wait: use a stream of your own for this",
    907: "the event was recorded into a graph, where its moment has no time: wait for the graph instead",
    908: "end the recording in the thread that began it",
}
"""What a stream that records a graph rejects, and the way out."""
_LOST: Final = frozenset({214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 911, 999})
"""After these every later call of the process fails as well."""
_RESTART: Final = "the context is lost: restart the process"


def no_gpu(message: str, *notes: str) -> Diagnostic:
    """There is no GPU to use."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    seen = () if visible is None else (f"CUDA_VISIBLE_DEVICES is {visible!r}: no other GPUs are seen",)
    cure = "run it where `nvidia-smi` lists a GPU, or on the CPU: TILEPROOF_BACKEND=cpu"
    return Diagnostic(Code.NO_GPU, message, notes=(*notes, *seen), help=cure)


def too_old(message: str, *notes: str) -> Diagnostic:
    """The driver cannot run what is made here."""
    return Diagnostic(Code.DRIVER_TOO_OLD, message, notes=notes, help="install NVIDIA driver 580 or a newer one")


def is_lost_by(number: int) -> bool:
    """Whether nothing works any more after an error."""
    return number in _LOST


def lost_earlier(doing: str, first: Diagnostic) -> Diagnostic:
    """Something cannot be done because of what was reported before."""
    message = f"{doing} failed: the CUDA context was lost earlier"
    return Diagnostic(Code.CUDA_FAILED, message, notes=(first.message, *first.notes), help=_RESTART)


def diagnostic_of(
    number: int,
    error: str,
    doing: str,
    *,
    room: tuple[int, int] | None,
    launched: Sequence[str],
    is_forked: bool,
    is_of_host: bool = False,
) -> Diagnostic:
    """What error `number` of a call means. `room` is the free and the whole memory, `launched` the latest kernels.

    `is_of_host` says that memory of the host was asked for.
    """
    note = f"CUDA says {error}"
    if number in _NO_GPU:
        return no_gpu("no NVIDIA GPU can be used", f"{note} while {doing}")
    if number in _TOO_OLD:
        return too_old("the NVIDIA driver is too old", f"{note} while {doing}")
    if number in _NOT_FOR_THIS_GPU:
        cure = "compile it for this GPU: every launch does, and `Device(0).arch` names the architecture"
        return Diagnostic(Code.WRONG_ARCH, f"the code is not for this GPU: {doing} failed", notes=(note,), help=cure)
    if number == _OUT_OF_MEMORY and is_of_host:
        cure = "use less of it at a time: it is taken from the host's memory for good, and the system limits it"
        message = f"the host has too little memory: {doing} failed"
        return Diagnostic(Code.OUT_OF_DEVICE_MEMORY, message, notes=(note,), help=cure)
    if number == _OUT_OF_MEMORY:
        free = (f"{in_words(room[0])} of {in_words(room[1])} are free",) if room else ()
        cure = "use smaller arrays, or free others; `torch.cuda.empty_cache()` gives back what torch keeps"
        message = f"the GPU has too little memory: {doing} failed"
        return Diagnostic(Code.OUT_OF_DEVICE_MEMORY, message, notes=(*free, note), help=cure)
    if number == _NOT_INITIALISED and is_forked:
        note = "this process was forked from one that used CUDA, and CUDA does not live on in such a process"
        cure = 'start it anew: `multiprocessing.get_context("spawn")`'
    elif number in _RECORDING:
        cure = _RECORDING[number]
    elif number in _LOST:
        cure = _RESTART
    else:
        cure = "if what ran on the GPU before is right, please report this"
    last = (f"launched last: {', '.join(f'`{name}`' for name in launched)}",) if launched else ()
    return Diagnostic(Code.CUDA_FAILED, f"CUDA failed while {doing}", notes=(note, *last), help=cure)


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
        error = getattr(result, "name", f"error {number}")
        known, text = self.api.cuGetErrorString(result)
        if not int(known) and text:
            error += f" ({bytes(text).decode()})"
        known, *room = self.api.cuMemGetInfo()
        diagnostic = diagnostic_of(
            number,
            error,
            _worded(doing, size),
            room=None if int(known) or is_of_host else (int(room[0]), int(room[1])),
            launched=tuple(self.launched),
            is_forked=os.getpid() != self.process,
            is_of_host=is_of_host,
        )
        if is_lost_by(number) and self.lost is None:
            self.lost = diagnostic
        return diagnostic

    def gone(self, doing: str, size: int | None = None) -> LaunchError:
        """The refusal of a call after the context was lost."""
        assert self.lost is not None
        return LaunchError(lost_earlier(_worded(doing, size), self.lost))

    def entry_point(self, name: str) -> int:
        """The address of a function of the driver."""
        # 0 stands for the default flags.
        address, status = self.call(f"looking up {name}", "cuGetProcAddress", name.encode(), OLDEST, 0)
        if not int(address):
            note = f"CUDA says {getattr(status, 'name', status)}"
            raise LaunchError(too_old(f"the NVIDIA driver has no {name}", note))
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
            context = self.call("making a context", "cuDevicePrimaryCtxRetain", self.device(ordinal))
            self.contexts[ordinal] = int(context)
        return self.contexts[ordinal]

    def enter(self, ordinal: int) -> bool:
        """Has a context of a GPU current in this thread; whether that of another is to be current again afterwards."""
        if self.lost is not None:
            raise self.gone("looking for a context")
        # Without `call`: this comes before every other call.
        result, current = self.api.cuCtxGetCurrent()
        if result:
            raise LaunchError(self.failure(result, "looking for a context"))
        before = int(current)
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
