"""The matrix-vector products of one token, all layers with weights of their own, in one graph.

36 layers of Qwen3-4B read 8 GB, 64 of Qwen3-32B 64 GB: nothing is found in a cache. In the chain each product reads
what the one before it wrote, as in a model. cuBLAS does the same on the same weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

import numpy as np

import tileproof as tp
from tileproof import kernels
from tileproof.runtime.ahead import stand_in

from .gpu_report import Figure, Line
from .gpu_row import BANDWIDTH, Goal
from .gpu_rows_products import HEADS, MODELS
from .gpu_timing import Contestant, race

LAYERS: Final = {"4B": 36, "32B": 64}
GOALS: Final = {"4B": 2.25e-3, "32B": 15.6e-3}
_DEPENDENT: Final = ("qkv", "o", "gate_up")
"""Products that may be brought to the GPU while the one before still runs. `down` has too few rows for that to pay."""
Step = tuple[str, Any, Any, Any]
"""Which product, its output, its weights and its input."""


@dataclass(frozen=True)
class Chain:
    """The products of a token in order."""

    model: str
    steps: Sequence[Step]

    @property
    def bytes(self) -> int:
        return sum(2 * (n * k + n + k) for n, k in shapes(self.model))


def shapes(model: str) -> list[tuple[int, int]]:
    """Of the products of a token."""
    return [*(shape for _ in range(LAYERS[model]) for shape in MODELS[model].values()), HEADS[model]]


def chain(model: str, make: Callable[..., Any], layers: int | None = None) -> Chain:
    """The steps of a model; `make` makes a vector of so many elements, or a matrix."""
    matrices = MODELS[model]
    held = {name: make(n) for name, (n, _) in matrices.items()}
    x = make(matrices["qkv"][1])
    steps: list[Step] = []
    for _ in range(LAYERS[model] if layers is None else layers):
        inputs = {"qkv": x, "o": held["qkv"][: matrices["o"][1]], "gate_up": held["o"],
                  "down": held["gate_up"][: matrices["down"][1]]}  # fmt: skip
        for name, (n, k) in matrices.items():
            steps.append((name, held[name], make(n, k), inputs[name]))
        x = held["down"]
    steps.append(("head", make(HEADS[model][0]), make(*HEADS[model]), x))
    return Chain(model, steps)


def run(made: Chain, launch: Callable[[str, Any, Any, Any], Any]) -> None:
    """All products of a token, each by `launch`."""
    for name, y, w, x in made.steps:
        launch(name, y, w, x)


def plainly(name: str, y: Any, w: Any, x: Any) -> None:
    """A product by the library."""
    kernels.matvec(w, x, out=y)


def dependently(name: str, y: Any, w: Any, x: Any) -> None:
    """Where all programs fit the GPU at once, by one kernel after another that are there before their turn comes."""
    if name in _DEPENDENT:
        early()(y, w, x, BN=16, BK=256)
    else:
        plainly(name, y, w, x)


@cache
def early() -> tp.Kernel:
    """The kernel beneath `matvec`, with as many programs as there are multiprocessors, as a dependent launch."""
    kernel: tp.Kernel = kernels.matvec_kernel
    return kernel.with_schedule(tp.Schedule(persistent=True, dependent=True))


def stand_in_steps(model: str) -> None:
    """Two layers on stand-ins, both ways: what is launched can be recorded."""

    def make(*shape: int) -> Any:
        return stand_in(shape, np.dtype(tp.bf16.storage))  # type: ignore[attr-defined]

    made = chain(model, make, layers=2)
    run(made, plainly)
    run(made, dependently)


def measured(model: str, torch: Any, rounds: int) -> Line:
    """Times the chain by the library, plainly and with dependent launches, and by cuBLAS."""

    def make(*shape: int) -> Any:
        made = torch.empty(shape, dtype=torch.bfloat16, device="cuda")
        return made.normal_(0, shape[-1] ** -0.5 if len(shape) == 2 else 1.0)

    made = chain(model, make)

    def by_torch(name: str, y: Any, w: Any, x: Any) -> None:
        torch.mv(w, x, out=y)

    ends = []
    for launch in (by_torch, plainly, dependently):
        run(made, launch)
        torch.cuda.synchronize()
        ends.append(made.steps[-1][1].double().clone())
    error = max(float((ends[0] - each).norm() / ends[0].norm()) for each in ends[1:])
    name, size = f"chain {model}", f"{LAYERS[model]} layers and head, {made.bytes / 1e9:.1f} GB"
    operations = sum(2.0 * n * k for n, k in shapes(model))
    goals = (Goal(GOALS[model], "seconds"), Goal(1.0, "cuBLAS"))
    begun = Line(name, "chain", size, operations, made.bytes, made.bytes / BANDWIDTH, goals=goals)
    # Roundings to bf16 add up over the products of all layers.
    if not error < 0.1:
        return begun.but(problem=f"WRONG: relative error {error:.1e} against cuBLAS")
    ours = Contestant("tileproof", [partial(run, made, plainly)])
    ahead = Contestant("tileproof", [partial(run, made, dependently)], "tileproof")
    theirs = Contestant("cuBLAS", [partial(run, made, by_torch)])
    entered = [ours, ahead, theirs]
    race(entered, torch, rounds)
    forms = [Figure("plain launches", tuple(ours.rounds)), Figure("dependent launches", tuple(ahead.rounds))]
    best = min(forms, key=lambda each: each.median)
    return begun.but(
        tileproof=Figure("tileproof", best.rounds), forms=tuple(forms),
        peers={"torch": (Figure("cuBLAS", tuple(theirs.rounds)),)},
        notes=tuple(each.note for each in entered if each.note),
    )  # fmt: skip
