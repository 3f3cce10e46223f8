"""The engine as a contestant: by its public face, and its graph alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

import tileproof as tp
import tileproof.kernels as tk
from tileproof.llm import LLM, SamplingParams
from tileproof.llm.engine.scheduler import ScheduledChunk
from tileproof.llm.evaluation import label_of
from tileproof.llm.models.weights import ModelWeights
from tileproof.llm.request import Request
from tileproof.llm.step.capture import CapturedStep
from tileproof.llm.step.ir import PAGE, Op
from tileproof.llm.step.kernels import launch
from tileproof.tuning.choices import in_chain

from .decoding import Turn
from .race import timed

_WINDOW = 8
"""Tokens over which the time of a step is told: they are read some at a time, when more are under way behind them."""


def window_of(turns: int) -> int:
    """Tokens of a window: eight or more, and as many as whole runs give, so that none has a run more than others."""
    return -(-_WINDOW // turns) * turns


def text_of(llm: LLM, length: int, seed: int) -> list[int]:
    """A prompt of random tokens that no other round has."""
    result: list[int] = np.random.default_rng([seed, length]).integers(0, llm.config.tokens, length).tolist()
    return result


class Ours:
    """`LLM.stream`, greedy: sampling, the host, and every token given to the caller one by one."""

    def __init__(self, llm: LLM, name: str) -> None:
        self.llm, self.name = llm, name
        self.nodes: int | None = None
        self._context = self._round = 0

    def begin(self, context: int) -> None:
        """A short text, so that every step that the context needs has run."""
        self._context = context
        self.turn(16)
        self.nodes = nodes_of(decoding_step(self.llm, context, self.llm.runner.decode_steps)[0])

    def turn(self, tokens: int) -> Turn:
        """A prompt, and so many tokens behind the first."""
        self._round += 1
        prompt = text_of(self.llm, self._context, self._round)
        stamps: list[tuple[float, int]] = []
        began = time.perf_counter()
        for chunk in self.llm.stream(prompt, SamplingParams(max_new_tokens=tokens + 1, ignore_eos=True)):
            stamps.append((time.perf_counter(), len(chunk.tokens)))
        first, last = stamps[0][0], stamps[-1][0]
        result = sum(count for _, count in stamps[1:])
        whens = [when for when, count in stamps for _ in range(count)]
        window = window_of(self.llm.runner.decode_steps)
        steps = tuple((b - a) / window for a, b in pairwise(whens[window::window]))
        return Turn(result, last - first, steps, first - began)

    def end(self) -> None:
        """Keeps what it has."""


class OurGraph:
    """The captured step of the engine, replayed without host, prompt and reading: what its kernels take."""

    def __init__(self, llm: LLM, name: str) -> None:
        self.llm, self.name = llm, name
        self.nodes: int | None = None
        self._step: CapturedStep | None = None
        self._pages: list[int] = []

    def begin(self, context: int) -> None:
        """The step is made, and its inputs say that so much of the cache is used."""
        self._step, self._pages = decoding_step(self.llm, context)
        self._step.run()
        self.nodes = nodes_of(self._step)

    def turn(self, tokens: int) -> Turn:
        """So many replays, waited for together."""
        assert self._step is not None
        assert self._step.graph is not None
        graph, device = self._step.graph, self.llm.device
        steps = tuple(replayed(graph, _WINDOW, device) / _WINDOW for _ in range(3))
        return Turn(tokens, replayed(graph, tokens, device), steps)

    def end(self) -> None:
        """Its pages are free again."""
        self._pages = []


def make_steps(llm: LLM, contexts: Sequence[int], prompts: Sequence[int], tokens: int) -> None:
    """Makes the steps of all classes that texts behind these contexts and prompts need; none of them runs."""
    runner = llm.runner
    for context in contexts:
        for length in range(context, context + tokens + 1, PAGE // 2):
            with _text(llm, length + 1, length) as sequence:
                for steps in {1, runner.decode_steps}:
                    runner.prepare([ScheduledChunk(sequence, length, 1)], steps)
                if length == context:
                    runner.prepare([ScheduledChunk(sequence, length, 1)])
    for length in {*contexts, *prompts}:
        with _text(llm, length, 0) as sequence:
            for start in range(0, length, runner.token_budget):
                runner.prepare([ScheduledChunk(sequence, start, min(runner.token_budget, length - start))])


def decoding_step(llm: LLM, context: int, decode_steps: int = 0) -> tuple[CapturedStep, list[int]]:
    """The step of one token behind a context, its inputs filled, and the pages that they name; or of several turns."""
    with _text(llm, context + 1, context) as sequence:
        return llm.runner.prepare([ScheduledChunk(sequence, context, 1)], decode_steps), sequence.pages


def prefill_alone(llm: LLM, length: int, runs: int) -> float:
    """Seconds of some runs of the captured steps of a prompt, behind one that is not timed; nobody waits in between.

    Where a prompt takes several steps, filling their inputs is in it. Its tokens are random: rows that are all alike,
    as those of one token said again and again, cost less power, and it is power that bounds this.
    """
    wait = tp.current_stream(llm.device).synchronize
    with _text(llm, length, 0) as sequence:
        sequence.prompt = tuple(text_of(llm, length, 0))
        starts = range(0, length, llm.runner.token_budget)
        pieces = [ScheduledChunk(sequence, start, min(llm.runner.token_budget, length - start)) for start in starts]
        if len(pieces) == 1:
            step = llm.runner.prepare(pieces)
            step.inputs.send()
            return timed(step.replay, wait, runs)

        def steps() -> None:
            for piece in pieces:
                llm.runner.prepare([piece]).run()

        return timed(steps, wait, runs)


def prompt_logits(llm: LLM, length: int) -> Any:
    """The logits behind a prompt of random tokens, by the steps that `prefill_alone` times."""
    with _text(llm, length, 0) as sequence:
        sequence.prompt = tuple(text_of(llm, length, 0))
        for start in range(0, length, llm.runner.token_budget):
            step = llm.runner.prepare([ScheduledChunk(sequence, start, min(llm.runner.token_budget, length - start))])
            step.run()
        return step.logits.numpy()[0, : llm.config.tokens].astype(np.float64)


@contextmanager
def _text(llm: LLM, length: int, computed: int) -> Iterator[Request]:
    """A text with pages that nobody else takes before the end of a turn."""
    sequence = Request((0,) * length, SamplingParams(), computed=computed)
    taken = llm.pool.take(sequence.pages_for(length))
    assert taken is not None
    sequence.pages = taken
    try:
        yield sequence
    finally:
        llm.pool.give_back(taken)


def nodes_of(step: CapturedStep) -> int | None:
    """Nodes of the graph of a step, for each token of a sequence."""
    return None if step.graph is None else -(-len(step.graph.describe().nodes) // max(step.kind.decode_steps, 1))


def replayed(graph: tp.Graph, times: int, device: str) -> float:
    """Seconds of some replays, waited for together."""
    tp.current_stream(device).synchronize()
    began = time.perf_counter()
    for _ in range(times):
        graph.replay()
    tp.current_stream(device).synchronize()
    return time.perf_counter() - began


def prefill(llm: LLM, length: int, seeds: Iterator[int], runs: int) -> float:
    """Seconds from some prompts, one after the other, to their first tokens, as a caller sees it; one more is ahead."""
    prompts = iter([text_of(llm, length, next(seeds)) for _ in range(1 + runs)])
    params = SamplingParams(max_new_tokens=1, ignore_eos=True)
    return timed(lambda: llm.generate(next(prompts), params), lambda: None, runs)  # it waits for each of them


def matvec_chain(weights: ModelWeights, device: str) -> tuple[Callable[[int], float], int]:
    """Only the products of a step by our kernels, one behind the other: the bound of a step. Times, and nodes."""
    matrices = [w.values for layer in weights.layers for w in (layer.qkv, layer.output, layer.gate_up, layer.down)]
    matrices.append(weights.head.values)
    rows = {n: tp.zeros(n, tp.bf16, device) for n in {matrix.shape[0] for matrix in matrices}}
    columns = {k: tp.ones(k, tp.bf16, device) for k in {matrix.shape[1] for matrix in matrices}}
    with tp.Graph() as graph, in_chain():  # as in a step
        for matrix in matrices:
            tk.matvec(matrix, columns[matrix.shape[1]], out=rows[matrix.shape[0]])
    graph.replay()
    return lambda times: replayed(graph, times, device), len(matrices)


def parts_of(llm: LLM, context: int) -> dict[str, Any]:
    """Where the time of a step goes: the parts that `LLM.profile` tells of, without what a replay costs the host.

    Each kind of operation is in a graph once and in another three times: what is between them is two times the kernels.
    """
    messages = {each.name: each for each in llm.profile(1, context).parts}
    step, _ = decoding_step(llm, context)
    step.run()
    kinds: dict[str, list[Op]] = {}
    for op in step.ops:
        kinds.setdefault(label_of(op), []).append(op)
    parts = []
    for name, ops in kinds.items():
        once, thrice = (_best(ops, times, step, llm.device) for times in (1, 3))
        part = {"name": name, "calls": len(ops), "seconds": max(thrice - once, 0.0) / 2}
        parts.append(part | {"bytes": messages[name].bytes, "kernels": list(messages[name].kernels)})
    assert step.graph is not None
    return {"context": context, "seconds": replayed(step.graph, 16, llm.device) / 16, "parts": parts}


def _best(ops: Sequence[Op], times: int, step: CapturedStep, device: str) -> float:
    """Seconds of some operations, all of them so many times, in a graph."""
    with tp.Graph() as graph:
        for _ in range(times):
            for op in ops:
                launch(op, step.tensors)
    graph.replay()
    return min(replayed(graph, 1, device) for _ in range(6))


def judged(llm: LLM, prompt: Sequence[int], places: int, top: int) -> tuple[list[int], list[list[tuple[int, float]]]]:
    """Some tokens behind a prompt, and the likeliest ones at each place with their logprobs."""
    params = SamplingParams(max_new_tokens=places, ignore_eos=True, logprobs=top)
    done = llm.generate(list(prompt), params)
    return list(done.tokens), [list(logprob.top) for logprob in done.logprobs]
