"""The law of regions: what moves has the axes that the picks name, or is refused."""

from __future__ import annotations

from tileproof.ir.ops import (
    Along,
    At,
    Gather,
    Update,
    Whole,
    Window,
)
from tileproof.ir.types import Access, Axis, Content
from tileproof.language.dtypes import (
    F16,
    F32,
    I32,
    INDEX,
)

from .builder import Broken, Builder, Fill, along, each, refusal, tile, tiles

broken = Broken()


@broken.rule("n: tile of N by 8 does not walk M")
def walker_of_another_dimension(b: Builder) -> None:
    b.tensor("y", Access.IN, F32, "N")
    x = b.tensor("x", Access.IN, F32, "M")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        b.load(x, Along(n), axes=(along(n),))


@broken.rule("n: tile of N by 8 does not walk 8")
def walker_on_a_fixed_axis(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N 8")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        b.load(x, Along(n), Along(n), axes=(along(n), along(n)))


def test_any_walker_stands_on_an_axis_without_name() -> None:
    b = Builder()
    x = b.tensor("x", Access.IN, F32, "_ _")
    b.tensor("y", Access.IN, F32, "N")
    n, e = tiles("n", "N", 8), each("e", "N")
    with b.parallel(n, e):
        b.load(x, Along(n), Along(e), axes=(along(n),))
    assert refusal(b) == ""


@broken.rule('x: In[f32, "M N"] has 2 axes, 1 are picked')
def too_few_picks(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "M N")
    b.load(x, At(b.number(0)))


@broken.rule("an element is picked by an index, not i32")
def element_at_an_integer(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    b.load(x, At(b.number(0, I32)))


@broken.rule("elements are picked by one axis of index, not index[2, 4]")
def gather_by_a_matrix(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    b.load(x, Gather(tile(b, INDEX, 2, 4)), axes=(Axis(8),))


@broken.rule("all of N is picked, which is not static")
def all_of_a_dimension_that_is_not_static(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    b.load(x, Whole(), axes=(Axis(8),))


@broken.rule("all of a dimension without name is picked")
def all_of_a_dimension_without_name(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "_")
    b.load(x, Whole(), axes=(Axis(8),))


@broken.rule("the slice of -1 elements from 0 runs backwards")
def window_that_runs_backwards(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    b.load(x, Window(0, -1), axes=(Axis(4),))


@broken.rule("the region is f32[D=8], the result f32[8]")
def load_without_the_tag(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "D")
    b.static = {"D": 8}
    b.load(x, Whole(), axes=(Axis(8),))


@broken.rule("the region is f32, the result f32[1]")
def load_that_keeps_a_dropped_axis(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    n = each("n", "N")
    with b.parallel(n):
        b.load(x, Along(n), axes=(Axis(1),))


@broken.rule("n: tile of N by 8 does not walk M")
def get_along_another_dimension(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "M")
    b.tensor("y", Access.IN, F32, "N")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        b.get(x, Along(n), fill=b.number(0.0, F32), axes=(along(n),))


@broken.rule("the region is f32, the result f32[1]")
def get_that_keeps_a_dropped_axis(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    b.get(x, At(b.number(-1)), fill=b.number(0.0, F32), axes=(Axis(1),))


@broken.rule("what stands for missing elements is f32, not i32")
def get_that_converts(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    b.get(x, At(b.number(-1)), fill=b.number(0, I32))


@broken.rule("what stands for missing elements is index?, not index")
def get_from_an_index_tensor_without_none(b: Builder) -> None:
    x = b.tensor("x", Access.IN, Content("Index", "N", I32), "N")
    b.get(x, At(b.number(-1)), fill=b.number(-1))


@broken.rule("what stands for missing elements is f32, not f32[4]")
def get_filled_with_a_tile(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    b.get(x, Window(0, 4), fill=tile(b, F32, 4), axes=(Axis(4),))


@broken.rule('x: Out[f32, "N"] is not read')
def get_from_an_output(b: Builder) -> None:
    x = b.tensor("x", Access.OUT, F32, "N")
    b.get(x, At(b.number(0)), fill=b.number(0.0, F32))


@broken.rule("outside the parallel space only In is read")
def get_from_a_written_tensor_outside_the_space(b: Builder) -> None:
    x = b.tensor("x", Access.INOUT, F32, "N")
    b.get(x, At(b.number(0)), fill=b.number(0.0, F32))
    with b.parallel(each("n", "N")):
        pass


@broken.rule("the region is f32[4], the value f16[4]")
def store_that_converts(b: Builder) -> None:
    y = b.tensor("y", Access.OUT, F32, "N")
    b.store(y, Window(0, 4), value=tile(b, F16, 4))


@broken.rule("the region is f32[4], the value f32")
def store_that_broadcasts(b: Builder) -> None:
    y = b.tensor("y", Access.OUT, F32, "N")
    b.store(y, Window(0, 4), value=tile(b, F32))


@broken.rule("the region is i32[4], the value i32[8]")
def update_of_another_length(b: Builder) -> None:
    y = b.tensor("y", Access.SUM, I32, "N")
    b.emit(Update(b.span, y, (Gather(tile(b, INDEX, 4)),), tile(b, I32, 8)))


@broken
def test_an_access_outside_the_law_is_refused(fill: Fill, message: str) -> None:
    b = Builder()
    fill(b)
    assert refusal(b).endswith(f": {message}")
