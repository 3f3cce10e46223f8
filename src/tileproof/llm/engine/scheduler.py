"""Which tokens the next step computes: first come, first served; decode goes before prefill.

Every running request that decodes has one token in the step; what is left of the token budget goes to prompts, in the
order they came, in chunks. When pages run out, the request that came last is preempted: it gives its pages back, and is
computed again later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..request import Request
from .kv_cache import PagePool


@dataclass(frozen=True, slots=True)
class ScheduledChunk:
    """Some tokens of a request that a step computes: a chunk of its prompt, or one to decode."""

    request: Request
    start: int
    count: int

    @property
    def stop(self) -> int:
        return self.start + self.count

    @property
    def is_last(self) -> bool:
        """Whether the token after it is sampled."""
        return self.stop == self.request.length


class Scheduler:
    """The requests that wait and those that run."""

    def __init__(self, pool: PagePool, max_running: int, token_budget: int) -> None:
        self.pool = pool
        self.max_running = max_running
        self.token_budget = token_budget
        """Tokens of a step."""
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []
        """In the order they came."""
        self.preemptions = 0

    def add(self, request: Request) -> None:
        """Queues a request."""
        self.waiting.append(request)

    def remove(self, request: Request) -> None:
        """Takes a finished request out. Its pages are free again."""
        if request in self.running:
            self.running.remove(request)
        elif request in self.waiting:
            self.waiting.remove(request)
        self._drop_pages(request)

    def restart(self, requests: Iterable[Request]) -> None:
        """Queues these alone, in this order, with all pages free: after a step that was left half done."""
        self.running.clear()
        self.waiting = deque(requests)
        self.pool.clear()
        for request in self.waiting:
            request.pages, request.computed = [], 0

    def schedule(self) -> list[ScheduledChunk]:
        """The chunks of the next step; empty when there is nothing to do."""
        chunks: list[ScheduledChunk] = []
        left = self.token_budget
        for request in [each for each in self.running if each.uncomputed == 1]:
            if request in self.running and self._find_pages(request, request.length, chunks):
                chunks.append(ScheduledChunk(request, request.computed, 1))
                left -= 1
        for request in [each for each in self.running if each.uncomputed > 1]:
            left -= self._prefill(request, left, chunks)
        while self.waiting and left > 0 and len(self.running) < self.max_running:
            request = self.waiting[0]
            if request.pages_for(min(request.length, request.computed + left)) > self.pool.free:
                break  # no request is preempted for a new one
            self.waiting.popleft()
            self.running.append(request)
            left -= self._prefill(request, left, chunks)
        return chunks

    @property
    def can_admit(self) -> bool:
        """Whether a waiting request could begin in the next step."""
        if not self.waiting or len(self.running) >= self.max_running:
            return False
        first = self.waiting[0]
        return first.pages_for(min(first.length, self.token_budget)) <= self.pool.free

    def reserve(self, requests: Sequence[Request], more: int) -> int | None:
        """Gives requests free pages for so many tokens more: how many pages, or None if there are too few."""
        wanted = [each.pages_for(each.length + more) for each in requests]
        taken = self.pool.take(sum(wanted))
        if taken is None:
            return None
        for request, count in zip(requests, wanted, strict=True):
            request.pages += [taken.pop(0) for _ in range(count)]
        return sum(wanted)

    def _prefill(self, request: Request, left: int, chunks: list[ScheduledChunk]) -> int:
        """Schedules as much of a prompt as the budget allows; returns how much."""
        count = min(request.uncomputed, left)
        if count <= 0 or request not in self.running:
            return 0
        if not self._find_pages(request, request.computed + count, chunks):
            return 0
        chunks.append(ScheduledChunk(request, request.computed, count))
        return count

    def _find_pages(self, request: Request, length: int, chunks: list[ScheduledChunk]) -> bool:
        """Gives a request pages for so many tokens, those of the last that came if there are no others."""
        while True:
            taken = self.pool.take(request.pages_for(length))
            if taken is not None:
                request.pages += taken
                return True
            last = self.running[-1]
            self._preempt(last)
            chunks[:] = [chunk for chunk in chunks if chunk.request is not last]
            if last is request:
                return False

    def _preempt(self, request: Request) -> None:
        self.preemptions += 1
        self.running.remove(request)
        self._drop_pages(request)
        self.waiting.appendleft(request)

    def _drop_pages(self, request: Request) -> None:
        self.pool.give_back(request.pages)
        request.pages = []
        request.computed = 0
