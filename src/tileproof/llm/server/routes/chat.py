"""`/v1/chat/completions`: the next message of a chat."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import closing
from typing import Any, Final

from starlette.responses import Response

from ...errors import ModelError
from ...request import TokenLogprob
from ..answer import Answer, AnswerReader, Delta, Thought
from ..conversation import chat_prompt, of_chat
from ..endpoint import Call, Endpoint, new_id
from ..errors import ApiError, of_model
from ..generation import Generation, Work, begin, check_lengths, sampling_params
from ..logprobs import chat_logprobs, prompt_logprobs
from ..schemas.chat import ChatRequest
from ..sse import DONE, EventStream, event, json_response
from ..tool_calls import CallArguments, CallBegins, Content
from ..usage import openai_usage


async def chat_completions(call: Call, body: ChatRequest) -> Response:
    """The next message of a chat."""
    service, name = call.service, new_id("chatcmpl-")
    service.check_model(body.model)
    engine = service.engine
    prompt = await chat_prompt(service, of_chat(body))
    params = sampling_params(
        service, body, max_tokens=body.max_completion_tokens or body.max_tokens,
        logprobs=(body.top_logprobs or 0) if body.logprobs else None,
    )  # fmt: skip
    head = {"id": name, "created": int(time.time()), "model": service.options.model}
    if body.prompt_logprobs is not None:
        check_lengths(service, [prompt.tokens], "messages")
        try:
            found = await engine.prompt_logprobs(prompt.tokens, body.prompt_logprobs)
        except ModelError as error:
            raise of_model(error, "messages") from None
        head["prompt_logprobs"] = prompt_logprobs(engine.llm.text, found)
    salt = call.salt(body.cache_salt)
    work = Work([prompt.tokens], params, "messages", prompt.grammar, prompt.after, body.n or 1, body.priority, salt)
    generation = await begin(service, name, work)
    readers = [AnswerReader(prompt.dialect, is_streamed=bool(body.stream)) for _ in range(generation.count)]
    if body.stream:
        return EventStream(_events(call, body, head, generation, readers), generation.close)
    with closing(generation):
        return json_response(await _whole(call, body, head, generation, readers))


async def _whole(
    call: Call, body: ChatRequest, head: dict[str, Any], generation: Generation, readers: Sequence[AnswerReader]
) -> dict[str, Any]:
    """The answer as a whole."""
    answers = [Answer() for _ in readers]
    async for number, chunk in generation.chunks():
        for delta in readers[number].push(chunk):
            answers[number].add(delta)
    choices = []
    for number, answer in enumerate(answers):
        done = generation.completion(number)
        message: dict[str, Any] = {"role": "assistant", "content": answer.content, "refusal": None}
        if answer.calls:
            message["content"] = answer.content or None
            message["tool_calls"] = [
                {"id": each.id, "type": "function", "function": {"name": each.name, "arguments": each.arguments}}
                for each in answer.calls
            ]
        if answer.thought and body.include_reasoning is not False:
            message |= {"reasoning": answer.thought, "reasoning_content": answer.thought}
        choices.append({
            "index": number, "message": message, "logprobs": _logprobs(call, body, done.logprobs),
            "finish_reason": "tool_calls" if answer.calls and done.finish == "stop" else done.finish,
            "stop_reason": generation.stopped_by(number),
        })  # fmt: skip
    _log(call, generation)
    usage = openai_usage(generation, sum(reader.thought_tokens for reader in readers))
    return {"object": "chat.completion", **head, "choices": choices, "usage": usage}


async def _events(
    call: Call, body: ChatRequest, head: dict[str, Any], generation: Generation, readers: Sequence[AnswerReader]
) -> AsyncGenerator[bytes, None]:
    """The answer in events."""
    options = body.stream_options
    sends_usage = options is not None and bool(options.include_usage)
    counts_on = options is not None and bool(options.continuous_usage_stats)
    head = {"object": "chat.completion.chunk"} | head
    has_calls = [False] * generation.count
    pending: list[list[TokenLogprob]] = [[] for _ in range(generation.count)]

    def usage() -> dict[str, Any]:
        return openai_usage(generation, sum(reader.thought_tokens for reader in readers))

    def piece(number: int, delta: dict[str, Any], finish: str | None = None, stop: str | int | None = None) -> bytes:
        logprobs, pending[number] = _logprobs(call, body, pending[number]), []
        choice = {"index": number, "delta": delta, "logprobs": logprobs, "finish_reason": finish}
        if finish is not None:
            choice["stop_reason"] = stop
        data = head | {"choices": [choice]}
        if sends_usage or counts_on:
            data["usage"] = usage() if counts_on else None
        return event(data)

    try:
        for number in range(generation.count):
            yield piece(number, {"role": "assistant", "content": "", "refusal": None})
        async for number, chunk in generation.chunks():
            pending[number] += chunk.logprobs
            for delta in readers[number].push(chunk):
                if isinstance(delta, Thought) and body.include_reasoning is False:
                    continue
                has_calls[number] |= isinstance(delta, CallBegins)
                yield piece(number, _delta(delta))
            if chunk.finish is not None:
                finish = "tool_calls" if has_calls[number] and chunk.finish == "stop" else chunk.finish
                yield piece(number, {}, finish, generation.stopped_by(number))
        if sends_usage:
            yield event(head | {"choices": [], "usage": usage()})
    except ApiError as error:
        yield event(error.as_openai())
    _log(call, generation)
    yield DONE


def _delta(delta: Delta) -> dict[str, Any]:
    """A piece of an answer in the words of the API."""
    match delta:
        case Thought(text):
            return {"reasoning": text, "reasoning_content": text}
        case Content(text):
            return {"content": text}
        case CallBegins(number, id, name):
            function = {"name": name, "arguments": ""}
            return {"tool_calls": [{"index": number, "id": id, "type": "function", "function": function}]}
        case CallArguments(number, text):
            return {"tool_calls": [{"index": number, "function": {"arguments": text}}]}


def _logprobs(call: Call, body: ChatRequest, logprobs: Sequence[TokenLogprob]) -> dict[str, Any] | None:
    if not body.logprobs:
        return None
    return {"content": chat_logprobs(call.service.engine.llm.text, logprobs), "refusal": None}


def _log(call: Call, generation: Generation) -> None:
    call.log(prompt_tokens=generation.prompt_tokens, generated_tokens=generation.generated_tokens)


ENDPOINTS: Final = (
    Endpoint("POST", "/v1/chat/completions", "The next message of a chat", chat_completions, ChatRequest),
)
