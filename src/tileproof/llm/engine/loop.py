"""The step loop: schedule, run, postprocess."""

from __future__ import annotations

import time
from collections.abc import Sequence

from tileproof.diagnostics.codes import Code

from ..errors import refused
from ..request import Request
from ..step.capture import CapturedStep
from .async_decode import AsyncDecode
from .runner import Runner
from .scheduler import ScheduledChunk, Scheduler


class Loop:
    """The requests of an engine, all of which each step advances. One thread uses it at a time."""

    def __init__(self, runner: Runner, scheduler: Scheduler) -> None:
        self.runner, self.scheduler = runner, scheduler
        self.requests: dict[Request, None] = {}
        """Those that are not finished, in the order they came."""
        self.decode: AsyncDecode | None = None
        """The decode step that is run again and again, while no other request can begin."""

    def step(self) -> None:
        """Schedules, runs and postprocesses a step."""
        if self.decode is None or not self.decode.run_ahead(self.scheduler):
            chunks = self._schedule()
            self.decode = self.runner.decode(chunks, self.scheduler)
            if self.decode is None:
                self._postprocess_chunks(chunks, *self.runner.run(chunks))
                return
        requests = self.decode.requests
        for tokens in self.decode.read():
            self._postprocess(requests, tokens)

    def _schedule(self) -> list[ScheduledChunk]:
        chunks = self.scheduler.schedule()
        now = time.perf_counter()
        for chunk in chunks:
            chunk.request.started = chunk.request.started or now
            self.runner.penalties.begin(chunk.request)
        return chunks

    def _postprocess(self, requests: Sequence[Request], tokens: Sequence[int]) -> None:
        """Gives each request the token of a decode step."""
        now = time.perf_counter()
        for request, token in zip(requests, tokens, strict=True):
            if request in self.requests:  # else it finished before, and this step was queued by then
                request.computed += 1
                self._push(request, token, now)

    def _postprocess_chunks(
        self, chunks: Sequence[ScheduledChunk], step: CapturedStep, tokens: Sequence[int]
    ) -> None:
        """Gives the requests whose last chunk this was their token, and its logprob where that was asked for."""
        now = time.perf_counter()
        for number, (chunk, token) in enumerate(zip(chunks, tokens, strict=True)):
            request = chunk.request
            if not chunk.is_last:
                continue
            if request.params.logprobs is not None and token >= 0:
                request.logprobs.append(self.runner.logprob(step, number, token, request.params.logprobs))
            self._push(request, token, now)

    def _push(self, request: Request, token: int, now: float) -> None:
        request.last_token = now
        request.first_token = request.first_token or now
        try:
            if token < 0:
                raise refused(
                    Code.MODEL_TENSOR,
                    "the model computes no numbers (NaN) for this request",
                    "look for broken weights, or overflow: load it without quantize",
                )
            request.push(token)
        except Exception as error:  # the others in the step go on, and its own caller receives the error
            request.fail(error)
        if request.finish is not None:
            self.end(request)

    def add(self, request: Request) -> None:
        """Queues a request."""
        self.scheduler.add(request)
        self.requests[request] = None

    def end(self, request: Request) -> None:
        """Takes a finished request out."""
        self.scheduler.remove(request)
        self.runner.penalties.end(request)
        self.requests.pop(request, None)
        if self.decode is not None and request in self.decode.requests:
            self.decode.is_open = False

    def restart(self) -> None:
        """Begins again after a step that was left half done: requests go on from the tokens they have."""
        self.decode = None
        self.scheduler.restart(self.requests)
        self.runner.penalties.restart(self.requests)
