"""Powers of two that are taken as 0 below the normal numbers of f32 are one instruction, and nothing else is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.cuda_programs import assert_simulated, lowered, walk
from tileproof import In, Out, T


@tp.kernel
def of_something_equal(y: Out[T, "N"], x: In[T, "N"]) -> None:
    for n in tp.parallel(N=16):
        y[n] = tp.where(x[n] < -126, 0, tp.exp2(x[n] + 0))


@tp.kernel
def named(y: Out[T, "N"], x: In[T, "N"]) -> None:
    for n in tp.parallel(N=16):
        power = x[n]
        y[n] = tp.where(power < -126.0, 0.0, tp.exp2(power))


@tp.kernel
def later(y: Out[T, "N"], x: In[T, "N"]) -> None:
    for n in tp.parallel(N=16):
        power = x[n]
        y[n] = tp.where(power < -125, 0, tp.exp2(power))


@tp.kernel
def with_the_border(y: Out[T, "N"], x: In[T, "N"]) -> None:
    for n in tp.parallel(N=16):
        power = x[n]
        y[n] = tp.where(power <= -126, 0, tp.exp2(power))


@tp.kernel
def to_one(y: Out[T, "N"], x: In[T, "N"]) -> None:
    for n in tp.parallel(N=16):
        power = x[n]
        y[n] = tp.where(power < -126, 1, tp.exp2(power))


@tp.kernel
def of_another(y: Out[T, "N"], x: In[T, "N"]) -> None:
    for n in tp.parallel(N=16):
        power = x[n]
        y[n] = tp.where(power < -126, 0, tp.exp2(power * 2))


@tp.kernel
def by_another(y: Out[T, "N"], x: In[T, "N"]) -> None:
    for n in tp.parallel(N=16):
        power = x[n]
        y[n] = tp.where(power < -126, 0, tp.exp(power))


NUMBERS = [
    0.0, -0.0, 1.5, -1e-40, -125.5, -126.0, -126.00001, -126.5, -140.0, -149.0, -150.0, -1e30, -np.inf, np.inf, np.nan,
    128.0, 127.999, -63.25,
]  # fmt: skip


def arguments(dtype: Any = np.float32) -> tuple[Any, ...]:
    return np.empty(len(NUMBERS), dtype), np.array(NUMBERS, dtype)


def flushes(kernel: Any, dtype: Any = np.float32) -> int:
    """Powers whose small results are 0."""
    code = lowered(kernel, arguments(dtype), {})
    results = [op for entry in code.module.entries for op in walk(entry.body) if op.name == "exp2"]
    return sum(bool(op.attributes.get("ftz")) for op in results)


def test_a_power_of_what_is_compared_is_one_instruction() -> None:
    assert flushes(named) == 1


@pytest.mark.parametrize(
    "kernel",
    [of_something_equal, later, with_the_border, to_one, of_another, by_another],
    ids=lambda kernel: kernel.name,
)
def test_what_differs_in_anything_is_computed_as_it_stands(kernel: Any) -> None:
    assert flushes(kernel) == 0


def test_numbers_of_64_bits_have_a_range_of_their_own() -> None:
    assert flushes(named, np.float64) == 0


@pytest.mark.parametrize("kernel", [named, later, with_the_border, to_one, of_another], ids=lambda kernel: kernel.name)
def test_results_are_those_of_the_interpreter(kernel: Any) -> None:
    assert_simulated(lambda: (kernel, arguments(), {}))
