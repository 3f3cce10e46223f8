"""Layers with quantized weights against float64, and how far quantized numbers are from what they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from library_cases.quantized_linear import cases, from_fp8, from_int4, from_int8, layer, weights
from support.library import DTYPES, Case, assert_close, assert_right
from support.tiers import examples
from tileproof.kernels import arrays
from tileproof.kernels.quantized_linear import (
    GROUPS,
    TUNABLES,
    fp8_linear,
    group_of,
    int4_linear,
    int8_linear,
    quantize_fp8,
    quantize_int4,
    quantize_int8,
)
from tileproof.tuning import Choice, Tunable

CASES = cases()


@pytest.mark.sweep(8)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_on_the_cpu(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.sweep(6)
@pytest.mark.parametrize("case", [case for case in CASES if case.on_interpreter][::3], ids=lambda case: case.name)
def test_on_the_interpreter(case: Case) -> None:
    assert_right(case, "interpreter")


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    "case", [case for case in CASES if case.on_gpu and case.on_interpreter], ids=lambda case: case.name
)
def test_what_is_chosen_for_a_gpu(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    assert_right(case, "interpreter")


# How far off.


@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_what_comes_back_is_off_by_half_a_scale(data: st.DataObject) -> None:
    n, k = (data.draw(st.integers(1, 40), label=each) for each in "nk")
    dtype, group = data.draw(st.sampled_from(["f32", "f16", "bf16"])), data.draw(st.sampled_from(GROUPS))
    size = data.draw(st.sampled_from([1e-3, 1.0, 1e3]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    w = (rng.standard_normal((n, k)) * size).astype(DTYPES[dtype])
    wide = w.astype(np.float64)
    with tp.backend("interpreter"):
        q, scale = quantize_int8(w, group)
        step = np.repeat(scale.astype(np.float64), group, axis=1)[:, :k]
        assert (np.abs(from_int8(q, scale, group) - wide) <= step * 0.50001).all()
        assert np.abs(q.astype(int)).max() == 127
        q, scale = quantize_int4(w, group)
        step = np.repeat(scale.astype(np.float64), group, axis=1)[:, :k]
        assert (np.abs(from_int4(q, scale, k) - wide) <= step * 0.50001).all()
        q, scale = quantize_fp8(w)
        allowed = np.maximum(np.abs(wide) / 16, scale.astype(np.float64)[:, None] * 2.0**-10)
        assert (np.abs(from_fp8(q, scale) - wide) <= allowed * 1.0001).all()


def test_quantised_numbers_are_what_they_were() -> None:
    rng = np.random.default_rng(5)
    q = rng.integers(-127, 128, (6, 128)).astype(np.int8)
    q[:, ::64] = 127
    found, scale = quantize_int8(q.astype(np.float32) * np.float32(0.25), 64)
    assert (found == q).all()
    assert (scale == 0.25).all()


def test_scales_may_be_narrow() -> None:
    w = weights(8, 128)
    for found, whole in (
        (quantize_int8(w, 64, tp.f16), lambda q, scale: from_int8(q, scale, 64)),
        (quantize_int8(w, None, tp.bf16), lambda q, scale: from_int8(q, scale, None)),
        (quantize_int4(w, 64, tp.bf16), lambda q, scale: from_int4(q, scale, 128)),
        (quantize_fp8(w, tp.f16), from_fp8),
    ):
        q, scale = found
        assert scale.dtype.itemsize == 2
        assert np.abs(whole(q, scale) - w).max() <= 0.5 * np.abs(w).max() / (7 if q.dtype == np.uint8 else 14)


def test_a_layer_is_off_by_what_its_weights_are_off() -> None:
    """The error of a layer with random weights is about that of its weights, as a part of the result."""
    w, x = weights(64, 512), weights(16, 512)
    exact = layer(x, w.astype(np.float64))

    def off(y: Any) -> float:
        return float(np.linalg.norm(y - exact) / np.linalg.norm(exact))

    assert off(int8_linear(x, *quantize_int8(w, 64))) < 0.008
    assert off(int8_linear(x, *quantize_int8(w, 64), activations="int8")) < 0.012
    assert off(int8_linear(x, *quantize_int8(w, None), activations="int8")) < 0.02
    assert off(fp8_linear(x, *quantize_fp8(w))) < 0.035
    assert off(int4_linear(x, *quantize_int4(w, 32))) < 0.13


# Choices.

Launch = tuple[list[Any], Any]
SIZES = {
    "int8_linear": {"N": 70, "K": 200, "G": 64},
    "int8_linear_vector": {"N": 70, "C": 5, "S": 64},
    "int8_linear_integer": {"N": 70, "K": 192, "G": 64},
    "int8_linear_integer_rows": {"N": 70, "K": 200},
    "fp8_linear": {"N": 70, "K": 200},
    "int4_linear": {"N": 70, "C": 5, "S": 32},
    "int4_linear_zero": {"N": 70, "C": 5, "S": 32},
}


def launched(name: str, m: int) -> Launch:
    """Arguments of the kernels of a tunable, and what the first should hold."""
    sizes = SIZES[name]
    n, k = sizes["N"], sizes.get("K", 320)
    x, w = weights(m, k), weights(n, k)
    y = np.empty((m, n), np.float32)
    match name:
        case "int8_linear" | "int8_linear_vector":
            q, scale = quantize_int8(w, 64)
            expected = layer(x, from_int8(q, scale, 64))
            if name == "int8_linear":
                return [y, x, q, scale], expected
            return [y, x.reshape(m, 5, 64), q.reshape(n, 5, 64), scale], expected
        case "int8_linear_integer":
            (q, scale), (units, grain) = quantize_int8(w, 64), quantize_int8(x, 64)
            return [y, units, grain, q, scale], layer(from_int8(units, grain, 64), from_int8(q, scale, 64))
        case "int8_linear_integer_rows":
            (q, scale), (units, grain) = quantize_int8(w, None), quantize_int8(x, None)
            expected = layer(from_int8(units, grain, None), from_int8(q, scale, None))
            return [y, units, grain[:, 0], q, scale[:, 0]], expected
        case "fp8_linear":
            q, scale = quantize_fp8(w)
            return [y, x, q, scale], layer(x, from_fp8(q, scale))
    q, scale = quantize_int4(w, 64)
    zero = np.random.default_rng(3).integers(0, 16, scale.shape).astype(np.uint8)
    halves = x.reshape(m, 5, 2, 32)
    if name == "int4_linear":
        return [y, halves, q, scale], layer(x, from_int4(q, scale, k))
    return [y, halves, q, scale, zero], layer(x, from_int4(q, scale, k, zero))


@pytest.mark.slow
@pytest.mark.parametrize("tunable", TUNABLES, ids=lambda tunable: tunable.name)
def test_every_choice_gives_the_same(tunable: Tunable) -> None:
    found = set()
    for m in (1, 20) if tunable.name != "int8_linear_vector" else (1,):
        args, expected = launched(tunable.name, m)
        for target in ("cpu", "sm_90"):
            sizes = {"M": m, **SIZES[tunable.name]}
            space = list(tunable.space(sizes, target))
            assert len({each.label for each in space}) == len(space) >= 4
            for choice in {(each.kernel, *each.constants.items()): each for each in space}.values():
                found.add(choice.kernel)
                args[0][...] = np.nan
                with tp.backend("interpreter"):
                    choice.kernel(*choice.arguments(args), **choice.constants)
                assert_close(args[0], expected)
    assert found == {*tunable.kernels}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("tunable", TUNABLES, ids=lambda tunable: tunable.name)
def test_every_kernel_runs_on_the_cpu(tunable: Tunable) -> None:
    for kernel in tunable.kernels:
        args, expected = launched(tunable.name, 3)
        Choice(kernel)(*args)
        assert_close(args[0], expected)


def test_the_group_follows_from_the_number_of_scales() -> None:
    for columns in (1, 16, 17, 100, 128, 192, 2560, 9728):
        for group in GROUPS:
            found = group_of(columns, -(-columns // group))
            assert found == group or columns <= group
    assert group_of(2560, 1) is None
    with pytest.raises(tp.LaunchError, match="no known group"):
        group_of(2560, 7)


# NaN, infinity and the ends of integers.


def test_a_group_with_nan_or_infinity_comes_back_as_nan() -> None:
    w = weights(4, 128)
    w[1, 3], w[2, 70], w[3, 5] = np.nan, np.inf, -np.inf
    hit = np.zeros((4, 128), bool)
    hit[1, :64] = hit[2, 64:] = hit[3, :64] = True
    with np.errstate(invalid="ignore"):
        assert (np.isnan(from_int8(*quantize_int8(w, 64), 64)) == hit).all()
        assert (np.isnan(from_int4(*quantize_int4(w, 64), 128)) == hit).all()
        assert (np.isnan(from_int8(*quantize_int8(w, None), None)).any(axis=1) == hit.any(axis=1)).all()
        assert (np.isnan(from_fp8(*quantize_fp8(w))).any(axis=1) == hit.any(axis=1)).all()


def test_nan_and_infinity_of_x_spread_along_its_row() -> None:
    x, w = weights(3, 128), weights(5, 128)
    x[1, 7], x[2, 9] = np.nan, np.inf
    for activations in ("float", "int8"):
        for group in (64, None):
            y = int8_linear(x, *quantize_int8(w, group), activations=activations)  # type: ignore[arg-type]
            assert np.isfinite(y).all(axis=1).tolist() == [True, False, False]
            assert np.isnan(y[1]).all()
    for y in (fp8_linear(x, *quantize_fp8(w)), int4_linear(x, *quantize_int4(w, 64))):
        assert np.isfinite(y).all(axis=1).tolist() == [True, False, False]
        assert np.isnan(y[1]).all()


def test_zeros_stay_zeros() -> None:
    w = np.zeros((3, 100), np.float32)
    for q, scale in (quantize_int8(w, 64), quantize_int8(w, None), quantize_fp8(w), quantize_int4(w, 32)):
        assert (scale == 0).all()
        assert (q.astype(np.float32) == (136 if q.dtype == np.uint8 else 0)).all()


def test_the_least_weights_do_not_overflow() -> None:
    """Weights of -128 are no result of quantising, and right all the same."""
    w, x = np.full((9, 256), -128, np.int8), np.full((2, 256), -1.0, np.float32)
    for group, scale in ((64, np.ones((9, 4), np.float32)), (None, np.ones((9, 1), np.float32))):
        for rows in (x, x[:1]):
            y = int8_linear(rows, w, scale, activations="int8")
            assert_close(y, layer(rows, from_int8(w, scale, group)), 1e-5)


# Calls.


def calls(x: Any, w: Any) -> list[tuple[Any, list[Any], Any]]:
    q, scale = quantize_int8(w, 64)
    p, steps = quantize_fp8(w)
    r, fine = quantize_int4(w, 32)
    return [
        (int8_linear, [x, q, scale], layer(x, from_int8(q, scale, 64))),
        (fp8_linear, [x, p, steps], layer(x, from_fp8(p, steps))),
        (int4_linear, [x, r, fine], layer(x, from_int4(r, fine, x.shape[-1]))),
    ]


def test_two_calls_give_the_same_bits() -> None:
    for function, args, _ in calls(weights(20, 100), weights(33, 100)):
        assert function(*args).tobytes() == function(*args).tobytes()
    for function in (quantize_int8, quantize_fp8, quantize_int4):
        one, other = function(weights(20, 100)), function(weights(20, 100))
        assert all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("shape", [(128,), (1, 128), (2, 3, 128), (0, 128)])
def test_x_has_any_axes_before_its_last(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    for function, args, expected in calls(x, weights(33, 128)):
        assert_close(function(*args), expected)
        out = np.empty((*shape[:-1], 33), np.float32)
        assert function(*args, out=out) is out
        assert_close(out, expected)


def test_integers_of_x_go_to_a_workspace() -> None:
    x, (q, scale) = weights(3, 128), quantize_int8(weights(5, 128), 64)
    space = np.empty((3, 128), np.int8), np.empty((3, 2), np.float32)
    y = int8_linear(x, q, scale, activations="int8", workspace=space)
    expected = quantize_int8(x, 64)
    assert (space[0] == expected[0]).all()
    assert (space[1] == expected[1]).all()
    assert y.tobytes() == int8_linear(x, q, scale, activations="int8").tobytes()


def test_a_layer_is_recorded_and_replayed() -> None:
    x, w = tp.from_numpy(weights(1, 128)), weights(5, 128)
    q, scale = map(tp.from_numpy, quantize_int8(w, 64))
    y, space = tp.empty((1, 5)), (tp.empty((1, 128), tp.i8), tp.empty((1, 2)))
    with tp.Graph() as graph:
        int8_linear(x, q, scale, out=y, activations="int8", workspace=space)
    graph.replay()
    assert_close(y.numpy(), layer(x.numpy(), from_int8(q.numpy(), scale.numpy(), 64)), 0.02)


def test_tensors_of_our_own() -> None:
    for function, args, expected in calls(weights(3, 128), weights(33, 128)):
        y = function(*map(tp.from_numpy, args))
        assert isinstance(y, tp.Tensor)
        assert_close(y.numpy(), expected)
    q, scale = quantize_int4(tp.from_numpy(weights(3, 128)), 32)
    assert q.dtype is tp.u8
    assert isinstance(scale, tp.Tensor)


@pytest.mark.slow
def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x, w = torch.from_numpy(weights(3, 128)), torch.from_numpy(weights(33, 128)).bfloat16()
    q, scale = quantize_int8(w, 64)
    assert (q.dtype, scale.dtype) == (torch.int8, torch.float32)
    assert_close(int8_linear(x, q, scale).numpy(), layer(x.numpy(), from_int8(q.numpy(), scale.numpy(), 64)))
    p, steps = quantize_fp8(w)
    assert p.dtype == torch.float8_e4m3fn
    expected = x.double() @ (p.double() * steps.double()[:, None]).T
    assert_close(fp8_linear(x, p, steps).numpy(), expected.numpy())
    r, fine = quantize_int4(w, 32)
    assert_close(int4_linear(x, r, fine).numpy(), layer(x.numpy(), from_int4(r.numpy(), fine.numpy(), 128)))


def test_refusals_name_the_cure() -> None:
    x, w = weights(3, 128), weights(5, 128)
    q, scale = quantize_int8(w, 64)
    r, fine = quantize_int4(w, 32)
    refused: list[tuple[Any, str]] = [
        (lambda: int8_linear(x[:, 1:], q, scale), "pass x with a last axis of 128"),
        (lambda: int8_linear(x, q[0], scale), "pass a matrix with a row for each output"),
        (lambda: int8_linear(x, q, np.ones((5, 7), np.float32)), "quantize with a group of 16"),
        (lambda: int8_linear(x, q, scale[1:]), "N"),
        (lambda: int8_linear(x, w, scale), "i8"),
        (lambda: int8_linear(x, q, scale, activations="half"), 'pass activations="int8"'),  # type: ignore[arg-type]
        (lambda: int8_linear(x, q, scale, out=np.empty((3, 4), np.float32)), "pass an array of shape (3, 5)"),
        (lambda: int4_linear(x[:, :60], r, fine), "pass x with 128 columns"),
        (lambda: fp8_linear(x, *quantize_fp8(weights(5, 100))), "pass x with a last axis of 100"),
        (lambda: quantize_int8(w, 48), "choose 16, 32, 64, 128 or 256"),
        (lambda: quantize_int4(w[0]), "pass a matrix"),
    ]
    for call, words in refused:
        with pytest.raises(tp.TileproofError, match=r"TP\d+") as raised:
            call()
        assert words in str(raised.value), str(raised.value)
