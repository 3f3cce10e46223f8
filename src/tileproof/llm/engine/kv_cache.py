"""The pages of the cache: who has which."""

from __future__ import annotations

import heapq


class PagePool:
    """Pages of which each belongs to one sequence or to nobody. The lowest free one is given first."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.clear()

    def clear(self) -> None:
        """Nobody has any."""
        self._free = list(range(self.count))
        self._is_taken = [False] * self.count

    @property
    def free(self) -> int:
        """How many nobody has."""
        return len(self._free)

    def take(self, count: int) -> list[int] | None:
        """So many pages, or none at all if there are fewer."""
        if count > len(self._free):
            return None
        taken = [heapq.heappop(self._free) for _ in range(count)]
        for page in taken:
            self._is_taken[page] = True
        return taken

    def give_back(self, pages: list[int]) -> None:
        """Makes pages free again. Their contents stay; whoever takes them reads nothing it has not written."""
        for page in pages:
            if not self._is_taken[page]:
                raise ValueError(f"page {page} is given back twice")
            self._is_taken[page] = False
            heapq.heappush(self._free, page)
