"""A conversation in one form, whichever API it came by, and its prompt."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from ..errors import ModelError
from ..structured.grammar import FreeText, Grammar
from ..tokenizer.messages import Message, ToolCall
from ..tokenizer.text import Text
from .answer import Dialect
from .errors import bad_request, of_model
from .reasoning import CLOSE, OPEN, is_thinking
from .schemas.chat import ChatRequest, NamedTool, text_of
from .schemas.common import ResponseFormat, Sampling
from .schemas.messages import CountTokensRequest, block_text
from .schemas.responses import InputItem, NamedFunctionTool, ResponsesRequest
from .schemas.tokens import TokenizeRequest
from .service import Service
from .tool_calls import call_grammar, style_of

_LONGEST: Final = 256
"""Characters of the longest tokens there are, which are runs of spaces."""
_SWITCH: Final = "enable_thinking"
_TELLS: Final = (
    "You may call tools. Their signatures in JSON:\n{tools}\nTo call one, write\n<tool_call>\n"
    '{{"name": <name>, "arguments": <object with its arguments>}}\n</tool_call>'
)
"""For models whose template does not tell them of tools."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call."""

    name: str
    description: str | None
    parameters: dict[str, Any] | None

    @property
    def record(self) -> dict[str, Any]:
        """The tool as chat templates take it."""
        function = {"name": self.name, "description": self.description or "", "parameters": self.parameters or {}}
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of a chat, and what its answer may be."""

    messages: list[Message]
    tools: tuple[Tool, ...] = ()
    must_call: tuple[str, ...] = ()
    """Tools of which the answer must call one; empty if it need not."""
    is_parallel: bool = True
    """Whether an answer may have several calls."""
    format: Grammar | None = None
    """What the text of the answer must match."""
    thinking: bool | None = None
    """Whether the model thinks first; None leaves it to the template."""
    continues_last: bool = False
    """Whether the last message is the beginning of the answer."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Variables of the template."""


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """The prompt of a conversation, and how its answer is written."""

    tokens: list[int]
    dialect: Dialect
    grammar: Grammar | None
    """What the answer must match, once the model has thought."""

    may_think: bool = True
    """Whether the model may begin with thoughts where the prompt has not opened them."""

    @property
    def after(self) -> FreeText | None:
        """The thoughts of the model before its answer, if it may have any."""
        if self.dialect.is_thinking:
            return FreeText(CLOSE)
        return FreeText(CLOSE, OPEN) if self.may_think else None


# Prompts.


async def chat_prompt(service: Service, conversation: Conversation) -> ChatPrompt:
    """The prompt of a conversation."""
    text = service.engine.llm.text
    _check_length(service, sum(len(message.content) for message in conversation.messages), "messages")
    try:
        return await asyncio.to_thread(_rendered, text, conversation)  # answers go on meanwhile
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


def _rendered(text: Text, conversation: Conversation) -> ChatPrompt:
    messages, tools = conversation.messages, conversation.tools
    if not text.template.takes_tools:
        messages, tools = _told(messages, tools), ()
    tokens = text.chat_prompt(
        messages, thinking=conversation.thinking, continue_last=conversation.continues_last,
        tools=[tool.record for tool in tools], variables=conversation.variables,
    )  # fmt: skip
    style = style_of(text.template.source)
    names = tuple(tool.name for tool in conversation.tools)
    opened = is_thinking(text.decode(tokens[-8:], special=True))
    grammar = conversation.format
    if conversation.must_call:
        wanted = {tool.name: tool.parameters for tool in conversation.tools if tool.name in conversation.must_call}
        grammar = call_grammar(style, wanted, is_parallel=conversation.is_parallel)
    dialect = Dialect(style, names, conversation.is_parallel, opened)
    may_think = text.template.can_think and conversation.thinking is not False and not conversation.continues_last
    return ChatPrompt(tokens, dialect, grammar, may_think)


