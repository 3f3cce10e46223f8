"""A conversation in the one form that chat templates take, whichever API it came by."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import ModelError
from ..tokenizer.messages import Message
from .errors import bad_request, of_model
from .schemas.chat import ChatMessage, Tool, text_of
from .schemas.messages import CountTokensRequest, block_text
from .schemas.responses import InputItem, ResponsesRequest
from .service import Service

_LONGEST: Final = 256
"""Characters of the longest tokens there are, which are runs of spaces."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of a chat, and what its template is to know besides."""

    messages: list[Message]
    thinking: bool | None = None
    """Whether the model thinks first; None leaves it to the template."""
    continues_last: bool = False
    """Whether the last message is the beginning of the answer."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Variables of the template."""


async def chat_tokens(service: Service, conversation: Conversation) -> list[int]:
    """The prompt of a conversation."""
    text = service.engine.llm.text
    _check_length(service, sum(len(message.content) for message in conversation.messages), "messages")

    def render() -> list[int]:
        return text.chat_prompt(
            conversation.messages, thinking=conversation.thinking, continue_last=conversation.continues_last
        )

    try:
        return await asyncio.to_thread(render)  # answers go on meanwhile
    except ModelError as error:
        raise of_model(error, "messages") from None


async def text_tokens(service: Service, prompt: str, *, start: bool = True) -> list[int]:
    """The tokens of a plain prompt."""
    text = service.engine.llm.text
    _check_length(service, len(prompt), "prompt")
    try:
        return await asyncio.to_thread(text.encode, prompt, start=start)
    except ModelError as error:
        raise of_model(error, "prompt") from None


def _check_length(service: Service, characters: int, param: str) -> None:
    """Rejects a text that cannot fit before it is made tokens, which takes long."""
    room = service.engine.llm.max_seq_len
    if characters > room * _LONGEST:
        message = f"the prompt has {characters} characters, and the context of this server is {room} tokens"
        raise bad_request(message, param, "context_length_exceeded")


def of_chat(
    messages: Sequence[ChatMessage], tools: Sequence[Tool] | None = None, *, variables: Mapping[str, Any] | None = None,
    effort: str | None = None, continues_last: bool = False,
) -> Conversation:  # fmt: skip
    """The conversation of OpenAI's chats."""
    return Conversation(
        [Message(_ROLES.get(message.role, message.role), message.text) for message in messages],  # type: ignore[arg-type]
        _thinking(variables, effort), continues_last,
        {name: value for name, value in (variables or {}).items() if name != _SWITCH},
    )  # fmt: skip


def of_responses(body: ResponsesRequest) -> Conversation:
    """The conversation of OpenAI's responses."""
    messages = [Message("system", body.instructions)] if body.instructions else []
    items = [InputItem(role="user", content=body.input)] if isinstance(body.input, str) else body.input
    for item in items:
        match item.type:
            case "message":
                role = _ROLES.get(item.role or "user", item.role or "user")
                messages.append(Message(role, text_of(item.content)))  # type: ignore[arg-type]
            case "function_call_output":
                messages.append(Message("tool", text_of(item.output)))
    effort = None if body.reasoning is None else body.reasoning.effort
    return Conversation(messages, _thinking(body.chat_template_kwargs, effort))


def of_messages(body: CountTokensRequest) -> Conversation:
    """The conversation of Anthropic's messages."""
    messages = [Message("system", block_text(body.system))] if body.system else []
    for message in body.messages:
        results = [] if isinstance(message.content, str) else [
            block for block in message.content if block.type == "tool_result"
        ]  # fmt: skip
        messages += [Message("tool", block_text(block.content)) for block in results]
        text = block_text(message.content)
        if text or not results:
            messages.append(Message(message.role, text))
    thinking = None if body.thinking is None else body.thinking.type != "disabled"
    last = body.messages[-1].role == "assistant"
    return Conversation(messages, False if thinking is False else None, last)


def _thinking(variables: Mapping[str, Any] | None, effort: str | None) -> bool | None:
    """Whether the model thinks: as the variable of the template says, else as the effort."""
    switch = (variables or {}).get(_SWITCH)
    if switch is not None and not isinstance(switch, bool):
        raise bad_request(f"{_SWITCH} is true or false", f"chat_template_kwargs.{_SWITCH}")
    return switch if switch is not None else False if effort == "none" else None


_ROLES: Final = {"developer": "system"}
_SWITCH: Final = "enable_thinking"
