"""Running steps: planned pieces become the inputs of a step of the right class, and its tokens come back."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable
from collections.abc import Sequence as Several
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tileproof.diagnostics.codes import Code

from ..errors import refused
from ..models.decoder import Decoder
from ..request import Sequence
from ..step.buffers import Arena
from ..step.capture import Captured, captured
from ..step.fusion import Fusion
from ..step.ir import PAGE, Sampling, StepClass
from ..step.penalties import Penalties
from .async_decode import Flight
from .scheduler import Piece

ROWS = 16, 32, 64, 128, 256, 512, 1024, 2048, 3072, 4096, 6144, 8192
"""Rows of steps with pieces of prompts."""
PAGES = 8, 32, 128, 512
"""Columns of the table of pages."""
PAGES_OF_TOKENS = 4, 8, 16, 32, 128, 512
"""The same of steps that make tokens on a GPU, where attention to a few pages is the shorter the fewer there may be."""


def bucket(size: int, sizes: Several[int], most: int) -> int:
    """The least of some sizes that will do; `most` is one of them."""
    at = bisect_left(sizes, size)
    return min(sizes[at], most) if at < len(sizes) else most


def power(size: int) -> int:
    """The least power of two that will do."""
    return 1 << (size - 1).bit_length()


def in_blocks(first: int, count: int, size: int) -> Any:
    """Rows that follow each other, so many in a block; -1 for those that the last block lacks."""
    named = np.full((-(-count // size), size), -1)
    named.reshape(-1)[:count] = np.arange(first, first + count)
    return named


@dataclass(slots=True)
class Runner:
    """The steps of one model, by class."""

    decoder: Decoder
    penalties: Penalties
    budget: int
    """Rows of a step."""
    pages: int
    """Pages of the longest sequence."""
    fusions: Several[Fusion]
    is_graph: bool = True
    is_ahead: bool = False
    """Whether steps that decode are begun before the tokens of the last one are read."""
    turns: int = 1
    """Tokens of each sequence that a run of such a step makes."""
    told: Callable[[str], None] | None = None
    """Is told when a step of a new class is made, which takes a while."""
    steps: dict[StepClass, Captured] = field(default_factory=dict)
    arena: Arena = field(init=False)
    count: int = 0
    """Steps that ran."""
    making: float = 0.0
    """Seconds that went into making steps: proofs and machine code, unless they are in the cache, and capture."""

    def __post_init__(self) -> None:
        self.arena = Arena(self.decoder.device)

    def kind_of(self, pieces: Several[Piece], sampling: Sampling, has_penalties: bool, turns: int = 0) -> StepClass:
        """The class of a step with these pieces."""
        rows, sequences = sum(piece.count for piece in pieces), power(len(pieces))
        longest = max(piece.stop for piece in pieces) + max(turns - 1, 0)
        is_decode = all(piece.count == 1 for piece in pieces) and sampling != "none"
        sizes = PAGES_OF_TOKENS if is_decode and self.decoder.device != "cpu" else PAGES
        pages = bucket(-(-longest // PAGE), sizes, self.pages)
        if is_decode:
            return StepClass(sequences, sequences, pages, True, sampling, has_penalties, turns=turns)
        rows = bucket(rows, ROWS, max(self.budget, rows))
        return StepClass(rows, sequences, pages, False, sampling, has_penalties, min(self._block, rows))

    @property
    def _block(self) -> int:
        """Rows of a block of attention: as many as fill the registers of a GPU together with the heads they have."""
        if self.decoder.device == "cpu":
            return 32
        return max(64 // power(self.decoder.config.queries_per_kv_head), 1)

    def captured(self, kind: StepClass) -> Captured:
        """The step of a class, made when it is first asked for."""
        if kind not in self.steps:
            if self.told is not None:
                self.told(f"compiling a step of {kind.rows} rows")
            began = time.perf_counter()
            self.steps[kind] = captured(
                self.decoder, self.penalties, kind, self.arena, self.fusions, is_graph=self.is_graph
            )
            self.making += time.perf_counter() - began
        return self.steps[kind]

    def run(self, pieces: Several[Piece]) -> tuple[Captured, Any]:
        """Runs a step; gives it, and a token for each piece (those of pieces that are not the last mean nothing)."""
        step = self.prepared(pieces)
        step.run()
        found = step.tokens.numpy()
        self.count += 1
        now = time.perf_counter()
        for piece in pieces:
            piece.sequence.computed = piece.stop
            piece.sequence.last = now
        return step, found[: len(pieces)]

    def flight(
        self, pieces: Several[Piece], longest: int, reserved: Callable[[Several[Sequence], int], int | None]
    ) -> Flight | None:
        """Begins to decode ahead, where these pieces allow it: nobody looks at logits in between.

        `reserved` gives sequences pages for so many tokens more, if there are any.
        """
        sequences = tuple(piece.sequence for piece in pieces)
        is_decode = bool(pieces) and all(piece.count == 1 and piece.is_last for piece in pieces)
        if not (is_decode and self.is_ahead) or any(each.params.logprobs is not None for each in sequences):
            return None
        room = min(min(each.params.max_new_tokens - len(each.generated), longest - each.length) for each in sequences)
        turns = self.turns if room >= self.turns else 1
        has_room = room > turns and reserved(sequences, turns) is not None
        flight = Flight(self.prepared(pieces, turns if has_room else 1), sequences, has_room)
        flight.begin()
        self.count += 1
        return flight

    def prepared(self, pieces: Several[Piece], turns: int = 0) -> Captured:
        """The step for some pieces, with its inputs filled."""
        params = [piece.sequence.params for piece in pieces]
        sampling: Sampling = "greedy" if all(each.temperature == 0 for each in params) else "chance"
        step = self.captured(self.kind_of(pieces, sampling, any(each.has_penalties for each in params), turns))
        self._fill(step, pieces)
        return step

    def logits(self, piece: Piece) -> Any:
        """Runs a step for the logits of all its rows."""
        step = self.captured(self.kind_of([piece], "none", False))
        self._fill(step, [piece])
        step.run()
        piece.sequence.computed = piece.stop
        return step.logits.numpy()[: piece.count, : self.decoder.config.tokens].copy()  # the next step writes there

    def _fill(self, step: Captured, pieces: Several[Piece]) -> None:
        """Writes the inputs of a step."""
        kind, host = step.kind, step.inputs.host
        step.inputs.clear()
        row = block = 0
        for number, piece in enumerate(pieces):
            rows = slice(row, row + piece.count)
            positions = np.arange(piece.start, piece.stop)
            pages = np.array(piece.sequence.pages)
            host["tokens"][rows] = piece.sequence.tokens(piece.start, piece.stop)
            host["positions"][rows] = positions
            host["slots"][rows] = pages[positions // PAGE] * PAGE + positions % PAGE
            # Pages behind the piece are for turns that follow; of a prompt they hold nothing yet, and are not named.
            held = pages[: kind.pages if kind.is_decode else -(-piece.stop // PAGE)]
            host["table"][number, : len(held)] = held
            host["used"][number] = piece.stop
            if not kind.is_decode:
                named = in_blocks(row, piece.count, kind.block)
                host["blocks"][block : block + len(named)] = named
                host["owners"][block : block + len(named)] = number
                block += len(named)
                if "last" in host:
                    host["last"][number] = row + piece.count - 1
            self._fill_settings(kind, host, number, piece)
            row += piece.count

    def _fill_settings(self, kind: StepClass, host: dict[str, Any], number: int, piece: Piece) -> None:
        sequence, params = piece.sequence, piece.sequence.params
        if "draw" in host:
            host["draw"][number] = len(sequence.generated)
        if kind.sampling == "chance":
            host["top_k"][number] = params.top_k
            host["seed"][number] = sequence.seed
            host["temperature"][number] = params.temperature
            host["top_p"][number] = params.top_p
            host["min_p"][number] = params.min_p
        if kind.has_penalties:
            host["places"][number] = sequence.place if piece.is_last else -1
            host["repetition"][number] = params.repetition_penalty
            host["presence"][number] = params.presence_penalty
            host["frequency"][number] = params.frequency_penalty


def demand_token(token: int) -> None:
    """A row without a token has no distribution: something in it is not a number."""
    if token < 0:
        raise refused(
            Code.MODEL_TENSOR,
            "the model computes no numbers (NaN) for this text",
            "look for broken weights, or overflow: load it without quantize",
        )