def _told(messages: Sequence[Message], tools: Sequence[Tool]) -> list[Message]:
    """The messages with tools, calls and results in their texts, for a template that knows of none."""
    told = list(messages)
    if tools:
        lines = "\n".join(json.dumps(tool.record["function"], ensure_ascii=False) for tool in tools)
        said = _TELLS.format(tools=lines)
        if told[0].role == "system":
            told[0] = replace(told[0], content=f"{told[0].content}\n\n{said}")
        else:
            told.insert(0, Message("system", said))
    for number, message in enumerate(told):
        if message.calls:
            calls = [json.dumps({"name": call.name, "arguments": call.arguments}) for call in message.calls]
            parts = [message.content, *(f"<tool_call>\n{call}\n</tool_call>" for call in calls)]
            told[number] = Message("assistant", "\n".join(filter(None, parts)))
        elif message.role == "tool":
            told[number] = Message("user", f"<tool_response>\n{message.content}\n</tool_response>")
    return told


def _check_length(service: Service, characters: int, param: str) -> None:
    """Rejects a text that cannot fit before it is made tokens, which takes long."""
    room = service.engine.llm.max_seq_len
    if characters > room * _LONGEST:
        message = f"the prompt has {characters} characters, and the context of this server is {room} tokens"
        raise bad_request(message, param, "context_length_exceeded")


# The APIs.


def of_chat(body: ChatRequest | TokenizeRequest) -> Conversation:
    """The conversation of OpenAI's chats."""
    messages: list[Message] = []
    for message in body.messages or []:
        calls = [_call(call.function.name, call.function.arguments, call.id) for call in message.tool_calls or []]
        thought = message.reasoning_content or message.reasoning or ""
        messages.append(_message(messages, message.role, message.text, calls, message.tool_call_id, thought))
    tools = tuple(
        Tool(tool.function.name, tool.function.description, tool.function.parameters) for tool in body.tools or []
    )
    conversation = Conversation(
        messages, tools, thinking=_thinking(body.chat_template_kwargs),
        continues_last=bool(body.continue_final_message) or body.add_generation_prompt is False,
        variables={name: value for name, value in (body.chat_template_kwargs or {}).items() if name != _SWITCH},
    )  # fmt: skip
    if not isinstance(body, ChatRequest):
        return conversation
    conversation = replace(
        conversation, is_parallel=body.parallel_tool_calls is not False, format=text_grammar(body),
        thinking=_thinking(body.chat_template_kwargs, body.reasoning_effort),
    )  # fmt: skip
    if isinstance(body.tool_choice, NamedTool):
        return _naming(conversation, body.tool_choice.function.name)
    return _choosing(conversation, body.tool_choice)


def of_responses(body: ResponsesRequest) -> Conversation:
    """The conversation of OpenAI's responses."""
    messages = [Message("system", body.instructions)] if body.instructions else []
    items = [InputItem(role="user", content=body.input)] if isinstance(body.input, str) else body.input
    for item in items:
        match item.type:
            case "message":
                messages.append(_message(messages, item.role or "user", text_of(item.content)))
            case "function_call":
                call = _call(item.name or "", item.arguments or "", item.call_id)
                last = messages[-1] if messages else None
                if last is not None and last.role == "assistant":  # an answer and its calls are one message
                    messages[-1] = replace(last, calls=(*last.calls, call))
                else:
                    messages.append(Message("assistant", "", (call,)))
            case "function_call_output":
                messages.append(_message(messages, "tool", text_of(item.output), call_id=item.call_id))
    effort = None if body.reasoning is None else body.reasoning.effort
    format_ = None if body.text is None else body.text.format
    grammar = text_grammar(body)
    if format_ is not None and format_.type != "text":
        if grammar is not None:
            raise bad_request("text.format and structured_outputs exclude each other", "text.format")
        grammar = _grammar(format_.schema_ if format_.type == "json_schema" else {"type": "object"}, "text.format")
    conversation = Conversation(
        messages, tuple(Tool(tool.name, tool.description, tool.parameters) for tool in body.tools or []),
        is_parallel=body.parallel_tool_calls is not False, format=grammar,
        thinking=_thinking(body.chat_template_kwargs, effort),
    )  # fmt: skip
    if isinstance(body.tool_choice, NamedFunctionTool):
        return _naming(conversation, body.tool_choice.name)
    return _choosing(conversation, body.tool_choice)


