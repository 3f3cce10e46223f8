"""Tiles whose elements stand in another order or more often: broadcast, cut out, put together, in another shape.

Tile IR takes elements from one place to another in blocks whose sizes are powers of two. What a tile is made of is
therefore written as a list of blocks of its operands, as large as all borders allow, and put together pair by pair. A
block of dead lanes is any block. Where that would take too many operations the blocks are *routed*: they keep their
order, so that each can go its way in steps of 1, 2, 4, ... places without meeting another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.types import I1, I8, I32, Tile, Value
from tileproof.ir import ops

from .state import State, number, padded
from .tiles import element_of, shape_of, spread

Places: TypeAlias = npt.NDArray[np.int64]
"""Numbers of blocks."""
_DEAD: Final = -1
_MOST: Final = 64
"""Up to so many blocks are put together one by one."""


# Whole axes.


def broadcast(s: State, op: ops.Broadcast) -> None:
    """numpy's broadcasting: axes align at the right, and one of length 1 repeats."""
    value, shape = s.get(op.operand), s.padded(op.result.type)
    if shape:
        own = shape_of(value)
        value = s.b.broadcast(s.b.reshape(value, (*(1,) * (len(shape) - len(own)), *own)), shape)
    s.put(op.result, value)


def expand(s: State, op: ops.Expand) -> None:
    """A new axis of length 1."""
    value = s.get(op.operand)
    s.put(op.result, s.b.reshape(value, s.padded(op.result.type)), clean=value in s.clean)


def permute(s: State, op: ops.Permute) -> None:
    """Axes in another order."""
    value = s.get(op.operand)
    s.put(op.result, value if s.scalar_region else s.b.permute(value, op.order), clean=value in s.clean)


def fill(s: State, op: ops.Fill) -> None:
    """The full tile: a number where the operand has no live element."""
    value, kind = s.get(op.operand), op.operand.type
    filling = spread(s.b, s.get(op.value), shape_of(value))
    for place, axis in enumerate(kind.axes):
        mask = None if s.live(axis) == number(axis.length) else s.mask(kind, place)
        if mask is not None:
            value = s.b.select(mask, value, filling)
    s.put(op.result, value)


# Parts of axes.


