"""How tokens are sampled, and when a request ends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field, replace
from numbers import Integral, Real
from typing import Any, Final, Literal

from tileproof.diagnostics.codes import Code

from .errors import refused
from .structured.grammar import Grammar

Finish = Literal["stop", "length", "cancelled"]
LEAST: Final = 1e-37
"""Kernels take f32: numbers above 0 are about so small or so large."""
MOST: Final = 3e38


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How tokens are chosen, and when to stop. The defaults are greedy.

    Example:
        SamplingParams(max_tokens=64, temperature=0.7, top_p=0.9, stop="\\n", seed=1)
    """

    max_new_tokens: int = 128
    temperature: float = 0.0
    """0 takes the likeliest token."""
    top_k: int = 0
    """Only the k likeliest; 0 or -1 for all."""
    top_p: float = 1.0
    """Only the likeliest that have this much of the probability together."""
    min_p: float = 0.0
    """Only those with this share of the probability of the likeliest."""
    repetition_penalty: float = 1.0
    """Divides (or, below 0, multiplies) the logits of all tokens of the prompt and the output; 1 for none."""
    presence_penalty: float = 0.0
    """Subtracted from the logits of tokens in the output."""
    frequency_penalty: float = 0.0
    """The same, for each time a token is in the output."""
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    """Added to the logits of these tokens."""
    seed: int | None = None
    """Equal seeds sample equal tokens from equal logits, in any row of a batch; None takes a new seed each time.

    Alone and in a batch the last bits of logits may differ, and a draw that lies on the edge may fall otherwise.
    """
    stop: str | tuple[str, ...] = ()
    """The output ends before the first of these strings. One string counts as a whole."""
    stop_token_ids: tuple[int, ...] = ()
    ignore_eos: bool = False
    grammar: Grammar | None = None
    """The output follows it from its first character to its last."""
    logprobs: int | None = None
    """How many of the likeliest tokens to report with each token; 0 for the token's own alone, None for nothing."""
    max_tokens: InitVar[int | None] = None
    """Another name of `max_new_tokens`, that of OpenAI's API, which wins. An argument alone: read `max_new_tokens`."""

    def __post_init__(self, max_tokens: int | None) -> None:
        if max_tokens is not None:
            object.__setattr__(self, "max_new_tokens", max_tokens)
        if isinstance(self.stop, str):
            object.__setattr__(self, "stop", (self.stop,))
        if _is_whole(self.top_k, -1, -1):
            object.__setattr__(self, "top_k", 0)
        for name, is_right, cure in (
            ("max_new_tokens", _is_whole(self.max_new_tokens, 1), "ask for at least 1"),
            ("temperature", _is_number(self.temperature, 0, MOST), "use 0 for greedy, about 0.7 for variety"),
            ("top_k", _is_whole(self.top_k, 0, 2**31 - 1), "use 0 for all"),
            ("top_p", _is_number(self.top_p, 0, 1) and self.top_p > 0, "use a share above 0, up to 1"),
            ("min_p", _is_number(self.min_p, 0, 1), "use a share from 0 to 1"),
            ("repetition_penalty", _is_number(self.repetition_penalty, LEAST, MOST), "use 1 for none, 1.1 for some"),
            ("presence_penalty", _is_number(self.presence_penalty, -MOST, MOST), "use 0 for none"),
            ("frequency_penalty", _is_number(self.frequency_penalty, -MOST, MOST), "use 0 for none"),
            ("seed", self.seed is None or _is_whole(self.seed, -(2**63), 2**63 - 1), "use a number of up to 63 bits"),
            ("grammar", self.grammar is None or isinstance(self.grammar, Grammar), "use one of Grammar's constructors"),
            ("logprobs", self.logprobs is None or _is_whole(self.logprobs, 0, 64), "ask for up to 64"),
        ):
            if not is_right:
                raise refused(Code.SAMPLING, f"{name} is {getattr(self, name)!r}", cure)
        self._demand_stops()
        if not isinstance(self.logit_bias, Mapping):
            raise refused(Code.SAMPLING, f"logit_bias is {self.logit_bias!r}", "use a dict, such as {2: -1.0}")
        for token, amount in self.logit_bias.items():
            if not (_is_whole(token, 0) and (_is_number(amount, -MOST, MOST) or amount == -math.inf)):
                cure = "use a token and a number, -inf for a token that must not come"
                raise refused(Code.SAMPLING, f"logit_bias has {token!r}: {amount!r}", cure)

    def _demand_stops(self) -> None:
        if not isinstance(self.stop, list | tuple) or not all(isinstance(text, str) for text in self.stop):
            raise refused(Code.SAMPLING, f"stop is {self.stop!r}", 'use strings, such as ("\\n",)')
        if any(not text for text in self.stop):
            raise refused(Code.SAMPLING, "a stop string is empty", "leave it out")
        tokens = self.stop_token_ids
        if not isinstance(tokens, list | tuple | set | frozenset) or not all(_is_whole(token, 0) for token in tokens):
            raise refused(Code.SAMPLING, f"stop_token_ids is {tokens!r}", "use tokens, such as (2,)")

    @property
    def has_penalties(self) -> bool:
        """Whether logits are changed before a token is chosen."""
        plain = self.repetition_penalty == 1 and self.presence_penalty == 0 and self.frequency_penalty == 0
        return not plain or bool(self.logit_bias)

    def of_choice(self, number: int) -> SamplingParams:
        """Those of one of several completions of a prompt: their seeds are `seed`, `seed + 1`, ..."""
        if self.seed is None or number == 0:
            return self
        return replace(self, seed=(self.seed + number + 2**63) % 2**64 - 2**63)


def _is_whole(value: Any, least: int, most: float = math.inf) -> bool:
    is_one = isinstance(value, Integral) and not isinstance(value, bool)
    return is_one and least <= value <= most


def _is_number(value: Any, least: float, most: float) -> bool:
    is_one = isinstance(value, Real) and not isinstance(value, bool)
    return is_one and least <= value <= most
