"""Checked copies: tests of index tensors where the host cannot look, in graphs and in memory that others own.

A kernel that goes through an index tensor is proved to stay inside only if the tensor holds what it promises. A checked
copy holds it whatever the original holds: wrong entries are replaced by harmless ones, and what was wrong is written
down. So a kernel that is given the copy stays in bounds and meets no other program, also where the original changes
while it is copied. The host reads afterwards what there is to report.

- `Index`: a wrong entry becomes none, or 0 where a kernel loads through the tensor.
- `Unique`: it becomes none, and so do all but the first of entries that are equal. Where a kernel loads through the
  tensor none will not do: if any entry is wrong, all become their own places.
- `Offsets`: a border is at least those before it, and at most the extent; the first is 0, the last the extent.

Every program of `index_kernels` writes a record of eight words, the first of which counts what was wrong.

| word | of entries | of borders |
|---|---|---|
| 1 | how many are outside | how many fall |
| 2, 3 | the place and value of the first that is outside | the first that falls: its place, the border before it |
| 4 | the place of the first that is none and must not be | its value |
| 5, 6, 7 | the first that was there before: its place, the place before, its value | the first border, the last, 0 |
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from tileproof.language.kernel import Kernel

from .contracts import Fault, Wrong
from .devices import Array, Described, described
from .facts import Wanted
from .index_kernels import NOWHERE, copy_index, copy_offsets, copy_unique, count_instead, note_places
from .tensors import Tensor

WORDS: Final = 8
_AXES: Final = 4
_LONG, _SHORT, _ROWS = 1024, 256, 16
_MANY: Final = 64
"""From so many short rows on, a program takes several of them, or there would be as many records."""
Launch: TypeAlias = tuple[Kernel, tuple[Any, ...], dict[str, Any]]
"""A kernel, its arguments and its constants."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Memory that a checked copy needs beside the copy, all of it on the device of the tensor, without gaps."""

    flags: int
    """How many int64."""
    places: int
    """How many numbers to find equal entries by; 0 for none."""
    places_dtype: np.dtype[Any]


def needs(wanted: Wanted, source: Any) -> Needs:
    """What a checked copy of a tensor needs."""
    given = _read(source)
    if wanted.kind == "Offsets":
        return Needs(WORDS, 0, np.dtype(np.int32))
    narrow = np.dtype(np.int32 if given.size < 2**31 else np.int64)
    places = _positions(wanted, given) if _may_be_twice(wanted, given) else 0
    return Needs(math.prod(_Folded.of(given).records), places, narrow)


def impossible(wanted: Wanted, source: Any) -> Fault | None:
    """What no copy can cure, whatever the tensor holds."""
    given = _read(source)
    size = given.size
    if wanted.kind == "Offsets":
        if not size:
            return Fault(Wrong.EMPTY, (), (), 0, 0)
        # One border is the first and the last at once.
        return Fault(Wrong.ENDS, (), (0, 0), 1, 1) if size == 1 and wanted.extent else None
    least = size if wanted.kind == "Unique" else min(size, 1)
    if not wanted.holes_allowed and wanted.extent < least:
        return Fault(Wrong.CROWDED, (), (), size, size)
    return Fault(Wrong.SCATTERED, (), (), size, size) if len(_merged(given)) > _AXES else None


def checked_copy(
    wanted: Wanted, source: Any, scratch: Any, flags: Any, places: Any = None, *, complete: bool = False
) -> None:
    """Copies an index tensor so that the copy is as wanted; `flags` then tells what was wrong.

    `scratch` has the shape and element type of `source`, without gaps; `flags` and `places` are as `needs` says.
    `wanted` allows holes unless a kernel loads through the tensor; `complete` tells of them, and lets them stay. What
    is `impossible` is to be refused before.
    """
    for run, arguments, constants in launches(wanted, source, scratch, flags, places, complete=complete):
        run(*arguments, **constants)


