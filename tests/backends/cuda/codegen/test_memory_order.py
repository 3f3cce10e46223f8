"""Tokens order accesses exactly where an order is needed: none for what is only read, a chain for what is written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_programs import Lowered, Undefined, lowered, values, walk
from samples.example_launches import NAMES, own
from tileproof import In, InOut, Out, Sum, f32, i32
from tileproof.backends.cuda.tileir.types import TOKEN, Op, Value
from tileproof.ir.types import Access, TensorType

LOADS = ("load_view_tko", "load_ptr_tko")
STORES = ("store_view_tko", "store_ptr_tko")
READ_ONLY = [
    name for name in NAMES
    if name not in ("append_attention", "kv_append", "paged_append", "qkv", "scatter_rows")
]  # fmt: skip
"""Examples whose tensors are each read or written, never both."""


def floats(*shape: int) -> Any:
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


def operations(code: Lowered, *names: str) -> list[Op]:
    return [op for op in walk(code.main.body) if op.name in names]


def token_into(op: Op) -> Value | None:
    """The token that an access waits for."""
    group = op.operands[-1]
    assert group is None or isinstance(group, Value)
    return group


def token_of(op: Op) -> Value:
    return op.results[-1]


def carried_tokens(op: Op) -> int:
    """How many tokens a loop hands from turn to turn."""
    return sum(value.type == TOKEN for value in op.results)


def used(code: Lowered) -> set[Value]:
    return {value for op in walk(code.main.body) for value in values(op)}


@pytest.mark.parametrize("name", READ_ONLY)
def test_what_is_only_read_waits_for_nothing(name: str) -> None:
    """This is what lets loads run ahead of the loop that uses them."""
    code = lowered(*own(name))
    accesses = {parameter.value.type.access for parameter in code.variant.kernel.parameters
                if isinstance(parameter.value.type, TensorType)}  # fmt: skip
    assert Access.INOUT not in accesses
    loads, everything = operations(code, *LOADS), used(code)
    assert loads
    for load in loads:
        assert token_into(load) is None
        assert token_of(load) not in everything
    assert all(carried_tokens(loop) == 0 for loop in operations(code, "for", "loop"))


@tp.kernel
def doubled(x: InOut[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        x[n] = x[n] * 2


def test_a_store_waits_for_the_load_before_it() -> None:
    code = lowered(doubled, [floats(8)])
    (load,), (store,) = operations(code, *LOADS), operations(code, *STORES)
    assert token_into(load) is None
    assert token_into(store) is token_of(load)


@tp.kernel
def twice(y: InOut[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[n]
        y[n] = x[n] + 1


def test_two_stores_to_a_tensor_are_ordered() -> None:
    code = lowered(twice, [floats(8), floats(8)])
    first, second = operations(code, *STORES)
    assert token_into(first) is None
    assert token_into(second) is token_of(first)
    assert all(token_into(load) is None for load in operations(code, *LOADS))


@tp.kernel
def read_back(y: InOut[f32, "N"], z: Out[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = y[n] + 1
        z[n] = y[n]


def test_a_load_waits_for_the_store_before_it() -> None:
    code = lowered(read_back, [floats(8), floats(8)])
    before, after = operations(code, *LOADS)
    store, other = operations(code, *STORES)
    assert token_into(after) is token_of(store)
    assert token_into(store) is token_of(before)
    assert token_into(other) is None, "what lies in another tensor is not waited for"


@tp.kernel
def reread(y: InOut[f32, "N"], z: Out[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        one = y[n]
        two = y[n]
        y[n] = one + two
        z[n] = one


def test_two_loads_do_not_wait_for_each_other_and_a_store_waits_for_both() -> None:
    code = lowered(reread, [floats(8), floats(8)])
    loads, (join,) = operations(code, *LOADS), operations(code, "join_tokens")
    assert [token_into(load) for load in loads] == [None, None]
    store, _ = operations(code, *STORES)
    assert set(values(join)) == {token_of(load) for load in loads}
    assert token_into(store) is join.results[0]


@tp.kernel
def counted(y: InOut[f32, "N"], x: In[f32, "M N"], *, BM: int = 2) -> None:
    for n in tp.parallel(N=4):
        for m in tp.tiles(M=BM):
            y[n] = y[n] + x[m, n].sum(axis=0)


def test_a_loop_hands_on_tokens_for_the_tensor_it_writes_alone() -> None:
    code = lowered(counted, [floats(8), floats(6, 8)])
    (loop,) = operations(code, "for")
    assert carried_tokens(loop) == 2, "the last write, and everything so far"
    own, other = operations(code, *LOADS)
    assert token_into(own) is not None
    assert token_into(other) is None


@tp.kernel
def rows(y: Out[f32, "M N"], x: In[f32, "M N"], *, BN: int = 4) -> None:
    for m in tp.parallel(M=tp.each):
        for n in tp.tiles(N=BN):
            y[m, n] = x[m, n]


def test_a_loop_that_stores_elsewhere_in_each_turn_needs_no_order() -> None:
    code = lowered(rows, [floats(3, 8), floats(3, 8)])
    (loop,), (store,) = operations(code, "for"), operations(code, *STORES)
    assert carried_tokens(loop) == 0
    assert token_into(store) is None


@tp.kernel
def last_wins(y: InOut[f32, "N"], x: In[f32, "M N"], much: i32) -> None:
    for n in tp.parallel(N=4):
        for m in tp.tiles(M=tp.each, stop=much):
            y[n] = x[m, n]


def test_a_loop_that_stores_at_one_place_in_each_turn_is_ordered() -> None:
    code = lowered(last_wins, [floats(8), floats(3, 8), 3])
    (loop,), (store,) = operations(code, "for"), operations(code, *STORES)
    assert carried_tokens(loop) == 2
    assert token_into(store) is not None


@tp.kernel
def in_a_branch(y: InOut[f32, "N"], x: In[f32, "N"], much: i32) -> None:
    for n in tp.parallel(N=4):
        if much > 0:
            y[n] = x[n]
        y[n] = y[n] + 1


def test_a_branch_hands_on_the_tokens_of_its_arm() -> None:
    code = lowered(in_a_branch, [floats(8), floats(8), 1])
    (branch,) = operations(code, "if")
    assert sum(value.type == TOKEN for value in branch.results) == 2
    load = operations(code, *LOADS)[-1]
    assert token_into(load) in branch.results


@tp.kernel
def added(s: Sum[f32, "N"], x: In[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=4):
        s[n] += x[m, n]


@tp.kernel(deterministic=True)
def added_in_order(s: Sum[f32, "N"], x: In[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=4):
        s[n] += x[m, n]


def test_sums_meet_in_any_order_unless_they_are_to_come_out_the_same() -> None:
    for kernel, is_ordered in ((added, False), (added_in_order, True)):
        (atomic,) = operations(lowered(kernel, [floats(8), floats(3, 8)]), "atomic_rmw_tko")
        assert (token_into(atomic) is not None) == is_ordered


@pytest.mark.parametrize("kernel", [twice, read_back, counted, last_wins])
def test_without_its_tokens_a_kernel_is_undefined(kernel: tp.Kernel) -> None:
    """The evaluator finds a missing order: the tests of values rest on that."""
    arguments: dict[tp.Kernel, list[Any]] = {
        twice: [floats(8), floats(8)], read_back: [floats(8), floats(8)], counted: [floats(8), floats(6, 8)],
        last_wins: [floats(8), floats(3, 8), 3],
    }  # fmt: skip
    code = lowered(kernel, arguments[kernel])
    code.run()
    for op in operations(code, *LOADS, *STORES):
        op.operands = (*op.operands[:-1], None)
    with pytest.raises(Undefined, match="not ordered by a token"):
        code.run()
