"""Rows by number and convolutions: against numpy, on the CPU and the interpreter; gradients; errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from library_cases.gather_scatter import (
    backward_reference,
    cases,
    conv2d_reference,
    embedding_reference,
    gather_reference,
    scatter_reference,
)
from support.library import Case, assert_close, assert_right, each_choice
from support.tiers import examples
from tileproof.kernels import arrays, gather_scatter
from tileproof.kernels.gather_scatter import conv2d, embedding, embedding_backward, gather_rows, scatter_rows

CASES = cases()
RNG = np.random.default_rng(0)


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    return RNG.standard_normal(shape).astype(dtype)


@pytest.mark.sweep(7)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_tables_agree_with_numpy(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.sweep(5)
@pytest.mark.parametrize("case", [each for each in CASES if each.on_interpreter][::3], ids=lambda case: case.name)
def test_tables_agree_with_numpy_on_the_interpreter(case: Case) -> None:
    assert_right(case, "interpreter")


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(0, 2), st.integers(1, 9), st.integers(1, 9), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2),
    st.integers(0, 2**32),
)  # fmt: skip
def test_convolutions_of_any_size(
    images: int, high: int, wide: int, size: int, stride: int, padding: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    if min(high, wide) + 2 * padding < size:
        return
    x = rng.standard_normal((images, 3, high, wide)).astype(np.float32)
    w = rng.standard_normal((2, 3, size, size)).astype(np.float32)
    with tp.backend("interpreter"):
        assert_close(conv2d(x, w, stride, padding), conv2d_reference(x, w, stride, padding))


@pytest.mark.slow
@pytest.mark.parametrize("tunable", gather_scatter.TUNABLES, ids=lambda each: each.name)
def test_every_choice_computes_the_same(tunable: Any) -> None:
    if tunable.name == "conv2d":
        x, w = normal(2, 5, 9, 11), normal(6, 5, 3, 3)
        sizes = {"B": 2, "C": 5, "H": 9, "W": 11, "O": 6, "R": 3, "S": 3, "STRIDE": 2, "PAD": 1}
        for _ in each_choice(tunable, "f32", sizes):
            assert_close(conv2d(x, w, 2, 1), conv2d_reference(x, w, 2, 1))
        return
    x, ids, out = normal(40, 90), RNG.integers(0, 40, 40), normal(40, 90)
    if tunable.name != "embedding":
        ids[::7] = -1
    for _ in each_choice(tunable, "f32", {"N": 40, "V": 40, "D": 90}):
        match tunable.name:
            case "embedding":
                assert_close(embedding(ids, x), embedding_reference(ids, x), 0)
            case "embedding_backward":
                assert_close(embedding_backward(x, ids, 40), backward_reference(x, ids, 40))
            case "gather_rows":
                assert_close(gather_rows(x, ids), gather_reference(x, ids), 0)
            case _:
                places = RNG.permutation(40)
                wanted = scatter_reference(x, places, out)
                assert_close(scatter_rows(x, places, out), wanted, 0)


@pytest.mark.parametrize("tunable", gather_scatter.TUNABLES, ids=lambda each: each.name)
@pytest.mark.parametrize("target", ["cpu", "sm_90"])
def test_a_space_is_small_and_holds_any_size(tunable: Any, target: str) -> None:
    for count in (0, 1, 8, 4096):
        rest = {"H": 56, "W": 56, "O": 64, "R": 3, "S": 3, "STRIDE": 1, "PAD": 1}
        sizes = {"N": count, "V": count, "D": count, "B": count, "C": count, **rest}
        labels = [choice.label for choice in tunable.space(sizes, target)]
        assert len(set(labels)) == len(labels)
        assert 1 <= len(labels) <= 40
        assert tunable.default(sizes, target).kernel in tunable.kernels


def test_the_tuner_is_given_numbers_that_a_launch_takes() -> None:
    rng = np.random.default_rng(1)
    named = {"ids": np.zeros(30, np.int32), "x": normal(30, 5), "y": normal(20, 5)}
    gather_scatter.SCATTER_ROWS.inputs(rng, named)
    assert (np.sort(named["ids"]) == [-1] * 10 + list(range(20))).all()
    named = {"ids": np.zeros(30, np.int32), "table": normal(7, 5), "y": normal(30, 5)}
    gather_scatter.EMBEDDING.inputs(rng, named)
    embedding(named["ids"], named["table"])


# What it means.


@pytest.mark.parametrize("target", ["cpu", "sm_90"])
def test_a_table_without_rows_gives_zeros(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: target)
    nothing = np.array([-1, -1], np.int32)
    assert (gather_rows(np.empty((0, 40), np.float32), nothing) == 0).all()
    assert embedding(nothing[:0], np.empty((0, 40), np.float32)).shape == (0, 40)


@pytest.mark.parametrize("name", ["embedding", "gather_rows", "scatter_rows"])
def test_rows_are_moved_on_a_gpu_as_on_the_cpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, places = normal(30, 700), RNG.permutation(30)[:9]
    ids = places if name == "embedding" else np.append(places, [-1])
    out = normal(30, 700) if name == "scatter_rows" else None
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    match name:
        case "embedding":
            assert_close(embedding(ids, x), embedding_reference(ids, x), 0)
        case "gather_rows":
            assert_close(gather_rows(x, ids), gather_reference(x, ids), 0)
        case _:
            wanted = scatter_reference(x[:10], ids, out)
            assert_close(scatter_rows(x[:10], ids, out), wanted, 0)


def test_what_was_gathered_is_scattered_back() -> None:
    x, order, y = normal(30, 40), RNG.permutation(30), np.zeros((30, 40), np.float32)
    assert scatter_rows(gather_rows(x, order), order, y) is y
    assert (y == x).all()


def test_ids_may_have_any_rank() -> None:
    table = normal(11, 40)
    for ids in (RNG.integers(0, 11, (2, 3, 4)), np.array(5), np.zeros((0, 3), np.int32)):
        assert (embedding(ids, table) == table[ids]).all()
        dtable = embedding_backward(table[ids], ids, 11)
        assert_close(dtable, backward_reference(table[ids], ids, 11))


def test_rows_are_copied_bit_by_bit() -> None:
    x = normal(6, 40)
    x[2, 3], x[2, 4], x[2, 5] = np.nan, np.inf, -0.0
    ids = np.array([2, 0, -1])
    assert gather_rows(x, ids)[0].tobytes() == x[2].tobytes() == embedding(ids[:1], x)[0].tobytes()
    assert (gather_rows(x, ids)[2] == 0).all()


@pytest.mark.slow
def test_gradients_are_finite_differences_and_those_of_torch() -> None:
    """An embedding is linear in its table, so any step is as good."""
    table, g, ids = normal(7, 30), normal(50, 30), RNG.integers(0, 7, 50)
    dtable, direction = embedding_backward(g, ids, 7), normal(7, 30)
    slope = ((embedding(ids, table + direction) - embedding(ids, table)).astype(np.float64) * g).sum()
    assert slope == pytest.approx(float((dtable.astype(np.float64) * direction).sum()), rel=1e-4, abs=1e-3)
    torch = pytest.importorskip("torch")
    leaf = torch.from_numpy(table).requires_grad_()
    torch.nn.functional.embedding(torch.from_numpy(ids), leaf).backward(torch.from_numpy(g))
    np.testing.assert_allclose(dtable, leaf.grad.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_convolution_is_that_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x, w = normal(2, 5, 17, 13), normal(6, 5, 3, 5)
    for stride, padding in ((1, 0), (2, 3)):
        wanted = torch.nn.functional.conv2d(torch.from_numpy(x), torch.from_numpy(w), stride=stride, padding=padding)
        assert_close(conv2d(x, w, stride, padding), wanted.numpy().astype(np.float64))


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_what_is_not_finite_stays_where_a_filter_sees_it(odd: float) -> None:
    x, w = normal(1, 3, 9, 9), normal(4, 3, 3, 3)
    plain = conv2d(x, w, padding=1)
    x[0, 1, 4, 4] = odd
    found, is_seen = conv2d(x, w, padding=1), np.zeros((1, 4, 9, 9), bool)
    is_seen[:, :, 3:6, 3:6] = True
    assert (found[~is_seen] == plain[~is_seen]).all()
    assert not np.isfinite(found[is_seen]).any()


def test_a_call_that_is_repeated_gives_the_same_bits() -> None:
    x, w, ids = normal(2, 5, 17, 13), normal(6, 5, 3, 5), RNG.integers(0, 7, 300)
    g = normal(300, 30)
    assert conv2d(x, w).tobytes() == conv2d(x, w).tobytes()
    assert embedding_backward(g, ids, 7).tobytes() == embedding_backward(g, ids, 7).tobytes()


# Arguments.


def test_results_go_to_out() -> None:
    table, ids, y, z = normal(7, 30), RNG.integers(0, 7, 9), normal(9, 30), normal(7, 30)
    assert embedding(ids, table, out=y) is y
    assert (y == table[ids]).all()
    assert gather_rows(table, ids[::-1], out=y) is y
    assert (y == table[ids[::-1]]).all()
    assert embedding_backward(y, ids, 7, out=z) is z
    x, w, images = normal(2, 3, 9, 9), normal(4, 3, 3, 3), normal(2, 4, 7, 7)
    assert conv2d(x, w, out=images) is images
    assert_close(images, conv2d_reference(x, w))


@pytest.mark.slow
def test_tensors_and_torch_come_back_as_they_are() -> None:
    table, ids, x, w = normal(7, 30), RNG.integers(0, 7, (3, 2)), normal(2, 3, 9, 9), normal(4, 3, 3, 3)
    rows = embedding(tp.from_numpy(ids), tp.from_numpy(table))
    made = conv2d(tp.from_numpy(x), tp.from_numpy(w), padding=1)
    dtable = embedding_backward(rows, tp.from_numpy(ids), 7)
    assert {type(each) for each in (rows, made, dtable)} == {tp.Tensor}
    assert (rows.numpy() == table[ids]).all()
    assert_close(made.numpy(), conv2d_reference(x, w, padding=1))
    torch = pytest.importorskip("torch")
    given = torch.from_numpy(table).bfloat16()
    assert torch.equal(embedding(torch.from_numpy(ids), given), given[torch.from_numpy(ids)])
    last = torch.from_numpy(x).contiguous(memory_format=torch.channels_last)
    assert_close(conv2d(last, torch.from_numpy(w)).numpy(), conv2d_reference(x, w))


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        (lambda: embedding(np.array([0, 7]), normal(7, 3)), "TP0607", "ids"),
        (lambda: embedding(np.array([0, -1]), normal(7, 3)), "TP0607", "ids"),
        (lambda: embedding(np.array([0.0, 1]), normal(7, 3)), "TP0603", "ids"),
        (lambda: embedding_backward(normal(2, 3), np.array([0, 7]), 7), "TP0607", "ids"),
        (lambda: gather_rows(normal(7, 3), np.array([0, 7])), "TP0607", "ids"),
        (lambda: scatter_rows(normal(2, 3), np.array([4, 4]), normal(7, 3)), "TP0607", "ids"),
        (lambda: scatter_rows(normal(2, 3), np.array([4, 5]), normal(7, 4)), "TP0604", "D"),
        (lambda: conv2d(normal(2, 3, 9, 9), normal(4, 5, 3, 3)), "TP0604", "C"),
        (lambda: conv2d(normal(3, 9, 9), normal(4, 3, 3, 3)), "TP0602", "(B, C, H, W)"),
        (lambda: conv2d(normal(2, 3, 2, 2), normal(4, 3, 5, 5)), "TP0604", "padding"),
        (lambda: conv2d(normal(2, 3, 9, 9), normal(4, 3, 3, 3), stride=0), "TP0608", "stride"),
        (lambda: conv2d(normal(2, 3, 9, 9), normal(4, 3, 3, 3, dtype=np.float64)), "TP0603", "f64"),
    ],
)
def test_a_mistake_is_named_with_its_cure(call: Callable[[], Any], code: str, words: str) -> None:
    with pytest.raises(tp.LaunchError) as caught:
        call()
    assert caught.value.diagnostics[0].code.id == code
    assert words in str(caught.value)
