"""Text from tokens as they come: whole characters, and nothing that may still become a stop string."""

from __future__ import annotations

import codecs
from collections.abc import Iterable

from .text import Text


class Detokenizer:
    """Gives the text of tokens one by one; the pieces together are the text of all.

    A token is bytes, and a character may end in a later token. What is not a whole character waits for that; bytes
    that no later token can complete come out as U+FFFD. Special tokens have no text, nor has anything without a
    tokenizer.
    """

    def __init__(self, text: Text | None) -> None:
        self._text = text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        """The characters that are whole with this token."""
        return self._decoder.decode(self._text.piece(token)) if self._text is not None else ""

    def finish(self) -> str:
        """What half a character is left, as U+FFFD."""
        return self._decoder.decode(b"", final=True)


class StopStrings:
    """Ends a text before the first stop string in it: the one that is whole first, of these the longest.

    Where pieces begin and end makes no difference.
    """

    def __init__(self, stops: Iterable[str]) -> None:
        self._stops = tuple(stops)
        self._pending = ""
        self._is_stopped = False

    def push(self, text: str) -> tuple[str, bool]:
        """The text before any possible stop string, and whether one follows it."""
        if not self._stops:
            return text, False
        if self._is_stopped:
            return "", True
        pending = self._pending + text
        stops = [(pending.find(stop) + len(stop), pending.find(stop)) for stop in self._stops if stop in pending]
        if stops:
            self._pending, self._is_stopped = "", True
            return pending[: min(stops)[1]], True
        safe = len(pending) - max((overlap(pending, stop) for stop in self._stops), default=0)
        self._pending = pending[safe:]
        return pending[:safe], False

    def finish(self) -> str:
        """What was held back, when no more text comes."""
        pending, self._pending = self._pending, ""
        return pending


def overlap(text: str, stop: str) -> int:
    """How much of the end of a text is the beginning of a stop string, but not all of it."""
    longest = min(len(text), len(stop) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(stop[:size])), 0)
