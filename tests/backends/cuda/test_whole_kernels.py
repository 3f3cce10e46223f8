"""Whole kernels in the evaluator of Tile IR: what they store is what the interpreter stores, and nothing is undefined.

The evaluator raises where a GPU would do as it pleases: accesses out of bounds, promises that do not hold, accesses to
one element that no token orders or that two programs make, dead lanes that decide something.

The fast tier keeps some kernels of each family and of the corpus, a few random ones, and all that was wrong once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from corpus import SAFE
from corpus.case import Case
from fuzz.random_launches import LAYOUTS, assert_gaps_are_kept, laid_out, launch
from oracles.cuda_programs import Undefined, assert_simulated, lowered
from samples.check_launches import CHECKS
from samples.example_launches import examples
from samples.hard_kernels import CASES as HARD
from samples.launch import Made
from samples.layout_launches import schedules
from samples.operation_launches import axis_operations, element_operations, movements
from samples.small_kernels import Small
from samples.sum_launches import FLOATS, combined, sums
from support.agreement import assert_agree, assert_alike
from tileproof import In, InOut, Out, Sum, f32, i32
from tileproof.language.dtypes import BF16, F16, F32, F64
from tileproof.runtime.launch.cuda_code import Variant

TESTS = Path(__file__).resolve().parents[2]
FEW = ("--count", "2", "--seed", "7", "--seconds", "inf")
MANY = ("--seconds", os.environ.get("TILEPROOF_FUZZ_SECONDS", "4"))
EXAMPLES = {name: make for name, make in examples().items() if "-" in name}
"""At odd sizes and at whole tiles; their own are launched as part of the corpus."""
ELEMENTS, AXES, MOVEMENTS = element_operations(), axis_operations(), movements()
SCHEDULES, SUMS = schedules(), sums()
QUANTISED = ("pack_int4", "quantise_rows")
"""Kernels that make integers of quotients: a unit in the last place of those may be the next integer."""


def comparing(compare: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """Compares, and sees that nothing was written beside the elements."""

    def both(actual: Any, expected: Any) -> None:
        compare(actual, expected)
        assert_gaps_are_kept(actual)

    return both


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example(name: str) -> None:
    assert assert_simulated(EXAMPLES[name], comparing(assert_alike)) == []


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", ELEMENTS)
def test_an_operation_on_elements(name: str) -> None:
    assert assert_simulated(ELEMENTS[name], assert_agree) == []


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", AXES)
def test_an_operation_along_an_axis(name: str) -> None:
    computed = F64 if "f64" in name else F32
    assert assert_simulated(AXES[name], partial(assert_alike, computed=computed)) == []


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", MOVEMENTS)
def test_movement_walks_branches_and_combiners(name: str) -> None:
    assert assert_simulated(MOVEMENTS[name], comparing(assert_alike)) == []


@pytest.mark.sweep(8)
@pytest.mark.parametrize("case", [case for case in SAFE if case.kernel.name not in QUANTISED],
                         ids=lambda case: case.kernel.name)  # fmt: skip
def test_a_safe_kernel_of_the_corpus(case: Case) -> None:
    for number in range(len(case.launches())):
        assert assert_simulated(lambda number=number: (case.kernel, *case.launches()[number])) == []


@pytest.mark.sweep(2)
@pytest.mark.parametrize("case", [case for case in SAFE if case.kernel.name not in QUANTISED][::5],
                         ids=lambda case: case.kernel.name)  # fmt: skip
def test_a_safe_kernel_of_the_corpus_at_random_shapes(case: Case) -> None:
    seed = zlib.crc32(case.kernel.name.encode())
    dtype = (F32, F64, F16, BF16)[seed % 4]

    def make() -> Made:
        return case.kernel, *launch(case.kernel, seed, dtype=dtype, layouts=LAYOUTS)

    assert_simulated(make, comparing(assert_alike))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("kernel", HARD, ids=lambda kernel: kernel.name)
def test_a_kernel_that_was_once_wrong_on_the_cpu(kernel: tp.Kernel) -> None:
    for number in range(len(HARD[kernel]())):
        for layout in LAYOUTS:

            def make(number: int = number, layout: str = layout) -> Made:
                given = HARD[kernel]()[number]
                return kernel, [laid_out(one, layout) if isinstance(one, np.ndarray) else one for one in given], {}

            assert assert_simulated(make, comparing(assert_alike)) == []


@pytest.mark.parametrize("kind", ["shaped", "owned"])
@pytest.mark.parametrize("limit", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
def test_random_kernels(kind: str, limit: tuple[str, ...]) -> None:
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    words = [str(TESTS / "fuzz" / "cuda_fuzz.py"), "--kind", kind, *limit]
    done = subprocess.run(
        [sys.executable, *words], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-3000:]}"
    assert "'ran': " in done.stdout


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_product_on_another_schedule(name: str) -> None:
    assert assert_simulated(SCHEDULES[name]) == []


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", SUMS)
def test_what_programs_combine(name: str) -> None:
    assert assert_simulated(SUMS[name]) == []


@pytest.mark.sweep(3)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("deterministic", [False, True])
def test_programs_combine_infinities_and_nan(dtype: str, deterministic: bool) -> None:
    assert assert_simulated(partial(combined, dtype, special=True, deterministic=deterministic)) == []


@pytest.mark.sweep(5)
@pytest.mark.parametrize("name", CHECKS)
def test_a_check_passes_or_tells_what_the_interpreter_tells(name: str) -> None:
    passing, others = CHECKS[name]
    assert assert_simulated(passing) == []
    for make in others:
        ((code, message),) = assert_simulated(make)
        assert code == "TP0702"
        assert "is allowed" in message


VARIATIONS: dict[str, Callable[[Variant], Variant]] = {
    "64-bit positions": lambda code: replace(code, specialization=replace(code.specialization, is_wide=True)),
    "many programs": lambda code: replace(code, specialization=replace(code.specialization, is_many=True)),
    "both": lambda code: replace(code, specialization=replace(code.specialization, is_wide=True, is_many=True)),
    "older bytecode": lambda code: replace(code, target=replace(code.target, version=(13, 3))),
    "persistent": lambda code: replace(code, schedule=tp.Schedule(persistent=True, group=3)),
    "grouped": lambda code: replace(code, schedule=tp.Schedule(group=3)),
    "one after another": lambda code: replace(code, serial=True),
}
"""Ways to lower a kernel that any launch may be lowered in."""


@pytest.mark.slow
@pytest.mark.parametrize("variation", VARIATIONS)
def test_kernels_of_the_corpus_mean_the_same_however_they_are_lowered(variation: str) -> None:
    first = list(VARIATIONS).index(variation)
    for case in [case for case in SAFE if case.kernel.name not in QUANTISED][first :: len(VARIATIONS)]:
        make = partial(_first, case)
        assert assert_simulated(make, change=VARIATIONS[variation]) == []


def _first(case: Case) -> Made:
    return case.kernel, *case.launches()[0]


# What was wrong once.


@tp.kernel
def piece_of_nothing(y: InOut[f32, "N"], total: Out[f32, "1"], *, SN: int = 4) -> None:
    for z in tp.parallel(N=tp.split(SN)):
        y[z] = y[z] * 2
        total[0] = tp.join(y[z].sum(), over=z)


@pytest.mark.parametrize("extent", [0, 1, 4, 16, 17])
def test_an_empty_axis_has_one_piece_that_touches_nothing(extent: int) -> None:
    def make() -> Made:
        return piece_of_nothing, [np.ones(extent, np.float32), np.zeros(1, np.float32)], {}

    assert assert_simulated(make) == []


@tp.kernel
def stored_in_a_while(y: InOut[f32, "N"], much: i32) -> None:
    place = 0
    while place < tp.minimum(tp.dim("N"), much):
        for n in tp.tiles(N=3):
            y[n] = y[n] + 1
        place = place + 1


def test_a_while_hands_on_the_order_of_stores() -> None:
    def make() -> Made:
        return stored_in_a_while, [np.arange(7, dtype=np.float32), 3], {}

    assert assert_simulated(make) == []


@tp.kernel
def only_a_half(re: InOut[f32, "2*P"], *, BP: int = 8) -> None:
    for p in tp.parallel(P=BP):
        re[p.elements] = re[p.elements] + 1


def test_a_dimension_may_have_no_axis_of_its_own() -> None:
    def make() -> Made:
        return only_a_half, [np.arange(22, dtype=np.float32)], {}

    assert assert_simulated(make) == []


@tp.kernel
def cut_before_nothing(cache: InOut[f32, "C"], at: In[i32, "1"], x: In[f32, "N"]) -> None:
    _, fresh = tp.split_at(cache, "C", at[0])
    for n in tp.parallel(N=tp.each):
        fresh[n] = x[n]


@pytest.mark.parametrize(("at", "extent"), [(-1, 0), (9, 0), (3, 0), (-1, 2), (3, 2)])
def test_what_is_checked_before_all_programs_is_checked_without_them(at: int, extent: int) -> None:
    def make() -> Made:
        return cut_before_nothing, [np.zeros(8, np.float32), np.array([at], np.int32), np.ones(extent, np.float32)], {}

    assert len(assert_simulated(make)) == (not 0 <= at <= 8 - extent)


@tp.kernel
def thirds_in_place(x: InOut[f32, "N"]) -> None:
    for n in tp.parallel(N=3):
        x[n] = x[n] * 2


def test_a_tile_that_is_not_a_power_of_two_does_not_touch_that_of_another_program() -> None:
    def make() -> Made:
        return thirds_in_place, [np.arange(11, dtype=np.float32)], {}

    assert assert_simulated(make) == []


# The evaluator is able to find fault.


def test_a_kernel_run_outside_of_its_facts_is_caught() -> None:
    text = """
        @tp.kernel
        def k(o: Out[T, "N"], x: In[T, "N"]) -> None:
            for n in tp.parallel(N=16):
                o[n] = x[n]
    """
    kernel = Small("copied", text).kernel()
    code = lowered(kernel, [np.zeros(32, np.float32), np.ones(32, np.float32)])
    code.run()
    for bad in (np.ones(20, np.float32), np.ones(33, np.float32)[1:]):
        code.bound.tensors["x"] = bad  # type: ignore[index]
        with pytest.raises(Undefined):
            code.run()


@tp.kernel
def summed(s: Sum[f32, "N"], x: In[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=8):
        s[n] += x[m, n]


@tp.kernel(deterministic=True)
def summed_in_order(s: Sum[f32, "N"], x: In[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=8):
        s[n] += x[m, n]


@pytest.mark.parametrize("changed", ["persistent", "group", "deterministic"])
def test_a_schedule_changes_nothing(changed: str) -> None:
    schedules = {"persistent": tp.Schedule(persistent=True), "group": tp.Schedule(group=2, persistent=True)}
    kernel = summed.with_schedule(schedules[changed]) if changed in schedules else summed_in_order

    def make() -> Made:
        return kernel, [np.zeros(21, np.float32), np.arange(105, dtype=np.float32).reshape(5, 21)], {}

    assert assert_simulated(make) == []
