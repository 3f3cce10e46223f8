"""From Tile IR bytecode to the machine code of one GPU architecture, by NVIDIA's assembler.

The assembler runs as a process of its own, in a folder that is removed whatever happens, and for a limited time. What
goes wrong in it is reported as an error of the kernel, at the line of the kernel if the assembler names one; the
assembler's own output follows if TILEPROOF_VERBOSE asks for it.

The process leads a process group of its own. Whatever ends the run (its end, the time limit, Ctrl-C, a request by
another thread) ends the whole group: the assembler starts further programs, which would otherwise go on alone.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import queue
import re
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final, TypeAlias

from tileproof.backends.cuda.tileir.types import Location
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, KernelError, LaunchError, TileproofError
from tileproof.diagnostics.spans import Span

from .cubin import Remark, Resources, read_remarks, resources_of
from .toolchain import UPGRADE, Toolchain, find

_KEPT: Final = 1 << 18
"""Bytes of output that are kept; the rest is read and forgotten, so that the program never waits for a reader."""
_LOOK: Final = 0.1
"""Seconds between two looks at whether a program that says nothing has ended."""


class Stopped(Exception):
    """The switch of a run was pulled."""


class Switch:
    """Stops the runs that watch it, from any thread, at once and for good."""

    def __init__(self) -> None:
        self.watched, self._pulled = os.pipe()

    def pull(self) -> None:
        """Stops every run that watches now or later. What is written is never read, so all of them see it."""
        os.write(self._pulled, b"!")

    def close(self) -> None:
        """Frees it, once no run watches any more."""
        os.close(self.watched)
        os.close(self._pulled)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: `status` is its exit code, or the negative number of the signal that ended it."""

    status: int
    output: bytes


def run_program(
    command: Sequence[str | Path], environment: Mapping[str, str], seconds: float, switch: Switch | None = None
) -> Ended:
    """Runs a program to its end: `TimeoutError` after `seconds`, `Stopped` once the switch is pulled."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        output = _read_to_the_end(process.pid, process.stdout, time.monotonic() + seconds, switch)
    finally:
        # Before the program itself is forgotten by the system: until then nobody else can have its number.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()
    return Ended(process.returncode, output)


def _read_to_the_end(pid: int, pipe: IO[bytes], deadline: float, switch: Switch | None) -> bytes:
    """What the program prints until it has ended, which a silent pipe alone does not show: others may hold it open."""
    output = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        if switch is not None:
            selector.register(switch.watched, selectors.EVENT_READ)
        closed = ended = False
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            wait = 0.0 if ended else min(left, 0.001 if closed else _LOOK)
            ready = [key.fileobj for key, _ in selector.select(wait)]
            if switch is not None and switch.watched in ready:
                raise Stopped
            if pipe in ready:
                chunk = os.read(pipe.fileno(), 1 << 16)
                output += chunk[: _KEPT - len(output)]
                if chunk:
                    continue
                selector.unregister(pipe)
                closed = True
            if ended:
                return bytes(output)
            ended = _has_ended(pid)  # and then once more round, for its last words


def _has_ended(pid: int) -> bool:
    """Whether a program has ended, without taking note of it as `wait` would."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # whoever ignores SIGCHLD has no children that have ended
        return True


VERBOSE: Final = "TILEPROOF_VERBOSE"
_LINES: Final = 40
"""Lines of the assembler's text that are shown; the first say most."""
_CRASHED: Final = "the assembler crashed"
_REFUSED, _NOT_COMPILED = 3, 5
"""Exit codes: code that breaks a rule of Tile IR, and code that it could not finish."""
_LACKS: Final = re.compile(r"Incompatibility with architecture '\w+': (?P<what>.*)")
_PLACE: Final = re.compile(r'"(?P<file>[^"\n]+)":(?P<line>\d+):(?P<column>\d+)[^\n]*?\berror: ')
_TYPES: Final = {"f8E4M3FN": ("f8e4m3", "sm_90"), "f8E5M2": ("f8e5m2", "sm_90")}
"""The assembler's names of element types, ours, and the first architecture that has them."""


@dataclass(frozen=True, slots=True)
class Log:
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
            return f"{VERBOSE}=1, or --verbose, prints the output of the assembler"
        lines = self.text.splitlines()
        if not lines:
            return "the assembler printed nothing"
        more = [f"... and {len(lines) - _LINES} lines more"] if len(lines) > _LINES else []
        return "\n".join(["output of the assembler:", *lines[:_LINES], *more])


def is_verbose(asked: bool | None) -> bool:
    """Whether to show the assembler's own words: as asked, else as the variable says."""
    return os.environ.get(VERBOSE, "0") not in ("", "0") if asked is None else asked


