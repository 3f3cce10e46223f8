"""What comes before and after the programs of a kernel that combines into tensors: identities, and conversions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from tileproof.backends.cuda.tileir.types import I32, I64, Predicate, Value
from tileproof.backends.interpreter import semantics
from tileproof.ir import ops
from tileproof.ir.types import Tensor
from tileproof.language.dtypes import INDEX

from . import positions
from .arithmetic import binary
from .conversions import cast
from .parameters import Parameters, What
from .positions import Position, base_value, known
from .state import ELEMENTS, State, View, stored
from .stores import shadow

CHUNK: Final = 1024
"""How many elements a block works on."""


def is_prepared(tensor: Tensor) -> bool:
    """Whether something is written before programs combine: the identity, or what is kept in a wider type."""
    return not tensor.type.keeps or shadow(tensor.type) is not None


def write_beginnings(s: State, parameters: Parameters, values: Mapping[What, Value], tensors: list[Tensor]) -> None:
    """Writes what every element begins as, before any program combines into it."""
    for tensor in filter(is_prepared, tensors):
        view = s.tensors[tensor]
        if tensor.type.keeps:
            places, inside = _elements(s, view)
            own, dtype = _own_elements(s, parameters, values, tensor), tensor.type.stored_as
            padding = s.splat(stored(dtype), (CHUNK,), 0)
            value, _ = s.b.load_ptr(own, mask=inside, padding=padding, token=s.order.wait)
            value = cast(s.b, value, dtype, view.dtype, s.version)
            s.b.store_ptr(places, value, mask=inside, token=s.order.wait)
            continue
        identity = semantics.identity(ops.BEGINS_AS[tensor.type.access], tensor.type.stored_as)
        wide = semantics.cast(identity, tensor.type.stored_as, view.dtype)
        places, inside = _elements(s, view)
        value = s.splat(stored(view.dtype), (CHUNK,), wide.item())
        s.b.store_ptr(places, value, mask=inside, token=s.order.wait)


def write_back(s: State, parameters: Parameters, values: Mapping[What, Value], tensors: list[Tensor]) -> None:
    """Converts what was combined in a wider type to the type of the tensor; integers wrap, as they would have."""
    for tensor in tensors:
        if shadow(tensor.type) is None:
            continue
        wide, dtype = s.tensors[tensor], tensor.type.stored_as
        places, inside = _elements(s, wide)
        targets = _own_elements(s, parameters, values, tensor)
        padding = s.splat(stored(wide.dtype), (CHUNK,), 0)
        value, _ = s.b.load_ptr(places, mask=inside, padding=padding, token=s.order.wait)
        if dtype.is_integer:
            value = s.b.trunci(value, ELEMENTS[dtype.name])
        else:
            value = cast(s.b, value, wide.dtype, dtype, s.version)
        s.b.store_ptr(targets, value, mask=inside, token=s.order.wait)


def _own_elements(s: State, parameters: Parameters, values: Mapping[What, Value], tensor: Tensor) -> Value:
    """The addresses of the elements of the tensor itself, where another array is combined into."""
    wide = s.tensors[tensor]
    strides = tuple(parameters.stride(s, values, tensor, axis) for axis in range(len(wide.extents)))
    own = replace(wide, pointer=values["pointer", tensor.name], strides=strides, dtype=tensor.type.stored_as)
    return _elements(s, own)[0]


def _elements(s: State, view: View) -> tuple[Value, Value]:
    """The addresses of the elements of a tensor that are a block's to work on, and which of them exist."""
    b, line = s.b, (CHUNK,)
    block = b.exti(b.get_tile_block_id()[0], I64, signed=True)
    first = b.muli(block, s.splat(I64, (), CHUNK))
    here = b.addi(s.spread(first, line), b.exti(b.iota(CHUNK, I32), I64, signed=True))
    count: Position = known(1)
    for extent in view.extents:
        grown = positions.times(b, count, extent)
        assert grown is not None
        count = grown
    inside = b.cmpi(Predicate.LESS, here, s.spread(base_value(b, count), line), signed=True)
    rest, offset = here, s.splat(I64, line, 0)
    for axis in reversed(range(len(view.extents))):
        place = rest
        if axis:
            length = s.spread(base_value(b, view.extents[axis]), line)
            place = binary(b, ops.BinaryFn.MOD, rest, length, INDEX)
            rest = binary(b, ops.BinaryFn.FLOORDIV, rest, length, INDEX)
        stride = view.strides[axis]
        if isinstance(stride, int):
            step = s.splat(I64, line, stride)
        else:
            step = s.spread(stride if s.coordinate == I64 else b.exti(stride, I64, signed=True), line)
        offset = b.addi(offset, b.muli(place, step))
    return b.offset(s.spread(view.pointer, line), offset), inside
