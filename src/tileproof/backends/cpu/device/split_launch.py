"""Launches that are more than one job, or need Python in between: operands are packed before, shares combined after."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tileproof.backends.cpu.codegen.parameters import Shown, counts, sites_of
from tileproof.backends.interpreter import semantics
from tileproof.backends.parallel_space import place_count, segment_table
from tileproof.backends.scalars import scalar_word
from tileproof.ir import ops
from tileproof.ir.types import Tensor, Walker, number, size_of

from .loaded_code import NOBODY, Array, Loaded, is_row_by_row
from .pool import ARENAS, SPACES, Arena, Pool

_PRINT = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


def run(loaded: Loaded, arguments: Mapping[str, Any], dimensions: Mapping[str, int], pool: Pool) -> None:
    """Runs all programs of a kernel and waits for them."""
    _Launch(loaded, arguments, dimensions, pool).run()


def beginning_of(tensor: Tensor) -> Any:
    """What every element of a tensor that is combined into begins as, if not as what it is."""
    return semantics.identity(ops.BEGINS_AS[tensor.type.access], tensor.type.stored_as)


@dataclass
class _Launch:
    loaded: Loaded
    arguments: Mapping[str, Any]
    dimensions: Mapping[str, int]
    pool: Pool
    special: dict[object, int] = field(default_factory=dict)
    """Words that not only shapes decide."""
    kept: list[object] = field(default_factory=list)
    """What must live until the launch is done."""
    space: Arena | None = None
    """Where operands are packed beforehand."""

    def run(self) -> None:
        loaded = self.loaded
        code, places = loaded.code, loaded.words.places
        arrays = {tensor.name: self.arguments[tensor.name] for tensor in loaded.tensors}
        total = math.prod(self._places(walker) for walker in loaded.words.walkers)
        combined = self._combined(arrays, total)
        values = loaded.fixed_words(arrays, self.dimensions)
        for key, value in self.special.items():
            values[places[key]] = value
        record = np.array([0, NOBODY, 0, 0, 0, 0], np.uint64)
        values[places["record"]] = record.ctypes.data
        values[places["programs"]] = total
        for name, array in arrays.items():
            values[places[name, "pointer"]] = array.__array_interface__["data"][0]
        for scalar in loaded.scalars:
            values[places[scalar.name]] = scalar_word(scalar.type.dtype, self.arguments[scalar.name])
        printer = _PRINT(self._print) if code.is_ordered else None
        if printer is not None:
            values[places["printer"]] = ctypes.cast(printer, ctypes.c_void_p).value or 0
        if code.has_after:
            values[places["space"]] = self._space(code.piece * total)
        jobs = self._packing(values)
        packed = (ctypes.c_uint64 * len(values))(*values)
        address, scratch = ctypes.addressof(packed), ARENAS.take(code.arena)
        self._require(address, scratch)
        if total:
            for job, items in jobs:
                self._job(job, address, items, scratch)
            shares = values[places["shares"]]
            self._job(loaded.main, address, shares if combined else total, scratch)
            if code.has_after:
                pieces = next(w for w in loaded.words.walkers if w.type.is_piece)
                joins = total // self._places(pieces)
                self._job(loaded.after, address, shares if loaded.words.combines_after else joins, scratch)
        ARENAS.give(scratch)
        if self.space is not None:
            SPACES.give(self.space)
        for tensor, target, parts in combined:
            _combine(tensor, target, parts)
        if record[1] != NOBODY:
            raise loaded.failure([int(word) for word in record], self.dimensions, self._by_tensor())

    def _packing(self, values: list[int]) -> list[tuple[int, int]]:
        """Makes room for operands that are packed beforehand; the jobs that pack them."""
        jobs, amount, places = [], 0, []
        for (place, size), job in zip(self.loaded.code.packs, self.loaded.packing, strict=True):
            candidate = self.loaded.lowered.packable[place]
            items = math.prod(counts(candidate, self.arguments[candidate.load.tensor.name].shape))
            places.append((place, amount))
            amount += items * size
            jobs.append((job, items))
        if jobs:
            self.space = SPACES.take(amount)
            for place, begin in places:
                values[self.loaded.words.places["packed", place]] = self.space.address + begin
        return jobs

    def _require(self, address: int, scratch: Arena) -> None:
        """Tests the contracts, before anything is written."""
        broken = self.loaded.setup(address, scratch.address) if self.loaded.has_setup else 0
        if broken:
            required = [op for op in self.loaded.kernel.body.ops if isinstance(op, ops.Require)]
            report = self.loaded.report(self.dimensions, self._by_tensor())
            raise report.broken_contract(required[broken - 1].span)

    def _by_tensor(self) -> dict[Tensor, Array]:
        return {tensor: self.arguments[tensor.name] for tensor in self.loaded.tensors}

    def _job(self, code: int, address: int, total: int, scratch: Arena) -> None:
        chunk = total if self.loaded.code.is_ordered else self.pool.chunk(total)
        self.pool.run(code, address, total, chunk, self.loaded.code.arena, scratch)

    # Words.

    def _places(self, walker: Walker) -> int:
        """The number of places of a walker; of a ragged walk, counted once and kept as a table."""
        words = self.loaded.words
        if walker not in words.segments:
            return place_count(walker, self.dimensions)
        if (walker.name, "count") not in self.special:
            borders = np.asarray(self.arguments[words.segments[walker].offsets.name], np.int64)
            table = segment_table(borders, number(size_of(walker)))
            self.kept.append(table)
            self.special[walker.name, "table"] = table.ctypes.data
            self.special[walker.name, "count"] = len(table)
        return self.special[walker.name, "count"]

    def _combined(self, arrays: dict[str, Array], total: int) -> list[tuple[Tensor, Array, list[Array]]]:
        """The tensors that are combined into, each with its copies, the first of which programs are given."""
        shares = self.loaded.shares(arrays, total)
        combined = []
        for tensor in self.loaded.combined:
            target = arrays[tensor.name]
            copies = self._copies(tensor, target, shares)
            combined.append((tensor, target, copies))
            arrays[tensor.name] = copies[0]
            self.special[tensor.name, "share"] = copies[0].nbytes if shares > 1 else 0
        self.special["shares"] = shares
        return combined

    def _copies(self, tensor: Tensor, array: Array, shares: int) -> list[Array]:
        identity = beginning_of(tensor)
        if shares == 1 and is_row_by_row(array):
            if not tensor.type.keeps:
                array.fill(identity[()])
            return [array]
        copies = np.full((shares, *array.shape), identity, array.dtype)
        if tensor.type.keeps:
            copies[0] = array
        self.kept.append(copies)
        return list(copies)

    def _space(self, amount: int) -> int:
        space = np.empty(amount + 64, np.uint8)
        self.kept.append(space)
        return -(-space.ctypes.data // 64) * 64

    def _print(self, site: int, point: int, words: int) -> None:
        op = sites_of(self.loaded.kernel)[site]
        assert isinstance(op, ops.Print)
        values, place = [], 0
        for printed in self.loaded.code.shown[site]:
            rank = len(printed.strides)
            pointer, *lives = (ctypes.c_int64 * (rank + 1)).from_address(words + 8 * place)
            place += rank + 1
            values.append(_seen(printed, pointer, lives))
        report = self.loaded.report(self.dimensions, self._by_tensor())
        print(report.formatted(op.label, values, None if point < 0 else point))


def _seen(printed: Shown, pointer: int, lives: Sequence[int]) -> Array:
    """A copy of a value that a program shows."""
    dtype = semantics.storage(printed.dtype)
    if not all(lives):
        return np.empty(tuple(lives), dtype)
    span = 1 + sum((live - 1) * step for live, step in zip(lives, printed.strides, strict=True))
    elements = np.frombuffer(memoryview((ctypes.c_char * (span * dtype.itemsize)).from_address(pointer)), dtype)
    steps = [step * dtype.itemsize for step in printed.strides]
    return np.array(np.lib.stride_tricks.as_strided(elements, tuple(lives), steps))


def _combine(tensor: Tensor, target: Array, parts: list[Array]) -> None:
    """The copies of all shares, in order, as one."""
    if parts[0] is target:
        return
    whole = parts[0]
    for part in parts[1:]:
        whole = semantics.binary(ops.COMBINED_BY[tensor.type.access], whole, part, tensor.type.stored_as)
    np.copyto(target, whole)
