"""Layers of 8-bit weights for one vector against float64: exactly as they round the vector, and how far that is off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
from library_cases.gemv import normed
from library_cases.int8_gemv import FUNCTIONS, arguments, cases, norm_reference, weights_of
from support.library import DTYPES, Case, assert_close, assert_right, each_choice
from tileproof.kernels import arrays
from tileproof.kernels.int8_gemv import TUNABLES, int8_matvec_add, norm_int8_matvec, norm_int8_matvec_silu
from tileproof.kernels.quantized_linear import int8_linear, norm_quantize_int8, quantize_int8
from tileproof.tuning import Tunable

CASES = cases()


@pytest.mark.sweep(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_on_the_cpu(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.parametrize("case", [case for case in CASES if case.on_interpreter][::2], ids=lambda case: case.name)
def test_on_the_interpreter(case: Case) -> None:
    assert_right(case, "interpreter")


@pytest.mark.parametrize("case", [case for case in CASES if case.on_gpu], ids=lambda case: case.name)
def test_what_is_chosen_for_a_gpu(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    assert_right(case, "interpreter")


@pytest.mark.slow
@pytest.mark.parametrize("tunable", TUNABLES[:3], ids=lambda tunable: tunable.name)
def test_every_choice_gives_the_same(tunable: Tunable) -> None:
    args = arguments(tunable.name, 70, 192)
    function, reference = FUNCTIONS[tunable.name]
    found = set()
    for choice in each_choice(tunable, "f32", {tunable.exact[0]: 70, "C": 3, "S": 64}):
        found.add(choice.kernel)
        assert_close(function(*args), reference(*args))
    assert found == {*tunable.kernels}


# How a vector is rounded.


def rounded(v: Any, group: int) -> Any:
    """A vector as integers times scales, all in f32, and then what they stand for."""
    groups = v.astype(np.float32).reshape(-1, group)
    top = np.abs(groups).max(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        units = np.where(top > 0, np.rint(groups * (np.float32(127) / top)), 0)
    return (units.astype(np.float64) * (top / np.float32(127))).reshape(-1)


def layer(n: int, k: int, dtype: str = "bf16", seed: int = 0, spread: float = 1) -> list[Any]:
    """Weights quantized from normal numbers, and a vector and its norm's weights as a model has them.

    `spread` makes some elements much greater than others: by 1, thirty times the median.
    """
    rng = np.random.default_rng(seed)
    w, scale = quantize_int8((rng.standard_normal((n, k)) * 0.05).astype(np.float32))
    x = (rng.standard_normal(k) * np.exp(spread * rng.standard_normal(k))).astype(DTYPES[dtype])
    return [w, scale, x, (1 + 0.3 * rng.standard_normal(k)).astype(np.float32)]


@pytest.mark.parametrize(("n", "k"), [(960, 576), (128, 3072)])
def test_a_vector_is_rounded_group_by_group(n: int, k: int) -> None:
    w, scale, x, g = layer(n, k)
    root = np.sqrt((x.astype(np.float64) ** 2).mean() + 1e-6)
    expected = weights_of(w, scale) @ (rounded(x.astype(np.float32) * g, 64) / root)
    y = norm_int8_matvec(w, scale, x, g, out=np.empty(n, np.float32))
    assert_close(y, expected, 2e-6)
    residual = np.random.default_rng(1).standard_normal(n).astype(DTYPES["bf16"])
    z = int8_matvec_add(w, scale, x, residual, out=np.empty(n, np.float32))
    assert_close(z, residual.astype(np.float64) + weights_of(w, scale) @ rounded(x, 64), 2e-6)


@pytest.mark.parametrize(("spread", "least", "most"), [(0, 0.004, 0.007), (1, 0.007, 0.017)])
def test_to_round_a_vector_costs_about_one_in_a_hundred(spread: float, least: float, most: float) -> None:
    w, scale, x, g = layer(960, 576, spread=spread)
    exact = norm_reference(w, scale, x, g)
    y = norm_int8_matvec(w, scale, x, g, out=np.empty(960, np.float32))
    assert least < np.linalg.norm(y - exact) / np.linalg.norm(exact) < most


def test_one_row_and_several_have_the_same_bits() -> None:
    w, scale, x, g = layer(96, 576)
    one = norm_int8_matvec(w, scale, x, g, out=np.empty(96, np.float32))
    for rows in (1, 3, 16):
        pair = norm_quantize_int8(np.tile(x, (rows, 1)), g)
        assert (int8_linear(pair, w, scale) == one).all()
    many = int8_linear(norm_quantize_int8(np.tile(x, (40, 1)), g), w, scale)
    assert_close(many, np.tile(one.astype(np.float64), (40, 1)), 2e-6)


def test_a_normed_row_is_rounded_to_half_a_scale() -> None:
    x = np.stack([layer(1, 576, seed=seed)[2] for seed in range(5)])
    g = layer(1, 576)[3]
    q, scale = norm_quantize_int8(x, g)
    assert (np.abs(q.astype(int)).reshape(5, 9, 64).max(axis=2) == 127).all()
    steps = np.repeat(scale.astype(np.float64), 64, axis=1)
    wanted = np.stack([normed(row, g) for row in x])
    assert (np.abs(q * steps - wanted) <= steps * 0.5001).all()


# NaN, infinity and the ends of integers.


def test_nan_and_infinity_make_nan() -> None:
    for bad in (np.nan, np.inf, -np.inf):
        w, scale, x, g = layer(32, 128, "f32")
        x[70] = bad
        assert np.isnan(norm_int8_matvec(w, scale, x, g)).all()
        assert np.isnan(norm_int8_matvec_silu(w, scale, x, g)).all()
        assert np.isnan(int8_matvec_add(w, scale, x, np.zeros(32, np.float32))).all()
    w, scale, x, g = layer(32, 128, "f32")
    scale[3, 1] = np.nan
    assert np.isnan(norm_int8_matvec(w, scale, x, g)).tolist() == [row == 3 for row in range(32)]


def test_zeros_and_the_least_numbers_stay_finite() -> None:
    w, scale, _, g = layer(32, 128, "f32")
    for number in (0.0, 1e-45, 1e-38, 1e-30):
        y = int8_matvec_add(w, scale, np.full(128, number, np.float32), np.ones(32, np.float32))
        assert (y == 1).all()
    assert (norm_int8_matvec(w, scale, np.zeros(128, np.float32), g) == 0).all()


def test_sums_of_the_greatest_products_do_not_overflow() -> None:
    w, scale = np.full((5, 4096), -128, np.int8), np.ones((5, 1), np.float32)
    y = int8_matvec_add(w, scale, np.full(4096, -127.0, np.float32), np.zeros(5, np.float32))
    assert (y == 128 * 127 * 4096).all()


# Calls.


def test_a_layer_is_recorded_and_replayed() -> None:
    w, scale, x, g = (tp.from_numpy(each) for each in layer(64, 128))
    wide, narrow = tp.empty((64,), tp.f32), tp.empty((32,), tp.bf16)
    w2, scale2 = map(tp.from_numpy, layer(128, 32 * 2)[:2])
    back = tp.empty((128,), tp.bf16)
    with tp.Graph() as graph:
        norm_int8_matvec(w, scale, x, g, out=wide)
        norm_int8_matvec_silu(w, scale, x, g, out=narrow)
        int8_matvec_add(w2, scale2, wide, x, out=back)
    graph.replay()
    expected = norm_int8_matvec(*layer(64, 128), out=np.empty(64, np.float32))
    assert (wide.numpy() == expected).all()
    assert (narrow.numpy() == norm_int8_matvec_silu(*layer(64, 128))).all()
    assert (back.numpy() == int8_matvec_add(*layer(128, 64)[:2], expected, layer(64, 128)[2],
                                            out=np.empty(128, DTYPES["bf16"]))).all()  # fmt: skip


def test_refusals_name_the_cure() -> None:
    w, scale, x, g = layer(5, 128, "f32")
    refused: list[tuple[Any, str]] = [
        (lambda: norm_int8_matvec_silu(w, scale, x, g), "the rows of gate first"),
        (lambda: norm_int8_matvec(w[:, :100].copy(), scale, x[:100], g[:100]), "a last group that is short"),
        (lambda: norm_int8_matvec(w[:, :0], scale[:, :0], x[:0], g[:0]), "0 columns are not whole groups"),
        (lambda: norm_int8_matvec(w, scale, x[:64], g), "cannot be seen as (2, 64)"),
        (lambda: norm_int8_matvec(w[0], scale, x, g), "pass a matrix"),
        (lambda: norm_int8_matvec(w, scale, x, g, out=np.empty(4, np.float32)), "pass an array of shape (5,)"),
        (lambda: int8_matvec_add(w, scale, x, x), "N"),
        (lambda: norm_quantize_int8(x[None, :100], g[:100]), "a last group that is short"),
    ]
    for call, words in refused:
        with pytest.raises(tp.TileproofError, match=r"TP\d+") as raised:
            call()
        assert words in str(raised.value), str(raised.value)
