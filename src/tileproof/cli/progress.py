"""How far work is, on a terminal."""

from __future__ import annotations

import sys
import time


class Progress:
    """A bar on a terminal that says how far the work is, and how long it may still take; nothing elsewhere."""

    _WIDTH = 24

    def __init__(self) -> None:
        self._stream = sys.stderr if sys.stderr.isatty() else None
        self._what, self._began, self._from = "", time.perf_counter(), 0

    def step(self, what: str, done: int, total: int) -> None:
        """So many are done."""
        if what != self._what:
            self._what, self._began, self._from = what, time.perf_counter(), done - 1
        if self._stream is None:
            return
        filled = self._WIDTH * done // max(total, 1)
        passed = time.perf_counter() - self._began
        left = passed / max(done - self._from, 1) * (total - done)
        bar = "#" * filled + "." * (self._WIDTH - filled)
        self._stream.write(f"\r\x1b[K[{bar}] {done} of {total} {what}, {passed:.0f} s, about {left:.0f} s left")
        self._stream.flush()

    def clear(self) -> None:
        """Takes the bar away, for something else to be printed."""
        if self._stream is not None:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
