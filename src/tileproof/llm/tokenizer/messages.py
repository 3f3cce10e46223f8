"""Messages of a chat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tileproof.diagnostics.codes import Code

from ..errors import ModelError, refused


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool, which the assistant made."""

    name: str
    arguments: Mapping[str, Any] | str
    """By name; a string where they are no JSON object."""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    """What the assistant called."""
    call_id: str = ""
    """The call that a tool's message is the result of."""
    name: str = ""
    """The tool whose result it is."""
    thought: str = ""
    """What the assistant thought before it answered."""

    @property
    def record(self) -> dict[str, Any]:
        """The message as chat templates take it."""
        record: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.calls:
            record["tool_calls"] = [
                {"type": "function", "id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.calls
            ]
        more = {"tool_call_id": self.call_id, "name": self.name, "reasoning_content": self.thought}
        return record | {name: text for name, text in more.items() if text}

    @classmethod
    def of(cls, entry: Any) -> Message:
        """A message as it is, or the dict that clients of OpenAI's API and chat templates have for one."""
        if isinstance(entry, Message):
            return entry
        if not isinstance(entry, Mapping):
            raise _wrong(f"a message is of the type {type(entry).__name__}")
        for name in entry:
            if name not in _NAMES:
                raise _wrong(f"a message has {name!r}, which is not known")
        try:
            calls = tuple(_call(each) for each in entry.get("tool_calls") or ())
        except (KeyError, TypeError, AttributeError):
            raise _wrong("a message has tool_calls of another form") from None
        return cls(
            entry.get("role", ""), _text(entry.get("content")), calls, entry.get("tool_call_id") or "",
            entry.get("name") or "", entry.get("reasoning_content") or "",
        )  # fmt: skip


_NAMES = ("role", "content", "tool_calls", "tool_call_id", "name", "reasoning_content")


def _text(content: Any) -> Any:
    """The text of a message: a string, none beside calls, or parts of the type text; else what it is."""
    if isinstance(content, list):
        if not all(isinstance(part, Mapping) and isinstance(part.get("text"), str) for part in content):
            raise _wrong("a message has parts that are no text")
        return "".join(part["text"] for part in content)
    return "" if content is None else content


def _call(entry: Mapping[str, Any]) -> ToolCall:
    function = entry["function"]
    return ToolCall(function["name"], function["arguments"], entry.get("id") or "")


def _wrong(message: str) -> ModelError:
    return refused(Code.PROMPT, message, 'pass Message("user", "Hello") or {"role": "user", "content": "Hello"}')
