"""What takes long and needs no measuring, beside each other: torch's compilers for the peers, and a cold kernel cache.

Kernels of all layers are the same, so one layer of a model fills the caches of torch and Triton, in a process that
compiles one piece after another, because compilers choose by timing candidates on the GPU. What goes on beside it
leaves the GPU alone: our steps are proved, assembled and recorded. In a short run each piece has a process, and all
work beside each other; then they were seen to choose code for the compiled model that is a seventh slower, and a
quarter slower where transformers was compiled beside them. That is traced as a whole, which no cache spares, so the
process that measures does it, when all others are done.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Final

from .h200_plan import Plan
from .tables import first_line

PIECES: Final = {"compiled": ("second_half", "first_half", "logits"), "proxy": ("step",)}
"""What is compiled of each peer, the slowest first."""


class Warming:
    """Work in other processes, from now on."""

    def __init__(self, plan: Plan) -> None:
        command = [sys.executable, "-m", "benchmarks.h200_warming", json.dumps(asdict(plan))]
        self._cold: subprocess.Popen[str] | None = None
        self._is_stopped = threading.Event()
        pieces = [piece for peer, pieces in PIECES.items() if peer not in plan.without for piece in pieces]
        groups = [[piece] for piece in pieces] if plan.is_short else [pieces] if pieces else []
        self._others = threading.Thread(target=self._run, args=(plan, command, groups), daemon=True)
        self._others.start()

    def _run(self, plan: Plan, command: Sequence[str], groups: Sequence[Sequence[str]]) -> None:
        """The pieces, and then, beside nothing, what making our kernels takes a user who has none of them."""
        begun = [(_begun([*command, *group]), plan.boxed * len(group)) for group in groups]
        for process, seconds in begun:
            self._end(process, seconds)
        if "cold" not in plan.without and not self._is_stopped.is_set():
            self._cold = _begun([sys.executable, "-m", "benchmarks.h200_cold", plan.model, "both"])

    def _end(self, process: subprocess.Popen[str], seconds: float) -> None:
        """Waits for a process, but no longer than for all of it, and not for so long."""
        until = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < until and not self._is_stopped.is_set():
            self._is_stopped.wait(0.1)
        _ended(process, 0)

    @property
    def is_over(self) -> bool:
        """Whether all of it has ended."""
        return not self._others.is_alive() and (self._cold is None or self._cold.poll() is not None)

    def wait(self, seconds: float) -> str:
        """Waits for all of it, and stops what takes longer; gives what was found of our kernels."""
        until = time.monotonic() + seconds
        self._others.join(max(seconds, 1))
        self._is_stopped.set()
        self._others.join()
        if self._cold is None:
            return "not measured in this run"
        return _ended(self._cold, until - time.monotonic()) or "not measured: time is short"


def _begun(command: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


def _ended(process: subprocess.Popen[str], seconds: float) -> str:
    """What a process prints last; nothing if it does not end in time, and is stopped with those that it began."""
    try:
        said, _ = process.communicate(timeout=max(seconds, 1))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return ""
    return said.strip().splitlines()[-1] if said.strip() and process.returncode == 0 else ""


def main(arguments: Sequence[str]) -> int:
    """Compiles pieces of peers, with one layer of the model. One that fails is told, and does not stop the others."""
    import torch

    from tileproof.llm.models.shapes import shape

    from .h200_compiled import Compiled
    from .h200_decoding import State
    from .h200_proxy import Proxy
    from .h200_weights import made

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
        except Exception as error:  # the process that measures tries it too, and says so in its row
            print(f"{piece}: {first_line(error)}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
