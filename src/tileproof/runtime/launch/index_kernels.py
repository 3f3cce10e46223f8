"""Copies of index tensors that hold what they promise, whatever the original holds: made and tested on the device.

A graph gives its launches such copies. Every entry is read once: a wrong one becomes harmless in the copy, and is
recorded for the host. So a kernel that uses the copy stays in bounds and meets no other program, also if the original
changes while it is copied. The kernels are proved as all others are, with no check left for run time.

- `Index`: a wrong entry becomes none, or 0 where a kernel loads through the tensor.
- `Unique`: it becomes none, and so do all but the first of entries that are equal. Where a kernel loads through the
  tensor none will not do: if any entry is wrong, all become their own places. Rows that are `Unique` each for itself
  have notes of their own: as many as there are rows, times positions.
- `Offsets`: a border is at least those before it, and at most the extent; the first is 0, the last the extent unless
  they may end early.

Each program writes a record of five words, which `contracts.fault_of` reads.

| word | of entries | of borders |
|---|---|---|
| 0 | how many are wrong | how many are not as they should be |
| 1 | how many are outside | how many fall |
| 2, 3 | the place and value of the first wrong one | of the first that falls, else 0 and the last border |
| 4 | the place of the first entry that equals it | the border before it, else the first border |
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from tileproof.language import spaces, tiles
from tileproof.language.annotations import In, Index, InOut, Min, Out
from tileproof.language.dtypes import I32, I64, T, U, i64
from tileproof.language.kernel import Kernel, kernel
from tileproof.runtime.memory.contents import Wanted
from tileproof.runtime.tensor.creation import empty
from tileproof.runtime.tensor.tensors import Tensor

from .contracts import WORDS

FAR: Final = 2**48
"""Behind every dimension."""
NOWHERE: Final = 2**62
"""The place of what is not there."""
_PIECE: Final = 1024
"""How many entries a program takes."""
Launch: TypeAlias = tuple[Kernel, tuple[Any, ...], dict[str, Any]]
"""A kernel, its arguments and its constants."""


def words_for(wanted: Wanted, size: int) -> int:
    """How many words the records of a copy take."""
    return WORDS * (1 if wanted.kind == "Offsets" else -(-size // _PIECE))


def copied(wanted: Wanted, source: Tensor, records: Tensor, *, is_loaded: bool = False) -> tuple[Tensor, list[Launch]]:
    """A copy of an index tensor without gaps, and the launches that make it, each after those before.

    `is_loaded` says that a kernel loads through it; else none does no harm, also where it is not wanted. For what
    `contracts.incurable` says there is no copy.
    """
    copy, gaps = empty(source.shape, source.dtype, source.device), list[Launch]()
    if not source.is_contiguous:
        source, gaps = dense(source)
    into, outof = copy.flatten(), source.flatten()
    if wanted.kind == "Offsets":
        return copy, [*gaps, (copy_offsets, (into, records, outof, wanted.extent), {"EARLY": wanted.ends_early})]
    records = records.reshape(-1, WORDS)
    positions = min(wanted.extent, int(np.iinfo(source.storage).max) + 1)
    is_unique = wanted.kind == "Unique" and source.size > 1 and positions > 0
    constants = {"UNIQUE": is_unique, "LEAST": -1 if wanted.holes_allowed else 0}
    # How many positions there are is given by a tensor of that length, which needs no memory of its own.
    pointed = Tensor._of(source.block, source.dtype, source.address, (positions,), (0,))
    row = source.size // max(wanted.rows, 1)
    if not is_unique:
        constants["WRONG"] = 0 if is_loaded else -1
        return copy, [*gaps, (copy_index, (into, records, outof, pointed, pointed, row), constants)]
    first = empty(wanted.rows * positions, I32 if source.size < 2**31 else I64, source.device)
    launches = [
        *gaps,
        (note_places, (first, outof, pointed, row), {}),
        (copy_index, (into, records, outof, pointed, first, row), constants),
    ]
    return copy, [*launches, (count_instead, (into, records, row), {})] if is_loaded else launches


def dense(source: Tensor) -> tuple[Tensor, list[Launch]]:
    """A copy without gaps as it is, and the launches that make it."""
    copy = empty(source.shape, source.dtype, source.device)

    def launches(to: Tensor, of: Tensor) -> list[Launch]:
        if of.ndim > 4:
            return [launch for parts in zip(to, of, strict=True) for launch in launches(*parts)]
        to, of = (array[(None,) * (4 - of.ndim)] for array in (to, of))
        return [(copy_rows, (to, of), {})]

    return copy, launches(copy, source)


@kernel(deny_checks=True)
def copy_rows(copy: Out[T, "A B R C"], source: In[T, "A B R C"], *, BC: int = 1024) -> None:
    """A copy without gaps."""
    for a, b, r, c in spaces.parallel(A=spaces.each, B=spaces.each, R=spaces.each, C=BC):
        copy[a, b, r, c] = source[a, b, r, c]


def within(entries: Any) -> Any:
    """Entries as numbers that fit an index: what is far away is as wrong as before."""
    return tiles.clip(entries, -2, FAR)


@kernel(deny_checks=True)
def note_places(
    first: Min[U, "F"], source: In[T, "N"], pointed: In[T, "V"], row: i64, *, BN: int = _PIECE
) -> None:  # fmt: skip
    """For every position, the first place of each row that holds it."""
    spaces.require(spaces.dim("F") >= 1)
    for n in spaces.parallel(N=BN):
        entries, places = within(source[n].to(i64)), n.elements.to(i64)
        is_position = (entries >= 0) & (entries < spaces.dim("V").to(i64))
        noted = tiles.where(is_position, places, NOWHERE)
        at = note_of(tiles.where(is_position, entries, 0), places, row, spaces.dim("V").to(i64))
        tiles.update(first, tiles.clip(at, 0, spaces.dim("F").to(i64) - 1), noted.to(first.dtype))


def note_of(entries: Any, places: Any, row: Any, extent: Any) -> Any:
    """Where the place of an entry is noted: in its row, at the position that it is."""
    return places // row * extent + entries


@kernel(deny_checks=True)
def copy_index(
    copy: Out[Index["V"], "N"], records: Out[i64, "N/BN 5"], source: In[T, "N"], pointed: In[T, "V"],
    first: In[U, "F"], row: i64, *, UNIQUE: bool = False, LEAST: int = -1, WRONG: int = -1, BN: int = _PIECE,
) -> None:  # fmt: skip
    """A copy of an `Index`, or of a `Unique`: there an entry stays where `first` has its place, so none stays twice.

    That holds also if the entries changed since their places were noted. `pointed` has as many elements as there are
    positions; `first` has as many for each row, and for an `Index` it is not read. Entries below LEAST are wrong, and
    wrong ones become WRONG.
    """
    if UNIQUE:
        spaces.require(spaces.dim("F") >= 1)
    if WRONG == 0:
        spaces.require(spaces.dim("V") >= 1)
    for n in spaces.parallel(N=BN):
        read, places = source[n].to(i64), n.elements.to(i64)
        entries, earlier = within(read), places
        is_outside = (entries < -1) | (entries >= spaces.dim("V").to(i64))
        is_right = (entries >= LEAST) & ~is_outside
        if UNIQUE:
            is_position = (entries >= 0) & ~is_outside
            at_row = note_of(tiles.where(is_position, entries, 0), places, row, spaces.dim("V").to(i64))
            earlier = first[tiles.clip(at_row, 0, spaces.dim("F").to(i64) - 1)].to(i64)
            is_right = is_right & ((entries < 0) | (earlier == places))
        copy[n] = tiles.where(is_right, entries, WRONG)  # type: ignore[index]
        at = tiles.where(is_right, NOWHERE, places).min()
        records[n.number, 0] = tiles.where(is_right, 0, 1).to(i64).sum()
        records[n.number, 1] = tiles.where(is_outside, 1, 0).to(i64).sum()
        records[n.number, 2] = at
        records[n.number, 3] = tiles.where(places == at, read, 0).sum()
        records[n.number, 4] = tiles.where(places == at, earlier, 0).sum()


@kernel(deny_checks=True)
def count_instead(copy: InOut[T, "N"], records: In[i64, "F 5"], row: i64, *, BN: int = _PIECE) -> None:
    """Where anything was wrong, the entry at place n of a row becomes n: different positions, no -1. Else all stay."""
    for n in spaces.parallel(N=BN):
        wrong = tiles.zeros((), i64)
        for f in spaces.tiles(F=BN):
            wrong += records[f, 0].sum()
        if wrong > 0:
            copy[n] = (n.elements.to(i64) % row).to(copy.dtype)


@kernel(deny_checks=True)
def copy_offsets(
    copy: Out[T, "N"], records: Out[i64, "5"], source: In[T, "N"], extent: i64, *, EARLY: bool = False,
    BN: int = _PIECE,
) -> None:  # fmt: skip
    """A copy of `Offsets`, by one program, because a border depends on all before it."""
    top, changed, falls = tiles.zeros((), i64), tiles.zeros((), i64), tiles.zeros((), i64)
    first, last = tiles.zeros((), i64), tiles.zeros((), i64)
    at, value, before = tiles.zeros((), i64), tiles.zeros((), i64), tiles.zeros((), i64)
    for n in spaces.tiles(N=BN):
        read, earlier, places = source[n].to(i64), source.get(n.elements - 1, 0).to(i64), n.elements.to(i64)
        borders = tiles.maximum(tiles.scan(tiles.clip(read, 0, extent), by=tiles.maximum), top)
        top = borders.max()
        is_first, is_last = n.elements == 0, n.elements == spaces.dim("N") - 1
        right = tiles.where(is_first, 0, borders)
        if not EARLY:
            right = tiles.where(is_last, extent, right)
        copy[n] = right.to(copy.dtype)
        changed += tiles.where(right == read, 0, 1).to(i64).sum()
        is_less = ~is_first & (read < earlier)
        if falls == 0:
            at = tiles.where(is_less, places, NOWHERE).min()
            value = tiles.where(places == at, read, 0).sum()
            before = tiles.where(places == at, earlier, 0).sum()
        falls += tiles.where(is_less, 1, 0).to(i64).sum()
        first += tiles.where(is_first, read, 0).sum()
        last += tiles.where(is_last, read, 0).sum()
    records[0] = changed
    records[1] = falls
    records[2] = tiles.where(falls > 0, at, 0)
    records[3] = tiles.where(falls > 0, value, last)
    records[4] = tiles.where(falls > 0, before, first)


KERNELS: Final = (copy_rows, note_places, copy_index, count_instead, copy_offsets)
