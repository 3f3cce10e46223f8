"""Arguments of a trial, from a signature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from samples.tuned_kernels import APPEND, DOUBLE, SCALED, planted
from tileproof import In, Index, InOut, Offsets, Out, Sum, T, U, Unique, f32, i8, i32
from tileproof.language.dtypes import BOOL, F32, I8, I32, U8, DType
from tileproof.tuning import Choice, Tunable
from tileproof.tuning.inputs import Argument, TuningError, arguments_of, numbers


@tp.kernel
def mixed(
    y: Out[T, "M H+2*G"], count: Sum[i32, "V"], cache: InOut[U, "V 4"], x: In[i8, "M K"], ids: In[Index["V"], "M"],
    slots: In[Unique["V"], "M"], off: In[Offsets["M"], "E+1"], part: Out[f32, "M/B"], scale: f32, past: i32, *,
    B: int = 16, W: int = 4,
) -> None:  # fmt: skip
    """Never run."""


def tunable_of(**more: Any) -> Tunable:
    choice = Choice(mixed, {"B": 8})
    return Tunable("mixed", (mixed,), lambda *_: choice, lambda *_: (choice,), **more)


SIZES = {"M": 20, "H": 3, "G": 2, "V": 30, "K": 5, "E": 4}


def test_every_argument_has_the_shape_type_and_use_that_the_signature_says() -> None:
    tunable = tunable_of(scalars={"scale": 2, "past": 7.0}, types={"U": "f16"})
    result = arguments_of(tunable, SIZES, "bf16", {"B": 8})
    lines = {it.name: (it.shape, it.dtype.name, it.is_written, it.is_kept) for it in result.tensors}
    assert lines == {
        "y": ((20, 7), "bf16", True, False), "count": ((30,), "i32", True, False),
        "cache": ((30, 4), "f16", True, True), "x": ((20, 5), "i8", False, True),
        "ids": ((20,), "i32", False, True), "slots": ((20,), "i32", False, True),
        "off": ((5,), "i32", False, True), "part": ((3,), "f32", True, False),
    }  # fmt: skip
    assert result.scalars == {"scale": 2.0, "past": 7}
    assert [type(scalar) for scalar in result.scalars.values()] == [float, int]
    assert result.names == ("y", "count", "cache", "x", "ids", "slots", "off", "part", "scale", "past")


def test_what_any_kernel_of_a_tunable_writes_is_written() -> None:
    arguments = arguments_of(planted("writes_its_input_kernel"), {"N": 8}, "f32", {})
    assert [(tensor.name, tensor.is_written, tensor.is_kept) for tensor in arguments.tensors] == [
        ("y", True, False), ("x", True, True)
    ]  # fmt: skip
    (total, x) = arguments_of(APPEND, {"N": 8}, "f32", {}).tensors
    assert (total.is_written, total.is_kept, x.is_written) == (True, True, False)


@pytest.mark.parametrize(
    ("tunable", "sizes", "element", "message"),
    [
        (DOUBLE, {"M": 3}, "f32", 'needs a size for N, a dimension of `y`: give --shapes "N='),
        (DOUBLE, {"N": 3}, "f31", "is not an element type"),
        (Tunable("open", SCALED.kernels, SCALED.default, SCALED.space), {"N": 3}, "f32", 'scalars={"a": ...}'),
    ],
)
def test_what_is_missing_is_said_with_its_cure(tunable: Tunable, sizes: Any, element: str, message: str) -> None:
    with pytest.raises(TuningError) as raised:
        arguments_of(tunable, sizes, element, {})
    assert message in str(raised.value)


def entries(content: str, extent: int, shape: tuple[int, ...]) -> Any:
    argument = Argument("x", shape, I32, is_written=False, is_kept=True, content=content, extent=extent)
    return numbers(np.random.default_rng(1), argument)


def test_index_tensors_hold_what_they_may() -> None:
    assert set(entries("Index", 7, (100,)).tolist()) == set(range(7))
    assert sorted(entries("Unique", 12, (3, 4)).reshape(-1).tolist()) == list(range(12))
    assert sorted(entries("Unique", 3, (5,)).tolist()) == [-1, -1, 0, 1, 2]
    borders = entries("Offsets", 50, (9,))
    assert (borders[0], borders[-1]) == (0, 50)
    assert (np.diff(borders) >= 0).all()
    assert entries("Index", 0, (2,)).tolist() == [-1, -1]


@pytest.mark.parametrize(("dtype", "low", "high"), [(BOOL, 0, 1), (I8, -127, 127), (U8, 0, 255), (I32, -100, 100)])
def test_whole_numbers_are_small_unless_they_have_8_bits(dtype: DType, low: int, high: int) -> None:
    result = numbers(np.random.default_rng(1), Argument("x", (5000,), dtype, is_written=False, is_kept=True))
    assert (result.min(), result.max()) == (low, high)


def test_floats_are_normal_numbers() -> None:
    result = numbers(np.random.default_rng(1), Argument("x", (100, 100), F32, is_written=False, is_kept=True))
    assert abs(float(result.mean())) < 0.1
    assert 0.9 < float(result.std()) < 1.1
