"""`/v1/responses`: OpenAI's later API, in which messages, calls and their results are items of one list."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from ..errors import wrong
from .chat import ContentPart, FunctionName, TopLogprobs
from .common import Count, Form, Sampling

Content = str | Annotated[list[ContentPart], Field(fail_fast=True)]


class InputItem(Form):
    """A message, a call of a function, its result, or a thought."""

    type: str = "message"
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: Content | None = None
    call_id: str | None = None
    name: FunctionName | None = None
    arguments: str | None = None
    output: Content | None = None

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        needed: dict[str, tuple[str, ...]] = {
            "message": ("role", "content"), "function_call": ("call_id", "name", "arguments"),
            "function_call_output": ("call_id", "output"), "reasoning": (),
        }  # fmt: skip
        if self.type not in needed:
            raise wrong("type", f"an item of the type {self.type[:40]!r} is not supported")
        missing = [name for name in needed[self.type] if getattr(self, name) is None]
        if missing:
            raise wrong(missing[0], f"an item of the type {self.type} needs {missing[0]}")
        return self


class FunctionTool(Form):
    """A function that the model may call."""

    type: Literal["function"]
    name: FunctionName
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class NamedFunctionTool(Form):
    """The one function that the model must call."""

    type: Literal["function"]
    name: FunctionName


class TextFormat(Form):
    """Text, any JSON object, or JSON of a schema."""

    type: Literal["text", "json_object", "json_schema"] = "text"
    name: str | None = None
    description: str | None = None
    strict: bool | None = None
    schema_: dict[str, Any] | None = Field(None, alias="schema")

    @model_validator(mode="after")
    def _check_schema(self) -> Self:
        if self.type == "json_schema" and self.schema_ is None:
            raise wrong("schema", "type is json_schema, and schema is missing")
        return self


class TextOptions(Form):
    """What the text is like."""

    format: TextFormat | None = None
    verbosity: str | None = None


class Reasoning(Form):
    """How much the model thinks."""

    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    summary: str | None = None


class ResponsesRequest(Sampling):
    """The body of a request for a response."""

    input: str | Annotated[list[InputItem], Field(min_length=1, fail_fast=True)]
    instructions: str | None = None
    max_output_tokens: Count | None = None
    max_tool_calls: Count | None = None
    top_logprobs: TopLogprobs | None = None
    include: list[str] | None = Field(None, description="message.output_text.logprobs adds logprobs.")
    tools: Annotated[list[FunctionTool], Field(max_length=1024, fail_fast=True)] | None = None
    tool_choice: Literal["none", "auto", "required"] | NamedFunctionTool | None = None
    parallel_tool_calls: bool | None = None
    text: TextOptions | None = None
    reasoning: Reasoning | None = None
    metadata: dict[str, str] | None = None
    store: bool | None = Field(None, description="No response is stored, whatever it says.")
    chat_template_kwargs: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _check_tools(self) -> Self:
        names = [tool.name for tool in self.tools or []]
        match self.tool_choice:
            case NamedFunctionTool(name=name) if name not in names:
                raise wrong("tool_choice", f"tool_choice names {name!r}, which is not among the tools")
            case "required" if not names:
                raise wrong("tool_choice", "tool_choice is required, and there are no tools")
        return self
