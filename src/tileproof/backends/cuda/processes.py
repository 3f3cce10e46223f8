"""Runs a program and all that it starts, for a limited time, so that nothing of it stays behind.

The program leads a process group of its own. Whatever ends the run (its end, the time limit, Ctrl-C, a switch pulled by
another thread) ends the whole group: the assembler starts further programs, which would otherwise go on alone.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

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
