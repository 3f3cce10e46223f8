"""`/v1/messages`: Anthropic's API, which coding agents speak, and its counting of tokens."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing
from typing import Any, Final

from starlette.responses import Response

from ...request import Chunk
from ..answer import AnswerReader, Delta, Thought
from ..conversation import chat_prompt, of_messages
from ..endpoint import Call, Endpoint, new_id
from ..errors import ApiError
from ..generation import Generation, Work, begin, sampling_params
from ..schemas.common import Sampling
from ..schemas.messages import CountTokensRequest, MessagesRequest
from ..sse import EventStream, event, json_response
from ..tool_calls import CallArguments, CallBegins, Content
from ..usage import anthropic_usage


async def messages(call: Call, body: MessagesRequest) -> Response:
    """The next message of a conversation."""
    service = call.service
    service.check_model(body.model)
    prompt = await chat_prompt(service, of_messages(body))
    same = {name: getattr(body, name) for name in ("temperature", "top_p", "top_k")}
    chosen = Sampling.model_validate({**same, "stop": body.stop_sequences})
    params = sampling_params(service, chosen, max_tokens=body.max_tokens)
    name = new_id("msg_")
    salt = call.salt(body.cache_salt)
    work = Work([prompt.tokens], params, "messages", prompt.grammar, prompt.after, 1, body.priority, salt)
    generation = await begin(service, name, work)
    answer = _Message(call, name, generation, AnswerReader(prompt.dialect, is_streamed=bool(body.stream)))
    if body.stream:
        return EventStream(_events(answer, generation), generation.close)
    with closing(generation):
        async for _, chunk in generation.chunks():
            for _ in answer.take(chunk):
                pass
    return json_response(answer.document())


async def count_tokens(call: Call, body: CountTokensRequest) -> Response:
    """How many tokens the prompt of a conversation has."""
    call.service.check_model(body.model)
    prompt = await chat_prompt(call.service, of_messages(body))
    return json_response({"input_tokens": len(prompt.tokens)})


async def _events(answer: _Message, generation: Generation) -> AsyncGenerator[bytes, None]:
    try:
        yield event({"type": "message_start", "message": answer.document()}, "message_start")
        async for _, chunk in generation.chunks():
            for each in answer.take(chunk):
                yield event(each, each["type"])
    except ApiError as error:
        yield event(error.as_anthropic(), "error")


class _Message:
    """A message while it is made, and the events that tell of it."""

    def __init__(self, call: Call, name: str, generation: Generation, reader: AnswerReader) -> None:
        self._call, self._name, self._generation, self._reader = call, name, generation, reader
        self._content: list[dict[str, Any]] = []
        self._arguments = ""
        """Of the tool that is being called."""
        self._is_open = False
        """Whether the last block may grow."""
        self._end: dict[str, Any] = {"stop_reason": None, "stop_sequence": None}

    def document(self) -> dict[str, Any]:
        """The message as it is now."""
        return {
            "id": self._name, "type": "message", "role": "assistant", "model": self._call.service.options.model,
            "content": self._content, **self._end, "usage": anthropic_usage(self._generation),
        }  # fmt: skip

    def take(self, chunk: Chunk) -> Iterator[dict[str, Any]]:
        """What a chunk adds."""
        for delta in self._reader.push(chunk):
            yield from self._take(delta)
        if chunk.finish is None:
            return
        yield from self._end_block()
        generation = self._generation
        self._call.log(prompt_tokens=generation.prompt_tokens, generated_tokens=generation.generated_tokens)
        stop = generation.stopped_by(0)
        if chunk.finish == "length":
            reason = "max_tokens"
        elif any(block["type"] == "tool_use" for block in self._content):
            reason = "tool_use"
        else:
            reason = "end_turn" if stop is None else "stop_sequence"
        self._end = {"stop_reason": reason, "stop_sequence": stop}
        yield {"type": "message_delta", "delta": self._end, "usage": anthropic_usage(generation)}
        yield {"type": "message_stop"}

    def _take(self, delta: Delta) -> Iterator[dict[str, Any]]:
        match delta:
            case Thought(text):
                yield from self._begin_block("thinking", thinking="", signature="")
                self._content[-1]["thinking"] += text
                yield self._delta(type="thinking_delta", thinking=text)
            case Content(text):
                yield from self._begin_block("text", text="")
                self._content[-1]["text"] += text
                yield self._delta(type="text_delta", text=text)
            case CallBegins(_, id, name):
                yield from self._end_block()
                yield from self._begin_block("tool_use", id=id, name=name, input={})
            case CallArguments(_, text):
                self._arguments += text
                yield self._delta(type="input_json_delta", partial_json=text)

    def _begin_block(self, kind: str, **fields: Any) -> Iterator[dict[str, Any]]:
        """Begins a block, unless the last one is of its kind and goes on."""
        if self._is_open and self._content[-1]["type"] == kind:
            return
        yield from self._end_block()
        block = {"type": kind, **fields}
        self._content.append(block)
        self._is_open = True
        yield {"type": "content_block_start", "index": len(self._content) - 1, "content_block": block}

    def _end_block(self) -> Iterator[dict[str, Any]]:
        if not self._is_open:
            return
        self._is_open = False
        if self._content[-1]["type"] == "tool_use":
            self._content[-1]["input"], self._arguments = _object(self._arguments), ""
        yield {"type": "content_block_stop", "index": len(self._content) - 1}

    def _delta(self, **fields: Any) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": len(self._content) - 1, "delta": fields}


def _object(arguments: str) -> dict[str, Any]:
    """The arguments of a call. What a model leaves unfinished is no object, and the API has no other place for it."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


ENDPOINTS: Final = (
    Endpoint("POST", "/v1/messages", "The next message of a conversation", messages, MessagesRequest),
    Endpoint("POST", "/v1/messages/count_tokens", "How many tokens a conversation has", count_tokens,
             CountTokensRequest),
)  # fmt: skip
