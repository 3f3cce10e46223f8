"""torch's compilers for the peers, in a process next to the one that proves, assembles and records our steps.

Kernels of all layers are the same, so one layer of a model fills the caches of torch and Triton. The process compiles
one piece after another, because compilers choose by timing candidates on the GPU: side by side they were seen to choose
code for the compiled model that is a seventh slower, and a quarter slower where transformers was compiled as well. That
is traced as a whole, which no cache spares, so the process that measures does it, when this one has ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Final

from ..harness.text import first_line
from .plan import Plan

PIECES: Final = {"compiled": ("second_half", "first_half", "logits"), "proxy": ("step",)}
"""What is compiled of each peer, the slowest first."""


class Warming:
    """The process, from now on."""

    def __init__(self, plan: Plan) -> None:
        pieces = [piece for peer, pieces in PIECES.items() if peer not in plan.without for piece in pieces]
        command = [sys.executable, "-m", "benchmarks.engine.warming", json.dumps(asdict(plan)), *pieces]
        self._until = time.monotonic() + plan.boxed * len(pieces)
        self._process = subprocess.Popen(command, start_new_session=True) if pieces else None

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._process is None or self._process.poll() is not None

    def wait(self, seconds: float) -> None:
        """Waits until it has ended, and stops it with those that it began where that takes longer, or too long."""
        if self._process is None:
            return
        try:
            self._process.wait(max(min(seconds, self._until - time.monotonic()), 0.1))
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def main(arguments: Sequence[str]) -> int:
    """Compiles pieces of peers, with one layer of the model. One that fails is reported, and the others go on."""
    import torch

    from tileproof.llm.models.shapes import shape

    from .compiled import Compiled
    from .decoding import State
    from .proxy import Proxy
    from .weights import made

    plan, pieces = Plan.of(json.loads(arguments[0])), arguments[1:]
    config = replace(shape(plan.model), num_hidden_layers=1)
    shared, state = made(config, "cuda:0"), State(config, plan.capacity, "cuda:0")
    compiled = Compiled(shared, state)
    x = torch.nn.functional.embedding(state.token, shared.table)

    def step() -> None:
        proxy = Proxy(shared, state)
        proxy.logits_of([1, 2], 1)
        proxy.begin(128)

    def second_half() -> None:
        o = torch.zeros(1, config.num_attention_heads * config.head_dim, dtype=x.dtype, device=x.device)
        compiled.second_half(x, o, 0)

    ways = {
        "step": step, "second_half": second_half, "first_half": lambda: compiled.first_half(x, 0),
        "logits": lambda: compiled.logits(x),
    }  # fmt: skip
    failed = 0
    for piece in pieces:
        try:
            ways[piece]()
            torch.cuda.synchronize()
        except Exception as error:  # the process that measures tries it too, and reports it in its row
            print(f"{piece}: {first_line(error)}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
