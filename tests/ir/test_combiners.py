"""The law of combiners: two values of a kind make one, of the types that follow from the operands."""

from __future__ import annotations

from dataclasses import replace

from tileproof.ir.ops import (
    Along,
    At,
    Binary,
    BinaryFn,
    Combiner,
    Elements,
    Fold,
    Join,
    Print,
    Reduce,
    ReduceFn,
    Scan,
    Select,
)
from tileproof.ir.types import INDEX_SCALAR, Access, Tile, TileType
from tileproof.ir.verifier import verify
from tileproof.language.dtypes import BOOL, F32, I32, INDEX

from .builder import Broken, Builder, Fill, along, of, pieces, refusal, tile, tiles

broken = Broken()
SCALAR = TileType(F32)


def last(b: Builder) -> Fold | Scan | Join:
    """The last operation, taken away to be emitted again in another form."""
    op = b.ops.pop()
    assert isinstance(op, Fold | Scan | Join)
    return op


def fold(b: Builder, combiner: Combiner | None = None) -> Tile:
    """A sum of the rows of a tile of 4 x 8."""
    combiner = combiner or b.adding(of(F32, 4))
    return b.fold(combiner, tile(b, F32, 4, 8), identities=(b.number(0.0, F32),), axis=1)[0]


def test_a_fold_drops_its_axis_and_a_scan_keeps_it() -> None:
    b = Builder()
    x = b.tensor("x", Access.IN, F32, "N M")
    n, m = tiles("n", "N", 4), tiles("m", "M", 8)
    with b.parallel(n, m):
        values = b.load(x, Along(n), Along(m), axes=(along(n), along(m)))
        column = of(F32, along(n))
        (made,) = b.fold(b.adding(column), values, identities=(b.number(0.0, F32),), axis=1)
        (running,) = b.scan(b.adding(column), values, axis=1)
    assert made.type == column
    assert running.type == values.type
    verify(b.kernel())


def test_values_of_several_types_are_combined_together() -> None:
    b = Builder()
    x = b.tensor("x", Access.IN, F32, "N")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        values = b.load(x, Along(n), axes=(along(n),))
        places = b.op(Elements, of(INDEX, along(n)), walker=n)
        with b.combining(SCALAR, INDEX_SCALAR) as pair:
            (one, here), (other, there) = pair.left, pair.right
            is_less = b.binary(BinaryFn.LT, one, other)
            greater = b.op(Select, SCALAR, condition=is_less, yes=other, no=one)
            pair.yields = greater, b.op(Select, INDEX_SCALAR, condition=is_less, yes=there, no=here)
        first = b.number(0.0, F32), b.number(0)
        b.fold(pair.combiner, values, places, identities=first, axis=0)
        b.scan(replaced(b, pair.combiner), values, places, axis=0)
    verify(b.kernel())


def replaced(b: Builder, combiner: Combiner) -> Combiner:
    """A combiner of the same types that hands on the left values."""
    with b.combining(*(value.type for value in combiner.left)) as pair:
        pair.yields = pair.left
    return pair.combiner


def test_a_combiner_may_hold_blocks_and_see_what_is_around_it() -> None:
    b = Builder()
    limit, zero = b.number(9.0, F32), b.number(0)
    with b.combining(SCALAR) as pair:
        (left,), (right,) = pair.left, pair.right
        with b.when(b.binary(BinaryFn.LT, left, limit), SCALAR) as choice:
            choice.yields = (b.add(left, right),)
            with b.otherwise(choice):
                choice.tested = (left,)
        with b.counting("n", zero, zero, zero, *choice.results) as loop:
            loop.yields = loop.carried
        pair.yields = loop.results
    b.fold(pair.combiner, tile(b, F32, 8), identities=(limit,), axis=0)
    verify(b.kernel())


# Types.


@broken.rule("there is nothing to combine")
def fold_of_nothing(b: Builder) -> None:
    b.fold(b.adding(), identities=(), axis=0)


@broken.rule("f32[4, 8] has no axis 2")
def fold_of_no_axis(b: Builder) -> None:
    fold(b)
    b.emit(replace(last(b), axis=2))


@broken.rule("what is combined differs in shape: f32[4] and f32[8]")
def operands_of_different_shape(b: Builder) -> None:
    zero = b.number(0.0, F32)
    b.fold(b.adding(SCALAR, SCALAR), tile(b, F32, 4), tile(b, F32, 8), identities=(zero, zero), axis=0)


@broken.rule("the identities are f32, not nothing")
def fold_without_an_identity(b: Builder) -> None:
    fold(b)
    b.emit(replace(last(b), identities=()))


@broken.rule("the identities are f32, not i32")
def identity_of_another_type(b: Builder) -> None:
    b.fold(b.adding(SCALAR), tile(b, F32, 4), identities=(b.number(0, I32),), axis=0)


