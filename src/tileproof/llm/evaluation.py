"""Evaluating a model: logits, perplexity, and the time of each operation of a step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

import tileproof as tp
from tileproof.diagnostics.codes import Code

from .engine.kv_cache import PagePool
from .engine.runner import Runner
from .engine.scheduler import ScheduledChunk
from .errors import refused
from .request import Request, TokenLogprob
from .sampling import SamplingParams
from .step.capture import CapturedStep
from .step.ir import Buffer, Op
from .step.kernels import launch
from .step.ops import ATTENTION

_ROWS = 64
"""Rows of logits that are computed at a time."""


@dataclass(frozen=True, slots=True)
class Timed:
    """All operations of a step that do the same with arrays of the same shapes."""

    name: str
    kernels: tuple[str, ...]
    calls: int
    seconds: float
    """Of all calls together."""
    bytes: int
    """What they read and write, together."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The operations of a step, the slowest first, and the time of the step as a whole."""

    rows: int
    context: int
    parts: tuple[Timed, ...]
    seconds: float
    """Of the whole step, without the cost of timing its parts."""


def logits(runner: Runner, pool: PagePool, tokens: tuple[int, ...]) -> Generator[Any]:
    """Logits after every token, some rows at a time."""
    request = Request(tokens, SamplingParams())
    with _pages(pool, request, "all pages are in use by other requests", "finish them, or raise `memory`"):
        while request.uncomputed:
            yield runner.logits(ScheduledChunk(request, request.computed, min(request.uncomputed, _ROWS)))


def perplexity(runner: Runner, pool: PagePool, tokens: tuple[int, ...]) -> float:
    """The exponential of the mean negative logprob of all tokens but the first."""
    total = 0.0
    with closing(token_logprobs(runner, pool, tokens, 0)) as blocks:
        for block in blocks:
            total -= sum(each.logprob for each in block)
    return math.exp(total / (len(tokens) - 1))


def token_logprobs(
    runner: Runner, pool: PagePool, tokens: tuple[int, ...], count: int
) -> Generator[list[TokenLogprob]]:
    """The logprobs of all tokens but the first, with the `count` likeliest in their places, some rows at a time."""
    at = 1
    with closing(logits(runner, pool, tokens)) as blocks:
        for rows in blocks:
            rows = rows[: len(tokens) - at].astype(np.float64)
            top = rows.max(axis=1)
            rows -= (top + np.log(np.exp(rows - top[:, None]).sum(axis=1)))[:, None]
            here, likeliest = tokens[at : at + len(rows)], np.argsort(-rows, axis=1, kind="stable")[:, :count]
            yield [
                TokenLogprob(token, float(row[token]), tuple((int(each), float(row[each])) for each in best))
                for token, row, best in zip(here, rows, likeliest, strict=True)
            ]
            at += len(rows)


def profile(runner: Runner, pool: PagePool, rows: int, context: int, max_seq_len: int) -> Profile:
    """Times a step of one decoded token, or of a chunk of a prompt, at some context."""
    length = context + rows
    request = Request((0,) * length, SamplingParams(), computed=context)
    message, cure = f"there is no room for {length} tokens", "raise max_seq_len or `memory`"
    if length > max_seq_len:
        raise refused(Code.MODEL_MEMORY, message, cure)
    with _pages(pool, request, message, cure):
        return profiled(runner.prepare([ScheduledChunk(request, context, rows)]), length)


@contextmanager
def _pages(pool: PagePool, request: Request, message: str, cure: str) -> Generator[None]:
    """Pages of its own for a request that is not scheduled."""
    pages = pool.take(request.pages_for(request.length))
    if pages is None:
        raise refused(Code.MODEL_MEMORY, message, cure)
    request.pages = pages
    try:
        yield
    finally:
        pool.give_back(pages)


def profiled(step: CapturedStep, context: int, rounds: int = 5) -> Profile:
    """Times a step whose inputs are written: all operations of a kind in a graph of their own, best of some rounds.

    Those of all layers follow one another, so their weights are cold, as in the step itself.
    """
    kinds: dict[str, list[Op]] = {}
    for op in step.ops:
        kinds.setdefault(label_of(op), []).append(op)
    whole = min(_timed(step.run, step) for _ in range(rounds + 1))
    parts = []
    for label, ops in kinds.items():
        with tp.Graph() as graph:
            for op in ops:
                launch(op, step.tensors)
        graph.replay()
        seconds = min(_timed(graph.replay, step) for _ in range(rounds))
        kernels = tuple(dict.fromkeys(node.name for node in graph.describe().nodes))
        parts.append(Timed(label, kernels, len(ops), seconds, sum(_bytes(op, context) for op in ops)))
    return Profile(step.kind.rows, context, tuple(sorted(parts, key=lambda part: -part.seconds)), whole)


def _timed(do: Callable[[], None], step: CapturedStep) -> float:
    began = time.perf_counter()
    do()
    tp.current_stream(step.logits.device).synchronize()
    return time.perf_counter() - began


def label_of(op: Op) -> str:
    """The name of an operation, and the shape of its weight if it has one."""
    weight = op.matrix
    return op.name if weight is None else f"{op.name} {weight.rows}x{weight.columns}"


def _bytes(op: Op, context: int) -> int:
    """What an operation has to move: its buffers, its weights, and the part of the cache that it reads."""
    size = sum(_size(buffer) for buffer in (*op.writes, *op.reads))
    if op.matrix is not None:
        size += op.matrix.nbytes
    if isinstance(op, ATTENTION):
        keys = op.cache.keys
        size += 2 * context * keys.shape[1] * keys.shape[3] * keys.itemsize
    return size


def _size(buffer: Buffer) -> int:
    return buffer.dtype.bits // 8 * prod(buffer.shape)
