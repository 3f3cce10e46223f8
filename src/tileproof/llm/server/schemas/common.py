"""What the APIs share: how fields are checked, and how tokens are sampled.

A field that is not known is ignored, as clients send ever new ones; so is one that changes nothing of an answer. One
that would change the answer and cannot be honored is an error, and so is one that is misspelled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ..errors import near_miss, wrong

Count = Annotated[int, Field(ge=1, le=2**31 - 1)]
Token = Annotated[int, Field(ge=0, le=2**31 - 1)]


def _few(entries: object) -> object:
    """Rejects a large object before each of its entries is looked at, as each may be an error of its own."""
    if isinstance(entries, dict) and len(entries) > MOST_BIASES:
        raise ValueError(f"up to {MOST_BIASES} tokens")
    return entries


MOST_BIASES: Final = 4096
LogitBias = Annotated[dict[str, Annotated[float, Field(ge=-100, le=100)]], BeforeValidator(_few)]
NO_EFFECT: Final = frozenset(
    {"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention",
     "prediction", "verbosity", "include", "best_of", "request_id", "reasoning_effort", "chat_template_kwargs"}
)  # fmt: skip
"""Fields that are known and not always declared, so that no other is taken for one of them misspelled."""
UNSUPPORTED: Final[Mapping[str, tuple[object, ...]]] = {
    "allowed_token_ids": (None,), "audio": (None,), "background": (None, False), "bad_words": (None, []),
    "chat_template": (None,), "conversation": (None,), "documents": (None, []), "early_stopping": (None, False),
    "function_call": (None, "none"), "functions": (None, []), "guided_choice": (None,), "guided_grammar": (None,),
    "guided_json": (None,), "guided_regex": (None,), "include_stop_str_in_output": (None, False),
    "length_penalty": (None, 1.0), "mcp_servers": (None, []), "min_tokens": (None, 0), "modalities": (None, ["text"]),
    "previous_response_id": (None,), "prompt_embeds": (None,), "skip_special_tokens": (None, True),
    "suffix": (None, ""), "truncate_prompt_tokens": (None,), "truncation": (None, "disabled"),
    "use_beam_search": (None, False), "web_search_options": (None,),
}  # fmt: skip
"""Fields that would change an answer and cannot, with the values that change nothing."""
CURES: Final[Mapping[str, str]] = {
    "best_of": "use n, and choose among the answers",
    "chat_template": "the template of the model is used; a client cannot send a program",
    "function_call": "use tool_choice",
    "functions": "use tools",
    "guided_choice": "use structured_outputs",
    "guided_grammar": "use structured_outputs",
    "guided_json": "use structured_outputs",
    "guided_regex": "use structured_outputs",
    "conversation": "this server keeps no conversations: send all messages",
    "previous_response_id": "this server keeps no responses: send the whole conversation in input",
    "background": "this server keeps no responses: wait for the answer, or stream it",
}


class Form(BaseModel):
    """A JSON object of which every field is checked, without conversions."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False, hide_input_in_errors=True)


class Body(Form):
    """The body of a request."""

    model_config = ConfigDict(extra="allow")
    unsupported: ClassVar[Mapping[str, tuple[object, ...]]] = UNSUPPORTED

    @model_validator(mode="after")
    def _check_others(self) -> Self:
        declared = type(self).model_fields.keys()
        known = declared | NO_EFFECT | self.unsupported.keys()
        for name, value in (self.model_extra or {}).items():
            if name in self.unsupported:
                if value not in self.unsupported[name]:
                    raise wrong(name, f"{name} is not supported; {CURES.get(name, 'leave it out')}")
            elif name not in known and (meant := near_miss(name, known)):
                raise wrong(name, f"{name} is not a field; did you mean {meant}?")
        return self


class Sampling(Body):
    """How tokens are chosen, and when an answer ends. None takes what the model's files say, else OpenAI's default."""

    model: str | None = Field(None, description="The model; it may be left out, as there is one.")
    temperature: float | None = Field(None, ge=0, le=1e6, description="0 takes the likeliest token.")
    top_p: float | None = Field(None, gt=0, le=1)
    top_k: int | None = Field(None, ge=-1, le=2**31 - 1, description="0 or -1 for all.")
    min_p: float | None = Field(None, ge=0, le=1)
    repetition_penalty: float | None = Field(None, gt=1e-6, le=1e6)
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    logit_bias: LogitBias | None = Field(
        None, description="Added to the logits of tokens, which are named by their numbers."
    )
    seed: int | None = Field(None, ge=-(2**63), le=2**63 - 1)
    stop: str | Annotated[list[str], Field(fail_fast=True)] | None = None
    stop_token_ids: Annotated[list[Token], Field(max_length=1024, fail_fast=True)] | None = None
    ignore_eos: bool | None = None
    n: Annotated[int, Field(ge=1, le=1024)] | None = None
    best_of: int | None = Field(None, description="Not supported, unless it is n.")
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    priority: int = Field(0, ge=-(2**31), le=2**31 - 1, description="Lower ones run first.")
    cache_salt: str | None = Field(
        None, min_length=1, max_length=1024, description="Only requests with the same salt share cached prompts."
    )
    response_format: ResponseFormat | None = None
    structured_outputs: StructuredOutputs | None = None

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.best_of is not None and self.best_of != (self.n or 1):
            raise wrong("best_of", f"best_of is not supported; {CURES['best_of']}")
        if self.stream_options is not None and not self.stream:
            raise wrong("stream_options", "stream_options is only allowed when stream is true")
        stops = [self.stop] if isinstance(self.stop, str) else self.stop or []
        if any(not stop for stop in stops) or len(stops) > 64:
            raise wrong("stop", "stop takes up to 64 strings, none of them empty")
        for token in self.logit_bias or {}:
            if not (token.isascii() and token.isdecimal() and len(token) < 10):
                raise wrong("logit_bias", f"logit_bias names {token[:40]!r}: tokens are whole numbers")
        return self


class StreamOptions(Form):
    """What a stream has besides text."""

    include_usage: bool | None = Field(None, description="A last event with the usage.")
    continuous_usage_stats: bool | None = Field(None, description="The usage in every event.")


class JsonSchema(Form):
    """A JSON schema with a name."""

    name: str | None = None
    description: str | None = None
    strict: bool | None = None
    schema_: dict[str, Any] | bool | None = Field(None, alias="schema")


class ResponseFormat(Form):
    """Text, any JSON object, or JSON of a schema."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None

    @model_validator(mode="after")
    def _check_schema(self) -> Self:
        if self.type == "json_schema" and (self.json_schema is None or self.json_schema.schema_ is None):
            raise wrong("json_schema", "type is json_schema, and json_schema.schema is missing")
        return self


class StructuredOutputs(Form):
    """What the text must match: exactly one of these."""

    json_: dict[str, Any] | bool | str | None = Field(None, alias="json")
    json_object: bool | None = None
    regex: str | None = Field(None, max_length=1 << 16)
    choice: list[str] | None = Field(None, min_length=1, max_length=4096)
    grammar: str | None = Field(None, max_length=1 << 16)

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        chosen = [each for each in (self.json_, self.json_object, self.regex, self.choice, self.grammar)
                  if each is not None and each is not False]  # fmt: skip
        if len(chosen) != 1:
            raise ValueError(f"use exactly one of json, json_object, regex, choice and grammar, not {len(chosen)}")
        return self


Sampling.model_rebuild()
