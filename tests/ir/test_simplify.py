"""Simplification: unused operations are removed, those with an obligation stay, and results do not change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tiers import examples
from tileproof.frontend.simplify import simplify
from tileproof.ir.ops import (
    Along,
    AnyOp,
    Assume,
    At,
    Binary,
    BinaryFn,
    Block,
    Constant,
    Elements,
    Extents,
    Fill,
    Gather,
    Group,
    If,
    KernelIR,
    Load,
    Number,
    Print,
    Random,
    RangeLoop,
    Reduce,
    ReduceFn,
    Start,
    Stop,
    Store,
    Update,
    While,
)
from tileproof.ir.printer import print_kernel
from tileproof.ir.types import INDEX_SCALAR, Access, Axis, Content, Tile, TileType
from tileproof.ir.verifier import verify
from tileproof.ir.walk import walk
from tileproof.language.dtypes import BOOL, F32, I64, INDEX

from . import kernels
from .builder import Builder, along, each, pieces, tiles

POSITIONS = Content("Index", "N", I64)


def body(b: Builder) -> list[str]:
    """The text of the simplified kernel below its header."""
    kernel = b.kernel()
    verify(kernel)
    simplified = simplify(kernel)
    verify(simplified)
    return print_kernel(simplified).splitlines()[1:]


@pytest.mark.parametrize("make", kernels.ALL, ids=lambda make: make.__name__)
def test_a_kernel_without_waste_stays_as_it_is(make: Callable[[], KernelIR]) -> None:
    kernel = make()
    assert print_kernel(simplify(kernel), lines=True) == print_kernel(kernel, lines=True)


def test_a_chain_that_nothing_uses_goes() -> None:
    b = Builder()
    b.add(b.add(b.number(1), b.number(2)), b.number(3))
    assert body(b) == ["pass"]


def test_what_owes_something_stays() -> None:
    b = Builder()
    x = b.tensor("x", Access.IN, F32, "H G")
    total = b.tensor("total", Access.SUM, F32, "G")
    zero = b.number(0)
    b.load(x, At(zero), At(zero))
    b.op(Group, INDEX_SCALAR, index=zero, dimension="H", into="G")
    line = b.full(0.0, TileType(F32, (Axis(4),)))
    b.op(Reduce, INDEX_SCALAR, fn=ReduceFn.ARGMAX, operand=line, axis=0)
    b.op(Reduce, TileType(F32), fn=ReduceFn.MAX, operand=line, axis=0)
    b.emit(Update(b.span, total, (At(zero),), b.number(1.0, F32)))
    assert body(b) == [
        "v1 = load x[0, 0] : f32",
        "v2 = group 0 of H into G : index",
        "v4 = full 0.0 : f32[4]",
        "v5 = argmax v4, axis 0 : index",
        "update total[0] by 1.0",
    ]


def test_what_owes_nothing_goes() -> None:
    b = Builder()
    x = b.tensor("x", Access.IN, F32, "N")
    seed, zero = b.scalar("seed", I64), b.number(0.0, F32)
    n = tiles("n", "N", 8)
    with b.parallel(n):
        row = b.get(x, Along(n), fill=zero, axes=(along(n),))
        full = b.op(Fill, TileType(F32, (Axis(8),)), operand=row, value=zero)
        b.fold(b.adding(TileType(F32)), full, identities=(zero,), axis=0)
        b.scan(b.adding(TileType(F32)), row, axis=0)
        b.op(Number, INDEX_SCALAR, walker=n)
        b.op(Random, row.type, seed=seed, offset=b.op(Elements, TileType(INDEX, (along(n),)), walker=n))
    assert body(b) == ["parallel n: tile of N by 8", "    pass"]


def test_a_shift_that_nothing_uses_still_owes_to_be_inside() -> None:
    b = Builder()
    b.tensor("x", Access.IN, F32, "N")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        b.shift("m", n, b.number(-100))
    assert body(b) == ["parallel n: tile of N by 8", "    m = n.shift(-100) : tile of N by 8"]


def test_what_is_done_for_all_pieces_or_to_be_seen_stays() -> None:
    b = Builder()
    cache = b.tensor("cache", Access.INOUT, F32, "N")
    b.split(cache, 0, b.number(3))
    z = pieces("z", "N", 8)
    with b.parallel(z):
        first = b.op(Start, INDEX_SCALAR, walker=z)
        b.emit(Print(b.span, "first", (first,)))
        b.emit(Assume(b.span, b.binary(BinaryFn.GE, first, b.number(0)), "it is so"))
        with b.combining(INDEX_SCALAR) as pair:
            b.add(*pair.left, *pair.left)
            pair.yields = (b.add(*pair.left, *pair.right),)
        b.join(pair.combiner, first, over=z)
    assert body(b) == [
        'past, fresh = split cache at 3 along N : In[f32, "N"], InOut[f32, "_"]',
        "parallel z: piece of N by 8",
        "    v1 = z.start : index",
        '    print "first", v1',
        "    v3 = v1 >= 0 : bool",
        '    assume v3, because "it is so"',
        "    v6 = join v1 over z : index",
        "        by left, right",
        "            v5 = left + right : index",
        "            yield v5",
    ]


def test_a_fold_that_is_used_keeps_what_its_combiner_needs() -> None:
    b = Builder()
    y = b.tensor("y", Access.OUT, F32, "N")
    scale, zero = b.scalar("scale", F32), b.number(0.0, F32)
    line = b.full(1.0, TileType(F32, (Axis(4),)))
    double = b.add(scale, scale, "double")
    with b.combining(TileType(F32), TileType(F32)) as pair:
        b.add(*pair.left)
        pair.yields = (b.add(pair.left[0], double), pair.right[1])
    made, _ = b.fold(pair.combiner, line, line, identities=(zero, zero), axis=0)
    b.store(y, At(b.number(0)), value=made)
    assert body(b) == [
        "v2 = full 1.0 : f32[4]",
        "double = scale + scale : f32",
        "v5, v6 = reduce v2, v2, axis 0, from 0.0, 0.0 : f32, f32",
        "    by (left, left.1), (right, right.1)",
        "        v4 = left + double : f32",
        "        yield v4, right.1",
        "store y[0] = v5",
    ]


def test_a_shift_stays_for_the_tag_of_a_tile() -> None:
    b = Builder()
    x = b.tensor("x", Access.IN, F32, "N")
    total = b.tensor("total", Access.SUM, F32, "N")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        later = b.shift("m", n, b.number(1))
        ones = b.full(1.0, TileType(F32, (along(later),)))
        b.op(Reduce, INDEX_SCALAR, fn=ReduceFn.ARGMAX, operand=ones, axis=0)
        after = b.shift("k", n, b.number(2))
        indices = b.full(0, TileType(INDEX, (along(after),)))
        values = b.load(x, Gather(indices), axes=(along(after),))
        b.emit(Update(b.span, total, (At(b.number(0)),), b.op(Reduce, TileType(F32), **summed(values))))
    assert [line.strip() for line in body(b) if "shift" in line] == [
        "m = n.shift(1) : tile of N by 8",
        "k = n.shift(2) : tile of N by 8",
    ]


def summed(values: Tile) -> dict[str, Any]:
    return {"fn": ReduceFn.SUM, "operand": values, "axis": 0}


def test_a_value_that_is_carried_for_its_own_sake_goes() -> None:
    b = Builder()
    y = b.tensor("y", Access.OUT, POSITIONS, "N")
    zero, ten, one = b.number(0), b.number(10), b.number(1)
    with b.counting("n", zero, ten, one, zero, zero, one) as loop:
        idle, sums, other = loop.carried
        loop.yields = (b.add(idle, other), b.add(sums, one), b.add(other, idle))
    b.store(y, At(zero), value=loop.results[1])
    assert body(b) == [
        "v10 = for n in range(0, 10, 1), v4 = 0 : index",
        "    v7 = v4 + 1 : index",
        "    yield v7",
        "store y[0] = v10",
    ]


def test_a_value_carried_for_another_stays() -> None:
    b = Builder()
    y = b.tensor("y", Access.OUT, POSITIONS, "N")
    zero, one = b.number(0), b.number(1)
    with b.repeating(zero, one) as loop:
        low, high = loop.carried
        with b.testing(loop):
            loop.tested = (b.binary(BinaryFn.LT, high, b.number(99)),)
        loop.yields = (high, b.add(low, high))
    b.store(y, At(zero), value=zero)
    assert body(b) == ["store y[0] = 0"], "a loop without effect"

    b.store(y, At(one), value=loop.results[0])
    assert body(b) == [
        "v7, v8 = while v2 = 0, v3 = 1 : index, index",
        "    test",
        "        v5 = v3 < 99 : bool",
        "        yield v5",
        "    do",
        "        v6 = v2 + v3 : index",
        "        yield v3, v6",
        "store y[0] = 0",
        "store y[1] = v7",
    ]


def test_what_only_the_test_of_a_loop_uses_stays_with_the_loop() -> None:
    b = Builder()
    y = b.tensor("y", Access.OUT, POSITIONS, "N")
    zero = b.number(0)
    with b.repeating(zero) as loop:
        (turn,) = loop.carried
        with b.testing(loop):
            loop.tested = (b.binary(BinaryFn.LT, turn, b.number(3)),)
        b.store(y, At(zero), value=zero)
        loop.yields = (b.add(turn, b.number(1)),)
    assert "        yield v5" in body(b)


def test_an_unused_result_of_a_branch_goes() -> None:
    b = Builder()
    y = b.tensor("y", Access.OUT, POSITIONS, "N")
    zero = b.number(0)
    with b.when(b.scalar("c", BOOL), INDEX_SCALAR, INDEX_SCALAR) as choice:
        choice.yields = (b.add(zero, zero), b.number(1))
        with b.otherwise(choice):
            choice.tested = (b.number(2), b.number(3))
    b.store(y, At(zero), value=choice.results[1])
    assert body(b) == [
        "v6 = if c : index",
        "    yield 1",
        "else",
        "    yield 3",
        "store y[0] = v6",
    ]


def test_an_empty_loop_and_an_empty_branch_go() -> None:
    b = Builder()
    b.tensor("x", Access.IN, F32, "N")
    with b.when(b.scalar("c", BOOL)), b.walking(tiles("k", "N", 8), stop=b.number(4)):
        b.number(1)
    assert body(b) == ["pass"]


def test_the_parallel_space_stays_even_if_it_is_empty() -> None:
    b = Builder()
    b.tensor("x", Access.IN, F32, "N")
    with b.parallel(each("n", "N")):
        b.number(1)
    assert body(b) == ["parallel n: element of N", "    pass"]


def test_numbers_and_positions_asked_for_twice_are_joined() -> None:
    b = Builder()
    y = b.tensor("y", Access.OUT, POSITIONS, "N")
    n = tiles("n", "N", 8)
    of = TileType(INDEX, (along(n),))
    with b.parallel(n):
        for _ in range(2):
            first, last = b.op(Start, INDEX_SCALAR, walker=n), b.op(Stop, INDEX_SCALAR, walker=n)
            number, count = b.op(Number, INDEX_SCALAR, walker=n), b.op(Extents, INDEX_SCALAR, dimension="N")
            place = b.add(b.add(first, last), b.add(b.add(count, number), b.number(5)))
            with b.when(b.number(True, BOOL)):
                spread = b.add(b.op(Elements, of, walker=n), b.spread(place, along(n)))
                b.store(y, At(first), value=b.op(Reduce, INDEX_SCALAR, fn=ReduceFn.MAX, operand=spread, axis=0))
    ops = list(walk(simplify(b.kernel()).body))
    kinds = (Start, Stop, Number, Extents, Constant, Elements)
    counts = {kind: sum(isinstance(op, kind) for op in ops) for kind in kinds}
    assert counts == {Start: 1, Stop: 1, Number: 1, Extents: 1, Constant: 2, Elements: 2}
    assert sum(isinstance(op, Store) for op in ops) == 2
    verify(simplify(b.kernel()))


def test_numbers_that_only_python_finds_equal_are_kept_apart() -> None:
    b = Builder()
    y = b.tensor("y", Access.INOUT, F32, "N")
    zero = b.number(0)
    for value in (0.0, -0.0, 1, 1.0, float("nan"), float("nan")):
        b.store(y, At(zero), value=b.number(value, F32))
    assert [line.rpartition(" ")[2] for line in body(b)] == ["0.0", "-0.0", "1", "1.0", "nan", "nan"]
    constants = [op for op in walk(simplify(b.kernel()).body) if isinstance(op, Constant)]
    assert len(constants) == 1 + 5


def test_places_in_the_source_are_kept() -> None:
    b = Builder()
    y = b.tensor("y", Access.OUT, POSITIONS, "N")
    b.add(b.number(8), b.number(9))
    zero = b.number(0)
    b.line = 40
    b.store(y, At(zero), value=b.number(0))
    simplified = simplify(b.kernel())
    assert [op.span.line for op in simplified.body.ops] == [4, 41]


def _write(draw: st.DrawFn, b: Builder, env: list[Tile], depth: int) -> None:
    """Random operations on indices; `env` are the values that may be used."""
    y, x = (parameter.value for parameter in b.parameters[:2])
    pick = st.sampled_from
    for _ in range(draw(st.integers(0, 4))):
        match draw(pick(["number", "binary", "store", "load", "count", "while", "if"][: 7 if depth else 4])):
            case "number":
                env.append(b.number(draw(st.integers(0, 2))))
            case "binary":
                fn = draw(pick([BinaryFn.ADD, BinaryFn.SUB, BinaryFn.MAX]))
                env.append(b.binary(fn, draw(pick(env)), draw(pick(env))))
            case "store":
                b.store(y, At(draw(pick(env))), value=draw(pick(env)))
            case "load":
                env.append(b.load(x, At(draw(pick(env)))))
            case "count":
                inits = draw(st.lists(pick(env), max_size=3))
                bounds = b.number(0), b.number(draw(st.integers(0, 2))), b.number(1)
                with b.counting("n", *bounds, *inits) as loop:
                    inner = [*env, *loop.carried]
                    _write(draw, b, inner, depth - 1)
                    loop.yields = tuple(draw(pick(inner)) for _ in inits)
                env.extend(loop.results)
            case "while":
                inits = draw(st.lists(pick(env), max_size=2))
                with b.repeating(b.number(0), *inits) as loop:
                    turn, *_ = loop.carried
                    with b.testing(loop):
                        loop.tested = (b.binary(BinaryFn.LT, turn, b.number(2)),)
                    inner = [*env, *loop.carried]
                    _write(draw, b, inner, depth - 1)
                    loop.yields = (b.add(turn, b.number(1)), *(draw(pick(inner)) for _ in inits))
                env.extend(loop.results)
            case "if":
                count = draw(st.integers(0, 2))
                test = b.binary(BinaryFn.LT, draw(pick(env)), draw(pick(env)))
                with b.when(test, *[INDEX_SCALAR] * count) as choice:
                    inner = list(env)
                    _write(draw, b, inner, depth - 1)
                    choice.yields = tuple(draw(pick(inner)) for _ in range(count))
                    with b.otherwise(choice):
                        inner = list(env)
                        _write(draw, b, inner, depth - 1)
                        choice.tested = tuple(draw(pick(inner)) for _ in range(count))
                env.extend(choice.results)


@st.composite
def programs(draw: st.DrawFn) -> KernelIR:
    b = Builder()
    b.tensor("y", Access.OUT, POSITIONS, "N")
    b.tensor("x", Access.IN, Content("Offsets", "N", I64), "N")
    _write(draw, b, [b.number(1)], depth=2)
    return b.kernel()


def effects(kernel: KernelIR) -> list[tuple[str, int, int]]:
    """What a program of index scalars loads and stores, in order."""
    seen: list[tuple[str, int, int]] = []
    values: dict[Any, Any] = {}

    def run(block: Block) -> list[Any]:
        for op in block.ops:
            step(op)
        return [values[value] for value in block.yields]

    def step(op: AnyOp) -> None:
        match op:
            case Constant():
                values[op.result] = op.value
            case Binary(fn=fn):
                left, right = values[op.left], values[op.right]
                results = {
                    BinaryFn.ADD: left + right,
                    BinaryFn.SUB: left - right,
                    BinaryFn.MAX: max(left, right),
                    BinaryFn.LT: left < right,
                }
                values[op.result] = results[fn]
            case Load(picks=(At(index),)):
                values[op.result] = values[index] * 7 % 5
                seen.append(("load", values[index], values[op.result]))
            case Store(picks=(At(index),)):
                seen.append(("store", values[index], values[op.value]))
            case RangeLoop():
                state = [values[init] for init in op.inits]
                for turn in range(values[op.start], values[op.stop], values[op.step]):
                    values.update(zip((op.variable, *op.carried), (turn, *state), strict=True))
                    state = run(op.body)
                values.update(zip(op.results, state, strict=True))
            case While():
                values.update(zip(op.carried, [values[init] for init in op.inits], strict=True))
                while run(op.test) == [True]:
                    values.update(zip(op.carried, run(op.body), strict=True))
                values.update(zip(op.results, [values[value] for value in op.carried], strict=True))
            case If():
                chosen = run(op.then if values[op.condition] else op.orelse)
                values.update(zip(op.results, chosen, strict=True))
            case _:
                raise AssertionError(op)

    run(kernel.body)
    return seen


@settings(max_examples=examples(150), deadline=None)
@given(programs())
def test_a_simplified_kernel_does_the_same(kernel: KernelIR) -> None:
    verify(kernel)
    simplified = simplify(kernel)
    verify(simplified)
    assert effects(simplified) == effects(kernel)
    assert print_kernel(simplify(simplified), lines=True) == print_kernel(simplified, lines=True)
