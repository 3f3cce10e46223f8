"""What comes before and after the programs of a kernel that combines into tensors: identities, and conversions back."""

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


def write_identities(s: State, tensors: list[Tensor]) -> None:
    """Writes the identity into every element, before any program combines into it."""
    for tensor in tensors:
        view = s.tensors[tensor]
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
        strides = tuple(parameters.stride(s, values, tensor, axis) for axis in range(len(wide.extents)))
        own = replace(wide, pointer=values["pointer", tensor.name], strides=strides, dtype=dtype)
        places, inside = _elements(s, wide)
        targets, _ = _elements(s, own)
        padding = s.splat(stored(wide.dtype), (CHUNK,), 0)
        value, _ = s.b.load_ptr(places, mask=inside, padding=padding, token=s.order.wait)
        if dtype.is_integer:
            value = s.b.trunci(value, ELEMENTS[dtype.name])
        else:
            value = cast(s.b, value, wide.dtype, dtype, s.version)
        s.b.store_ptr(targets, value, mask=inside, token=s.order.wait)


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