def failure(log: Log, status: int, span_at: Callable[[Location], Span | None]) -> Diagnostic:
    """The error for an assembler that ended with a `status` other than 0; a signal is a negative number."""
    span = _span(log.text, span_at)
    lacks = _LACKS.search(log.text)
    if lacks:
        return _lacks(log, lacks["what"], span)
    kernel = _named(log.kernel)
    report = f"report this, with the kernel and what {VERBOSE}=1 shows"
    if status == _REFUSED:
        message = f"the assembler rejects the code of {kernel}"
        help = f"this is a defect of tileproof: please {report}"
    elif status == _NOT_COMPILED:
        message = f"the assembler cannot compile {kernel} for {log.arch}"
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
    return Diagnostic(Code.ASSEMBLER_FAILED, message, span, notes=(log.note,), help=help, kernel=log.kernel)


def is_crash(diagnostic: Diagnostic) -> bool:
    """Whether this says that the assembler broke down over a module, which other words may spare it."""
    return diagnostic.code is Code.ASSEMBLER_FAILED and diagnostic.message.startswith(_CRASHED)


def no_cubin(log: Log, why: str) -> Diagnostic:
    """The assembler claims success and has made nothing that can be used."""
    message = f"the assembler made no machine code of {_named(log.kernel)}"
    help = "install the assembler anew: pip install --force-reinstall 'tileproof[cuda]'"
    return Diagnostic(Code.ASSEMBLER_FAILED, message, notes=(why, log.note), help=help, kernel=log.kernel)


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


def _lacks(log: Log, what: str, span: Span | None) -> Diagnostic:
    """The GPU cannot do something that the kernel does."""
    unknown = re.fullmatch(r"unsupported type '(\w+)'", what)
    if unknown:
        ours, first = _TYPES.get(unknown[1], (unknown[1], ""))
        message = f"GPUs of architecture {log.arch} do not have the element type {ours}"
        newer = f"run it on a GPU of architecture {first} or newer" if first else "run it on a newer GPU"
        help = f"{newer}, or cast to a wider type on the CPU first"
    elif "atomic" in what:
        element = next(iter(re.findall(r"\b(?:bf|f|i)\d+\b", what)), "this type")
        message = f"GPUs of architecture {log.arch} cannot add {element} from several programs into one element"
        help = "give the Sum the element type f32, or run it on a newer GPU"
    else:
        message = f"GPUs of architecture {log.arch} lack an operation of {_named(log.kernel)}"
        help = 'run it on a newer GPU, or on the CPU: tp.backend("cpu")'
    return Diagnostic(Code.ARCH_LACKS, message, span, notes=(log.note,), help=help, kernel=log.kernel)


def _span(text: str, span_at: Callable[[Location], Span | None]) -> Span | None:
    """The first place that an error names and the source has."""
    places = (Location(match["file"], int(match["line"]), int(match["column"])) for match in _PLACE.finditer(text))
    return next((span for span in map(span_at, places) if span is not None), None)


def _named(kernel: str) -> str:
    return f"`{kernel}`" if kernel else "this kernel"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


TIMEOUT: Final = "TILEPROOF_ASSEMBLER_TIMEOUT"
_SECONDS: Final = 120.0
"""Far more than any kernel that is worth running takes."""

Spans: TypeAlias = Callable[[Location], Span | None] | Mapping[Location, Span]
"""Where in the user's source a location of the bytecode lies."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """Machine code, what it takes of a GPU, and what the assembler said of its choices."""

    cubin: bytes
    resources: tuple[Resources, ...]
    remarks: tuple[Remark, ...]
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One module to assemble: `kernel` is its name and `spans` its source, for messages."""

    bytecode: bytes
    arch: str
    spans: Spans | None = None
    kernel: str = ""
    remarks: bool = False
    """Whether the assembler reports how tiles are loaded and matrix products are done. The code is the same."""
    again: Callable[[], bytes] | None = None
    """The same module in other words, for an assembler that crashed over these."""

    def span_at(self, location: Location) -> Span | None:
        """The user's source at a location of the bytecode, if it is known."""
        if self.spans is None:
            return None
        return self.spans(location) if callable(self.spans) else self.spans.get(location)


def assemble(job: Job, *, timeout: float | None = None, verbose: bool | None = None) -> Assembled:
    """The machine code of a module.

    `timeout` is in seconds (TILEPROOF_ASSEMBLER_TIMEOUT unless given), `verbose` shows the assembler's own words
    (TILEPROOF_VERBOSE unless given).
    """
    return _assembled(job, find(), _seconds(timeout), is_verbose(verbose))


def assemble_each(
    jobs: Iterable[Job], workers: int | None = None, *, timeout: float | None = None, verbose: bool | None = None
) -> Iterator[tuple[Job, Assembled | TileproofError]]:
    """Assembles several modules at once; yields each job as it is done, with its code or its error.

    Leaving the loop, by Ctrl-C or otherwise, stops the others. `workers` is how many run at a time, one for each core
    unless given.
    """
    waiting = list(jobs)
    if not waiting:
        return
    crew = _Crew(waiting, find(), _seconds(timeout), is_verbose(verbose))
    try:
        crew.start(max(1, min(len(waiting), workers or len(os.sched_getaffinity(0)))))
        for _ in waiting:
            job, outcome = crew.done.get()
            if not isinstance(outcome, Assembled | TileproofError):
                raise outcome
            yield job, outcome
    finally:
        crew.dismiss()


