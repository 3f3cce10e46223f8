"""A text as it is made: tokens become pieces of text, and are watched for its end."""

from __future__ import annotations

from collections.abc import Sequence as Several
from dataclasses import dataclass, field

from .request import Sequence
from .sampling import Chunk, Completion, Finish, SamplingParams
from .tokenizer.detokenizer import Detokeniser, StopStrings
from .tokenizer.text import Text


@dataclass(slots=True, eq=False)
class Generation:
    """A sequence and its text so far."""

    sequence: Sequence
    ends: frozenset[int]
    """Tokens that end the text."""
    room: int
    """The most tokens that it may have, prompt included."""
    detokeniser: Detokeniser | None
    """None where there is no tokenizer: then there is no text."""
    stops: StopStrings
    finish: Finish | None = None
    failure: Exception | None = None
    """Why it could not go on."""
    text: list[str] = field(default_factory=list)
    _told: int = 0
    """Characters and tokens that chunks have told of."""
    _shown: int = 0

    @classmethod
    def of(cls, sequence: Sequence, text: Text | None, ends: Several[int], room: int) -> Generation:
        """The text of a sequence that has not begun."""
        params = sequence.params
        detokeniser = None if text is None else Detokeniser(text)
        return cls(sequence, ends_of(params, ends), room, detokeniser, StopStrings(params.stop))

    def push(self, token: int) -> None:
        """A token was chosen."""
        params = self.sequence.params
        self.sequence.generated.append(token)
        if token in self.ends:
            self._close("stop")
            return
        safe, is_stopped = self.stops.push("" if self.detokeniser is None else self.detokeniser.push(token))
        self.text.append(safe)
        if is_stopped:
            self.finish = "stop"
        elif len(self.sequence.generated) >= params.max_new_tokens or self.sequence.length >= self.room:
            self._close("length")

    def cancel(self) -> None:
        """Nobody wants the rest."""
        if self.finish is None:
            self._close("cancelled")

    def fail(self, error: Exception) -> None:
        """It cannot go on."""
        self.failure, self.finish = error, "cancelled"

    def demand(self) -> None:
        """Tells its caller why it could not go on, if so."""
        if self.failure is not None:
            raise self.failure

    def _close(self, finish: Finish) -> None:
        rest = "" if self.detokeniser is None else self.detokeniser.finish()
        safe, is_stopped = self.stops.push(rest)
        self.text += [safe] if is_stopped else [safe, self.stops.finish()]
        self.finish = "stop" if is_stopped else finish

    def chunk(self) -> Chunk | None:
        """What is new since the last one, if anything is. Its text is empty while a character is under way."""
        tokens, known = self.sequence.generated, self._shown
        if len(tokens) == known and self.finish is None:
            return None
        text = "".join(self.text)
        new = text[self._told :]
        self._told, self._shown, self.text = len(text), len(tokens), [text]
        return Chunk(new, tuple(tokens[known:]), self.finish, tuple(self.sequence.logprobs[known:]))

    def completion(self) -> Completion:
        """All of it."""
        sequence = self.sequence
        assert self.finish is not None
        return Completion(
            "".join(self.text), tuple(sequence.generated), sequence.prompt, self.finish, tuple(sequence.logprobs),
            max(sequence.first - sequence.started, 0.0), max(sequence.last - sequence.first, 0.0),
        )  # fmt: skip


def ends_of(params: SamplingParams, ends: Several[int]) -> frozenset[int]:
    """The tokens that end a text: those of the model, unless they are to be ignored, and those asked for."""
    return frozenset(params.stop_token_ids) | (frozenset() if params.ignore_eos else frozenset(ends))
