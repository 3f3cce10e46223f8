"""Memory of a step: buffers that are never in use at the same time share it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import tileproof as tp
from tileproof.language.dtypes import DType

from .ir import Buffer, Op

_ALIGNED = 256
"""Bytes that every buffer begins at a multiple of."""


@dataclass(frozen=True, slots=True)
class Life:
    """A buffer, and the operations it is in use from and to."""

    buffer: Buffer
    first: int
    last: int

    @property
    def elements(self) -> int:
        """Its length in the arena."""
        step = _ALIGNED // (self.buffer.dtype.bits // 8)
        return -(-prod(self.buffer.shape) // step) * step


@dataclass(frozen=True, slots=True)
class Plan:
    """Where each buffer lies in the arena of its element type, and how long these arenas are."""

    places: tuple[tuple[Life, int], ...]
    lengths: dict[DType, int]
    parts: tuple[Buffer, ...] = ()
    """Buffers that lie in others."""

    @property
    def nbytes(self) -> int:
        return sum(length * dtype.bits // 8 for dtype, length in self.lengths.items())


def lives_of(ops: Sequence[Op]) -> list[Life]:
    """When each buffer is in use, with all its parts; outputs are from their writing to the end, and beyond."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    buffers: dict[int, Buffer] = {}
    for number, op in enumerate(ops):
        for part in _buffers(op):
            buffer = part.whole or part
            buffers[id(buffer)] = buffer
            first.setdefault(id(buffer), number)
            last[id(buffer)] = len(ops) if buffer.is_output else number
    return [Life(buffer, first[key], last[key]) for key, buffer in buffers.items()]


def _buffers(op: Op) -> tuple[Buffer, ...]:
    return *op.writes, *op.scratch, *op.reads


def planned(ops: Sequence[Op]) -> Plan:
    """Gives every buffer a place: the largest first, each at the lowest place where it meets no other."""
    placed: dict[DType, list[tuple[Life, int]]] = {}
    for life in sorted(lives_of(ops), key=lambda each: -each.elements):
        others = placed.setdefault(life.buffer.dtype, [])
        busy = sorted(
            (at, at + other.elements) for other, at in others if other.first <= life.last and life.first <= other.last
        )
        place = 0
        for start, end in busy:
            if place + life.elements <= start:
                break
            place = max(place, end)
        others.append((life, place))
    lengths = {dtype: max(at + life.elements for life, at in found) for dtype, found in placed.items()}
    parts = {id(buffer): buffer for op in ops for buffer in _buffers(op) if buffer.whole is not None}
    return Plan(tuple(each for found in placed.values() for each in found), lengths, tuple(parts.values()))


class Arena:
    """The memory of all steps of an engine, of which one runs at a time. It grows, and lets nothing go that is used."""

    def __init__(self, device: str) -> None:
        self.device = device
        self._memory: dict[DType, Any] = {}

    @property
    def nbytes(self) -> int:
        return sum(memory.nbytes for memory in self._memory.values())

    def reserve(self, plan: Plan) -> None:
        """Makes room for a plan; steps that were given memory before keep theirs."""
        for dtype, length in plan.lengths.items():
            if dtype not in self._memory or self._memory[dtype].shape[0] < length:
                self._memory[dtype] = tp.zeros(length, dtype, self.device)

    def tensors(self, plan: Plan) -> dict[int, Any]:
        """The tensor of each buffer of a plan, by the buffer's identity."""
        self.reserve(plan)
        found = {}
        made: dict[tuple[DType, int, tuple[int, ...]], Any] = {}  # layers have theirs in the same places
        for life, at in plan.places:
            dtype, shape = life.buffer.dtype, life.buffer.shape
            if (dtype, at, shape) not in made:
                made[dtype, at, shape] = self._memory[dtype][at : at + prod(shape)].reshape(*shape)
            found[id(life.buffer)] = made[dtype, at, shape]
        for part in plan.parts:
            found[id(part)] = found[id(part.whole)][part.number]
        return found
