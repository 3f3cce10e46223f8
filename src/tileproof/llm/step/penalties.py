"""What penalties go by: the tokens of each text and its biases, in tables on the device."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import tileproof as tp
from tileproof.language.dtypes import F32, I32, U8

from ..models.config import ModelConfig
from ..request import Sequence


class Penalties:
    """A row for each text that has penalties. The tables are made when the first one comes."""

    def __init__(self, config: ModelConfig, device: str, most: int) -> None:
        self._shape = most, config.vocab_size
        self._device = device
        self._free = list(range(most))
        self._tables: tuple[Any, Any, Any] | None = None

    @property
    def tables(self) -> tuple[Any, Any, Any]:
        """Which tokens the prompt has, how often each was generated, and what is added to its logit."""
        if self._tables is None:
            prompt, counts, bias = (tp.zeros(self._shape, dtype, self._device) for dtype in (U8, I32, F32))
            self._tables = prompt, counts, bias
        return self._tables

    def begin(self, sequence: Sequence) -> None:
        """Gives a text its row, unless it has one or needs none."""
        if sequence.place >= 0 or not sequence.params.has_penalties:
            return
        sequence.place = self._free.pop(0)
        seen = np.zeros(self._shape[1], np.uint8)
        seen[list(sequence.prompt)] = 1
        favour = np.zeros(self._shape[1], np.float32)
        for token, amount in sequence.params.logit_bias.items():
            favour[token] = amount
        counts = np.bincount(sequence.generated, minlength=self._shape[1]).astype(np.int32)
        for table, row in zip(self.tables, (seen, counts, favour), strict=True):
            tp.copy(table[sequence.place], row)  # behind what is under way

    def restart(self, sequences: Iterable[Sequence]) -> None:
        """Takes all rows back: these, which are all there are, begin anew."""
        self._free = list(range(self._shape[0]))
        for sequence in sequences:
            sequence.place = -1

    def end(self, sequence: Sequence) -> None:
        """Takes it back."""
        if sequence.place >= 0:
            self._free.append(sequence.place)
            sequence.place = -1
