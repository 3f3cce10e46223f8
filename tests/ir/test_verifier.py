"""The verifier: good kernels pass, and each law of scope, blocks and access has kernels that break it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tileproof.ir.ops import (
    Along,
    Assume,
    At,
    BinaryFn,
    Block,
    Cast,
    Constant,
    Extents,
    KernelIR,
    Parallel,
    Parameter,
    RangeLoop,
    Require,
    Start,
    Update,
    While,
)
from tileproof.ir.types import INDEX_SCALAR, Access, Axis, Content, DimensionTag, Tensor, TileType, Value
from tileproof.ir.verifier import IRError, verify
from tileproof.language.dtypes import BOOL, F32, I8, I32, TF32

from . import kernels
from .builder import Broken, Builder, Fill, along, each, refusal, tiles

broken = Broken()


@pytest.mark.parametrize("make", kernels.ALL, ids=lambda make: make.__name__)
def test_a_good_kernel_passes(make: Callable[[], KernelIR]) -> None:
    verify(make())


def test_a_kernel_without_a_space_is_one_program() -> None:
    b = Builder()
    y = b.tensor("y", Access.INOUT, F32, "4")
    with b.when(b.scalar("c", BOOL)):
        b.store(y, At(b.number(0)), value=b.load(y, At(b.number(3))))
    verify(b.kernel())


def test_the_message_names_kernel_place_operation_and_rule() -> None:
    b = Builder("wrong")
    b.line = 7
    b.add(b.number(1), b.number(1, I32))
    with pytest.raises(IRError) as caught:
        verify(b.kernel())
    assert str(caught.value) == (
        "kernel wrong, kernel.py:9:5: Binary: the operands of add differ: index and i32\n    v2 = v0 + v1 : index"
    )


# Scope.


@broken.rule("v0 is not defined here")
def use_before_definition(b: Builder) -> None:
    late = b.value(INDEX_SCALAR)
    b.add(late, late)
    b.emit(Constant(b.span, late, 1))


@broken.rule("v0 is not defined here")
def use_outside_the_block(b: Builder) -> None:
    with b.when(b.scalar("c", BOOL)):
        inner = b.number(1)
    b.add(inner, inner)


@broken.rule("v0 is not defined here")
def yield_of_an_unknown_value(b: Builder) -> None:
    with b.when(b.scalar("c", BOOL), INDEX_SCALAR) as choice:
        choice.yields = (b.value(INDEX_SCALAR),)


@broken.rule("v2 is not defined here")
def body_of_a_while_sees_its_test(b: Builder) -> None:
    with b.repeating(b.number(1)) as loop:
        with b.testing(loop):
            two = b.number(2)
            loop.tested = (b.binary(BinaryFn.LT, loop.carried[0], two),)
        loop.yields = (b.add(two, two),)


@broken.rule("n is not defined here")
def walker_used_outside_its_space(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "N")
    n = each("n", "N")
    with b.parallel(n):
        pass
    b.op(Start, INDEX_SCALAR, walker=n)


@broken.rule("x is not defined here")
def tensor_that_is_no_parameter(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "4")
    b.parameters.clear()
    b.load(x, At(b.number(0)))


@broken.rule("v0 is defined twice")
def value_defined_twice(b: Builder) -> None:
    one = b.number(1)
    b.emit(Constant(b.span, one, 1))


@broken.rule("x is defined twice")
def one_name_for_two_values(b: Builder) -> None:
    for _ in range(2):
        b.emit(Constant(b.span, Value("x", INDEX_SCALAR), 1))


# Tags and dimensions.


@broken.rule("the tag k of v1: f32[k:8] is out of scope")
def tile_of_a_turn_enters_the_loop(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    k = tiles("k", "N", 8)
    with b.walking(k, b.full(0.0, TileType(F32, (along(k),)))) as loop:
        loop.yields = (b.load(x, Along(k), axes=(along(k),)),)


@broken.rule("the tag k of v2: f32[k:8] is out of scope")
def tile_of_a_turn_leaves_the_loop(b: Builder) -> None:
    x = b.tensor("x", Access.IN, F32, "N")
    k = tiles("k", "N", 8)
    with b.walking(k):
        b.load(x, Along(k), axes=(along(k),))
    b.full(0.0, TileType(F32, (along(k),)))


@broken.rule("the axis k:4 is not as long as k: tile of N by 8")
def axis_shorter_than_its_walker(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "N")
    k = tiles("k", "N", 8)
    with b.walking(k):
        b.full(0.0, TileType(F32, (replace(along(k), length=4),)))


@broken.rule("an axis of f32[D=8] is tagged D, which is not static")
def tag_of_a_dimension_that_is_not_static(b: Builder) -> None:
    b.full(0.0, TileType(F32, (Axis(8, DimensionTag("D")),)))


@broken.rule("the axis D=8 is not as long as D")
def axis_shorter_than_its_dimension(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "D")
    b.static = {"D": 64}
    b.full(0.0, TileType(F32, (Axis(8, DimensionTag("D")),)))


@broken.rule("an axis of f32[-1] has a negative length")
def axis_of_negative_length(b: Builder) -> None:
    b.full(0.0, TileType(F32, (Axis(-1),)))


@broken.rule("D is not a dimension of any tensor")
def static_dimension_that_no_tensor_has(b: Builder) -> None:
    b.static = {"D": 64}


@broken.rule("K is not a dimension of any tensor")
def walk_of_a_dimension_that_no_tensor_has(b: Builder) -> None:
    with b.walking(tiles("k", "K", 8)):
        pass


@broken.rule("tiles of 0 elements walk nowhere")
def empty_tiles(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "N")
    with b.walking(tiles("k", "N", 0)):
        pass


# Parameters.


@broken.rule("the parameter x: f32[4] has axes")
def scalar_with_axes(b: Builder) -> None:
    tile = b.value(TileType(F32, (Axis(4),)), "x")
    b.parameters.append(Parameter(tile, b.span))


@broken.rule("the parameter x: tf32 has no storage type")
def scalar_without_storage(b: Builder) -> None:
    b.scalar("x", TF32)


@broken.rule("tf32 is not stored in tensors")
def tensor_without_storage(b: Builder) -> None:
    b.tensor("x", Access.IN, TF32, "N")


@broken.rule("indices are stored as i32 or i64, not i8")
def index_tensor_of_bytes(b: Builder) -> None:
    b.tensor("x", Access.IN, Content("Index", "N", I8), "N")


@broken.rule("V is not a dimension of any tensor")
def index_tensor_into_nothing(b: Builder) -> None:
    b.tensor("x", Access.IN, Content("Index", "V", I32), "N")


# Loops and branches.


@broken.rule("what enters the loop and what is carried differ in number")
def value_enters_and_is_not_carried(b: Builder) -> None:
    one = b.number(1)
    with b.repeating() as loop, b.testing(loop):
        loop.tested = (b.number(True, BOOL),)
    made = b.ops.pop()
    assert isinstance(made, While)
    b.emit(replace(made, inits=(one,)))


@broken.rule("what enters the loop and what is carried differ: v0: index and v1: f32")
def carried_as_another_type(b: Builder) -> None:
    carried = b.value(INDEX_SCALAR), b.value(TileType(F32))
    b.emit(Constant(b.span, carried[0], 1))
    with b.repeating() as loop:
        loop.carried = carried[1:]
    made = b.ops.pop()
    assert isinstance(made, While)
    b.emit(replace(made, inits=carried[:1]))


@broken.rule("what is carried and what an iteration yields differ in number")
def turn_hands_on_nothing(b: Builder) -> None:
    zero, one = b.number(0), b.number(1)
    with b.counting("n", zero, one, one, zero):
        pass


@broken.rule("what is carried and what an iteration yields differ: v2: index and v3: f32")
def turn_hands_on_another_type(b: Builder) -> None:
    zero, one = b.number(0), b.number(1)
    with b.counting("n", zero, one, one, zero) as loop:
        loop.yields = (b.number(1.0, F32),)


@broken.rule("what is carried and what comes out differ in number")
def loop_without_its_result(b: Builder) -> None:
    zero, one = b.number(0), b.number(1)
    with b.counting("n", zero, one, one, zero) as loop:
        loop.yields = loop.carried
    made = b.ops.pop()
    assert isinstance(made, RangeLoop)
    b.emit(replace(made, results=()))


@broken.rule("a loop counts in indices, not v0: i32")
def range_over_integers(b: Builder) -> None:
    zero = b.number(0, I32)
    with b.counting("n", zero, zero, zero):
        pass


@broken.rule("a loop counts in indices, not v0: f32")
def walk_up_to_a_float(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "N")
    with b.walking(tiles("k", "N", 8), stop=b.number(1.0, F32)):
        pass


@broken.rule("the test of a loop yields one bool")
def while_a_number(b: Builder) -> None:
    with b.repeating() as loop, b.testing(loop):
        loop.tested = (b.number(1),)


@broken.rule("a condition is a bool, not index")
def branch_on_a_number(b: Builder) -> None:
    with b.when(b.number(1)):
        pass


@broken.rule("what a branch yields and what comes out differ in number")
def branch_without_a_value(b: Builder) -> None:
    with b.when(b.scalar("c", BOOL), INDEX_SCALAR) as choice:
        choice.yields = (b.number(1),)


@broken.rule("what a branch yields and what comes out differ: v0: f32 and v1: index")
def branch_with_another_type(b: Builder) -> None:
    with b.when(b.scalar("c", BOOL), INDEX_SCALAR) as choice:
        choice.yields = (b.number(1.0, F32),)


# The parallel space.


def vector(b: Builder, access: Access) -> tuple[Tensor, At]:
    """A tensor with elements, and a way to pick one."""
    return b.tensor("x", access, F32, "N"), At(b.number(0))


@broken.rule("the parallel space stands at the top level")
def space_in_a_branch(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "N")
    with b.when(b.scalar("c", BOOL)), b.parallel(each("n", "N")):
        pass


@broken.rule("a kernel has one parallel space")
def two_spaces(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "N")
    for name in ("n", "m"):
        with b.parallel(each(name, "N")):
            pass


@broken.rule("the parallel space walks no dimension")
def space_without_walkers(b: Builder) -> None:
    with b.parallel():
        pass


@broken.rule("the parallel space yields nothing")
def space_that_yields(b: Builder) -> None:
    b.tensor("x", Access.IN, F32, "N")
    b.emit(Parallel(b.span, (each("n", "N"),), Block((), (b.number(1),))))


@broken.rule("a kernel yields nothing")
def kernel_that_yields(b: Builder) -> None:
    b.yields = (b.number(1),)


@broken.rule("writing happens in the parallel space")
def store_outside_the_space(b: Builder) -> None:
    x, place = vector(b, Access.OUT)
    b.store(x, place, value=b.number(1.0, F32))
    with b.parallel(each("n", "N")):
        pass


@broken.rule("writing happens in the parallel space")
def update_behind_the_space(b: Builder) -> None:
    x, place = vector(b, Access.SUM)
    with b.parallel(each("n", "N")):
        pass
    with b.when(b.scalar("c", BOOL)):
        b.emit(Update(b.span, x, (place,), b.number(1.0, F32)))


@broken.rule("outside the parallel space only In is read")
def load_of_a_written_tensor_outside_the_space(b: Builder) -> None:
    x, place = vector(b, Access.INOUT)
    b.load(x, place)
    with b.parallel(each("n", "N")):
        pass


# Rights.


@pytest.mark.parametrize("access", [Access.OUT, Access.SUM, Access.MAX, Access.MIN])
def test_what_is_not_readable_is_not_loaded(access: Access) -> None:
    b = Builder()
    x, place = vector(b, access)
    b.load(x, place)
    with pytest.raises(IRError, match=r"Load: x: .* is not read\n"):
        verify(b.kernel())


@pytest.mark.parametrize("access", [Access.IN, Access.SUM, Access.MAX, Access.MIN])
def test_what_is_not_writable_is_not_stored_to(access: Access) -> None:
    b = Builder()
    x, place = vector(b, access)
    b.store(x, place, value=b.number(1.0, F32))
    with pytest.raises(IRError, match=r"Store: x: .* is not stored to\n"):
        verify(b.kernel())


@pytest.mark.parametrize("access", [Access.IN, Access.OUT, Access.INOUT])
def test_what_does_not_combine_is_not_updated(access: Access) -> None:
    b = Builder()
    x, place = vector(b, access)
    b.emit(Update(b.span, x, (place,), b.number(1.0, F32)))
    with pytest.raises(IRError, match=r"Update: x: .* is not updated\n"):
        verify(b.kernel())


# Contracts.


def test_a_contract_may_be_about_dimensions_scalars_and_constants() -> None:
    b = Builder()
    b.tensor("x", Access.IN, F32, "N")
    count = b.op(Cast, INDEX_SCALAR, operand=b.scalar("count", I32))
    total = b.binary(BinaryFn.MUL, count, b.number(2))
    b.emit(Require(b.span, b.binary(BinaryFn.EQ, b.op(Extents, INDEX_SCALAR, dimension="N"), total)))
    verify(b.kernel())


@broken.rule("a contract is a bool, not index")
def contract_that_is_a_number(b: Builder) -> None:
    b.emit(Require(b.span, b.number(1)))


@broken.rule("a contract stands at the top level")
def contract_in_a_branch(b: Builder) -> None:
    condition = b.scalar("c", BOOL)
    with b.when(condition):
        b.emit(Require(b.span, condition))


@broken.rule("a contract is about what is known at launch")
def contract_about_contents(b: Builder) -> None:
    x = b.tensor("x", Access.IN, Content("Offsets", "N", I32), "N")
    first = b.load(x, At(b.number(0)))
    b.emit(Require(b.span, b.binary(BinaryFn.LT, first, b.number(4))))


# Assumptions.


@broken.rule("an assumption is a bool, not index")
def assumption_that_is_a_number(b: Builder) -> None:
    b.emit(Assume(b.span, b.number(1), "it is so"))


@broken.rule("an assumption has a reason")
def assumption_without_a_reason(b: Builder) -> None:
    b.emit(Assume(b.span, b.scalar("c", BOOL), ""))


@broken
def test_a_kernel_that_breaks_a_rule_is_refused(fill: Fill, message: str) -> None:
    b = Builder()
    fill(b)
    assert refusal(b).endswith(f": {message}")