def launches(
    wanted: Wanted, source: Any, scratch: Any, flags: Any, places: Any = None, *, complete: bool = False
) -> Iterator[Launch]:
    """The launches that make a checked copy. Each uses what those before it wrote."""
    fault = impossible(wanted, source)
    if fault is not None:
        raise ValueError(f"there is no copy as wanted: {fault.wrong.value}")
    given, copy, words = _read(source), _read(scratch), _read(flags)
    need = needs(wanted, given)
    _demand("scratch", copy, given.shape, _stored(given))
    _demand("flags", words, (need.flags,), np.dtype(np.int64))
    if wanted.kind == "Offsets":
        arrays = (_viewed(array, array.shape, array.strides) for array in (copy, words, given))
        yield copy_offsets, (*arrays, wanted.extent), {}
        return
    if not given.size:
        return
    folded = _Folded.of(given)
    into, outof = folded.viewed(copy, is_plain=True), folded.viewed(given)
    records = _viewed(words, folded.records, _steps(folded.records, words.itemsize))
    positions = _positions(wanted, given)
    is_loaded = not wanted.holes_allowed
    if not (_may_be_twice(wanted, given) and positions):
        # How many positions there are is told by a tensor of that length, which needs no memory of its own.
        pointed = _viewed(given, (positions,), (0,))
        kinds = {"LOADED": is_loaded, "COMPLETE": complete and not is_loaded}
        yield copy_index, (into, records, outof, pointed), kinds | folded.sizes
        return
    first = _read(places)
    _demand("places", first, (need.places,), need.places_dtype)
    first = _viewed(first, first.shape, first.strides)
    yield note_places, (first, outof), folded.sizes
    yield copy_unique, (into, records, outof, first), {"WHOLE": is_loaded or complete} | folded.sizes
    if is_loaded:
        wrong = _viewed(words, (math.prod(folded.records) // WORDS,), (WORDS * words.itemsize,))
        yield count_instead, (into, wrong), folded.sizes


def report(wanted: Wanted, flags: Array, shape: tuple[int, ...]) -> Fault | None:
    """What was wrong with a tensor of some shape, as a checked copy wrote it down; None if all was well.

    `contracts.refuse` says it as a launch would have.
    """
    records = flags.reshape(-1, WORDS)
    if not records[:, 0].any():
        return None
    size = math.prod(shape)
    if wanted.kind == "Offsets":
        _, falls, at, before, there, first, last, _ = map(int, records[0])
        if falls:
            return Fault(Wrong.FALLS, ((at,),), (before, there), falls, size)
        return Fault(Wrong.ENDS, (), (first, last), 1, size)

    def place(number: Any) -> tuple[int, ...]:
        return tuple(map(int, np.unravel_index(int(number), shape)))

    outside, twice, hole = (records[records[:, word].argmin()] for word in (2, 5, 4))
    if outside[2] != NOWHERE:
        return Fault(Wrong.OUTSIDE, (place(outside[2]),), (int(outside[3]),), int(records[:, 1].sum()), size)
    if twice[5] != NOWHERE:
        return Fault(Wrong.TWICE, (place(twice[6]), place(twice[5])), (int(twice[7]),), 1, size)
    return Fault(Wrong.NONE, (place(hole[4]),), (-1,), 1, size)


def _may_be_twice(wanted: Wanted, given: Any) -> bool:
    """Whether entries that are equal have to be looked for: one entry is there once."""
    return wanted.kind == "Unique" and given.size > 1


# How entries lie.


@dataclass(frozen=True, slots=True)
class _Folded:
    """A tensor as the kernels take it: four axes, those without gaps between them made one."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    rows: int
    columns: int
    """How many each program takes."""

    @staticmethod
    def of(given: Any) -> _Folded:
        axes = _merged(given)
        while len(axes) < _AXES:
            extent, stride = axes[0]
            axes.insert(0, (1, extent * stride))
        shape, strides = (tuple(part) for part in zip(*axes, strict=True))
        is_narrow = shape[2] > _MANY and shape[3] <= _SHORT
        return _Folded(shape, strides, *((_ROWS, _SHORT) if is_narrow else (1, _LONG)))

    @property
    def sizes(self) -> dict[str, int]:
        return {"BR": self.rows, "BC": self.columns}

    @property
    def records(self) -> tuple[int, ...]:
        """The shape of what all programs write down."""
        *outer, rows, columns = self.shape
        return (*outer, -(-rows // self.rows), -(-columns // self.columns), WORDS)

    def viewed(self, array: Any, *, is_plain: bool = False) -> Any:
        """An array of as many entries in this shape; with `is_plain` one without gaps."""
        return _viewed(array, self.shape, _steps(self.shape, array.itemsize) if is_plain else self.strides)


def _merged(given: Any) -> list[tuple[int, int]]:
    """The extents and strides of a tensor with as few axes as there can be; at least one."""
    if not given.size:
        return [(0, given.itemsize)]
    axes: list[tuple[int, int]] = []
    for extent, stride in zip(given.shape, given.strides, strict=True):
        if extent == 1:
            continue
        if axes and axes[-1][1] == extent * stride:
            axes[-1] = (axes[-1][0] * extent, stride)
        else:
            axes.append((extent, stride))
    return axes or [(1, given.itemsize)]


def _positions(wanted: Wanted, given: Any) -> int:
    """How many positions an entry can name."""
    return min(wanted.extent, int(np.iinfo(_stored(given)).max) + 1)


def _stored(array: Any) -> np.dtype[Any]:
    found: np.dtype[Any] = array.storage if isinstance(array, Tensor) else array.dtype
    return found


def _demand(name: str, array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Views of other shapes are made of it, so nothing about it may be taken for granted."""
    is_plain = not array.size or (len(_merged(array)) == 1 and _merged(array)[0][1] == array.itemsize)
    if tuple(array.shape) != tuple(shape) or _stored(array) != dtype or not is_plain:
        raise ValueError(f"{name} is to be an array of {dtype} without gaps, of the shape {tuple(shape)}")


def _steps(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides of an array without gaps."""
    return tuple(itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


class _Lent:
    """Part of an array on a GPU, as a launch takes it."""

    def __init__(self, of: Described, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.__cuda_array_interface__ = {
            "shape": shape, "strides": strides, "typestr": of.dtype.str, "data": (of.address, not of.writeable),
            "stream": of.stream, "version": 3,
        }  # fmt: skip
        self.keep = of


def _read(array: Any) -> Any:
    """An array with what the functions here ask of one."""
    if isinstance(array, np.ndarray | Described | Tensor):
        return array
    found = described(array)
    return np.asarray(array) if found is None else found


def _viewed(array: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """The memory of an array from its first element on, as another array."""
    if isinstance(array, Tensor):
        return Tensor._of(array.block, array.dtype, array.address, shape, strides)
    if isinstance(array, Described):
        return _Lent(array, shape, strides)
    return np.lib.stride_tricks.as_strided(array, shape, strides)
