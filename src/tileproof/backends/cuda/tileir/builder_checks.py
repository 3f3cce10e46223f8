"""What the operands of an operation must be. A broken rule is a TypeError that names the operation and the types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Final

from .operation_table import TERMINATORS
from .types import (
    BF16,
    F16,
    F32,
    F64,
    I1,
    I8,
    I16,
    I32,
    I64,
    LARGEST,
    TOKEN,
    Block,
    Entry,
    Group,
    Hints,
    Location,
    Op,
    Padding,
    PartitionView,
    Pointer,
    StridedView,
    TensorView,
    Tile,
    TileView,
    Type,
    Value,
)

INTEGERS: Final = frozenset((I1, I8, I16, I32, I64))
FLOATS: Final = frozenset((F16, BF16, F32, F64))
"""The floats that there is arithmetic on."""


def wrong(op: str, message: str, *values: Value | Type) -> TypeError:
    """The error to raise, which names the operation and the types it was given."""
    types = ", ".join(str(value.type if isinstance(value, Value) else value) for value in values)
    return TypeError(f"{op}: {message}; given {types}" if types else f"{op}: {message}")


def tile(op: str, value: Value) -> Tile:
    """The type of a value that must be a tile."""
    kind = value.type
    if not isinstance(kind, Tile):
        raise wrong(op, "the operand must be a tile", value)
    return kind


def alike(op: str, *values: Value) -> Tile:
    """The type of values that must all be tiles of one type."""
    first = tile(op, values[0])
    for value in values:
        if value.type is not first and value.type != first:
            raise wrong(op, "the operands must have one type", *values)
    return first


def integers(op: str, *values: Value) -> Tile:
    """The type of values that must all be integer tiles of one type."""
    kind = alike(op, *values)
    if kind.element not in INTEGERS:
        raise wrong(op, "the operands must be integers of 1, 8, 16, 32 or 64 bits", *values)
    return kind


def floats(op: str, *values: Value) -> Tile:
    """The type of values that must all be float tiles of one type, with a type that there is arithmetic on."""
    kind = alike(op, *values)
    if kind.element not in FLOATS:
        raise wrong(op, "the operands must be f16, bf16, f32 or f64", *values)
    return kind


def scalars(op: str, what: str, *values: Value) -> Tile:
    """The type of values that must all be integer scalars of one type."""
    kind = values[0].type
    if not isinstance(kind, Tile) or kind.shape or kind.element not in INTEGERS or any(v.type != kind for v in values):
        raise wrong(op, f"{what} must be integer scalars of one type", *values)
    return kind


def pointers(op: str, value: Value) -> tuple[Tile, Tile]:
    """The type of a tile of pointers, and that of the tile of elements they point to."""
    kind = tile(op, value)
    if not isinstance(kind.element, Pointer):
        raise wrong(op, "the operand must be a tile of pointers", value)
    return kind, Tile(kind.element.to, kind.shape)


def expect(op: str, what: str, value: Value | None, kind: Type) -> None:
    """Require that a value, if it is there, has a type."""
    if value is not None and value.type != kind:
        raise wrong(op, f"{what} must be {kind}", value)


def token(op: str, value: Value | None) -> None:
    """Require that a value, if it is there, is a token."""
    expect(op, "the token", value, TOKEN)


@cache
def well_formed(op: str, kind: Tile) -> Tile:
    """The type itself, once it is known to be one that a tile can have."""
    for length in kind.shape:
        if length < 1 or length & (length - 1):
            raise wrong(op, "the lengths of a tile must be powers of two", kind)
    if kind.count > LARGEST:
        raise wrong(op, f"a tile has at most {LARGEST} elements", kind)
    return kind


def permutation(op: str, order: Sequence[int], rank: int) -> tuple[int, ...]:
    """The order itself, once it is known to name every dimension once."""
    if sorted(order) != list(range(rank)):
        raise wrong(op, f"the order {list(order)} must name each of {rank} dimensions once")
    return tuple(order)


def carried(op: str, types: Iterable[Type]) -> None:
    """Require that types may cross the border of a region: views may not."""
    for kind in types:
        if not isinstance(kind, Tile) and kind != TOKEN:
            raise wrong(op, "only tiles and tokens go in and out of a region", kind)


def flushing(op: str, kind: Tile, ftz: bool) -> None:
    """Require that denormals are flushed in f32 only."""
    if ftz and kind.element != F32:
        raise wrong(op, "only f32 can flush denormals to zero", kind)


@cache
def tensor_view(op: str, view: TensorView) -> TensorView:
    """The type itself, once it is known to be one that a tensor can have."""
    if len(view.shape) != len(view.strides):
        raise wrong(op, "a tensor has as many strides as lengths", view)
    for number in (*view.shape, *view.strides):
        if number is not None and number < 1:
            raise wrong(op, "lengths and strides of a tensor must be positive", view)
    return view


@cache
def tile_view(op: str, view: TileView) -> Tile:
    """The tile that a view gives, once the view is known to be well formed."""
    rank = len(view.of.shape)
    kind = well_formed(op, Tile(view.of.element, view.tile))
    if not rank or len(view.tile) != rank:
        raise wrong(op, "a view's tile has the rank of its tensor, at least one", view)
    match view:
        case PartitionView():
            permutation(op, view.order, rank)
        case StridedView():
            permutation(op, view.order, rank)
            if len(view.steps) != rank or min(view.steps) < 1:
                raise wrong(op, "a view has a positive step for each dimension", view)
    if view.padding not in (None, Padding.ZERO) and view.of.element.is_integer:
        raise wrong(op, "only floats have padding other than zero", view)
    return kind


def indices(op: str, view: TileView, values: Sequence[Value]) -> tuple[Value, ...]:
    """The indices themselves, once there is one for each dimension, all of one integer type."""
    if len(values) != len(view.tile):
        raise wrong(op, f"{len(view.tile)} indices are needed, one for each dimension", *values)
    first = tile(op, values[0])
    if first.element not in INTEGERS or first.element == I1:
        raise wrong(op, "an index must be an integer of 8 to 64 bits", *values)
    for place, value in enumerate(values):
        if value.type != Tile(first.element):
            raise wrong(op, f"index {place} must be {Tile(first.element)}", *values)
    return tuple(values)


_ENTRY_HINTS: Final[Mapping[str, Sequence[int]]] = {
    "num_cta_in_cga": (1, 2, 4, 8, 16),
    "occupancy": range(1, 33),
    "num_worker_warps_per_cta": (4, 8),
}
_ACCESS_HINTS: Final[Mapping[str, Sequence[int]]] = {"allow_tma": (False, True), "latency": range(1, 11)}


def entry_hints(hints: Hints) -> Hints:
    """The hints themselves, once they are known: the assembler would ignore what it does not know."""
    return _hints("entry", hints, _ENTRY_HINTS)


def access_hints(op: str, hints: Hints | None) -> Hints | None:
    """The hints of a load or store, or None if they say nothing."""
    return _hints(op, hints, _ACCESS_HINTS) if hints else None


def _hints(op: str, hints: Hints, allowed: Mapping[str, Sequence[int]]) -> Hints:
    for architecture, settings in hints.items():
        if architecture != "default" and not (architecture.startswith("sm_") and architecture[3:].isdigit()):
            raise wrong(op, f"hints are for sm_NN or default, not for {architecture!r}")
        for key, setting in settings.items():
            if key not in allowed or setting not in allowed[key] or isinstance(setting, bool) != (key == "allow_tma"):
                raise wrong(op, f"there is no hint {key}={setting!r}")
    return hints


_NOTHING: Final[Mapping[str, object]] = {}


class Emitter:
    """Writes operations of one entry into a block, which `inside` changes."""

    def __init__(
        self, name: str, parameters: Sequence[Type], hints: Hints | None = None, location: Location | None = None
    ) -> None:
        self.location: Location | None = location
        """Attached to each operation from now on."""
        values = tuple(Value(kind) for kind in parameters)
        for value in values:
            if tile("entry", value).shape:
                raise wrong("entry", "a parameter must be a scalar", value)
        self.entry: Final = Entry(name, Block(values), entry_hints(hints or {}), location)
        self.block: Block = self.entry.body
        """Where operations go."""

    @property
    def parameters(self) -> tuple[Value, ...]:
        """What a launch passes."""
        return self.entry.parameters

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Operations go to `block` until the end of the `with`."""
        before, self.block = self.block, block
        try:
            yield
        finally:
            self.block = before

    def emit(
        self,
        name: str,
        operands: tuple[Group, ...],
        types: Sequence[Type],
        attributes: Mapping[str, object] = _NOTHING,
        regions: tuple[Block, ...] = (),
    ) -> tuple[Value, ...]:
        """Write an operation as it is, and give its results."""
        ops = self.block.ops
        if ops and ops[-1].name in TERMINATORS:
            raise wrong(name, f"the block already ends in {ops[-1].name}")
        results = tuple([Value(kind) for kind in types])
        ops.append(Op(name, operands, results, attributes, regions, self.location))
        return results

    def one(
        self, name: str, operands: tuple[Group, ...], kind: Type, attributes: Mapping[str, object] = _NOTHING
    ) -> Value:
        """Write an operation with one result."""
        return self.emit(name, operands, (kind,), attributes)[0]
