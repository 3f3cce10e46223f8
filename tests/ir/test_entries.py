"""The law of entries: what comes from an index tensor may be none, and few operations keep that."""

from __future__ import annotations

from typing import Any

import pytest

from tileproof.ir.ops import (
    At,
    BinaryFn,
    Bitcast,
    Broadcast,
    Cast,
    Cat,
    CumSum,
    Expand,
    Fill,
    Gather,
    Group,
    Permute,
    Print,
    Reduce,
    ReduceFn,
    Reshape,
    Select,
    Slice,
    Unary,
    UnaryFn,
    Update,
)
from tileproof.ir.types import INDEX_SCALAR, Access, Axis, Content, TileType, symbol
from tileproof.language.dtypes import BOOL, ENTRY, F32, I32, I64, INDEX, U8, DType

from .builder import Broken, Builder, accepts, of, refusal, tile
from .builder import Fill as Filling

broken = Broken()
NONE = TileType(ENTRY)


@pytest.mark.parametrize(("kind", "dtype"), [("Index", ENTRY), ("Unique", ENTRY), ("Offsets", INDEX)])
def test_a_load_from_an_index_tensor_gives_entries_and_from_offsets_positions(kind: str, dtype: DType) -> None:
    b = Builder()
    x = b.tensor("x", Access.IN, Content(kind, "N", I32), "N")
    assert b.load(x, At(b.number(0))).type == TileType(dtype)
    assert accepts(b)


@pytest.mark.parametrize(("value", "is_good"), [(-1, True), (0, True), (symbol("D"), True), (-2, False), (0.5, False)])
def test_a_constant_entry_is_a_position_or_none(value: Any, is_good: bool) -> None:
    b = Builder()
    b.number(value, ENTRY)
    assert accepts(b) is is_good


def test_what_moves_entries_keeps_them() -> None:
    b = Builder()
    one = tile(b, ENTRY, 4)
    b.op(Expand, of(ENTRY, 4, 1), operand=one, axis=1)
    b.op(Broadcast, of(ENTRY, 2, 4), operand=one)
    b.op(Permute, of(ENTRY, 4), operand=one, order=(0,))
    b.op(Reshape, of(ENTRY, 2, 2), operand=one)
    b.op(Slice, of(ENTRY, 2), operand=one, axis=0, start=0, length=2)
    b.op(Cat, of(ENTRY, 8), operands=(one, one), axis=0)
    b.op(Select, one.type, condition=tile(b, BOOL, 4), yes=one, no=one)
    b.op(Fill, one.type, operand=one, value=b.number(-1, ENTRY))
    zero, ten = b.number(0), b.number(10)
    with b.counting("n", zero, ten, ten, one) as loop:
        loop.yields = loop.carried
    with b.when(b.scalar("c", BOOL), one.type) as choice:
        choice.yields = (one,)
        with b.otherwise(choice):
            choice.tested = loop.results
    b.emit(Print(b.span, "entries", choice.results))
    assert refusal(b) == ""


# Arithmetic.


@pytest.mark.parametrize("fn", list(BinaryFn))
def test_only_division_keeps_none(fn: BinaryFn) -> None:
    b = Builder()
    b.binary(fn, tile(b, ENTRY, 4), b.full(16, of(ENTRY, 4)))
    assert accepts(b) is (fn in (BinaryFn.FLOORDIV, BinaryFn.MOD))


@pytest.mark.parametrize("fn", [UnaryFn.NEG, UnaryFn.ABS, UnaryFn.NOT, UnaryFn.EXP])
def test_no_function_of_one_element_takes_entries(fn: UnaryFn) -> None:
    b = Builder()
    b.op(Unary, NONE, fn=fn, operand=tile(b, ENTRY))
    assert refusal(b).endswith(f"{fn} does not take index?")


@pytest.mark.parametrize("fn", list(ReduceFn))
def test_entries_are_not_reduced(fn: ReduceFn) -> None:
    b = Builder()
    made = INDEX if fn in (ReduceFn.ARGMAX, ReduceFn.ARGMIN) else ENTRY
    b.op(Reduce, of(made), fn=fn, operand=tile(b, ENTRY, 4), axis=0)
    assert refusal(b).endswith(f"{fn} does not take index?")


def test_a_symbolic_constant_may_divide_entries() -> None:
    b = Builder()
    b.binary(BinaryFn.FLOORDIV, tile(b, ENTRY), b.number(symbol("S"), ENTRY))
    assert accepts(b)


