"""`/v1/messages`: Anthropic's API, in which a message is a list of blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ..errors import wrong
from .chat import FunctionName
from .common import Body, Count, Form


class Block(Form):
    """A part of a message: text, a thought, the use of a tool, or its result."""

    type: str
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: FunctionName | None = None
    input: dict[str, Any] | None = None
    tool_use_id: str | None = None
    content: str | list[Block] | None = None
    is_error: bool | None = None

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        needed: dict[str, tuple[str, ...]] = {
            "text": ("text",), "thinking": ("thinking",), "redacted_thinking": (),
            "tool_use": ("id", "name", "input"), "tool_result": ("tool_use_id",),
        }  # fmt: skip
        if self.type not in needed:
            raise wrong("type", f"a block of the type {self.type[:40]!r} is not supported; this model reads text")
        missing = [name for name in needed[self.type] if getattr(self, name) is None]
        if missing:
            raise wrong("type", f"a block of the type {self.type} needs {missing[0]}")
        return self


Blocks = Annotated[list[Block], Field(fail_fast=True)]


def block_text(content: str | list[Block] | None) -> str:
    """The text of a message or of a result."""
    if isinstance(content, str):
        return content
    return "\n".join(block.text or "" for block in content or [] if block.type == "text")


class InputMessage(Form):
    """A message of the conversation."""

    role: Literal["user", "assistant", "system"]
    content: str | Blocks


class ClientTool(Form):
    """A tool that the client carries out."""

    name: FunctionName
    type: Literal["custom"] | None = None
    description: str | None = None
    input_schema: dict[str, Any]


class ToolChoice(Form):
    """Whether tools are used, and which."""

    type: Literal["auto", "any", "tool", "none"]
    name: FunctionName | None = None
    disable_parallel_tool_use: bool | None = None


class Thinking(Form):
    """Whether the model thinks first."""

    type: Literal["enabled", "disabled", "adaptive"]
    budget_tokens: int | None = None


class OutputFormat(Form):
    """JSON of a schema."""

    type: Literal["json_schema"]
    schema_: dict[str, Any] = Field(alias="schema")


class OutputConfig(Form):
    """What the answer is like."""

    effort: str | None = None
    format: OutputFormat | None = None


class CountTokensRequest(Body):
    """A conversation whose tokens are counted."""

    unsupported: ClassVar[Mapping[str, tuple[object, ...]]] = {
        "container": (None,), "mcp_servers": (None, []), "prefill": (None,),
    }  # fmt: skip

    model: str | None = None
    messages: Annotated[list[InputMessage], Field(min_length=1, fail_fast=True)]
    system: str | Blocks | None = None
    tools: Annotated[list[ClientTool], Field(max_length=1024, fail_fast=True)] | None = None
    tool_choice: ToolChoice | None = None
    thinking: Thinking | None = None
    output_config: OutputConfig | None = None

    @model_validator(mode="after")
    def _check_tools(self) -> Self:
        names = [tool.name for tool in self.tools or []]
        match self.tool_choice:
            case ToolChoice(type="tool", name=name) if name not in names:
                raise wrong("tool_choice", f"tool_choice names {name!r}, which is not among the tools")
            case ToolChoice(type="any") if not names:
                raise wrong("tool_choice", "tool_choice is any, and there are no tools")
        return self


class MessagesRequest(CountTokensRequest):
    """The body of a request for the next message."""

    max_tokens: Count
    stop_sequences: Annotated[list[Annotated[str, Field(min_length=1)]], Field(max_length=64)] | None = None
    stream: bool | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    top_k: int | None = Field(None, ge=0, le=2**31 - 1)
    cache_salt: str | None = Field(None, min_length=1, max_length=1024)
    priority: int = Field(0, ge=-(2**31), le=2**31 - 1)


Block.model_rebuild()
