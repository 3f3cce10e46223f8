"""Kernels give on the CPU what they give on the interpreter: every operation, type and rank, every kernel of the
corpus, arrays that lie in memory in every way, on every kind of processor that this one can be."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from corpus import SAFE
from corpus.case import Case
from fuzz.random_launches import LAYOUTS, assert_gaps_are_kept, launch
from samples.shaped_kernels import PRINTS, shaped
from samples.small_kernels import Small, of_axes, of_elements
from support.agreement import assert_agree, assert_alike, on_both
from tileproof.backends.cpu.target import VARIABLE, host
from tileproof.language.dtypes import BF16, F16, F32, F64, I8, I32, I64, U8, DType


def is_able(level: str) -> bool:
    """Whether this machine runs the code of a level."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, level)
        try:
            host()
        except tp.LaunchError:
            return False
    return True


LEVELS = [level for level in ("sse2", "avx2", "avx512", "neon") if is_able(level)]
NUMBERS: tuple[DType, ...] = (F32, BF16, I32, F64, I8, F16, I64, U8)
Compare = Callable[[Any, Any], None]


@pytest.fixture
def levels(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Turns to one level after another."""
    return lambda number: monkeypatch.setenv(VARIABLE, LEVELS[number % len(LEVELS)])


def comparing(compare: Compare) -> Compare:
    """Compares, and sees that nothing was written beside the elements."""

    def both(actual: Any, expected: Any) -> None:
        compare(actual, expected)
        assert_gaps_are_kept(actual)

    return both


def name(small: Small) -> str:
    return small.name


@pytest.mark.sweep(3)
@pytest.mark.parametrize("small", of_elements(), ids=name)
def test_an_operation_on_elements(small: Small, levels: Callable[[int], None]) -> None:
    kernel = small.kernel()
    for number in range(3):
        levels(number)
        make = partial(launch, kernel, number, extents=small.extents, layouts=LAYOUTS, values="all")
        assert on_both(kernel, make, comparing(assert_agree)) == []


AXES = of_axes()


@pytest.mark.sweep(4)
@pytest.mark.parametrize("place", range(len(AXES)), ids=[small.name for small in AXES])
def test_an_operation_along_an_axis(place: int, levels: Callable[[int], None]) -> None:
    """Each on two levels in turn: an element type has several kernels, and so all levels."""
    small = AXES[place]
    kernel, computed = small.kernel(), F64 if "f64" in small.name else F32
    passed = 0
    for number in (place % 3, (place + 1) % 3):
        levels(number)
        make = partial(launch, kernel, number, layouts=LAYOUTS, values="plain")
        passed += on_both(kernel, make, comparing(partial(assert_alike, computed=computed))) == []
    assert passed >= 1


@pytest.mark.sweep(2)
@pytest.mark.parametrize("small", shaped(), ids=name)
def test_movement_walks_branches_and_combiners(small: Small, levels: Callable[[int], None]) -> None:
    kernel, passed = small.kernel(), 0
    for number, dtype in enumerate(NUMBERS[:6]):
        levels(number)
        make = partial(launch, kernel, number, dtype=dtype, extents=small.extents, layouts=LAYOUTS)
        passed += on_both(kernel, make, comparing(assert_alike)) == []
    assert passed >= 3


@pytest.mark.parametrize("level", LEVELS)
def test_a_product_and_a_sum_fused_differ_by_less_than_a_unit_of_the_product(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, level)
    small = Small("fused", """
        @tp.kernel
        def k(o: Out[T, "N"], x: In[T, "N"], y: In[T, "N"], z: In[T, "N"]) -> None:
            for n in tp.parallel(N=64):
                o[n] = x[n] * y[n] + z[n]
    """)  # fmt: skip
    kernel = small.kernel()
    for dtype in (F32, F64):
        rng = np.random.default_rng(1)
        x, y = (rng.normal(size=999).astype(dtype.storage) for _ in range(2))
        z = -x * y + rng.integers(0, 2, 999).astype(dtype.storage) / 1000
        expected, actual = np.empty_like(x), np.empty_like(x)
        with tp.backend("interpreter"):
            kernel(expected, x, y, z)
        with tp.backend("cpu"):
            kernel(actual, x, y, z)
        assert_agree(actual, expected, scale=np.abs(x * y) + np.abs(z))


@pytest.mark.sweep(10)
@pytest.mark.parametrize("case", SAFE, ids=lambda case: case.kernel.name)
def test_a_safe_kernel_of_the_corpus(case: Case, levels: Callable[[int], None]) -> None:
    first = zlib.crc32(case.kernel.name.encode())
    for number in range(len(case.launches())):
        levels(first + number)
        assert on_both(case.kernel, lambda number=number: case.launches()[number]) == []


@pytest.mark.sweep(4)
@pytest.mark.parametrize("case", SAFE, ids=lambda case: case.kernel.name)
def test_a_safe_kernel_of_the_corpus_at_random_shapes(case: Case, levels: Callable[[int], None]) -> None:
    seed = zlib.crc32(case.kernel.name.encode())
    levels(seed)
    make = partial(launch, case.kernel, seed, dtype=(F32, F64, F16, BF16)[seed % 4], layouts=LAYOUTS)
    on_both(case.kernel, make, comparing(assert_alike))


def test_what_a_kernel_prints(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = Small("prints", PRINTS).kernel()
    for number, dtype in enumerate(NUMBERS):
        lines = []
        for backend in ("interpreter", "cpu"):
            arguments, _ = launch(kernel, number, dtype=dtype, extents={"M": 3, "N": 4}, layouts=LAYOUTS)
            with tp.backend(backend):
                kernel(*arguments)
            lines.append(capsys.readouterr().out)
        assert "tile" in lines[0]
        assert lines[1] == lines[0]
