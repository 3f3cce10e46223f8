"""Running steps: scheduled chunks become the inputs of a step of the right class, and its tokens come back."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
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
from ..structured.guidance import fill_masks
from .async_decode import AsyncDecode
from .scheduler import ScheduledChunk, Scheduler

ROWS = 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192
"""Rows of steps with chunks of prompts."""
_SAMPLINGS: tuple[Sampling, Sampling] = "greedy", "sample"
DECODE_ROWS = 4, 8, 16, 32, 64, 128, 256
"""Rows of decode in such steps."""
SEQUENCES = 1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256
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


def single_count(chunks: Sequence[ScheduledChunk]) -> int:
    """How many chunks of one token come first."""
    return next((number for number, chunk in enumerate(chunks) if chunk.size > 1), len(chunks))


def sequences_of(kind: StepClass, chunks: Sequence[ScheduledChunk]) -> Any:
    """The number that each chunk's sequence has in a step: those with several tokens come after the rows of decode."""
    singles = single_count(chunks) if kind.decode_rows else 0
    numbers = np.arange(len(chunks))
    numbers[singles:] += kind.decode_rows - singles
    return numbers


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
        tokens: list[int] = step.sampled.numpy()[sequences_of(step.kind, chunks)].tolist()
        for chunk in chunks:
            chunk.request.computed = chunk.stop
        return step, tokens

    def decode(self, chunks: Sequence[ScheduledChunk], scheduler: Scheduler) -> AsyncDecode | None:
        """Begins to decode these requests, where that is all these chunks do, and no logits are read in between."""
        requests = tuple(chunk.request for chunk in chunks)
        is_decode = bool(chunks) and all(chunk.size == 1 and chunk.is_last for chunk in chunks)
        if not is_decode or any(each.params.logprobs is not None or each.matcher is not None for each in requests):
            return None
        left = min(request.tokens_left for request in requests)
        steps = self.decode_steps if left >= self.decode_steps else 1
        is_open = left > steps and scheduler.reserve(requests, steps) is not None
        decode = AsyncDecode(self.prepare(chunks, steps if is_open else 1), requests, self.depth, is_open)
        decode.begin()
        decode.run_ahead(scheduler)
        return decode

    def copy_page(self, source: int, to: int) -> None:
        """Copies the keys and values of a page, for the steps that come."""
        cache = self.decoder.cache
        if self.decoder.device == "cpu":
            for layers in (cache.all_keys, cache.all_values):
                tp.copy(layers[:, to], layers[:, source])
        else:  # within a GPU tensors without gaps are copied
            for layer in (*cache.keys, *cache.values):
                tp.copy(layer[to], layer[source])

    def logits(self, chunk: ScheduledChunk) -> Any:
        """Runs a step for the logits of all its rows."""
        step = self.step_of(self.class_of([chunk], "none"))
        self._write_inputs(step, [chunk])
        step.run()
        chunk.request.computed = chunk.stop
        return step.logits.numpy()[: chunk.size, : self.decoder.config.tokens].copy()  # the next step writes there

    def logprobs(
        self, step: CapturedStep, rows: Sequence[int], tokens: Sequence[int], counts: Sequence[int]
    ) -> list[TokenLogprob]:
        """The logprobs of tokens by rows of the logits, before any penalty, and those of the likeliest ones."""
        logits = step.logits[: rows[-1] + 1, : self.decoder.config.tokens]
        sampled = np.zeros(rows[-1] + 1, np.int32)
        sampled[list(rows)] = tokens
        own = tk.token_logprobs(logits, tp.asarray(sampled, self.decoder.device)).numpy()[list(rows)].tolist()
        top: list[tuple[tuple[int, float], ...]] = [()] * len(rows)
        if most := max(counts):
            values, ids = (each.numpy()[list(rows)].tolist() for each in tk.top_logprobs(logits, most))
            top = [
                tuple(zip(row_ids[:count], row_values[:count], strict=True))
                for row_ids, row_values, count in zip(ids, values, counts, strict=True)
            ]
        # Two kernels may differ in the last digit, and a token has one logprob.
        return [
            TokenLogprob(token, dict(likeliest).get(token, value), likeliest)
            for token, value, likeliest in zip(tokens, own, top, strict=True)
        ]

    # Steps.

    def class_of(
        self, chunks: Sequence[ScheduledChunk], sampling: Sampling, *, has_penalties: bool = False,
        has_masks: bool = False, decode_steps: int = 0,
    ) -> StepClass:  # fmt: skip
        """The class of a step with these chunks."""
        rows = sum([chunk.size for chunk in chunks])
        longest = max([chunk.start + chunk.size for chunk in chunks]) + max(decode_steps - 1, 0)
        is_decode = rows == len(chunks) and sampling != "none"
        sizes = PAGES_OF_DECODE if is_decode and self.decoder.device != "cpu" else PAGES
        pages = bucket(-(-longest // PAGE), sizes, self.pages)
        if is_decode:
            sequences = bucket(len(chunks), SEQUENCES, next_power_of_two(len(chunks)))
            return StepClass(
                sequences, sequences, pages, True, sampling, has_penalties, decode_steps=decode_steps,
                has_masks=has_masks,
            )  # fmt: skip
        singles = single_count(chunks) if sampling != "none" else 0
        decode_rows = bucket(singles, DECODE_ROWS, next_power_of_two(singles)) if singles else 0
        rows = bucket(rows - singles, ROWS, max(self.token_budget, rows))
        sequences = next_power_of_two(len(chunks) - singles)
        return StepClass(
            decode_rows + rows, decode_rows + sequences, pages, False, sampling, has_penalties, min(self._block, rows),
            decode_rows, has_masks=has_masks,
        )  # fmt: skip

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

    def usual_classes(self, max_running: int) -> list[StepClass]:
        """The classes of contexts of up to 2,048 tokens: decode of any number of requests, and prefill beside it."""
        sizes = [size for size in SEQUENCES if size < max_running] + [max_running]
        decoding = sorted({bucket(size, SEQUENCES, next_power_of_two(size)) for size in sizes})
        prefilling = [
            (first, rows)
            for rows in ROWS
            for first in (0, *(each for each in DECODE_ROWS if each <= max_running and rows <= 128))
            if rows <= self.token_budget
        ]
        kinds = []
        for pages, sampling in product(sorted({min(each, self.pages) for each in PAGES[:2]}), _SAMPLINGS):
            kinds += [
                StepClass(size, size, pages, True, sampling, decode_steps=steps)
                for size in decoding
                for steps in sorted({1, self.decode_steps})
            ]
            kinds += [
                StepClass(
                    first + rows, first + 1, pages, False, sampling, block=min(self._block, rows), decode_rows=first
                )
                for first, rows in prefilling
            ]
        return kinds

    def prepare(self, chunks: Sequence[ScheduledChunk], decode_steps: int = 0) -> CapturedStep:
        """The step for some chunks, with its inputs written."""
        is_sampled = any(chunk.request.params.temperature for chunk in chunks)
        sampling: Sampling = "sample" if is_sampled else "greedy"
        has_penalties = any(chunk.request.has_penalties for chunk in chunks)
        has_masks = any(chunk.request.matcher is not None for chunk in chunks)
        kind = self.class_of(
            chunks, sampling, has_penalties=has_penalties, has_masks=has_masks, decode_steps=decode_steps
        )
        step = self.step_of(kind)
        self._write_inputs(step, chunks)
        return step

    # Inputs.

    def _write_inputs(self, step: CapturedStep, chunks: Sequence[ScheduledChunk]) -> None:
        """Writes the inputs of a step on the host: those of sequences with one token together, they may be many."""
        kind, host = step.kind, step.inputs.host
        step.inputs.clear()
        singles = single_count(chunks) if kind.is_decode or kind.decode_rows else 0
        _write_singles(kind, host, chunks[:singles])
        row, block = kind.decode_rows, 0
        for number, chunk in enumerate(chunks[singles:], kind.decode_rows):
            request, stop = chunk.request, chunk.stop
            rows = slice(row, row + chunk.size)
            positions = np.arange(chunk.start, stop)
            pages = request.page_array
            host.tokens[rows] = request.tokens(chunk.start, stop)
            host.positions[rows] = positions
            host.slot_mapping[rows] = pages[positions // PAGE] * PAGE + positions % PAGE
            pages = pages[: -(-stop // PAGE)]  # later ones hold nothing yet
            host.block_table[number, : len(pages)] = pages
            host.context_lens[number] = stop
            blocks = query_blocks(row, chunk.size, kind.block)
            host.query_blocks[block : block + len(blocks)] = blocks
            host.query_block_sequences[block : block + len(blocks)] = number
            block += len(blocks)
            row += chunk.size
            if host.output_rows is not None:
                host.output_rows[number] = row - 1
        if kind.sampling != "none":
            _write_params(kind, host, chunks, sequences_of(kind, chunks))


def _write_masks(host: Inputs, chunks: Sequence[ScheduledChunk], sequences: Any) -> None:
    """Writes the tokens that grammars allow next. A matcher that fails here fails its request after the step."""
    matchers = {
        number: chunk.request.matcher
        for number, chunk in zip(sequences.tolist(), chunks, strict=True)
        if chunk.request.matcher is not None and chunk.is_last
    }
    rows = {row: matcher for row, matcher in enumerate(matchers.values()) if matcher.failure is None}
    host.mask_rows[list(matchers)] = np.arange(len(matchers))
    host.masks[: len(matchers)] = -1
    for row in fill_masks(rows, host.masks):
        host.masks[row] = -1


def _write_singles(kind: StepClass, host: Inputs, chunks: Sequence[ScheduledChunk]) -> None:
    """Writes the inputs of sequences with one token each, which come first."""
    n = len(chunks)
    requests = [chunk.request for chunk in chunks]
    positions = np.array([chunk.start for chunk in chunks], np.int32)
    host.tokens[:n] = [
        request.generated[start - len(request.prompt)] if start >= len(request.prompt) else request.prompt[start]
        for request, start, _ in chunks
    ]
    host.positions[:n] = positions
    host.context_lens[:n] = positions + 1
    last_pages = np.array([request.pages[start // PAGE] for request, start, _ in chunks], np.int32)
    host.slot_mapping[:n] = last_pages * PAGE + positions % PAGE
    table = host.block_table
    for number, request in enumerate(requests):
        pages = request.page_array[: kind.pages]  # in a decode step, later ones are for the steps that follow
        table[number, : len(pages)] = pages
    if host.output_rows is not None:
        host.output_rows[:n] = np.arange(n)


def _write_params(kind: StepClass, host: Inputs, chunks: Sequence[ScheduledChunk], sequences: Any) -> None:
    requests: list[Request] = [chunk.request for chunk in chunks]
    params = [request.params for request in requests]
    if host.draw is not None:
        host.draw[sequences] = [len(request.generated) for request in requests]
    if kind.sampling == "sample":
        host.seed[sequences] = [request.seed for request in requests]
        for name in ("temperature", "top_k", "top_p", "min_p"):
            getattr(host, name)[sequences] = [getattr(each, name) for each in params]
    if kind.has_penalties:
        host.penalty_rows[sequences] = [chunk.request.penalty_row if chunk.is_last else -1 for chunk in chunks]
        for name in ("repetition", "presence", "frequency"):
            getattr(host, name)[sequences] = [getattr(each, f"{name}_penalty") for each in params]
    if kind.has_masks:
        _write_masks(host, chunks, sequences)
