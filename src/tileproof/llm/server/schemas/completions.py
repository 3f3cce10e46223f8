"""`/v1/completions`: text that continues a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from ..errors import wrong
from .common import Sampling, Token

Tokens = Annotated[list[Token], Field(min_length=1, fail_fast=True)]
Texts = Annotated[list[str], Field(min_length=1, fail_fast=True)]
Logprobs = Annotated[int, Field(ge=0, le=64)]


class CompletionRequest(Sampling):
    """The body of a request for a completion."""

    prompt: str | Tokens | Texts | Annotated[list[Tokens], Field(min_length=1, fail_fast=True)] = Field(
        description="A text or its tokens, or several of either."
    )
    max_tokens: int | None = Field(None, ge=0, le=2**31 - 1, description="16 if it is left out.")
    echo: bool | None = Field(None, description="Whether the text begins with the prompt.")
    logprobs: Logprobs | None = Field(None, description="How many of the likeliest tokens to report with each.")
    prompt_logprobs: Logprobs | None = Field(None, description="The same for the tokens of the prompt.")
    add_special_tokens: bool | None = Field(None, description="Whether the prompt begins as the model wants it.")

    @model_validator(mode="after")
    def _check_length(self) -> Self:
        if self.max_tokens == 0 and not self.echo and self.prompt_logprobs is None:
            raise wrong("max_tokens", "max_tokens is 0, which is for echo and prompt_logprobs; ask for at least 1")
        return self

    @property
    def prompts(self) -> Sequence[str | list[int]]:
        """Each of its prompts."""
        prompt: Any = self.prompt
        is_one = isinstance(prompt, str) or isinstance(prompt[0], int)
        return [prompt] if is_one else prompt
