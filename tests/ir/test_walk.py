"""Visiting and rebuilding IR."""

from __future__ import annotations

from tileproof.ir.ops import (
    At,
    Binary,
    BinaryFn,
    Block,
    Constant,
    If,
    Store,
    TilesLoop,
    blocks,
    operands,
    results,
)
from tileproof.ir.types import INDEX_SCALAR, Access
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
