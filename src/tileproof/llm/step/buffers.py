"""Memory of a step: its inputs, the cache, and its buffers, of which those that are never in use together share it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

import tileproof as tp
from tileproof.language.dtypes import F32, I32, I64, DType

from .ir import Buffer, Inputs, Op, StepClass
from .ops import LayerCache

_ALIGNED = 256
"""Bytes that every buffer begins at a multiple of."""
_STORAGE = {I32: np.int32, I64: np.int64, F32: np.float32}


@dataclass(frozen=True, slots=True)
class KVCache:
    """Keys and values of all tokens so far, and the cos/sin table of their positions."""

    all_keys: Any
    """(layers, pages, num_kv_heads, PAGE, head_dim): one tensor, so that one launch appends to all layers."""
    all_values: Any
    cos: Any
    sin: Any

    def layer(self, number: int) -> LayerCache:
        """That of one layer."""
        return LayerCache(keys=self.all_keys[number], values=self.all_values[number])

    @property
    def all_layers(self) -> LayerCache:
        return LayerCache(keys=self.all_keys, values=self.all_values)

    @property
    def keys(self) -> tuple[Any, ...]:
        """Of each layer."""
        return tuple(self.all_keys[layer] for layer in range(self.all_keys.shape[0]))

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(self.all_values[layer] for layer in range(self.all_values.shape[0]))

    @property
    def nbytes(self) -> int:
        size: int = self.all_keys.nbytes + self.all_values.nbytes
        return size


# Inputs.


def input_shapes(kind: StepClass) -> Iterator[tuple[str, DType, tuple[int, ...], float]]:
    """The inputs of a step of a class: name, element type, shape, and the value of rows that are not there."""
    rows, sequences = kind.rows, kind.sequences
    yield "tokens", I32, (rows,), 0
    yield "positions", I32, (rows,), 0
    yield "slot_mapping", I32, (rows,), -1
    yield "block_table", I32, (sequences, kind.pages), -1
    yield "context_lens", I32, (sequences,), 0
    if not kind.is_decode:
        yield "query_blocks", I32, (kind.blocks, kind.block), -1
        yield "query_block_sequences", I32, (kind.blocks,), -1
    if not kind.is_decode and kind.sampling != "none":
        yield "output_rows", I32, (kind.outputs,), 0
    if kind.sampling == "sample":
        yield "top_k", I32, (sequences,), 0
        yield "seed", I64, (sequences,), 0
    if kind.sampling == "sample" or kind.decode_steps:
        yield "draw", I64, (sequences,), 0
    if kind.sampling == "sample":
        yield "temperature", F32, (sequences,), 0
        yield "top_p", F32, (sequences,), 1
        yield "min_p", F32, (sequences,), 0
    if kind.has_penalties:
        yield "penalty_rows", I32, (sequences,), -1
        yield "repetition", F32, (sequences,), 1
        yield "presence", F32, (sequences,), 0
        yield "frequency", F32, (sequences,), 0
    if kind.has_masks:
        yield "mask_rows", I32, (sequences,), -1


class InputBuffers:
    """The inputs of one class of steps: one array of each element type, copied as a whole, and views into them.

    On a CPU the sampled tokens of a decode step lie in an array of the host: who replays the step waits for it, and
    reads them there. Masks are much larger than all else, and most of their rows unused: they lie apart.
    """

    def __init__(self, kind: StepClass, device: str, vocab_size: int) -> None:
        self._is_on_host = device == "cpu"
        self._pairs: list[tuple[Any, Any]] = []
        self._blank: list[Any] = []
        host: dict[str, Any] = {}
        tensors: dict[str, Any] = {}
        shapes = list(input_shapes(kind))
        for dtype, storage in _STORAGE.items():
            same = [each for each in shapes if each[1] == dtype]
            lengths = [-(-prod(shape) // 32) * 32 for _, _, shape, _ in same]  # so that every view is aligned
            if not same:
                continue
            array, tensor = np.zeros(sum(lengths), storage), tp.zeros(sum(lengths), dtype, device)
            at = 0
            for (name, _, shape, blank), length in zip(same, lengths, strict=True):
                host[name] = array[at : at + prod(shape)].reshape(shape)
                host[name][...] = blank
                tensors[name] = tensor[at : at + prod(shape)].reshape(*shape)
                at += length
            self._pairs.append((array, tensor))
            self._blank.append(array.copy())
        if kind.decode_steps:
            sampled = host["sampled_ids"] = np.full((kind.decode_steps, kind.sequences), -1, np.int32)
            tensors["sampled_ids"] = tp.asarray(sampled) if self._is_on_host else tp.zeros(sampled.shape, I32, device)
        if kind.has_masks:
            masks = host["masks"] = np.zeros((kind.sequences, -(-vocab_size // 32)), np.int32)
            tensors["masks"] = tp.zeros(masks.shape, I32, device)
        self.host, self.device = Inputs(**host), Inputs(**tensors)
        self.send()

    def clear(self) -> None:
        """Makes every row and sequence one that is not there. Masks stay, and no sequence has one."""
        for (array, _), blank in zip(self._pairs, self._blank, strict=True):
            array[...] = blank

    def send(self) -> None:
        """Copies all to the device, after the steps that were begun there; of masks, those up to the last in use."""
        for array, tensor in self._pairs:
            self._copy(tensor, array)
        if self.host.masks is not None and (used := 1 + int(self.host.mask_rows.max())):
            self._copy(self.device.masks[:used], self.host.masks[:used])

    def _copy(self, tensor: Any, array: Any) -> None:
        if self._is_on_host:
            tensor.copy_from(array)
        else:
            tp.copy(tensor, array)

    def send_block_table(self) -> None:
        """The same of the block table alone."""
        tp.copy(self.device.block_table, self.host.block_table)


# Buffers.


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
    first: dict[Buffer, int] = {}
    last: dict[Buffer, int] = {}
    for number, op in enumerate(ops):
        for part in op.buffers:
            buffer = part.whole or part
            first.setdefault(buffer, number)
            last[buffer] = len(ops) if buffer.is_output else number
    return [Life(buffer, first[buffer], last[buffer]) for buffer in first]


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
    lengths = {dtype: max(at + life.elements for life, at in some) for dtype, some in placed.items()}
    parts = dict.fromkeys(buffer for op in ops for buffer in op.buffers if buffer.whole is not None)
    return Plan(tuple(each for placements in placed.values() for each in placements), lengths, tuple(parts))


class Arena:
    """The memory of all steps of an engine, of which one runs at a time. It grows, and frees nothing in use."""

    def __init__(self, device: str) -> None:
        self.device = device
        self._memory: dict[DType, Any] = {}

    @property
    def nbytes(self) -> int:
        return sum(memory.nbytes for memory in self._memory.values())

    def reserve(self, plan: Plan) -> None:
        """Makes room for a plan; steps that have memory keep theirs."""
        for dtype, length in plan.lengths.items():
            if dtype not in self._memory or self._memory[dtype].shape[0] < length:
                self._memory[dtype] = tp.zeros(length, dtype, self.device)

    def tensors(self, plan: Plan) -> dict[Buffer, Any]:
        """The tensor of each buffer of a plan."""
        self.reserve(plan)
        tensors: dict[Buffer, Any] = {}
        views: dict[tuple[DType, int, tuple[int, ...]], Any] = {}  # layers have theirs in the same places
        for life, at in plan.places:
            dtype, shape = life.buffer.dtype, life.buffer.shape
            if (dtype, at, shape) not in views:
                views[dtype, at, shape] = self._memory[dtype][at : at + prod(shape)].reshape(*shape)
            tensors[life.buffer] = views[dtype, at, shape]
        for part in plan.parts:
            assert part.whole is not None
            tensors[part] = tensors[part.whole][part.number]
        return tensors
