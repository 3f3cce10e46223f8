"""The norms: against float64, on the CPU and the interpreter; gradients; what is not a number; errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from library_cases.norms import (
    BACKWARD,
    FORWARD,
    add_reference,
    cases,
    layer_backward_reference,
    layer_reference,
    rms_backward_reference,
    rms_reference,
)
from support.library import Case, assert_close, assert_right, each_choice
from support.tiers import examples
from tileproof.kernels import norms
from tileproof.kernels.norms import (
    TUNABLES,
    add_rms_norm,
    add_rms_norm_backward,
    layer_norm,
    layer_norm_backward,
    rms_norm,
    rms_norm_backward,
)
from tileproof.tuning import Tunable

CASES = cases()
RNG = np.random.default_rng(0)


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    return RNG.standard_normal(shape).astype(dtype)


@pytest.mark.sweep(9)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_norms_agree_with_float64(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.sweep(5)
@pytest.mark.parametrize("case", [each for each in CASES if each.on_interpreter][::4], ids=lambda case: case.name)
def test_norms_agree_with_float64_on_the_interpreter(case: Case) -> None:
    assert_right(case, "interpreter")


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 70), st.integers(0, 2), st.sampled_from(["N", "1", "N D", "1 D"]), st.integers(0, 2**32))
def test_rows_of_any_count_and_strides_are_normalised(rows: int, batches: int, shared: str, seed: int) -> None:
    """Also rows that are one row in memory, seen several times."""
    rng = np.random.default_rng(seed)
    whole = rng.standard_normal((batches, rows, 24)).astype(np.float32)
    x = np.broadcast_to(whole[:, :1], whole.shape) if shared.startswith("1") and rows else whole
    x = x[..., ::2] if shared.endswith("D") else x[..., :12]
    w = rng.standard_normal(12).astype(np.float32)
    for batch in x:
        assert_close(rms_norm(batch, w), rms_reference(batch, w))
        assert_all_close(layer_norm_backward(batch, batch, w), layer_backward_reference(batch, batch, w))


# Other tiles than the CPU is given.


@pytest.mark.slow
@pytest.mark.parametrize("tunable", TUNABLES, ids=lambda each: each.name)
def test_every_choice_computes_the_same(tunable: Tunable) -> None:
    function, reference, args = named(tunable.name, 150, 96)
    for _ in each_choice(tunable, "f32", {"N": 150, "D": 96}):
        assert_all_close(function(*args), reference(*args))


@pytest.mark.parametrize("tunable", TUNABLES, ids=lambda each: each.name)
@pytest.mark.parametrize("target", ["cpu", "sm_90"])
def test_a_space_is_small_and_holds_rows_of_any_length(tunable: Tunable, target: str) -> None:
    for sizes in ({"N": 8192, "D": 4096}, {"N": 1, "D": 1}, {"N": 0, "D": 0}, {"N": 7, "D": 8192}):
        labels = [choice.label for choice in tunable.space(sizes, target)]
        assert len(set(labels)) == len(labels)
        assert 1 <= len(labels) <= 60
        assert tunable.default(sizes, target).kernel in tunable.kernels


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", [function.__name__ for function, _, _ in (*FORWARD, *BACKWARD)])
def test_rows_that_no_tile_of_a_gpu_holds_are_walked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tileproof.kernels.arrays.target_of", lambda array: "sm_90")
    function, reference, args = named(name, 37, 8200, ml_dtypes.bfloat16)
    assert_all_close(function(*args), reference(*args))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize(("rows", "columns"), [(64, 2560), (97, 5120), (65, 2049)])
def test_rows_of_two_windows_are_what_whole_rows_are(
    rows: int, columns: int, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tileproof.kernels.arrays.target_of", lambda array: "sm_90")
    x, residual, w = normal(rows, columns, dtype=dtype), normal(rows, columns, dtype=dtype), normal(columns)
    assert norms.ADD_RMS_NORM.choose("sm_90", "f32", {"N": rows, "D": columns}).kernel is norms.add_rms_norm_two_kernel
    found = add_rms_norm(x, residual, w, 1e-2)
    assert_all_close(found, add_reference(x, residual, w, 1e-2))
    whole = np.empty_like(x), np.empty_like(x)
    norms.rms_norm_kernel(*whole, x, residual, w, 1e-2)
    assert (found[1] == whole[1]).all()
    assert_close(found[0], whole[0].astype(np.float64))


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_what_is_not_finite_stays_in_its_row_of_two_windows(odd: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tileproof.kernels.arrays.target_of", lambda array: "sm_90")
    x, residual, w = normal(70, 2560), normal(70, 2560), normal(2560)
    before, _ = add_rms_norm(x, residual, w)
    x[3, 5], x[68, 2559] = odd, odd
    with np.errstate(all="ignore"):
        found, wanted = add_rms_norm(x, residual, w)[0], add_reference(x, residual, w)[0]
    rest = ~np.isin(np.arange(70), (3, 68))
    assert (found[rest] == before[rest]).all()
    for row in (3, 68):
        assert_close(found[row], wanted[row])


def test_every_choice_for_two_windows_computes_the_same() -> None:
    sizes = {"N": 64, "D": 2560}
    function, reference, args = named("add_rms_norm", 64, 2560)
    kernels = set()
    for choice in each_choice(norms.ADD_RMS_NORM, "f32", sizes):
        kernels.add(choice.kernel)
        assert_all_close(function(*args), reference(*args))
    assert norms.add_rms_norm_two_kernel in kernels


def test_only_many_rows_on_an_h200_are_taken_by_two_windows() -> None:
    def windows(rows: int, columns: int, target: str = "sm_90") -> int | None:
        return norms.ADD_RMS_NORM.choose(target, "bf16", {"N": rows, "D": columns}).constants.get("D0")

    assert [windows(64, each) for each in (2560, 3072, 5120, 6144)] == [2048, 2048, 4096, 4096]
    assert [windows(64, each) for each in (96, 1536, 2048, 4096, 3584, 8192, 10240)] == [None] * 7
    assert [windows(1, 2560), windows(63, 5120), windows(512, 2560, "cpu"), windows(512, 2560, "sm_100")] == [None] * 4


# Gradients.

STEP = 1e-6


@pytest.mark.parametrize("columns", [7, 70001])
def test_gradients_are_finite_differences(columns: int) -> None:
    """In f64, along some random directions: of sum(y * g) for x, w and b."""
    x, residual, g, h = (normal(5, columns, dtype=np.float64) for _ in range(4))
    w, b = normal(columns, dtype=np.float64), normal(columns, dtype=np.float64)
    total = add_rms_norm(x, residual, w, 1e-2)[1]

    def along(loss: Callable[[Any], float], at: Any, gradient: Any) -> None:
        direction = RNG.standard_normal(at.shape)
        slope = (loss(at + STEP * direction) - loss(at - STEP * direction)) / (2 * STEP)
        assert slope == pytest.approx(float((gradient * direction).sum()), rel=1e-6, abs=1e-4)

    dx, dw = rms_norm_backward(g, x, w, 1e-2)
    along(lambda at: float((rms_norm(at, w, 1e-2) * g).sum()), x, dx)
    along(lambda at: float((rms_norm(x, at, 1e-2) * g).sum()), w, dw)
    dx, dw, db = layer_norm_backward(g, x, w, 1e-2)
    along(lambda at: float((layer_norm(at, w, b, 1e-2) * g).sum()), x, dx)
    along(lambda at: float((layer_norm(x, at, b, 1e-2) * g).sum()), w, dw)
    along(lambda at: float((layer_norm(x, w, at, 1e-2) * g).sum()), b, db)

    def both(x: Any, residual: Any, w: Any) -> float:
        y, total = add_rms_norm(x, residual, w, 1e-2)
        return float((y * g).sum() + (total * h).sum())

    dx, dw = add_rms_norm_backward(g, h, total, w, 1e-2)
    along(lambda at: both(at, residual, w), x, dx)
    along(lambda at: both(x, at, w), residual, dx)
    along(lambda at: both(x, residual, at), w, dw)


@pytest.mark.slow
def test_gradients_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x, g, w, b = (torch.from_numpy(normal(*shape)) for shape in ((19, 48), (19, 48), (48,), (48,)))
    leaves = [each.clone().requires_grad_() for each in (x, w, b)]
    torch.nn.functional.layer_norm(leaves[0], (48,), leaves[1], leaves[2]).backward(g)
    for got, leaf in zip(layer_norm_backward(g, x, w), leaves, strict=True):
        torch.testing.assert_close(got, leaf.grad, rtol=1e-4, atol=1e-5)
    leaves = [each.clone().requires_grad_() for each in (x, w)]
    torch.nn.functional.rms_norm(leaves[0], (48,), leaves[1], 1e-6).backward(g)
    for got, leaf in zip(rms_norm_backward(g, x, w), leaves, strict=True):
        torch.testing.assert_close(got, leaf.grad, rtol=1e-4, atol=1e-5)


def test_a_row_of_one_element_has_no_slope_once_its_mean_is_taken() -> None:
    dy, x, w = normal(9, 1), normal(9, 1), normal(1)
    dx, dw, db = layer_norm_backward(dy, x, w, 1.0)
    assert np.abs(dx).max() < 1e-6
    assert (dw == 0).all()
    assert_close(db, dy.astype(np.float64).sum(axis=0))


# What is not a number, and what is done twice.


@pytest.mark.sweep(3)
@pytest.mark.parametrize("columns", [40, 70001])
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 0.0])
def test_what_is_not_finite_stays_in_its_row(odd: float, columns: int) -> None:
    x, w, b = normal(9, columns), normal(columns), normal(columns)
    plain = rms_norm(x, w), layer_norm(x, w, b), rms_norm_backward(x, x, w)[0], layer_norm_backward(x, x, w)[0]
    x[3, 5] = odd
    if odd == 0:
        x[3] = 0
    with np.errstate(all="ignore"):
        wanted = (
            rms_reference(x, w), layer_reference(x, w, b), rms_backward_reference(x, x, w)[0],
            layer_backward_reference(x, x, w)[0],
        )  # fmt: skip
        found = rms_norm(x, w), layer_norm(x, w, b), rms_norm_backward(x, x, w)[0], layer_norm_backward(x, x, w)[0]
    for got, want, before in zip(found, wanted, plain, strict=True):
        rest = np.arange(9) != 3
        assert (got[rest] == before[rest]).all()
        assert_close(got[3], want[3])


def test_a_gradient_of_weights_that_is_not_finite_is_so_in_its_column() -> None:
    dy, x, w = normal(300, 40), normal(300, 40), normal(40)
    dy[77, 5] = np.nan
    for dw in (rms_norm_backward(dy, x, w)[1], *layer_norm_backward(dy, x, w)[1:]):
        assert np.isnan(dw).tolist() == [column == 5 for column in range(40)]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", [function.__name__ for function, _, _ in (*FORWARD, *BACKWARD)])
@pytest.mark.parametrize("columns", [40, 70001])
def test_a_call_that_is_repeated_gives_the_same_bits(name: str, columns: int) -> None:
    function, _, args = named(name, 300 if columns < 100 else 20, columns)
    for one, other in zip(_tuple(function(*args)), _tuple(function(*args)), strict=True):
        assert one.tobytes() == other.tobytes()


# Arguments.


def test_a_sum_is_rounded_before_it_is_normalised() -> None:
    x, residual, w = (normal(*shape, dtype=ml_dtypes.bfloat16) for shape in ((8, 64), (8, 64), (64,)))
    y, total = add_rms_norm(x, residual, w)
    assert (total == x + residual).all()
    assert (y == rms_norm(total, w)).all()


def test_results_go_to_out() -> None:
    x, w, b = normal(2, 3, 40), normal(40), normal(40)
    y, total = np.empty_like(x), np.empty_like(x)
    assert rms_norm(x, w, out=y) is y
    assert_close(y, rms_reference(x, w))
    assert layer_norm(x, w, b, out=y) is y
    assert_close(y, layer_reference(x, w, b))
    found = add_rms_norm(x, x, w, out=(y, total))
    assert found[0] is y
    assert found[1] is total
    assert_close(y, add_reference(x, x, w)[0])


@pytest.mark.slow
def test_tensors_and_torch_come_back_as_they_are() -> None:
    x, w = normal(6, 40), normal(40)
    y = rms_norm(tp.from_numpy(x), tp.from_numpy(w))
    dx, dw, db = layer_norm_backward(tp.from_numpy(x), tp.from_numpy(x), tp.from_numpy(w))
    assert {type(each) for each in (y, dx, dw, db)} == {tp.Tensor}
    assert_close(y.numpy(), rms_reference(x, w))
    assert_all_close(tuple(each.numpy() for each in (dx, dw, db)), layer_backward_reference(x, x, w))
    torch = pytest.importorskip("torch")
    given = torch.from_numpy(x).bfloat16()
    made = rms_norm(given, torch.from_numpy(w))
    assert made.dtype is torch.bfloat16
    assert_close(made.float().numpy(), rms_reference(given.float().numpy(), w), 1e-2)


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        (lambda: rms_norm(normal(3, 4), normal(5)), "TP0604", "D"),
        (lambda: rms_norm(normal(3, 4), normal(4), out=normal(3, 5)), "TP0604", "(3, 4)"),
        (lambda: rms_norm_backward(normal(3, 4), normal(2, 4), normal(4)), "TP0604", "N"),
        (lambda: layer_norm(normal(3, 4), normal(4), normal(4, dtype=np.float64)), "TP0603", "f64"),
        (lambda: rms_norm(normal(2, 3, 4)[:, ::2], normal(4)), "TP0602", "copy"),
        (lambda: add_rms_norm(normal(3, 4), normal(3, 4), normal(4, 1)), "TP0602", "w"),
    ],
)
def test_a_mistake_is_named_with_its_cure(call: Callable[[], Any], code: str, words: str) -> None:
    with pytest.raises(tp.LaunchError) as caught:
        call()
    assert caught.value.diagnostics[0].code.id == code
    assert words in str(caught.value)


def test_every_kernel_is_proved_without_a_check() -> None:
    for kernel in vars(norms).values():
        if isinstance(kernel, tp.Kernel):
            assert kernel.deny_checks


def named(name: str, rows: int, columns: int, dtype: Any = np.float32) -> tuple[Any, Any, list[Any]]:
    """A function by its name, its reference, and arguments."""
    function, reference, kinds = next(each for each in (*FORWARD, *BACKWARD) if each[0].__name__ == name)
    shapes = {"x": (rows, columns), "w": (columns,)}
    return function, reference, [normal(*shapes[kind], dtype=dtype) for kind in kinds.split()]


def assert_all_close(found: Any, wanted: Any) -> None:
    for got, want in zip(_tuple(found), _tuple(wanted), strict=True):
        assert_close(got, want)


def _tuple(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)