def of_messages(body: CountTokensRequest) -> Conversation:
    """The conversation of Anthropic's messages."""
    messages = [Message("system", block_text(body.system))] if body.system else []
    for message in body.messages:
        blocks = [] if isinstance(message.content, str) else message.content
        results = [block for block in blocks if block.type == "tool_result"]
        for block in results:
            messages.append(_message(messages, "tool", block_text(block.content), call_id=block.tool_use_id))
        calls = [_call(block.name or "", block.input or {}, block.id) for block in blocks if block.type == "tool_use"]
        thought = "".join(block.thinking or "" for block in blocks if block.type == "thinking")
        text = block_text(message.content)
        if text or not results:
            messages.append(_message(messages, message.role, text, calls, thought=thought))
    output = None if body.output_config is None else body.output_config.format
    conversation = Conversation(
        messages, tuple(Tool(tool.name, tool.description, tool.input_schema) for tool in body.tools or []),
        format=None if output is None else _grammar(output.schema_, "output_config.format.schema"),
        thinking=False if body.thinking is not None and body.thinking.type == "disabled" else None,
        continues_last=body.messages[-1].role == "assistant",
    )  # fmt: skip
    choice = body.tool_choice
    if choice is None:
        return conversation
    conversation = replace(conversation, is_parallel=not choice.disable_parallel_tool_use)
    if choice.type == "tool":
        return _naming(conversation, choice.name or "")
    return _choosing(conversation, "required" if choice.type == "any" else choice.type)


def text_grammar(body: Sampling) -> Grammar | None:
    """What the text that is generated must match, by `response_format` or `structured_outputs`."""
    wanted, format_ = body.structured_outputs, body.response_format
    if format_ is not None and format_.type != "text":
        if wanted is not None:
            raise bad_request("response_format and structured_outputs exclude each other", "response_format")
        return _format_grammar(format_)
    if wanted is None:
        return None
    try:
        if wanted.regex is not None:
            return Grammar.regex(wanted.regex)
        if wanted.choice is not None:
            return Grammar.choice(wanted.choice)
        if wanted.grammar is not None:
            return Grammar.context_free(wanted.grammar)
        return Grammar.json_object() if wanted.json_ is None else Grammar.json_schema(wanted.json_)
    except ModelError as error:
        raise of_model(error, "structured_outputs") from None


def _format_grammar(format_: ResponseFormat) -> Grammar:
    if format_.json_schema is None or format_.type == "json_object":
        return Grammar.json_object()
    return _grammar(format_.json_schema.schema_, "response_format.json_schema.schema")


def _grammar(schema: dict[str, Any] | bool | None, field_: str) -> Grammar:
    try:
        return Grammar.json_schema(True if schema is None else schema)
    except ModelError as error:
        raise of_model(error, field_) from None


def _naming(conversation: Conversation, name: str) -> Conversation:
    """The same for an answer that must call one tool."""
    return replace(conversation, must_call=(name,), is_parallel=False)


def _choosing(conversation: Conversation, choice: Literal["none", "auto", "required"] | None) -> Conversation:
    """The same with what the request says of tools."""
    match choice:
        case "none":
            return replace(conversation, tools=())
        case "required":
            return replace(conversation, must_call=tuple(tool.name for tool in conversation.tools))
    return conversation


def _message(
    before: Sequence[Message], role: str, text: str, calls: Sequence[ToolCall] = (), call_id: str | None = None,
    thought: str = "",
) -> Message:  # fmt: skip
    """A message after others. The result of a call gets the name of the tool, which some templates want."""
    names = {call.id: call.name for message in before for call in message.calls}
    own: Any = "system" if role == "developer" else role
    return Message(own, text, tuple(calls), call_id or "", names.get(call_id or "", ""), thought)


def _call(name: str, arguments: str | dict[str, Any], id: str | None) -> ToolCall:
    """A call whose arguments are an object, as templates want them, if they are one."""
    if isinstance(arguments, str):
        try:
            decoded = json.loads(arguments, parse_constant=str)
        except (ValueError, RecursionError):
            decoded = None
        arguments = decoded if isinstance(decoded, dict) else arguments
    return ToolCall(name, arguments, id or "")


def _thinking(variables: Mapping[str, Any] | None, effort: str | None = None) -> bool | None:
    """Whether the model thinks: as the variable of the template says, else as the effort."""
    switch = (variables or {}).get(_SWITCH)
    if switch is not None and not isinstance(switch, bool):
        raise bad_request(f"{_SWITCH} is true or false", f"chat_template_kwargs.{_SWITCH}")
    return switch if switch is not None else False if effort == "none" else None
