"""Settings that commands share: which model, where, and how tokens are chosen."""

from __future__ import annotations

import argparse
import json
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from tileproof.cli.usage import UsageError
from tileproof.llm import SamplingParams

from .terminal import read_bytes

FALLBACK = {"temperature": 0.7, "top_p": 0.95}
"""For models that say nothing on how to sample."""
_SAMPLED = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")
"""What generation_config.json may say."""


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Which model, and where it runs."""
    option = parser.add_argument
    option("--model", metavar="PATH", help="a folder or a .gguf file, or a name that `tileproof models` lists")
    option("--device", choices=("auto", "cpu", "cuda"), default="auto", help="where to run (default: a GPU if any)")
    option("--quantize", choices=("int8",), help="keep weights in 8 bits: less memory, faster text")
    longest = "prompt and text together at most (default: the model's context, up to 4096)"
    option("--max-seq-len", metavar="N", type=int, help=longest)
    option("--memory", metavar="SIZE", help="of the cache of keys and values, such as 900MB or 2GiB")


def add_sampling_options(parser: argparse.ArgumentParser, *, new_tokens: int) -> None:
    """How tokens are chosen, and when to stop."""
    option = parser.add_argument
    stops = "stop after so many (default: %(default)s)"
    option("--max-new-tokens", metavar="N", type=int, default=new_tokens, help=stops)
    option("--sample", action="store_true", help="draw tokens, as the model's own settings say")
    option("--temperature", metavar="X", type=float, help="0 takes the likeliest, 1 draws as the model says")
    option("--top-k", metavar="N", type=int, help="only among the N likeliest")
    option("--top-p", metavar="X", type=float, help="only among the likeliest that have this probability together")
    option("--min-p", metavar="X", type=float, help="only those with this share of the probability of the likeliest")
    option("--repetition-penalty", metavar="X", type=float, help="above 1, words are said again less often")
    option("--presence-penalty", metavar="X", type=float, help="the same, taken from logits of tokens of the text")
    option("--seed", metavar="N", type=int, help="draw the same text each time")
    option("--stop", metavar="TEXT", action="append", default=[], help="end before this text; may be repeated")


@dataclass(frozen=True, slots=True)
class Place:
    """How a model is opened."""

    device: str
    quantize: Literal["int8"] | None
    max_seq_len: int | None
    memory: int | None


def place_of(options: argparse.Namespace) -> Place:
    """The options on where a model runs, looked at before anything is loaded."""
    memory = None
    if options.memory is not None:
        memory = read_bytes(options.memory)
        if memory is None:
            raise UsageError(f"--memory {options.memory}: this is no size; write 900MB or 2GiB")
    if options.max_seq_len is not None and options.max_seq_len < 2:
        raise UsageError(f"--max-seq-len {options.max_seq_len}: at least 2")
    return Place(options.device, options.quantize, options.max_seq_len, memory)


def sampling_of(options: argparse.Namespace, path: Path, *, samples: bool = False) -> SamplingParams:
    """How tokens are chosen. Greedy, unless `--sample` or a number that has to do with drawing is given, or `samples`.

    Numbers that are not given come from the model, else from `FALLBACK`. The seed is drawn here, to be told.
    """
    given = {name: getattr(options, name) for name in _SAMPLED if getattr(options, name) is not None}
    draws = samples or options.sample or bool(given.keys() & {"temperature", "top_k", "top_p", "min_p"})
    numbers: dict[str, Any] = {}
    if draws and given.get("temperature") != 0:
        numbers = suggested(path) or dict(FALLBACK)
        numbers["seed"] = secrets.randbelow(2**31)
    numbers |= given
    if options.presence_penalty is not None:
        numbers["presence_penalty"] = options.presence_penalty
    if options.seed is not None:
        numbers["seed"] = options.seed
    return SamplingParams(max_new_tokens=options.max_new_tokens, stop=tuple(options.stop), **numbers)


def suggested(path: Path) -> dict[str, Any]:
    """What a model's generation_config.json says on sampling; empty if it says nothing that can be used."""
    try:
        found = json.loads((path / "generation_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    numbers = {name: found[name] for name in _SAMPLED if _is_number(found.get(name))}
    if isinstance(numbers.get("top_k"), float) and numbers["top_k"].is_integer():
        numbers["top_k"] = int(numbers["top_k"])
    if not numbers.keys() & {"temperature", "top_k", "top_p", "min_p"}:
        return {}
    return {"temperature": FALLBACK["temperature"]} | numbers


def shown_sampling(params: SamplingParams) -> str:
    """`greedy`, or the numbers that differ from it."""
    if params.temperature == 0:
        return "greedy"
    plain = SamplingParams()
    names = [*_SAMPLED, "presence_penalty", "frequency_penalty", "seed"]
    return ", ".join(f"{name.replace('_', ' ')} {getattr(params, name)}" for name in names
                     if getattr(params, name) != getattr(plain, name))  # fmt: skip


def within(params: SamplingParams, room: int) -> SamplingParams:
    """The same for at most so many tokens."""
    return replace(params, max_new_tokens=max(1, min(params.max_new_tokens, room)))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
