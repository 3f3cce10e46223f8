"""Bytecode promises only what the launch verified: the evaluator weighs every promise, on unkind arguments too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from oracles.cuda_programs import Lowered, Undefined, assert_simulated, lowered, walk
from samples.launch import Made
from samples.layout_launches import LAYOUTS, SHARED, numbers
from samples.layout_launches import one_more as shifted
from tileproof.backends.cuda.codegen.layout_specialization import layout_of, specialization_of
from tileproof.backends.cuda.tileir.types import Bounded, Divisible, Op
from tileproof.frontend.elaborate import accepted

LOADS_AND_STORES = ("load_view_tko", "store_view_tko")


def operations(code: Lowered, *names: str) -> list[Op]:
    return [op for entry in code.module.entries for op in walk(entry.body) if op.name in names]


def is_sure(op: Op) -> bool:
    """Whether an access says of every index that it is inside."""
    message = op.attributes["inbounds"]
    assert isinstance(message, tuple)
    assert len(set(message)) == 1
    return all(message)


@pytest.mark.sweep(20)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.int8, ml_dtypes.bfloat16, np.float32, np.float64], ids=lambda of: of.__name__)
def test_promises_hold_for_inputs_that_lie_in_any_way(layout: str, dtype: Any) -> None:
    def make() -> Made:
        like = LAYOUTS[layout]()
        steps = tuple(step // 4 * np.dtype(dtype).itemsize for step in like.strides)
        kept = numbers(600, dtype=dtype)[300 if min(steps, default=0) < 0 else 4 :]
        x = np.lib.stride_tricks.as_strided(kept, like.shape, steps)
        return shifted, [np.zeros(x.shape, dtype), x], {}

    assert assert_simulated(make) == []


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name not in SHARED])
def test_promises_hold_for_results_that_lie_in_any_way(layout: str) -> None:
    def make() -> Made:
        y = LAYOUTS[layout]()
        return shifted, [y, numbers(*y.shape)], {}

    assert assert_simulated(make) == []


@pytest.mark.sweep(8)
@pytest.mark.parametrize("extent", [1, 2, 3, 15, 16, 17, 32, 48, 64])
@pytest.mark.parametrize("tile", [1, 3, 16, 24])
def test_promises_hold_for_tiles_that_divide_and_do_not(extent: int, tile: int) -> None:
    def make() -> Made:
        return shifted, [numbers(5, extent), numbers(5, extent)], {"BM": 2, "BN": tile}

    assert assert_simulated(make) == []
    assert not any(is_sure(op) for op in operations(lowered(*make()), *LOADS_AND_STORES)), "5 rows in tiles of 2"


# What is promised, and when.


def promises(code: Lowered, name: str) -> set[object]:
    """What is said of the pointer to a tensor and of its strides."""
    place = next(number for number, slot in enumerate(code.program.slots) if slot.what == ("pointer", name))
    pointer = code.main.parameters[place]
    return {op.attributes["promise"] for op in operations(code, "assume") if op.operands[0] is pointer}


@pytest.mark.parametrize(("offset", "aligned"), [(0, 16), (4, 16), (2, 8), (6, 8), (1, 4), (3, 4)])
def test_an_address_is_promised_to_be_as_aligned_as_it_is(offset: int, aligned: int) -> None:
    x = numbers(256 + 8)[offset:][:256].reshape(8, 32)
    assert promises(lowered(shifted, [numbers(8, 32), x]), "x") == {Divisible(aligned)}


def test_nothing_is_promised_of_an_address_of_bytes() -> None:
    x = numbers(257, dtype=np.int8)[1:].reshape(8, 32)
    assert promises(lowered(shifted, [numbers(8, 32, dtype=np.int8), x]), "x") == set()


@pytest.mark.parametrize(
    ("rows", "columns", "is_inside"), [(8, 32, True), (8, 48, True), (8, 33, False), (7, 32, False), (4, 16, True)]
)
def test_accesses_are_said_to_be_inside_where_tiles_divide_the_tensor(rows: int, columns: int, is_inside: bool) -> None:
    code = lowered(shifted, [numbers(rows, columns), numbers(rows, columns)])
    result = operations(code, *LOADS_AND_STORES)
    assert result
    assert {is_sure(op) for op in result} == {is_inside}


@pytest.mark.parametrize("layout", ["backwards", "rows backwards", "one row many times", "no rows"])
def test_no_view_is_made_of_what_a_view_cannot_say(layout: str) -> None:
    x = LAYOUTS[layout]()
    code = lowered(shifted, [numbers(*x.shape), x])
    assert operations(code, "load_ptr_tko")
    assert not operations(code, "load_view_tko")


def test_extents_are_promised_to_be_the_multiples_they_are() -> None:
    for columns, power in ((48, 16), (40, 8), (36, 4), (34, 2), (33, 1)):
        code = lowered(shifted, [numbers(8, columns), numbers(8, columns)])
        place = next(number for number, slot in enumerate(code.program.slots) if slot.what == ("dimension", "N"))
        lines = {op.attributes["promise"] for op in follow(code, place)}
        assert lines == {Bounded(0), *([Divisible(power)] if power > 1 else [])}


def follow(code: Lowered, place: int) -> list[Op]:
    """The assumptions made of a parameter of the kernel, one after another."""
    value, result = code.main.parameters[place], []
    for op in walk(code.main.body):
        if op.name == "assume" and op.operands[0] is value:
            result.append(op)
            value = op.results[0]
    return result


def test_strides_of_one_element_are_promised_to_be_such_that_views_can_be_used() -> None:
    """A stride that is never taken may be any number; one that spoils nothing is passed."""
    layout = layout_of(0, (1, 32), (12, 4), 4)
    assert layout.is_plain
    assert layout.steps[0] == 16
    assert not layout.unit[0]
    code = lowered(shifted, [numbers(1, 32), LAYOUTS["one row with an odd stride"]()])
    assert operations(code, "load_view_tko")


# The evaluator is able to find a promise that does not hold.


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: numbers(257)[1:].reshape(8, 32),
        lambda: numbers(8, 33)[:, :32],
        lambda: numbers(8, 32)[::-1],
    ],
)
def test_code_made_for_other_facts_is_caught(wrong: Callable[[], Any]) -> None:
    x = numbers(8, 48)[:, :32]
    code = lowered(shifted, [numbers(8, 32), x])
    code.run()
    code.bound.tensors["x"] = wrong()  # type: ignore[index]
    with pytest.raises(Undefined, match=r"breaks the promise|strides"):
        code.run()


def test_only_a_tensor_with_elements_whose_strides_go_forward_is_plain() -> None:
    assert layout_of(0, (4, 4), (16, 4), 4).is_plain
    assert not layout_of(12, (4, 4), (16, -4), 4).is_plain
    assert not layout_of(0, (0, 4), (16, 4), 4).is_plain


@pytest.mark.parametrize(("far", "is_wide"), [(2**31 - 2**24 - 1, False), (2**31 - 2**24, True)])
def test_positions_are_counted_in_32_bits_while_a_tile_behind_them_fits(far: int, is_wide: bool) -> None:
    kernel = accepted(shifted, {}).ir
    extents = dict.fromkeys(("M", "N"), 4)
    assert specialization_of(kernel, extents, (), (4, far), 1).is_wide is is_wide
    assert specialization_of(kernel, extents | {"N": far}, (), (4, 4), 1).is_wide is is_wide
