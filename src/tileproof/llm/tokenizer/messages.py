"""Messages of a chat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


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