class _Crew:
    """Threads that each wait for one assembler at a time, and can be sent home.

    They do not keep the process alive: when it ends, their assemblers are ended too.
    """

    def __init__(self, jobs: Iterable[Job], toolchain: Toolchain, seconds: float, verbose: bool) -> None:
        self.done: queue.SimpleQueue[tuple[Job, Assembled | BaseException]] = queue.SimpleQueue()
        self._waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        for job in jobs:
            self._waiting.put(job)
        self._toolchain, self._seconds, self._verbose = toolchain, seconds, verbose
        self._switch = Switch()
        self._threads: list[threading.Thread] = []
        self._dismissed = False

    def start(self, workers: int) -> None:
        """Lets the work begin."""
        atexit.register(self.dismiss)
        for number in range(workers):
            thread = threading.Thread(target=self._run, name=f"tileproof-assembler-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def dismiss(self) -> None:
        """Stops what still runs and waits until it has been cleared away."""
        atexit.unregister(self.dismiss)
        if self._dismissed:
            return
        self._dismissed = True
        self._switch.pull()
        for thread in self._threads:
            thread.join()
        self._switch.close()

    def _run(self) -> None:
        while True:
            try:
                job = self._waiting.get_nowait()
            except queue.Empty:
                return
            try:
                assembled = _assembled(job, self._toolchain, self._seconds, self._verbose, self._switch)
                self.done.put((job, assembled))
            except Stopped:
                return
            except BaseException as error:
                self.done.put((job, error))


def _assembled(
    job: Job, toolchain: Toolchain, seconds: float, verbose: bool, switch: Switch | None = None
) -> Assembled:
    """Runs the assembler on one module; if it crashes, on the same in other words."""
    try:
        return _once(job, toolchain, seconds, verbose, switch)
    except KernelError as error:
        if job.again is None or not is_crash(error.diagnostics[0]):
            raise
        with suppress(KernelError):
            return _once(replace(job, bytecode=job.again()), toolchain, seconds, verbose, switch)
        raise


def _once(job: Job, toolchain: Toolchain, seconds: float, verbose: bool, switch: Switch | None) -> Assembled:
    """Runs the assembler once."""
    _check_arch(job, toolchain)
    started = time.perf_counter()
    try:
        # Only this user may enter a folder that `tempfile` makes.
        with tempfile.TemporaryDirectory(prefix="tileproof-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            source, target, report = folder / "kernel.tilebc", folder / "kernel.cubin", folder / "remarks.yaml"
            source.write_bytes(job.bytecode)
            asked = ("--remarks=all", "--remark-format=yaml", f"--remarks-output-file={report}")
            command = (
                toolchain.tileiras,
                f"--gpu-name={job.arch}",
                *(asked if job.remarks else ()),
                f"--output-file={target}",
                source,
            )
            ended = run_program(command, toolchain.environment() | {"TMPDIR": name}, seconds, switch)
            log = Log(job.kernel, job.arch, ended.output, verbose)
            if ended.status:
                raise KernelError(failure(log, ended.status, job.span_at))
            cubin = target.read_bytes() if target.is_file() else b""
            text = report.read_text("utf-8", "replace") if report.is_file() else ""
    except TimeoutError as error:
        raise KernelError(took_too_long(job.kernel, job.arch, seconds, TIMEOUT)) from error
    except OSError as error:
        raise LaunchError(no_room(job.kernel, error)) from error
    try:
        resources = resources_of(cubin)
    except ValueError as error:
        raise KernelError(no_cubin(log, str(error))) from error
    return Assembled(cubin, resources, read_remarks(text, job.span_at), time.perf_counter() - started)


def _check_arch(job: Job, toolchain: Toolchain) -> None:
    """Refuses an architecture that no code can be made for."""
    numbered = re.fullmatch(r"sm_(\d+)", job.arch)
    if numbered is None:
        raise ValueError(f"an architecture is written like sm_90, not {job.arch!r}")
    if toolchain.supports(job.arch):
        return
    known = f"assembler {toolchain.version} makes code for {', '.join(toolchain.architectures)}"
    if int(numbered[1]) < 80:
        raise LaunchError(
            Diagnostic(
                Code.ARCH_LACKS,
                f"a GPU of architecture {job.arch} is too old for tileproof",
                notes=(known,),
                help='use an A100 (sm_80) or newer, or the CPU: tp.backend("cpu")',
                kernel=job.kernel,
            )
        )
    message = f"this assembler makes no code for the architecture {job.arch}"
    raise LaunchError(Diagnostic(Code.ASSEMBLER_VERSION, message, notes=(known,), help=UPGRADE, kernel=job.kernel))


def _seconds(timeout: float | None) -> float:
    """How long one module may take."""
    if timeout is not None:
        return timeout
    text = os.environ.get(TIMEOUT)
    if not text:
        return _SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds > 0:
        message = f"{TIMEOUT} is {text!r}, which is not a number of seconds"
        raise LaunchError(Diagnostic(Code.BAD_SETTING, message, help=f"write {TIMEOUT}={_SECONDS:g}, or unset it"))
    return seconds
