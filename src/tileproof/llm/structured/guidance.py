"""Grammars compiled and followed by llguidance. No other file knows that package.

llguidance bounds the work of a grammar by counts, which this file sets. They do not bound everything: a JSON schema of
40 characters (`multipleOf`) compiles for minutes, and a grammar of 20,000 rules that lead to one another overflows the
stack. So only grammars that `trial` compiled in a child process are compiled here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tileproof.diagnostics.codes import Code

from ..errors import ModelError, refused
from ..tokenizer.text import Text
from .grammar import Grammar, unusable

if TYPE_CHECKING:
    from llguidance import LLExecutor, LLMatcher, LLParserLimits, LLTokenizer

TRIAL_STEPS: Final = 8
"""Tokens that a grammar is followed for before it is accepted."""


def demand_package() -> None:
    """Rejects structured output where llguidance is not installed."""
    if find_spec("llguidance") is None:
        cure = "install it: pip install 'tileproof[serve]'"
        raise refused(Code.MISSING_PACKAGE, "the package llguidance is not installed", cure)


@cache
def _limits() -> LLParserLimits:
    """What a grammar may take. A state of the lexer is up to 2 kB; a string of n characters takes n states or more."""
    from llguidance import LLParserLimits

    return LLParserLimits(
        max_items_in_row=2_000, initial_lexer_fuel=1_000_000, step_lexer_fuel=100_000, step_max_items=50_000,
        max_lexer_states=32_768, max_grammar_size=200_000, verbose_errors=False,
    )  # fmt: skip


# Tokens.


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The bytes of every token, as far as the logits of a model reach."""

    tokens: tuple[bytes, ...]
    """Empty for an id that is no token. Of a special token, its name."""
    special: tuple[int, ...]
    """Tokens that are not text, also where a text spells their names."""
    eos: tuple[int, ...]
    """The tokens that end an output, at least one."""

    @classmethod
    def of(cls, text: Text, vocab_size: int, eos: Iterable[int]) -> Vocabulary:
        """That of a tokenizer."""
        ends = tuple(dict.fromkeys(token for token in eos if 0 <= token < vocab_size))
        if not ends:
            cure = "use a model whose tokenizer names its eos token"
            raise refused(Code.GRAMMAR, f"{text.name} has no token that ends an output", cure)
        tokens, special = [b""] * vocab_size, []
        for token in range(min(text.tokens, vocab_size)):
            tokens[token] = text.piece(token)
            if not tokens[token] and (name := text.token(token)):
                tokens[token] = name.encode()
                special.append(token)
        return cls(tuple(tokens), tuple(special), ends)

    @property
    def words(self) -> int:
        """32-bit words of a mask."""
        return -(-len(self.tokens) // 32)


class _Tokens:
    """What llguidance asks of a tokenizer."""

    is_tokenizer_wrapper = True
    bos_token_id = None

    def __init__(self, vocabulary: Vocabulary, encode: Callable[[str], list[int]] | None) -> None:
        self.tokens, self.special_token_ids = list(vocabulary.tokens), list(vocabulary.special)
        self.eos_token_id = vocabulary.eos[0]
        self.by_length: Callable[[str], list[int]] = lambda text: []
        """Tokens of a text, the longest first."""
        self._encode = encode
        self._forced = 4 * max(256, *map(len, self.tokens))  # llguidance leaves out less than two tokens at the end

    def __call__(self, text: str) -> list[int]:
        """Tokens of the beginning of a text that a grammar forces.

        A mask takes the first of them, and the next mask asks again: to encode all of a long text each time would
        hold up every request. Some tokenizers put a space in front of a text. A control character before it takes
        that, and merges with nothing. llguidance panics at an exception, and relies on the bytes of the tokens.
        """
        head, encode = text[: self._forced], self._encode
        for before in ("", "\x02"):
            if encode is None:
                break
            try:
                tokens = encode(before + head)[len(encode(before)) if before else 0 :]
            except ModelError:
                break
            if b"".join(self.tokens[token] for token in tokens) == head.encode():
                return tokens
        return self.by_length(head)


def tokenizer_of(vocabulary: Vocabulary, encode: Callable[[str], list[int]] | None = None) -> LLTokenizer:
    """The tokenizer of llguidance. Text that a grammar forces becomes the tokens that `encode` gives it."""
    from llguidance import LLTokenizer

    tokens: Any = _Tokens(vocabulary, encode)
    tokenizer = LLTokenizer(tokens, eos_token=list(vocabulary.eos))
    tokens.by_length = tokenizer.greedy_tokenize
    return tokenizer


# Grammars.


def serialized(grammar: Grammar) -> str:
    """A grammar in the words of llguidance."""
    from llguidance import LLMatcher, grammar_from

    match grammar.kind:
        case "JSON schema":
            return LLMatcher.grammar_from_json_schema(grammar.text)
        case "regex" | "choice":
            return LLMatcher.grammar_from_regex(grammar.text)
        case "grammar":
            return grammar_from("gbnf" if grammar.is_gbnf else "lark", grammar.text)


def compiled(tokenizer: LLTokenizer, text: str) -> LLMatcher:
    """A grammar in those words, compiled; ValueError where it cannot be."""
    from llguidance import LLMatcher

    matcher = LLMatcher(tokenizer, text, log_level=0, limits=_limits())
    if matcher.is_error():
        raise ValueError(_reason(matcher))
    return matcher


def follow(matcher: LLMatcher) -> None:
    """Follows a grammar for some tokens, drawn among those it allows; ValueError where it leads nowhere."""
    draw = np.random.default_rng(0)
    for _ in range(TRIAL_STEPS):
        mask = np.frombuffer(matcher.compute_bitmask(), np.uint8)
        if matcher.is_error():
            raise ValueError(_reason(matcher))
        if matcher.is_stopped():
            return
        if not matcher.consume_token(int(draw.choice(np.flatnonzero(np.unpackbits(mask, bitorder="little"))))):
            raise ValueError(_reason(matcher))


def _reason(matcher: LLMatcher) -> str:
    """Why a matcher failed."""
    why = matcher.get_error().replace("<non-verbose/>", "").strip()
    return "nothing matches it" if why == "NoExtensionBias" else why


# Requests.


class Matcher:
    """Follows the output of one request, and gives the tokens that may come next. One thread uses it at a time."""

    def __init__(
        self, grammar: Grammar, matcher: LLMatcher, vocabulary: Vocabulary, after: str = "", opening: int | None = None
    ) -> None:
        """Follows the output from its first token on, or, where `after` is a text, from the token that completes it.

        With a token `opening` only an output that begins with it is free until then.
        """
        self._grammar, self._matcher, self._vocabulary, self._after = grammar, matcher, vocabulary, after.encode()
        self._before: list[bytes] = []
        """The tokens before the grammar begins."""
        self._opening, self._followed = opening, 0
        self._is_waiting = bool(after) and opening is None

    def mask(self, row: Any) -> None:
        """Writes bit v % 32 of word v // 32 for each token v: 1 where it may come next.

        `row` is i32, with as many words as the logits need. A finished output allows its end tokens alone.
        """
        (failure,) = fill_masks({0: self}, row[None]).values() or (None,)
        if failure is not None:
            raise failure

    def accept(self, token: int) -> bool:
        """Takes the next token; False, and nothing changes, where the grammar does not allow it."""
        if self._is_waiting:
            self._before.append(self._vocabulary.tokens[token])
            recent = b"".join(self._before[-len(self._after) :])  # a token without bytes counts for nothing
            self._is_waiting = self._after not in recent
            return True
        if self._matcher.is_stopped() and not self._matcher.is_error():
            return token in self._vocabulary.eos
        may_open = self._may_open
        is_taken = self._matcher.try_consume_tokens([token]) == 1
        if not is_taken and may_open and token == self._opening:
            self._before, self._is_waiting = [b""], True
            return True
        if (failure := self.failure) is not None:
            raise failure
        self._followed += is_taken
        return is_taken

    def rollback(self, count: int) -> None:
        """Takes back the last tokens, of which all were accepted."""
        back = min(count, self._followed)
        self._matcher.rollback(back)
        if (failure := self.failure) is not None:
            raise failure
        self._followed -= back
        if count > back:
            del self._before[back - count :]
            self._is_waiting = self._opening is None or bool(self._before)

    @property
    def _may_open(self) -> bool:
        """Whether the next token may be the one that begins free text."""
        return self._opening is not None and not self._before and not self._followed

    @property
    def is_finished(self) -> bool:
        """Whether nothing but an end token can follow."""
        return not self._is_waiting and self._matcher.is_stopped()

    @property
    def is_complete(self) -> bool:
        """Whether the output may end here."""
        return not self._is_waiting and self._matcher.is_accepting()

    @property
    def failure(self) -> ModelError | None:
        """Why it cannot go on: a limit, or a dead end of the grammar."""
        return unusable(self._grammar.kind, _reason(self._matcher)) if self._matcher.is_error() else None


@cache
def _threads() -> LLExecutor:
    from llguidance import LLExecutor

    return LLExecutor(max(1, min(8, (os.cpu_count() or 1) // 2)))


def fill_masks(matchers: Mapping[int, Matcher], table: Any) -> dict[int, ModelError]:
    """Writes the mask of each matcher to its row of a table, (rows, words) i32; returns the failures by row.

    Several matchers work at the same time, on threads that do not hold the interpreter.
    """
    if not matchers:
        return {}
    words = next(iter(matchers.values()))._vocabulary.words
    rows, width = table.shape
    if table.dtype != np.int32 or not table.flags.c_contiguous or width != words or max(matchers) >= rows:
        raise ValueError(f"a table for these masks is ({1 + max(matchers)}, {words}), i32 and contiguous")
    table[[row for row, matcher in matchers.items() if matcher._is_waiting]] = -1
    work = [(matcher._matcher, row) for row, matcher in matchers.items() if not matcher._is_waiting]
    if work:
        _threads().unsafe_compute_mask_ptr(work, table.ctypes.data, 4 * words, rows)
    for row, matcher in matchers.items():
        if matcher._may_open and matcher._opening is not None:
            table.view(np.uint32)[row, matcher._opening // 32] |= np.uint32(1 << matcher._opening % 32)
    return {row: failure for row, matcher in matchers.items() if (failure := matcher.failure) is not None}
