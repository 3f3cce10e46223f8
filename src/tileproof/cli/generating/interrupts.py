"""Ctrl-C that is never lost: Python drops its exception where it comes in a finaliser or a callback."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """Notes Ctrl-C beside raising it, so that a loop which it did not end can ask."""

    def __init__(self) -> None:
        self._is_asked = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self._is_asked = True
        raise KeyboardInterrupt

    def check(self) -> None:
        """Raises it again if it was lost."""
        if self._is_asked:
            raise KeyboardInterrupt
