"""Processes for what comes with models and may run without end: they are started when first needed, kept, and replaced
when they end.

Their memory and processor time are limited by the operating system, and the parent kills them after a deadline, so no
chat template and no pattern of a tokenizer needs to be understood to be bounded.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

MEMORY: Final = 512 << 20
"""Address space of a process, of which Python and jinja2 take a tenth."""
LARGE: Final = 2 << 30
"""The same of one that holds a vocabulary."""
SECONDS: Final = 5.0
"""Processor time that a request may take."""
DEADLINE: Final = 60.0
"""Seconds until a reply, on a machine however busy."""
REPLY: Final = 1 << 28
"""Bytes of a reply."""
_OUT_OF_MEMORY: Final = 3
"""The exit status of a process that needed more memory."""
_START: Final = "import sys; sys.path[:] = sys.argv[3:]; import worker, {0}; worker.main({0}.reply, *sys.argv[1:3])"


class Stopped(Exception):
    """The process ended, or was killed, before it replied. The message says what it did."""


class WorkerProcess:
    """A process that runs a program of this folder. Threads may share one: they wait for one another."""

    def __init__(self, program: str, memory: int = MEMORY) -> None:
        """Starts nothing yet."""
        self._program, self._memory = program, memory
        self._lock = threading.Lock()
        self._running: tuple[subprocess.Popen[bytes], socket.socket] | None = None

    def reply(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to a request, or `Stopped`; OSError if no process can be started."""
        data = json.dumps({**request, "seconds": SECONDS}).encode()
        with self._lock:
            process, channel = self._started()
            try:
                return _exchange(channel, data)
            except TimeoutError:
                self._end()
                raise Stopped(f"takes more than {DEADLINE:g} seconds") from None
            except (OSError, EOFError):
                channel.close()
                status = process.wait()
                self._running = None
                raise Stopped(self._cause(status)) from None
            except BaseException:  # an interrupt in between: the next request must not read the reply to this one
                self._end()
                raise

    def close(self) -> None:
        """Ends the process; the next request starts another."""
        with self._lock:
            self._end()

    def forget(self) -> None:
        """Leaves the process to the parent, in a fork of it, which starts its own."""
        self._lock = threading.Lock()
        if self._running is not None:
            process, channel = self._running
            process.returncode = 0  # it is no child of this process: nobody waits for it here
            channel.close()
            self._running = None

    @property
    def pid(self) -> int | None:
        """The number of the process, while there is one."""
        return None if self._running is None else self._running[0].pid

    def _started(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        if self._running is not None and self._running[0].poll() is not None:
            self._end()
        if self._running is None:
            ours, theirs = socket.socketpair()
            limits, path = (str(self._memory), str(_OUT_OF_MEMORY)), (str(Path(__file__).parent), *sys.path)
            with theirs:
                process = subprocess.Popen(
                    [sys.executable or "python3", "-I", "-S", "-c", _START.format(self._program), *limits, *path],
                    stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                )  # fmt: skip
            self._running = process, ours
        return self._running

    def _end(self) -> None:
        if self._running is not None:
            process, channel = self._running
            channel.close()
            process.kill()
            process.wait()
            self._running = None

    def _cause(self, status: int) -> str:
        """Why the process ended, by its exit status."""
        if status == -signal.SIGPROF:
            return f"takes more than {SECONDS:g} seconds of processor time"
        if status == _OUT_OF_MEMORY:
            return f"takes more than {self._memory >> 20} MiB of memory"
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        return f"ends its process ({how})"


def _exchange(channel: socket.socket, data: bytes) -> dict[str, Any]:
    until = time.monotonic() + DEADLINE
    channel.settimeout(DEADLINE)
    channel.sendall(len(data).to_bytes(8, "little") + data)
    length = int.from_bytes(_received(channel, 8, until), "little")
    if length > REPLY:
        raise Stopped(f"writes more than {REPLY} bytes")
    reply: dict[str, Any] = json.loads(_received(channel, length, until))
    return reply


def _received(channel: socket.socket, count: int, until: float) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        channel.settimeout(max(until - time.monotonic(), 1e-3))
        part = channel.recv(min(count - len(parts), 1 << 20))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


TEMPLATES: Final = WorkerProcess("template_worker")
"""That of this interpreter which renders chat templates."""
TOKENIZERS: Final = WorkerProcess("tokenizer_worker", LARGE)
"""The one that tokenizes by patterns which are not known to be harmless."""
for _process in (TEMPLATES, TOKENIZERS):
    atexit.register(_process.close)
    os.register_at_fork(after_in_child=_process.forget)
