"""The pages of the cache: how many there are, which request has which, and which hold a prefix that is known.

A full page is named by a hash of all tokens up to its end, so that requests with the same beginning share it: nobody
writes a full page. The beginnings of a page are named too, every `GRAIN` tokens: a request whose prompt parts from the
others within a page copies that page. The hash begins with a salt, which separates requests that must not share.
"""

from __future__ import annotations

import heapq
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

from tileproof.diagnostics.codes import Code

from ..errors import refused
from ..memory import formatted_bytes
from ..models.config import ModelConfig
from ..step.ir import PAGE

_SHARE = 0.25
"""Of the free memory, what the cache takes by default; of a GPU nearly all."""
_GPU_SHARE = 0.85
_KEY_BYTES = 16
GRAIN = 8
"""Tokens between two beginnings of a page that have names."""


def first_key(salt: str) -> bytes:
    """What the keys of a request's pages begin with."""
    return blake2b(salt.encode(), digest_size=_KEY_BYTES).digest()


def next_key(key: bytes, tokens: Sequence[int]) -> bytes:
    """The key of a page that begins with these tokens, and follows the full page with another key."""
    return blake2b(key + array("q", tokens).tobytes(), digest_size=_KEY_BYTES).digest()


class PagePool:
    """Pages, each with the number of requests that have it. The lowest page without contents is taken first.

    A page with keys keeps its contents when no request has it any more, until it is taken for something else: the
    page that was given back longest ago goes first.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.clear()

    def clear(self) -> None:
        """Makes all pages free, and forgets their contents."""
        self._blank = list(range(self.count))
        self._users = [0] * self.count
        self._pages: dict[bytes, int] = {}
        self._keys: dict[int, list[bytes]] = {}
        self._kept: OrderedDict[int, None] = OrderedDict()

    def forget(self) -> None:
        """Makes pages blank that no request has, and forgets what the others hold."""
        self._pages.clear()
        self._keys.clear()
        for page in self._kept:
            heapq.heappush(self._blank, page)
        self._kept.clear()

    @property
    def free(self) -> int:
        """How many no request has."""
        return len(self._blank) + len(self._kept)

    def take(self, count: int) -> list[int] | None:
        """So many pages to write, or none at all if there are fewer."""
        if count > self.free:
            return None
        taken = [heapq.heappop(self._blank) for _ in range(min(count, len(self._blank)))]
        while len(taken) < count:
            page, _ = self._kept.popitem(last=False)
            for key in self._keys.pop(page):
                del self._pages[key]
            taken.append(page)
        for page in taken:
            self._users[page] = 1
        return taken

    def give_back(self, pages: Sequence[int]) -> None:
        """Ends a request's use of its pages, the last one first: beginnings are shared more often than ends."""
        for page in reversed(pages):
            if not self._users[page]:
                raise ValueError(f"page {page} is given back twice")
            self._users[page] -= 1
            if self._users[page]:
                continue
            if page in self._keys:
                self._kept[page] = None
            else:
                heapq.heappush(self._blank, page)

    def name(self, page: int, before: bytes, tokens: Sequence[int]) -> None:
        """Makes the tokens that a page holds known, after those of a key. What another page is known for stays its."""
        for count in range(GRAIN, len(tokens) + 1, GRAIN):
            key = next_key(before, tokens[:count])
            if key not in self._pages:
                self._pages[key] = page
                self._keys.setdefault(page, []).append(key)

    def beginning(self, before: bytes, tokens: Sequence[int]) -> tuple[int, int] | None:
        """The page that is known for the most of these tokens, after those of a key, and for how many."""
        for count in range(len(tokens) // GRAIN * GRAIN, 0, -GRAIN):
            page = self._pages.get(next_key(before, tokens[:count]))
            if page is not None:
                if page in self._kept:
                    self._kept.move_to_end(page)
                return page, count
        return None

    def known(self, keys: Sequence[bytes]) -> int:
        """How many of these pages, from the first on, are in the cache."""
        return next((number for number, key in enumerate(keys) if key not in self._pages), len(keys))

    def share(self, keys: Sequence[bytes]) -> list[int]:
        """The pages with these keys, all of them known, for one more request."""
        pages = [self._pages[key] for key in keys]
        for page in pages:
            self._users[page] += 1
            self._kept.pop(page, None)
        return pages


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
