"""Operations on memory, how they pick elements, and the few that do something else than compute.

Accesses to a written tensor happen in the order of the block.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from tileproof.diagnostics.records import dataclass

from .computing import BinaryFn, Op, ReduceFn
from .types import Access, Length, Tensor, Tile, Walker

COMBINED_BY: Final = {Access.SUM: BinaryFn.ADD, Access.MAX: BinaryFn.MAX, Access.MIN: BinaryFn.MIN}
"""How a value is taken into an element of a tensor that many programs write."""
BEGINS_AS: Final = {Access.SUM: ReduceFn.SUM, Access.MAX: ReduceFn.MAX, Access.MIN: ReduceFn.MIN}
"""What such an element holds before: what the reduction of nothing gives."""

# How an access picks elements along one axis of a tensor.


@dataclass(frozen=True, slots=True)
class Along:
    """The walker's tile of the axis; its one element (and no axis) for a `tp.each` walker."""

    walker: Walker


@dataclass(frozen=True, slots=True)
class At:
    """One element, at an `index` scalar or an entry of an index tensor; the axis is dropped."""

    index: Tile


@dataclass(frozen=True, slots=True)
class Gather:
    """The elements at a 1-D tile of indices or entries; the axis takes that tile's axis."""

    indices: Tile


@dataclass(frozen=True, slots=True)
class Whole:
    """`:`, all of a static dimension."""


@dataclass(frozen=True, slots=True)
class Window:
    """A constant slice: `length` elements from `start`."""

    start: Length
    length: Length


Pick: TypeAlias = Along | At | Gather | Whole | Window


@dataclass(frozen=True, slots=True)
class Load(Op):
    """Reads a region. `raw`: inside `tp.unsafe`, where the author vouches for it."""

    result: Tile
    tensor: Tensor
    picks: tuple[Pick, ...]
    raw: bool = False


@dataclass(frozen=True, slots=True)
class Get(Op):
    """Reads a region, and `fill` (a scalar) at every position that is outside the tensor or none."""

    result: Tile
    tensor: Tensor
    picks: tuple[Pick, ...]
    fill: Tile


@dataclass(frozen=True, slots=True)
class Store(Op):
    """Writes the live elements of `value`, whose type is the tensor's and whose axes are those of the picks.

    Where an index is none, nothing is written; nor anywhere if there is a `guard`, a bool, and it is false.
    """

    tensor: Tensor
    picks: tuple[Pick, ...]
    value: Tile
    raw: bool = False
    guard: Tile | None = None


@dataclass(frozen=True, slots=True)
class Update(Op):
    """Combines every live element of `value` into a `Sum`, `Max` or `Min`, element by element; none is passed over.

    Nothing is combined if there is a `guard`, a bool, and it is false.
    """

    tensor: Tensor
    picks: tuple[Pick, ...]
    value: Tile
    guard: Tile | None = None


@dataclass(frozen=True, slots=True)
class Check(Op):
    """Whether every lane of `index` is in `low` up to but without `high`, or none, and `ok` holds too.

    Where one of `entries` is none in every lane the index picks nothing, and is not looked at. A program for which the
    check is false first is reported, with the lane, `what` it is a position of, and `high`. It stores nothing more: the
    result guards its stores.
    """

    result: Tile
    ok: Tile | None
    index: Tile
    low: Tile
    high: Tile
    what: str
    entries: tuple[Tile, ...] = ()


@dataclass(frozen=True, slots=True)
class SplitAt(Op):
    """Two views of an `InOut`: `past`, the elements before position `at` of an axis, read by all programs, and `fresh`,
    those from it on, an `InOut` whose axis has no name and counts from `at`."""

    past: Tensor
    fresh: Tensor
    tensor: Tensor
    axis: int
    at: Tile


@dataclass(frozen=True, slots=True)
class Print(Op):
    """Shows values of the running program, for debugging."""

    label: str
    values: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Assume(Op):
    """A fact the author vouches for, inside `tp.unsafe`."""

    condition: Tile
    reason: str


@dataclass(frozen=True, slots=True)
class Require(Op):
    """A contract, tested at launch. `condition` depends on dimensions, scalars and constants only."""

    condition: Tile
