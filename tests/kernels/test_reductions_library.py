"""Reductions against float64 and integers, what NaN does in them, their choices, and refusals."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from library_cases.reductions import cases, sum_reference, top_k_reference
from support.library import Case, assert_close, assert_right, each_choice, results
from support.tiers import examples
from tileproof.kernels import arrays, reductions
from tileproof.kernels.reductions import TUNABLES, argmax, cumsum, histogram, max, sum, top_k
from tileproof.tuning import Tunable

CASES = cases()


def named(every: list[Case]) -> Any:
    return pytest.mark.parametrize("case", every, ids=[each.name for each in every])


def some(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.sweep(10)
@named(CASES)
def test_a_function_gives_on_the_cpu_what_float64_says(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.sweep(6)
@named([each for each in CASES if each.on_interpreter and each.on_gpu])
def test_a_function_gives_on_the_interpreter_what_float64_says(case: Case) -> None:
    assert_right(case, "interpreter")


@pytest.mark.sweep(6)
@named([each for each in CASES if each.on_gpu])
def test_the_choices_for_a_gpu_give_what_float64_says(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    assert_right(case, "interpreter")


# Values.

ODD = np.array(
    [
        [1, 2, np.nan, np.inf, np.nan],
        [-np.inf] * 5,
        [np.inf, -np.inf, 1, np.inf, 0],
        [-0.0, 0.0, -1, 0.0, -0.0],
        [-np.inf, -np.inf, -1e38, -np.inf, -np.inf],
    ],
    np.float32,
)


def test_nan_wins_and_spreads() -> None:
    np.testing.assert_array_equal(max(ODD), ODD.max(axis=1))
    np.testing.assert_array_equal(max(ODD, axis=0), ODD.max(axis=0))
    assert np.isnan(max(ODD, axis=None))
    np.testing.assert_array_equal(argmax(ODD), [2, 0, 0, 0, 2])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(sum(ODD), ODD.sum(axis=1))
        np.testing.assert_array_equal(cumsum(ODD), np.cumsum(ODD, axis=1))
    position = np.empty(5, np.int32)
    for rows in (1, 4):
        reductions.argmax_whole_kernel(position, ODD, BR=rows)
        np.testing.assert_array_equal(position, [2, 0, 0, 0, 2])
    value, at = top_k(ODD, 5)
    np.testing.assert_array_equal(
        at, [[2, 4, 3, 1, 0], [0, 1, 2, 3, 4], [0, 3, 2, 4, 1], [0, 1, 3, 4, 2], [2, 0, 1, 3, 4]]
    )
    np.testing.assert_array_equal(value, np.take_along_axis(ODD, at, axis=1))


@pytest.mark.parametrize("target", ["cpu", "sm_90"])
def test_nan_wins_in_any_piece_of_a_long_row(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: target)
    x = some(3, 20000)
    x[0, 17777] = x[0, 19999] = np.nan
    x[1, [5, 19000]] = np.inf
    x[2] = -np.inf
    np.testing.assert_array_equal(argmax(x), [17777, 5, 0])
    np.testing.assert_array_equal(argmax(x[:, 15000:]), [2777, 4000, 0])  # whole rows
    np.testing.assert_array_equal(max(x), [np.nan, np.inf, -np.inf])
    assert top_k(x, 3)[1][:2, :2].tolist() == [[17777, 19999], [5, 19000]]


def test_of_nothing_there_is_a_value() -> None:
    nothing = np.empty((2, 0), np.float32)
    assert sum(nothing).tolist() == [0, 0]
    assert sum(nothing, axis=None) == 0
    assert max(nothing).tolist() == [-np.inf, -np.inf]
    assert max(np.empty((2, 0), np.int8)).tolist() == [-128, -128]
    assert argmax(nothing).tolist() == [-1, -1]
    assert cumsum(nothing).shape == (2, 0)


def test_sums_of_narrow_types_are_rounded_once() -> None:
    assert sum(np.full((1, 4096), 1.0, np.float16)).tolist() == [4096]
    steps = np.full((1024, 2), 1, np.float16)
    steps[:, 1] = 2.0**-11  # lost to a row that is rounded before it is added up
    assert sum(steps, axis=None) == np.float16(1024.5)
    assert sum(np.full((4, 100), 100, np.int8)).tolist() == [10000] * 4
    assert sum(np.full((4, 100), True)).tolist() == [100] * 4
    assert sum(np.full((1, 2), 2**31 - 1, np.int32)).tolist() == [-2]
    assert cumsum(np.full((1, 3), 100, np.int8)).tolist() == [[100, 200, 300]]


@pytest.mark.sweep(1)
@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 6), st.integers(1, 400), st.integers(1, 12), st.integers(0, 10**6))
def test_the_greatest_come_first_and_the_earlier_of_equals(rows: int, length: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, (rows, length)).astype(np.float32)
    x[rng.random(x.shape) < 0.1] = np.nan
    x[rng.random(x.shape) < 0.1] = -np.inf
    kept = k if k <= length else length
    value, at = top_k(x, kept)
    wanted, order = top_k_reference(x, kept)
    np.testing.assert_array_equal(at, order)
    np.testing.assert_array_equal(value, wanted)
    assert (argmax(x) == order[:, 0]).all()


def test_falling_and_rising_rows_have_the_same_greatest() -> None:
    row = np.arange(5000, dtype=np.float32)
    value, at = top_k(np.stack([row, row[::-1]]), 20)
    assert (value == row[:-21:-1]).all()
    assert (at == np.stack([np.arange(4999, 4979, -1), np.arange(20)])).all()


@pytest.mark.parametrize("length", [3, 20, 70, 300])
def test_lanes_find_their_next_greatest_in_memory(length: int) -> None:
    x = np.round(some(6, length) * 2)
    x[1] = -np.inf
    x[2, ::3] = np.nan
    x[3] = np.sort(x[3])
    x[4] = np.sort(x[4])[::-1]
    value, at = np.empty((6, length), np.float32), np.empty((6, length), np.int64)
    reductions.top_k_kernel(value, at, x, BC=16, BL=4)
    wanted, order = top_k_reference(x, length)
    np.testing.assert_array_equal(at, order)
    np.testing.assert_array_equal(value, wanted)


def test_a_row_of_fewer_elements_than_k_ends_in_none() -> None:
    value, at = np.empty((2, 5), np.int32), np.empty((2, 5), np.int32)
    reductions.top_k_kernel(value, at, np.array([[4, -2, 9], [0, 0, -(2**31)]], np.int32), BC=8)
    assert at.tolist() == [[2, 0, 1, -1, -1], [0, 1, 2, -1, -1]]
    assert value[1].tolist() == [0, 0, -(2**31), -(2**31), -(2**31)]


def test_counts_that_are_made_apart_add_up() -> None:
    x = np.random.default_rng(4).integers(-1, 9, 5000).astype(np.int32)
    parts = np.empty((3, 9), np.int32)
    reductions.histogram_kernel(parts, x, BN=64)
    assert (parts.sum(axis=0) == np.bincount(x[x >= 0], minlength=9)).all()
    assert (parts.sum(axis=1) > 1000).all()


@pytest.mark.parametrize(("length", "bins", "wanted"), [(0, 3, 1), (1 << 26, 256, 1024), (1 << 26, 1 << 20, 4)])
def test_a_gpu_counts_apart_as_far_as_memory_goes(length: int, bins: int, wanted: int) -> None:
    assert reductions._copies(length, bins, "sm_90") == wanted
    assert reductions._copies(length, bins, "cpu") == 1


def test_a_position_of_a_greatest_indexes_without_a_test() -> None:
    @tp.kernel(deny_checks=True)
    def picked(y: tp.Out[tp.f32, "R"], x: tp.In[tp.f32, "R C"], at: tp.In[tp.Index["C"], "R"]) -> None:
        for r in tp.parallel(R=tp.each):
            y[r] = x[r, at[r]]

    x = tp.from_numpy(some(4, 30))
    y = tp.empty(4)
    picked(y, x, argmax(x))
    assert y.tolist() == x.numpy().max(axis=1).tolist()


@pytest.mark.parametrize("function", [sum, max, argmax, cumsum, lambda x: top_k(x, 7)[0]])
def test_the_same_call_gives_the_same_bits(function: Any) -> None:
    x = some(9, 5000)
    assert function(x).tobytes() == function(x).tobytes()


# Choices.


@pytest.mark.slow
@pytest.mark.parametrize("tunable", TUNABLES, ids=lambda each: each.name)
def test_every_choice_computes_the_same(tunable: Tunable) -> None:
    rng = np.random.default_rng(0)
    match tunable.name:
        case "histogram":
            x, sizes = rng.integers(-1, 7, 3000).astype(np.int32), {"N": 3000, "B": 7, "P": 1}
            function = partial(histogram, bins=7)
        case "top_k":
            x, sizes = some(5, 700), {"R": 5, "C": 700, "K": 9}
            function = lambda given: top_k(given, 9)[1]  # noqa: E731
        case name:
            x, sizes = some(5, 700), {"R": 5, "C": 700}
            function = partial(getattr(reductions, name.split("_")[0]), **({"axis": 0} if "columns" in name else {}))
    wanted = function(x)
    count = 0
    for _ in each_choice(tunable, "i32" if tunable.name == "histogram" else "f32", sizes):
        np.testing.assert_allclose(function(x), wanted, rtol=1e-4, atol=1e-4)
        count += 1
    assert count >= 3


# Arrays.


def test_tensors_go_in_and_come_out() -> None:
    held = some(4, 3, 30)
    x = tp.from_numpy(held)
    for found, wanted in ((sum(x), held.sum(axis=-1)), (max(x, axis=None), held.max()), (cumsum(x), held.cumsum(-1))):
        assert isinstance(found, tp.Tensor)
        assert_close(found.numpy(), np.asarray(wanted))
    value, at = top_k(x, 2)
    assert (value.shape, at.dtype) == ((4, 3, 2), tp.i32)
    assert histogram(at, 30).numpy().sum() == 24


@pytest.mark.slow
def test_tensors_of_torch_go_in_and_come_out() -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(6, 200).to(torch.bfloat16)
    torch.testing.assert_close(sum(x), x.sum(dim=-1))
    torch.testing.assert_close(sum(x.T, axis=0), x.T.sum(dim=0))
    assert torch.equal(max(x), x.max(dim=-1).values)
    assert torch.equal(argmax(x), x.float().argmax(dim=-1).int())
    value, at = top_k(x, 9)
    assert torch.equal(value, x.topk(9).values)
    assert torch.equal(x.gather(1, at.long()), value)
    assert sum(torch.ones(3, 4), axis=None).item() == 12


def test_out_is_written_and_returned() -> None:
    x = some(4, 30)
    for function, shape, kind in (
        (sum, (4,), np.float32), (max, (4,), np.float32), (argmax, (4,), np.int64), (cumsum, (4, 30), np.float32),
    ):  # fmt: skip
        out = np.empty(shape, kind)
        assert function(x, out=out) is out
        np.testing.assert_array_equal(out, function(x))
    out = np.empty((), np.float32)
    assert sum(x, axis=None, out=out) is out
    assert_close(out, sum_reference(x, None))
    count = np.empty(5, np.int32)
    assert histogram(np.array([4, 4]), 5, out=count) is count
    assert count.tolist() == [0, 0, 0, 0, 2]


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        (lambda: sum(some(2, 3, 4), axis=1), "TP0602", "use axis=-1, axis=0 of a matrix, or axis=None"),
        (lambda: sum(some(2, 3), out=np.empty(3, np.float32)), "TP0604", "pass an array of shape (2,)"),
        (lambda: top_k(some(2, 3), 4), "TP0604", "take a k from 0 to 3"),
        (lambda: top_k(some(2, 3).astype(np.float64), 1), "TP0603", "cast x to f32"),
        (lambda: histogram(np.array([0, 3]), 3), "TP0607", "`x[1]` is 3, and B has 3"),
        (lambda: histogram(np.array([0.5], np.float32), 3), "TP0603", "i32 or i64"),
        (lambda: argmax(some(2, 3), out=np.empty(2, np.float32)), "TP0603", "i32 or i64"),
        (lambda: max(some(6, 4, 8)[:, :2]), "TP0602", "pass a contiguous array"),
    ],
)
def test_what_is_refused_names_its_cure(call: Any, code: str, words: str) -> None:
    with pytest.raises(tp.LaunchError) as caught:
        call()
    assert caught.value.diagnostics[0].code.id == code
    assert words in str(caught.value)


def test_functions_are_found_in_the_library() -> None:
    import tileproof.kernels as tk

    for name in ("sum", "max", "argmax", "cumsum", "top_k", "histogram", "top_k_kernel", "sum_kernel"):
        assert getattr(tk, name) is getattr(reductions, name)


def test_results_of_two_backends_agree() -> None:
    case = next(each for each in CASES if each.name == "sum -1 2x9001 f32 dense")
    (here,), (there,) = results(case, "cpu"), results(case, "interpreter")
    assert_close(here, there)
