"""What a model generates for a chat, taken apart: thoughts, text, and calls of tools."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Thought:
    """A piece of what the model thinks before it answers."""

    text: str


@dataclass(frozen=True, slots=True)
class Content:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallBegins:
    """The model calls a tool."""

    number: int
    """Of the call in this answer."""
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """A piece of the arguments of a call, in JSON."""

    number: int
    text: str


Delta = Thought | Content | CallBegins | CallArguments


@dataclass(slots=True)
class ToolCall:
    """A call of a tool, as a whole."""

    id: str
    name: str
    arguments: str = ""


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
                self.calls.append(ToolCall(id, name))
            case CallArguments(number, text):
                self.calls[number].arguments += text


class AnswerReader:
    """Takes the text of an answer apart as it comes."""

    def push(self, text: str) -> list[Delta]:
        """What a piece of text adds."""
        return [Content(text)] if text else []

    def finish(self) -> list[Delta]:
        """What was held back until no more text comes."""
        return []
