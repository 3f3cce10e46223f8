"""What is said when the assembler fails: in our words, with the line of the kernel where it names one."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.spans import Span

from .tileir.types import Location

VERBOSE: Final = "TILEPROOF_VERBOSE"
_LINES: Final = 40
"""Lines of the assembler's text that are shown; the first say most."""
_CRASHED: Final = "the assembler crashed"
_REFUSED, _NOT_COMPILED = 3, 5
"""Exit codes: code that breaks a rule of Tile IR, and code that it could not finish."""
_LACKS: Final = re.compile(r"Incompatibility with architecture '\w+': (?P<what>.*)")
_PLACE: Final = re.compile(r'"(?P<file>[^"\n]+)":(?P<line>\d+):(?P<column>\d+)[^\n]*?\berror: ')
_TYPES: Final = {
    "f8E4M3FN": ("f8e4m3", "sm_90"),
    "f8E5M2": ("f8e5m2", "sm_90"),
    "f8E8M0FNU": ("f8e8m0", "sm_100"),
    "f4E2M1FN": ("f4e2m1", "sm_100"),
}
"""The assembler's names of element types, ours, and the first architecture that has them."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the assembler printed about a kernel, and whether the user wants to read it."""

    kernel: str
    arch: str
    output: bytes
    verbose: bool

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "replace").strip()

    @property
    def note(self) -> str:
        """Its own words, or how to see them."""
        if not self.verbose:
            return f"{VERBOSE}=1, or --verbose, shows what the assembler said"
        lines = self.text.splitlines()
        if not lines:
            return "the assembler said nothing"
        more = [f"... and {len(lines) - _LINES} lines more"] if len(lines) > _LINES else []
        return "\n".join(["the assembler said", *lines[:_LINES], *more])


def is_verbose(asked: bool | None) -> bool:
    """Whether to show the assembler's own words: as asked, else as the variable says."""
    return os.environ.get(VERBOSE, "0") not in ("", "0") if asked is None else asked


def failed(said: Said, status: int, span_at: Callable[[Location], Span | None]) -> Diagnostic:
    """The assembler ended with an exit code other than 0, or by a signal (a negative number)."""
    span = _span(said.text, span_at)
    lacks = _LACKS.search(said.text)
    if lacks:
        return _lacks(said, lacks["what"], span)
    kernel = _named(said.kernel)
    report = f"report this, with the kernel and what {VERBOSE}=1 shows"
    if status == _REFUSED:
        message = f"the assembler refuses the code of {kernel}"
        help = f"this is a defect of tileproof: please {report}"
    elif status == _NOT_COMPILED:
        message = f"the assembler cannot compile {kernel} for {said.arch}"
        help = f"try smaller tiles; if that does not help, please {report}"
    elif status == -signal.SIGKILL:
        message = f"the assembler was killed while it compiled {kernel}"
        help = "the machine may have run out of memory: compile less at a time, or use smaller tiles"
    elif status < 0:
        message = f"{_CRASHED} ({_signal(-status)}) while it compiled {kernel}"
        help = f"try smaller tiles; in any case please {report}"
    else:
        message = f"the assembler failed with exit code {status} on {kernel}"
        help = f"please {report}"
    return Diagnostic(Code.ASSEMBLER_FAILED, message, span, notes=(said.note,), help=help, kernel=said.kernel)


def is_crash(found: Diagnostic) -> bool:
    """Whether this says that the assembler broke down over a module, which other words may spare it."""
    return found.code is Code.ASSEMBLER_FAILED and found.message.startswith(_CRASHED)


def no_cubin(said: Said, why: str) -> Diagnostic:
    """The assembler claims success and has made nothing that can be used."""
    message = f"the assembler made no machine code of {_named(said.kernel)}"
    help = "install the assembler anew: pip install --force-reinstall 'tileproof[cuda]'"
    return Diagnostic(Code.ASSEMBLER_FAILED, message, notes=(why, said.note), help=help, kernel=said.kernel)


def took_too_long(kernel: str, arch: str, seconds: float, variable: str) -> Diagnostic:
    """The assembler was stopped."""
    return Diagnostic(
        Code.ASSEMBLER_TIMEOUT,
        f"the assembler did not finish {_named(kernel)} for {arch} within {seconds:g} seconds",
        notes=("large tiles, long chains of operations on them, and matrix products of f32 take it long",),
        help=f"use smaller tiles, or allow more time: {variable}={max(1, 4 * seconds):g}",
        kernel=kernel,
    )


def no_room(kernel: str, error: OSError) -> Diagnostic:
    """The files for the assembler could not be written, or it could not be started."""
    reason = error.strerror or str(error)
    return Diagnostic(
        Code.ASSEMBLER_FAILED,
        f"the assembler could not be run on {_named(kernel)}",
        notes=(f"{reason}: {error.filename}" if error.filename else reason,),
        help="make room in the folder for temporary files, or let TMPDIR name another",
        kernel=kernel,
    )


def _lacks(said: Said, what: str, span: Span | None) -> Diagnostic:
    """The GPU cannot do something that the kernel does."""
    unknown = re.fullmatch(r"unsupported type '(\w+)'", what)
    if unknown:
        ours, first = _TYPES.get(unknown[1], (unknown[1], ""))
        message = f"GPUs of architecture {said.arch} do not have the element type {ours}"
        newer = f"run it on a GPU of architecture {first} or newer" if first else "run it on a newer GPU"
        help = f"{newer}, or cast to a wider type on the CPU first"
    elif "atomic" in what:
        element = next(iter(re.findall(r"\b(?:bf|f|i)\d+\b", what)), "this type")
        message = f"GPUs of architecture {said.arch} cannot add {element} from several programs into one element"
        help = "give the Sum the element type f32, or run it on a newer GPU"
    else:
        message = f"GPUs of architecture {said.arch} lack an operation of {_named(said.kernel)}"
        help = 'run it on a newer GPU, or on the CPU: tp.backend("cpu")'
    return Diagnostic(Code.ARCH_LACKS, message, span, notes=(said.note,), help=help, kernel=said.kernel)


def _span(text: str, span_at: Callable[[Location], Span | None]) -> Span | None:
    """The first place that an error names and the source has."""
    places = (Location(each["file"], int(each["line"]), int(each["column"])) for each in _PLACE.finditer(text))
    return next((span for span in map(span_at, places) if span is not None), None)


def _named(kernel: str) -> str:
    return f"`{kernel}`" if kernel else "this kernel"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
