"""Graphs of the CPU: the steps of all launches in one list, which are done without Python."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np

from tileproof.backends.cpu.device.loaded_code import NOBODY
from tileproof.backends.cpu.device.queue import RUN, STEP, copy_of, zeros_of
from tileproof.runtime.interop.describe import Array
from tileproof.runtime.launch.contracts import WORDS
from tileproof.runtime.launch.cpu_launches import Launched
from tileproof.runtime.launch.premises import Watch
from tileproof.runtime.stream.cpu_streams import Called, CpuStream, run_steps
from tileproof.runtime.stream.streams import Stream

from .graphs import Recorded, Replay

_NO_REPORT: Final = (0, NOBODY, 0, 0, 0, 0)
"""Where a launch reports a failed check, before there is one."""


class Player:
    """The steps of a graph, and the memory in which they report what went wrong.

    A replay that the host waits for is done by the thread that asks, under a lease of its own: nobody else replays the
    graph before the reports are read. Of replays that streams do several may be in flight, and all report in the same
    place. So their last steps take along what was reported, before the next one begins.
    """

    def __init__(self, recorded: Sequence[Recorded], watches: Sequence[Watch]) -> None:
        self._checked = [entry.work for entry in recorded if isinstance(entry.work, Launched) and entry.work.may_fail()]
        self._called = [entry.work for entry in recorded if isinstance(entry.work, Called)]
        self._watches = watches
        self._clean = array("Q", _NO_REPORT * len(self._checked))
        self._records = self._clean[:]
        self._reports = [(_address(self._records), 8 * len(self._records))]
        """Address and bytes of all reports: those of launches, and those of each watch."""
        self._reports += [(watch.flags.address, watch.flags.nbytes) for watch in watches]
        self.has_checks = bool(self._checked or self._called or watches)
        """Whether a replay may fail."""
        self.steps = array("Q")
        if self._checked:
            self.steps.extend(copy_of(_address(self._records), _address(self._clean), 8 * len(self._records)))
        places = {
            work: _address(self._records) + 8 * len(_NO_REPORT) * place for place, work in enumerate(self._checked)
        }
        for entry in recorded:
            steps = entry.part[:]
            if entry.work in places and len(steps):
                entry.work.words[STEP] = places[entry.work]
                for begin in range(0, len(steps), STEP):
                    if steps[begin] == RUN:
                        steps[begin + STEP - 1] = places[entry.work]
            self.steps.extend(steps)
        self.failure = self._failure_here if self.has_checks else None
        """Finds what went wrong with the replay that this thread did, and has leases of still."""
        self.run_here: Callable[[Replay], None] | None = None
        """Does a replay on the thread that calls; None where streams alone can, which call functions of Python."""
        if not self._called:
            tested = self.steps[:]
            for address, nbytes in self._reports[1:]:
                tested.extend(zeros_of(address, nbytes // (8 * WORDS), WORDS))
            self.run_here = partial(run_steps, tested)

    def replay(self, stream: Stream, work: Replay) -> int:
        """Has a stream do a replay."""
        assert isinstance(stream, CpuStream)
        count = len(self.steps) // STEP
        if not self.has_checks:
            return stream.push(work, self.steps, count)
        reports = array("Q", bytes(sum(nbytes for _, nbytes in self._reports)))
        last, to = array("Q"), _address(reports)
        for address, nbytes in self._reports:
            last.extend(copy_of(to, address, nbytes))
            to += nbytes
        work.keep = work.keep, last
        work.outcome = lambda: self._failure(reports)
        return stream.push(work, self.steps, count, last)

    def _failure_here(self) -> BaseException | None:
        return self._failure(array("Q", b"".join(ctypes.string_at(*report) for report in self._reports)))

    def forget_reports(self) -> None:
        """Drops what functions of Python reported of replays that will not be done, so that they judge no later one."""
        for called in self._called:
            called.leave()

    def _failure(self, reports: array[int]) -> BaseException | None:
        """What went wrong with one replay."""
        errors = [call.failure() for call in self._called]
        size = len(_NO_REPORT)
        for place, launched in enumerate(self._checked):
            record = reports[size * place : size * (place + 1)]
            if record[1] != NOBODY:
                errors.append(launched.failure_in(record))
        at = size * len(self._checked)
        for watch in self._watches:
            words = watch.flags.nbytes // 8
            flags: Array = np.frombuffer(reports, np.int64)[at : at + words]
            errors.append(watch.failure(flags))
            at += words
        return next(filter(None, errors), None)


def _address(words: array[int]) -> int:
    return words.buffer_info()[0]
