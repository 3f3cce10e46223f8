"""Attention against float64, its gradients, its NaN and infinities, and its refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from library_cases.flash_attention import attended, cases
from support.library import Case, assert_close, assert_right, results
from support.tiers import examples
from tileproof.kernels import arrays
from tileproof.kernels.flash_attention import (
    TUNABLES,
    attention,
    attention_backward,
    attention_packed_kernel,
    varlen_attention,
)
from tileproof.tuning import Tunable

CASES = cases()


def named(every: list[Case]) -> Any:
    return pytest.mark.parametrize("case", every, ids=[each.name for each in every])


def some(*shape: int, seed: int = 0, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def three(dtype: Any = np.float32) -> tuple[Any, Any, Any]:
    k, v = (some(2, 2, 9, 16, seed=seed, dtype=dtype) for seed in (1, 2))
    return some(2, 4, 6, 16, dtype=dtype), k, v


@pytest.mark.sweep(2)
@named(CASES)
def test_a_function_gives_on_the_cpu_what_float64_says(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.sweep(5)
@named([each for each in CASES if each.on_interpreter][::3])
def test_a_function_gives_on_the_interpreter_what_float64_says(case: Case) -> None:
    assert_right(case, "interpreter")


@pytest.mark.sweep(1)
@named([each for each in CASES if each.on_gpu and each.on_interpreter])
def test_the_choices_for_a_gpu_give_what_float64_says(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    assert_right(case, "interpreter")


@pytest.mark.slow
@settings(max_examples=examples(15), deadline=None)
@given(
    st.integers(1, 3), st.integers(1, 3), st.integers(0, 90), st.integers(0, 300), st.integers(-20, 300), st.booleans()
)
def test_all_sizes_give_what_float64_says(
    groups: int, heads: int, queries: int, keys: int, past: int, causal: bool
) -> None:
    q, k, v = some(groups * heads, queries, 16), *(some(groups, keys, 16, seed=seed) for seed in (1, 2))
    found = attention(q, k, v, causal=causal, past=past, lse=True)
    for got, want in zip(found, attended(q, k, v, causal=causal, past=past), strict=True):
        assert_close(got, want)


@pytest.mark.slow
def test_two_calls_give_the_same_bits() -> None:
    for case in CASES:
        if case.on_gpu:
            for one, other in zip(results(case, "cpu"), results(case, "cpu"), strict=True):
                assert one.tobytes() == other.tobytes()


# Choices.


@pytest.mark.parametrize("tunable", TUNABLES, ids=[each.name for each in TUNABLES])
@pytest.mark.parametrize("target", ["cpu", "sm_90"])
def test_a_tunable_has_choices_that_differ_and_that_its_kernels_take(tunable: Tunable, target: str) -> None:
    sizes = {"B": 1, "G": 8, "R": 4, "S": 2048, "C": 2048, "D": 128, "T": 2048, "U": 2048, "N": 4}
    every = [tunable.default(sizes, target), *tunable.space(sizes, target)]
    labels = [each.label for each in every[1:]]
    assert len(set(labels)) == len(labels)
    for each in every:
        assert each.kernel in tunable.kernels
        assert set(each.constants) <= set(each.kernel.function.__kwdefaults__)


def test_heads_that_share_keys_are_packed_for_few_queries_on_a_gpu() -> None:
    sizes = {"B": 1, "G": 8, "R": 4, "S": 4, "D": 128, "C": 4096}
    choice = TUNABLES[0].default(sizes, "sm_90")
    assert choice.kernel is attention_packed_kernel
    assert choice.constants["BS"] * sizes["R"] == 16


# Values.


def test_a_query_without_keys_gets_zeros() -> None:
    q, k, v = three()
    o, lse = attention(q, k, v, past=-3, lse=True)
    assert (o[:, :, :3] == 0).all()
    assert (lse[:, :, :3] == -np.inf).all()
    assert np.isfinite(o).all()


def test_nan_and_infinity_stay_in_their_rows() -> None:
    q, k, v = three()
    q[0, 0, 1, 0], q[0, 1, 2, 0] = np.nan, np.inf
    o = attention(q, k, v)
    spoilt = np.isnan(o).all(axis=-1)
    assert spoilt[0, 0].tolist() == [False, True, False, False, False, False]
    assert spoilt[0, 1, 2]
    assert np.count_nonzero(np.isnan(o).any(axis=-1)) == 2


def test_keys_and_values_that_no_query_sees_may_be_anything() -> None:
    q, k, v = three()
    expected = attended(q, k, v, past=2)
    k[:, :, 8:], v[:, :, 8:] = np.nan, np.nan
    o, lse = attention(q, k, v, past=2, lse=True)
    assert_close(o, expected[0])
    dq, dk, dv = attention_backward(some(2, 4, 6, 16, seed=3), q, k, v, o, lse, past=2)
    assert np.isfinite(dq).all()
    assert (dk[:, :, 8:] == 0).all()
    assert (dv[:, :, 8:] == 0).all()


def test_a_score_of_minus_infinity_has_no_weight() -> None:
    q, k, v = (np.array(each, np.float32) for each in ([[[1]]], [[[-np.inf], [0]]], [[[5], [7]]]))
    assert attention(q, k, v).item() == 7
    o, lse = attention(q, k[:, :1], v[:, :1], lse=True)
    assert (o.item(), lse.item()) == (0, -np.inf)


# Gradients.


@pytest.mark.sweep(1)
@pytest.mark.parametrize("named", [{}, {"causal": False}, {"past": 1, "scale": 0.7}], ids=str)
def test_gradients_are_slopes(named: dict[str, Any]) -> None:
    inputs = three(np.float64)
    do = some(2, 4, 6, 16, seed=3, dtype=np.float64)
    o, lse = attention(*inputs, **named, lse=True)
    found = attention_backward(do, *inputs, o, lse, **named)
    for place, gradient in enumerate(found):
        for seed in range(3):
            way = some(*gradient.shape, seed=10 + seed, dtype=np.float64)

            def along(step: float, place: int = place, way: Any = way) -> float:
                moved = [each + step * way if number == place else each for number, each in enumerate(inputs)]
                return float((attention(*moved, **named) * do).sum())

            slope = (along(1e-5) - along(-1e-5)) / 2e-5
            assert abs((gradient * way).sum() - slope) <= 1e-7 * max(1.0, np.abs(gradient).sum())


@pytest.mark.slow
def test_torch_agrees_about_values_and_gradients() -> None:
    torch = pytest.importorskip("torch")
    q, k, v = (torch.from_numpy(each).requires_grad_() for each in (some(2, 4, 9, 16), *three()[1:]))
    do = torch.from_numpy(some(2, 4, 9, 16, seed=3))
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    expected.backward(do)
    o, lse = attention(q.detach(), k.detach(), v.detach(), lse=True)
    torch.testing.assert_close(o, expected.detach(), rtol=1e-5, atol=1e-5)
    found = attention_backward(do, q.detach(), k.detach(), v.detach(), o, lse)
    for got, of in zip(found, (q, k, v), strict=True):
        torch.testing.assert_close(got, of.grad, rtol=1e-4, atol=1e-5)


# Arguments.


def test_tensors_of_our_own_give_such_tensors() -> None:
    q, k, v = three()
    found = attention(*map(tp.from_numpy, (q, k, v)))
    assert isinstance(found, tp.Tensor)
    assert_close(found.numpy(), attended(q, k, v)[0])


def test_a_graph_is_replayed_on_other_values() -> None:
    q, k, v = map(tp.from_numpy, three())
    out = tp.empty(q.shape)
    with tp.Graph() as graph:
        attention(q, k, v, out=out)
    for seed in (5, 6):
        q[:] = some(*q.shape, seed=seed)
        graph.replay()
        assert_close(out.numpy().copy(), attended(q.numpy(), k.numpy(), v.numpy())[0])


def test_out_is_written_and_returned() -> None:
    q, k, v = three()
    out = np.empty((2, 6, 4, 16), np.float32).swapaxes(1, 2)
    assert attention(q, k, v, out=out) is out
    assert_close(out, attended(q, k, v)[0])
    kept = np.empty((2, 4, 6), np.float32)
    assert attention(q, k, v, out=out, lse=kept)[1] is kept
    assert_close(kept, attended(q, k, v)[1])
    borders = np.array([0, 6], np.int32)
    packed = np.empty((6, 4, 16), np.float32)
    mine, *theirs = (each[0].swapaxes(0, 1)[:6] for each in (q, k, v))
    assert varlen_attention(mine, *theirs, borders, borders, out=packed) is packed


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda q, k, v: attention(q[0, 0], k, v), "pass both as B H S D"),
        (lambda q, k, v: attention(q[:, :3], k, v), "pass as many query heads as key heads, or a multiple"),
        (lambda q, k, v: attention(q, k, v[:, :, 1:]), "C"),
        (lambda q, k, v: attention(q, k.astype(np.float64), v), "f64"),
        (lambda q, k, v: attention(q, k, v, scale=-1.0), "scale"),
        (lambda q, k, v: attention(q, k, v, out=q[0]), "pass an array of shape (2, 4, 6, 16)"),
        (lambda q, k, v: attention(q, k, v, out=q), "memory"),
        (lambda q, k, v: varlen_attention(q, k, v, [0], [0]), "pass an array of 3 axes"),
        (
            lambda q, k, v: varlen_attention(q[0], k[0, :, :3], v[0, :, :3], np.array([0, 1]), np.array([0, 2])),
            "q_offsets",
        ),
    ],
)  # fmt: skip
def test_a_refusal_names_the_cure(call: Any, word: str) -> None:
    with pytest.raises(tp.LaunchError) as caught:
        call(*three())
    assert word in str(caught.value)
