"""Generating one completion, with its figures, and separating thinking from answer."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator, Sequence
from contextlib import closing
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from tileproof.llm import Chunk, SamplingParams, TokenLogprob

from .figures import Figures, bytes_per_token

if TYPE_CHECKING:
    from tileproof.llm import LLM
    from tileproof.llm.sampling import Finish

class Interrupts:
    """Records Ctrl-C and raises it, so that a loop which it did not end can check."""

    def __init__(self) -> None:
        self._is_asked = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self._is_asked = True
        raise KeyboardInterrupt

    def check(self) -> None:
        """Raises it again if it was lost."""
        if self._is_asked:
            raise KeyboardInterrupt


Part = Literal["thinking", "answer"]
_OPEN, _CLOSE = "<think>", "</think>"


class Answer:
    """A completion that is streamed. Its figures are right also when it is stopped early."""

    def __init__(self, llm: LLM, prompt: Sequence[int], params: SamplingParams) -> None:
        self._llm, self._prompt, self._params = llm, list(prompt), params
        self.text = ""
        self.tokens: list[int] = []
        self.logprobs: list[TokenLogprob] = []
        self.finish: Finish = "cancelled"
        self._request = llm.request(self._prompt, params)
        self._first_tokens = 1

    def stream(self) -> Generator[str]:
        """Pieces of the text. Closing it cancels the request."""
        chunks = cast("Generator[Chunk]", self._llm.chunks(self._request))
        with Interrupts() as interrupts, closing(chunks):
            for chunk in chunks:
                interrupts.check()
                if chunk.tokens and not self.tokens:
                    self._first_tokens = len(chunk.tokens)
                self.tokens += chunk.tokens
                self.logprobs += chunk.logprobs
                self.text += chunk.text
                self.finish = chunk.finish or self.finish
                if chunk.text:
                    yield chunk.text

    def figures(self, read_rate: float | None = None) -> Figures:
        """What was measured so far."""
        llm, generated = self._llm, len(self.tokens)
        context = len(self._prompt) + generated / 2
        request = self._request
        before, first, last = request.compile_seconds
        prefill, decode = request.first_token - request.arrived, request.last_token - request.first_token
        return Figures(
            len(self._prompt), generated, prefill - (first - before), decode - (last - first),
            bytes_per_token(llm.config, llm.weights.streamed, context), last - before, self._first_tokens, read_rate,
        )  # fmt: skip


class Thoughts:
    """Separates thinking from answer in pieces of a text: what is between <think> and </think>, which are left out."""

    def __init__(self, *, inside: bool = False) -> None:
        self._part: Part = "thinking" if inside else "answer"
        self._pending = ""
        self._last: Part | None = None

    def push(self, piece: str) -> list[tuple[Part, str]]:
        """The parts in this piece. What may be the beginning of a mark is held back."""
        self._pending += piece
        parts: list[tuple[Part, str]] = []
        while True:
            mark = _CLOSE if self._part == "thinking" else _OPEN
            before, matched, after = self._pending.partition(mark)
            if matched:
                parts.append((self._part, before))
                self._part, self._pending = ("answer" if mark is _CLOSE else "thinking"), after
                continue
            kept = next((n for n in range(len(mark) - 1, 0, -1) if self._pending.endswith(mark[:n])), 0)
            free = len(self._pending) - kept
            parts.append((self._part, self._pending[:free]))
            self._pending = self._pending[free:]
            return self._trimmed(parts)

    def finish(self) -> list[tuple[Part, str]]:
        """What was held back, once the text is done."""
        left, self._pending = self._pending, ""
        return self._trimmed([(self._part, left)])

    def _trimmed(self, parts: list[tuple[Part, str]]) -> list[tuple[Part, str]]:
        """Without empty pieces and the white space before a part's first word."""
        trimmed = []
        for part, text in parts:
            visible = text if part == self._last else text.lstrip()
            if visible:
                self._last = part
                trimmed.append((part, visible))
        return trimmed


def begins_thinking(llm: LLM, prompt: Sequence[int]) -> bool:
    """Whether a prompt has opened the thinking already, as templates of models that always think do."""
    ending = llm.text.decode(list(prompt[-4:]), special=True)
    return ending.rstrip().endswith(_OPEN)
