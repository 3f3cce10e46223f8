"""The loop of a process that `worker_process` starts: reads requests, limits what each may take, and writes replies.

It imports nothing of tileproof, and neither do the programs that it calls: they start quickly.
"""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Callable
from typing import Any, Final

_PREFIX: Final = 8
"""Bytes of the length in front of a request and of a reply."""


def _read(count: int) -> bytes:
    """The next bytes from the parent; the process ends with the parent."""
    parts = []
    while count:
        part = os.read(0, min(count, 1 << 20))
        if not part:
            os._exit(0)
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(0, view) :]


def _serve(reply: Callable[[Any], Any]) -> None:
    """Answers one request after the other. The signal of a timer ends the process, whatever it is doing."""
    while True:
        request = json.loads(_read(int.from_bytes(_read(_PREFIX), "little")))
        signal.setitimer(signal.ITIMER_PROF, request["seconds"])
        data = json.dumps(reply(request), ensure_ascii=False).encode("utf-8", "surrogatepass")
        signal.setitimer(signal.ITIMER_PROF, 0)
        _write(len(data).to_bytes(_PREFIX, "little"))
        _write(data)


def main(reply: Callable[[Any], Any], memory: str, out_of_memory: str) -> None:
    """Serves the parent at the standard input, a socket. Without memory the process ends, with that exit status."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # the parent may ignore or block it, which is inherited
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    try:
        _serve(reply)
    except (MemoryError, BrokenPipeError, ConnectionResetError) as error:
        os._exit(int(out_of_memory) if isinstance(error, MemoryError) else 0)
