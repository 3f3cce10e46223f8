"""`/v1/chat/completions`: the next message of a chat. The other APIs bring their chats into this form."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from ..errors import wrong
from .common import Count, Form, Sampling

TEXT_PARTS = ("text", "input_text", "output_text", "reasoning_text", "summary_text")
FunctionName = Annotated[str, Field(min_length=1, max_length=256)]
TopLogprobs = Annotated[int, Field(ge=0, le=64)]


class ContentPart(Form):
    """A part of a message. The models that are served read text."""

    type: str
    text: str | None = None
    refusal: str | None = None

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if self.type == "refusal":
            self.text = self.refusal or ""
        elif self.type not in TEXT_PARTS:
            raise wrong("type", f"a part of the type {self.type[:40]!r} is not supported; this model reads text")
        if self.text is None:
            raise wrong("text", "this part has no text")
        return self


def text_of(content: str | list[ContentPart] | None) -> str:
    """The text of a message."""
    return content if isinstance(content, str) else "\n".join(part.text or "" for part in content or [])


class FunctionCall(Form):
    """The call of a function, with its arguments in JSON."""

    name: FunctionName
    arguments: str = "{}"


class ToolCall(Form):
    """A call that the assistant made."""

    id: str | None = None
    type: Literal["function"] = "function"
    function: FunctionCall


class ChatMessage(Form):
    """A message of a chat."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | Annotated[list[ContentPart], Field(fail_fast=True)] | None = None
    name: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        if self.content is None and not (self.role == "assistant" and (self.tool_calls or self.reasoning)):
            raise wrong("content", "this message has no content")
        return self

    @property
    def text(self) -> str:
        """Its text."""
        return text_of(self.content)


class FunctionDefinition(Form):
    """A function that the model may call."""

    name: FunctionName
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(Form):
    """A tool that the model may use."""

    type: Literal["function"]
    function: FunctionDefinition


class NamedFunction(Form):
    """The name of a function."""

    name: FunctionName


class NamedTool(Form):
    """The one tool that the model must use."""

    type: Literal["function"]
    function: NamedFunction


ToolChoice = Literal["none", "auto", "required"] | NamedTool


class ChatRequest(Sampling):
    """The body of a request for the next message."""

    messages: Annotated[list[ChatMessage], Field(min_length=1, fail_fast=True)]
    max_tokens: Count | None = Field(None, description="As many as the context holds if it is left out.")
    max_completion_tokens: Count | None = None
    logprobs: bool | None = None
    top_logprobs: TopLogprobs | None = Field(None, description="How many of the likeliest tokens to report with each.")
    prompt_logprobs: TopLogprobs | None = None
    tools: Annotated[list[Tool], Field(max_length=1024, fail_fast=True)] | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = Field(
        None, description="none turns the thinking of models off that can do without; others change nothing."
    )
    include_reasoning: bool | None = None
    chat_template_kwargs: dict[str, Any] | None = Field(None, description="Variables of the chat template.")
    add_generation_prompt: bool | None = None
    continue_final_message: bool | None = Field(None, description="Whether the last message is the answer's beginning.")
    echo: bool | None = Field(None, description="Whether the answer begins with the message that it continues.")

    @model_validator(mode="after")
    def _check_chat(self) -> Self:
        if self.top_logprobs is not None and not self.logprobs:
            raise wrong("top_logprobs", "top_logprobs is only allowed when logprobs is true")
        names = [tool.function.name for tool in self.tools or []]
        match self.tool_choice:
            case NamedTool(function=function) if function.name not in names:
                raise wrong("tool_choice", f"tool_choice names {function.name!r}, which is not among the tools")
            case "required" if not names:
                raise wrong("tool_choice", "tool_choice is required, and there are no tools")
        if self.continue_final_message and self.add_generation_prompt:
            raise wrong("continue_final_message", "continue_final_message and add_generation_prompt exclude each other")
        return self
