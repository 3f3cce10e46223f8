"""Which rows the next step has: first come, first served; texts under way go before prompts.

Every sequence under way gets its one row; what is left of the budget goes to prompts, in the order they came, in
pieces. When pages run out, the sequence that came last gives its pages back, and is computed again later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from collections.abc import Sequence as Several
from dataclasses import dataclass

from ..request import Sequence
from .kv_cache import PagePool


@dataclass(frozen=True, slots=True)
class Piece:
    """Some tokens of a sequence that a step computes."""

    sequence: Sequence
    start: int
    count: int

    @property
    def stop(self) -> int:
        return self.start + self.count

    @property
    def is_last(self) -> bool:
        """Whether a token can be chosen behind it."""
        return self.stop == self.sequence.length


class Scheduler:
    """The sequences that wait and those that run."""

    def __init__(self, pool: PagePool, most: int, budget: int) -> None:
        self.pool = pool
        self.most = most
        """Sequences that run at a time."""
        self.budget = budget
        """Rows of a step."""
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        """In the order they came."""
        self.preemptions = 0

    def add(self, sequence: Sequence) -> None:
        """A sequence that wants to run."""
        self.waiting.append(sequence)

    def remove(self, sequence: Sequence) -> None:
        """A sequence that is done, or is not wanted any more. Its pages are free again."""
        if sequence in self.running:
            self.running.remove(sequence)
        elif sequence in self.waiting:
            self.waiting.remove(sequence)
        self._drop_pages(sequence)

    def restart(self, sequences: Iterable[Sequence]) -> None:
        """These alone wait from now on, in this order, and no page is taken: for when nobody knows what was done."""
        self.running.clear()
        self.waiting = deque(sequences)
        self.pool.clear()
        for sequence in self.waiting:
            sequence.pages, sequence.computed = [], 0

    def plan(self) -> list[Piece]:
        """The pieces of the next step; empty when there is nothing to do."""
        pieces: list[Piece] = []
        left = self.budget
        for sequence in [each for each in self.running if each.waiting == 1]:
            if sequence in self.running and self._find_pages(sequence, sequence.length, pieces):
                pieces.append(Piece(sequence, sequence.computed, 1))
                left -= 1
        for sequence in [each for each in self.running if each.waiting > 1]:
            left -= self._begin(sequence, left, pieces)
        while self.waiting and left > 0 and len(self.running) < self.most:
            sequence = self.waiting[0]
            if sequence.pages_for(min(sequence.length, sequence.computed + left)) > self.pool.free:
                break  # nobody is sent away for a newcomer
            self.waiting.popleft()
            self.running.append(sequence)
            left -= self._begin(sequence, left, pieces)
        return pieces

    @property
    def can_admit(self) -> bool:
        """Whether somebody who waits could begin in the next step."""
        if not self.waiting or len(self.running) >= self.most:
            return False
        first = self.waiting[0]
        return first.pages_for(min(first.length, self.budget)) <= self.pool.free

    def reserve(self, sequences: Several[Sequence], more: int) -> int | None:
        """Gives sequences free pages for so many tokens more: how many these are, or None if there are too few."""
        wanted = [each.pages_for(each.length + more) for each in sequences]
        taken = self.pool.take(sum(wanted))
        if taken is None:
            return None
        for sequence, count in zip(sequences, wanted, strict=True):
            sequence.pages += [taken.pop(0) for _ in range(count)]
        return sum(wanted)

    def _begin(self, sequence: Sequence, left: int, pieces: list[Piece]) -> int:
        """Takes as much of a prompt as there is room for; gives how much."""
        count = min(sequence.waiting, left)
        if count <= 0 or sequence not in self.running:
            return 0
        if not self._find_pages(sequence, sequence.computed + count, pieces):
            return 0
        pieces.append(Piece(sequence, sequence.computed, count))
        return count

    def _find_pages(self, sequence: Sequence, length: int, pieces: list[Piece]) -> bool:
        """Gives a sequence pages for so many tokens, those of the last that came if there are no others."""
        while True:
            taken = self.pool.take(sequence.pages_for(length))
            if taken is not None:
                sequence.pages += taken
                return True
            last = self.running[-1]
            self._preempt(last)
            pieces[:] = [piece for piece in pieces if piece.sequence is not last]
            if last is sequence:
                return False

    def _preempt(self, sequence: Sequence) -> None:
        self.preemptions += 1
        self.running.remove(sequence)
        self._drop_pages(sequence)
        self.waiting.appendleft(sequence)

    def _drop_pages(self, sequence: Sequence) -> None:
        self.pool.give_back(sequence.pages)
        sequence.pages = []
        sequence.computed = 0
