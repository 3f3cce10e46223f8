"""The laws of the parallel space: pieces and their join, segments, and tensors that are split before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tileproof.ir.ops import (
    Along,
    At,
    BinaryFn,
    Join,
    Number,
    Parallel,
    Reduce,
    ReduceFn,
    Segments,
    SplitAt,
    Start,
    Stop,
)
from tileproof.ir.regions import of_one_piece
from tileproof.ir.types import INDEX_SCALAR, Access, Content, Tensor, Tile, TileType, Value, Walker, WalkerType
from tileproof.ir.verifier import verify
from tileproof.language.dtypes import BOOL, ENTRY, F32, I32

from .builder import Broken, Builder, Fill, along, each, of, pieces, refusal, tile, tiles

broken = Broken()
SCALAR = TileType(F32)
BORDERS = Content("Offsets", "N", I32)


# Pieces and joins.


def halves(b: Builder) -> tuple[Walker, Tensor]:
    """A walker of pieces, and a tensor along which it walks."""
    return pieces("z", "K", 8), b.tensor("x", Access.IN, F32, "K")


def total(b: Builder, z: Walker, x: Tensor) -> Tile:
    """The sum of a piece."""
    values = b.load(x, Along(z), axes=(along(z),))
    return b.op(Reduce, SCALAR, fn=ReduceFn.SUM, operand=values, axis=0)


def test_what_is_the_same_in_all_pieces_is_used_behind_the_join() -> None:
    b = Builder()
    y, w = b.tensor("y", Access.OUT, F32, "N"), b.tensor("w", Access.IN, F32, "N")
    z, x = halves(b)
    n = tiles("n", "N", 4)
    with b.parallel(n, z):
        weight = b.load(w, Along(n), axes=(along(n),))
        (joined,) = b.join(b.adding(SCALAR), total(b, z, x), over=z)
        b.store(y, Along(n), value=b.add(weight, b.spread(joined, along(n))))
    verify(b.kernel())


@broken.rule("the pieces of the parallel space are not joined")
def pieces_without_a_join(b: Builder) -> None:
    z, x = halves(b)
    with b.parallel(z):
        total(b, z, x)


@broken.rule("z belongs to one piece; this is done once for all of them")
def two_joins(b: Builder) -> None:
    z, x = halves(b)
    with b.parallel(z):
        joined = b.join(b.adding(SCALAR), total(b, z, x), over=z)
        b.join(b.adding(SCALAR), *joined, over=z)


@broken.rule("a join stands at the top level of the parallel space")
def join_in_a_branch(b: Builder) -> None:
    z, x = halves(b)
    with b.parallel(z):
        sums = total(b, z, x)
        with b.when(b.scalar("c", BOOL)):
            b.join(b.adding(SCALAR), sums, over=z)


@broken.rule("n: tile of K by 8 is no piece of the parallel space")
def join_of_tiles(b: Builder) -> None:
    _, x = halves(b)
    n = tiles("n", "K", 8)
    with b.parallel(n):
        b.join(b.adding(SCALAR), total(b, n, x), over=n)


@broken.rule("the parallel space splits one dimension")
def two_dimensions_split(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "M K")
    with b.parallel(pieces("y", "M", 8), pieces("z", "K", 8)):
        pass


@broken.rule("a loop walks tiles, not pieces")
def loop_over_pieces(b: Builder) -> None:
    z, _ = halves(b)
    with b.walking(z):
        pass


@broken.rule("a piece has a length")
def piece_without_a_length(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "K")
    with b.parallel(Value("z", WalkerType("K", None, is_piece=True))):
        pass


@broken.rule("the tag z of left: f32[z:8] is out of scope")
def join_of_what_has_the_tag_of_a_piece(b: Builder) -> None:
    z, x = halves(b)
    with b.parallel(z):
        values = b.load(x, Along(z), axes=(along(z),))
        b.join(b.adding(values.type), values, over=z)


def behind_a_join(use: Callable[[Builder, Walker, Tile], None]) -> Fill:
    """A kernel that uses the walker or a value of one piece after the join."""

    def fill(b: Builder) -> None:
        z, x = halves(b)
        with b.parallel(z):
            part = total(b, z, x)
            b.join(b.adding(SCALAR), part, over=z)
            use(b, z, part)

    fill.__name__ = use.__name__
    return fill


@broken.rule("z belongs to one piece; this is done once for all of them")
@behind_a_join
def piece_behind_its_join(b: Builder, z: Walker, part: Tile) -> None:
    b.op(Start, INDEX_SCALAR, walker=z)


@broken.rule("the tag z of v5: f32[z:8] is out of scope")
@behind_a_join
def tag_of_a_piece_behind_its_join(b: Builder, z: Walker, part: Tile) -> None:
    b.full(0.0, of(F32, along(z)))


@broken.rule("v1 belongs to one piece; this is done once for all of them")
@behind_a_join
def value_of_a_piece_behind_its_join(b: Builder, z: Walker, part: Tile) -> None:
    b.add(part, part)


@broken.rule("v1 belongs to one piece; this is done once for all of them")
@behind_a_join
def value_of_a_piece_in_a_block_behind_its_join(b: Builder, z: Walker, part: Tile) -> None:
    with b.when(b.scalar("c", BOOL), SCALAR) as choice:
        choice.yields = (part,)


@broken.rule("v0 belongs to one piece; this is done once for all of them")
def combiner_of_a_join_that_sees_one_piece(b: Builder) -> None:
    z, _ = halves(b)
    with b.parallel(z):
        start = b.op(Start, INDEX_SCALAR, walker=z)
        with b.combining(INDEX_SCALAR) as pair:
            pair.yields = (b.add(start, start),)
        b.join(pair.combiner, b.op(Stop, INDEX_SCALAR, walker=z), over=z)


def test_a_value_belongs_to_one_piece_when_it_depends_on_it() -> None:
    b = Builder()
    y = b.tensor("y", Access.INOUT, F32, "K")
    n, (z, x) = tiles("n", "K", 4), halves(b)
    with b.parallel(n, z):
        same, mine = b.op(Start, INDEX_SCALAR, walker=n), b.op(Start, INDEX_SCALAR, walker=z)
        one, part = b.number(1.0, F32), total(b, z, x)
        common, own = [same], [mine, b.add(same, mine), b.full(0.0, of(F32, along(z)))]

        shifted = b.shift("w", z, same)
        own.append(b.op(Number, INDEX_SCALAR, walker=shifted))
        common.append(b.op(Number, INDEX_SCALAR, walker=b.shift("v", n, same)))

        common.append(b.load(x, At(same)))
        own += [b.load(y, At(same)), b.get(y, At(same), fill=one)]

        is_mine = b.binary(BinaryFn.LT, mine, same)
        for condition, made in ((is_mine, own), (b.binary(BinaryFn.LT, same, same), common)):
            with b.when(condition, SCALAR) as choice:
                choice.yields = (one,)
                with b.otherwise(choice):
                    choice.tested = (one,)
            made.extend(choice.results)

        with b.counting("r", same, same, same, one, one, part) as loop:
            kept, left, right = loop.carried
            loop.yields = (b.add(kept, one), right, b.add(left, right))
        common.append(loop.results[0])
        own.extend(loop.results[1:])
        with b.counting("r", same, mine, same, one) as loop:
            loop.yields = loop.carried
        own.extend(loop.results)

        k = tiles("k", "K", 4)
        with b.walking(k, one, start=mine) as loop:
            own.append(b.op(Start, INDEX_SCALAR, walker=k))
            loop.yields = loop.carried
        own.extend(loop.results)
        with b.repeating(one, same) as loop:
            with b.testing(loop):
                loop.tested = (b.binary(BinaryFn.LT, mine, loop.carried[1]),)
            loop.yields = loop.carried
        own.extend(loop.results)

        zeros = b.full(0.0, of(F32, 4))
        common.extend(b.fold(b.adding(SCALAR), zeros, identities=(one,), axis=0))
        own.extend(b.fold(b.adding(SCALAR), zeros, identities=(part,), axis=0))
        with b.combining(SCALAR) as pair:
            pair.yields = (part,)
        own.extend(b.scan(pair.combiner, zeros, axis=0))
        common.extend(b.join(b.adding(SCALAR), part, over=z))
    verify(b.kernel())
    (space,) = b.ops
    assert isinstance(space, Parallel)
    assert isinstance(space.body.ops[-1], Join)
    found = of_one_piece(space.body.ops[:-1], z)
    assert found.issuperset(own)
    assert found.isdisjoint(common)
    assert {z, shifted} <= found


# Segments.


def segmented(b: Builder, **changes: Any) -> None:
    """A space over segments, which `changes` may break."""
    off = b.tensor("off", Access.IN, BORDERS, "_")
    x = b.tensor("x", Access.IN, F32, "N")
    n = changes.pop("walker", tiles("n", "N", 8))
    segments = replace(Segments(n, off, b.value(INDEX_SCALAR, "e")), **changes)
    with b.parallel(n, segments=(segments,)):
        b.load(x, At(segments.index))


def test_a_space_over_segments_hands_out_their_number() -> None:
    b = Builder()
    segmented(b)
    verify(b.kernel())


@broken.rule("n: tile of N by 8 is cut into segments and not walked")
def segments_of_a_walker_of_no_space(b: Builder) -> None:
    segmented(b)
    space = b.ops.pop()
    assert isinstance(space, Parallel)
    b.emit(replace(space, walkers=(each("m", "N"),)))


@broken.rule("n: tile of N by 8 is cut into segments twice")
def segments_of_segments(b: Builder) -> None:
    segmented(b)
    space = b.ops.pop()
    assert isinstance(space, Parallel)
    again = replace(space.segments[0], index=b.value(INDEX_SCALAR, "f"))
    b.emit(replace(space, segments=(*space.segments, again)))


@broken.rule("n: piece of N by 8 is split and cut into segments")
def pieces_in_segments(b: Builder) -> None:
    segmented(b, walker=pieces("n", "N", 8))


@broken.rule('off.1: In[Offsets["M"], "_"] does not cut n: tile of N by 8')
def segments_of_another_dimension(b: Builder) -> None:
    b.tensor("y", Access.IN, F32, "M")
    segmented(b, offsets=b.tensor("off.1", Access.IN, replace(BORDERS, dimension="M"), "_"))


@pytest.mark.parametrize(
    ("access", "element", "dimensions"),
    [
        (Access.INOUT, BORDERS, "_"),
        (Access.IN, BORDERS, "_ _"),
        (Access.IN, replace(BORDERS, kind="Index"), "_"),
        (Access.IN, I32, "_"),
    ],
    ids=["written", "matrix", "indices", "integers"],
)
def test_borders_of_segments_are_one_axis_of_offsets(access: Access, element: Any, dimensions: str) -> None:
    b = Builder()
    borders = b.tensor("borders", access, element, dimensions)
    segmented(b, offsets=borders)
    message = f"borders of segments are one axis of Offsets, read only, not {borders.type}"
    assert refusal(b).endswith(message)


@broken.rule("a segment is counted in indices, not i32")
def segment_counted_in_integers(b: Builder) -> None:
    segmented(b, index=b.value(TileType(I32), "f"))


@broken.rule("off is not defined here")
def segments_by_no_parameter(b: Builder) -> None:
    segmented(b)
    del b.parameters[0]


# Split tensors.


def cache(b: Builder, access: Access = Access.INOUT, dimensions: str = "C 4") -> Tensor:
    return b.tensor("cache", access, F32, dimensions)


def split(b: Builder, tensor: Tensor, **changes: Any) -> None:
    """A split along the first axis, which `changes` may break."""
    b.split(tensor, 0, b.number(3))
    op = b.ops.pop()
    assert isinstance(op, SplitAt)
    b.emit(replace(op, **changes))


def test_both_parts_of_a_split_tensor_are_used_in_its_place() -> None:
    b = Builder()
    b.tensor("new", Access.IN, F32, "N")
    past, fresh = b.split(cache(b), 0, b.number(3))
    first, n, t = At(b.number(0)), tiles("n", "N", 8), tiles("t", "C", 8)
    b.load(past, first, first)
    with b.parallel(n):
        with b.walking(t):
            b.load(past, Along(t), first, axes=(along(t),))
        b.store(fresh, Along(n), first, value=b.load(fresh, Along(n), first, axes=(along(n),)))
    verify(b.kernel())


@broken.rule("cache is split; its parts stand for it")
def tensor_used_behind_its_split(b: Builder) -> None:
    whole = cache(b)
    split(b, whole)
    b.load(whole, At(b.number(0)), At(b.number(0)))


@broken.rule("cache is split; its parts stand for it")
def tensor_split_twice(b: Builder) -> None:
    whole = cache(b)
    split(b, whole)
    split(b, whole, past=Value("p", whole.type), fresh=Value("f", whole.type))


@broken.rule("a tensor is split at the top level")
def split_in_the_space(b: Builder) -> None:
    whole = cache(b)
    with b.parallel(each("n", "C")):
        split(b, whole)


@broken.rule("a tensor is split at the top level")
def split_in_a_branch(b: Builder) -> None:
    whole = cache(b)
    with b.when(b.scalar("c", BOOL)):
        split(b, whole)


@broken.rule('cache: Out[f32, "C 4"] is not InOut')
def split_of_an_output(b: Builder) -> None:
    split(b, cache(b, Access.OUT))


@broken.rule('cache: InOut[f32, "C 4"] has no axis 2')
def split_of_no_axis(b: Builder) -> None:
    split(b, cache(b), axis=2)


@broken.rule('axis 1 of cache: InOut[f32, "C 4"] has no name')
def split_along_a_number(b: Builder) -> None:
    split(b, cache(b), axis=1)


@broken.rule("a tensor is split at an index, not index?")
def split_at_an_entry(b: Builder) -> None:
    split(b, cache(b), at=tile(b, ENTRY))


@broken.rule('the past is In[f32, "C 4"], not InOut[f32, "C 4"]')
def past_that_is_written(b: Builder) -> None:
    whole = cache(b)
    split(b, whole, past=Value("p", whole.type))


@broken.rule('the fresh part is InOut[f32, "_ 4"], not InOut[f32, "C 4"]')
def fresh_part_that_keeps_the_name(b: Builder) -> None:
    whole = cache(b)
    split(b, whole, fresh=Value("f", whole.type))


@broken.rule("outside the parallel space only In is read")
def fresh_part_read_outside_the_space(b: Builder) -> None:
    _, fresh = b.split(cache(b), 0, b.number(3))
    b.load(fresh, At(b.number(0)), At(b.number(0)))
    with b.parallel(each("n", "C")):
        pass


@broken.rule('past: In[f32, "C 4"] is not stored to')
def past_stored_to(b: Builder) -> None:
    past, _ = b.split(cache(b), 0, b.number(3))
    b.store(past, At(b.number(0)), At(b.number(0)), value=b.number(1.0, F32))


@broken
def test_a_space_outside_the_law_is_refused(fill: Fill, message: str) -> None:
    b = Builder()
    fill(b)
    assert refusal(b).endswith(f": {message}")
