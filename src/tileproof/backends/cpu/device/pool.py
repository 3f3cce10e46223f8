"""The threads that kernels run on, and the memory they work in.

A job is machine code: `void job(ptr args, ptr arena, i64 first, i64 last)` does the items `first` to `last - 1`, and
may use the arena as it likes meanwhile. How the threads share a job is described in `native/pool.c`.
"""

from __future__ import annotations

import ctypes
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.target import Target
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError

JOB: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
HAS_THREADS: Final = sys.platform != "win32"
"""Whether the system has the threads that `pool.c` uses; where it has not, jobs are done by their callers."""
_Entries: TypeAlias = tuple[Callable[[int], int | None], Callable[..., None]]
_NATIVE = Path(__file__).parent / "native"
_RELAX: Final = "declare void @tileproof_relax()"
_NAMES: Final = ("tileproof_pool_new", "tileproof_pool_run")
_SMALLEST: Final = 64 << 10
_ALIGNMENT: Final = 64
_CHUNKS: Final = 16
"""How many chunks of a job each thread gets on average."""
_KEPT: Final = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGABRT")
"""Signals that a thread sends to itself, which must not be blocked."""


def pool_text(target: Target) -> str:
    """The pool as LLVM text. `llvm.compile_object` makes of it what `Pool` takes."""
    return with_relax("pool.ll", target)


def with_relax(name: str, target: Target) -> str:
    """A text of this folder, with what a processor does while it waits."""
    if target.is_x86:
        relax = "call void @llvm.x86.sse2.pause()"
    else:
        relax = "call void @llvm.aarch64.hint(i32 1)" if target.is_arm else ""
    text = (_NATIVE / name).read_text(encoding="utf-8")
    return text.replace(_RELAX, f"define internal void @tileproof_relax() nounwind {{\n  {relax}\n  ret void\n}}")


class Pool:
    """Threads that wait for jobs. They start with the first job that has enough to share, and never end.

    A process that is forked off has none of its parent's threads and starts its own.
    """

    def __init__(self, code: bytes) -> None:
        """A pool made of the object file of `pool_text`; no thread is started yet."""
        entries: _Entries = _entries(code) if HAS_THREADS else (_no_pool, _alone)
        self._new, self._run = entries
        self.entry = _addresses(code)[1] if HAS_THREADS else 0
        """The address of the function that does a job."""
        self._native: int | None = None
        """The threads, once they are started; 0 if there is only the caller's."""
        self._count = 0
        """How many threads share a job, the caller's included, once they are started."""
        self._starting = threading.RLock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def run(self, code: int, args: int, total: int, chunk: int, arena_bytes: int, caller_arena: Arena) -> None:
        """Does a job: `total` items, claimed in chunks by this thread and the pool's, at most `threads()` in all.

        Code and arguments are addresses; every other thread has an arena of `arena_bytes` of its own. If the pool is
        busy with another thread's job, or if there is only one chunk, this thread does everything.
        """
        native = self._native
        if native is None and total > chunk:
            native = self._start()
        self._run(native, code, args, total, chunk, arena_bytes, caller_arena.address)

    def chunk(self, total: int) -> int:
        """Items to claim at a time: so many that each thread comes back some times, and the last one does not wait."""
        return total // self.chunks or 1

    @property
    def chunks(self) -> int:
        """How many chunks a large launch has."""
        return _CHUNKS * (self._count or threads())

    def start(self) -> int:
        """The threads, started if they were not; 0 if there is only the caller's."""
        return self._start() if self._native is None else self._native

    def _start(self) -> int:
        with self._starting:
            if self._native is None:
                self._count = threads()
                workers = self._count - 1
                with signals_blocked():
                    self._native = (self._new(workers) or 0) if workers else 0
            return self._native

    def _forget(self) -> None:
        self._native = None
        self._count = 0
        self._starting = threading.RLock()


@cache
def _addresses(code: bytes) -> tuple[int, int]:
    new, run = llvm.load_object(code, _NAMES).values()
    return new, run


@cache
def _entries(code: bytes) -> _Entries:
    """How to make a pool and how to use it. The code is loaded once: it has no state of its own."""
    new, run = _addresses(code)
    pointer, count = ctypes.c_void_p, ctypes.c_int64
    return (
        ctypes.CFUNCTYPE(pointer, ctypes.c_int32)(new),
        ctypes.CFUNCTYPE(None, pointer, pointer, pointer, count, count, count, pointer)(run),
    )


