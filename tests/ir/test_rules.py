"""The law of types: for each operation, kernels whose types do not follow from the operands are refused."""

from __future__ import annotations

from typing import Any

import pytest

from tileproof.ir.extent import symbol
from tileproof.ir.ops import (
    Along,
    At,
    Binary,
    BinaryFn,
    Bitcast,
    Broadcast,
    Cast,
    Cat,
    Constant,
    CumSum,
    Elements,
    Expand,
    Extents,
    Gather,
    Group,
    Iota,
    Mma,
    Permute,
    Reduce,
    ReduceFn,
    Reshape,
    Select,
    Slice,
    Start,
    Unary,
    UnaryFn,
    Update,
    Whole,
    Window,
)
from tileproof.ir.rules import sums_to
from tileproof.ir.types import INDEX_SCALAR, Access, Axis, DimensionTag, Tile, TileType
from tileproof.ir.verifier import IRError, verify
from tileproof.language.dtypes import (
    BF16,
    BOOL,
    F8E4M3,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    INDEX,
    TF32,
    U8,
    U32,
    U64,
    DType,
)

from .builder import Broken, Builder, Fill, along, each, tiles

broken = Broken()
D = symbol("D")


def of(dtype: DType, *axes: Any) -> TileType:
    """A tile type; a number stands for an untagged axis."""
    return TileType(dtype, tuple(axis if isinstance(axis, Axis) else Axis(axis) for axis in axes))


def tile(b: Builder, dtype: DType, *axes: Any) -> Tile:
    """Some tile of any element type."""
    if dtype == INDEX:
        return b.full(1, of(dtype, *axes))
    if dtype == TF32:
        return b.op(Cast, of(dtype, *axes), operand=tile(b, F32, *axes))
    scalar = b.scalar(f"s{len(b.parameters)}_", dtype)
    return b.op(Broadcast, of(dtype, *axes), operand=scalar)


def accepts(b: Builder) -> bool:
    try:
        verify(b.kernel())
    except IRError:
        return False
    return True


# Sources.


@broken.rule("a constant has no axes; broadcast it")
def constant_with_axes(b: Builder) -> None:
    b.op(Constant, of(F32, 4), value=0.0)


@pytest.mark.parametrize(
    ("value", "dtype", "is_good"),
    [
        (True, BOOL, True),
        (1, BOOL, False),
        (0.5, F32, True),
        (2, F32, True),
        (D, F32, True),
        (True, F32, False),
        (1, INDEX, True),
        (D, INDEX, True),
        (1.0, INDEX, False),
        (True, I32, False),
        (127, I8, True),
        (128, I8, False),
        (-128, I8, True),
        (255, U8, True),
        (-1, U8, False),
        (2**63, INDEX, False),
    ],
)
def test_a_constant_fits_its_type(value: Any, dtype: DType, is_good: bool) -> None:
    b = Builder()
    b.number(value, dtype)
    assert accepts(b) is is_good


@broken.rule("N is not a dimension of any tensor")
def extent_of_an_unknown_dimension(b: Builder) -> None:
    b.op(Extents, INDEX_SCALAR, dimension="N")


@broken.rule('x: In[f32, "_"] has no axis 1')
def extent_of_an_axis_too_far(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "_")
    b.op(Extents, INDEX_SCALAR, dimension=None, tensor=x, axis=1)


