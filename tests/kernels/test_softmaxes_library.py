"""softmax, log_softmax, cross_entropy and their gradients against float64 and torch; NaN, infinities and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from library_cases.softmaxes import cases, cross_entropy_reference, log_softmax_reference, softmax_reference
from support.library import Case, assert_close, assert_gradient, assert_right, results
from support.tiers import examples
from tileproof.kernels import arrays
from tileproof.kernels.softmaxes import (
    TUNABLES,
    cross_entropy,
    cross_entropy_backward,
    log_softmax,
    log_softmax_backward,
    softmax,
    softmax_backward,
    softmax_kernel,
)
from tileproof.tuning import Choice, Tunable

CASES = cases()
RNG = np.random.default_rng(0)


def named(every: list[Case]) -> Any:
    return pytest.mark.parametrize("case", every, ids=[each.name for each in every])


@pytest.mark.sweep(8)
@named(CASES)
def test_a_function_gives_on_the_cpu_what_float64_says(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.sweep(6)
@named([each for each in CASES if each.on_interpreter][::3])
def test_a_function_gives_on_the_interpreter_what_float64_says(case: Case) -> None:
    assert_right(case, "interpreter")


@pytest.mark.sweep(6)
@named([each for each in CASES if each.on_gpu])
def test_the_choices_for_a_gpu_give_what_float64_says(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    assert_right(case, "interpreter" if case.on_interpreter else "cpu")


def test_two_calls_give_the_same_bits() -> None:
    for case in CASES:
        if case.on_gpu:
            for one, other in zip(results(case, "cpu"), results(case, "cpu"), strict=True):
                assert one.tobytes() == other.tobytes()


# Values.

ODD = np.zeros((7, 40), np.float32)
ODD[0] = -np.inf
ODD[1, 3] = np.nan
ODD[2, 3] = np.inf
ODD[3, :39] = -np.inf
ODD[4] = -1e30
ODD[5] = 3e38
ODD[6] = np.linspace(-1e4, 1e4, 40)


@pytest.mark.parametrize("whole", [False, True])
def test_rows_of_minus_infinity_and_rows_with_nan_or_infinity_are_nan(whole: bool) -> None:
    for function, log, reference in (
        (softmax, 0, softmax_reference),
        (log_softmax, 1, log_softmax_reference),
    ):
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = reference(ODD)
        expected[:3] = np.nan
        found = np.empty_like(ODD)
        if whole:
            softmax_kernel(found, ODD, LOG=log)
        else:
            function(ODD, out=found)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-30)


@pytest.mark.slow
def test_they_are_so_in_torch() -> None:
    torch = pytest.importorskip("torch")
    odd = torch.from_numpy(ODD)
    for mine, theirs in ((softmax, torch.softmax), (log_softmax, torch.log_softmax)):
        torch.testing.assert_close(mine(odd), theirs(odd, dim=-1), equal_nan=True)


@pytest.mark.parametrize("target", ["cpu", "sm_90"])
def test_a_loss_is_nan_where_a_row_is_and_infinite_at_minus_infinity(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: target)
    for width in (40, 9000):
        logits = np.full((7, width), -np.inf, np.float32)
        logits[:, :40] = ODD
        loss, lse = cross_entropy(logits, np.array([5, 5, 5, 5, 5, 5, -1]))
        np.testing.assert_array_equal(loss[:4], np.float32([np.nan, np.nan, np.nan, np.inf]))
        np.testing.assert_allclose(loss[4:], [np.log(40), np.log(40), 0], rtol=1e-6)
        assert np.isneginf(lse[0])
        assert lse[6] == 1e4


def test_a_row_without_a_label_is_ignored_whatever_is_in_it() -> None:
    labels = np.full(7, -1)
    loss, lse = cross_entropy(ODD, labels)
    assert (loss == 0).all()
    grad = cross_entropy_backward(np.ones_like(loss), ODD, labels, lse)
    assert (grad == 0).all()


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 9), st.integers(1, 3000), st.floats(0.1, 50), st.integers(0, 1000))
def test_rows_sum_to_one_and_losses_are_those_of_float64(rows: int, columns: int, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal((rows, columns)) * spread).astype(np.float32)
    y = softmax(x)
    np.testing.assert_allclose(y.astype(np.float64).sum(axis=1), np.ones(rows), rtol=2e-5)
    np.testing.assert_allclose(np.exp(log_softmax(x).astype(np.float64)), y, rtol=1e-4, atol=1e-7)
    labels = rng.integers(-1, columns, rows)
    for found, wanted in zip(cross_entropy(x, labels), cross_entropy_reference(x, labels), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-4)


# Gradients.


@pytest.mark.parametrize("shape", [(5, 11), (70, 1000)])
def test_gradients_of_rows_are_those_of_their_differences(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(1).standard_normal(shape)
    assert_gradient(softmax, lambda dy: softmax_backward(dy, softmax(x)), x)
    assert_gradient(log_softmax, lambda dy: log_softmax_backward(dy, log_softmax(x)), x)


def test_the_gradient_of_cross_entropy_is_that_of_its_differences() -> None:
    x, labels = RNG.standard_normal((5, 11)), np.array([3, -1, 10, 0, 3])
    _, lse = cross_entropy(x, labels)
    assert lse.dtype == np.float64
    assert_gradient(
        lambda v: cross_entropy(v, labels)[0], lambda dy: cross_entropy_backward(dy, x, labels, lse), x, tolerance=1e-8
    )


@pytest.mark.slow
def test_gradients_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(4, 9, 30, dtype=torch.float64, requires_grad=True)
    dy = torch.randn_like(x)
    for forward, backward, theirs in (
        (softmax, softmax_backward, torch.softmax),
        (log_softmax, log_softmax_backward, torch.log_softmax),
    ):
        y = theirs(x, dim=-1)
        (dx,) = torch.autograd.grad(y, x, dy)
        torch.testing.assert_close(forward(x.detach()), y.detach())
        torch.testing.assert_close(backward(dy, y.detach()), dx)


@pytest.mark.slow
def test_cross_entropy_and_its_gradient_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    logits = torch.randn(9, 70, requires_grad=True)
    labels = torch.tensor([3, 5, -1, 0, 69, 1, -1, 2, 3])
    loss = torch.nn.functional.cross_entropy(logits, labels, reduction="none", ignore_index=-1)
    dloss = torch.randn(9)
    (grad,) = torch.autograd.grad(loss, logits, dloss)
    mine, lse = cross_entropy(logits.detach(), labels)
    torch.testing.assert_close(mine, loss.detach())
    torch.testing.assert_close(lse, logits.detach().logsumexp(1))
    torch.testing.assert_close(cross_entropy_backward(dloss, logits.detach(), labels, lse), grad)
    spread = torch.ones(1).expand(9)  # one number for all rows, in the memory of one
    torch.testing.assert_close(
        cross_entropy_backward(spread, logits.detach(), labels, lse), torch.autograd.grad(
            torch.nn.functional.cross_entropy(logits, labels, reduction="sum", ignore_index=-1), logits)[0],
    )  # fmt: skip


# Arrays.


def test_tensors_go_in_and_come_out() -> None:
    held = RNG.standard_normal((4, 30)).astype(np.float32)
    x, labels = tp.from_numpy(held), tp.from_numpy(np.array([1, -1, 29, 0]))
    y = softmax(x)
    assert isinstance(y, tp.Tensor)
    assert_close(y.numpy(), softmax_reference(held))
    loss, lse = cross_entropy(x, labels)
    assert_close(loss.numpy(), cross_entropy_reference(held, labels.numpy())[0])
    assert cross_entropy_backward(loss, x, labels, lse).shape == (4, 30)


def test_out_is_written_and_returned() -> None:
    x = RNG.standard_normal((4, 30)).astype(np.float32)
    for call in (
        softmax, log_softmax, lambda v, out=None: softmax_backward(v, v, out=out),
        lambda v, out=None: log_softmax_backward(v, v, out=out),
        lambda v, out=None: cross_entropy_backward(v[:, 0], v, np.array([1, 2, 3, -1]), v[:, 1], out=out),
    ):  # fmt: skip
        out = np.full_like(x, np.nan)
        assert call(x, out=out) is out
        np.testing.assert_array_equal(out, call(x))
    loss, lse = np.empty(4, np.float32), np.empty(4, np.float32)
    found = cross_entropy(x, np.array([1, 2, 3, -1]), out=(loss, lse))
    assert found[0] is loss
    assert found[1] is lse
    np.testing.assert_array_equal(loss, cross_entropy(x, np.array([1, 2, 3, -1]))[0])


# Refusals.

ONE, TWO = np.ones((3, 4), np.float32), np.ones((4, 3), np.float32)
CUBE = np.ones((3, 4, 5), np.float32)
LABELS = np.array([0, 1, 2])


@pytest.mark.parametrize(
    ("call", "code", "cure"),
    [
        (lambda: softmax(ONE, out=TWO), "TP0604", "none: then one is made"),
        (lambda: softmax(CUBE.transpose(1, 0, 2)), "TP0602", "a copy"),
        (lambda: softmax(np.ones((2, 3), np.int32)), "TP0603", "tk.cast"),
        (lambda: softmax_backward(ONE, TWO), "TP0604", "shape (4, 3)"),
        (lambda: log_softmax_backward(ONE, ONE.astype(np.float64)), "TP0603", ""),
        (lambda: cross_entropy(ONE, LABELS[:2]), "TP0604", "shape (3,)"),
        (lambda: cross_entropy(ONE, LABELS + 2), "TP0607", ""),
        (lambda: cross_entropy(ONE, LABELS - 2), "TP0607", ""),
        (lambda: cross_entropy(ONE, LABELS.astype(np.float32)), "TP0603", ""),
        (lambda: cross_entropy_backward(ONE[:, 0], ONE, LABELS, ONE[:2, 0]), "TP0604", "shape (3,)"),
    ],
)
def test_a_mistake_is_refused_with_its_cure(call: Callable[[], Any], code: str, cure: str) -> None:
    with pytest.raises(tp.TileproofError) as error:
        call()
    first = error.value.diagnostics[0]
    assert first.code.id == code
    assert first.help
    assert cure in first.help


# Choices.


@pytest.mark.parametrize("tunable", TUNABLES, ids=[each.name for each in TUNABLES])
def test_a_space_has_a_good_number_of_different_choices(tunable: Tunable) -> None:
    for extent in (5000, 20000):
        sizes = dict.fromkeys("RCNV", extent)
        labels = [each.label for each in tunable.space(sizes, "sm_90")]
        assert 10 <= len(set(labels)) == len(labels) <= 60
        assert list(tunable.space(sizes, "cpu"))


def arguments(tunable: Tunable) -> tuple[list[Any], list[Any]]:
    """Outputs and inputs of a small launch."""
    x = np.random.default_rng(5).standard_normal((5, 1500)).astype(np.float32)
    line, labels = np.empty(5, np.float32), np.array([3, 1499, -1, 0, 7])
    match tunable.name:
        case "cross_entropy":
            return [line, np.empty_like(line)], [x, labels]
        case "cross_entropy_backward":
            return [np.empty_like(x)], [x[:, 0], x, labels, x[:, 1] + 8]
        case "softmax" | "log_softmax":
            return [np.empty_like(x)], [x]
        case "log_softmax_backward":
            return [np.empty_like(x)], [x, log_softmax(x)]
        case _:
            return [np.empty_like(x)], [x, softmax(x)]


@pytest.mark.slow
@pytest.mark.parametrize("tunable", TUNABLES, ids=[each.name for each in TUNABLES])
def test_every_choice_gives_the_same(tunable: Tunable) -> None:
    outputs, inputs = arguments(tunable)
    sizes, wanted = {"R": 5, "C": 1500, "N": 5, "V": 20000}, None
    different: dict[Any, Choice] = {}
    for target in ("cpu", "sm_90"):
        for choice in (tunable.default(sizes, target), *tunable.space(sizes, target)):
            different.setdefault((choice.kernel, *choice.constants.items()), choice)
    for choice in different.values():
        with tp.backend("interpreter"):
            choice(*outputs, *inputs)
        wanted = wanted or [each.copy() for each in outputs]
        for found, first in zip(outputs, wanted, strict=True):
            np.testing.assert_allclose(found, first, rtol=1e-5, atol=1e-7)
