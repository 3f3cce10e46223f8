"""Steps with memory: recorded once as a graph, and replayed with other inputs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Final

import tileproof as tp
from tileproof.tuning.choices import in_chain

from ..models.decoder import Decoder, sampled
from .buffers import Arena, planned
from .fusion import Fusion, fused
from .inputs import Inputs
from .ir import Op, StepClass
from .passes import appended_at_end
from .penalties import Penalties

_CHAINED: Final = 128
"""Rows up to which a launch is brought to a GPU while the one ahead ends; with more, it would be in its way."""


@dataclass(frozen=True, slots=True)
class Captured:
    """A step that can run: its inputs, and what it leaves."""

    kind: StepClass
    inputs: Inputs
    ops: tuple[Op, ...]
    tensors: dict[int, Any]
    logits: Any
    """(outputs, vocabulary), f32."""
    tokens: Any
    """(sequences,), i32; None where no token is chosen."""
    graph: tp.Graph | None

    def run(self) -> None:
        """Sends the inputs and starts the step."""
        self.inputs.send()
        self.again()

    def again(self) -> None:
        """Starts it with what the last run left: the next turns of the same sequences."""
        if self.graph is not None:
            self.graph.replay()
        else:
            self.launch()

    def launch(self) -> None:
        """The launches, one by one."""
        for op in self.ops:
            launch(op, self.tensors)


def launch(op: Op, tensors: dict[int, Any]) -> None:
    """Launches one operation."""
    buffers = (*op.writes, *op.scratch, *op.reads)
    op.call(*(tensors[id(buffer)] for buffer in buffers), *op.given)


def captured(
    decoder: Decoder, penalties: Penalties, kind: StepClass, arena: Arena, fusions: Sequence[Fusion], *,
    is_graph: bool = True,
) -> Captured:  # fmt: skip
    """Builds a step of a class: operations, fusions, memory, and, unless it is to run launch by launch, a graph."""
    inputs = Inputs(kind, decoder.device)
    ops: list[Op] = []
    tensors: dict[int, Any] = {}
    for turn in range(max(kind.turns, 1)):
        step, logits = decoder.step(kind, inputs.tensors)
        tokens = None
        if kind.sampling != "none":
            tokens = sampled(step, logits, decoder.config, inputs.tensors, penalties, turn)
        step = appended_at_end(fused(step, fusions), decoder.caches)
        tensors |= arena.tensors(planned(step.ops))
        ops += step.ops
    chosen = None if tokens is None else tensors[id(tokens)]
    graph = None
    if is_graph:
        with tp.Graph() as graph:
            for op in ops:
                with in_chain() if decoder.device != "cpu" and is_chained(kind, op) else nullcontext():
                    launch(op, tensors)
    return Captured(kind, inputs, tuple(ops), tensors, tensors[id(logits)], chosen, graph)


def is_chained(kind: StepClass, op: Op) -> bool:
    """Whether it has few rows: in a step of few, or behind the last attention of a prompt."""
    return kind.rows <= _CHAINED or all(buffer.shape[0] <= _CHAINED for buffer in op.writes or op.reads)
