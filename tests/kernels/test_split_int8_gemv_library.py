"""Products of 8-bit weights and a vector in parts: as exact as the whole vector, and what the parts are."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tileproof as tp
from library_cases.gemv import normed
from library_cases.split_int8_gemv import CALLS, TOLERANCE, arguments, cases, together
from support.library import Case, assert_close, assert_right, each_choice
from tileproof.diagnostics.errors import LaunchError
from tileproof.kernels import arrays
from tileproof.kernels.int8_gemv import (
    TUNABLES,
    add_norm_int8_parts,
    int8_parts,
    norm_int8_parts,
    parts_matvec,
    parts_matvec_add,
    parts_matvec_silu,
    parts_silu_parts,
)
from tileproof.kernels.quantized_linear import quantize_int8
from tileproof.tuning import Tunable

CASES = cases()


@pytest.mark.sweep(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_on_the_cpu(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.parametrize("case", [case for case in CASES if case.on_interpreter][::2], ids=lambda case: case.name)
def test_on_the_interpreter(case: Case) -> None:
    assert_right(case, "interpreter")


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.on_gpu and case.on_interpreter][:4], ids=lambda case: case.name
)
def test_what_is_chosen_for_a_gpu(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    assert_right(case, "interpreter")


@pytest.mark.slow
@pytest.mark.parametrize("tunable", TUNABLES[3:], ids=lambda tunable: tunable.name)
def test_every_choice_gives_the_same(tunable: Tunable) -> None:
    rows = 512 if tunable.name == "parts_silu_parts" else 96
    args = arguments(tunable.name, rows, 1024)
    function, reference = CALLS[tunable.name]
    sizes = {tunable.exact[0]: 8 if tunable.name == "parts_silu_parts" else rows, "P": 2}
    sizes |= {"SP": 1} if "SP" in tunable.exact else {}
    found = set()
    for choice in each_choice(tunable, "f32", sizes):
        found.add(choice.kernel)
        assert_close(function(*args), reference(*args), TOLERANCE)
    assert found == {*tunable.kernels}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
def test_any_number_of_pieces_adds_up(count: int) -> None:
    rng = np.random.default_rng(count)
    x, g = rng.standard_normal(1024).astype(np.float32), rng.standard_normal(1024).astype(np.float32)
    pieces = rng.standard_normal((count, 1024)).astype(np.float32)
    *parts, total = add_norm_int8_parts(x, pieces, g)
    wanted = x + pieces.sum(axis=0)
    assert_close(total, wanted, TOLERANCE)
    assert_close(together(tuple(parts)), wanted / np.sqrt((wanted**2).mean() + 1e-6) * g, TOLERANCE)


# What the parts are.


@pytest.mark.parametrize("spread", [0.0, 1.0, 3.0])
def test_a_vector_is_its_parts_up_to_a_little_of_the_largest_of_its_group(spread: float) -> None:
    rng = np.random.default_rng(3)
    x = (rng.standard_normal(1536) * np.exp(spread * rng.standard_normal(1536))).astype(np.float32)
    q, grain = int8_parts(x)
    assert (q.shape, grain.shape) == ((16, 1536), (24, 2))
    top = np.repeat(np.abs(x.reshape(-1, 64)).max(axis=1), 64)
    assert (np.abs(together((q, grain)) - x) <= top / 127 / 254 * 0.51).all()


def test_the_columns_of_a_group_are_zero_outside_of_it() -> None:
    q, _ = int8_parts(np.random.default_rng(4).standard_normal(1024).astype(np.float32))
    rows, places = q.reshape(8, 2, 2, 8, 64), np.arange(8)
    assert (np.abs(rows[places, 0, :, places]).max(axis=2) == 127).all()
    rows[places, :, :, places] = 0
    assert (rows == 0).all()


def test_a_normed_vector_is_taken_apart_as_another() -> None:
    rng = np.random.default_rng(5)
    x, g = rng.standard_normal(2560).astype(np.float32), rng.random(2560).astype(np.float32)
    assert_close(together(norm_int8_parts(x, g)), normed(x, g), 2e-5)


def test_parts_lose_less_than_bf16() -> None:
    w, scale, x = arguments("parts_matvec", 300, 2560, "f32")
    exact = CALLS["parts_matvec"][1](w, scale, x)
    parts = np.linalg.norm(parts_matvec(w, scale, int8_parts(x)) - exact)
    rounded = np.linalg.norm(CALLS["parts_matvec"][1](w, scale, x.astype(ml_dtypes.bfloat16)) - exact)
    assert parts < rounded / 10


# NaN, infinity and the ends of numbers.


def test_nan_and_infinity_make_nan() -> None:
    w, scale, x = arguments("parts_matvec", 64, 1024, "f32")
    for bad in (np.nan, np.inf, -np.inf):
        broken = x.copy()
        broken[700] = bad
        assert np.isnan(parts_matvec(w, scale, int8_parts(broken))).all()
        assert np.isnan(parts_matvec(w, scale, norm_int8_parts(broken, np.ones_like(x)))).all()
    scale[3, 1] = np.nan
    assert np.isnan(parts_matvec(w, scale, int8_parts(x))).tolist() == [row == 3 for row in range(64)]


def test_zeros_and_the_least_numbers_stay_finite() -> None:
    w, scale, _ = arguments("parts_matvec", 64, 512, "f32")
    for number in (0.0, 1e-45, 1e-38, 1e-30):
        parts = int8_parts(np.full(512, number, np.float32))
        assert (parts_matvec_add(w, scale, parts, np.ones(64, np.float32)) == 1).all()


def test_sums_of_the_greatest_products_do_not_overflow() -> None:
    w, scale = np.full((64, 4096), -128, np.int8), np.ones((64, 64), np.float32)
    assert (parts_matvec(w, scale, int8_parts(np.full(4096, -127.0, np.float32))) == 128 * 127 * 4096).all()


# Memory, graphs and refusals.


def test_all_are_recorded_in_a_graph() -> None:
    rng = np.random.default_rng(6)
    w, scale = quantize_int8((rng.standard_normal((1024, 512)) * 0.05).astype(np.float32))
    w2, scale2 = quantize_int8((rng.standard_normal((512, 512)) * 0.05).astype(np.float32))
    x, g = tp.from_numpy(rng.standard_normal(512).astype(np.float32)), np.ones(512, np.float32)
    pairs = [(tp.empty((16, 512), tp.i8), tp.empty((8, 2), tp.f32)) for _ in range(2)]
    back = tp.empty((512,), tp.f32)
    with tp.Graph() as graph:
        norm_int8_parts(x, g, out=pairs[0])
        parts_silu_parts(w, scale, pairs[0], out=pairs[1])
        parts_matvec_add(w2, scale2, pairs[1], x, out=back)
    graph.replay()
    plain = norm_int8_parts(x.numpy(), g)
    inner = parts_matvec_silu(w, scale, plain)
    expected = parts_matvec_add(w2, scale2, int8_parts(inner), x.numpy())
    assert_close(back.numpy(), expected.astype(np.float64), 2e-5)


def test_mistakes_are_refused_with_a_cure() -> None:
    w, scale, x = arguments("parts_matvec", 65, 512, "f32")
    parts = int8_parts(x)
    for call, words in (
        (lambda: int8_parts(x[:500]), "500 columns are not whole blocks of 512"),
        (lambda: norm_int8_parts(x[:0], x[:0]), "0 columns are not whole blocks"),
        (lambda: parts_matvec(w[:, :64].copy(), scale[:, :1].copy(), parts), "64 columns are not whole blocks"),
        (lambda: parts_matvec(w, scale[:, :4].copy(), parts), "cannot be seen as (65, 1, 8)"),
        (lambda: parts_matvec_silu(w, scale, parts), "the rows of gate first"),
        (lambda: parts_silu_parts(w[:64], scale[:64], parts), "32 columns are not whole blocks"),
        (lambda: parts_matvec(w, scale, parts, out=np.empty(4, np.float32)), "pass an array of shape (65,)"),
        (lambda: int8_parts(x, out=(np.empty((16, 64), np.int8), parts[1])), "pass an array of shape (16, 512)"),
    ):
        with pytest.raises(LaunchError) as caught:
            call()
        assert words in str(caught.value)
