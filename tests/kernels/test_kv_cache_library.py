"""Attention to caches against float64, however they are cut; appending to pages; and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from library_cases.kv_cache import appended, cases, dense, in_pages
from support.library import Case, assert_close, assert_right, results
from support.tiers import examples
from tileproof.kernels import arrays, kv_cache
from tileproof.kernels.kv_cache import (
    PAGED_ALONE,
    TUNABLES,
    decode_attention,
    decode_attention_kernel,
    paged_append,
    paged_attention,
)
from tileproof.tuning import Choice, Tunable

CASES = cases()
SIZES = {"B": 8, "G": 8, "R": 4, "C": 8192, "D": 128, "L": 128, "S": 64, "P": 1024}


def named(every: list[Case]) -> Any:
    return pytest.mark.parametrize("case", every, ids=[each.name for each in every])


def some(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def caches_of(capacity: int = 20) -> tuple[Any, Any, Any, Any]:
    return (
        some(2, 4, 16),
        some(2, 2, capacity, 16, seed=1),
        some(2, 2, capacity, 16, seed=2),
        np.array([13, 4], np.int32),
    )


def pages_of() -> tuple[Any, Any, Any, Any, Any]:
    k, v = some(5, 2, 4, 16, seed=1), some(5, 2, 4, 16, seed=2)
    return some(2, 4, 16), k, v, np.array([[1, 0, 3], [3, 2, -1]], np.int32), np.array([12, 7], np.int32)


@pytest.mark.sweep(2)
@named(CASES)
def test_a_function_gives_on_the_cpu_what_float64_says(case: Case) -> None:
    assert_right(case, "cpu")


@named([each for each in CASES if each.on_interpreter][::3])
def test_a_function_gives_on_the_interpreter_what_float64_says(case: Case) -> None:
    assert_right(case, "interpreter")


@pytest.mark.sweep(4)
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


# Pieces.


@pytest.mark.slow
@settings(max_examples=examples(15), deadline=None)
@given(st.integers(0, 300), st.integers(-2, 310), st.sampled_from([16, 64, 512]))
def test_all_pieces_of_a_cache_give_what_float64_says(capacity: int, used: int, piece: int) -> None:
    q, k, v, lengths = caches_of(capacity)
    lengths[0] = used
    with pytest.MonkeyPatch.context() as patch:
        mine = Choice(decode_attention_kernel, {"BR": 2, "SC": piece, "BC": 16})
        patch.setattr(kv_cache, "choose", lambda *of, **sizes: mine)
        assert_close(decode_attention(q, k, v, lengths), dense(q, k, v, lengths))


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 1, 2])
def test_every_kernel_gives_the_same(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tunable = TUNABLES[place]
    call = (lambda: decode_attention(*caches_of(700))) if place == 0 else lambda: paged_attention(*pages_of())
    expected = call()
    for kernel in tunable.kernels:
        choice = next(each for each in tunable.space(SIZES, "sm_90") if each.kernel is kernel)
        monkeypatch.setattr(kv_cache, "choose", lambda *of, mine=choice, **sizes: Choice(mine.kernel, mine.constants))
        assert_close(call(), expected.astype(np.float64))


@pytest.mark.parametrize(
    ("sizes", "piece"),
    [({"B": 8}, 1024), ({"B": 8, "C": 32768}, 4096), ({"B": 1}, 256), ({"B": 512}, 8192), ({"B": 0, "C": 0}, 256)],
    ids=str,
)
def test_pieces_keep_a_gpu_busy_and_are_not_too_many(sizes: dict[str, int], piece: int) -> None:
    assert TUNABLES[0].default({**SIZES, **sizes}, "sm_90").constants["SC"] == piece


@pytest.mark.parametrize(
    ("sizes", "constants"),
    [
        ({}, {"BR": 4}), ({"B": 1}, {"SL": 64}), ({"B": 1, "G": 3, "R": 3}, {"SL": 32}), ({"B": 1, "L": 8}, {"BR": 4}),
        ({"B": 1, "G": 3, "L": 8}, {"BR": 1}), ({"B": 0, "L": 0}, {"BR": 1}),
    ],
    ids=str,
)  # fmt: skip
def test_a_cpu_cuts_few_long_caches_into_pieces(sizes: dict[str, int], constants: dict[str, int]) -> None:
    choice = PAGED_ALONE.default({**SIZES, **sizes}, "cpu")
    assert choice.constants == constants
    assert choice.kernel is PAGED_ALONE.kernels["SL" in constants]


@pytest.mark.slow
@settings(max_examples=examples(15), deadline=None)
@given(st.integers(-1, 70), st.integers(0, 66), st.sampled_from([1, 3, 16]))
def test_all_pieces_of_pages_give_what_float64_says(one: int, other: int, piece: int) -> None:
    rng = np.random.default_rng(2)
    k, v, table = some(17, 2, 4, 16, seed=1), some(17, 2, 4, 16, seed=2), rng.permutation(17)[None, :16].repeat(2, 0)
    used = np.array([one, other], np.int32)
    for kernel, constants in (
        (kv_cache.paged_attention_far_kernel, {"SL": piece}),
        (kv_cache.paged_attention_near_kernel, {"BR": 1 + piece % 2}),
    ):  # fmt: skip
        with pytest.MonkeyPatch.context() as patch:
            mine = Choice(kernel, constants)
            patch.setattr(kv_cache, "choose", lambda *of, mine=mine, **sizes: mine)
            given_ = some(2, 4, 16), k, v, table.astype(np.int32), used
            assert_close(paged_attention(*given_), in_pages(*given_))


@pytest.mark.parametrize("tunable", TUNABLES, ids=[each.name for each in TUNABLES])
@pytest.mark.parametrize("target", ["cpu", "sm_90"])
def test_a_tunable_has_choices_that_differ_and_that_its_kernels_take(tunable: Tunable, target: str) -> None:
    every = [tunable.default(SIZES, target), *tunable.space(SIZES, target)]
    labels = [each.label for each in every[1:]]
    assert len(set(labels)) == len(labels)
    for each in every:
        assert each.kernel in tunable.kernels
        assert set(each.constants) <= set(each.kernel.function.__kwdefaults__)


def test_trials_of_the_tuner_use_whole_caches() -> None:
    (_, k, _, used), (_, pages, _, table, count) = caches_of(), pages_of()
    rng, every = np.random.default_rng(0), ({"k": k, "used": used}, {"k": pages, "table": table, "used": count})
    for tunable, arguments in zip(TUNABLES[:2], every, strict=True):
        assert tunable.inputs is not None
        tunable.inputs(rng, arguments)
    assert used.tolist() == [20, 20]
    assert count.tolist() == [12, 12]
    assert (table >= 0).all()
    assert (table < 5).all()


# Values.


def test_nan_and_infinity_stay_with_their_sequence_and_head() -> None:
    q, k, v, used = caches_of()
    q[0, 1, 0] = np.nan
    v[1, 1, 2, 3] = np.inf
    o = decode_attention(q, k, v, used)
    assert np.isnan(o).any(axis=2).tolist() == [[False, True, False, False], [False] * 4]
    assert np.argwhere(np.isposinf(o)).tolist() == [[1, 2, 3], [1, 3, 3]]


def test_a_page_may_be_in_several_tables() -> None:
    q, k, v, table, used = pages_of()
    q[1], table[1], used[1] = q[0], table[0], used[0]
    o = paged_attention(q, k, v, table, used)
    assert_close(o, in_pages(q, k, v, table, used))
    np.testing.assert_array_equal(o[0], o[1])


# Arguments.


def test_what_is_appended_is_found() -> None:
    q, k, v, table, used = map(tp.from_numpy, pages_of())
    new_k, new_v = some(2, 2, 16, seed=7), some(2, 2, 16, seed=8)
    expected = appended(k.numpy().copy(), v.numpy().copy(), new_k, new_v, np.array([2, 9]))
    paged_append(k, v, *map(tp.from_numpy, (new_k, new_v)), tp.asarray([2, 9], dtype=tp.i32))
    found = paged_attention(q, k, v, table, used)
    assert isinstance(found, tp.Tensor)
    assert_close(found.numpy(), in_pages(q.numpy(), *expected, table.numpy(), used.numpy()))


def test_a_graph_is_replayed_as_the_caches_grow() -> None:
    q, k, v, used = map(tp.from_numpy, caches_of())
    out = tp.empty((2, 4, 16))
    with tp.Graph() as graph:
        decode_attention(q, k, v, used, out=out)
    for lengths in ([1, 2], [20, 0], [7, 7]):
        used[:] = np.array(lengths, np.int32)
        graph.replay()
        assert_close(out.numpy().copy(), dense(q.numpy(), k.numpy(), v.numpy(), np.array(lengths)))


@pytest.mark.slow
def test_tensors_of_torch_give_such_tensors() -> None:
    torch = pytest.importorskip("torch")
    found = decode_attention(*map(torch.from_numpy, caches_of()))
    assert isinstance(found, torch.Tensor)
    assert_close(found.numpy(), dense(*caches_of()))


def test_out_is_written_and_returned() -> None:
    out = np.empty((2, 4, 16), np.float32)
    assert decode_attention(*caches_of(), out=out) is out
    assert_close(out, dense(*caches_of()))
    assert paged_attention(*pages_of(), out=out) is out
    assert_close(out, in_pages(*pages_of()))


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: decode_attention(some(2, 4, 1, 16), *caches_of()[1:]), "pass an array of 3 axes"),
        (lambda: decode_attention(some(2, 3, 16), *caches_of()[1:]), "pass as many query heads as key heads"),
        (lambda: decode_attention(some(3, 4, 16), *caches_of()[1:]), "B"),
        (lambda: decode_attention(*caches_of()[:3], np.array([1.0, 2.0])), "i32"),
        (lambda: decode_attention(*caches_of(), scale=0.0), "scale"),
        (lambda: decode_attention(*caches_of(), out=some(2, 4, 8)), "pass an array of shape (2, 4, 16)"),
        (lambda: paged_attention(*pages_of()[:3], np.array([[0, 5]] * 2), pages_of()[4]), "table"),
        (lambda: paged_attention(*pages_of()[:3], np.array([0, 1]), pages_of()[4]), "pass an array of 2 axes"),
        (lambda: paged_append(*pages_of()[1:3], some(2, 2, 16), some(2, 2, 16), np.array([3, 3])), "slots"),
        (lambda: paged_append(*pages_of()[1:3], some(2, 2, 16), some(2, 2, 16), np.array([3, 20])), "slots"),
    ],
)
def test_a_refusal_names_the_cure(call: Any, word: str) -> None:
    with pytest.raises(tp.LaunchError) as caught:
        call()
    assert word in str(caught.value)
