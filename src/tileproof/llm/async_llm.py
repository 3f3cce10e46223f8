"""`AsyncLLM`: the engine for asyncio. A server is built on it."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import Final, Self

from tileproof.diagnostics.codes import Code

from . import evaluation
from .engine.engine import Engine, EngineStats
from .errors import ModelError, refused
from .llm import GREEDY, LLM, Prompt
from .request import Chunk, Completion, Request, TokenLogprob
from .sampling import SamplingParams
from .structured.grammar import FreeText, Grammar
from .structured.guidance import Matcher

_PAUSE: Final = 0.5
"""Seconds without a step after which the engine is taken to rest."""


class QueueFull(ModelError):
    """As many requests wait as may."""


class RequestStream(AsyncIterator[Chunk]):
    """What a request generates, chunk by chunk. Closing it, or cancelling who reads it, ends the request."""

    def __init__(self, engine: Engine, request: Request, outbox: _Outbox) -> None:
        self.request = request
        self._engine = engine
        self._outbox = outbox
        self._chunks: deque[Chunk] = deque()
        self._arrival: asyncio.Future[None] | None = None
        self._is_over = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        while not self._chunks:
            if self._is_over:
                raise StopAsyncIteration
            self._arrival = asyncio.get_running_loop().create_future()
            try:
                await self._arrival
            except asyncio.CancelledError:
                self.abort()
                raise
            finally:
                self._arrival = None
        chunk = self._chunks.popleft()
        self._is_over = chunk.finish is not None
        if self._is_over and self.request.failure is not None:
            raise self.request.failure
        return chunk

    async def completion(self) -> Completion:
        """All of it, when it is finished. Chunks that were read before are part of it."""
        async for _ in self:
            pass
        return self.request.completion()

    def abort(self) -> None:
        """Ends the request before the next step; its last chunk has the finish "cancelled"."""
        if self.request.finish is None:
            self._engine.abort([self.request])

    async def aclose(self) -> None:
        """Ends the request, as leaving `async with` does."""
        self.abort()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.abort()

    def receive(self, chunk: Chunk) -> None:
        """Takes a chunk, in the thread of the event loop."""
        self._chunks.append(chunk)
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)


class _Outbox:
    """Brings the chunks of a step to an event loop: it is woken once for all of them."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._chunks: deque[tuple[RequestStream, Chunk]] = deque()
        self._is_called = False

    def put(self, stream: RequestStream, chunk: Chunk) -> None:
        """Called by the engine's thread."""
        self._chunks.append((stream, chunk))
        if not self._is_called:
            self._is_called = True
            self.loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self._is_called = False
        while self._chunks:
            stream, chunk = self._chunks.popleft()
            stream.receive(chunk)


class AsyncLLM:
    """A model for asyncio: any number of requests at a time, each with a stream of its own.

    Example:
        async def main():
            llm = AsyncLLM(LLM("path/to/model", max_batch=64, prefix_cache=True))
            async for chunk in llm.stream("The capital of France is", SamplingParams(max_new_tokens=8)):
                print(chunk.text, end="")
    """

    def __init__(self, llm: LLM, *, max_queue: int = 1024) -> None:
        self.llm = llm
        self.max_queue = max_queue
        """Requests that may wait besides those that run."""
        self._outbox: _Outbox | None = None
        self._streams: dict[str, RequestStream] = {}
        self._is_draining = False

    def stream(
        self, prompt: Prompt, params: SamplingParams = GREEDY, *, request_id: str | None = None, priority: int = 0,
        timeout: float | None = None, cache_salt: str = "", matcher: Matcher | None = None,
    ) -> RequestStream:  # fmt: skip
        """Begins a request: text or tokens. Raises ModelError if it cannot be run, QueueFull if too many wait.

        Of requests with a grammar, `matcher` compiles it without blocking the event loop.
        """
        if self._is_draining:
            raise refused(Code.PROMPT, "the engine is being shut down", "send the request to another one")
        if len(self._streams) >= self.max_queue + self.llm.scheduler.max_running:
            message = f"{self.max_queue} requests are waiting"
            raise QueueFull(*refused(Code.PROMPT, message, "try again later").diagnostics)
        request = self.llm.request(prompt, params, priority=priority, timeout=timeout, salt=cache_salt, matcher=matcher)
        loop = asyncio.get_running_loop()
        if self._outbox is None or self._outbox.loop is not loop:
            self._outbox = _Outbox(loop)
        stream, outbox, name = RequestStream(self.llm.engine, request, self._outbox), self._outbox, request_id
        if name is None:
            name = f"request-{request.number}"
        if name in self._streams:
            raise refused(Code.PROMPT, f"there is a request {name!r} already", "use another id")
        self._streams[name] = stream
        request.on_chunk = lambda chunk: outbox.put(stream, chunk)
        request.on_finish = lambda _: self._forget(name)
        self.llm.engine.submit([request])
        return stream

    def _forget(self, name: str) -> None:
        self._streams.pop(name, None)

    async def generate(self, prompt: Prompt, params: SamplingParams = GREEDY) -> Completion:
        """The completion of a prompt."""
        async with self.stream(prompt, params) as stream:
            return await stream.completion()

    async def matcher(self, grammar: Grammar, after: FreeText | None = None) -> Matcher | None:
        """What follows a grammar for one request, compiled in another thread."""
        return await asyncio.to_thread(self.llm.matcher, grammar, after)

    def abort(self, request_id: str) -> bool:
        """Ends a request before the next step; whether there is one with this id."""
        stream = self._streams.get(request_id)
        if stream is not None:
            stream.abort()
        return stream is not None

    @property
    def stats(self) -> EngineStats:
        """What the engine does now, and what it has done so far."""
        return self.llm.engine.stats

    async def prompt_logprobs(self, tokens: Sequence[int], count: int = 0) -> list[TokenLogprob | None]:
        """The logprob of each token of a prompt after those before it, with the likeliest ones; of the first, None."""
        prompt, llm = self.llm.checked(tokens), self.llm
        blocks = evaluation.token_logprobs(llm.runner, llm.pool, prompt, count)
        logprobs: list[TokenLogprob | None] = [None]
        try:
            while True:  # some rows at a time, so that others are served in between
                block = await asyncio.to_thread(llm.engine.call, lambda: next(blocks, None))
                if block is None:
                    return logprobs
                logprobs += block
        finally:
            await asyncio.to_thread(llm.engine.call, blocks.close)

    async def warm(self) -> None:
        """Compiles the steps that most requests need, one whenever there were no requests for a while."""
        for kind in self.llm.runner.usual_classes(self.llm.scheduler.max_running):
            steps = -1
            while self._streams or self.stats.steps != steps:
                steps = self.stats.steps
                await asyncio.sleep(_PAUSE if steps else 0)  # nobody waits before the first request
            await asyncio.to_thread(self.llm.engine.call, lambda kind=kind: self.llm.runner.step_of(kind) and None)

    async def drain(self, timeout: float | None = None) -> bool:
        """Takes no more requests, and waits for those that run; whether they were finished in time.

        What is not finished in time is ended.
        """
        self._is_draining = True
        until = None if timeout is None else time.perf_counter() + timeout
        while self._streams and (until is None or time.perf_counter() < until):
            await asyncio.sleep(0.01)
        left = list(self._streams.values())
        for stream in left:
            stream.abort()
        return not left
