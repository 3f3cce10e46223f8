"""What the host tells a step: one array of integers and one of floats, copied as a whole, and views into them."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

import tileproof as tp
from tileproof.language.dtypes import F32, I32, I64, DType

from .ir import StepClass

_TYPES = {I32: np.int32, I64: np.int64, F32: np.float32}


def shapes_of(kind: StepClass) -> Iterator[tuple[str, DType, tuple[int, ...], float]]:
    """The inputs of a step of this class: name, element type, shape, and what stands where there is nothing."""
    rows, sequences = kind.rows, kind.sequences
    yield "tokens", I32, (rows,), 0
    yield "positions", I32, (rows,), 0
    yield "slots", I32, (rows,), -1  # where a row's keys and values go; -1: nowhere
    yield "table", I32, (sequences, kind.pages), -1
    yield "used", I32, (sequences,), 0  # places of the cache, with those of this step
    if not kind.is_decode:
        yield "blocks", I32, (kind.blocks, kind.block), -1
        yield "owners", I32, (kind.blocks,), -1
    if not kind.is_decode and kind.sampling != "none":
        yield "last", I32, (kind.outputs,), 0
    if kind.turns:
        yield "said", I32, (kind.turns, sequences), -1  # what was chosen, turn by turn: for the host
    if kind.sampling == "chance":
        yield "top_k", I32, (sequences,), 0
        yield "seed", I64, (sequences,), 0
    if kind.sampling == "chance" or kind.turns:
        yield "draw", I64, (sequences,), 0
    if kind.sampling == "chance":
        yield "temperature", F32, (sequences,), 0
        yield "top_p", F32, (sequences,), 1
        yield "min_p", F32, (sequences,), 0
    if kind.has_penalties:
        yield "places", I32, (sequences,), -1  # rows of the tables that penalties are counted in
        yield "repetition", F32, (sequences,), 1
        yield "presence", F32, (sequences,), 0
        yield "frequency", F32, (sequences,), 0


class Inputs:
    """The inputs of one class: arrays on the host to fill, tensors on the device that the step reads."""

    def __init__(self, kind: StepClass, device: str) -> None:
        self.host: dict[str, Any] = {}
        self.tensors: dict[str, Any] = {}
        self._pairs: list[tuple[Any, Any]] = []
        self._blank: list[Any] = []
        self._is_on_host = device == "cpu"
        shapes = list(shapes_of(kind))
        for dtype in _TYPES:
            mine = [each for each in shapes if each[1] == dtype]
            lengths = [-(-prod(shape) // 32) * 32 for _, _, shape, _ in mine]  # so that every view is aligned
            if not mine:
                continue
            host, tensor = np.zeros(sum(lengths), _TYPES[dtype]), tp.zeros(sum(lengths), dtype, device)
            at = 0
            for (name, _, shape, blank), length in zip(mine, lengths, strict=True):
                self.host[name] = host[at : at + prod(shape)].reshape(shape)
                self.host[name][...] = blank
                self.tensors[name] = tensor[at : at + prod(shape)].reshape(*shape)
                at += length
            self._pairs.append((host, tensor))
            self._blank.append(host.copy())
        self.send()

    def clear(self) -> None:
        """Makes every row and sequence one that is not there."""
        for (host, _), blank in zip(self._pairs, self._blank, strict=True):
            host[...] = blank

    def send(self) -> None:
        """Copies all to the device, behind what is under way there."""
        for host, tensor in self._pairs:
            if self._is_on_host:
                tensor.copy_from(host)
            else:
                tp.copy(tensor, host)
