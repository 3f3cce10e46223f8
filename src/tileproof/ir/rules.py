"""The law of types: what each operation demands of its operands, and the type of its result.

One function per group of operations. `verifier` applies them to a whole kernel, together with the laws of
scope, loops and access.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from tileproof.language.dtypes import (
    BF16,
    BOOL,
    ENTRY,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    F64,
    I8,
    I32,
    I64,
    INDEX,
    TF32,
    U8,
    U64,
    DType,
)

from . import ops
from .types import (
    INDEX_SCALAR,
    Axis,
    Content,
    DimensionTag,
    Extent,
    Length,
    TensorType,
    TileType,
    WalkerTag,
    WalkerType,
    at_least,
)

ACCUMULATES: Mapping[DType, DType] = {
    F8E4M3: F32, F8E5M2: F32, F16: F32, BF16: F32, TF32: F32, F32: F32, F64: F64, I8: I32, U8: I32,
}  # fmt: skip
"""The type in which `mma` adds up products of each type it takes."""
_INTEGER = ("int", "uint")
_NUMBER = ("float", *_INTEGER, "index")


class Broken(Exception):
    """A rule that an operation breaks, in a sentence."""


def demand(holds: bool, rule: str, *about: object) -> None:
    """Raises `Broken` unless a rule holds. `{}` in the rule is formatted with `about`, and only if it is broken."""
    if not holds:
        raise Broken(rule.format(*about))


@dataclass(frozen=True, slots=True)
class Dimensions:
    """The dimensions of a kernel: all names its tensors have, and the lengths of the static ones."""

    names: frozenset[str]
    static: Mapping[str, Length]

    def check_named(self, name: str) -> None:
        demand(name in self.names, "{} is not a dimension of any tensor", name)


def sums_to(dtype: DType) -> DType:
    """The type sums of `dtype` have: nothing narrower than 32 bits."""
    if dtype.bits >= 32:
        return dtype
    return F32 if dtype.is_float else I32


def check_tile_type(of: TileType, dimensions: Dimensions) -> None:
    """An axis is as long as the walker or dimension of its tag. The verifier checks that the walker is in scope."""
    for axis in of.axes:
        demand(at_least(axis.length, 0) is not False, "an axis of {} has a negative length", of)
        match axis.tag:
            case WalkerTag(walker):
                demand(walker.type.size == axis.length, "the axis {} is not as long as {!r}", axis, walker)
            case DimensionTag(name):
                demand(name in dimensions.static, "an axis of {} is tagged {}, which is not static", of, name)
                demand(dimensions.static[name] == axis.length, "the axis {} is not as long as {}", axis, name)
            case None:
                pass
            case _:
                assert_never(axis.tag)


def check_tensor_type(of: TensorType, dimensions: Dimensions) -> None:
    """An index tensor is stored as integers and points into a dimension; other types have a storage."""
    match of.element:
        case Content(dimension=dimension, storage=storage):
            dimensions.check_named(dimension)
            demand(storage in (I32, I64), "indices are stored as i32 or i64, not {}", storage)
        case DType():
            demand(of.element.storage is not None, "{} is not stored in tensors", of.element)
        case _:
            assert_never(of.element)


def check_walker_type(of: WalkerType, dimensions: Dimensions) -> None:
    """A walker walks a dimension in tiles that are not empty."""
    dimensions.check_named(of.dimension)
    demand(of.size is None or at_least(of.size, 1) is not False, "tiles of {} elements walk nowhere", of.size)
    demand(not (of.is_piece and of.is_each), "a piece has a length")


def check_shift(op: ops.Shift) -> None:
    """A shift moves a tile or piece, and makes a tile of the same dimension and size."""
    of = op.walker.type
    demand(not of.is_each, "{!r} is no tile to shift", op.walker)
    demand(op.by.type == INDEX_SCALAR, "a shift is by an index, not {}", op.by.type)
    expected = WalkerType(of.dimension, of.size)
    demand(op.result.type == expected, "the result is {}, not {}", expected, op.result.type)


def check_pure(op: ops.PureOp, dimensions: Dimensions) -> None:
    """Raises `Broken` unless the result type of an operation on tiles follows from its operands."""
    match op:
        case ops.Constant() | ops.Extents() | ops.Start() | ops.Stop() | ops.Elements() | ops.Number():
            _check_source(op, dimensions)
        case ops.Iota() | ops.Group() | ops.Random():
            _check_source(op, dimensions)
        case ops.Unary() | ops.Binary() | ops.Select() | ops.Cast() | ops.Bitcast():
            _check_elementwise(op)
        case ops.Broadcast() | ops.Expand() | ops.Permute() | ops.Reshape() | ops.Slice() | ops.Cat() | ops.Fill():
            _check_shape(op)
        case ops.Take(operand=operand, axis=axis, index=index):
            check_axis(operand.type, axis)
            demand(index.type == INDEX_SCALAR, "a place is an index, not {}", index.type)
            _gives(op.result.type, operand.type.without(axis))
        case ops.Reduce() | ops.CumSum() | ops.Mma():
            _check_combining(op)
        case _:
            assert_never(op)


def _check_source(
    op: ops.Constant | ops.Extents | ops.Start | ops.Stop | ops.Elements | ops.Number | ops.Iota | ops.Group
    | ops.Random, dimensions: Dimensions,
) -> None:  # fmt: skip
    match op:
        case ops.Constant():
            _check_constant(op)
        case ops.Extents(dimension=str(name), tensor=None):
            dimensions.check_named(name)
            _gives(op.result.type, INDEX_SCALAR)
        case ops.Extents(dimension=None, tensor=tensor) if tensor is not None:
            demand(0 <= op.axis < len(tensor.type.dimensions), "{!r} has no axis {}", tensor, op.axis)
            _gives(op.result.type, INDEX_SCALAR)
        case ops.Extents():
            raise Broken("an extent is that of a named dimension or of an axis of a tensor, not both")
        case ops.Start() | ops.Stop() | ops.Number():
            _gives(op.result.type, INDEX_SCALAR)
        case ops.Elements(walker=walker):
            if walker.type.size is None:
                raise Broken("an element has no elements")
            _gives(op.result.type, TileType(INDEX, (Axis(walker.type.size, WalkerTag(walker)),)))
        case ops.Iota(result=result):
            is_plain = result.type.rank == 1 and result.type.axes[0].tag is None
            demand(is_plain and result.type.dtype == INDEX, "counting gives one untagged axis of index")
        case ops.Group(index=index):
            dimensions.check_named(op.dimension)
            dimensions.check_named(op.into)
            demand(index.type.dtype == INDEX, "what is grouped is an index")
            _gives(op.result.type, index.type)
        case ops.Random(seed=seed, offset=offset):
            demand(seed.type == TileType(I64), "a seed is one i64, not {}", seed.type)
            demand(offset.type.dtype == INDEX, "offsets are index, not {}", offset.type.dtype)
            _gives(op.result.type, TileType(F32, offset.type.axes))
        case _:
            assert_never(op)


def _check_constant(op: ops.Constant) -> None:
    dtype, value = op.result.type.dtype, op.value
    demand(op.result.type.rank == 0, "a constant has no axes; broadcast it")
    match dtype.kind:
        case "bool":
            demand(isinstance(value, bool), "a bool constant is True or False")
        case "float":
            demand(not isinstance(value, bool), "a constant of {} is a number", dtype)
        case _:
            is_whole = isinstance(value, int | Extent) and not isinstance(value, bool)
            demand(is_whole, "a constant of {} is a whole number", dtype)
            low = 0 if dtype.kind == "uint" else -(2 ** (dtype.bits - 1))
            if dtype == ENTRY and isinstance(value, int):
                demand(value >= -1, "{} is neither a position nor none", value)
            if isinstance(value, int):
                demand(low <= value < low + 2**dtype.bits, "{} does not fit {}", value, dtype)


def _takes(fn: ops.UnaryFn | ops.BinaryFn | ops.ReduceFn, dtype: DType) -> bool:
    """Whether a function takes `dtype`. `tf32` and the 8-bit floats have no arithmetic but `mma`."""
    if dtype == ENTRY:
        return fn in (ops.BinaryFn.FLOORDIV, ops.BinaryFn.MOD)
    return dtype.kind in kinds_of(fn) and not dtype.is_storage_only and dtype != TF32


def kinds_of(fn: ops.UnaryFn | ops.BinaryFn | ops.ReduceFn) -> tuple[str, ...]:
    """The kinds of element types that a function takes."""
    match fn:
        case ops.ReduceFn.ANY | ops.ReduceFn.ALL:
            return ("bool",)
        case ops.UnaryFn.NOT | ops.BinaryFn.AND | ops.BinaryFn.OR:
            return ("bool", *_INTEGER)
        case ops.BinaryFn.XOR:
            return ("bool", *_INTEGER, "index")
        case ops.BinaryFn.SHL | ops.BinaryFn.SHR:
            return _INTEGER
        case ops.BinaryFn.CDIV:
            return (*_INTEGER, "index")
        case ops.BinaryFn.POW:
            return ("float", *_INTEGER)
        case ops.BinaryFn.EQ | ops.BinaryFn.NE | ops.ReduceFn.SUM:
            return ("bool", *_NUMBER)
        case ops.UnaryFn.NEG | ops.UnaryFn.ABS:
            return _NUMBER
        case ops.BinaryFn.DIV | ops.ReduceFn.MEAN | ops.UnaryFn():
            return ("float",)
        case ops.BinaryFn() | ops.ReduceFn():
            return _NUMBER
        case _:
            assert_never(fn)


def _check_elementwise(op: ops.Unary | ops.Binary | ops.Select | ops.Cast | ops.Bitcast) -> None:
    match op:
        case ops.Unary(fn=fn, operand=operand):
            demand(_takes(fn, operand.type.dtype), "{} does not take {}", fn, operand.type.dtype)
            dtype = BOOL if fn is ops.UnaryFn.ISNAN else operand.type.dtype
            _gives(op.result.type, TileType(dtype, operand.type.axes))
        case ops.Binary(fn=fn, left=left, right=right):
            demand(left.type == right.type, "the operands of {} differ: {} and {}", fn, left.type, right.type)
            demand(_takes(fn, left.type.dtype), "{} does not take {}", fn, left.type.dtype)
            _gives(op.result.type, TileType(BOOL, left.type.axes) if fn.compares else left.type)
        case ops.Select(condition=condition, yes=yes, no=no):
            demand(yes.type == no.type, "the two choices differ: {} and {}", yes.type, no.type)
            chooser = TileType(BOOL, yes.type.axes)
            demand(condition.type == chooser, "the condition is {}, not {}", condition.type, chooser)
            _gives(op.result.type, yes.type)
        case ops.Cast(operand=operand):
            source, target = operand.type.dtype, op.result.type.dtype
            is_exact = source in (INDEX, ENTRY) or (source.is_integer and source != U64)
            demand(target != INDEX or is_exact, "{} does not become an index", source)
            demand(target != ENTRY or source == INDEX, "only a load or a position gives {}", ENTRY)
            _gives(op.result.type, TileType(target, operand.type.axes))
        case ops.Bitcast(operand=operand):
            source, target = operand.type.dtype, op.result.type.dtype
            for dtype in (source, target):
                has_bits = dtype.storage is not None and dtype != BOOL
                demand(has_bits, "{} has no bits of its own", dtype)
            demand(source.bits == target.bits, "{} and {} differ in width", source, target)
            _gives(op.result.type, TileType(target, operand.type.axes))
        case _:
            assert_never(op)


def _check_shape(op: ops.Broadcast | ops.Expand | ops.Permute | ops.Reshape | ops.Slice | ops.Cat | ops.Fill) -> None:
    match op:
        case ops.Broadcast(operand=operand, result=result):
            demand(operand.type.dtype == result.type.dtype, "broadcasting keeps the element type")
            check_broadcast(operand.type.axes, result.type.axes)
        case ops.Expand(operand=operand, axis=axis):
            axes = operand.type.axes
            demand(0 <= axis <= len(axes), "{} cannot get an axis {}", operand.type, axis)
            _gives(op.result.type, TileType(operand.type.dtype, (*axes[:axis], Axis(1), *axes[axis:])))
        case ops.Permute(operand=operand, order=order):
            demand(sorted(order) == list(range(operand.type.rank)), "{} does not order {}", order, operand.type)
            axes = tuple(operand.type.axes[axis] for axis in order)
            _gives(op.result.type, TileType(operand.type.dtype, axes))
        case ops.Reshape(operand=operand, result=result):
            demand(operand.type.dtype == result.type.dtype, "reshaping keeps the element type")
            demand(all(axis.is_full for axis in operand.type.axes), "{} may be short", operand.type)
            demand(all(axis.tag is None for axis in result.type.axes), "reshaping gives untagged axes")
            excess = operand.type.size - result.type.size
            may_fit = excess == 0 or isinstance(excess, Extent)
            demand(may_fit, "{} and {} differ in size", operand.type, result.type)
        case ops.Slice(operand=operand, axis=axis, start=start, length=length):
            check_axis(operand.type, axis)
            before, after = operand.type.axes[:axis], operand.type.axes[axis + 1 :]
            sliced = operand.type.axes[axis]
            demand(sliced.is_full, "axis {} of {} may be short", axis, operand.type)
            room = sliced.length - start - length
            is_inside = all(at_least(part, 0) is not False for part in (start, length, room))
            demand(is_inside, "the slice leaves axis {} of {}", axis, operand.type)
            _gives(op.result.type, TileType(operand.type.dtype, (*before, Axis(length), *after)))
        case ops.Cat():
            _check_cat(op)
        case ops.Fill(operand=operand, value=value):
            scalar = TileType(operand.type.dtype)
            demand(value.type == scalar, "what stands for missing elements is {}, not {}", scalar, value.type)
            plain = tuple(Axis(axis.length) for axis in operand.type.axes)
            _gives(op.result.type, TileType(operand.type.dtype, plain))
        case _:
            assert_never(op)


def _check_cat(op: ops.Cat) -> None:
    demand(op.operands != (), "there is nothing to put together")
    first, axis = op.operands[0].type, op.axis
    total: Length = 0
    for operand in op.operands:
        check_axis(operand.type, axis)
        joined = operand.type.axes[axis]
        demand(joined.is_full, "axis {} of {} may be short", axis, operand.type)
        total = total + joined.length
        beside = operand.type.without(axis) == first.without(axis)
        demand(beside, "{} and {} differ beside axis {}", first, operand.type, axis)
    _gives(op.result.type, TileType(first.dtype, (*first.axes[:axis], Axis(total), *first.axes[axis + 1 :])))


def _check_combining(op: ops.Reduce | ops.CumSum | ops.Mma) -> None:
    match op:
        case ops.Reduce(fn=fn, operand=operand, axis=axis):
            check_axis(operand.type, axis)
            dtype = _reduced(fn, operand.type.dtype)
            _gives(op.result.type, TileType(dtype, operand.type.without(axis).axes))
        case ops.CumSum(operand=operand, axis=axis):
            check_axis(operand.type, axis)
            _gives(op.result.type, TileType(_reduced(ops.ReduceFn.SUM, operand.type.dtype), operand.type.axes))
        case ops.Mma(left=left, right=right, acc=acc):
            is_matrices = left.type.rank == right.type.rank and left.type.rank in (2, 3)
            demand(is_matrices, "a product is of two tiles with two axes each, or with three")
            (*batch, rows, inner), (*others, other, columns) = left.type.axes, right.type.axes
            demand(batch == others, "the first axes differ: {} and {}", left.type, right.type)
            demand(inner == other, "the inner axes differ: {} and {}", inner, other)
            demand(left.type.dtype == right.type.dtype, "the factors differ in element type")
            demand(left.type.dtype in ACCUMULATES, "there is no product of {}", left.type.dtype)
            total = TileType(ACCUMULATES[left.type.dtype], (*batch, rows, columns))
            demand(acc.type == total, "the accumulator is {}, not {}", acc.type, total)
            _gives(op.result.type, total)
        case _:
            assert_never(op)


def _reduced(fn: ops.ReduceFn, dtype: DType) -> DType:
    """The element type of a reduction of `dtype`; raises `Broken` if there is none."""
    demand(_takes(fn, dtype), "{} does not take {}", fn, dtype)
    match fn:
        case ops.ReduceFn.SUM | ops.ReduceFn.MEAN:
            return sums_to(dtype)
        case ops.ReduceFn.ARGMAX | ops.ReduceFn.ARGMIN:
            return INDEX
        case ops.ReduceFn.MAX | ops.ReduceFn.MIN | ops.ReduceFn.ANY | ops.ReduceFn.ALL:
            return dtype
        case _:
            assert_never(fn)


def check_broadcast(source: tuple[Axis, ...], target: tuple[Axis, ...]) -> None:
    """numpy's rule, with tags: an untagged axis takes any tag and stretches from 1, a tagged one stays."""
    demand(len(source) <= len(target), "broadcasting drops no axis")
    for old, new in zip(reversed(source), reversed(target), strict=False):
        fits = old == new or (old.tag is None and old.length in (1, new.length))
        demand(fits, "the axis {} cannot become {}", old, new)


def _gives(actual: TileType, expected: TileType) -> None:
    demand(actual == expected, "the result is {}, not {}", expected, actual)


def check_axis(of: TileType, axis: int) -> None:
    """The tile has that axis. Negative axes are resolved by the front end."""
    demand(0 <= axis < of.rank, "{} has no axis {}", of, axis)
