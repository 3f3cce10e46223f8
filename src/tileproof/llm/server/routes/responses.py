"""`/v1/responses`: OpenAI's later API. Nothing is stored: a conversation is sent as a whole each time."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing
from typing import Any, Final

from starlette.responses import Response

from ...request import Chunk
from ..answer import AnswerReader, Delta, Thought
from ..conversation import chat_prompt, of_responses
from ..endpoint import Call, Endpoint, new_id
from ..errors import ApiError
from ..generation import Generation, Work, begin, sampling_params
from ..logprobs import chat_logprobs
from ..schemas.responses import ResponsesRequest
from ..sse import EventStream, event, json_response
from ..tool_calls import CallArguments, CallBegins, Content
from ..usage import responses_usage

_LOGPROBS: Final = "message.output_text.logprobs"


async def responses(call: Call, body: ResponsesRequest) -> Response:
    """The answer to a conversation."""
    service = call.service
    service.check_model(body.model)
    prompt = await chat_prompt(service, of_responses(body))
    wants_logprobs = body.top_logprobs is not None or _LOGPROBS in (body.include or [])
    params = sampling_params(
        service, body, max_tokens=body.max_output_tokens, logprobs=(body.top_logprobs or 0) if wants_logprobs else None
    )
    name = new_id("resp_")
    salt = call.salt(body.cache_salt)
    work = Work([prompt.tokens], params, "input", prompt.grammar, prompt.after, 1, body.priority, salt)
    generation = await begin(service, name, work)
    answer = _Response(call, body, name, work, generation, AnswerReader(prompt.dialect, is_streamed=bool(body.stream)))
    if body.stream:
        return EventStream(_events(answer, generation), generation.close)
    with closing(generation):
        async for _, chunk in generation.chunks():
            for _ in answer.take(chunk):
                pass
    return json_response(answer.document())


async def _events(answer: _Response, generation: Generation) -> AsyncGenerator[bytes, None]:
    try:
        for each in answer.begin():
            yield event(each, each["type"])
        async for _, chunk in generation.chunks():
            for each in answer.take(chunk):
                yield event(each, each["type"])
    except ApiError as error:
        failed = answer.fail(error)
        yield event(failed, failed["type"])


class _Response:
    """A response while it is made, and the events that tell of it."""

    def __init__(
        self, call: Call, body: ResponsesRequest, name: str, work: Work, generation: Generation, reader: AnswerReader
    ) -> None:
        self._call, self._body, self._name, self._generation, self._reader = call, body, name, generation, reader
        self._sampling = {"temperature": work.params.temperature, "top_p": work.params.top_p}
        self._wants_logprobs = work.params.logprobs is not None
        self._text = call.service.engine.llm.text
        self._output: list[dict[str, Any]] = []
        self._logprobs: list[dict[str, Any]] = []
        self._status = "in_progress"
        self._error: dict[str, str] | None = None
        self._created = int(time.time())
        self._count = 0

    def document(self) -> dict[str, Any]:
        """The response as it is now."""
        body = self._body
        thought = self._reader.thought_tokens
        usage = None if self._status == "in_progress" else responses_usage(self._generation, thought)
        reason = {"reason": "max_output_tokens"} if self._status == "incomplete" else None
        format_ = body.text.format if body.text is not None and body.text.format is not None else None
        return {
            "id": self._name, "object": "response", "created_at": self._created, "status": self._status,
            "completed_at": int(time.time()) if self._status == "completed" else None,
            "error": self._error, "incomplete_details": reason, "model": self._call.service.options.model,
            "output": self._output, "instructions": body.instructions, "metadata": body.metadata or {},
            "max_output_tokens": body.max_output_tokens, "parallel_tool_calls": body.parallel_tool_calls is not False,
            "previous_response_id": None, "store": False, "background": False, "truncation": "disabled",
            "reasoning": body.reasoning.model_dump() if body.reasoning else {"effort": None, "summary": None},
            "text": {"format": format_.model_dump(by_alias=True, exclude_none=True) if format_ else {"type": "text"}},
            "tools": [tool.model_dump() for tool in body.tools or []], "top_logprobs": body.top_logprobs or 0,
            "tool_choice": _choice(body), "usage": usage,
            **self._sampling,
        }  # fmt: skip

    def begin(self) -> Iterator[dict[str, Any]]:
        """The first events."""
        for kind in ("created", "in_progress"):
            yield self._event(f"response.{kind}", response=self.document())

    def take(self, chunk: Chunk) -> Iterator[dict[str, Any]]:
        """What a chunk adds."""
        if self._wants_logprobs:
            self._logprobs += chat_logprobs(self._text, chunk.logprobs)
        for delta in self._reader.push(chunk):
            yield from self._take(delta)
        if chunk.finish is not None:
            self._status = "incomplete" if chunk.finish == "length" else "completed"
            yield from self._end_item()
            generation = self._generation
            self._call.log(prompt_tokens=generation.prompt_tokens, generated_tokens=generation.generated_tokens)
            yield self._event(f"response.{self._status}", response=self.document())

    def fail(self, error: ApiError) -> dict[str, Any]:
        """What ended it too early."""
        self._status, self._error = "failed", {"code": error.code or "server_error", "message": error.message}
        return self._event("response.failed", response=self.document())

    def _take(self, delta: Delta) -> Iterator[dict[str, Any]]:
        match delta:
            case Thought(text):
                yield from self._begin_item("reasoning", "rs_", summary=[], content=[])
                yield from self._add_text("reasoning_text", "response.reasoning_text", text)
            case Content(text):
                yield from self._begin_item("message", "msg_", role="assistant", content=[])
                yield from self._add_text("output_text", "response.output_text", text)
            case CallBegins(_, id, name):
                yield from self._end_item()
                yield from self._begin_item("function_call", "fc_", call_id=id, name=name, arguments="")
            case CallArguments(_, text):
                item = self._output[-1]
                item["arguments"] += text
                yield self._of_item("response.function_call_arguments.delta", delta=text)

    def _begin_item(self, kind: str, prefix: str, **fields: Any) -> Iterator[dict[str, Any]]:
        """Begins an item of the output, unless the last one is of its kind and goes on."""
        if self._output and self._output[-1]["type"] == kind and self._output[-1]["status"] == "in_progress":
            return
        yield from self._end_item()
        item = {"id": new_id(prefix), "type": kind, "status": "in_progress", **fields}
        self._output.append(item)
        yield self._event("response.output_item.added", output_index=len(self._output) - 1, item=item)

    def _add_text(self, kind: str, name: str, text: str) -> Iterator[dict[str, Any]]:
        content = self._output[-1]["content"]
        if not content:
            content.append({"type": kind, "text": ""})
            if kind == "output_text":
                content[0] |= {"annotations": [], "logprobs": []}
            yield self._of_item("response.content_part.added", content_index=0, part=content[0])
        content[0]["text"] += text
        more: dict[str, Any] = {}
        if kind == "output_text":
            more["logprobs"], self._logprobs = self._logprobs, []
            content[0]["logprobs"] += more["logprobs"]
        yield self._of_item(f"{name}.delta", content_index=0, delta=text, **more)

    def _end_item(self) -> Iterator[dict[str, Any]]:
        if not self._output or self._output[-1]["status"] != "in_progress":
            return
        item = self._output[-1]
        item["status"] = "incomplete" if self._status == "incomplete" else "completed"
        match item["type"]:
            case "message":
                part = item["content"][0]
                part["logprobs"] += self._logprobs
                more = {"text": part["text"], "logprobs": part["logprobs"]}
                yield self._of_item("response.output_text.done", content_index=0, **more)
                yield self._of_item("response.content_part.done", content_index=0, part=part)
            case "reasoning":
                part = item["content"][0]
                yield self._of_item("response.reasoning_text.done", content_index=0, text=part["text"])
                yield self._of_item("response.content_part.done", content_index=0, part=part)
            case "function_call":
                call = {"arguments": item["arguments"], "name": item["name"]}
                yield self._of_item("response.function_call_arguments.done", **call)
        yield self._event("response.output_item.done", output_index=len(self._output) - 1, item=item)

    def _of_item(self, kind: str, **fields: Any) -> dict[str, Any]:
        return self._event(kind, item_id=self._output[-1]["id"], output_index=len(self._output) - 1, **fields)

    def _event(self, kind: str, **fields: Any) -> dict[str, Any]:
        self._count += 1
        return {"type": kind, "sequence_number": self._count - 1, **fields}


def _choice(body: ResponsesRequest) -> str | dict[str, Any]:
    """What it says of tools."""
    match body.tool_choice:
        case None:
            return "auto"
        case str(word):
            return word
        case named:
            return named.model_dump()


ENDPOINTS: Final = (Endpoint("POST", "/v1/responses", "The answer to a conversation", responses, ResponsesRequest),)
