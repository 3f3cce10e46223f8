"""Grammars of requests, compiled: tried in a child process first, and remembered."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..errors import ModelError
from ..tokenizer.text import Text
from .grammar import FreeText, Grammar
from .guidance import Matcher, Vocabulary, compiled, demand_package, tokenizer_of
from .trial import Trial

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLTokenizer

MOST_ENTRIES: Final = 256
MOST_BYTES: Final = 256 << 20
"""Of all grammars that are remembered together."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A grammar that is remembered: compiled, or why it cannot be."""

    outcome: LLMatcher | ModelError
    nbytes: int


class GrammarCompiler:
    """Compiles the grammars of requests to one model. Any thread may call it, best one that no step waits for.

    Example:
        compiler = GrammarCompiler(text, config.vocab_size, text.eos)
        matcher = compiler.matcher(Grammar.regex("[a-z]+"))
    """

    def __init__(self, text: Text, vocab_size: int, eos: Iterable[int]) -> None:
        """Masks have a bit for each of `vocab_size` logits, in whole words. `eos` are the tokens that end an output.

        Nothing is made before the first grammar, or `warm_up`.
        """
        demand_package()
        self._text, self._vocab_size, self._eos = text, vocab_size, tuple(eos)
        self._known: OrderedDict[Grammar, _Entry] = OrderedDict()
        self._lock, self._compiling = threading.Lock(), threading.Lock()
        self._parts: tuple[Vocabulary, LLTokenizer, Trial] | None = None

    def warm_up(self) -> None:
        """Makes what all grammars need: about 0.2 s for 49,152 tokens, and 0.5 s until the child process is ready."""
        with self._compiling:
            self._prepared()[2].start()

    def matcher(self, grammar: Grammar, after: FreeText | None = None) -> Matcher:
        """A matcher for one request; ModelError where the grammar cannot be used. The first one compiles the grammar.

        With `after`, the output follows it after that text.
        """
        outcome = self._remembered(grammar)
        if outcome is None:
            with self._compiling:
                outcome = self._remembered(grammar) or self._compile(grammar)
        if isinstance(outcome, ModelError):
            raise outcome
        assert self._parts is not None
        if after is None or not after.begin:
            return Matcher(grammar, outcome, self._parts[0], "" if after is None else after.end)
        tokens = self._text.encode(after.begin, start=False)
        return Matcher(grammar, outcome, self._parts[0], *((after.end, tokens[0]) if len(tokens) == 1 else ()))

    def close(self) -> None:
        """Ends the child process."""
        with self._compiling:
            if self._parts is not None:
                self._parts[2].close()

    def _prepared(self) -> tuple[Vocabulary, LLTokenizer, Trial]:
        if self._parts is None:
            vocabulary = Vocabulary.of(self._text, self._vocab_size, self._eos)
            tokenizer = tokenizer_of(vocabulary, lambda text: self._text.encode(text, special=False, start=False))
            self._parts = vocabulary, tokenizer, Trial(vocabulary)
        return self._parts

    def _remembered(self, grammar: Grammar) -> LLMatcher | ModelError | None:
        """A copy of what is remembered."""
        with self._lock:
            entry = self._known.get(grammar)
            if entry is None:
                return None
            self._known.move_to_end(grammar)
            return entry.outcome if isinstance(entry.outcome, ModelError) else entry.outcome.deep_copy()

    def _compile(self, grammar: Grammar) -> LLMatcher | ModelError:
        _, tokenizer, trial = self._prepared()
        try:
            passed = trial.run(grammar)
            first = compiled(tokenizer, passed.text)
            first.compute_bitmask()  # the first mask may take longer than all others, and copies inherit what it found
            entry = _Entry(first, passed.nbytes)
        except ModelError as error:
            entry = _Entry(error, len(grammar.text))
        with self._lock:
            self._known[grammar] = entry
            while len(self._known) > MOST_ENTRIES or sum(each.nbytes for each in self._known.values()) > MOST_BYTES:
                self._known.popitem(last=False)
            return entry.outcome if isinstance(entry.outcome, ModelError) else entry.outcome.deep_copy()
