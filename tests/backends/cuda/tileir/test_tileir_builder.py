"""The builder infers the types of results, and refuses operands that the operation does not take."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tileir_samples import Kit

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.types import (
    BF16,
    F8E4M3,
    F16,
    F32,
    F64,
    I1,
    I8,
    I16,
    I32,
    I64,
    TF32,
    TOKEN,
    Mode,
    Padding,
    PartitionView,
    Pointer,
    Predicate,
    Rounding,
    Scope,
    StridedView,
    TensorView,
    Tile,
    TileView,
    Value,
)

TENSOR = TensorView(F32, (None, 64), (64, 1))
INTEGERS = TensorView(I32, (None, 64), (64, 1))


def view(b: Kit, kind: TileView) -> Value:
    tensor = b.make_tensor_view(b.pointer(kind.of.element), kind.of, [b.number])
    match kind:
        case PartitionView():
            return b.make_partition_view(tensor, kind)
        case StridedView():
            return b.make_strided_view(tensor, kind)


def partition(b: Kit, padding: Padding | None = None) -> Value:
    return view(b, PartitionView((8, 32), TENSOR, (0, 1), padding))


def narrow(b: Kit) -> Value:
    return b.trunci(b.number, I16)


def inside_loop(b: Kit, fill: Callable[[Kit], object]) -> None:
    with b.inside(b.for_(b.number, b.number, b.number, [b.number]).block):
        fill(b)


def inside_reduction(b: Kit, fill: Callable[[Kit], object]) -> None:
    with b.inside(b.reduce([b.tile(F32)], 0, [0.0]).block):
        fill(b)


MISTAKES: list[tuple[Callable[[Kit], object], str]] = [
    # Shapes.
    (
        lambda b: b.constant(Tile(F32, (3,)), 0),
        "constant: the lengths of a tile must be powers of two; given tile<3xf32>",
    ),
    (lambda b: b.constant(Tile(F32, (1 << 25,)), 0), "constant: a tile has at most 16777216 elements"),
    (lambda b: b.constant(Tile(Pointer(F32)), 0), "constant: there are no constants of ptr<f32>"),
    (lambda b: b.iota(512, I8), "iota: 512 numbers from 0 must fit; given tile<512xi8>"),
    (lambda b: b.iota(8, F32), "iota: 8 numbers from 0 must fit; given tile<8xf32>"),
    (lambda b: b.reshape(b.tile(F32), (4,)), "reshape: tile<4xf32> has another number of elements; given tile<8xf32>"),
    (lambda b: b.broadcast(b.tile(F32), (16,)), "broadcast: tile<16xf32> must have the same rank"),
    (lambda b: b.broadcast(b.tile(F32), (8, 8)), "broadcast: tile<8x8xf32> must have the same rank"),
    (lambda b: b.permute(b.tile(F32, (2, 4)), (0, 0)), "permute: the order [0, 0] must name each of 2 dimensions once"),
    (lambda b: b.cat(b.tile(F32), b.tile(F32, (4,)), 0), "cat: the lengths of a tile must be powers of two"),
    (lambda b: b.cat(b.tile(F32), b.tile(I32), 0), "cat: the tiles must have one element type and rank"),
    (lambda b: b.extract(b.tile(F32), [narrow(b)], (4,)), "extract: an index must be tile<i32>; given tile<i16>"),
    (lambda b: b.extract(b.tile(F32), [b.number], (16,)), "extract: the part must fit a whole number of times"),
    # Elements.
    (
        lambda b: b.addi(b.tile(I32), b.tile(I64)),
        "addi: the operands must have one type; given tile<8xi32>, tile<8xi64>",
    ),
    (lambda b: b.addi(b.tile(I32), b.tile(I32, (4,))), "addi: the operands must have one type"),
    (lambda b: b.addi(b.tile(F32), b.tile(F32)), "addi: the operands must be integers"),
    (lambda b: b.addf(b.tile(I32), b.tile(I32)), "addf: the operands must be f16, bf16, f32 or f64"),
    (lambda b: b.addf(b.tile(F8E4M3), b.tile(F8E4M3)), "addf: the operands must be f16, bf16, f32 or f64"),
    (lambda b: b.divf(b.tile(F16), b.tile(F16), ftz=True), "divf: only f32 can flush denormals to zero"),
    (lambda b: b.sqrt(b.tile(F32), rounding=Rounding.FULL), "sqrt: there is no rounding FULL"),
    (lambda b: b.divf(b.tile(F64), b.tile(F64), rounding=Rounding.FULL), "divf: there is no rounding FULL"),
    (lambda b: b.tanh(b.tile(F16), rounding=Rounding.APPROXIMATE), "tanh: there is no rounding APPROXIMATE"),
    (
        lambda b: b.divi(b.tile(I32), b.tile(I32), signed=False, rounding=Rounding.DOWN),
        "divi: there is no unsigned rounding DOWN",
    ),
    (lambda b: b.exti(b.tile(I32), I32, signed=True), "exti: i32 must be wider; given tile<8xi32>"),
    (lambda b: b.trunci(b.tile(I32), I64), "trunci: i64 must be narrower"),
    (lambda b: b.itof(b.tile(F32), F32, signed=True), "itof: the operand must be integers"),
    (lambda b: b.ftoi(b.tile(F32), F32, signed=True), "ftoi: the result must be integers; given f32"),
    (lambda b: b.ftof(b.tile(F32), F32), "ftof: the type must differ from f32"),
    (lambda b: b.bitcast(b.tile(F32), I16), "bitcast: the operand must be numbers of 16 bits"),
    (
        lambda b: b.select(b.tile(I1, (4,)), b.tile(F32), b.tile(F32)),
        "select: the condition must be tile<8xi1>; given tile<4xi1>",
    ),
    (lambda b: b.offset(b.pointers(F32), b.tile(I32, (4,))), "offset: the operands must have one shape"),
    (lambda b: b.offset(b.tile(I64), b.tile(I32)), "offset: the operand must be a tile of pointers"),
    (lambda b: b.int_to_ptr(b.tile(I32), Pointer(F32)), "int_to_ptr: the operand must be tile<8xi64>"),
    (lambda b: b.addi(b.make_token(), b.number), "addi: the operand must be a tile; given token"),
    # Products.
    (
        lambda b: b.mmaf(b.tile(BF16, (16, 16)), b.tile(BF16, (16, 16)), b.tile(BF16, (16, 16))),
        "mmaf: there is no such product of floats; given tile<16x16xbf16>, tile<16x16xbf16>, tile<16x16xbf16>",
    ),
    (
        lambda b: b.mmaf(b.tile(F16, (16, 32)), b.tile(F16, (16, 16)), b.tile(F32, (16, 16))),
        "mmaf: the operands must be m x k, k x n and m x n",
    ),
    (
        lambda b: b.mmai(
            b.tile(I8, (16, 16)), b.tile(I8, (16, 16)), b.tile(I64, (16, 16)), signed_left=True, signed_right=True
        ),
        "mmai: the matrices must be i8",
    ),
    # Regions.
    (lambda b: b.for_(b.number, b.address, b.number, []), "for: the bounds must be integer scalars of one type"),
    (lambda b: b.for_(b.number, b.number, b.number, [partition(b)]), "for: only tiles and tokens go in and out"),
    (lambda b: b.if_(b.number), "if: the condition must be tile<i1>; given tile<i32>"),
    (lambda b: b.reduce([b.tile(F32)], 1, [0.0]), "reduce: the tiles must have one shape, with a dimension 1"),
    (lambda b: b.reduce([b.tile(F32)], 0, [0.0, 1.0]), "reduce: 1 tiles need as many identities, not 2"),
    (lambda b: b.reduce([b.pointers(F32)], 0, [0]), "reduce: the tiles must be numbers"),
    (lambda b: b.yield_(), "yield: it cannot end a program"),
    (lambda b: b.break_(), "break: there is no loop around it"),
    (lambda b: inside_loop(b, Kit.break_), "break: it cannot end a block of for"),
    (lambda b: inside_loop(b, Kit.yield_), "yield: it cannot end a block of for"),
    (lambda b: inside_loop(b, Kit.continue_), "continue: for needs (tile<i32>)"),
    (lambda b: inside_loop(b, lambda b: b.continue_(b.address)), "continue: for needs (tile<i32>); given tile<i64>"),
    (lambda b: inside_reduction(b, lambda b: b.yield_(b.number)), "yield: reduce needs (tile<f32>); given tile<i32>"),
    (lambda b: inside_reduction(b, lambda b: b.continue_()), "continue: it cannot end a block of reduce"),
    (lambda b: (b.return_(), b.negi(b.number)), "negi: the block already ends in return"),
    # Views.
    (
        lambda b: b.make_tensor_view(b.pointer(F64), TENSOR, [b.number]),
        "make_tensor_view: the base must be tile<ptr<f32>>; given tile<ptr<f64>>",
    ),
    (lambda b: b.make_tensor_view(b.pointer(F32), TENSOR), "make_tensor_view: 0 lengths and 0 strides do not fill"),
    (
        lambda b: b.make_tensor_view(b.pointer(F32), TensorView(F32, (None,), (None,)), [b.number], [b.address]),
        "make_tensor_view: lengths and strides must be integer scalars of one type",
    ),
    (
        lambda b: b.make_tensor_view(b.pointer(F32), TensorView(F32, (4,), (0,))),
        "make_tensor_view: lengths and strides of a tensor must be positive",
    ),
    (lambda b: view(b, PartitionView((8,), TENSOR, (0,))), "make_partition_view: a view's tile has the rank"),
    (lambda b: view(b, PartitionView((8, 3), TENSOR, (0, 1))), "make_partition_view: the lengths of a tile must be"),
    (lambda b: view(b, PartitionView((8, 4), TENSOR, (1, 1))), "make_partition_view: the order [1, 1] must name"),
    (
        lambda b: view(b, PartitionView((8, 4), INTEGERS, (1, 0), Padding.NAN)),
        "make_partition_view: only floats have padding other than zero",
    ),
    (lambda b: view(b, StridedView((8, 4), (1, 0), TENSOR, (0, 1))), "make_strided_view: a view has a positive step"),
    # Accesses.
    (lambda b: b.load_view(partition(b), [b.number]), "load_view_tko: 2 indices are needed"),
    (
        lambda b: b.load_view(partition(b), [b.number, narrow(b)]),
        "load_view_tko: index 1 must be tile<i32>; given tile<i32>, tile<i16>",
    ),
    (lambda b: b.load_view(partition(b), [b.number] * 2, b.number), "load_view_tko: the token must be token"),
    (
        lambda b: b.load_view(partition(b, Padding.ZERO), [b.number] * 2, inbounds=[True, False]),
        "load_view_tko: a view with padding cannot be in bounds",
    ),
    (lambda b: b.load_view(partition(b), [b.number] * 2, inbounds=[True]), "load_view_tko: inbounds needs 2 bools"),
    (
        lambda b: b.load_view(partition(b), [b.number] * 2, hints={"sm_90": {"latency": 11}}),
        "load_view_tko: there is no hint latency=11",
    ),
    (
        lambda b: b.store_ptr(b.pointers(F32), b.tile(F32), scope=Scope.DEVICE),
        "store_ptr_tko: a weak access has no scope, and any other needs one",
    ),
    (
        lambda b: b.store_view(b.tile(F16, (8, 32)), partition(b), [b.number] * 2),
        "store_view_tko: the tile must be tile<8x32xf32>; given tile<8x32xf16>",
    ),
    (lambda b: b.load_ptr(b.pointers(F32), b.tile(I8)), "load_ptr_tko: the mask must be tile<8xi1>; given tile<8xi8>"),
    (lambda b: b.store_ptr(b.pointers(F32), b.tile(F64)), "store_ptr_tko: the value must be tile<8xf32>"),
    (lambda b: b.atomic_rmw(Mode.ADD, b.pointers(F32), b.tile(F32)), "atomic_rmw_tko: ADD takes i32, i64; given f32"),
    (lambda b: b.join_tokens([]), "join_tokens: there must be a token to join"),
    # Facts.
    (lambda b: b.assume_divisible(b.number, 12), "assume: the divisor 12 must be a power of two"),
    (lambda b: b.assume_divisible(b.tile(F32), 4), "assume: the operand must be integers or pointers"),
    (lambda b: b.assume_bounded(narrow(b), 0, 1 << 15), "assume: the bounds 0 and 32768 must fit the type"),
    (lambda b: b.assume_bounded(b.number, 5, 4), "assume: no number lies between 5 and 4"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=[f"{n}" for n in range(len(MISTAKES))])
def test_a_mistake_names_the_operation_and_the_types(mistake: Callable[[Kit], object], message: str) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(message)}"):
        mistake(Kit("k"))


def test_parameters_are_scalars() -> None:
    with pytest.raises(TypeError, match="entry: a parameter must be a scalar; given tile<4xi32>"):
        Builder("k", [Tile(I32, (4,))])
    with pytest.raises(TypeError, match="entry: the operand must be a tile; given token"):
        Builder("k", [TOKEN])


@pytest.mark.parametrize(
    ("hints", "message"),
    [
        ({"hopper": {}}, "entry: hints are for sm_NN or default, not for 'hopper'"),
        ({"sm_90": {"occupancy": 64}}, "entry: there is no hint occupancy=64"),
        ({"sm_90": {"num_cta_in_cga": 3}}, "entry: there is no hint num_cta_in_cga=3"),
        ({"sm_90": {"occupancy": True}}, "entry: there is no hint occupancy=True"),
    ],
)
def test_hints_that_the_assembler_would_ignore_are_refused(hints: dict[str, dict[str, int]], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Builder("k", [], hints=hints)


def test_results_have_the_types_that_follow() -> None:
    b = Kit("k")
    x = b.tile(F32, (4, 8))
    assert b.cmpf(Predicate.LESS, x, x).type == Tile(I1, (4, 8))
    assert b.permute(x, (1, 0)).type == Tile(F32, (8, 4))
    assert b.cat(x, x, 1).type == Tile(F32, (4, 16))
    assert b.ftof(x, TF32).type == Tile(TF32, (4, 8))
    assert b.ptr_to_int(b.pointers(F16)).type == Tile(I64, (8,))
    fold = b.reduce([x, b.tile(I32, (4, 8))], 0, [0.0, 1])
    assert [value.type for value in fold.arguments] == [Tile(F32), Tile(F32), Tile(I32), Tile(I32)]
    assert [value.type for value in fold.results] == [Tile(F32, (8,)), Tile(I32, (8,))]
    assert b.scan([x], 0, [0.0]).results[0].type == x.type
    loop = b.for_(b.address, b.address, b.address, [x])
    assert [value.type for value in loop.arguments] == [Tile(I64), x.type]
    tiles = view(b, PartitionView((8, 16), TENSOR, (1, 0)))
    assert b.load_view(tiles, [b.number] * 2)[0].type == Tile(F32, (8, 16))


def test_what_would_change_nothing_is_not_written() -> None:
    b = Kit("k")
    x, token = b.tile(F32, (4, 8)), b.make_token()
    before = len(b.entry.body.ops)
    assert b.reshape(x, (4, 8)) is x
    assert b.broadcast(x, (4, 8)) is x
    assert b.permute(x, (0, 1)) is x
    assert b.bitcast(x, F32) is x
    assert b.join_tokens([token]) is token
    assert b.assume_divisible(b.number, 1) is b.number
    assert b.assume_bounded(b.number) is b.number
    assert len(b.entry.body.ops) == before


def test_a_break_may_stand_in_a_branch_of_its_loop() -> None:
    b = Kit("k")
    loop = b.loop([b.number], [Tile(I64)])
    with b.inside(loop.block):
        branch = b.if_(b.cmpi(Predicate.EQUAL, *loop.arguments, b.number, signed=True))
        with b.inside(branch.then):
            b.break_(b.address)
        with b.inside(branch.orelse):
            b.continue_(b.number)
    assert [op.name for op in (branch.then.ops[-1], branch.orelse.ops[-1])] == ["break", "continue"]
    assert b.block is b.entry.body