def slice_(s: State, op: ops.Slice) -> None:
    """Some elements of an axis, one after another."""
    start, length = number(op.start), number(op.length)
    source, axis = s.get(op.operand), op.axis
    long = padded(length)
    size = min(_power_in(start), long, shape_of(source)[axis])
    wanted = [start // size + place if place * size < length else _DEAD for place in range(long // size)]
    s.put(op.result, _taken(s.b, [_flat(s.b, source, axis, axis + 1)], size, wanted, s.padded(op.result.type)))


def cat(s: State, op: ops.Cat) -> None:
    """Tiles one after another along an axis."""
    lengths = [number(operand.type.axes[op.axis].length) for operand in op.operands]
    parts = [(operand, length) for operand, length in zip(op.operands, lengths, strict=True) if length]
    shape = s.padded(op.result.type)
    if not parts:
        s.put(op.result, s.get(op.operands[0]))
        return
    sources = [_flat(s.b, s.get(operand), op.axis, op.axis + 1) for operand, _ in parts]
    ends = np.cumsum([length for _, length in parts])
    size = min(_power_in(math.gcd(*map(int, ends[:-1]))), shape[op.axis], *(shape_of(source)[1] for source in sources))
    wanted: list[int] = []
    before = 0
    for end, source in zip(ends.tolist(), sources, strict=True):
        start = len(wanted) * size
        wanted += [before + place for place in range(-(-(end - start) // size))]
        before += shape_of(source)[1] // size
    wanted += [_DEAD] * (shape[op.axis] // size - len(wanted))
    s.put(op.result, _taken(s.b, sources, size, wanted, shape))


def reshape(s: State, op: ops.Reshape) -> None:
    """The same elements, row by row, in another shape."""
    lengths = ([number(axis.length) for axis in tile.type.axes] for tile in (op.operand, op.result))
    old, new = ([length for length in axes if length != 1] for axes in lengths)
    value, shape = s.get(op.operand), s.padded(op.result.type)
    if 0 in old:
        s.put(op.result, s.splat(element_of(value), shape, 0))
        return
    before, after = 1, math.prod(map(padded, old))
    # Axes that keep their elements together are rearranged on their own, the others standing before and behind them.
    for olds, news in _groups(old, new):
        old_size, new_size = math.prod(map(padded, olds)), math.prod(map(padded, news))
        after //= old_size
        value = _regrouped(s.b, s.b.reshape(value, (before, old_size, after)), olds, news)
        before *= new_size
    s.put(op.result, s.b.reshape(value, shape))


def _groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """The fewest axes at a time that hold the same elements in both shapes."""
    groups: list[tuple[list[int], list[int]]] = []
    olds, news = list(old), list(new)
    while olds or news:
        left, right = [olds.pop(0) if olds else 1], [news.pop(0) if news else 1]
        while math.prod(left) != math.prod(right):
            if math.prod(left) < math.prod(right):
                left.append(olds.pop(0))
            else:
                right.append(news.pop(0))
        groups.append((left, right))
    return groups


def _regrouped(b: Builder, value: Value, old: Sequence[int], new: Sequence[int]) -> Value:
    """A tile of three axes, the middle one several axes row by row with their padding, in another shape."""
    before, _, after = shape_of(value)
    old_padded, new_padded = [padded(length) for length in old], [padded(length) for length in new]
    shape = (before, math.prod(new_padded), after)
    if _is_packed(old) and _is_packed(new):
        return b.reshape(value, shape)
    size = _power_in(math.gcd(*(lengths[-1] for lengths in (old, new) if len(lengths) > 1)))
    places = np.unravel_index(np.arange(0, math.prod(new_padded), size), new_padded)
    lives = np.all([place < length for place, length in zip(places, new, strict=True)], axis=0)
    inside = [np.where(lives, place, 0) for place in places]
    origins = np.unravel_index(np.ravel_multi_index(inside, new), old)
    blocks = np.ravel_multi_index(origins, old_padded) // size
    return _taken(b, [value], size, np.where(lives, blocks, _DEAD).tolist(), shape)


def _is_packed(lengths: Sequence[int]) -> bool:
    """Whether only the first axis has padding, so that it is all at the end."""
    return all(padded(length) == length for length in lengths[1:])


def _power_in(count: int) -> int:
    """The largest power of two that divides a number."""
    return count & -count if count else 1 << 24


def _flat(b: Builder, value: Value, start: int, stop: int) -> Value:
    """The axes before some, these, and those behind them, as one axis each."""
    shape = shape_of(value)
    return b.reshape(value, tuple(math.prod(part) for part in (shape[:start], shape[start:stop], shape[stop:])))


# Blocks.


def _taken(b: Builder, sources: Sequence[Value], size: int, wanted: Sequence[int], shape: Sequence[int]) -> Value:
    """Blocks of the middle axis of `sources`, counted through all of them, one after another."""
    if all(block == _DEAD for block in wanted):
        return b.constant(Tile(element_of(sources[0]), tuple(shape)), 0)
    if element_of(sources[0]) == I1:
        # Single bits are slow to move, and to assemble.
        taken = _taken(b, [b.exti(source, I8, signed=False) for source in sources], size, wanted, shape)
        return b.trunci(taken, I1)
    cut = _Cut(b, sources, size, tuple(wanted))
    few = cut.count(0, len(wanted)) <= _MOST
    blocks = cut.part(0, len(wanted)) if few else _routed(b, sources, size, wanted)
    assert blocks is not None
    return b.reshape(blocks, tuple(shape))


@dataclass(slots=True)
class _Cut:
    """A list of blocks as a tree of pairs, in which neighbours that already lie together stay together."""

    b: Builder
    sources: Sequence[Value]
    size: int
    wanted: tuple[int, ...]
    parts: dict[tuple[int, int], Value] = field(default_factory=dict)

    def count(self, first: int, many: int) -> int:
        """How many operations `part` writes, about."""
        start = self._run_start(first, many)
        if start is not None:
            return start != _DEAD
        half = many // 2
        return 1 + self.count(first, half) + self.count(first + half, half)

    def part(self, first: int, many: int) -> Value | None:
        """So many blocks as one tile; None if all are dead."""
        start = self._run_start(first, many)
        if start == _DEAD:
            return None
        if start is not None:
            return self._extracted(start, many)
        half = many // 2
        left, right = self.part(first, half), self.part(first + half, half)
        left, right = left or right, right or left
        assert left is not None
        assert right is not None
        return self.b.cat(left, right, 1)

    def _run_start(self, first: int, many: int) -> int | None:
        """The block where they all lie in order, at a multiple of their number; `_DEAD` if none is wanted."""
        starts = {block - place for place, block in enumerate(self.wanted[first : first + many]) if block != _DEAD}
        if not starts:
            return _DEAD
        start = min(starts)
        if len(starts) > 1 or start < 0:
            return None
        source, place = self._located(start)
        is_inside = place % many == 0 and place + many <= shape_of(source)[1] // self.size
        return start if is_inside else None

    def _located(self, block: int) -> tuple[Value, int]:
        """The source that has a block, and the block's number there."""
        for source in self.sources:
            blocks = shape_of(source)[1] // self.size
            if block < blocks:
                return source, block
            block -= blocks
        raise AssertionError(f"no tile has block {block}")

    def _extracted(self, block: int, many: int) -> Value:
        part = self.parts.get((block, many))
        if part is None:
            source, place = self._located(block)
            before, whole, after = shape_of(source)
            part = source
            if many * self.size < whole:
                zero, at = (self.b.constant(Tile(I32), number) for number in (0, place // many))
                part = self.b.extract(source, (zero, at, zero), (before, many * self.size, after))
            self.parts[block, many] = part
        return part


# Routes.


def _routed(b: Builder, sources: Sequence[Value], size: int, wanted: Sequence[int]) -> Value:
    """Blocks that keep their order: those of each source are moved together, and then to their places."""
    goal, first, routed = np.array(wanted), 0, None
    for source in sources:
        before, length, after = shape_of(source)
        count = length // size
        places = np.flatnonzero((first <= goal) & (goal < first + count))
        blocks = goal[places] - first
        assert (np.diff(blocks) > 0).all(), "blocks change places"
        first += count
        if not len(places):
            continue
        value = b.reshape(source, (before, count, size * after))
        value = _moved(b, value, blocks, np.arange(len(blocks)))
        value = _moved(b, _resized(b, value, len(wanted)), np.arange(len(blocks)), places)
        routed = value if routed is None else b.select(_marked(b, places, shape_of(value)), value, routed)
    assert routed is not None
    before, _, _ = shape_of(routed)
    return b.reshape(routed, (before, len(wanted) * size, shape_of(sources[0])[2]))


def _moved(b: Builder, value: Value, start: Places, goal: Places) -> Value:
    """Rows of the middle axis at new places, in the same order: all down or all up.

    What moves down takes the smallest steps first, and what moves up the largest: then no two meet on the way.
    """
    rows, away = shape_of(value)[1], np.abs(start - goal)
    down = bool((start >= goal).all())
    steps = [1 << bit for bit in range(rows.bit_length() - 1) if (away & 1 << bit).any()]
    here = start
    for step in steps if down else reversed(steps):
        moves = away & step != 0
        here = np.where(moves, here - step if down else here + step, here)
        shifted = _shifted(b, value, step, down)
        value = shifted if moves.all() else b.select(_marked(b, here[moves], shape_of(value)), shifted, value)
    assert (here == goal).all()
    return value


def _shifted(b: Builder, value: Value, by: int, down: bool) -> Value:
    """Rows moved by a power of two, down to the first or up from it; those that come in are any.

    Moved by one, the odd rows become the even ones as they are, and the even ones become the odd ones moved by one.
    """
    before, rows, after = shape_of(value)
    if by > 1:
        return b.reshape(
            _shifted(b, b.reshape(value, (before, rows // by, by * after)), 1, down), (before, rows, after)
        )
    if rows == 1:
        return value
    pairs = b.reshape(value, (before, rows // 2, 2, after))
    zero, one = (b.constant(Tile(I32), number) for number in (0, 1))
    even, odd = (b.extract(pairs, (zero, zero, side, zero), (before, rows // 2, 1, after)) for side in (zero, one))
    rest = _shifted(b, b.reshape(even if down else odd, (before, rows // 2, after)), 1, down)
    rest = b.reshape(rest, (before, rows // 2, 1, after))
    return b.reshape(b.cat(odd, rest, 2) if down else b.cat(rest, even, 2), (before, rows, after))


def _resized(b: Builder, value: Value, rows: int) -> Value:
    """More rows, or only the first."""
    before, count, after = shape_of(value)
    if count > rows:
        zero = b.constant(Tile(I32), 0)
        return b.extract(value, (zero, zero, zero), (before, rows, after))
    while count < rows:
        value, count = b.cat(value, value, 1), 2 * count
    return value


def _marked(b: Builder, places: Places, shape: tuple[int, ...]) -> Value:
    """Which rows are meant."""
    marks = np.zeros(shape[1], np.bool_)
    marks[places] = True
    return b.broadcast(b.reshape(b.constant(Tile(I1, (shape[1],)), marks.tolist()), (1, shape[1], 1)), shape)
