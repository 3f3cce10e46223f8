"""`/tokenize` and `/detokenize`: text to tokens and back."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from .chat import ChatMessage, Tool
from .common import Body, Token


class TokenizeRequest(Body):
    """A text or a chat to make tokens of."""

    model: str | None = None
    prompt: str | None = None
    messages: Annotated[list[ChatMessage], Field(min_length=1, fail_fast=True)] | None = None
    tools: list[Tool] | None = None
    add_special_tokens: bool | None = None
    add_generation_prompt: bool | None = Field(None, description="Whether a chat ends where the model answers.")
    continue_final_message: bool | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    return_token_strs: bool | None = None

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.prompt is None) == (self.messages is None):
            raise ValueError("send either prompt or messages")
        return self


class DetokenizeRequest(Body):
    """Tokens to make text of."""

    model: str | None = None
    tokens: Annotated[list[Token], Field(fail_fast=True)]