@broken.rule("index? is divided by a constant of at least 0, not v2: index?")
def division_by_a_negative(b: Builder) -> None:
    b.binary(BinaryFn.MOD, tile(b, ENTRY), b.number(-1, ENTRY))


@broken.rule("index? is divided by a constant of at least 0, not v1: index?")
def division_by_an_entry(b: Builder) -> None:
    x = b.tensor("x", Access.IN, Content("Index", "N", I32), "N")
    slot = b.load(x, At(b.number(0)))
    b.binary(BinaryFn.FLOORDIV, slot, slot)


@broken.rule("the operands of floordiv differ: index? and index")
def division_by_a_position(b: Builder) -> None:
    b.binary(BinaryFn.FLOORDIV, tile(b, ENTRY), b.number(16))


@broken.rule("sum does not take index?")
def running_sum_of_entries(b: Builder) -> None:
    b.op(CumSum, of(ENTRY, 4), operand=tile(b, ENTRY, 4), axis=0)


@broken.rule("what is grouped is an index")
def group_of_an_entry(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "H G")
    b.op(Group, NONE, index=tile(b, ENTRY), dimension="H", into="G")


@broken.rule("index? is not combined; none has no arithmetic")
def fold_of_entries(b: Builder) -> None:
    with b.combining(NONE) as pair:
        pair.yields = pair.left
    b.fold(pair.combiner, tile(b, ENTRY, 4), identities=(b.number(-1, ENTRY),), axis=0)


# Conversions.


@pytest.mark.parametrize("target", [INDEX, I64, U8, F32], ids=str)
def test_an_entry_becomes_a_number(target: DType) -> None:
    b = Builder()
    b.op(Cast, of(target, 4), operand=tile(b, ENTRY, 4))
    assert accepts(b)


@pytest.mark.parametrize("source", [ENTRY, I32], ids=str)
def test_only_an_index_becomes_an_entry(source: DType) -> None:
    b = Builder()
    b.op(Cast, NONE, operand=tile(b, source))
    assert refusal(b).endswith("only a load or a position gives index?")
    b = Builder()
    b.op(Cast, NONE, operand=tile(b, INDEX))
    assert accepts(b)


@broken.rule("index? has no bits of its own")
def bitcast_of_an_entry(b: Builder) -> None:
    b.op(Bitcast, of(I64), operand=tile(b, ENTRY))


# Accesses.


def test_entries_pick_elements_as_positions_do() -> None:
    b = Builder()
    x = b.tensor("x", Access.IN, F32, "N N")
    total = b.tensor("total", Access.SUM, F32, "N")
    several = tile(b, ENTRY, 4)
    values = b.load(x, At(tile(b, ENTRY)), Gather(several), axes=(Axis(4),))
    b.get(x, Gather(several), At(tile(b, ENTRY)), fill=b.number(0.0, F32), axes=(Axis(4),))
    b.emit(Update(b.span, total, (Gather(several),), values))
    assert refusal(b) == ""


@pytest.mark.parametrize("dtype", [INDEX, ENTRY], ids=str)
def test_entries_and_positions_are_stored_in_an_index_tensor(dtype: DType) -> None:
    b = Builder()
    y = b.tensor("y", Access.OUT, Content("Index", "N", I32), "N")
    b.store(y, At(b.number(0)), value=tile(b, dtype))
    assert accepts(b)


@broken.rule("the region is index, the value index?")
def entry_stored_among_offsets(b: Builder) -> None:
    y = b.tensor("y", Access.OUT, Content("Offsets", "N", I32), "N")
    b.store(y, At(b.number(0)), value=tile(b, ENTRY))


@broken.rule("a loop counts in indices, not v1: index?")
def range_up_to_an_entry(b: Builder) -> None:
    zero, stop = b.number(0), b.number(4, ENTRY)
    with b.counting("n", zero, stop, zero):
        pass


@broken.rule("what is carried and what an iteration yields differ: v1: index and v2: index?")
def position_that_becomes_none(b: Builder) -> None:
    zero = b.number(0)
    assert zero.type == INDEX_SCALAR
    with b.counting("n", zero, zero, zero, zero) as loop:
        loop.yields = (b.number(-1, ENTRY),)


@broken
def test_what_would_lose_none_is_refused(fill: Filling, message: str) -> None:
    b = Builder()
    fill(b)
    assert refusal(b).endswith(f": {message}")
