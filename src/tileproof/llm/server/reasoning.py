"""Takes what a model thinks before it answers apart from its answer, as both come.

Where the pieces of the text begin and end makes no difference. Whitespace around the tags belongs to neither.
"""

from __future__ import annotations

from typing import Final, Literal

from ..tokenizer.detokenizer import overlap

OPEN: Final = "<think>"
CLOSE: Final = "</think>"
MOST_BLANKS: Final = 1024
"""Whitespace that is held back, so that a model which writes nothing else costs no more than others."""


def is_thinking(prompt: str) -> bool:
    """Whether a prompt, of which the end is enough, leaves the model thinking: its template has opened the tag."""
    return prompt.rstrip().endswith(OPEN)


class ReasoningSplitter:
    """Splits the text of an answer.

    The text thinks from its first character on where the prompt has opened the tag, else from an opening tag at its
    beginning, up to the closing tag. Where that never comes, all of it is thought.

    Example:
        splitter = ReasoningSplitter(is_thinking(prompt))
        reasoning, content = splitter.push(text)
    """

    def __init__(self, is_open: bool = False) -> None:
        self._part: Literal["beginning", "reasoning", "content"] = "beginning"
        self._is_open, self._pending = is_open, ""
        self._is_blank = True
        """Whether the whitespace that comes now is that after a tag."""

    def push(self, text: str) -> tuple[str, str]:
        """What a piece of text adds to the reasoning, and to the content."""
        self._pending += text
        reasoning = content = ""
        if self._part == "beginning":
            self._begin(is_end=False)
        if self._part == "reasoning":
            before, tag, after = self._pending.partition(CLOSE)
            text = before if tag else before[: len(before) - overlap(before, CLOSE)]
            safe = max(len(text.rstrip()), len(text) - MOST_BLANKS)
            reasoning, self._pending = self._take(before[:safe]), before[safe:]
            if tag:
                self._part, self._pending, self._is_blank = "content", after, True
        if self._part == "content":
            content, self._pending = self._take(self._pending), ""
        return reasoning, content

    def finish(self) -> tuple[str, str]:
        """What was held back, when no more text comes."""
        if self._part == "beginning":
            self._begin(is_end=True)
        rest, self._pending = self._take(self._pending), ""
        return (rest.rstrip(), "") if self._part == "reasoning" else ("", rest)

    def _begin(self, *, is_end: bool) -> None:
        """Finds out which part the text begins with, as soon as it shows."""
        text = self._pending.lstrip()
        if text.startswith(OPEN) and len(self._pending) - len(text) <= MOST_BLANKS:
            self._part, self._pending = "reasoning", text.removeprefix(OPEN)
        elif is_end or not OPEN.startswith(text) or len(self._pending) - len(text) > MOST_BLANKS:
            self._part = "reasoning" if self._is_open else "content"
            self._is_blank = self._is_open

    def _take(self, text: str) -> str:
        """A text without the whitespace after a tag."""
        if self._is_blank:
            text = text.lstrip()
        self._is_blank = self._is_blank and not text
        return text
