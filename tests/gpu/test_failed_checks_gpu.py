"""A check that fails on a GPU: the error names the place, nothing outside is touched, and work goes on afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from samples.check_launches import CHECKS, Made, floats, gathered, ints, without_programs
from support.device_arrays import DeviceArray, to_gpu
from support.gpu_runs import assert_agrees
from tileproof.diagnostics.errors import Diagnostic
from tileproof.frontend.signature import TensorParameter, parse
from tileproof.ir.types import Access

pytestmark = pytest.mark.gpu
Launch = Callable[[], Made]


def raised(kernel: tp.Kernel, arguments: list[Any], constants: dict[str, Any], backend: str) -> Diagnostic:
    with tp.backend(backend), pytest.raises(tp.TileproofError) as error:
        kernel(*arguments, **constants)
    (found,) = error.value.diagnostics
    return found


@pytest.mark.parametrize("name", CHECKS)
def test_a_launch_whose_checks_pass(name: str) -> None:
    assert assert_agrees(CHECKS[name][0]) == []


@pytest.mark.parametrize("name", CHECKS)
def test_a_failed_check_tells_what_the_interpreter_tells(name: str) -> None:
    for make in CHECKS[name][1]:
        kernel, given, constants = make()
        expected = raised(*make(), "interpreter")
        found = raised(kernel, to_gpu(given), constants, "cuda")
        assert found.code is expected.code
        assert found.message == expected.message
        assert found.span is not None
        assert expected.span is not None
        assert (found.span.line, found.span.column) == (expected.span.line, expected.span.column)


@pytest.mark.parametrize("name", CHECKS)
def test_a_launch_that_failed_wrote_nothing_outside_and_nothing_that_is_only_read(name: str) -> None:
    for make in CHECKS[name][1]:
        kernel, given, constants = make()
        arrays = to_gpu(given)
        raised(kernel, arrays, constants, "cuda")
        for parameter, array in zip(parse(kernel).signature.arguments, arrays, strict=True):
            if isinstance(array, DeviceArray):
                array.assert_rest_is_kept()
                assert isinstance(parameter, TensorParameter)
                if parameter.access is Access.IN:
                    array.assert_is_kept()


@pytest.mark.parametrize("name", CHECKS)
def test_later_launches_work(name: str) -> None:
    passing, others = CHECKS[name]
    for make in others:
        kernel, given, constants = make()
        raised(kernel, to_gpu(given), constants, "cuda")
        assert assert_agrees(passing) == []


def test_programs_that_passed_have_done_their_work() -> None:
    at = np.arange(21, dtype=np.int32) % 9
    at[9] = 9
    y = DeviceArray(np.full(21, -1, np.float32))
    with tp.backend("cuda"), pytest.raises(tp.TileproofError, match=r"n=8:16.*axis 0 of table is 9, and 0:9"):
        gathered(y, DeviceArray(floats(9)), DeviceArray(at))
    expected = floats(9)[at % 9]
    expected[8:16] = -1
    assert y.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("at", [-1, 12])
def test_a_check_before_all_programs_is_made_without_any(at: int) -> None:
    assert len(assert_agrees(lambda: without_programs(at))) == 1
    assert assert_agrees(without_programs) == []


def test_many_failures_at_once_tell_the_first_program() -> None:
    def make() -> Made:
        return gathered, [floats(21), floats(9), ints(*([77] * 21))], {}

    ((_, message),) = assert_agrees(make)
    assert "n=0:8" in message
    assert "77" in message
