"""From a request of an API to sequences of the engine, and back to what they generated.

All sequences of an HTTP request begin together or not at all, and end together when the client leaves.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..async_llm import QueueFull, RequestStream
from ..engine.engine import RequestTimeout
from ..errors import ModelError
from ..request import Chunk, Completion
from ..sampling import SamplingParams
from ..structured.grammar import FreeText, Grammar
from ..structured.guidance import Matcher
from ..tokenizer.detokenizer import Detokenizer
from .errors import ApiError, bad_request, busy, of_model, unavailable
from .schemas.common import Sampling
from .service import Service


@dataclass(frozen=True, slots=True)
class Work:
    """What a request wants of the engine."""

    prompts: Sequence[Sequence[int]]
    params: SamplingParams
    field: str
    """The field with the prompts."""
    grammar: Grammar | None = None
    """What each sequence must match,"""
    after: FreeText | None = None
    """from its beginning, or after this text."""
    choices: int = 1
    """Sequences for each prompt."""
    priority: int = 0
    salt: str = ""
    """Only work with the same salt shares cached prompts."""


class Generation:
    """The sequences of a request while they are generated. `close` ends those that are not finished."""

    def __init__(self, service: Service, name: str, work: Work, matchers: Sequence[Matcher | None]) -> None:
        """Begins all of them, or none: `ApiError` says why. Each has a matcher for its grammar, if there is one."""
        self._service = service
        self._work = work
        self._streams: list[RequestStream] = []
        self._recorded: set[int] = set()
        limits, engine, params = service.limits, service.engine, work.params
        try:
            for number, matcher in enumerate(matchers):
                self._streams.append(engine.stream(
                    work.prompts[number // work.choices], params.of_choice(number % work.choices),
                    request_id=f"{name}-{number}", priority=work.priority, timeout=limits.request_timeout,
                    cache_salt=work.salt, matcher=matcher,
                ))  # fmt: skip
        except QueueFull:
            self.close()
            raise busy(f"more than {limits.max_queue} sequences are waiting; try again") from None
        except ModelError as error:
            self.close()
            raise of_model(error, work.field) from None
        service.metrics.began(work.choices, params.max_new_tokens)

    def close(self) -> None:
        """Ends what is not finished."""
        for number, stream in enumerate(self._streams):
            stream.abort()
            self._record(number, "abort")

    @property
    def count(self) -> int:
        """How many sequences it has."""
        return len(self._streams)

    async def chunks(self) -> AsyncGenerator[tuple[int, Chunk], None]:
        """What is generated, with the number of its sequence, as it comes."""
        if len(self._streams) == 1:
            async for chunk in self._watched(0):
                yield 0, chunk
            return
        arrivals: asyncio.Queue[tuple[int, Chunk | Exception | None]] = asyncio.Queue()
        tasks = [asyncio.create_task(self._pump(number, arrivals)) for number in range(len(self._streams))]
        try:
            left = len(tasks)
            while left:
                number, arrived = await arrivals.get()
                if isinstance(arrived, Exception):
                    raise arrived
                if arrived is None:
                    left -= 1
                else:
                    yield number, arrived
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def completions(self) -> list[Completion]:
        """All that is generated, when it is finished."""
        async for _ in self.chunks():
            pass
        return [self.completion(number) for number in range(self.count)]

    def completion(self, number: int) -> Completion:
        """A sequence that is finished."""
        return self._streams[number].request.completion()

    def stopped_by(self, number: int) -> str | int | None:
        """The stop string or token of the request that ended a sequence, if one did."""
        request, params = self._streams[number].request, self._work.params
        if request.finish != "stop":
            return None
        if request.generated[-1] in request.end_tokens:
            return request.generated[-1] if request.generated[-1] in params.stop_token_ids else None
        detokenizer = Detokenizer(self._service.engine.llm.text)
        text = "".join(map(detokenizer.push, request.generated)) + detokenizer.finish()
        found = [(text.find(stop) + len(stop), text.find(stop), stop) for stop in params.stop if stop in text]
        return min(found)[2] if found else None

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the prompts, each counted once."""
        return sum(len(prompt) for prompt in self._work.prompts)

    @property
    def cached_tokens(self) -> int:
        """Of these, tokens that the cache had. Later choices share their prompt with the first one."""
        return sum(stream.request.cached_tokens for stream in self._streams[:: self._work.choices])

    @property
    def generated_tokens(self) -> int:
        """Tokens generated so far, of all sequences."""
        return sum(len(stream.request.generated) for stream in self._streams)

    async def _pump(self, number: int, arrivals: asyncio.Queue[tuple[int, Chunk | Exception | None]]) -> None:
        try:
            async for chunk in self._watched(number):
                arrivals.put_nowait((number, chunk))
            arrivals.put_nowait((number, None))
        except Exception as error:
            arrivals.put_nowait((number, error))

    async def _watched(self, number: int) -> AsyncGenerator[Chunk, None]:
        """The chunks of a sequence, measured; what ended it too early becomes an error."""
        stream, metrics, before = self._streams[number], self._service.metrics, 0.0
        try:
            async for chunk in stream:
                now = time.perf_counter()
                if before and chunk.tokens:
                    metrics.advanced(now - before, len(chunk.tokens))
                before = now
                if chunk.finish == "cancelled":
                    raise unavailable("the server is shutting down, and did not finish the answer")
                if chunk.finish is not None:
                    self._record(number, chunk.finish)
                yield chunk
        except RequestTimeout as error:
            raise ApiError(408, error.line, code="request_timeout") from None
        except ModelError as error:
            raise of_model(error) from None

    def _record(self, number: int, finish: str) -> None:
        if number not in self._recorded:
            self._recorded.add(number)
            self._service.metrics.finished(self._streams[number].request, finish)


