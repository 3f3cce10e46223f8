"""`matvec`, `matvec_add`, `norm_matvec` and `norm_matvec_silu`, against float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from library_cases.gemv import FUNCTIONS, arguments, cases, norm_reference
from support.library import FLOATS, LAYOUTS, Case, assert_close, assert_right
from support.tiers import examples
from tileproof.kernels import arrays
from tileproof.kernels.gemv import MATVEC, TUNABLES, matvec, matvec_add, norm_matvec, norm_matvec_silu
from tileproof.tuning import Tunable

CASES = cases()
every_function = pytest.mark.parametrize("name", FUNCTIONS)


@pytest.mark.sweep(12)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_on_the_cpu(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.sweep(4)
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


@pytest.mark.sweep(2)
@every_function
@given(data=st.data())
@settings(max_examples=examples(25), deadline=None)
def test_any_sizes_types_and_layouts(name: str, data: st.DataObject) -> None:
    n, k = (data.draw(st.integers(0, 60), label=each) for each in "nk")
    dtype, of = (data.draw(st.sampled_from(FLOATS), label=each) for each in ("x", "w"))
    layout = data.draw(st.sampled_from(LAYOUTS), label="layout")
    args = arguments(name, n, k, dtype, layout, of=of, seed=data.draw(st.integers(0, 99)))
    function, reference = FUNCTIONS[name]
    with tp.backend("interpreter"):
        # The results of cancelled sums are small beside what was added.
        assert_close(function(*args), reference(*args), 2e-2 if dtype == "bf16" else None)


# Choices.


def launched(tunable: Tunable, n: int, k: int, dtype: str) -> tuple[list[Any], Any]:
    """Arguments of the kernels of a tunable, and what the first should hold."""
    args = arguments(tunable.name, n, k, dtype)
    expected = FUNCTIONS[tunable.name][1](*args)
    if tunable.name.endswith("silu"):
        args[0] = args[0].reshape(2, n, k)
    return [np.empty(n, args[1].dtype), *args, *([1e-6] if "norm" in tunable.name else [])], expected


@pytest.mark.sweep(2)
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("tunable", TUNABLES, ids=lambda tunable: tunable.name)
def test_every_choice_gives_the_same(tunable: Tunable, dtype: str) -> None:
    n, k = 37, 2100
    args, expected = launched(tunable, n, k, dtype)
    for target in ("cpu", "sm_90"):
        space = list(tunable.space({tunable.exact[0]: n, "K": k}, target))
        assert len({each.label for each in space}) == len(space) >= 8
        tried = {(each.kernel.name, *each.constants.items()): each for each in space}
        for choice in tried.values():
            args[0][...] = np.nan
            with tp.backend("interpreter"):
                choice.kernel(*args, **choice.constants)
            assert_close(args[0], expected)


@pytest.mark.parametrize("tunable", TUNABLES, ids=lambda tunable: tunable.name)
def test_every_kernel_is_tried(tunable: Tunable) -> None:
    sizes = {tunable.exact[0]: 2560, "K": 4096}
    assert {each.kernel for target in ("cpu", "sm_90") for each in tunable.space(sizes, target)} == {*tunable.kernels}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("tunable", TUNABLES, ids=lambda tunable: tunable.name)
def test_every_kernel_runs_on_the_cpu(tunable: Tunable) -> None:
    args, expected = launched(tunable, 37, 600, "bf16")
    for kernel in tunable.kernels:
        args[0][...] = np.nan
        kernel(*args)
        assert_close(args[0], expected)


def test_the_sizes_decide() -> None:
    def label(n: int, k: int, target: str = "sm_90") -> str:
        return MATVEC.default({"N": n, "K": k}, target).label

    assert label(6144, 2560) == "matvec_rows_kernel BN=2 occupancy=8 tma=False"
    assert label(5120, 8192) == "matvec_rows_kernel BN=1 occupancy=8 tma=False"
    assert label(5120, 25600) == "matvec_kernel BN=2 BK=1024 occupancy=8 tma=False"
    assert label(4096, 4096, "cpu") == "matvec_rows_kernel BN=256"
    assert label(576, 576, "cpu") == "matvec_rows_kernel BN=72"
    assert label(4096, 100, "cpu") == "matvec_kernel BN=16 BK=128"


# NaN and infinity.


def test_nan_and_infinity_stay_in_their_row_of_weights() -> None:
    w, x = arguments("matvec", 6, 40)
    w[1, 3], w[2, 4], w[3, 5], w[4, :2] = np.nan, np.inf, -np.inf, (np.inf, -np.inf)
    x[:8] = 1
    y = matvec(w, x)
    assert np.isnan(y).tolist() == [False, True, False, False, True, False]
    assert y[2:4].tolist() == [np.inf, -np.inf]
    x[9] = np.nan
    assert np.isnan(matvec(w, x)).all()


def test_what_a_norm_makes_of_infinity_is_nan() -> None:
    w, x, g = arguments("norm_matvec", 6, 40)
    x[7] = np.inf
    assert np.isnan(norm_matvec(w, x, g)).all()
    assert np.isnan(norm_matvec_silu(w, x, g)).all()


def test_large_and_small_vectors_are_normed() -> None:
    w, x, g = arguments("norm_matvec", 6, 40)
    for size in (1e15, 1e-3, 0):
        assert_close(norm_matvec(w, x * np.float32(size), g), norm_reference(w, x * np.float32(size), g))


def test_what_lies_around_does_not_enter() -> None:
    around = np.full((12, 60), np.nan, np.float32)
    w, x = arguments("matvec", 10, 50)
    around[1:11, 5:55] = w
    assert_close(matvec(around[1:11, 5:55], x), w.astype(np.float64) @ x)


# Calls.


@every_function
def test_two_calls_give_the_same_bits(name: str) -> None:
    args = arguments(name, 70, 600, "bf16")
    assert FUNCTIONS[name][0](*args).tobytes() == FUNCTIONS[name][0](*args).tobytes()


@every_function
def test_out_is_written_and_returned(name: str) -> None:
    function, reference = FUNCTIONS[name]
    args = arguments(name, 40, 50)
    out = np.zeros(80, np.float32)[::2]
    assert function(*args, out=out) is out
    assert_close(out, reference(*args))


@every_function
def test_tensors_of_our_own(name: str) -> None:
    function, reference = FUNCTIONS[name]
    args = arguments(name, 40, 50)
    y = function(*map(tp.from_numpy, args))
    assert isinstance(y, tp.Tensor)
    assert_close(y.numpy(), reference(*args))


@pytest.mark.slow
@every_function
def test_tensors_of_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    function, reference = FUNCTIONS[name]
    args = arguments(name, 40, 50)
    given = [torch.from_numpy(each).bfloat16() for each in args]
    y = function(*given)
    assert y.dtype == torch.bfloat16
    assert_close(y.double().numpy(), reference(*[each.double().numpy() for each in given]), 2e-2)


def test_a_layer_is_recorded_and_replayed() -> None:
    w, x, g = map(tp.from_numpy, arguments("norm_matvec", 40, 50))
    y = tp.empty(40)
    with tp.Graph() as graph:
        norm_matvec(w, x, g, out=y)
    graph.replay()
    assert_close(y.numpy(), norm_reference(w.numpy(), x.numpy(), g.numpy()))


@pytest.mark.parametrize("k", [1, 63, 576, 577])
def test_logits_may_be_wider_than_what_they_are_made_of(k: int) -> None:
    w, x, g = arguments("norm_matvec", 37, k, "bf16")
    logits = np.full(37, np.nan, np.float32)
    assert norm_matvec(w, x, g, out=logits) is logits
    assert_close(logits, norm_reference(w, x, g), 1e-5)


def test_refusals_name_the_cure() -> None:
    w, x, g = arguments("norm_matvec", 7, 50)
    calls: list[tuple[Any, str]] = [
        (lambda: matvec(w, x[1:]), "K"),
        (lambda: matvec(x, x), "pass a matrix with a row for each output"),
        (lambda: matvec(w, x, out=np.empty(5, np.float32)), "pass an array of shape (7,)"),
        (lambda: matvec_add(w, x, x), "N"),
        (lambda: matvec_add(w, x, x[:7], out=x[:7]), "pass a copy"),
        (lambda: norm_matvec(w, x, g[:3]), "K"),
        (lambda: norm_matvec_silu(w, x, g), "the rows of gate first"),
        (lambda: matvec(w, x.astype(np.int64)), "i64"),
    ]
    for call, words in calls:
        with pytest.raises(tp.TileproofError, match=r"TP\d+") as raised:
            call()
        assert words in str(raised.value), str(raised.value)
