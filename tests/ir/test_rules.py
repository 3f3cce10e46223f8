"""The law of types: elements that do not follow from the operands are refused, operation by operation."""

from __future__ import annotations

from typing import Any

import pytest

from tileproof.ir.ops import (
    Along,
    Binary,
    BinaryFn,
    Bitcast,
    Cast,
    Constant,
    CumSum,
    Elements,
    Extents,
    Group,
    Iota,
    Mma,
    Number,
    Random,
    Reduce,
    ReduceFn,
    Select,
    Shift,
    Start,
    Unary,
    UnaryFn,
)
from tileproof.ir.rules import sums_to
from tileproof.ir.types import INDEX_SCALAR, Access, TileType, Value, WalkerType, symbol
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

from .builder import Broken, Builder, Fill, accepts, along, each, of, refusal, tile, tiles

broken = Broken()
D = symbol("D")


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


@broken.rule("the result is index, not i32")
def number_of_another_type(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "N")
    n = each("n", "N")
    with b.parallel(n):
        b.op(Number, of(I32), walker=n)


@broken.rule("a seed is one i64, not i32")
def seed_of_another_type(b: Builder) -> None:
    b.op(Random, of(F32, 4), seed=b.scalar("seed", I32), offset=tile(b, INDEX, 4))


@broken.rule("a seed is one i64, not i64[4]")
def several_seeds(b: Builder) -> None:
    b.op(Random, of(F32, 4), seed=tile(b, I64, 4), offset=tile(b, INDEX, 4))


@broken.rule("offsets are index, not i64")
def offsets_of_another_type(b: Builder) -> None:
    b.op(Random, of(F32, 4), seed=b.scalar("seed", I64), offset=tile(b, I64, 4))


@broken.rule("the result is f32[4], not f64[4]")
def random_numbers_of_another_type(b: Builder) -> None:
    b.op(Random, of(F64, 4), seed=b.scalar("seed", I64), offset=tile(b, INDEX, 4))


# Shifts.


@broken.rule("n: element of N is no tile to shift")
def shift_of_an_element(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "N")
    n = each("n", "N")
    with b.parallel(n):
        b.shift("m", n, b.number(1))


@broken.rule("a shift is by an index, not i32")
def shift_by_an_integer(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "N")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        b.shift("m", n, b.number(1, I32))


SHIFTED = [WalkerType("M", 8), WalkerType("N", 4), WalkerType("N", 8, is_piece=True)]


@pytest.mark.parametrize("changed", SHIFTED, ids=str)
def test_a_shifted_walker_is_a_tile_of_the_same_dimension_and_size(changed: WalkerType) -> None:
    b = Builder()
    b.tensor("x", Access.IN, F32, "N M")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        b.emit(Shift(b.span, Value("m", changed), n, b.number(1)))
    assert refusal(b).endswith(f"the result is tile of N by 8, not {changed}")


@broken.rule("the operands of add differ: f32[n:8] and f32[m:8]")
def shifted_tile_meets_its_origin(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    n = tiles("n", "N", 8)
    with b.parallel(n):
        m = b.shift("m", n, b.number(1))
        b.add(b.load(x, Along(n), axes=(along(n),)), b.load(x, Along(m), axes=(along(m),)))


# Elementwise.

NUMBERS = (I8, U64, INDEX, F16, F32)
UNARY = [
    *((fn, NUMBERS, (BOOL, F8E4M3, TF32)) for fn in (UnaryFn.NEG, UnaryFn.ABS)),
    (UnaryFn.NOT, (BOOL, I8, U64), (INDEX, F32)),
    *((fn, (F16, F64), (BOOL, I32, INDEX, F8E4M3, TF32)) for fn in (UnaryFn.EXP, UnaryFn.FLOOR, UnaryFn.ISNAN)),
]
BINARY = [
    *((fn, NUMBERS, (BOOL, F8E4M3, TF32)) for fn in (BinaryFn.ADD, BinaryFn.FLOORDIV, BinaryFn.MAX, BinaryFn.LT)),
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


@pytest.mark.parametrize(("fn", "gives"), REDUCE, ids=lambda item: str(item) if isinstance(item, ReduceFn) else "")
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


@broken.rule("a product is of two tiles with two axes each, or with three")
def product_with_a_vector(b: Builder) -> None:
    product(b, of(F16, 4, 8), of(F16, 8), of(F32, 4, 8))


@broken
def test_a_type_that_does_not_follow_is_refused(fill: Fill, message: str) -> None:
    b = Builder()
    fill(b)
    assert refusal(b).endswith(f": {message}")
