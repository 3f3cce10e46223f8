"""Options that commands share: the model, its device, and sampling."""

from __future__ import annotations

import argparse
import os
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from tileproof.backends.cpu.device.pool import MOST, VARIABLE
from tileproof.cli.command_line import UsageError
from tileproof.diagnostics.values import bytes_of
from tileproof.llm import ModelError, SamplingParams
from tileproof.llm.loader.settings import read_json

FALLBACK = {"temperature": 0.7, "top_p": 0.95}
"""For models without sampling parameters."""
_SAMPLED = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")
"""What is read from generation_config.json."""


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Which model, and where it runs."""
    option = parser.add_argument
    option("-m", "--model", metavar="PATH", help="a folder or a .gguf file, or a name that `tileproof models` lists")
    option("--device", choices=("auto", "cpu", "cuda"), default="auto", help="where to run (default: a GPU if any)")
    option("--quantize", choices=("int8",), help="int8 weights: less memory, faster decode")
    longest = "the longest sequence, prompt included (default: the model's context, up to 4096)"
    option("--max-seq-len", metavar="N", type=int, help=longest)
    option("--memory", metavar="SIZE", help="size of the KV cache, such as 900MB or 2GiB")
    option("--threads", metavar="N", type=int, help="threads of the CPU (default: one for each core)")


def add_sampling_options(parser: argparse.ArgumentParser, *, new_tokens: int) -> None:
    """How tokens are sampled, and when to stop."""
    option = parser.add_argument
    stops = "the most tokens to generate (default: %(default)s)"
    option("-n", "--max-new-tokens", "--max-tokens", metavar="N", type=int, default=new_tokens, help=stops)
    option("--sample", action="store_true", help="sample, with the model's own settings")
    option("--temperature", metavar="X", type=float, help="0 is greedy, 1 samples from the logits as they are")
    option("--top-k", metavar="N", type=int, help="sample from the N likeliest")
    option("--top-p", metavar="X", type=float, help="sample from the likeliest with this probability together")
    option("--min-p", metavar="X", type=float, help="sample from those with this share of the highest probability")
    option("--repetition-penalty", metavar="X", type=float, help="above 1, tokens repeat less often")
    option("--presence-penalty", metavar="X", type=float, help="subtracted from the logits of tokens in the output")
    option("--frequency-penalty", metavar="X", type=float, help="the same, for each time that a token is there")
    bias = "added to the logit of a token, such as 2:-1.5; -inf bans it; may be repeated"
    option("--logit-bias", metavar="TOKEN:X", type=_bias, action="append", default=[], help=bias)
    option("--seed", metavar="N", type=int, help="sample the same text each time")
    option("--stop", metavar="TEXT", action="append", default=[], help="stop before this text; may be repeated")


def _bias(text: str) -> tuple[int, float]:
    """A token and a number."""
    token, _, amount = text.partition(":")
    try:
        return int(token), float(amount)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no token and number, such as 2:-1.5") from None


@dataclass(frozen=True, slots=True)
class Place:
    """How a model is opened."""

    device: str
    quantize: Literal["int8"] | None
    max_seq_len: int | None
    memory: int | None


def place_of(options: argparse.Namespace) -> Place:
    """The options on where a model runs, checked before anything is loaded."""
    memory = None
    if options.memory is not None:
        memory = bytes_of(options.memory)
        if not memory:
            raise UsageError(f"--memory {options.memory}: this is no size; write 900MB or 2GiB")
    if options.threads is not None:
        if not 1 <= options.threads <= MOST:
            raise UsageError(f"--threads {options.threads}: 1 to {MOST}")
        os.environ[VARIABLE] = str(options.threads)  # the pool reads it when it starts
    if options.max_seq_len is not None and options.max_seq_len < 2:
        raise UsageError(f"--max-seq-len {options.max_seq_len}: at least 2")
    return Place(options.device, options.quantize, options.max_seq_len, memory)


def sampling_of(options: argparse.Namespace, path: Path, *, samples: bool = False) -> SamplingParams:
    """The sampling parameters: greedy, unless `--sample` or a number for sampling is given, or `samples`.

    Other numbers come from the model, else from `FALLBACK`. A random seed is chosen here, so that it can be printed.
    """
    explicit = {name: getattr(options, name) for name in _SAMPLED if getattr(options, name) is not None}
    draws = samples or options.sample or bool(explicit.keys() & {"temperature", "top_k", "top_p", "min_p"})
    numbers: dict[str, Any] = {}
    if draws and explicit.get("temperature") != 0:
        numbers = suggested(path) or dict(FALLBACK)
        numbers["seed"] = secrets.randbelow(2**31)
    numbers |= explicit
    for name in ("presence_penalty", "frequency_penalty", "seed"):
        if getattr(options, name) is not None:
            numbers[name] = getattr(options, name)
    return SamplingParams(
        max_new_tokens=options.max_new_tokens, stop=tuple(options.stop), logit_bias=dict(options.logit_bias), **numbers
    )


def suggested(path: Path) -> dict[str, Any]:
    """The sampling parameters in a model's generation_config.json; empty if there are none that can be used."""
    try:
        config = read_json(path / "generation_config.json")
    except ModelError:
        return {}
    if not isinstance(config, dict):
        return {}
    numbers = {name: config[name] for name in _SAMPLED if _is_number(config.get(name))}
    if isinstance(numbers.get("top_k"), float) and numbers["top_k"].is_integer():
        numbers["top_k"] = int(numbers["top_k"])
    if not numbers.keys() & {"temperature", "top_k", "top_p", "min_p"}:
        return {}
    return {"temperature": FALLBACK["temperature"]} | numbers


def format_sampling(params: SamplingParams) -> str:
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
