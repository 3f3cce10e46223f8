"""Sampling at the end of a step, and the tables on the device that penalties go by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import tileproof as tp
from tileproof.language.dtypes import F32, I32, U8

from ..models.config import ModelConfig
from ..request import Request
from .ir import Buffer, Inputs, Step
from .ops import Advance, CountTokens, Greedy, MaskLogits, Penalize, Sample


class Penalties:
    """A row for each request that has penalties. The tables are made when the first one comes."""

    def __init__(self, config: ModelConfig, device: str, max_requests: int) -> None:
        self._shape = max_requests, config.vocab_size
        self._device = device
        self._free = list(range(max_requests))
        self._tables: tuple[Any, Any, Any] | None = None

    @property
    def tables(self) -> tuple[Any, Any, Any]:
        """Which tokens the prompt has, how often each was generated, and what is added to its logit."""
        if self._tables is None:
            prompt, counts, bias = (tp.zeros(self._shape, dtype, self._device) for dtype in (U8, I32, F32))
            self._tables = prompt, counts, bias
        return self._tables

    def begin(self, request: Request) -> None:
        """Gives a request its row, unless it has one or needs none."""
        if request.penalty_row >= 0 or not request.has_penalties:
            return
        request.penalty_row = self._free.pop(0)
        prompt = np.zeros(self._shape[1], np.uint8)
        prompt[list(request.prompt)] = 1
        bias = np.zeros(self._shape[1], np.float32)
        for token, amount in request.params.logit_bias.items():
            bias[token] = amount
        counts = np.bincount(request.generated, minlength=self._shape[1]).astype(np.int32)
        for table, row in zip(self.tables, (prompt, counts, bias), strict=True):
            tp.copy(table[request.penalty_row], row)  # after the steps that were begun

    def restart(self, requests: Iterable[Request]) -> None:
        """Takes all rows back: these, which are all there are, begin anew."""
        self._free = list(range(self._shape[0]))
        for request in requests:
            request.penalty_row = -1

    def end(self, request: Request) -> None:
        """Takes its row back."""
        if request.penalty_row >= 0:
            self._free.append(request.penalty_row)
            request.penalty_row = -1


def add_sampling(
    step: Step, logits: Buffer, config: ModelConfig, inputs: Inputs, penalties: Penalties, decode_step: int = 0
) -> Buffer:
    """Appends the sampling of a token for each sequence, and, in a decode step, its way to the next one."""
    kind, vocabulary = step.kind, config.tokens
    sampled = Buffer((kind.sequences,), I32, is_output=True)
    if kind.has_penalties:
        prompt, counts, bias = penalties.tables
        logits = step.add(Penalize(
            out=Buffer(logits.shape, F32), logits=logits, prompt=prompt, counts=counts, bias=bias,
            repetition=inputs.repetition, presence=inputs.presence, frequency=inputs.frequency,
            rows=inputs.penalty_rows,
        )).out  # fmt: skip
    if kind.has_masks:
        assert kind.decode_steps <= 1, "the mask of the next token depends on this one"
        logits = step.add(MaskLogits(
            out=Buffer(logits.shape, F32), logits=logits, masks=inputs.masks, rows=inputs.mask_rows
        )).out  # fmt: skip
    if kind.sampling == "sample":
        step.add(Sample(
            out=sampled, logits=logits, seed=inputs.seed, draw=inputs.draw, temperature=inputs.temperature,
            top_k=inputs.top_k, top_p=inputs.top_p, min_p=inputs.min_p, vocabulary=vocabulary,
        ))  # fmt: skip
    else:
        step.add(Greedy(out=sampled, logits=logits, vocabulary=vocabulary))
    if kind.has_penalties:
        step.add(CountTokens(sampled=sampled, counts=penalties.tables[1], rows=inputs.penalty_rows))
    if kind.decode_steps:
        step.add(Advance(sampled=sampled, inputs=inputs, sampled_ids=inputs.sampled_ids[decode_step]))
    return sampled
