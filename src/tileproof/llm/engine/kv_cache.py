"""The pages of the cache: how many there are, and which sequence has which."""

from __future__ import annotations

import heapq

from tileproof.diagnostics.codes import Code

from ..errors import refused
from ..memory import formatted_bytes
from ..models.config import ModelConfig
from ..step.ir import PAGE

_SHARE = 0.25
"""Of the free memory, what the cache takes by default; of a GPU nearly all."""
_GPU_SHARE = 0.85


class PagePool:
    """Pages of which each belongs to one sequence or to none. The lowest free one is given first."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.clear()

    def clear(self) -> None:
        """Makes all pages free."""
        self._free = list(range(self.count))
        self._is_taken = [False] * self.count

    @property
    def free(self) -> int:
        """How many are free."""
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


def page_bytes(config: ModelConfig) -> int:
    """Bytes of a page, in all layers."""
    return config.num_hidden_layers * 2 * config.num_key_value_heads * PAGE * config.head_dim * 2


def page_count(
    config: ModelConfig, max_seq_len: int, memory: int | None, max_batch: int, free: int, is_gpu: bool = False
) -> int:
    """How many pages the cache has: for `max_batch` sequences of the longest kind where that fits, and for one at
    least."""
    size, one = page_bytes(config), -(-max_seq_len // PAGE)
    if memory is None:
        share = _GPU_SHARE if is_gpu else _SHARE
        count = max(min(max_batch * one, int(free * share) // size), one)
        if count * size > free:
            needed = f"a sequence of {max_seq_len} tokens needs {formatted_bytes(one * size)} of cache"
            raise refused(
                Code.MODEL_MEMORY,
                f"{needed}, and {formatted_bytes(free)} are free",
                f"set max_seq_len to {max(free // size, 1) * PAGE} or less",
            )
        return count
    if memory // size < one:
        needed = f"a sequence of {max_seq_len} tokens needs {formatted_bytes(one * size)} of cache"
        raise refused(
            Code.MODEL_MEMORY,
            f"{needed}, and memory is {formatted_bytes(memory)}",
            f"set memory to {one * size} or more, or max_seq_len to {max(memory // size, 1) * PAGE} or less",
        )
    return memory // size
