"""The step loop: schedule, run, postprocess."""

from __future__ import annotations

import time
from collections.abc import Sequence

from tileproof.diagnostics.codes import Code

from ..errors import ModelError, refused
from ..request import Request
from ..step.capture import CapturedStep
from .async_decode import AsyncDecode
from .runner import Runner, sequences_of
from .scheduler import ScheduledChunk, Scheduler


class Loop:
    """The requests of an engine, all of which each step advances. One thread uses it at a time."""

    def __init__(self, runner: Runner, scheduler: Scheduler) -> None:
        self.runner, self.scheduler = runner, scheduler
        self.requests: dict[Request, None] = {}
        """Those that are not finished, in the order they came."""
        self.advanced: dict[Request, None] = {}
        """Those that have something new since this was emptied."""
        self.decode: AsyncDecode | None = None
        """The decode step that is run again and again, while no other request can begin."""
        self.generated_tokens = self.steps = 0

    def step(self) -> bool:
        """Schedules, runs and postprocesses a step; whether there was anything to run."""
        if self.decode is None or not self.decode.run_ahead(self.scheduler):
            chunks = self._schedule()
            self.decode = self.runner.decode(chunks, self.scheduler)
            if self.decode is None:
                self._run_chunks(chunks)
                return bool(chunks)
        requests = self.decode.requests
        for tokens in self.decode.read():
            self.steps += 1
            self._postprocess(requests, tokens)
        return True

    def _schedule(self) -> list[ScheduledChunk]:
        chunks = self.scheduler.schedule()
        for source, to in self.scheduler.copies:
            self.runner.copy_page(source, to)
        self.scheduler.copies.clear()
        now = time.perf_counter()
        for chunk in chunks:
            if chunk.request.has_penalties:
                self.runner.penalties.begin(chunk.request)
            if not chunk.request.started:
                chunk.request.started = now
                chunk.request.compile_seconds = (self.runner.compile_seconds,) * 3
        return chunks

    def _run_chunks(self, chunks: Sequence[ScheduledChunk]) -> None:
        """Runs a step whose inputs the host writes, and takes its time into account."""
        if not chunks:
            return
        self.steps += 1
        began, compiled = time.perf_counter(), self.runner.compile_seconds
        step, tokens = self.runner.run(chunks)
        if not step.kind.is_decode:
            seconds = time.perf_counter() - began - (self.runner.compile_seconds - compiled)
            self.scheduler.pace.note(sum(chunk.size for chunk in chunks), seconds)
        self._postprocess_chunks(chunks, step, tokens)

    def _postprocess(self, requests: Sequence[Request], tokens: Sequence[int]) -> None:
        """Gives each request the token of a decode step."""
        now = time.perf_counter()
        for request, token in zip(requests, tokens, strict=True):
            if request in self.requests:  # else it finished before, and this step was queued by then
                request.computed += 1
                self.scheduler.name_pages(request, request.computed - 1)
                self._push(request, token, now)

    def _postprocess_chunks(
        self, chunks: Sequence[ScheduledChunk], step: CapturedStep, tokens: Sequence[int]
    ) -> None:
        """Gives the requests whose last chunk this was their token, and its logprob where that was asked for."""
        now = time.perf_counter()
        asked = [
            (row, chunk.request, token)
            for row, chunk, token in zip(sequences_of(step.kind, chunks).tolist(), chunks, tokens, strict=True)
            if chunk.request.params.logprobs is not None and chunk.is_last and token >= 0
        ]
        if asked:
            counts = [request.params.logprobs or 0 for _, request, _ in asked]
            rows, sampled = [row for row, _, _ in asked], [token for _, _, token in asked]
            for (_, request, _), logprob in zip(asked, self.runner.logprobs(step, rows, sampled, counts), strict=True):
                request.logprobs.append(logprob)
        for chunk, token in zip(chunks, tokens, strict=True):
            is_last = chunk.is_last
            self.scheduler.name_pages(chunk.request, chunk.start)
            if is_last:
                self._push(chunk.request, token, now)

    def _push(self, request: Request, token: int, now: float) -> None:
        compiled, (begun, first, _) = self.runner.compile_seconds, request.compile_seconds
        request.compile_seconds = begun, first if request.first_token else compiled, compiled
        request.last_token = now
        request.first_token = request.first_token or now
        self.generated_tokens += 1
        self.advanced[request] = None
        try:
            if token < 0:
                raise _no_token(request)
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
        self.advanced[request] = None
        if self.decode is not None and request in self.decode.requests:
            self.decode.is_open = False

    def restart(self) -> None:
        """Begins again after a step that failed: requests go on from the tokens they have."""
        self.decode = None
        self.scheduler.restart(self.requests)
        self.runner.penalties.restart(self.requests)

    def step_alone(self, request: Request) -> None:
        """Runs a request for two tokens: prefill and a decode step. The others do not even wait, until `restart`."""
        self.restart()
        self.scheduler.waiting = [request]
        tokens = len(request.generated)
        while request.finish is None and len(request.generated) < tokens + 2:
            self.step()


def _no_token(request: Request) -> ModelError:
    """Why no token could be sampled: none has a logit that is a number above -inf."""
    if request.matcher is not None:
        cure = "leave out `logit_bias`, or relax the grammar"
        return refused(Code.GRAMMAR, "the grammar allows no token that the sampling parameters allow", cure)
    cure = "look for broken weights, or overflow: load it without quantize"
    return refused(Code.MODEL_TENSOR, "the model computes no numbers (NaN) for this request", cure)
