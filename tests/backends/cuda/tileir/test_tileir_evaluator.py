"""The evaluator of Tile IR that other tests stand on: what it computes, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from oracles.tile_ir import Lanes, Undefined, evaluate, launch
from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.decode import decode
from tileproof.backends.cuda.tileir.encode import encode
from tileproof.backends.cuda.tileir.types import (
    F8E4M3,
    F32,
    F64,
    I1,
    I8,
    I32,
    I64,
    Mode,
    Module,
    Order,
    Padding,
    PartitionView,
    Pointer,
    Predicate,
    Rounding,
    Scope,
    StridedView,
    TensorView,
    Tile,
    Token,
    Value,
)

FOUR = Tile(I32, (4,))
Write = Callable[[Builder, Value], Value]


def tried(write: Write, lanes: Lanes | Sequence[float], kind: Tile = FOUR) -> Lanes:
    """What an operation gives for some lanes."""
    b, x = Builder("tried", []), Value(kind)
    arguments = (
        lanes if isinstance(lanes, Lanes) else Lanes(np.array(lanes, np.float32 if kind.element == F32 else np.int32))
    )
    result = write(b, x)
    return evaluate(b, {x: arguments}, result)[0]


FLOATS = Tile(F32, (4,))
SOME = Lanes(np.array([1, 2, 3, 4], np.int32), np.array([False, False, True, True]))


def number(b: Builder, value: int) -> Value:
    return b.constant(Tile(I32), value)


def all_of(b: Builder, value: float, kind: Tile = FOUR) -> Value:
    return b.constant(kind, value)


@pytest.mark.parametrize(
    ("write", "lanes", "kind"),
    [
        (lambda b, x: b.divi(x, x, signed=True), [0, 1, 1, 1], FOUR),
        (lambda b, x: b.divi(x, all_of(b, -1), signed=True), [-(2**31), 1, 1, 1], FOUR),
        (lambda b, x: b.remi(x, all_of(b, 0), signed=False), [1, 1, 1, 1], FOUR),
        (lambda b, x: b.shli(x, all_of(b, 32)), [1, 1, 1, 1], FOUR),
        (lambda b, x: b.shri(x, all_of(b, -1), signed=True), [1, 1, 1, 1], FOUR),
        (lambda b, x: b.ftoi(x, I32, signed=True), [np.nan, 0, 0, 0], FLOATS),
        (lambda b, x: b.ftoi(x, I8, signed=False), [256.0, 0, 0, 0], FLOATS),
        (lambda b, x: b.ftof(x, F8E4M3), [449.0, 0, 0, 0], FLOATS),
        (lambda b, x: b.extract(x, [number(b, 4)], (1,)), [1, 2, 3, 4], FOUR),
        (lambda b, x: b.assume_divisible(x, 4), [4, 8, 6, 0], FOUR),
        (lambda b, x: b.assume_bounded(x, 0, 7), [4, 8, 6, 0], FOUR),
    ],
)
def test_what_is_undefined_is_refused(write: Write, lanes: list[float], kind: Tile) -> None:
    with pytest.raises(Undefined):
        tried(write, lanes, kind)


def test_loops_that_do_not_go_forward_are_refused() -> None:
    b = Builder("tried", [])
    loop = b.for_(number(b, 0), number(b, 4), number(b, 0), ())
    with b.inside(loop.block):
        b.continue_()
    with pytest.raises(Undefined, match="forward"):
        evaluate(b, {})


def test_dead_lanes_spread_until_they_are_replaced() -> None:
    doubled = tried(lambda b, x: b.addi(x, x), SOME)
    assert doubled.poison is not None
    assert doubled.poison.tolist() == [False, False, True, True]

    def cleaned(b: Builder, x: Value) -> Value:
        mask = b.cmpi(Predicate.LESS, b.iota(4, I32), all_of(b, 2), signed=True)
        return b.select(mask, x, all_of(b, 0))

    assert tried(cleaned, SOME).known("a sum").tolist() == [1, 2, 0, 0]


def test_bools_that_decide_alone_stop_dead_lanes() -> None:
    b, x, y = Builder("tried", []), Value(Tile(I1, (4,))), Value(Tile(I1, (4,)))
    arguments = {x: Lanes(np.array([True, False] * 2), np.array([True] * 4)), y: np.array([True, True, False, False])}
    both, either = evaluate(b, arguments, b.andi(x, y), b.ori(x, y))
    assert both.poison is not None
    assert either.poison is not None
    assert both.poison.tolist() == [True, True, False, False]
    assert either.poison.tolist() == [False, False, True, True]


def test_nothing_is_decided_by_a_dead_lane() -> None:
    def branches(b: Builder, x: Value) -> Value:
        last = b.reshape(b.extract(x, [number(b, 3)], (1,)), ())
        b.if_(b.cmpi(Predicate.EQUAL, last, number(b, 0), signed=True))
        return x

    with pytest.raises(Undefined, match="dead lane"):
        tried(branches, SOME)


def test_reductions_and_scans() -> None:
    def total(b: Builder, x: Value) -> Value:
        region = b.reduce([x], 0, [0])
        with b.inside(region.block):
            b.yield_(b.addi(*region.arguments))
        return region.results[0]

    def sums(b: Builder, x: Value) -> Value:
        region = b.scan([x], 0, [0])
        with b.inside(region.block):
            b.yield_(b.addi(*region.arguments))
        return region.results[0]

    assert tried(total, [1, 2, 3, 4]).data == 10
    assert tried(sums, [1, 2, 3, 4]).data.tolist() == [1, 3, 6, 10]
    assert tried(total, SOME).poison


def test_a_reduction_with_a_wrong_identity_is_seen() -> None:
    def total(b: Builder, x: Value) -> Value:
        region = b.reduce([x], 0, [1])
        with b.inside(region.block):
            b.yield_(b.addi(*region.arguments))
        return region.results[0]

    assert tried(total, [1, 2, 3, 4]).data != 10


def test_loops_branches_and_breaks() -> None:
    """The smallest power of two that is not below 20, and how many doublings it takes."""
    b = Builder("tried", [])
    loop = b.loop([number(b, 1), number(b, 0)], [Tile(I32)] * 2)
    with b.inside(loop.block):
        power, count = loop.arguments
        branch = b.if_(b.cmpi(Predicate.GREATER_EQUAL, power, number(b, 20), signed=True))
        with b.inside(branch.then):
            b.break_(power, count)
        with b.inside(branch.orelse):
            b.yield_()
        b.continue_(b.addi(power, power), b.addi(count, number(b, 1)))
    values = evaluate(b, {}, *loop.results)
    assert [int(lanes.data) for lanes in values] == [32, 5]


def test_full_division_is_not_exact() -> None:
    x = np.random.default_rng(0).uniform(1, 2, 1024).astype(np.float32)
    kind = Tile(F32, (1024,))
    full = tried(lambda b, v: b.divf(all_of(b, 1.0, kind), v, rounding=Rounding.FULL), Lanes(x), kind).data
    exact = tried(lambda b, v: b.divf(all_of(b, 1.0, kind), v), Lanes(x), kind).data
    np.testing.assert_array_equal(exact, np.float32(1) / x)
    assert (full != exact).any()
    np.testing.assert_allclose(full, exact, rtol=2.0**-22)


# Memory.


def launched(
    write: Callable[[Builder], None], arguments: Sequence[object], kinds: Sequence[Tile], blocks: int = 1
) -> None:
    """Writes an entry, sends it through the bytecode, and runs it."""
    b = Builder("tried", kinds)
    write(b)
    b.return_()
    launch(decode(encode(Module([b.entry]))), arguments, (blocks, 1, 1))


NUMBERS = Tile(Pointer(F32))
MATRIX = TensorView(F32, (5, 6), (6, 1))


def copied(
    padding: Padding | None, order: tuple[int, int] = (0, 1), inbounds: Sequence[bool] | None = None
) -> Callable[[Builder], None]:
    """Copies tile (1, 1) of a matrix to the first 4 x 4 elements of another."""

    def write(b: Builder) -> None:
        source = b.make_tensor_view(b.parameters[0], MATRIX)
        tiles = b.make_partition_view(source, PartitionView((4, 4), MATRIX, order, padding))
        value, _ = b.load_view(tiles, [number(b, 1)] * 2, inbounds=inbounds)
        small = TensorView(F32, (4, 4), (4, 1))
        target = b.make_partition_view(b.make_tensor_view(b.parameters[1], small), PartitionView((4, 4), small, (0, 1)))
        b.store_view(value, target, [number(b, 0)] * 2)

    return write


def test_views_give_padding_past_the_edge() -> None:
    x, y = np.arange(30, dtype=np.float32).reshape(5, 6), np.zeros((4, 4), np.float32)
    launched(copied(Padding.ZERO), [x, y], [NUMBERS] * 2)
    expected = np.zeros((4, 4), np.float32)
    expected[:1, :2] = x[4:, 4:]
    np.testing.assert_array_equal(y, expected)
    launched(copied(Padding.ZERO, (1, 0)), [x, y], [NUMBERS] * 2)
    np.testing.assert_array_equal(y, expected.T)


def test_views_without_padding_give_dead_lanes_and_do_not_lie() -> None:
    x, y = np.arange(30, dtype=np.float32).reshape(5, 6), np.zeros((4, 4), np.float32)
    with pytest.raises(Undefined, match="dead lane is stored"):
        launched(copied(None), [x, y], [NUMBERS] * 2)
    with pytest.raises(Undefined, match="in bounds"):
        launched(copied(None, inbounds=[True, False]), [x, y], [NUMBERS] * 2)


def test_stores_leave_out_what_is_past_the_edge() -> None:
    y = np.zeros(6, np.float32)
    view = TensorView(F32, (None,), (1,))

    def write(b: Builder) -> None:
        whole = b.make_tensor_view(b.parameters[0], view, [number(b, 6)])
        tiles = b.make_partition_view(whole, PartitionView((4,), view, (0,)))
        program, _, _ = b.get_tile_block_id()
        value = b.itof(b.iota(4, I32), F32, signed=True)
        b.store_view(value, tiles, [program])

    launched(write, [y], [NUMBERS], blocks=2)
    np.testing.assert_array_equal(y, [0, 1, 2, 3, 0, 1])
    with pytest.raises(Undefined, match="tile 2 is outside"):
        launched(write, [y], [NUMBERS], blocks=3)


def test_strided_views_overlap() -> None:
    x, y = np.arange(8, dtype=np.float32), np.zeros(4, np.float32)
    view = TensorView(F32, (8,), (1,))

    def write(b: Builder) -> None:
        whole = b.make_tensor_view(b.parameters[0], view)
        value, _ = b.load_view(b.make_strided_view(whole, StridedView((4,), (3,), view, (0,))), [number(b, 1)])
        b.store_ptr(b.offset(b.broadcast(b.reshape(b.parameters[1], (1,)), (4,)), b.iota(4, I32)), value)

    launched(write, [x, y], [NUMBERS] * 2)
    np.testing.assert_array_equal(y, [3, 4, 5, 6])


def pointers(b: Builder, pointer: Value, count: int, first: int = 0) -> Value:
    places = b.addi(b.iota(count, I32), b.constant(Tile(I32, (count,)), first))
    return b.offset(b.broadcast(b.reshape(pointer, (1,)), (count,)), places)


@pytest.mark.parametrize("ordered", [False, True])
def test_only_tokens_order_accesses(ordered: bool) -> None:
    x, y = np.zeros(4, np.float32), np.zeros(4, np.float32)

    def write(b: Builder) -> None:
        token = b.store_ptr(pointers(b, b.parameters[0], 4), b.constant(FLOATS, 7.0))
        value, _ = b.load_ptr(pointers(b, b.parameters[0], 4), token=token if ordered else None)
        b.store_ptr(pointers(b, b.parameters[1], 4), value)

    if ordered:
        launched(write, [x, y], [NUMBERS] * 2)
        assert y.tolist() == [7.0] * 4
    else:
        with pytest.raises(Undefined, match="not ordered"):
            launched(write, [x, y], [NUMBERS] * 2)


def test_programs_do_not_write_the_same_element() -> None:
    def write(b: Builder) -> None:
        b.store_ptr(pointers(b, b.parameters[0], 4), b.constant(FLOATS, 7.0))

    launched(write, [np.zeros(4, np.float32)], [NUMBERS])
    with pytest.raises(Undefined, match="two programs"):
        launched(write, [np.zeros(4, np.float32)], [NUMBERS], blocks=2)


def test_atomics_of_many_programs() -> None:
    total = np.zeros(1, np.int32)

    def write(b: Builder) -> None:
        one = b.broadcast(b.reshape(b.parameters[0], (1,)), (4,))
        b.atomic_rmw(Mode.ADD, one, b.iota(4, I32))

    launched(write, [total], [Tile(Pointer(I32))], blocks=3)
    assert total[0] == 18


def test_what_another_program_wrote_is_read_after_acquiring() -> None:
    x, flag, y = np.zeros(4, np.float32), np.zeros(1, np.int32), np.zeros(4, np.float32)

    def write(order: Order) -> Callable[[Builder], None]:
        def body(b: Builder) -> None:
            program, _, _ = b.get_tile_block_id()
            branch = b.if_(b.cmpi(Predicate.EQUAL, program, number(b, 0), signed=True))
            with b.inside(branch.then):
                token = b.store_ptr(pointers(b, b.parameters[0], 4), b.constant(FLOATS, 3.0))
                release = {"order": Order.RELEASE, "scope": Scope.DEVICE, "mode": Mode.ADD}
                arguments = (b.parameters[1], number(b, 1), None, token)
                b.emit("atomic_rmw_tko", arguments, (Tile(I32), Token()), release)
                b.yield_()
            with b.inside(branch.orelse):
                ordered = {"order": order, "scope": Scope.DEVICE, "hints": None}
                _, token = b.emit("load_ptr_tko", (b.parameters[1], None, None, None), (Tile(I32), Token()), ordered)
                value, _ = b.load_ptr(pointers(b, b.parameters[0], 4), token=token)
                b.store_ptr(pointers(b, b.parameters[2], 4), value)
                b.yield_()

        return body

    kinds = [NUMBERS, Tile(Pointer(I32)), NUMBERS]
    launched(write(Order.ACQUIRE), [x, flag, y], kinds, blocks=2)
    assert y.tolist() == [3.0] * 4
    with pytest.raises(Undefined, match="two programs"):
        launched(write(Order.RELAXED), [x, flag, y], kinds, blocks=2)


def test_memory_ends() -> None:
    def write(b: Builder) -> None:
        b.store_ptr(pointers(b, b.parameters[0], 4, 1), b.constant(FLOATS, 7.0))

    with pytest.raises(Undefined, match="leaves memory"):
        launched(write, [np.zeros(4, np.float32)], [NUMBERS])


def test_masked_lanes_touch_nothing() -> None:
    x, y = np.arange(3, dtype=np.float64), np.zeros(4, np.float64)

    def write(b: Builder) -> None:
        mask = b.cmpi(Predicate.LESS, b.iota(4, I32), all_of(b, 3), signed=True)
        padding = b.constant(Tile(F64, (4,)), -1.0)
        value, _ = b.load_ptr(pointers(b, b.parameters[0], 4), mask=mask, padding=padding)
        b.store_ptr(pointers(b, b.parameters[1], 4), value)

    launched(write, [x, y], [Tile(Pointer(F64))] * 2)
    assert y.tolist() == [0, 1, 2, -1]


def test_views_of_arrays_with_steps() -> None:
    """An array that is a part of another is reached where it lies; all of that other one may be."""
    whole = np.arange(24, dtype=np.int64).reshape(4, 6)
    part, y = whole[1:3, ::2], np.zeros((2, 4), np.int64)
    view = TensorView(I64, (2, 3), (6, 2))

    def write(b: Builder) -> None:
        tiles = b.make_partition_view(
            b.make_tensor_view(b.parameters[0], view), PartitionView((2, 4), view, (0, 1), Padding.ZERO)
        )
        value, _ = b.load_view(tiles, [number(b, 0)] * 2)
        b.store_ptr(b.reshape(pointers(b, b.parameters[1], 8), (2, 4)), value)

    launched(write, [part, y], [Tile(Pointer(I64))] * 2)
    np.testing.assert_array_equal(y[:, :3], part)