@broken.rule("an extent is that of a named dimension or of an axis of a tensor, not both")
def extent_of_two_things(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    b.op(Extents, INDEX_SCALAR, dimension="N", tensor=x)


@broken.rule("the result is index, not i32")
def start_of_another_type(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "N")
    n = each("n", "N")
    with b.parallel(n):
        b.op(Start, of(I32), walker=n)


@broken.rule("an element has no elements")
def elements_of_an_element(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "N")
    n = each("n", "N")
    with b.parallel(n):
        b.op(Elements, of(INDEX, 1), walker=n)


@broken.rule("the result is index[n:8], not index[8]")
def elements_without_their_tag(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "N")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        b.op(Elements, of(INDEX, 8), walker=n)


@broken.rule("counting gives one untagged axis of index")
def counting_in_floats(b: Builder) -> None:
    b.op(Iota, of(F32, 8))


@broken.rule("what is grouped is an index")
def group_of_an_integer(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "H G")
    b.op(Group, of(I32), index=b.number(1, I32), dimension="H", into="G")


@broken.rule("G is not a dimension of any tensor")
def group_into_nothing(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "H")
    b.op(Group, INDEX_SCALAR, index=b.number(1), dimension="H", into="G")


# Elementwise.

NUMBERS = (I8, U64, INDEX, F16, F32)
UNARY = [
    *((fn, NUMBERS, (BOOL, F8E4M3, TF32)) for fn in (UnaryFn.NEG, UnaryFn.ABS)),
    (UnaryFn.NOT, (BOOL, I8, U64), (INDEX, F32)),
    *(
        (fn, (F16, F64), (BOOL, I32, INDEX, F8E4M3, TF32))
        for fn in (UnaryFn.EXP, UnaryFn.FLOOR, UnaryFn.ISNAN)
    ),
]
BINARY = [
    *(
        (fn, NUMBERS, (BOOL, F8E4M3, TF32))
        for fn in (BinaryFn.ADD, BinaryFn.FLOORDIV, BinaryFn.MAX, BinaryFn.LT)
    ),
    (BinaryFn.DIV, (F16, F64), (I32, INDEX, BOOL)),
    (BinaryFn.CDIV, (I32, INDEX), (F32, BOOL)),
    (BinaryFn.POW, (I32, F32), (INDEX, BOOL)),
    (BinaryFn.AND, (BOOL, U32), (INDEX, F32)),
    (BinaryFn.SHL, (I32, U8), (BOOL, INDEX, F32)),
    (BinaryFn.EQ, (BOOL, *NUMBERS), (F8E4M3,)),
]


@pytest.mark.parametrize(("fn", "good", "bad"), UNARY, ids=lambda item: str(item))
def test_a_function_of_one_element_takes_its_types(
    fn: UnaryFn, good: tuple[DType, ...], bad: tuple[DType, ...]
) -> None:
    for dtype in (*good, *bad):
        b = Builder()
        made = BOOL if fn is UnaryFn.ISNAN else dtype
        b.op(Unary, of(made, 4), fn=fn, operand=tile(b, dtype, 4))
        assert accepts(b) is (dtype in good), dtype


@pytest.mark.parametrize(("fn", "good", "bad"), BINARY, ids=lambda item: str(item))
def test_a_function_of_two_elements_takes_its_types(
    fn: BinaryFn, good: tuple[DType, ...], bad: tuple[DType, ...]
) -> None:
    for dtype in (*good, *bad):
        b = Builder()
        one = tile(b, dtype, 4)
        b.binary(fn, one, one)
        assert accepts(b) is (dtype in good), dtype


@broken.rule("the result is bool[4], not f32[4]")
def comparison_that_gives_floats(b: Builder) -> None:
    one = tile(b, F32, 4)
    b.op(Binary, of(F32, 4), fn=BinaryFn.LT, left=one, right=one)


@broken.rule("the result is bool[4], not f32[4]")
def isnan_that_gives_floats(b: Builder) -> None:
    b.op(Unary, of(F32, 4), fn=UnaryFn.ISNAN, operand=tile(b, F32, 4))


@broken.rule("the operands of add differ: f32[4] and f32")
def operands_of_different_shape(b: Builder) -> None:
    b.add(tile(b, F32, 4), tile(b, F32))


@broken.rule("the operands of add differ: f32[4] and f16[4]")
def operands_of_different_type(b: Builder) -> None:
    b.add(tile(b, F32, 4), tile(b, F16, 4))


@broken.rule("the operands of add differ: f32[n:8] and f32[8]")
def operands_of_different_tags(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        b.add(b.load(x, Along(n), axes=(along(n),)), tile(b, F32, 8))


@broken.rule("the two choices differ: f32[4] and f16[4]")
def choices_of_different_type(b: Builder) -> None:
    yes = tile(b, F32, 4)
    b.op(Select, yes.type, condition=tile(b, BOOL, 4), yes=yes, no=tile(b, F16, 4))


@broken.rule("the condition is bool, not bool[4]")
def condition_of_another_shape(b: Builder) -> None:
    yes = tile(b, F32, 4)
    b.op(Select, yes.type, condition=tile(b, BOOL), yes=yes, no=yes)


@broken.rule("the result is f16[4], not f16[8]")
def cast_that_changes_the_shape(b: Builder) -> None:
    b.op(Cast, of(F16, 8), operand=tile(b, F32, 4))


@pytest.mark.parametrize("source", [F32, BOOL, U64], ids=str)
def test_only_integers_that_fit_become_indices(source: DType) -> None:
    b = Builder()
    b.op(Cast, INDEX_SCALAR, operand=tile(b, source))
    assert not accepts(b)


@broken.rule("f32 and f16 differ in width")
def bitcast_to_another_width(b: Builder) -> None:
    b.op(Bitcast, of(F16, 4), operand=tile(b, F32, 4))


@broken.rule("index has no bits of its own")
def bitcast_of_an_index(b: Builder) -> None:
    b.op(Bitcast, of(I64, 4), operand=tile(b, INDEX, 4))


# Shapes.


@pytest.mark.parametrize(
    ("source", "target", "is_good"),
    [
        ((), (4, "n"), True),
        ((4,), (8, 4), True),
        ((1,), ("n",), True),
        ((8,), ("n",), True),
        ((1, "n"), (4, "n"), True),
        (("n",), ("n",), True),
        (("D",), ("D",), True),
        ((4,), ("n",), False),
        ((4,), (8,), False),
        (("n",), (8,), False),
        (("n",), ("m",), False),
        (("n",), ("D",), False),
        ((2, 4), (4,), False),
        (("n",), ("n", 4), False),
    ],
)
def test_only_untagged_axes_stretch_or_take_a_tag(source: Any, target: Any, is_good: bool) -> None:
    b = Builder()
    x = b.tensor("x", Access.IN, F32, "N M D")
    b.static = {"D": 8}
    n, m = tiles("n", "N", 8), tiles("m", "M", 8)
    axes = {"n": along(n), "m": along(m), "D": Axis(8, DimensionTag("D"))}
    with b.parallel(n, m):
        old = tile(b, x.type.read_as, *(axes.get(axis, axis) for axis in source))
        b.op(Broadcast, of(F32, *(axes.get(axis, axis) for axis in target)), operand=old)
    assert accepts(b) is is_good


@broken.rule("broadcasting keeps the element type")
def broadcast_that_converts(b: Builder) -> None:
    b.op(Broadcast, of(F16, 4), operand=tile(b, F32))


@broken.rule("f32[4] cannot get an axis 2")
def expand_too_far(b: Builder) -> None:
    b.op(Expand, of(F32, 4, 1), operand=tile(b, F32, 4), axis=2)


@broken.rule("the result is f32[4, 1], not f32[1, 4]")
def expand_at_another_axis(b: Builder) -> None:
    b.op(Expand, of(F32, 1, 4), operand=tile(b, F32, 4), axis=1)


@broken.rule("(0, 0) does not order f32[4, 8]")
def permute_by_no_order(b: Builder) -> None:
    b.op(Permute, of(F32, 4, 4), operand=tile(b, F32, 4, 8), order=(0, 0))


@broken.rule("the result is f32[8, 4], not f32[4, 8]")
def permute_without_effect(b: Builder) -> None:
    b.op(Permute, of(F32, 4, 8), operand=tile(b, F32, 4, 8), order=(1, 0))


@broken.rule("f32[4] and f32[8] differ in size")
def reshape_to_another_size(b: Builder) -> None:
    b.op(Reshape, of(F32, 8), operand=tile(b, F32, 4))


def test_sizes_that_only_a_launch_knows_are_not_refused() -> None:
    b = Builder()
    b.op(Reshape, of(F32, D), operand=tile(b, F32, 2, D // 2))
    assert accepts(b)


@broken.rule("f32[n:8] may be short")
def reshape_of_a_short_axis(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        b.op(Reshape, of(F32, 8), operand=b.load(x, Along(n), axes=(along(n),)))


@broken.rule("reshaping gives untagged axes")
def reshape_to_a_tag(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "D")
    b.static = {"D": 8}
    b.op(Reshape, of(F32, Axis(8, DimensionTag("D"))), operand=tile(b, F32, 2, 4))


@broken.rule("axis 0 of f32[n:8] may be short")
def slice_of_a_short_axis(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        b.op(Slice, of(F32, 4), operand=b.load(x, Along(n), axes=(along(n),)), axis=0, start=0, length=4)


@broken.rule("the slice leaves axis 0 of f32[8]")
def slice_past_the_end(b: Builder) -> None:
    b.op(Slice, of(F32, 4), operand=tile(b, F32, 8), axis=0, start=5, length=4)


@broken.rule("the slice leaves axis 0 of f32[8]")
def slice_before_the_start(b: Builder) -> None:
    b.op(Slice, of(F32, 4), operand=tile(b, F32, 8), axis=0, start=-1, length=4)


@broken.rule("f32[8] has no axis 1")
def slice_of_no_axis(b: Builder) -> None:
    b.op(Slice, of(F32, 8), operand=tile(b, F32, 8), axis=1, start=0, length=4)


@broken.rule("the result is f32[12], not f32[8]")
def cat_that_loses_elements(b: Builder) -> None:
    b.op(Cat, of(F32, 8), operands=(tile(b, F32, 8), tile(b, F32, 4)), axis=0)


@broken.rule("f32[2, 8] and f32[3, 8] differ beside axis 1")
def cat_of_different_heights(b: Builder) -> None:
    b.op(Cat, of(F32, 2, 16), operands=(tile(b, F32, 2, 8), tile(b, F32, 3, 8)), axis=1)


@broken.rule("there is nothing to put together")
def cat_of_nothing(b: Builder) -> None:
    b.op(Cat, of(F32, 0), operands=(), axis=0)


# Reductions and products.

REDUCE = [
    (
        ReduceFn.SUM,
        {BOOL: I32, I8: I32, I16: I32, U8: I32, I32: I32, U64: U64, INDEX: INDEX, BF16: F32, F64: F64},
    ),
    (ReduceFn.MEAN, {F16: F32, F32: F32, F64: F64}),
    (ReduceFn.MAX, {I8: I8, INDEX: INDEX, BF16: BF16}),
    (ReduceFn.ARGMIN, {I8: INDEX, INDEX: INDEX, BF16: INDEX}),
    (ReduceFn.ANY, {BOOL: BOOL}),
]
REFUSED = [
    (ReduceFn.SUM, F8E4M3),
    (ReduceFn.MEAN, I32),
    (ReduceFn.MIN, BOOL),
    (ReduceFn.ARGMAX, BOOL),
    (ReduceFn.MAX, TF32),
    (ReduceFn.ALL, I32),
]


@pytest.mark.parametrize(
    ("fn", "gives"), REDUCE, ids=lambda item: str(item) if isinstance(item, ReduceFn) else ""
)
def test_a_reduction_gives_its_type(fn: ReduceFn, gives: dict[DType, DType]) -> None:
    for dtype, made in gives.items():
        for claimed in {made, F16}:
            b = Builder()
            b.op(Reduce, of(claimed, 4), fn=fn, operand=tile(b, dtype, 4, 8), axis=1)
            assert accepts(b) is (claimed == made), dtype


@pytest.mark.parametrize(("fn", "dtype"), REFUSED, ids=str)
def test_a_reduction_refuses_other_types(fn: ReduceFn, dtype: DType) -> None:
    b = Builder()
    made = INDEX if fn is ReduceFn.ARGMAX else sums_to(dtype) if fn is ReduceFn.SUM else dtype
    b.op(Reduce, of(made), fn=fn, operand=tile(b, dtype, 4), axis=0)
    with pytest.raises(IRError, match=f"{fn} does not take {dtype}"):
        verify(b.kernel())


@broken.rule("the result is f32[8], not f32[4]")
def reduction_that_drops_another_axis(b: Builder) -> None:
    b.op(Reduce, of(F32, 4), fn=ReduceFn.SUM, operand=tile(b, F32, 4, 8), axis=0)


@broken.rule("f32[4] has no axis -1")
def reduction_from_behind(b: Builder) -> None:
    b.op(Reduce, of(F32), fn=ReduceFn.SUM, operand=tile(b, F32, 4), axis=-1)


@broken.rule("the result is f32[4], not f16[4]")
def narrow_running_sum(b: Builder) -> None:
    b.op(CumSum, of(F16, 4), operand=tile(b, F16, 4), axis=0)


@pytest.mark.parametrize(
    ("dtype", "total"),
    [(F8E4M3, F32), (F16, F32), (BF16, F32), (TF32, F32), (F32, F32), (F64, F64), (I8, I32), (U8, I32)],
    ids=str,
)
def test_a_product_accumulates_wide(dtype: DType, total: DType) -> None:
    b = Builder()
    acc = tile(b, total, 4, 16)
    b.op(Mma, acc.type, left=tile(b, dtype, 4, 8), right=tile(b, dtype, 8, 16), acc=acc)
    assert accepts(b)


def product(b: Builder, left: TileType, right: TileType, acc: TileType) -> None:
    one, two, total = (tile(b, operand.dtype, *operand.axes) for operand in (left, right, acc))
    b.op(Mma, acc, left=one, right=two, acc=total)


@broken.rule("the accumulator is f16[4, 16], not f32[4, 16]")
def narrow_accumulator(b: Builder) -> None:
    product(b, of(F16, 4, 8), of(F16, 8, 16), of(F16, 4, 16))


@broken.rule("the accumulator is f32[16, 4], not f32[4, 16]")
def transposed_accumulator(b: Builder) -> None:
    product(b, of(F16, 4, 8), of(F16, 8, 16), of(F32, 16, 4))


@broken.rule("the inner axes differ: 8 and 4")
def inner_axes_of_different_lengths(b: Builder) -> None:
    product(b, of(F16, 4, 8), of(F16, 4, 16), of(F32, 4, 16))


@broken.rule("the factors differ in element type")
def factors_of_different_types(b: Builder) -> None:
    product(b, of(F16, 4, 8), of(BF16, 8, 16), of(F32, 4, 16))


@broken.rule("there is no product of i32")
def product_of_integers(b: Builder) -> None:
    product(b, of(I32, 4, 8), of(I32, 8, 16), of(I32, 4, 16))


@broken.rule("a product is of two tiles with two axes each")
def product_with_a_vector(b: Builder) -> None:
    product(b, of(F16, 4, 8), of(F16, 8), of(F32, 4, 8))


# Regions.


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
def test_a_type_that_does_not_follow_is_refused(fill: Fill, message: str) -> None:
    b = Builder()
    fill(b)
    with pytest.raises(IRError) as caught:
        verify(b.kernel())
    assert str(caught.value).splitlines()[0].endswith(f": {message}")
