"""The kernels of checked copies, in the language itself: proved like all others, with no check left for run time.

Tensors have four axes here, A, B, R and C. Every program takes some rows of R, one after another, and writes one record
of eight words. `checked_indices` says what the words mean, and launches them.
"""

from __future__ import annotations

from typing import Any, Final

from tileproof.language import spaces, tiles
from tileproof.language.dtypes import T, U, i64
from tileproof.language.kernel import kernel
from tileproof.language.parameters import In, Index, InOut, Min, Out

FAR: Final = 2**48
"""Behind every dimension."""
NOWHERE: Final = 2**62
"""The place of what is not there."""


def nothing() -> Any:
    """What is known before anything was looked at: how many are wrong, the place of the first, and its value."""
    return tiles.zeros((), i64), tiles.full((), NOWHERE, i64), tiles.zeros((), i64)


def seen(found: Any, wrong: Any, places: Any, values: Any) -> Any:
    """The same once more was looked at, some of which may be wrong."""
    count, at, value = found
    first = tiles.where(wrong, places, NOWHERE).min()
    there = tiles.where(places == first, values, 0).sum()
    count = count + tiles.where(wrong, 1, 0).to(i64).sum()
    return count, tiles.minimum(at, first), tiles.where(first < at, there, value)


def places_of(a: Any, b: Any, row: Any, column: Any) -> Any:
    """The places of a row's entries in the whole tensor."""
    rows = (a.to(i64) * spaces.dim("B").to(i64) + b.to(i64)) * spaces.dim("R").to(i64) + row.to(i64)
    return rows * spaces.dim("C").to(i64) + column.elements.to(i64)


def within(given: Any) -> Any:
    """Entries as numbers that fit an index: what is far away is as wrong as before."""
    return tiles.clip(given, -2, FAR)


def positions_of() -> Any:
    """How many positions there are."""
    return spaces.dim("V").to(i64)


@kernel(deny_checks=True)
def copy_index(
    scratch: Out[Index["V"], "A B R C"], flags: Out[i64, "A B R/BR C/BC 8"], source: In[T, "A B R C"],
    pointed: In[T, "V"], *, LOADED: bool = False, COMPLETE: bool = False, BR: int = 1, BC: int = 1024,
) -> None:  # fmt: skip
    """A checked copy of an `Index`. `pointed` has as many elements as there are positions, and is not read."""
    if LOADED:
        spaces.require(spaces.dim("V") >= 1)
    for a, b, r, c in spaces.parallel(A=spaces.each, B=spaces.each, R=BR, C=BC):
        outside, holes = nothing(), nothing()
        for q in r.tiles(1):
            given = source[a, b, q.start, c].to(i64)
            entries, places = within(given), places_of(a, b, q.start, c)
            is_right = (entries >= -1) & (entries < positions_of())
            outside = seen(outside, ~is_right, places, given)
            if LOADED or COMPLETE:
                holes = seen(holes, entries == -1, places, given)
            if LOADED:
                scratch[a, b, q.start, c] = tiles.where(is_right & (entries >= 0), entries, 0)  # type: ignore[index]
            else:
                scratch[a, b, q.start, c] = tiles.where(is_right, entries, -1)  # type: ignore[index]
        flags[a, b, r.number, c.number, 0] = outside[0] + holes[0]
        flags[a, b, r.number, c.number, 1] = outside[0]
        flags[a, b, r.number, c.number, 2] = outside[1]
        flags[a, b, r.number, c.number, 3] = outside[2]
        flags[a, b, r.number, c.number, 4] = holes[1]
        flags[a, b, r.number, c.number, 5] = NOWHERE
        flags[a, b, r.number, c.number, 6] = 0
        flags[a, b, r.number, c.number, 7] = 0


@kernel(deny_checks=True)
def note_places(first: Min[U, "V"], source: In[T, "A B R C"], *, BR: int = 1, BC: int = 1024) -> None:
    """For every position, the first place of the tensor that holds it."""
    spaces.require(spaces.dim("V") >= 1)
    for a, b, r, c in spaces.parallel(A=spaces.each, B=spaces.each, R=BR, C=BC):
        for q in r.tiles(1):
            entries = within(source[a, b, q.start, c].to(i64))
            is_position = (entries >= 0) & (entries < positions_of())
            places = tiles.where(is_position, places_of(a, b, q.start, c), NOWHERE)
            tiles.update(first, tiles.where(is_position, entries, 0), places.to(first.dtype))


