"""From Tile IR bytecode to the machine code of one GPU architecture, by NVIDIA's assembler.

The assembler runs as a process of its own, in a folder that is removed whatever happens, and for a limited time. What
goes wrong in it is told in our words, at the line of the kernel where it names one; its own words follow on request.
"""

from __future__ import annotations

import atexit
import math
import os
import queue
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import KernelError, LaunchError, TileproofError
from tileproof.diagnostics.spans import Span

from . import assembler_failures as failures
from .cubin import Resources, resources_of
from .processes import Stopped, Switch, run_program
from .remarks import Remark, read_remarks
from .tileir.types import Location
from .toolchain import UPGRADE, Toolchain, find

TIMEOUT: Final = "TILEPROOF_ASSEMBLER_TIMEOUT"
_SECONDS: Final = 120.0
"""Far more than any kernel that is worth running takes."""

Spans: TypeAlias = Callable[[Location], Span | None] | Mapping[Location, Span]
"""Where in the user's source a location of the bytecode lies."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the assembler is asked for beside the code itself. Remarks do not change the code."""

    level: int = 3
    """How hard it optimises, from 0 to 3."""
    line_info: bool = False
    """Lines of the source in the code, for profilers."""
    debug: bool = False
    """Code for a debugger, which is not optimised."""
    remarks: bool = False
    """Report how tiles are loaded and matrix products are done."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The options as the assembler knows them, as far as they decide what the code is."""
        debug = ("--device-debug",) if self.debug else ("--lineinfo",) if self.line_info else ()
        return (f"--opt-level={0 if self.debug else self.level}", *debug)


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
    options: Options = Options()
    spans: Spans | None = None
    kernel: str = ""
    again: Callable[[], bytes] | None = None
    """The same module in other words, for an assembler that crashed over these."""

    def span_at(self, location: Location) -> Span | None:
        """The user's source at a location of the bytecode, if it is known."""
        if self.spans is None:
            return None
        return self.spans(location) if callable(self.spans) else self.spans.get(location)


def assemble(
    bytecode: bytes,
    arch: str,
    *,
    options: Options | None = None,
    timeout: float | None = None,
    spans: Spans | None = None,
    kernel: str = "",
    verbose: bool | None = None,
) -> Assembled:
    """The machine code of a module for an architecture such as `sm_90`.

    `timeout` is in seconds (TILEPROOF_ASSEMBLER_TIMEOUT unless given), `verbose` shows the assembler's own words
    (TILEPROOF_VERBOSE unless given).
    """
    job = Job(bytecode, arch, options or Options(), spans, kernel)
    return _assembled(job, find(), _seconds(timeout), failures.is_verbose(verbose))


def assemble_many(
    jobs: Iterable[Job], workers: int | None = None, *, timeout: float | None = None, verbose: bool | None = None
) -> Iterator[tuple[Job, Assembled]]:
    """Assembles several modules at once; gives each job with its code as it is done, whatever their order.

    The first that fails ends all: its error is raised, and the others are stopped. So does leaving the loop, by Ctrl-C
    or otherwise. `workers` is how many run at a time, one for each core unless given.
    """
    for job, outcome in assemble_each(jobs, workers, timeout=timeout, verbose=verbose):
        if isinstance(outcome, TileproofError):
            raise outcome
        yield job, outcome


def assemble_each(
    jobs: Iterable[Job], workers: int | None = None, *, timeout: float | None = None, verbose: bool | None = None
) -> Iterator[tuple[Job, Assembled | TileproofError]]:
    """The same, but one that fails ends nothing: its error is given in place of its code."""
    waiting = list(jobs)
    if not waiting:
        return
    crew = _Crew(waiting, find(), _seconds(timeout), failures.is_verbose(verbose))
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
                made = _assembled(job, self._toolchain, self._seconds, self._verbose, self._switch)
                self.done.put((job, made))
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
        if job.again is None or not failures.is_crash(error.diagnostics[0]):
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
                *job.options.arguments,
                *(asked if job.options.remarks else ()),
                f"--output-file={target}",
                source,
            )
            ended = run_program(command, toolchain.environment() | {"TMPDIR": name}, seconds, switch)
            said = failures.Said(job.kernel, job.arch, ended.output, verbose)
            if ended.status:
                raise KernelError(failures.failed(said, ended.status, job.span_at))
            cubin = target.read_bytes() if target.is_file() else b""
            text = report.read_text("utf-8", "replace") if report.is_file() else ""
    except TimeoutError as error:
        raise KernelError(failures.took_too_long(job.kernel, job.arch, seconds, TIMEOUT)) from error
    except OSError as error:
        raise LaunchError(failures.no_room(job.kernel, error)) from error
    try:
        resources = resources_of(cubin)
    except ValueError as error:
        raise KernelError(failures.no_cubin(said, str(error))) from error
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
