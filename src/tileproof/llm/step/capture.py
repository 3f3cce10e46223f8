"""Steps with memory: recorded once as a graph, and replayed with other inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Final

import tileproof as tp
from tileproof.tuning.choices import in_chain

from ..models.decoder import Decoder
from ..models.families import build_step
from .buffers import Arena, InputBuffers, planned
from .fusion import Fusion
from .ir import Buffer, Op, StepClass
from .kernels import launch
from .passes import lowered
from .sampler import Penalties, add_sampling

_CHAINED: Final = 128
"""Rows up to which a launch is brought to a GPU while the one before ends; with more, it would be in its way."""


@dataclass(frozen=True, slots=True)
class CapturedStep:
    """A step that can run: its inputs, and its results."""

    kind: StepClass
    inputs: InputBuffers
    ops: tuple[Op, ...]
    tensors: dict[Buffer, Any]
    logits: Any
    """(outputs, vocab_size), f32."""
    sampled: Any
    """(sequences,), i32: the tokens of the last decode step; None where none is sampled."""
    graph: tp.Graph | None
    replay: Callable[[], None]
    """Starts it with the inputs that the last run left: the next decode steps of the same sequences."""

    def run(self) -> None:
        """Sends the inputs and starts the step."""
        self.inputs.send()
        self.replay()


def capture(
    decoder: Decoder, penalties: Penalties, kind: StepClass, arena: Arena, fusions: Sequence[Fusion], *,
    is_graph: bool = True,
) -> CapturedStep:  # fmt: skip
    """Builds a step of a class: operations, passes, memory, and, unless it is to run launch by launch, a graph."""
    inputs = InputBuffers(kind, decoder.device, decoder.config.vocab_size)
    ops: list[Op] = []
    tensors: dict[Buffer, Any] = {}
    for number in range(max(kind.decode_steps, 1)):
        step, logits = build_step(decoder, kind, inputs.device)
        sampled = None
        if kind.sampling != "none":
            sampled = add_sampling(step, logits, decoder.config, inputs.device, penalties, number)
        step = lowered(step, fusions, decoder.cache)
        tensors |= arena.tensors(planned(step.ops))
        ops += step.ops

    def launch_all() -> None:
        for op in ops:
            with in_chain() if is_graph and decoder.device != "cpu" and is_chained(kind, op) else nullcontext():
                launch(op, tensors)

    graph = tp.Graph() if is_graph else None
    if graph is not None:
        with graph:
            launch_all()
    result = None if sampled is None else tensors[sampled]
    replay = launch_all if graph is None else graph.replay
    return CapturedStep(kind, inputs, tuple(ops), tensors, tensors[logits], result, graph, replay)


def is_chained(kind: StepClass, op: Op) -> bool:
    """Whether it has few rows: in a step of few, or after the last attention of a prompt."""
    return kind.rows <= _CHAINED or all(buffer.shape[0] <= _CHAINED for buffer in op.writes or op.reads)
