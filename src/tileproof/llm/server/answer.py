"""What a model generates for a chat, taken apart: thoughts, text, and calls of tools."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from ..request import Chunk
from .reasoning import ReasoningSplitter
from .tool_calls import CallArguments, CallBegins, Content, Style, ToolCall, ToolCallParser
from .tool_calls import Delta as ToolDelta


@dataclass(frozen=True, slots=True)
class Thought:
    """A piece of what the model thinks before it answers."""

    text: str


Delta = Thought | ToolDelta


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the answer to a prompt is written."""

    style: Style
    tools: Collection[str] = ()
    """The names of those that may be called; without any, nothing is a call."""
    is_parallel: bool = True
    """Whether there may be several calls."""
    is_thinking: bool = False
    """Whether the prompt leaves the model thinking."""


class AnswerReader:
    """Takes an answer apart as it comes."""

    def __init__(self, dialect: Dialect, *, is_streamed: bool) -> None:
        """`is_streamed` gives a call before all of it is known to be right."""
        self._dialect = dialect
        self._splitter = ReasoningSplitter(dialect.is_thinking)
        self._parser = ToolCallParser(dialect.style, dialect.tools, is_partial=is_streamed) if dialect.tools else None
        self.thought_tokens = 0

    def push(self, chunk: Chunk) -> list[Delta]:
        """What a chunk adds; with the last one also what was held back."""
        thought, content = self._splitter.push(chunk.text)
        deltas = self._deltas(thought, content)
        if chunk.finish is not None:
            deltas += self._deltas(*self._splitter.finish())
            deltas += [] if self._parser is None else self._allowed(self._parser.finish())
        self.thought_tokens += len(chunk.tokens) if any(isinstance(delta, Thought) for delta in deltas) else 0
        return deltas

    def _deltas(self, thought: str, content: str) -> list[Delta]:
        deltas: list[Delta] = [Thought(thought)] if thought else []
        if self._parser is not None:
            return deltas + self._allowed(self._parser.push(content))
        return [*deltas, Content(content)] if content else deltas

    def _allowed(self, deltas: Sequence[ToolDelta]) -> list[Delta]:
        """Without further calls where one alone is allowed."""
        return [
            delta for delta in deltas
            if isinstance(delta, Content) or delta.number == 0 or self._dialect.is_parallel
        ]  # fmt: skip


@dataclass(slots=True)
class Answer:
    """The parts of an answer so far."""

    thought: str = ""
    content: str = ""
    calls: list[ToolCall] = field(default_factory=list)

    def add(self, delta: Delta) -> None:
        """Takes a piece."""
        match delta:
            case Thought(text):
                self.thought += text
            case Content(text):
                self.content += text
            case CallBegins(_, id, name):
                self.calls.append(ToolCall(id, name, ""))
            case CallArguments(number, text):
                call = self.calls[number]
                self.calls[number] = replace(call, arguments=call.arguments + text)
