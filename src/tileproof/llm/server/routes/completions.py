"""`/v1/completions`: text that continues prompts."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import closing
from typing import Any, Final

from starlette.responses import Response

from ...errors import ModelError
from ...request import TokenLogprob
from ..conversation import text_grammar, text_tokens
from ..endpoint import Call, Endpoint, new_id
from ..errors import ApiError, of_model
from ..generation import Generation, Work, begin, check_lengths, sampling_params
from ..logprobs import completion_logprobs, prompt_logprobs
from ..schemas.completions import CompletionRequest
from ..sse import DONE, EventStream, event, json_response
from ..usage import openai_usage

DEFAULT_TOKENS: Final = 16
"""What OpenAI's API generates unless it is told how much."""


async def completions(call: Call, body: CompletionRequest) -> Response:
    """What continues a prompt, or each of several."""
    call.service.check_model(body.model)
    service, name = call.service, new_id("cmpl-")
    start = body.add_special_tokens is not False
    prompts = [prompt if isinstance(prompt, list) else await text_tokens(service, prompt, start=start)
               for prompt in body.prompts]  # fmt: skip
    count = max(body.logprobs or 0, body.prompt_logprobs or 0)
    wants_prompts = body.prompt_logprobs is not None or (body.echo and body.logprobs is not None)
    check_lengths(service, prompts, "prompt")
    of_prompts = [await _prompt_logprobs(call, prompt, count) for prompt in prompts] if wants_prompts else []
    answer = _Answer(call, body, name, prompts, of_prompts)
    if body.max_tokens == 0:
        return json_response(answer.without_generation())
    most = DEFAULT_TOKENS if body.max_tokens is None else body.max_tokens
    params = sampling_params(service, body, max_tokens=most, logprobs=body.logprobs)
    salt = call.salt(body.cache_salt)
    work = Work(prompts, params, "prompt", text_grammar(body), None, body.n or 1, body.priority, salt)
    generation = await begin(service, name, work)
    if body.stream:
        return EventStream(answer.events(generation), generation.close)
    with closing(generation):
        return json_response(await answer.whole(generation))


async def _prompt_logprobs(call: Call, prompt: Sequence[int], count: int) -> list[TokenLogprob | None]:
    try:
        return await call.service.engine.prompt_logprobs(prompt, count)
    except ModelError as error:
        raise of_model(error, "prompt") from None


class _Answer:
    """The answer to a request, whole or in events."""

    def __init__(
        self, call: Call, body: CompletionRequest, name: str, prompts: Sequence[Sequence[int]],
        of_prompts: Sequence[Sequence[TokenLogprob | None]],
    ) -> None:  # fmt: skip
        self._call, self._body = call, body
        self._text = call.service.engine.llm.text
        self._prompts, self._of_prompts = prompts, of_prompts
        self._choices = body.n or 1
        self._head = {
            "id": name, "object": "text_completion", "created": int(time.time()), "model": call.service.options.model,
        }  # fmt: skip

    async def whole(self, generation: Generation) -> dict[str, Any]:
        """All of it."""
        choices = []
        for number, done in enumerate(await generation.completions()):
            choice = self._choice(number, done.text, done.tokens, done.logprobs, generation.stopped_by(number))
            choices.append(choice | {"finish_reason": done.finish})
        self._log(generation)
        return self._head | {"choices": choices, "usage": openai_usage(generation)}

    def without_generation(self) -> dict[str, Any]:
        """The prompts alone, with their logprobs."""
        choices = [self._choice(number, "", (), (), None) | {"finish_reason": "length"}
                   for number in range(len(self._prompts) * self._choices)]  # fmt: skip
        count = sum(map(len, self._prompts))
        usage = {"prompt_tokens": count, "completion_tokens": 0, "total_tokens": count}
        return self._head | {"choices": choices, "usage": usage}

    async def events(self, generation: Generation) -> AsyncGenerator[bytes, None]:
        """The events of a stream."""
        options = self._body.stream_options
        sends_usage = options is not None and bool(options.include_usage)
        counts_on = options is not None and bool(options.continuous_usage_stats)
        is_first = [True] * generation.count
        lengths = [0] * generation.count
        try:
            async for number, chunk in generation.chunks():
                stop = generation.stopped_by(number) if chunk.finish else None
                choice = self._choice(
                    number, chunk.text, chunk.tokens, chunk.logprobs, stop, is_first[number], lengths[number]
                )
                is_first[number] = False
                lengths[number] += len(choice["text"])
                data = self._head | {"choices": [choice | {"finish_reason": chunk.finish}]}
                if sends_usage or counts_on:
                    data["usage"] = openai_usage(generation) if counts_on else None
                yield event(data)
            if sends_usage:
                yield event(self._head | {"choices": [], "usage": openai_usage(generation)})
        except ApiError as error:
            yield event(error.as_openai())
        self._log(generation)
        yield DONE

    def _choice(
        self, number: int, text: str, tokens: Sequence[int], logprobs: Sequence[TokenLogprob], stop: str | int | None,
        is_first: bool = True, length: int = 0,
    ) -> dict[str, Any]:  # fmt: skip
        """A choice, or a piece of one behind so much text."""
        body, place = self._body, number // self._choices
        before = self._text.decode(self._prompts[place]) if body.echo and is_first else ""
        choice: dict[str, Any] = {"index": number, "text": before + text, "logprobs": None, "stop_reason": stop}
        if body.logprobs is not None:
            all_logprobs: list[TokenLogprob | None] = list(logprobs)
            if body.echo and is_first:
                all_logprobs, tokens = [*self._of_prompts[place], *logprobs], [*self._prompts[place], *tokens]
            choice["logprobs"] = completion_logprobs(self._text, all_logprobs, tokens, length)
        if body.prompt_logprobs is not None and is_first:
            choice["prompt_logprobs"] = prompt_logprobs(self._text, self._of_prompts[place])
        return choice

    def _log(self, generation: Generation) -> None:
        self._call.log(prompt_tokens=generation.prompt_tokens, generated_tokens=generation.generated_tokens)


ENDPOINTS: Final = (
    Endpoint("POST", "/v1/completions", "Text that continues a prompt", completions, CompletionRequest),
)
