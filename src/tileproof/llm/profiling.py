"""Where the time of a step goes, by kind of operation: those of all layers one after the other, so weights are cold."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tileproof as tp

from .models.weights import Weight
from .step.capture import Captured, launch
from .step.ir import Op


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
    """Of the whole step, without what it costs to look at its parts."""


def profiled(step: Captured, context: int, rounds: int = 5) -> Profile:
    """Times a step whose inputs are filled: all operations of a kind in a graph of their own, best of some rounds."""
    found: dict[str, list[Op]] = {}
    for op in step.ops:
        found.setdefault(_label(op), []).append(op)
    whole = min(_timed(step.run, step) for _ in range(rounds + 1))
    parts = []
    for label, ops in found.items():
        with tp.Graph() as graph:
            for op in ops:
                launch(op, step.tensors)
        graph.replay()
        seconds = min(_timed(graph.replay, step) for _ in range(rounds))
        kernels = tuple(dict.fromkeys(node.name for node in graph.describe().nodes))
        parts.append(Timed(label, kernels, len(ops), seconds, sum(_bytes(op, context) for op in ops)))
    return Profile(step.kind.rows, context, tuple(sorted(parts, key=lambda part: -part.seconds)), whole)


def _timed(do: Callable[[], None], step: Captured) -> float:
    began = time.perf_counter()
    do()
    tp.current_stream(step.logits.device).synchronize()
    return time.perf_counter() - began


def _label(op: Op) -> str:
    weight = next((each for each in op.given if isinstance(each, Weight)), None)
    return op.name if weight is None else f"{op.name} {weight.rows}x{weight.columns}"


def _bytes(op: Op, context: int) -> int:
    """What an operation has to move: its buffers, its weights, and of the cache what is looked at."""
    buffers = sum(_size(buffer) for buffer in (*op.writes, *op.reads))
    weights = sum(each.nbytes for each in op.given if isinstance(each, Weight))
    if op.name.startswith("attend"):
        keys = next(each for each in op.given if len(getattr(each, "shape", ())) == 4)
        weights += 2 * context * keys.shape[1] * keys.shape[3] * keys.itemsize
    return buffers + weights


def _size(buffer: Any) -> int:
    count = buffer.dtype.bits // 8
    for extent in buffer.shape:
        count *= extent
    return int(count)
