"""A request: its tokens and text so far, what the cache holds of it, and its times."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from .engine.kv_cache import first_key, next_key
from .sampling import Finish, SamplingParams
from .step.ir import PAGE
from .structured.guidance import Matcher
from .tokenizer.detokenizer import Detokenizer, StopStrings

_numbers = count()


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token and its logprob, with the likeliest ones in its place."""

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of generated text. Pieces never end inside a character or a possible stop string."""

    text: str
    tokens: tuple[int, ...]
    """The tokens since the last chunk."""
    finish: Finish | None = None
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished request."""

    text: str
    tokens: tuple[int, ...]
    """What was generated, the end token included where there was one."""
    prompt_tokens: tuple[int, ...]
    finish: Finish
    logprobs: tuple[TokenLogprob, ...] = ()
    cached_tokens: int = 0
    """Tokens of the prompt that were in the cache."""
    prefill_seconds: float = 0.0
    """From the first step to the first token."""
    decode_seconds: float = 0.0
    """From the first token to the last."""

    @property
    def tokens_per_second(self) -> float:
        """Of decode: without the first token, which belongs to prefill."""
        return (len(self.tokens) - 1) / self.decode_seconds if self.decode_seconds > 0 and len(self.tokens) > 1 else 0.0


@dataclass(slots=True, eq=False)
class Request:
    """A prompt, and what is generated for it. The scheduler runs it as a sequence of tokens."""

    prompt: tuple[int, ...]
    params: SamplingParams
    end_tokens: frozenset[int] = frozenset()
    max_length: int = sys.maxsize
    """The most tokens that it may have, prompt included."""
    detokenizer: Detokenizer | None = None
    """None where there is no tokenizer: then there is no text."""
    priority: int = 0
    """Requests with a lower number go first."""
    salt: str | None = None
    """Requests with equal salts share pages of equal beginnings; None shares nothing."""
    matcher: Matcher | None = None
    """Follows its grammar, if its output has one."""
    deadline: float = 0.0
    """When it fails unless it is finished, as `time.perf_counter` counts; 0 is never."""
    on_chunk: Callable[[Chunk], None] | None = None
    """Receives what is new after a step. The engine's thread calls it."""
    on_finish: Callable[[Request], None] | None = None
    """Is called once, after the last chunk."""
    number: int = field(default_factory=lambda: next(_numbers))
    generated: list[int] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    finish: Finish | None = None
    failure: BaseException | None = None
    """Why it could not go on."""
    failed_steps: int = 0
    """Steps with it that raised, also if others were in them."""

    computed: int = 0
    """Tokens whose keys and values are in the cache."""
    cached_tokens: int = 0
    """Tokens of the prompt that were in the cache when it began."""
    pages: list[int] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)
    """Of its full pages, as far as they were needed."""
    penalty_row: int = -1
    """Its row of the penalty tables."""
    seed: int = 0
    has_penalties: bool = field(init=False)
    rank: tuple[int, int, int] = (0, 0, 0)
    """Its place in the order in which the scheduler serves requests."""

    arrived: float = field(default_factory=time.perf_counter)
    """When it was made, its first step began, its first token was read, and its last."""
    started: float = 0.0
    first_token: float = 0.0
    last_token: float = 0.0
    compile_seconds: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """What the engine had spent on compiling steps at its first step, its first token and its last."""

    _page_array: Any = None
    _arrayed: Sequence[int] = ()
    """The list of which that is a copy."""
    _text: list[str] = field(default_factory=list)
    _stops: StopStrings = field(init=False)
    _streamed_text: int = 0
    """Pieces of text and tokens that chunks have given."""
    _streamed_tokens: int = 0

    def __post_init__(self) -> None:
        self.seed = secrets.randbits(62) if self.params.seed is None else self.params.seed
        self.has_penalties = self.params.has_penalties
        self._stops = StopStrings(self.params.stop)

    # As a sequence of tokens.

    @property
    def length(self) -> int:
        return len(self.prompt) + len(self.generated)

    @property
    def uncomputed(self) -> int:
        """Tokens that no step has computed yet: one while it decodes, more at its beginning."""
        return self.length - self.computed

    def tokens(self, start: int, stop: int) -> Sequence[int]:
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

    @property
    def page_array(self) -> Any:
        """Its pages, as inputs of steps have them."""
        if self._arrayed is not self.pages or len(self._page_array) != len(self.pages):
            self._arrayed, self._page_array = self.pages, np.array(self.pages, np.int32)
        return self._page_array

    @property
    def tokens_left(self) -> int:
        """The most tokens that it may still generate."""
        return min(self.params.max_new_tokens - len(self.generated), self.max_length - self.length)

    def page_keys(self, count: int) -> Sequence[bytes]:
        """The keys of its first pages, all of them full."""
        while len(self.keys) < count:
            start = len(self.keys) * PAGE
            self.keys.append(next_key(self.key_before(len(self.keys)), self.tokens(start, start + PAGE)))
        return self.keys[:count]

    def key_before(self, page: int) -> bytes:
        """The key of all tokens before one of its pages."""
        return self.page_keys(page)[-1] if page else first_key(self.salt or "")

    # As text.

    def push(self, token: int) -> None:
        """Takes a sampled token, and finishes where it is the last."""
        self.generated.append(token)
        matcher = self.matcher
        if matcher is not None:
            matcher.accept(token)
        if token in self.end_tokens:
            self._close("stop")
            return
        text, is_stopped = self._stops.push("" if self.detokenizer is None else self.detokenizer.push(token))
        self._text.append(text)
        generated = len(self.generated)
        if is_stopped:
            self.finish = "stop"
        elif matcher is not None and matcher.is_finished:
            self._close("stop")
        elif generated >= self.params.max_new_tokens or len(self.prompt) + generated >= self.max_length:
            self._close("length")

    def cancel(self) -> None:
        """Finishes it early."""
        if self.finish is None:
            self._close("cancelled")

    def fail(self, error: BaseException) -> None:
        """Finishes it with an error, which its caller receives."""
        self.failure, self.finish = error, "cancelled"

    def _close(self, finish: Finish) -> None:
        rest = "" if self.detokenizer is None else self.detokenizer.finish()
        text, is_stopped = self._stops.push(rest)
        self._text += [text] if is_stopped else [text, self._stops.finish()]
        self.finish = "stop" if is_stopped else finish

    def chunk(self) -> Chunk | None:
        """What is new since the last chunk, if anything is. Its text is empty while a character is incomplete."""
        tokens, known = self.generated, self._streamed_tokens
        if len(tokens) == known and self.finish is None:
            return None
        new = "".join(self._text[self._streamed_text :])
        self._streamed_text, self._streamed_tokens = len(self._text), len(tokens)
        return Chunk(new, tuple(tokens[known:]), self.finish, tuple(self.logprobs[known:]))

    def deliver(self) -> None:
        """Hands over what is new, and that it is finished if it is."""
        if self.on_chunk is not None and (chunk := self.chunk()) is not None:
            self.on_chunk(chunk)
        if self.finish is not None and self.on_finish is not None:
            self.on_finish(self)

    def completion(self) -> Completion:
        """All of it."""
        assert self.finish is not None
        return Completion(
            "".join(self._text), tuple(self.generated), self.prompt, self.finish, tuple(self.logprobs),
            self.cached_tokens, max(self.first_token - self.started, 0.0), max(self.last_token - self.first_token, 0.0),
        )  # fmt: skip


def end_tokens(params: SamplingParams, eos: Sequence[int]) -> frozenset[int]:
    """The tokens that end a request: those of the model, unless they are to be ignored, and those asked for."""
    return frozenset(params.stop_token_ids) | (frozenset() if params.ignore_eos else frozenset(eos))
