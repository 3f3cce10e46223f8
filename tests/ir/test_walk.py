"""Visiting and rebuilding IR."""

from __future__ import annotations

from tileproof.ir.ops import (
    At,
    Binary,
    BinaryFn,
    Block,
    Constant,
    If,
    Segments,
    Store,
    TilesLoop,
    blocks,
    operands,
    results,
)
from tileproof.ir.types import INDEX_SCALAR, Access, Axis, TileType
from tileproof.ir.walk import map_blocks, substitute, uses, walk
from tileproof.language.dtypes import BOOL, F32, INDEX

from . import kernels
from .builder import Builder, tiles


def test_every_operation_is_visited_before_those_it_holds() -> None:
    b = Builder()
    with b.when(b.scalar("c", BOOL)) as choice:
        b.number(1)
        with b.otherwise(choice):
            b.number(2)
    b.number(3)
    kinds = [op.value if isinstance(op, Constant) else type(op) for op in walk(b.kernel().body)]
    assert kinds == [If, 1, 2, 3]


def test_operands_results_and_blocks_of_a_loop() -> None:
    b = Builder()
    k = tiles("k", "K", 8)
    start, init = b.number(0), b.number(1)
    with b.walking(k, init, start=start) as loop:
        loop.yields = loop.carried
    op = b.ops[-1]
    assert isinstance(op, TilesLoop)
    assert operands(op) == (start, init), "the walker and the carried values are its own"
    assert results(op) == loop.results
    assert blocks(op) == (op.body,)


def test_operands_and_results_that_are_no_tiles() -> None:
    b = Builder()
    cache, offsets = b.tensor("c", Access.INOUT, F32, "N"), b.tensor("o", Access.IN, F32, "_")
    at = b.number(3)
    parts = b.split(cache, 0, at)
    split = b.ops[-1]
    assert (operands(split), results(split)) == ((cache, at), parts)
    n, number = tiles("n", "N", 8), b.value(INDEX_SCALAR, "e")
    with b.parallel(n, segments=(Segments(n, offsets, number),)):
        later = b.shift("m", n, at)
        shift = b.ops[-1]
    assert (operands(shift), results(shift)) == ((n, at), (later,))
    assert operands(b.ops[-1]) == (offsets,), "walkers and numbers of segments are its own"


def test_a_combiner_is_a_block() -> None:
    b = Builder()
    old, new = b.scalar("old", F32), b.scalar("new", F32)
    with b.combining(TileType(F32)) as pair:
        pair.yields = (b.add(pair.left[0], old),)
    line = b.full(0.0, TileType(F32, (Axis(4),)))
    made = b.fold(pair.combiner, line, identities=(old,), axis=0)
    fold = b.ops[-1]
    assert (operands(fold), results(fold)) == ((line, old), made)
    assert blocks(fold) == (pair.combiner.body,)
    assert any(isinstance(op, Binary) for op in walk(b.kernel().body))
    used = uses(substitute(b.kernel().body, {old: new}))
    assert {new, *pair.combiner.body.yields} <= used
    assert old not in used


def test_uses_are_operands_and_yields_at_any_depth() -> None:
    b = Builder()
    one = b.number(1)
    unused = b.number(2)
    with b.when(b.scalar("c", BOOL), INDEX_SCALAR) as choice:
        choice.yields = (one,)
        with b.otherwise(choice):
            choice.tested = (one,)
    used = uses(b.kernel().body)
    assert one in used
    assert unused not in used
    assert choice.results[0] not in used


def test_blocks_are_mapped_in_place() -> None:
    for make in kernels.ALL:
        for op in walk(make().body):
            emptied = map_blocks(op, lambda block: Block((), block.yields))
            assert type(emptied) is type(op)
            assert all(block.ops == () for block in blocks(emptied))
            assert results(emptied) == results(op)


def test_a_value_is_replaced_wherever_it_is_used() -> None:
    b = Builder()
    y = b.tensor("y", Access.INOUT, INDEX, "N")
    old, new = b.scalar("old", F32), b.scalar("new", F32)
    place, other = b.value(INDEX_SCALAR, "place"), b.value(INDEX_SCALAR, "other")
    with b.counting("n", place, place, place, place) as loop:
        b.store(y, At(place), value=b.add(loop.carried[0], place))
        loop.yields = (place,)
    b.binary(BinaryFn.MUL, old, old)
    changed = substitute(b.kernel().body, {place: other, old: new})
    used = uses(changed)
    assert {other, new} <= used
    assert not {place, old} & used
    stores = [op for op in walk(changed) if isinstance(op, Store)]
    assert stores[0].picks == (At(other),)
    assert isinstance(changed.ops[-1], Binary)
    assert changed.ops[-1].span == b.ops[-1].span


def test_replacing_nothing_changes_nothing() -> None:
    for make in kernels.ALL:
        kernel = make()
        assert substitute(kernel.body, {}) == kernel.body
