"""Forms of the steps of a prompt, raced against the one that the engine takes, and against cuBLAS + cuDNN alone.

    python -m benchmarks.h200_prompts                                       Qwen3-4B, 12 layers: 512, 2048, 8192 tokens
    python -m benchmarks.h200_prompts --model qwen3-32b --layers 6 --lengths 512 --rounds 24

A form is a table of fusions. What a race shows to be faster enters the table of GPUs in `tileproof/llm/step/fusion.py`,
and what was raced is told in results/h200/tried.md. The form that the engine takes runs twice, under two names: what
lies between these two is what the race cannot tell. Prompts are random tokens, turns are as in the suite: see
`h200_race`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tileproof.llm import LLM
from tileproof.llm.models.shapes import shape
from tileproof.llm.step.fusion import ON_GPU, Fusion

from .h200_race import LONG, race, timed

NOW: Final = "as it is"
AGAIN: Final = "as it is, again"
PEER: Final = "cuBLAS + cuDNN, products alone"
FORMS: Final[dict[str, tuple[Fusion, ...]]] = {NOW: ON_GPU, AGAIN: ON_GPU}
"""By name. Whoever races another adds its table here."""
_APART: Final = 0.05
"""How far the logits of a form may lie from those of the first, as a part of their length: all are made of bf16."""


def table(found: Mapping[str, Sequence[float]], layers: int) -> Iterator[str]:
    """A line for each contestant, from its seconds in each round."""
    now, peer = statistics.median(found[NOW]), statistics.median(found[PEER]) if PEER in found else None
    width = max(map(len, found))
    yield f"{'':{width}}      ms  us a layer  by products  rounds, ms"
    for name, rounds in found.items():
        middle = statistics.median(rounds)
        more = f"{(middle - now) / layers * 1e6:+.1f}" if name not in (NOW, PEER) else ""
        ratio = f"{peer / middle:.3f}x" if peer is not None and name != PEER else ""
        spread = f"{min(rounds) * 1e3:.3f} to {max(rounds) * 1e3:.3f}"
        yield f"{name:{width}} {middle * 1e3:7.3f}  {more:>10}  {ratio:>11}  {spread}"


def distance(one: Any, other: Any) -> float:
    """How far two rows of logits lie apart, as a part of their length."""
    return float(((one - other) ** 2).sum() ** 0.5 / (one**2).sum() ** 0.5)


def engines(model: str, layers: int, lengths: Sequence[int]) -> tuple[dict[str, LLM], Any]:
    """An engine for each form on the same weights, and these as torch has them."""
    from .h200_weights import made

    config = replace(shape(model), num_hidden_layers=layers)
    shared = made(config, "cuda:0")
    room = min(max(lengths) + 64, config.max_position_embeddings)
    forms = {
        name: LLM.of(
            config, shared.ours(), device="cuda:0", max_seq_len=room, max_batch=1, chunk=8192, fusions=fusions
        )
        for name, fusions in FORMS.items()
    }  # fmt: skip
    return forms, shared


def raced(llms: Mapping[str, LLM], shared: Any, length: int, rounds: int, seconds: float) -> dict[str, list[float]]:
    """Seconds of a prompt in each round; a form whose logits lie elsewhere is left out, with a line that says so."""
    import torch

    from . import h200_ours as ours
    from .h200_chains import products_of_a_prompt

    contestants: dict[str, Any] = {}
    wanted = None
    for name, llm in llms.items():
        logits = ours.prompt_logits(llm, length)
        wanted = logits if wanted is None else wanted
        apart = distance(wanted, logits)
        if apart < _APART:
            contestants[name] = partial(ours.prefill_alone, llm, length)
        else:
            print(f"{name}: its logits lie {apart:.3f} of their length apart, so it is not raced")
    contestants[PEER] = partial(timed, products_of_a_prompt(shared, length), torch.cuda.synchronize)
    return race(contestants, rounds, seconds, LONG)


def main(arguments: Sequence[str]) -> int:
    """Races the forms, and prints a table for each length."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.h200_prompts", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--model", default="qwen3-4b", help="whose shapes (default: qwen3-4b)")
    parser.add_argument("--layers", type=int, default=12, help="how many of its layers (default: 12)")
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 2048, 8192], help="tokens of the prompts")
    parser.add_argument("--rounds", type=int, default=16, help="turns of each (default: 16)")
    parser.add_argument("--seconds", type=float, default=40, help="after which no round of a length begins (40)")
    options = parser.parse_args(arguments)
    llms, shared = engines(options.model, options.layers, options.lengths)
    for length in options.lengths:
        found = raced(llms, shared, length, options.rounds, options.seconds)
        print(f"\n{options.model}, {options.layers} layers, a prompt of {length}, {len(found[NOW])} rounds")
        print(*table(found, options.layers), sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
