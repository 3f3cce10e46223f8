"""Everything that computes is taken by the assembler, for the oldest and a newer architecture and both formats."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from oracles.tile_ir_operations import assembled, has_assembler
from tileproof.backends.cuda.codegen import arithmetic, blocks
from tileproof.backends.cuda.codegen.arithmetic import binary, unary
from tileproof.backends.cuda.codegen.conversions import cast
from tileproof.backends.cuda.codegen.positions import known
from tileproof.backends.cuda.codegen.state import Place, State, Target, stored
from tileproof.backends.cuda.codegen.tiles import element_of, shape_of, spread
from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.types import I1, I8, I32, Location, Pointer, Predicate, Value
from tileproof.backends.cuda.tileir.types import Tile as TileOf
from tileproof.diagnostics.spans import Source, Span
from tileproof.ir import ops
from tileproof.ir.ops import BinaryFn, ReduceFn, UnaryFn
from tileproof.ir.rules import sums_to
from tileproof.ir.types import Axis, Tile, TileType, Walker, WalkerTag, WalkerType
from tileproof.ir.types import Value as IrValue
from tileproof.language.dtypes import ALL, BOOL, ENTRY, F32, INDEX, TF32, U64, DType
from tileproof.language.dtypes import I32 as INT
from tileproof.language.dtypes import I64 as LONG

SPAN = Span(Source("kernel.py", ("line\n",)), 1, 1, 1, 5)
N: Walker = IrValue("n", WalkerType("N", 12))
WALKED = Axis(12, WalkerTag(N))
LANES = 128
TARGETS = [("sm_80", (13, 3)), ("sm_90", (13, 4))]
Write = Callable[[Builder, Value, Value], Sequence[Value]]


pytestmark = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")


def named(text: str) -> str:
    return text.replace("?", "_")


def read(b: Builder, pointer: Value, shape: tuple[int, ...], dtype: DType) -> Value:
    value, _ = b.load_ptr(places(b, pointer, shape))
    return b.cmpi(Predicate.NOT_EQUAL, value, b.constant(value.type, 0), signed=False) if dtype == BOOL else value  # type: ignore[arg-type]


def places(b: Builder, pointer: Value, shape: tuple[int, ...]) -> Value:
    if not shape:
        return pointer
    return b.offset(spread(b, pointer, shape), b.reshape(b.iota(math.prod(shape), I32), shape))


def written(b: Builder, value: Value) -> None:
    """Stores a value as bytes of some kind: all results go to one place, so each is used."""
    element = element_of(value)
    if element == I1:
        value, element = b.exti(value, I8, signed=False), I8
    pointer = b.int_to_ptr(b.parameters[-1], Pointer(element))
    b.store_ptr(places(b, pointer, shape_of(value)), value)


def elementwise(name: str, dtype: DType, write: Write) -> Builder:
    pointers = [TileOf(Pointer(stored(dtype)))] * 2
    b = Builder(named(name), [*pointers, TileOf(LONG_HELD)])
    x, y = (read(b, pointer, (LANES,), dtype) for pointer in b.parameters[:2])
    for value in write(b, x, y):
        written(b, value)
    b.return_()
    return b


LONG_HELD = stored(LONG)
"""An address as a number."""


def functions(dtype: DType) -> list[BinaryFn]:
    bits = (BinaryFn.AND, BinaryFn.OR, BinaryFn.XOR, BinaryFn.SHL, BinaryFn.SHR)
    if dtype == BOOL:
        return [*bits[:3], BinaryFn.EQ, BinaryFn.NE]
    if dtype.is_float:
        return [fn for fn in BinaryFn if fn not in bits]
    if dtype == ENTRY:
        return [BinaryFn.FLOORDIV, BinaryFn.MOD]
    return [fn for fn in BinaryFn if fn is not BinaryFn.DIV]


def computes(dtype: DType) -> Write:
    def write(b: Builder, x: Value, y: Value) -> Sequence[Value]:
        results = [binary(b, fn, x, y, dtype) for fn in functions(dtype)]
        if dtype.is_float:
            results += [unary(b, fn, x, dtype) for fn in UnaryFn if fn is not UnaryFn.NOT]
        elif dtype != ENTRY:
            results.append(unary(b, UnaryFn.NOT, x, dtype))
        if dtype.is_integer:
            results += [unary(b, fn, x, dtype) for fn in (UnaryFn.NEG, UnaryFn.ABS)]
            results += [binary(b, fn, x, y, dtype, 8) for fn in (BinaryFn.FLOORDIV, BinaryFn.MOD, BinaryFn.POW)]
        return results

    return write


def converts(source: DType, targets: Sequence[DType], version: tuple[int, int]) -> Write:
    def write(b: Builder, x: Value, y: Value) -> Sequence[Value]:
        exact = source in (INDEX, ENTRY) or (source.is_integer and source != U64)
        wanted = [target for target in targets if target != source and (target != INDEX or exact)]
        return [cast(b, x, source, target, version) for target in wanted]

    return write


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("arch", "version"), TARGETS)
def test_elementwise_operations(arch: str, version: tuple[int, int]) -> None:
    usable = [dtype for dtype in ALL if arch != "sm_80" or not dtype.is_storage_only]
    entries = [
        elementwise(f"compute_{dtype}", dtype, computes(dtype))
        for dtype in (*usable, ENTRY)
        if not dtype.is_storage_only and dtype != TF32
    ]
    entries += [
        elementwise(f"convert_{source}", source, converts(source, (*usable, INDEX), version))
        for source in (*usable, INDEX, ENTRY)
    ]

    def random(b: Builder, x: Value, y: Value) -> Sequence[Value]:
        return [arithmetic.uniform(b, b.parameters[-1], x)]

    assembled([*entries, elementwise("random", INDEX, random)], arch, version)


# Operations on tiles.


def tile(name: str, dtype: DType, *lengths: int | Axis) -> Tile:
    axes = tuple(length if isinstance(length, Axis) else Axis(length) for length in lengths)
    return IrValue(name, TileType(dtype, axes))


def on_tiles(name: str, version: tuple[int, int], arch: str, *operations: ops.AnyOp) -> Builder:
    """An entry of operations, whose operands are read from memory and whose results are written."""
    b = Builder(named(name), [TileOf(I32), TileOf(LONG_HELD)], location=Location("kernel.py", 1, 1))
    nothing: Any = None
    where = {N: Place(known(0), known(0), known(0), b.parameters[0])}
    s = State(b, nothing, nothing, Target(arch, version), nothing, nothing, places=where)
    for op in operations:
        for operand in ops.operands(op):
            if isinstance(operand.type, TileType) and operand not in s.values:
                kind = Pointer(stored(operand.type.dtype))
                pointer = b.int_to_ptr(b.parameters[-1], kind)
                s.put(operand, read(b, pointer, s.padded(operand.type), operand.type.dtype))
        blocks.execute(s, op)
        for result in ops.results(op):
            assert isinstance(result.type, TileType)
            written(b, s.get(result))
    b.return_()
    return b


def reductions(dtype: DType) -> list[ops.AnyOp]:
    x = tile("x", dtype, 3, WALKED)
    fns = dict.fromkeys((ReduceFn.MAX, ReduceFn.MIN), dtype) | dict.fromkeys((ReduceFn.ARGMAX, ReduceFn.ARGMIN), INDEX)
    if dtype == BOOL:
        fns = {ReduceFn.ANY: BOOL, ReduceFn.ALL: BOOL}
    if dtype.is_float:
        fns[ReduceFn.MEAN] = sums_to(dtype)
    fns[ReduceFn.SUM] = sums_to(dtype)
    results: list[ops.AnyOp] = [
        ops.Reduce(SPAN, tile(fn, of, *([3] if axis else [WALKED])), fn, x, axis)
        for fn, of in fns.items()
        for axis in (0, 1)
    ]
    return [*results, ops.CumSum(SPAN, tile("sums", sums_to(dtype), 3, WALKED), x, 1)]


def combiner(dtype: DType, *lengths: int | Axis, by_parts: bool) -> ops.Combiner:
    """(a, b), (c, d) -> (a c, b c + d), with a reduction inside if `by_parts`."""
    a, b, c, d, slope, scaled, moved = (tile(name, dtype, *lengths) for name in "abcdsmv")
    body: list[ops.AnyOp] = [
        ops.Binary(SPAN, slope, BinaryFn.MUL, a, c),
        ops.Binary(SPAN, scaled, BinaryFn.MUL, b, c),
        ops.Binary(SPAN, moved, BinaryFn.ADD, scaled, d),
    ]
    if by_parts:
        wide, same = tile("wide", dtype, 1, *lengths), tile("same", dtype, *lengths)
        body += [ops.Expand(SPAN, wide, moved, 0), ops.Reduce(SPAN, same, ReduceFn.SUM, wide, 0)]
        moved = same
    return ops.Combiner((a, b), (c, d), ops.Block(tuple(body), (slope, moved)))


def combinations(dtype: DType, axis: int, *, by_parts: bool) -> list[ops.AnyOp]:
    rest: list[int | Axis] = [3] if axis else [WALKED]
    combine = combiner(dtype, *rest, by_parts=by_parts)
    operands = tile("x", dtype, 3, WALKED), tile("y", dtype, 3, WALKED)
    identities = tile("i", dtype), tile("j", dtype)
    folded = tile("u", dtype, *rest), tile("v", dtype, *rest)
    scanned = tile("p", dtype, 3, WALKED), tile("q", dtype, 3, WALKED)
    return [
        ops.Fold(SPAN, folded, operands, identities, axis, combine),
        ops.Scan(SPAN, scanned, operands, axis, combine),
    ]


def shapes(dtype: DType) -> list[ops.AnyOp]:
    x, short = tile("x", dtype, 12, 5), tile("z", dtype, WALKED, 5)
    return [
        ops.Reshape(SPAN, tile("a", dtype, 4, 15), x),
        ops.Reshape(SPAN, tile("b", dtype, 60), x),
        ops.Reshape(SPAN, tile("c", dtype, 2, 6, 5), x),
        ops.Slice(SPAN, tile("d", dtype, 7, 5), x, 0, 3, 7),
        ops.Cat(SPAN, tile("e", dtype, 12, 10), (x, x), 1),
        ops.Permute(SPAN, tile("f", dtype, 5, 12), x, (1, 0)),
        ops.Broadcast(SPAN, tile("g", dtype, 3, 12, 5), x),
        ops.Fill(SPAN, tile("h", dtype, 12, 5), short, tile("v", dtype)),
        ops.Reshape(SPAN, tile("k", dtype, 3, 33), tile("w", dtype, 33, 3)),  # too many blocks for a tree
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("arch", "version"), TARGETS)
def test_operations_on_tiles(arch: str, version: tuple[int, int]) -> None:
    usable = [dtype for dtype in ALL if arch != "sm_80" or not dtype.is_storage_only]
    entries = [
        on_tiles(f"reduce_{dtype}", version, arch, *reductions(dtype))
        for dtype in usable
        if not dtype.is_storage_only and dtype != TF32
    ]
    entries += [on_tiles(f"shape_{dtype}", version, arch, *shapes(dtype)) for dtype in (BOOL, INT, *usable[14:15])]
    for dtype, axis in ((INT, 1), (F32, 0)):
        for by_parts in (False, True):
            result = combinations(dtype, axis, by_parts=by_parts)
            entries.append(on_tiles(f"fold_{dtype}_{by_parts}", version, arch, *result))
    assembled(entries, arch, version)