async def begin(service: Service, name: str, work: Work) -> Generation:
    """Begins the sequences of a request, after its grammar is compiled."""
    count, most = len(work.prompts) * work.choices, service.limits.max_choices
    if count > most:
        message = f"the request has {count} sequences, its prompts times n, and the limit is {most}"
        raise bad_request(message, "n")
    check_lengths(service, work.prompts, work.field)
    matchers: list[Matcher | None] = [None] * count
    if work.grammar is not None:
        try:
            matchers = [await service.engine.matcher(work.grammar, work.after) for _ in matchers]
        except ModelError as error:
            raise of_model(error) from None
    return Generation(service, name, work, matchers)


def check_lengths(service: Service, prompts: Sequence[Sequence[int]], field: str) -> None:
    """Rejects prompts that leave no room for a token."""
    room = service.engine.llm.max_seq_len
    longest = max(map(len, prompts), default=0)
    if longest >= room:
        message = f"the prompt has {longest} tokens, and the context of this server is {room}; shorten the prompt"
        raise bad_request(message, field, "context_length_exceeded")


def sampling_params(service: Service, body: Sampling, *, max_tokens: int | None, logprobs: int | None = None,
                    **others: Any) -> SamplingParams:  # fmt: skip
    """The sampling parameters of a request: its own, then those of the model's files, then those of OpenAI's API."""
    chosen = {
        **{name: getattr(body, name) for name in _SAME},
        "logit_bias": None if body.logit_bias is None else {int(name): bias for name, bias in body.logit_bias.items()},
        "stop": (body.stop,) if isinstance(body.stop, str) else tuple(body.stop or ()),
        "stop_token_ids": tuple(body.stop_token_ids or ()), "logprobs": logprobs, **others,
    }  # fmt: skip
    known = {"temperature": 1.0, **service.options.sampling}
    known |= {name: value for name, value in chosen.items() if value is not None}
    known["top_k"] = max(known.get("top_k", 0), 0)  # -1 is all, too
    room, limit = service.engine.llm.max_seq_len, service.limits.max_tokens
    known["max_new_tokens"] = min(max_tokens or room, limit or room)
    try:
        return SamplingParams(**known)
    except ModelError as error:
        raise of_model(error) from None


_SAME: Final = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty",
                "seed", "ignore_eos")  # fmt: skip
"""Fields that requests and sampling parameters call the same."""