@broken.rule("the identities are f32, not f32[4]")
def identity_with_axes(b: Builder) -> None:
    b.fold(b.adding(SCALAR), tile(b, F32, 4), identities=(tile(b, F32, 4),), axis=0)


@broken.rule("the results are f32[4], not f32[4, 8]")
def fold_that_keeps_the_axis(b: Builder) -> None:
    fold(b)
    b.emit(replace(last(b), results=(b.value(of(F32, 4, 8)),)))


@broken.rule("the results are f32[4], not f32")
def scan_that_drops_the_axis(b: Builder) -> None:
    b.scan(b.adding(SCALAR), tile(b, F32, 4), axis=0)
    b.emit(replace(last(b), results=(b.value(SCALAR),)))


@broken.rule("the left values of a combiner are f32, not f32[4]")
def combiner_that_sees_the_axis(b: Builder) -> None:
    b.scan(b.adding(of(F32, 4)), tile(b, F32, 4), axis=0)


@broken.rule("the left values of a combiner are f32, f32, not f32")
def combiner_of_too_few_values(b: Builder) -> None:
    one = tile(b, F32, 4)
    b.scan(b.adding(SCALAR), one, one, axis=0)


@broken.rule("the right values of a combiner are f32, not i32")
def combiner_of_two_kinds(b: Builder) -> None:
    with b.combining(SCALAR) as pair:
        pair.yields = pair.left
    b.scan(replace(pair.combiner, right=(b.value(TileType(I32)),)), tile(b, F32, 4), axis=0)


@broken.rule("the values a combiner hands on are f32, not bool")
def combiner_that_gives_another_type(b: Builder) -> None:
    with b.combining(SCALAR) as pair:
        pair.yields = (b.binary(BinaryFn.LT, *pair.left, *pair.right),)
    b.scan(pair.combiner, tile(b, F32, 4), axis=0)


@broken.rule("the values a combiner hands on are f32, not nothing")
def combiner_that_gives_nothing(b: Builder) -> None:
    with b.combining(SCALAR) as pair:
        pass
    b.scan(pair.combiner, tile(b, F32, 4), axis=0)


@broken.rule("the results are f32[i:8], not f32[8]")
def join_that_loses_a_tag(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N K")
    i, z = tiles("i", "N", 8), pieces("z", "K", 16)
    with b.parallel(i, z):
        values = b.load(x, Along(i), Along(z), axes=(along(i), along(z)))
        total = b.op(Reduce, of(F32, along(i)), fn=ReduceFn.SUM, operand=values, axis=1)
        b.join(b.adding(total.type), total, over=z)
        b.emit(replace(last(b), results=(b.value(of(F32, 8)),)))


# Bodies.


@broken.rule("right is not defined here")
def body_of_a_combiner_seen_from_outside(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    with b.combining(INDEX_SCALAR) as pair:
        pair.yields = pair.left
    b.fold(pair.combiner, tile(b, INDEX, 4), identities=(b.number(0),), axis=0)
    b.load(x, At(pair.right[0]))


@broken.rule("right is not defined here")
def combiner_that_is_not_given_what_it_sees(b: Builder) -> None:
    with b.combining(SCALAR) as pair:
        pair.yields = (b.add(*pair.left, *pair.right),)
    stranger = b.value(SCALAR)
    b.fold(replace(pair.combiner, right=(stranger,)), tile(b, F32, 4), identities=(b.number(0.0, F32),), axis=0)


@broken.rule("left is defined twice")
def one_combiner_for_two_folds(b: Builder) -> None:
    combiner = b.adding(of(F32, 4))
    fold(b, combiner)
    fold(b, combiner)


@broken.rule("a combiner computes only, and this is Load")
def combiner_that_reads(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    with b.combining(SCALAR) as pair:
        pair.yields = (b.load(x, At(b.number(0))),)
    b.scan(pair.combiner, tile(b, F32, 4), axis=0)


@broken.rule("a combiner computes only, and this is Print")
def combiner_that_shows_in_a_branch(b: Builder) -> None:
    with b.combining(SCALAR) as pair:
        pair.yields = pair.left
        with b.when(b.scalar("c", BOOL)):
            b.emit(Print(b.span, "seen", pair.left))
    b.scan(pair.combiner, tile(b, F32, 4), axis=0)


@broken
def test_what_does_not_combine_is_refused(fill: Fill, message: str) -> None:
    b = Builder()
    fill(b)
    assert refusal(b).endswith(f": {message}")


def test_a_combiner_is_checked_like_any_block() -> None:
    b = Builder()
    with b.combining(SCALAR) as pair:
        wrong = b.op(Binary, SCALAR, fn=BinaryFn.ADD, left=pair.left[0], right=b.number(1, I32))
        pair.yields = (wrong,)
    b.scan(pair.combiner, tile(b, F32, 4), axis=0)
    assert refusal(b).endswith("Binary: the operands of add differ: f32 and i32")
