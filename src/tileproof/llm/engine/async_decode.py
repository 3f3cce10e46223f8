"""Decode of the same requests, step after step: each run feeds its tokens to the next on the device.

Nothing is scheduled and no input is written between two runs. On a GPU runs are queued one after the other and their
tokens are read late, so that the GPU never waits for the host. Steps already queued for a finished request are
discarded. Its pages are free at once: whoever takes them writes them after those steps, in the order of the stream.
On a CPU, where a step uses all cores, each run is waited for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..request import Request
from ..step.capture import CapturedStep
from ..step.ir import PAGE
from .scheduler import Scheduler

DEPTH: Final = 2
"""Runs that are queued on a GPU when the tokens of the first of them are read."""
_SECONDS: Final = 3.5e-2
"""What a run may take: the tokens of a stream come so far apart at most."""
_MOST: Final = 8
_RATE: Final = 4e12
"""Bytes of weights that a GPU reads in a second, about."""


def decode_steps_for(nbytes: int) -> int:
    """Decode steps of a run on a GPU: several where weights are so few that the time between two runs counts."""
    return max(1, min(_MOST, int(_SECONDS * _RATE / max(nbytes, 1))))


@dataclass(slots=True)
class AsyncDecode:
    """A decode step of some requests that is run again and again."""

    step: CapturedStep
    requests: tuple[Request, ...]
    depth: int
    """Runs that are queued before tokens are read: 1 on a CPU."""
    is_open: bool
    """Whether another run may be queued: each request has a page for the token after this one, and none is finished."""
    _left: int = 0
    """Runs that need no new page and reach no limit."""
    _queued: deque[Any] = field(default_factory=deque)

    @property
    def tokens_queued(self) -> int:
        """Tokens of each request that are not read yet."""
        return len(self._queued) * self.step.kind.decode_steps

    def begin(self) -> None:
        """Queues the first run; the inputs are written."""
        self._left = self._runs_left()
        self.step.inputs.send()
        self._run()

    def run_ahead(self, scheduler: Scheduler) -> bool:
        """Queues runs as far as they may be queued ahead; whether there is one to read."""
        while len(self._queued) < self.depth and self.is_open and not (scheduler.waiting and scheduler.can_admit):
            if self._left <= 0 and not self._find_pages(scheduler):
                break
            self._run()
        return bool(self._queued)

    def _run(self) -> None:
        self.step.replay()
        self._left -= 1
        self._queued.append(self.step.inputs.device.sampled_ids.fetch() if self.depth > 1 else None)

    def read(self) -> Sequence[Sequence[int]]:
        """The tokens of the run that was queued first, step by step, one of each request; waits for them."""
        queued = self._queued.popleft()
        # On a CPU they are in an array of the host: a run that writes one is done when `replay` returns.
        tokens = self.step.inputs.host.sampled_ids if queued is None else queued.numpy()
        rows: list[list[int]] = tokens[:, : len(self.requests)].tolist()
        return rows

    def _runs_left(self) -> int:
        """Runs after those queued that fit the pages, the limits of every request, and the class of the step."""
        kind = self.step.kind
        tokens = min(
            min(request.tokens_left, min(len(request.pages), kind.pages) * PAGE - request.length)
            for request in self.requests
        )
        return (tokens - self.tokens_queued) // kind.decode_steps

    def _find_pages(self, scheduler: Scheduler) -> bool:
        """Gives each request pages for one more run, unless a limit comes before its end."""
        kind = self.step.kind
        more = self.tokens_queued + kind.decode_steps
        if any(request.tokens_left < more or request.length + more > kind.pages * PAGE for request in self.requests):
            return False
        if not scheduler.reserve(self.requests, more):
            return False
        inputs = self.step.inputs
        for row, request in zip(inputs.host.block_table, self.requests, strict=False):
            row[: len(request.pages)] = request.pages
        inputs.send_block_table()
        self._left = self._runs_left()
        return self._left > 0
