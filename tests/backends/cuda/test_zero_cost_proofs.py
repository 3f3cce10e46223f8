"""Safety that is proved costs nothing: the bytecode is that of the unsafe twin, to the byte.

A check that stays makes no branch around a product, no atomic and no assertion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from corpus import SAFE
from corpus.case import Case
from corpus.safe_examples import DATA
from oracles.cuda_programs import Lowered, lowered, walk
from samples.example_launches import NAMES, own
from tileproof import In, Out, T, f32, i32
from tileproof.analysis.prove import prove
from tileproof.analysis.verdict import Rung
from tileproof.backends.cuda.tileir.types import Block, Op, Order

PRODUCTS = ("mmaf", "mmai")
ATOMICS = ("atomic_rmw_tko",)


def both(kernel: tp.Kernel, arguments: list[Any], constants: dict[str, Any]) -> tuple[Lowered, Lowered]:
    """A launch, and that of its unsafe twin."""
    return lowered(kernel, arguments, constants), lowered(kernel, arguments, constants, checked=False)


def nested(block: Block, inside: tuple[str, ...] = ()) -> Iterator[tuple[Op, tuple[str, ...]]]:
    """Every operation, and the names of those around it."""
    for op in block.ops:
        yield op, inside
        for region in op.regions:
            yield from nested(region, (*inside, op.name))


def surroundings(code: Lowered, names: tuple[str, ...]) -> Counter[tuple[str, tuple[str, ...]]]:
    """How often each of some operations occurs, by what is around it."""
    return Counter((op.name, around) for entry in code.module.entries for op, around in nested(entry.body)
                   if op.name in names)  # fmt: skip


@pytest.mark.sweep(10)
@pytest.mark.parametrize("case", SAFE, ids=lambda case: case.kernel.name)
def test_what_is_proved_costs_nothing_and_a_check_no_branch(case: Case) -> None:
    for arguments, constants in case.launches():
        result, twin = both(case.kernel, arguments, constants)
        is_checked = result.program.has_report
        assert (result.program.bytecode != twin.program.bytecode) == is_checked
        assert not twin.program.has_report
        assert surroundings(result, PRODUCTS) == surroundings(twin, PRODUCTS)
        assert surroundings(result, ATOMICS).total() == surroundings(twin, ATOMICS).total()
        for entry in result.module.entries:
            for op in walk(entry.body):
                # Only reports of checks are more than plain stores: several programs may make one.
                if op.name == "store_ptr_tko" and op.attributes["order"] is not Order.WEAK:
                    assert is_checked


@pytest.mark.sweep(30)
@pytest.mark.parametrize("case", SAFE, ids=lambda case: case.kernel.name)
def test_checks_are_left_where_the_verdict_says_so(case: Case) -> None:
    arguments, constants = case.launches()[0]
    code = lowered(case.kernel, arguments, constants)
    verdict = prove(code.proved.ir)
    if verdict.accepted:
        results = {discharged.rung for discharged in verdict.discharged} & {Rung.PRECHECK, Rung.IN_PLACE}
        assert code.program.has_report == bool(results)
    assert case.data or not code.program.has_report


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", NAMES)
def test_only_examples_that_read_a_position_from_memory_differ_from_their_twin(name: str) -> None:
    result, twin = both(*own(name))
    assert (result.program.bytecode != twin.program.bytecode) == (name in DATA)


@tp.kernel
def picked_product(o: Out[T, "M N"], x: In[T, "P M K"], y: In[T, "K N"], at: In[i32, "1"]) -> None:
    for i, j in tp.parallel(M=16, N=16):
        acc = tp.zeros((i, j), f32)
        for k in tp.tiles(K=16):
            acc = tp.mma(x[at[0], i, k], y[k, j], acc)
        o[i, j] = acc


def test_a_check_of_a_product_holds_back_its_store_and_nothing_else() -> None:
    arguments = [np.zeros((20, 20), np.float32), np.zeros((3, 20, 40), np.float32), np.zeros((40, 20), np.float32)]
    result, twin = both(picked_product, [*arguments, np.array([1], np.int32)], {})
    assert result.program.has_report
    assert surroundings(result, PRODUCTS) == surroundings(twin, PRODUCTS)
    assert all("if" not in around for _, around in surroundings(result, PRODUCTS))
    stores = surroundings(result, ("store_view_tko",))
    assert list(stores) == [("store_view_tko", ("if",))]