@kernel(deny_checks=True)
def copy_unique(
    scratch: Out[Index["V"], "A B R C"], flags: Out[i64, "A B R/BR C/BC 8"], source: In[T, "A B R C"],
    first: In[U, "V"], *, WHOLE: bool = False, BR: int = 1, BC: int = 1024,
) -> None:  # fmt: skip
    """A checked copy of a `Unique`: an entry stays where `first` has its place, so none stays twice.

    That holds also if the entries changed since their places were noted. `WHOLE` tells of holes.
    """
    spaces.require(spaces.dim("V") >= 1)
    for a, b, r, c in spaces.parallel(A=spaces.each, B=spaces.each, R=BR, C=BC):
        outside, holes, twice, before = nothing(), nothing(), nothing(), nothing()
        for q in r.tiles(1):
            given = source[a, b, q.start, c].to(i64)
            entries, places = within(given), places_of(a, b, q.start, c)
            is_right = (entries >= -1) & (entries < positions_of())
            is_position = is_right & (entries >= 0)
            earlier = first[tiles.where(is_position, entries, 0)].to(i64)
            is_again = is_position & (earlier != places)
            scratch[a, b, q.start, c] = tiles.where(is_right & ~is_again, entries, -1)  # type: ignore[index]
            outside = seen(outside, ~is_right, places, given)
            twice = seen(twice, is_again, places, given)
            before = seen(before, is_again, places, earlier)
            if WHOLE:
                holes = seen(holes, entries == -1, places, given)
        flags[a, b, r.number, c.number, 0] = outside[0] + holes[0] + twice[0]
        flags[a, b, r.number, c.number, 1] = outside[0]
        flags[a, b, r.number, c.number, 2] = outside[1]
        flags[a, b, r.number, c.number, 3] = outside[2]
        flags[a, b, r.number, c.number, 4] = holes[1]
        flags[a, b, r.number, c.number, 5] = twice[1]
        flags[a, b, r.number, c.number, 6] = before[2]
        flags[a, b, r.number, c.number, 7] = twice[2]


@kernel(deny_checks=True)
def count_instead(scratch: InOut[T, "A B R C"], wrong: In[i64, "F"], *, BR: int = 1, BC: int = 1024) -> None:
    """Where anything was wrong, the entry at place n becomes n: different positions, and no -1. Else all stay."""
    for a, b, r, c in spaces.parallel(A=spaces.each, B=spaces.each, R=BR, C=BC):
        total = tiles.zeros((), i64)
        for f in spaces.tiles(F=BC):
            total += wrong[f].sum()
        if total > 0:
            for q in r.tiles(1):
                scratch[a, b, q.start, c] = places_of(a, b, q.start, c).to(scratch.dtype)


@kernel(deny_checks=True)
def copy_offsets(
    scratch: Out[T, "M"], flags: Out[i64, "8"], source: In[T, "M"], extent: i64, *, B: int = 1024
) -> None:  # fmt: skip
    """A checked copy of `Offsets`, by one program, because a border depends on all before it."""
    top, changed = tiles.zeros((), i64), tiles.zeros((), i64)
    first, last = tiles.zeros((), i64), tiles.zeros((), i64)
    falls, before = nothing(), nothing()
    for m in spaces.tiles(M=B):
        given, earlier = source[m].to(i64), source.get(m.elements - 1, 0).to(i64)
        borders = tiles.maximum(tiles.scan(tiles.clip(given, 0, extent), by=tiles.maximum), top)
        top = borders.max()
        is_first, is_last = m.elements == 0, m.elements == spaces.dim("M") - 1
        right = tiles.where(is_last, extent, tiles.where(is_first, 0, borders))
        scratch[m] = right.to(scratch.dtype)
        changed += tiles.where(right == given, 0, 1).to(i64).sum()
        is_less = ~is_first & (given < earlier)
        falls = seen(falls, is_less, m.elements.to(i64), given)
        before = seen(before, is_less, m.elements.to(i64), earlier)
        first += tiles.where(is_first, given, 0).sum()
        last += tiles.where(is_last, given, 0).sum()
    flags[0] = changed
    flags[1] = falls[0]
    flags[2] = falls[1]
    flags[3] = before[2]
    flags[4] = falls[2]
    flags[5] = first
    flags[6] = last
    flags[7] = 0


KERNELS: Final = (copy_index, note_places, copy_unique, count_instead, copy_offsets)
