"""What an error of the CUDA driver means for a user: one of our codes, what CUDA said, and the way out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic
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
"""What a stream that records a graph refuses, and the way out."""
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


def explained(
    number: int,
    said: str,
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
    note = f"CUDA says {said}"
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
