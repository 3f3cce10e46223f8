"""Which tokens the next step computes: decode goes before prefill, and short prompts wait little for long ones.

Every running request that decodes has one token in the step; what is left of the token budget goes to prompts, in
chunks. While requests decode, chunks are kept so small that a step takes about as long as the latency budget allows.

Prompts are served by priority, and within one by fair queueing: a request is ranked by the prefill tokens that were
computed before it came plus those it needs. So a short prompt goes before the rest of a long one that came earlier, and
a long one waits for no more than its own length of later tokens. When pages run out, the running request of the least
priority that came last is preempted: it gives its pages back, and is computed again later.

A prompt whose next page is computed by another request in this very step waits for the next one, and shares it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from ..request import Request
from ..step.ir import PAGE
from .kv_cache import PagePool

_RANK = attrgetter("rank")
_LEAST_CHUNK: Final = 32
"""Tokens that a step may have however long it takes."""
_WEIGHT: Final = 0.3
"""Of the last step in the mean of the rates of all."""


class ScheduledChunk(NamedTuple):
    """Some tokens of a request that a step computes: a chunk of its prompt, or one to decode."""

    request: Request
    start: int
    size: int
    """Its tokens."""

    @property
    def stop(self) -> int:
        return self.start + self.size

    @property
    def is_last(self) -> bool:
        """Whether the token after it is sampled."""
        return self.start + self.size == self.request.length


class Pace:
    """How many tokens a step may have beside requests that decode, by how long such steps took."""

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds, self._most = seconds, most
        self._rate = 0.0

    @property
    def tokens(self) -> int:
        """Of one step."""
        fitting = int(self._rate * self._seconds) if self._rate else self._most
        return max(min(fitting, self._most), min(_LEAST_CHUNK, self._most))

    def note(self, tokens: int, seconds: float) -> None:
        """Takes the time of a step with chunks of prompts into account."""
        rate = tokens / max(seconds, 1e-6)
        self._rate += (rate - self._rate) * (_WEIGHT if self._rate else 1)


class Scheduler:
    """The requests that wait and those that run."""

    def __init__(self, pool: PagePool, max_running: int, token_budget: int, latency: float = float("inf")) -> None:
        self.pool = pool
        self.max_running = max_running
        self.token_budget = token_budget
        """Tokens of a step."""
        self.pace = Pace(latency, token_budget)
        self.waiting: list[Request] = []
        """In the order in which they are served."""
        self.running: dict[Request, None] = {}
        """In the order in which they began."""
        self.preemptions = 0
        self.prefill_tokens = 0
        """Computed so far."""
        self.prompt_tokens = self.cached_tokens = 0
        """Of the requests that began: all tokens of those that may share pages, and tokens whose pages they share."""
        self.copies: list[tuple[int, int]] = []
        """Pages that are copied before the next step, in this order: from, to."""

    def add(self, request: Request) -> None:
        """Queues a request."""
        request.rank = request.priority, self.prefill_tokens + len(request.prompt), request.number
        insort(self.waiting, request, key=_RANK)

    def remove(self, request: Request) -> None:
        """Takes a finished request out. Its pages are free again."""
        if request in self.running:
            del self.running[request]
        else:
            at = bisect_left(self.waiting, request.rank, key=_RANK)
            if at < len(self.waiting) and self.waiting[at] is request:
                del self.waiting[at]
        self._drop_pages(request)

    def restart(self, requests: Iterable[Request]) -> None:
        """Queues these, which are all there are, without pages: after a step that was left half done."""
        self.running.clear()
        self.waiting = sorted(requests, key=_RANK)
        self.copies.clear()
        for request in self.waiting:
            self.pool.give_back(request.pages)
            request.pages, request.computed = [], 0
        self.pool.forget()

    def schedule(self) -> list[ScheduledChunk]:
        """The chunks of the next step, those that decode first; empty when there is nothing to do."""
        chunks: list[ScheduledChunk] = []
        prefills: list[Request] = []
        for request in list(self.running):
            if request not in self.running:
                continue  # it was preempted
            length, computed = request.length, request.computed
            if length - computed > 1:
                prefills.append(request)
            elif length <= len(request.pages) * PAGE or self._find_pages(request, length, chunks):
                chunks.append(ScheduledChunk(request, computed, 1))
        left = (self.pace.tokens if chunks else self.token_budget) - len(chunks)
        prefills.sort(key=_RANK)
        computing: set[bytes] = set()
        coming = iter(self.waiting.copy())
        first = next(coming, None)
        while left > 0:
            while first is not None and self._waits_for(first, computing):
                first = next(coming, None)
            if first is not None and len(self.running) < self.max_running and (
                not prefills or first.rank < prefills[0].rank
            ):  # fmt: skip
                if not self._admit(first, left):
                    first = None  # nobody goes before it
                    continue
                request, first = first, next(coming, None)
            elif prefills:
                request = prefills.pop(0)
            else:
                break
            count = self._prefill(request, left, chunks)
            left -= count
            if request.salt is not None:
                first_page, last_page = request.computed // PAGE, (request.computed + count) // PAGE
                computing.update(request.page_keys(last_page)[first_page:])
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

    def name_pages(self, request: Request, before: int) -> None:
        """Makes the tokens known that were computed since so many were; in decode, whole pages alone."""
        if request.computed // PAGE > before // PAGE or request.computed - before > 1:
            self._name_pages(request, before)

    def _name_pages(self, request: Request, before: int) -> None:
        if request.salt is None:
            return
        for number in range(before // PAGE, -(-request.computed // PAGE)):
            start = number * PAGE
            tokens = request.tokens(start, min(start + PAGE, request.computed))
            self.pool.name(request.pages[number], request.key_before(number), tokens)

    def _waits_for(self, request: Request, computing: Collection[bytes]) -> bool:
        """Whether the next page of a request that waits is among those that are computed for others in this step."""
        if request.salt is None or not computing:
            return False
        keys = request.page_keys((request.length - 1) // PAGE)
        known = self.pool.known(keys)
        return known < len(keys) and keys[known] in computing

    def _admit(self, request: Request, left: int) -> bool:
        """Begins a request that waits, with what is known of it; whether there is room for its first chunk.

        No request is preempted for a new one.
        """
        keys: Sequence[bytes] = ()
        part: tuple[int, int] | None = None
        if request.salt is not None:
            last = request.length - 1  # one token is computed in any case: for its logits
            keys = request.page_keys(last // PAGE)
            keys = keys[: self.pool.known(keys)]
            request.pages = self.pool.share(keys)
            start = len(keys) * PAGE
            rest = request.tokens(start, min(start + PAGE, last))
            part = self.pool.beginning(request.key_before(len(keys)), rest)
        cached = len(keys) * PAGE + (part[1] if part else 0)
        if request.pages_for(min(request.length, cached + left)) > self.pool.free:
            self._drop_pages(request)
            return False
        if part is not None:
            taken = self.pool.take(1) or []
            request.pages += taken
            if taken[0] != part[0]:  # else that very page was taken, which nobody had
                self.copies.append((part[0], taken[0]))
        request.computed = cached
        if not request.started:
            request.cached_tokens = cached
            if request.salt is not None:
                self.prompt_tokens += len(request.prompt)
                self.cached_tokens += cached
        self.waiting.remove(request)
        self.running[request] = None
        return True

    def _prefill(self, request: Request, left: int, chunks: list[ScheduledChunk]) -> int:
        """Schedules as much of a prompt as the budget allows; returns how much."""
        count = min(request.uncomputed, left)
        if request not in self.running or not self._find_pages(request, request.computed + count, chunks):
            return 0
        chunks.append(ScheduledChunk(request, request.computed, count))
        self.prefill_tokens += count
        return count

    def _find_pages(self, request: Request, length: int, chunks: list[ScheduledChunk]) -> bool:
        """Gives a request pages for so many tokens, those of a preempted one if there are no others."""
        while True:
            taken = self.pool.take(request.pages_for(length))
            if taken is not None:
                request.pages += taken
                return True
            last = max(self.running, key=lambda each: (each.priority, each.number))
            self._preempt(last)
            chunks[:] = [chunk for chunk in chunks if chunk.request is not last]
            if last is request:
                return False

    def _preempt(self, request: Request) -> None:
        self.preemptions += 1
        del self.running[request]
        self._drop_pages(request)
        insort(self.waiting, request, key=_RANK)

    def _drop_pages(self, request: Request) -> None:
        if request.failure is None:
            self._name_pages(request, request.computed)
        self.pool.give_back(request.pages)
        request.pages = []
        request.computed = 0
