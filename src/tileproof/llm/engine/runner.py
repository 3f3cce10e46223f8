"""Running steps: scheduled chunks become the inputs of a step of the right class, and its tokens come back."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tileproof as tp
import tileproof.kernels as tk

from ..models.decoder import Decoder
from ..request import Request, TokenLogprob
from ..step.buffers import Arena
from ..step.capture import CapturedStep, capture
from ..step.fusion import Fusion
from ..step.ir import PAGE, Inputs, Sampling, StepClass
from ..step.sampler import Penalties
from .async_decode import AsyncDecode
from .scheduler import ScheduledChunk, Scheduler

ROWS = 16, 32, 64, 128, 256, 512, 1024, 2048, 3072, 4096, 6144, 8192
"""Rows of steps with chunks of prompts."""
PAGES = 8, 32, 128, 512
"""Columns of the block table."""
PAGES_OF_DECODE = 4, 8, 16, 32, 128, 512
"""The same of decode steps on a GPU, where attention to a few pages is the shorter the fewer there may be."""


def bucket(size: int, sizes: Sequence[int], most: int) -> int:
    """The least of some sizes that will do; `most` is one of them."""
    at = bisect_left(sizes, size)
    return min(sizes[at], most) if at < len(sizes) else most


def next_power_of_two(size: int) -> int:
    """The least power of two that will do."""
    return 1 << (size - 1).bit_length()


def query_blocks(first: int, count: int, size: int) -> Any:
    """Rows that follow each other, so many in a block; -1 for those that the last block lacks."""
    rows = np.full((-(-count // size), size), -1)
    rows.reshape(-1)[:count] = np.arange(first, first + count)
    return rows


@dataclass(slots=True)
class Runner:
    """The steps of one model, by class."""

    decoder: Decoder
    penalties: Penalties
    token_budget: int
    """Tokens of a step."""
    pages: int
    """Pages of the longest sequence."""
    fusions: Sequence[Fusion]
    is_graph: bool = True
    depth: int = 1
    """Runs of a decode step that are queued before the tokens of the first are read."""
    decode_steps: int = 1
    """Tokens of each sequence that such a run samples."""
    on_compile: Callable[[str], None] | None = None
    """Called when a step of a new class is compiled, which takes a while."""
    steps: dict[StepClass, CapturedStep] = field(default_factory=dict)
    arena: Arena = field(init=False)
    compile_seconds: float = 0.0
    """For new steps: proofs and machine code, unless they are in the cache, and capture."""

    def __post_init__(self) -> None:
        self.arena = Arena(self.decoder.device)

    # Running.

    def run(self, chunks: Sequence[ScheduledChunk]) -> tuple[CapturedStep, list[int]]:
        """Runs a step; returns it, and a token for each chunk (those of chunks that are not the last mean nothing)."""
        step = self.prepare(chunks)
        step.run()
        tokens: list[int] = step.sampled.numpy()[: len(chunks)].tolist()
        for chunk in chunks:
            chunk.request.computed = chunk.stop
        return step, tokens

    def decode(self, chunks: Sequence[ScheduledChunk], scheduler: Scheduler) -> AsyncDecode | None:
        """Begins to decode these requests, where that is all these chunks do, and no logits are read in between."""
        requests = tuple(chunk.request for chunk in chunks)
        is_decode = bool(chunks) and all(chunk.count == 1 and chunk.is_last for chunk in chunks)
        if not is_decode or any(request.params.logprobs is not None for request in requests):
            return None
        left = min(request.tokens_left for request in requests)
        steps = self.decode_steps if left >= self.decode_steps else 1
        is_open = left > steps and scheduler.reserve(requests, steps) is not None
        decode = AsyncDecode(self.prepare(chunks, steps if is_open else 1), requests, self.depth, is_open)
        decode.begin()
        decode.run_ahead(scheduler)
        return decode

    def logits(self, chunk: ScheduledChunk) -> Any:
        """Runs a step for the logits of all its rows."""
        step = self.step_of(self.class_of([chunk], "none", has_penalties=False))
        self._write_inputs(step, [chunk])
        step.run()
        chunk.request.computed = chunk.stop
        return step.logits.numpy()[: chunk.count, : self.decoder.config.tokens].copy()  # the next step writes there

    def logprob(self, step: CapturedStep, row: int, token: int, count: int) -> TokenLogprob:
        """The logprob of a token by a row of the logits, before any penalty, and those of the `count` likeliest."""
        logits = step.logits[row : row + 1, : self.decoder.config.tokens]
        top: tuple[tuple[int, float], ...] = ()
        if count:
            values, ids = tk.top_logprobs(logits, count)
            top = tuple(zip(ids.numpy()[0].tolist(), values.numpy()[0].tolist(), strict=True))
        own = dict(top).get(token)  # two kernels may differ in the last digit, and a token has one logprob
        if own is None:
            sampled = tp.asarray(np.array([token], np.int32), self.decoder.device)
            own = float(tk.token_logprobs(logits, sampled).numpy()[0])
        return TokenLogprob(token, own, top)

    # Steps.

    def class_of(
        self, chunks: Sequence[ScheduledChunk], sampling: Sampling, *, has_penalties: bool, decode_steps: int = 0
    ) -> StepClass:
        """The class of a step with these chunks."""
        rows, sequences = sum(chunk.count for chunk in chunks), next_power_of_two(len(chunks))
        longest = max(chunk.stop for chunk in chunks) + max(decode_steps - 1, 0)
        is_decode = all(chunk.count == 1 for chunk in chunks) and sampling != "none"
        sizes = PAGES_OF_DECODE if is_decode and self.decoder.device != "cpu" else PAGES
        pages = bucket(-(-longest // PAGE), sizes, self.pages)
        if is_decode:
            return StepClass(sequences, sequences, pages, True, sampling, has_penalties, decode_steps=decode_steps)
        rows = bucket(rows, ROWS, max(self.token_budget, rows))
        return StepClass(rows, sequences, pages, False, sampling, has_penalties, min(self._block, rows))

    @property
    def _block(self) -> int:
        """Rows of a block of attention: as many as fill the registers of a GPU together with the heads they have."""
        if self.decoder.device == "cpu":
            return 32
        return max(64 // next_power_of_two(self.decoder.config.queries_per_kv_head), 1)

    def step_of(self, kind: StepClass) -> CapturedStep:
        """The step of a class, compiled and captured when it is first needed."""
        if kind not in self.steps:
            if self.on_compile is not None:
                self.on_compile(f"compiling a step of {kind.rows} tokens")
            began = time.perf_counter()
            self.steps[kind] = capture(
                self.decoder, self.penalties, kind, self.arena, self.fusions, is_graph=self.is_graph
            )
            self.compile_seconds += time.perf_counter() - began
        return self.steps[kind]

    def prepare(self, chunks: Sequence[ScheduledChunk], decode_steps: int = 0) -> CapturedStep:
        """The step for some chunks, with its inputs written."""
        params = [chunk.request.params for chunk in chunks]
        sampling: Sampling = "greedy" if all(each.temperature == 0 for each in params) else "sample"
        has_penalties = any(each.has_penalties for each in params)
        step = self.step_of(self.class_of(chunks, sampling, has_penalties=has_penalties, decode_steps=decode_steps))
        self._write_inputs(step, chunks)
        return step

    # Inputs.

    def _write_inputs(self, step: CapturedStep, chunks: Sequence[ScheduledChunk]) -> None:
        """Writes the inputs of a step on the host."""
        kind, host = step.kind, step.inputs.host
        step.inputs.clear()
        row = block = 0
        for number, chunk in enumerate(chunks):
            request, stop = chunk.request, chunk.start + chunk.count
            rows = slice(row, row + chunk.count)
            positions = np.arange(chunk.start, stop)
            pages = np.array(request.pages)
            host.tokens[rows] = request.tokens(chunk.start, stop)
            host.positions[rows] = positions
            host.slot_mapping[rows] = pages[positions // PAGE] * PAGE + positions % PAGE
            # Later pages are for the decode steps that follow; of a prompt they hold nothing yet, and are not named.
            pages = pages[: kind.pages if kind.is_decode else -(-stop // PAGE)]
            host.block_table[number, : len(pages)] = pages
            host.context_lens[number] = stop
            if not kind.is_decode:
                blocks = query_blocks(row, chunk.count, kind.block)
                host.query_blocks[block : block + len(blocks)] = blocks
                host.query_block_sequences[block : block + len(blocks)] = number
                block += len(blocks)
                if host.output_rows is not None:
                    host.output_rows[number] = row + chunk.count - 1
            row += chunk.count
        if kind.sampling != "none":
            _write_params(kind, host, chunks)


def _write_params(kind: StepClass, host: Inputs, chunks: Sequence[ScheduledChunk]) -> None:
    requests: list[Request] = [chunk.request for chunk in chunks]
    params = [request.params for request in requests]
    n = len(requests)
    if host.draw is not None:
        host.draw[:n] = [len(request.generated) for request in requests]
    if kind.sampling == "sample":
        host.seed[:n] = [request.seed for request in requests]
        for name in ("temperature", "top_k", "top_p", "min_p"):
            getattr(host, name)[:n] = [getattr(each, name) for each in params]
    if kind.has_penalties:
        host.penalty_rows[:n] = [chunk.request.penalty_row if chunk.is_last else -1 for chunk in chunks]
        for name in ("repetition", "presence", "frequency"):
            getattr(host, name)[:n] = [getattr(each, f"{name}_penalty") for each in params]
