"""Dependent launches: does a chain of short kernels gain if each is brought to the GPU while the one ahead still runs?

The matrices of four layers of Qwen3-4B, for one token, as a graph of sixteen matrix-vector products that read one
another's results. It is replayed in three forms that take turns: every kernel waits its turn; every kernel with
`tp.Schedule(dependent=True)`; and dependent everywhere but in `down`, whose many programs leave no room.

    python -m benchmarks.dependent                       print a table
    python -m benchmarks.dependent --save DIR            write dependent.json and dependent.md as well

It needs a GPU of compute capability 9.0 or more.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

import tileproof as tp
from tileproof.backends.cuda.driver import Device

from .gpu_kernels import matvec

LAYERS: Final = 4
ROUNDS: Final = 15
REPLAYS: Final = 50
SHAPES: Final = {"qkv": (6144, 2560), "o": (2560, 4096), "gate_up": (19456, 2560), "down": (2560, 9728)}
TILES: Final = {"BN": 16, "BK": 256}
FORMS: Final = {"waits its turn": (), "dependent": tuple(SHAPES), "dependent but down": ("qkv", "o", "gate_up")}


def scheduled(is_dependent: bool) -> tp.Kernel:
    """The kernel: as many programs as there are multiprocessors, each with one row of tiles after another."""
    return matvec.with_schedule(tp.Schedule(persistent=True, dependent=is_dependent))


def launches() -> Iterator[tuple[str, tp.Kernel, Sequence[Any], dict[str, int]]]:
    """Name, kernel, arguments and constants of every launch, for whoever compiles elsewhere."""
    element = tp.bf16.storage  # type: ignore[attr-defined]
    for name, (n, k) in SHAPES.items():
        for is_dependent in (False, True):
            arrays = [np.empty(n, element), np.empty((n, k), element), np.empty(k, element)]
            yield f"dependent: {name}, {is_dependent}", scheduled(is_dependent), arrays, dict(TILES)


def chain(dependent: Sequence[str]) -> tuple[tp.Graph, tp.Tensor]:
    """The layers as a graph, and what they end with."""
    random = np.random.default_rng(0)

    def tensor(*shape: int, spread: float) -> tp.Tensor:
        values = (random.standard_normal(shape, np.float32) * spread).astype(tp.bf16.storage)  # type: ignore[attr-defined]
        return tp.from_numpy(values, "cuda")

    x = tensor(2560, spread=1.0)
    held = {name: tp.empty(n, tp.bf16, "cuda") for name, (n, _) in SHAPES.items()}
    # Weights of every layer are its own, or the second would find them in a cache.
    weights = [{name: tensor(n, k, spread=k**-0.5) for name, (n, k) in SHAPES.items()} for _ in range(LAYERS)]
    kernels = {name: scheduled(name in dependent) for name in SHAPES}
    with tp.Graph() as graph:
        for layer in weights:
            kernels["qkv"](held["qkv"], layer["qkv"], x, **TILES)
            kernels["o"](held["o"], layer["o"], held["qkv"][:4096], **TILES)
            kernels["gate_up"](held["gate_up"], layer["gate_up"], held["o"], **TILES)
            kernels["down"](held["down"], layer["down"], held["gate_up"][:9728], **TILES)
            x = held["down"]
    return graph, held["down"]


def timed(graph: tp.Graph) -> float:
    """Microseconds of a replay, many queued and waited for once."""
    stream = tp.current_stream("cuda")
    graph.replay()
    stream.synchronize()
    start = time.perf_counter()
    for _ in range(REPLAYS):
        graph.replay()
    stream.synchronize()
    return (time.perf_counter() - start) / REPLAYS * 1e6


def measured(say: Callable[[str], None]) -> dict[str, dict[str, float]]:
    """The median and spread of each form, all of which gave the same bits."""
    graphs = {form: chain(names) for form, names in FORMS.items()}
    ends = {}
    for form, (graph, end) in graphs.items():
        graph.replay()
        ends[form] = end.numpy().tobytes()
    if len(set(ends.values())) != 1:
        raise SystemExit("the forms do not compute the same")
    taken: dict[str, list[float]] = {form: [] for form in FORMS}
    for number in range(ROUNDS):
        say(f"round {number + 1} of {ROUNDS}")
        for place in range(len(FORMS)):
            form = list(FORMS)[(number + place) % len(FORMS)]
            taken[form].append(timed(graphs[form][0]))
    return {
        form: {"median": statistics.median(times), "least": min(times), "most": max(times)}
        for form, times in taken.items()
    }


def table(found: dict[str, dict[str, float]], where: str) -> str:
    """The figures as Markdown."""
    plain = found["waits its turn"]["median"]
    lines = [
        f"Sixteen matrix-vector products of four layers of Qwen3-4B (bf16) as one graph, on {where}.", "",
        "| form | us per replay | spread | against waiting |", "|---|---|---|---|",
    ]  # fmt: skip
    for form, figures in found.items():
        spread = f"{figures['least']:.1f} to {figures['most']:.1f}"
        lines.append(f"| {form} | {figures['median']:.1f} | {spread} | {plain / figures['median']:.3f}x |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", metavar="DIR", type=Path, help="write dependent.json and dependent.md there")
    options = parser.parse_args()
    where = Device(0).name
    found = measured(lambda text: print(text, end="\r", flush=True))
    text = table(found, where)
    print(text)
    if options.save:
        options.save.mkdir(parents=True, exist_ok=True)
        (options.save / "dependent.json").write_text(json.dumps({"device": where, "us": found}, indent=1) + "\n")
        (options.save / "dependent.md").write_text(f"# Dependent launches\n\n{text}")


if __name__ == "__main__":
    main()
