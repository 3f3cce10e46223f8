"""The engine on an H200 next to everybody who can be run there: `tileproof bench --suite h200`.

Qwen3-4B and Qwen3-32B with random weights, batch 1: decode at contexts of 128 to 32768 and prefill of 128 to 8192,
against transformers, a compiled model in the style of gpt-fast, a proxy of cuBLAS and Triton, and the GEMMs alone.
It gives itself ten minutes, and leaves rows out that do not fit. It needs a GPU, torch, transformers and Triton.

    tileproof bench --suite h200                                      both models
    tileproof bench --suite h200 --save benchmarks/results/h200       with data, page and pictures kept there
    tileproof bench --suite h200 --models qwen3-4b --quick            a look
    tileproof bench --suite h200 --from engine.json --save FOLDER     page and pictures anew: needs no GPU
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib import import_module, util
from pathlib import Path
from typing import Final

from ..harness.device import gpu_machine
from ..harness.page import terminal, write_pages
from ..harness.result import kept, read, save
from .plan import PEERS, Plan
from .report import H200, Model, model_of, results_of

MODELS: Final = ("qwen3-4b", "qwen3-32b")
_SHARES: Final = {"qwen3-4b": 0.53, "qwen3-32b": 0.47}
"""Of the time, where both models are measured."""
_TOO_LONG: Final = ("transformers",)
"""What is left out of the largest model: there is no time to compile 64 layers."""
_AROUND: Final = 24.0
"""Seconds of a model's time for the start and the end of its process, and for the page."""
_PATIENCE: Final = 13.0
"""Seconds beyond its time after which a process is stopped; it needs most of them to begin."""
NEEDS: Final = ("torch", "transformers", "triton")


class Missing(Exception):
    """What the suite cannot do without is not here; the text says what."""


def demand() -> None:
    """Everything that the suite needs is here, or an error that names what is not."""
    absent = [name for name in NEEDS if util.find_spec(name) is None]
    if absent:
        raise Missing(f"the suite measures others too, and {', '.join(absent)} cannot be imported here")
    if not import_module("torch").cuda.is_available():
        raise Missing("the suite needs a GPU, and torch finds none here")


def plans(chosen: argparse.Namespace, folder: Path) -> list[Plan]:
    """What each process is asked."""
    total = sum(_SHARES.get(name, 0.5) for name in chosen.models)
    results = []
    for name in chosen.models:
        is_large = name == "qwen3-32b"
        plan = Plan(
            name, str(folder / f"{name}.json"), chosen.layers, rounds=chosen.rounds, tokens=48 if is_large else 160,
            seconds=60 * chosen.minutes * _SHARES.get(name, 0.5) / total - _AROUND, boxed=110.0,
            without=(*chosen.without, *(_TOO_LONG if is_large else ())),
        )  # fmt: skip
        plan = plan.quick() if chosen.quick else plan
        results.append(replace(plan, contexts=chosen.contexts or plan.contexts, prompts=chosen.prompts or plan.prompts))
    return results


def measured(plan: Plan) -> Model | None:
    """Runs one model in a process of its own; what it left, whole or not."""
    root = Path(__file__).resolve().parents[2]
    paths = [str(root), str(root / "src"), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "benchmarks.engine.worker", json.dumps(asdict(plan))]
    try:
        done = subprocess.run(command, env=environment, timeout=plan.seconds + _PATIENCE, check=False).returncode
        if done != 0:
            _print(f"{plan.model}: the process ended with {done}")
    except subprocess.TimeoutExpired:
        _print(f"{plan.model}: stopped after {plan.seconds + _PATIENCE:.0f} s")
    file = Path(plan.file)
    return model_of(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None


def options(values: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tileproof bench --suite h200", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=_names, default=list(MODELS), metavar="NAME,...",
                        help=f"shapes (default: {','.join(MODELS)})")  # fmt: skip
    parser.add_argument("--without", type=_names, default=[], metavar="NAME,...",
                        help=f"leave out some of {', '.join(PEERS)}")  # fmt: skip
    parser.add_argument("--contexts", type=_numbers, metavar="N,...", help="contexts of decode")
    parser.add_argument("--prompts", type=_numbers, metavar="N,...", help="lengths of prompts")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each contestant (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=10.0, help="that all may take (default: %(default)s)")
    parser.add_argument("--layers", type=int, help="cut models to so many layers, for a look")
    parser.add_argument("--quick", action="store_true", help="few rows and rounds; not for keeping")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write engine.json, engine.md and pictures there")
    parser.add_argument("--from", dest="data", type=Path, metavar="FILE", help="take the data of an earlier run")
    chosen = parser.parse_args(values)
    wrong = [name for name in chosen.without if name not in PEERS]
    if wrong:
        parser.error(f"--without {wrong[0]}: there are {', '.join(PEERS)}")
    return chosen


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in _names(text))


def _print(text: str) -> None:
    print(f"== {text}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs, prints, and keeps what is to be kept."""
    chosen = options(arguments)
    if chosen.data is not None:
        results = read(chosen.data.read_text(encoding="utf-8"))
    else:
        try:
            demand()
        except Missing as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        with tempfile.TemporaryDirectory() as folder:
            models = [measured(plan) for plan in plans(chosen, Path(folder))]
        about = gpu_machine(import_module("torch"), "transformers")
        results = results_of([model for model in models if model is not None], about)
    print(terminal(results.lines))
    if chosen.save is not None:
        file = save(chosen.save / H200.file, kept(chosen.save / H200.file).joined(results))
        write_pages([H200], chosen.save.resolve().parent)
        print(f"written: {file.with_name(H200.page)}")
    return 0 if results.lines else 1


if __name__ == "__main__":
    raise SystemExit(main())