def _no_pool(workers: int) -> int:
    return 0


def _alone(pool: int, code: int, args: int, total: int, chunk: int, arena_bytes: int, caller_arena: int) -> None:
    if total > 0:
        JOB(code)(args, caller_arena, 0, total)


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Threads started meanwhile leave the signals of the process to others, so that Ctrl-C reaches Python's."""
    kept = {getattr(signal, name) for name in _KEPT if hasattr(signal, name)}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - kept)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Arena:
    """Memory that a job works in. Whoever runs the job holds it meanwhile: what only a thread's own variables hold is
    freed when Python ends, and a daemon's thread may be in the middle of a job then."""

    __slots__ = ("_memory", "address", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self._memory = ctypes.create_string_buffer(size + _ALIGNMENT)
        self.address = -(-ctypes.addressof(self._memory) // _ALIGNMENT) * _ALIGNMENT


class Spare(threading.local):
    """The memory that a thread of Python had last and does not use now.

    Whoever takes it has it alone until it is given back: in the middle of a launch a handler of a signal, or who is
    shown what a kernel prints, may have launches of their own.
    """

    def __init__(self) -> None:
        self._arena = Arena(0)

    def take(self, size: int) -> Arena:
        """At least so many bytes, aligned to 64; what they hold is anything."""
        spare, self._arena = self._arena, _NOTHING
        return spare if size <= spare.size else Arena(max(size, 2 * spare.size, _SMALLEST))

    def give(self, arena: Arena) -> None:
        """Takes memory back that nobody uses any more."""
        if arena.size > self._arena.size:
            self._arena = arena


_NOTHING: Final = Arena(0)
ARENAS: Final = Spare()
"""What the caller of a job works in."""
SPACES: Final = Spare()
"""What all threads of a launch share."""


VARIABLE: Final = "TILEPROOF_THREADS"
OTHERS_VARIABLE: Final = "OMP_NUM_THREADS"
MOST: Final = 1024
_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


def threads() -> int:
    """How many threads a launch may use, its caller's included.

    `TILEPROOF_THREADS` says it, else `OMP_NUM_THREADS`; else there is one for each core that this process may use. The
    pool is as large as this is when it starts.
    """
    own, others = os.environ.get(VARIABLE), os.environ.get(OTHERS_VARIABLE)
    if own:
        return _number(VARIABLE, own)
    return _number(OTHERS_VARIABLE, others.split(",")[0]) if others else cores()


def _number(variable: str, text: str) -> int:
    digits = text.strip()
    if digits.isdecimal() and 1 <= int(digits) <= MOST:
        return int(digits)
    raise LaunchError(
        Diagnostic(
            Code.BAD_SETTING,
            f"{variable} is {text!r}, which is not a number of threads",
            help=f"unset {variable}, or set it to a number from 1 to {MOST}",
        )
    )


@cache
def cores() -> int:
    """How many cores this process may keep busy: those it may run on, or fewer if its group has a quota."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        allowed = os.cpu_count() or 1
    return max(min(allowed, MOST, *map(math.ceil, _quotas())), 1)


def _quotas() -> Iterator[float]:
    """Cores that the control groups around this process, of either version, have a share of."""
    for line in _lines(_OWN_GROUPS):
        _, _, rest = line.partition(":")
        kinds, _, place = rest.partition(":")
        if kinds == "" or "cpu" in kinds.split(","):
            folder = _GROUPS / kinds
            own = PurePosixPath(place.lstrip("/"))
            for group in (own, *own.parents):
                yield from _quota(folder / group)


def _quota(group: Path) -> Iterator[float]:
    """The quota of one group: in one file of two words, or in two files of one."""
    words = " ".join(_lines(group / "cpu.max")).split()
    if not words:
        words = [*_lines(group / "cpu.cfs_quota_us"), *_lines(group / "cpu.cfs_period_us")]
    if len(words) == 2 and words[0].isdecimal() and words[1].isdecimal() and int(words[1]) > 0:
        yield int(words[0]) / int(words[1])


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
