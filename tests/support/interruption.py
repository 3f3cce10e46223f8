"""Handlers of signals at every moment at which one could come into the middle of tileproof, one moment after another.

Python looks for signals when a function begins, when a loop goes round, and when a function that is not Python's has
returned. A tracer counts these moments, and calls the handler at the one whose turn it is.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final, NoReturn

import tileproof

_SOURCES: Final = str(Path(tileproof.__file__).parent)
_BEGINS: Final = dis.opmap["RESUME"]
_LOOKS: Final = {
    code for name, code in dis.opmap.items() if name.startswith("CALL") or name in ("RESUME", "JUMP_BACKWARD")
}


class Stopped(BaseException):
    """What a handler raises."""


def stop() -> NoReturn:
    """A handler that raises."""
    raise Stopped


def at_every_moment(function: Callable[[], object], handler: Callable[[], object]) -> Iterator[str]:
    """Calls a function again and again, with a handler at a later moment each time; yields where the handler came."""
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None  # where Python cannot raise, it says so and goes on
    try:
        moment = 1
        while came := _Tracer(moment, handler).during(function):
            yield came
            moment += 1
        assert moment > 1
    finally:
        sys.unraisablehook = hook


class _Tracer:
    """Has a handler come at one moment of a function."""

    def __init__(self, moment: int, handler: Callable[[], object]) -> None:
        self.left, self.handler = moment, handler
        self.came = ""
        self.done: dict[FrameType, int] = {}
        """The last operation of each frame; -1 if it called a function of Python, which looks when it begins."""

    def during(self, function: Callable[[], object]) -> str:
        before = sys.gettrace()
        sys.settrace(self.enter)
        try:
            function()
        except Stopped:
            pass
        finally:
            sys.settrace(before)
            self.done.clear()
        return self.came

    def enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_back in self.done:
            self.done[frame.f_back] = -1
        if self.came or not frame.f_code.co_filename.startswith(_SOURCES):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        self.done[frame] = _BEGINS
        return self.step

    def step(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "return":
            self.done.pop(frame, None)
        elif event == "opcode" and not self.came:
            last, self.done[frame] = self.done.get(frame, -1), frame.f_code.co_code[frame.f_lasti]
            self.left -= last in _LOOKS
            if not self.left:
                self.came = f"{frame.f_code.co_qualname}, line {frame.f_lineno}"
                self.handler()
        return self.step
