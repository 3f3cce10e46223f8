"""Graphs of the CPU: the steps of all launches in one list, which a queue does without Python."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tileproof.backends.cpu.device.loaded_code import NOBODY
from tileproof.backends.cpu.device.queue import RUN, STEP, copy_of
from tileproof.runtime.launch.cpu_launches import Launched
from tileproof.runtime.launch.premises import Watch
from tileproof.runtime.stream.cpu_streams import Called, CpuStream
from tileproof.runtime.stream.streams import Stream

from .graphs import Recorded, Replay

_NO_REPORT: Final = (0, NOBODY, 0, 0, 0, 0)
"""Where a launch reports a failed check, before there is one."""
_WORDS: Final = len(_NO_REPORT)


class Player:
    """The steps of a graph, and the memory in which they report what went wrong.

    Several replays may be in flight, and all report in the same place. So the last steps of a replay take along what
    its own steps reported, before the next one begins.
    """

    def __init__(self, recorded: Sequence[Recorded], watches: Sequence[Watch]) -> None:
        self.steps = array("Q")
        self._checked = [each.work for each in recorded if isinstance(each.work, Launched) and _may_fail(each.work)]
        self._called = [each.work for each in recorded if isinstance(each.work, Called)]
        self._watches = watches
        self._clean = array("Q", _NO_REPORT * len(self._checked))
        self._records = self._clean[:]
        places = {work: _address(self._records) + 8 * _WORDS * place for place, work in enumerate(self._checked)}
        for each in recorded:
            steps = each.part[:]
            if each.work in places and len(steps):
                each.work.words[STEP] = places[each.work]
                for begin in range(0, len(steps), STEP):
                    if steps[begin] == RUN:
                        steps[begin + STEP - 1] = places[each.work]
            self.steps.extend(steps)

    def replay(self, stream: Stream, work: Replay) -> int:
        """Has a stream do them."""
        assert isinstance(stream, CpuStream)
        if not (self._checked or self._called or self._watches):
            return stream.push(work, self.steps, len(self.steps) // STEP)
        kept = [self._records[:], *(np.empty_like(watch.flags._array) for watch in self._watches)]
        last = array("Q", copy_of(_address(kept[0]), _address(self._records), 8 * len(self._records)))
        last.extend(copy_of(_address(self._records), _address(self._clean), 8 * len(self._records)))
        for watch, flags in zip(self._watches, kept[1:], strict=True):
            last.extend(copy_of(flags.ctypes.data, watch.flags.address, flags.nbytes))
        work.keep = work.keep, last
        work.outcome = lambda: self._failure(kept[0], kept[1:])
        return stream.push(work, self.steps, len(self.steps) // STEP, last)

    def forget_reports(self) -> None:
        """Drops what steps reported of replays that will not be done, so that no later one is judged by it."""
        self._records[:] = self._clean
        for called in self._called:
            called.leave()

    def _failure(self, records: array[int], flags: Sequence[Any]) -> BaseException | None:
        """What went wrong with one replay."""
        found = [each.failure() for each in self._called]
        for place, launched in enumerate(self._checked):
            record = records[_WORDS * place : _WORDS * (place + 1)]
            if record[1] != NOBODY:
                found.append(launched.failure_in(record))
        found += [watch.failure(each) for watch, each in zip(self._watches, flags, strict=True)]
        return next(filter(None, found), None)


def _may_fail(launched: Launched) -> bool:
    return launched.loaded.has_checks


def _address(words: array[int]) -> int:
    return words.buffer_info()[0]
