"""A sequence: its tokens, how many of them the cache holds, and on which pages."""

from __future__ import annotations

import secrets
from collections.abc import Sequence as Tokens
from dataclasses import dataclass, field
from itertools import count

from .sampling import SamplingParams, TokenLogprob
from .step.ir import PAGE

_numbers = count()


@dataclass(slots=True, eq=False)
class Sequence:
    """One text under way."""

    prompt: tuple[int, ...]
    params: SamplingParams
    number: int = field(default_factory=lambda: next(_numbers))
    generated: list[int] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    computed: int = 0
    """Tokens whose keys and values are in the cache."""
    pages: list[int] = field(default_factory=list)
    place: int = -1
    """Its row of the tables that penalties are counted in."""
    seed: int = 0
    started: float = 0.0
    first: float = 0.0
    """When its first step began, and when its first token was there."""
    last: float = 0.0

    def __post_init__(self) -> None:
        self.seed = secrets.randbits(62) if self.params.seed is None else self.params.seed

    @property
    def length(self) -> int:
        return len(self.prompt) + len(self.generated)

    @property
    def waiting(self) -> int:
        """Tokens that no step has seen yet: one while it generates, more at its beginning."""
        return self.length - self.computed

    def tokens(self, start: int, stop: int) -> Tokens[int]:
        """Some of its tokens."""
        size = len(self.prompt)
        if stop <= size:
            return self.prompt[start:stop]
        if start >= size:
            return self.generated[start - size : stop - size]
        return [*self.prompt[start:], *self.generated[: stop - size]]

    def pages_for(self, length: int) -> int:
        """How many more pages it needs to hold so many tokens."""
        return max(-(-length // PAGE) - len(self.pages), 0)
