"""The elementwise functions against float64, with their gradients, their NaN and infinities, and their refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
import tileproof.kernels as tk
from library_cases.elementwise import cases, uniform
from support.library import Case, assert_close, assert_gradient, assert_right, results
from support.tiers import examples
from tileproof.kernels import arrays
from tileproof.kernels.elementwise import TUNABLES
from tileproof.tuning import Tunable

CASES = cases()
RNG = np.random.default_rng(0)


def named(every: list[Case]) -> Any:
    return pytest.mark.parametrize("case", every, ids=[each.name for each in every])


@pytest.mark.sweep(14)
@named(CASES)
def test_a_function_gives_on_the_cpu_what_float64_says(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.sweep(12)
@named([each for each in CASES if each.on_interpreter][::3])
def test_a_function_gives_on_the_interpreter_what_float64_says(case: Case) -> None:
    assert_right(case, "interpreter")


@pytest.mark.sweep(8)
@named([each for each in CASES if each.on_gpu and each.on_interpreter])
def test_the_choices_for_a_gpu_give_what_float64_says(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    assert_right(case, "interpreter")


@pytest.mark.slow
def test_two_calls_give_the_same_bits() -> None:
    for case in CASES:
        if case.on_gpu:
            for one, other in zip(results(case, "cpu"), results(case, "cpu"), strict=True):
                assert one.tobytes() == other.tobytes()


# Values.


def test_sums_and_products_of_integers_wrap() -> None:
    x = np.array([127, -128, 100], np.int8)
    assert tk.add(x, x).tolist() == [-2, 0, -56]
    assert tk.mul(x, x).tolist() == [1, 0, 16]


def test_nan_and_infinity_spread_as_in_ieee() -> None:
    x = np.array([np.nan, np.inf, -np.inf, 1, 0], np.float32)
    y = np.array([1, -np.inf, -np.inf, np.nan, np.inf], np.float32)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(tk.add(x, y), x + y)
        np.testing.assert_array_equal(tk.mul(x, y), x * y)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_is_infinite_at_infinity_and_nan_at_minus_infinity(approximate: Any) -> None:
    x = np.array([np.inf, -np.inf, np.nan, 0, -100, 100], np.float32)
    np.testing.assert_array_equal(tk.gelu(x, approximate), np.float32([np.inf, np.nan, np.nan, 0, 0, 100]))
    slopes = tk.gelu_backward(np.ones_like(x), x, approximate)
    np.testing.assert_array_equal(slopes, np.float32([np.nan, np.nan, np.nan, 0.5, 0, 1]))


def test_silu_is_nan_at_minus_infinity() -> None:
    x = np.array([[np.inf, -np.inf, np.nan, 0, -200, 1, 1, 1, 1, 1]], np.float32)
    np.testing.assert_array_equal(tk.silu_mul(x), np.float32([[np.inf, np.nan, np.nan, 0, 0]]))


def test_casts_saturate() -> None:
    x = np.array([np.nan, np.inf, -np.inf, 1e9, -1e9, 2.9], np.float32)
    assert tk.cast(x, tp.i8).tolist() == [0, 127, -128, 127, -128, 2]
    np.testing.assert_array_equal(
        tk.cast(x, tp.f8e4m3).astype(np.float32), np.float32([np.nan, 448, -448, 448, -448, 3])
    )
    assert tk.cast(np.array([0, 2, -1], np.int32), bool).tolist() == [False, True, True]


# Dropout.


@settings(max_examples=examples(30), deadline=None)
@given(
    st.integers(-(1 << 63), (1 << 63) - 1), st.integers(0, 1 << 40), st.floats(0, 1, width=32),
    st.integers(0, 40), st.integers(1, 40),
)  # fmt: skip
def test_the_same_elements_are_dropped_however_they_lie(
    seed: int, offset: int, p: float, rows: int, columns: int
) -> None:
    x = np.ones((rows, columns), np.float32)
    kept = uniform(seed, offset + np.arange(x.size).reshape(x.shape)) >= np.float32(p)
    for laid in (x, np.asfortranarray(x), x.reshape(-1)):
        found = tk.dropout(laid, p, seed, offset)
        np.testing.assert_array_equal(found != 0, kept.reshape(laid.shape) & (p < 1))


def test_what_is_dropped_is_zero_whatever_it_was() -> None:
    x = np.full(1000, np.nan, np.float32)
    found = tk.dropout(x, 0.5, seed=3)
    assert 400 < np.isnan(found).sum() < 600
    assert (found[~np.isnan(found)] == 0).all()


def test_nothing_or_all_is_dropped_at_the_ends() -> None:
    x = RNG.standard_normal(100).astype(np.float32)
    np.testing.assert_array_equal(tk.dropout(x, 0, seed=1), x)
    np.testing.assert_array_equal(tk.dropout(x, 1, seed=1), np.zeros_like(x))


# Gradients.

GATED = RNG.standard_normal((5, 14))


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_the_gradient_of_gelu_is_that_of_its_differences(approximate: Any) -> None:
    x = RNG.standard_normal((5, 14)) * 2
    assert_gradient(
        lambda v: tk.gelu(v, approximate), lambda dy: tk.gelu_backward(dy, x, approximate), x, tolerance=1e-8
    )


def test_the_gradient_of_silu_mul_is_that_of_its_differences() -> None:
    assert_gradient(tk.silu_mul, lambda dy: tk.silu_mul_backward(dy, GATED), GATED, tolerance=1e-8)


def test_the_gradient_of_dropout_is_dropout() -> None:
    assert_gradient(lambda v: tk.dropout(v, 0.4, 7), lambda dy: tk.dropout(dy, 0.4, 7), GATED, tolerance=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_and_its_gradient_are_those_of_torch(approximate: Any) -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(40, 30, dtype=torch.float64, requires_grad=True)
    dy = torch.randn(40, 30, dtype=torch.float64)
    y = torch.nn.functional.gelu(x, approximate=approximate)
    (dx,) = torch.autograd.grad(y, x, dy)
    torch.testing.assert_close(tk.gelu(x.detach(), approximate), y.detach())
    torch.testing.assert_close(tk.gelu_backward(dy, x.detach(), approximate), dx)


@pytest.mark.slow
def test_silu_mul_and_its_gradient_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(3, 5, 14, dtype=torch.float64, requires_grad=True)
    dy = torch.randn(3, 5, 7, dtype=torch.float64)
    y = torch.nn.functional.silu(x[..., :7]) * x[..., 7:]
    (dx,) = torch.autograd.grad(y, x, dy)
    torch.testing.assert_close(tk.silu_mul(x.detach()), y.detach())
    torch.testing.assert_close(tk.silu_mul_backward(dy, x.detach()), dx)


# Arrays.


@pytest.mark.slow
def test_torch_tensors_go_in_and_come_out() -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(6, 4)
    for laid in (x, x.T, x[1:, :3], x.to(torch.bfloat16)):
        assert torch.equal(tk.add(laid, laid), laid + laid)
        found = tk.copy(laid)
        assert found.is_contiguous()
        assert torch.equal(found, laid)
    assert torch.equal(tk.transpose(x), x.T)
    assert torch.equal(tk.cast(x, tp.bf16), x.to(torch.bfloat16))
    heads = torch.randn(2, 5, 3, 4).permute(0, 2, 1, 3)
    assert torch.equal(tk.copy(heads), heads)
    assert tk.silu_mul(x).shape == (6, 2)


def test_tensors_go_in_and_come_out() -> None:
    held = RNG.standard_normal((6, 4)).astype(np.float32)
    x = tp.from_numpy(held)
    assert isinstance(tk.add(x, x), tp.Tensor)
    np.testing.assert_array_equal(tk.add(x.T, x.T).numpy(), 2 * held.T)
    np.testing.assert_array_equal(tk.transpose(x).numpy(), held.T)
    np.testing.assert_array_equal(tk.copy(x[1:, :3]).numpy(), held[1:, :3])
    assert tk.cast(x, tp.bf16).dtype == tp.bf16
    assert_close(tk.gelu(tk.silu_mul(x)).numpy(), tk.gelu(tk.silu_mul(held)).astype(np.float64))


CALLS: list[Callable[..., Any]] = [
    lambda x, **more: tk.add(x, x, **more), lambda x, **more: tk.mul(x, x, **more), tk.gelu, tk.copy,
    lambda x, **more: tk.gelu_backward(x, x, **more), lambda x, **more: tk.dropout(x, 0.5, 1, **more),
    lambda x, **more: tk.cast(x, tp.f32, **more), tk.transpose,
    lambda x, **more: tk.silu_mul_backward(x[:, :3], x, **more),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_out_is_written_and_returned(call: Callable[..., Any]) -> None:
    x = RNG.standard_normal((6, 6)).astype(np.float32)
    out = np.full_like(x, np.nan)
    assert call(x, out=out) is out
    np.testing.assert_array_equal(out, call(x))
    half = np.empty((6, 3), np.float32)
    assert tk.silu_mul(x, out=half) is half


# Refusals.

ONE, TWO = np.ones((3, 4), np.float32), np.ones((4, 3), np.float32)
CUBE = np.ones((3, 4, 5), np.float32)


@pytest.mark.parametrize(
    ("call", "code", "cure"),
    [
        (lambda: tk.add(ONE, TWO), "TP0604", "shape (3, 4)"),
        (lambda: tk.mul(ONE, ONE[0]), "TP0604", "shape (3, 4)"),
        (lambda: tk.add(ONE, ONE, out=TWO), "TP0604", "none: then one is made"),
        (lambda: tk.add(ONE, ONE.astype(np.float64)), "TP0603", ""),
        (lambda: tk.add(CUBE.swapaxes(1, 2), CUBE.swapaxes(1, 2)), "TP0602", "a copy"),
        (lambda: tk.add(ONE, ONE, out=ONE), "TP0610", ""),
        (lambda: tk.transpose(CUBE), "TP0602", "transpose one matrix"),
        (lambda: tk.silu_mul(np.ones((2, 5), np.float32)), "TP0604", "2 I elements"),
        (lambda: tk.silu_mul_backward(ONE, ONE), "TP0604", "shape (3, 2)"),
        (lambda: tk.cast(ONE, tp.bf16, out=TWO.T), "TP0603", "an array of bf16"),
        (lambda: tk.dropout(ONE, 1.5, seed=1), "TP0605", "from 0 to 1"),
        (lambda: tk.gelu(ONE, approximate="quick"), "TP0605", '"tanh"'),  # type: ignore[arg-type]
        (lambda: tk.gelu(np.ones(3, np.int32)), "TP0603", "tk.cast"),
    ],
)
def test_a_mistake_is_refused_with_its_cure(call: Callable[[], Any], code: str, cure: str) -> None:
    with pytest.raises(tp.TileproofError) as error:
        call()
    first = error.value.diagnostics[0]
    assert first.code.id == code
    assert cure in (first.help or "")


# Choices.


@pytest.mark.parametrize("tunable", TUNABLES, ids=[each.name for each in TUNABLES])
def test_a_space_has_a_good_number_of_different_choices(tunable: Tunable) -> None:
    for extent in (3, 5000):
        sizes = dict.fromkeys("ABMNI", extent)
        labels = [each.label for each in tunable.space(sizes, "sm_90")]
        assert 10 <= len(set(labels)) == len(labels) <= 40
        assert list(tunable.space(sizes, "cpu"))


def _given(tunable: Tunable) -> tuple[list[Any], int]:
    """Small arguments, outputs first, and how many outputs there are."""
    x = RNG.standard_normal((21, 2, 38)).astype(np.float32)
    by_name = {
        "add": [x.ravel()] * 2, "add_matrix": [x[:, 0]] * 2, "copy_blocks": [x[None]], "transpose": [x[:, 0]],
        "silu_mul": [x],
    }  # fmt: skip
    return by_name[tunable.name], 1


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["add", "add_matrix", "copy_blocks", "transpose", "silu_mul"])
def test_every_choice_gives_the_same(name: str) -> None:
    tunable = next(each for each in TUNABLES if each.name == name)
    inputs, _ = _given(tunable)
    shape = {"transpose": (38, 21), "silu_mul": (21, 38)}.get(name, inputs[0].shape)
    sizes = dict.fromkeys("ABMNI", 21)
    found = {}
    for target in ("cpu", "sm_90"):
        for choice in (tunable.default(sizes, target), *tunable.space(sizes, target)):
            constants = tuple(choice.constants.items())
            if constants not in found:
                out = np.empty(shape, np.float32)
                with tp.backend("interpreter"):
                    choice(out, *inputs)
                found[constants] = out
    first, *others = found.values()
    for other in others:
        np.testing.assert_array_equal(first, other)
