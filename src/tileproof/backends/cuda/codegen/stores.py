"""Stores, and updates of tensors that many programs combine into.

A whole tile goes through a view if its dead lanes, if there are any, lie past the end of the tensor, where a view
writes nothing; otherwise a mask keeps them back. A failed check keeps the whole store back: the one branch it makes.

Updates are atomic. Memory knows no atomic maximum of floats, but the bits of floats order like integers: upwards where
the sign is clear, downwards where it is set. NaN, made the greatest of them, stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tileproof.backends.cuda.tileir.types import I1, I8, I64, Mode, Number, Pointer, Predicate, Value
from tileproof.backends.cuda.tileir.types import I32 as I32_ELEMENT
from tileproof.backends.cuda.tileir.types import Tile as TileOf
from tileproof.ir import ops
from tileproof.ir.types import Access, TensorType, Tile
from tileproof.language.dtypes import F32, I32, U32, DType

from .conversions import cast
from .loads import Region, coordinate, ends_ragged, inbounds, live_mask, pointers, region, tile_order, tile_view
from .loads import both as both_masks
from .state import State
from .tiles import shape_of


def store(s: State, op: ops.Store) -> None:
    """Writes the elements of a tile, unless a failed check forbids it."""
    _guarded(s, op, lambda: _store(s, op))


def _guarded(s: State, op: ops.Store | ops.Update, write: Callable[[], None]) -> None:
    if op.guard is None:
        write()
        return
    tensors = [op.tensor] if op.tensor in s.order.roots else []
    roots = [s.order.roots[tensor] for tensor in tensors]
    before = s.order.handed(roots)
    branch = s.b.if_(s.get(op.guard), [token.type for token in before])
    with s.inside(branch.then):
        s.order.take(roots, before)
        write()
        s.b.yield_(*s.order.handed(roots))
    with s.b.inside(branch.orelse):
        s.b.yield_(*before)
    s.order.take(roots, branch.results)


def _store(s: State, op: ops.Store) -> None:
    view, where = s.tensors[op.tensor], region(s, op.tensor, op.picks)
    value = _in_memory(s, op.value, view.dtype)
    token = s.order.before_store(op.tensor)
    goes_whole = all(pick.is_inside or pick.is_edge for pick in where.picks)
    starts_inside = all(not isinstance(pick, ops.Along) or s.places[pick.walker].is_inside for pick in op.picks)
    is_safe = goes_whole and starts_inside and not ends_ragged(view, where)
    if where.shape and view.is_plain and where.is_boxed and is_safe:
        is_inside = all(pick.is_inside for pick in where.picks)
        order = tile_order(where, None)
        tile = tuple(where.picks[axis].lanes for axis in order)
        if tile != shape_of(value):
            value = s.b.reshape(value, tile)
        seen = tile_view(s, view, where, order, None)
        done = s.b.store_view(
            value, seen, [coordinate(s, pick) for pick in where.picks], token=token,
            inbounds=inbounds(s, where, is_inside), hints=s.hints(),
        )  # fmt: skip
    else:
        mask = live_mask(s, where, where.shape)
        done = s.b.store_ptr(pointers(s, view, where), value, mask=mask, token=token)
    s.order.after_store(op.tensor, done)


def _in_memory(s: State, tile: Tile, dtype: DType) -> Value:
    """A tile as it lies in memory."""
    value = cast(s.b, s.get(tile), tile.type.dtype, dtype, s.version)
    return s.b.exti(value, I8, signed=False) if dtype.name == "bool" else value


# Updates.


def shadow(of: TensorType) -> DType | None:
    """The type that stands for one too narrow to be combined in memory: another array holds it until the end."""
    dtype = of.stored_as
    if not of.access.combines or dtype.bits >= 32:
        return None
    if dtype.is_float:
        return F32
    return I32 if dtype.kind == "int" else U32


def update(s: State, op: ops.Update) -> None:
    """Combines the elements of a tile into memory, unless a failed check forbids it."""
    _guarded(s, op, lambda: _update(s, op))


def _update(s: State, op: ops.Update) -> None:
    view, where = s.tensors[op.tensor], region(s, op.tensor, op.picks)
    value = cast(s.b, s.get(op.value), op.value.type.dtype, op.tensor.type.stored_as, s.version)
    value = cast(s.b, value, op.tensor.type.stored_as, view.dtype, s.version)
    mask = live_mask(s, where, where.shape)
    places = pointers(s, view, where)
    access, dtype = op.tensor.type.access, view.dtype
    if access is Access.SUM:
        mode = Mode.ADDF if dtype.is_float else Mode.ADD
        if s.is_serial and dtype.is_float:
            _add_in_order(s, op, where, places, value, mask)
        else:
            s.b.atomic_rmw(mode, places, value, mask=mask, token=s.order.wait)
    elif dtype.is_float:
        _extreme(s, places, value, mask, dtype, is_max=access is Access.MAX)
    else:
        s.b.atomic_rmw(_MODES[access, dtype.kind == "uint"], places, value, mask=mask, token=s.order.wait)


def _add_in_order(s: State, op: ops.Update, where: Region, places: Value, value: Value, mask: Value | None) -> None:
    """Adds lane after lane along axes whose lanes may meet, and after everything that was added before."""
    b, shape = s.b, where.shape
    gathered = [axis for axis, place in enumerate(where.axes) if where.picks[place].indices is not None]
    lanes = math.prod(shape[axis] for axis in gathered)
    if lanes <= 1:
        token = s.order.before_store(op.tensor)
        s.order.after_store(op.tensor, b.atomic_rmw(Mode.ADDF, places, value, mask=mask, token=token)[1])
        return
    number: Value | None = None
    for axis in gathered:
        counted = s.lanes(shape, axis)
        if number is None:
            number = counted
        else:
            number = b.addi(b.muli(number, s.splat(I32_ELEMENT, shape, shape[axis])), counted)
    assert number is not None
    root = [s.order.roots[op.tensor]]
    zero, end, one = (s.splat(I32_ELEMENT, (), bound) for bound in (0, lanes, 1))
    loop = b.for_(zero, end, one, s.order.handed(root))
    with b.inside(loop.block):
        s.order.take(root, loop.arguments[1:])
        is_turn = b.cmpi(Predicate.EQUAL, number, s.spread(loop.arguments[0], shape), signed=True)
        token = s.order.before_store(op.tensor)
        done = b.atomic_rmw(Mode.ADDF, places, value, mask=both_masks(s, mask, is_turn), token=token)[1]
        s.order.after_store(op.tensor, done)
        b.continue_(*s.order.handed(root))
    s.order.take(root, loop.results)


_MODES = {
    (Access.MAX, False): Mode.MAX, (Access.MAX, True): Mode.UMAX,
    (Access.MIN, False): Mode.MIN, (Access.MIN, True): Mode.UMIN,
}  # fmt: skip


def _extreme(s: State, places: Value, value: Value, mask: Value | None, dtype: DType, *, is_max: bool) -> None:
    b, shape = s.b, shape_of(value)
    of: Number = I64 if dtype.bits == 64 else I32_ELEMENT
    bits = b.bitcast(value, of)
    # The NaN that is greater, or less, than all numbers as the integers that are compared.
    quiet = (0x7FF << 52 | 1 << 51) if dtype.bits == 64 else 0x7FC00000
    sign = 1 << (dtype.bits - 1)
    nan = quiet if is_max else quiet | sign
    is_nan = b.cmpf(Predicate.NOT_EQUAL, value, value, ordered=False)
    bits = b.select(is_nan, s.splat(of, shape, nan), bits)
    is_clear = b.cmpi(Predicate.GREATER_EQUAL, bits, s.splat(of, shape, 0), signed=True)
    is_set = b.xori(is_clear, b.constant(TileOf(I1, shape), True))
    integers = _as_integers(s, places, of)
    upwards, downwards = (Mode.MAX, Mode.UMIN) if is_max else (Mode.MIN, Mode.UMAX)
    b.atomic_rmw(upwards, integers, bits, mask=both_masks(s, mask, is_clear), token=s.order.wait)
    b.atomic_rmw(downwards, integers, bits, mask=both_masks(s, mask, is_set), token=s.order.wait)


def _as_integers(s: State, places: Value, of: Number) -> Value:
    """The same addresses, of integers."""
    return s.b.int_to_ptr(s.b.ptr_to_int(places), Pointer(of))
