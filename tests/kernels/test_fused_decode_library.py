"""Attention of new tokens that are in no page yet, against float64 and against one step after the other; appends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileproof as tp
import tileproof.kernels as tk
from library_cases.fused_decode import angles, attended, cases
from support.library import Case, assert_close, assert_right
from tileproof.kernels import arrays, fused_decode
from tileproof.kernels.fused_decode import FUSED_DECODE_ATTENTION, TUNABLES, fused_decode_attention
from tileproof.kernels.rotary import append_layers
from tileproof.tuning import Choice

CASES = cases()


def named(every: list[Case]) -> Any:
    return pytest.mark.parametrize("case", every, ids=[each.name for each in every])


def some(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def given(*positions: int, has_norm: bool = True) -> list[Any]:
    """Sequences of pages of 4 places, 3 heads sharing a key."""
    at = np.array(positions, np.int32)
    table = np.random.default_rng(1).permutation(30)[: len(at) * 6].reshape(len(at), 6).astype(np.int32)
    norms = [some(8, seed=3), some(8, seed=4)] if has_norm else []
    qkv, keys, values = some(len(at), 10 * 8), some(30, 2, 4, 8, seed=1), some(30, 2, 4, 8, seed=2)
    return [qkv, keys, values, table, *angles(24, 8), at, *norms]


@pytest.mark.sweep(3)
@named(CASES)
def test_a_function_gives_on_the_cpu_what_float64_says(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.sweep(3)
@named([each for each in CASES if each.on_interpreter][::3])
def test_a_function_gives_on_the_interpreter_what_float64_says(case: Case) -> None:
    assert_right(case, "interpreter")


@pytest.mark.sweep(2)
@named([each for each in CASES if each.on_gpu and each.on_interpreter])
def test_the_choices_for_a_gpu_give_what_float64_says(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "target_of", lambda array: "sm_90")
    assert_right(case, "interpreter")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("has_norm", [True, False])
def test_every_piece_and_position_gives_what_float64_says(has_norm: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    args = given(0, 4, 23, has_norm=has_norm)
    expected = attended(*args)
    (kernel,) = TUNABLES[0 if has_norm else 1].kernels
    pieces = (1, 0), (5, 0), (1, 1), (2, 1), (4, 1)
    split = [Choice(kernel, {"BR": 4, "SL": piece, "NEAR": near}) for piece, near in pieces[:: 1 if has_norm else 3]]
    for mine in (*split, Choice(kernel, {"BR": 4})):
        monkeypatch.setattr(fused_decode, "choose", lambda *of, mine=mine, **sizes: mine)
        with tp.backend("interpreter"):
            assert_close(fused_decode_attention(*args), expected)


@pytest.mark.parametrize(
    ("sizes", "near", "piece"),
    [
        ({}, 1, 2), ({"L": 4}, None, None), ({"L": 32}, 1, 4), ({"L": 128}, None, 8), ({"L": 512}, None, 32),
        ({"L": 0}, None, 1), ({"B": 32}, None, None), ({"B": 2}, 1, 2), ({"B": 8}, None, 4),
    ],
    ids=str,
)  # fmt: skip
def test_a_gpu_joins_few_pieces_and_none_of_short_caches(
    sizes: dict[str, int], near: int | None, piece: int | None
) -> None:
    usual = {"B": 1, "G": 8, "R": 4, "L": 8, "S": 64, "D": 128, "P": 40, "C": 512}
    choice = FUSED_DECODE_ATTENTION.default({**usual, **sizes}, "sm_90")
    assert (choice.constants.get("NEAR"), choice.constants.get("SL")) == (near, piece)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("has_norm", [True, False])
def test_it_is_an_append_and_attention_behind_it(has_norm: bool) -> None:
    args = given(5, 0, 11, has_norm=has_norm)
    qkv, keys, values, table, cos, sin, positions, *norms = args
    slots = (table[np.arange(3), positions // 4] * 4 + positions % 4).astype(np.int32)
    o = fused_decode_attention(*args)
    own_keys, own_values = keys.copy(), values.copy()
    q = tk.norm_rope_append(qkv, own_keys, own_values, cos, sin, positions, slots, *norms)
    assert_close(o, tk.paged_attention(q, own_keys, own_values, table, positions + 1).astype(np.float64))
    append_layers(qkv[None], keys[None], values[None], cos, sin, positions, slots, *(each[None] for each in norms[1:]))
    np.testing.assert_array_equal(keys, own_keys)
    np.testing.assert_array_equal(values, own_values)


def test_a_graph_is_replayed_as_the_text_grows() -> None:
    qkv, keys, values, table, cos, sin, positions = map(tp.from_numpy, given(0, 0, has_norm=False))
    out, slots = tp.empty((2, 6, 8)), tp.zeros(2, tp.i32)
    with tp.Graph() as graph:
        fused_decode_attention(qkv, keys, values, table, cos, sin, positions, out=out)
        stacked = (each.reshape(1, *each.shape) for each in (qkv, keys, values))
        append_layers(*stacked, cos, sin, positions, slots)
    for at in range(6):
        qkv[:] = some(2, 80, seed=10 + at)
        positions[:], pages = np.array([at, at], np.int32), table.numpy()[:, at // 4]
        slots[:] = (pages * 4 + at % 4).astype(np.int32)
        before = [each.numpy().copy() for each in (qkv, keys, values, table, cos, sin, positions)]
        graph.replay()
        assert_close(out.numpy().copy(), attended(*before))
    q = tk.rope(qkv.reshape(2, 10, 8)[:, :6], cos, sin, positions)
    again = tk.paged_attention(q, keys, values, table, tp.asarray([6, 6], dtype=tp.i32))
    assert_close(again.numpy(), out.numpy().astype(np.float64))


def test_nan_stays_with_its_sequence() -> None:
    args = given(5, 7)
    args[0][0, 0] = np.nan
    assert np.isnan(fused_decode_attention(*args)).any(axis=2).tolist() == [[True] + [False] * 5, [False] * 6]


def test_out_is_written_and_returned() -> None:
    args, out = given(5, 7), np.empty((2, 6, 8), np.float32)
    assert fused_decode_attention(*args, out=out) is out
    assert_close(out, attended(*args))


def test_trials_of_the_tuner_use_whole_caches() -> None:
    args = given(0, 0)
    arguments = dict(zip(("keys", "table", "cos", "positions"), (args[1], args[3], args[4], args[6]), strict=True))
    assert TUNABLES[0].inputs is not None
    TUNABLES[0].inputs(np.random.default_rng(0), arguments)
    assert arguments["positions"].tolist() == [23, 23]
    assert ((arguments["table"] >= 0) & (arguments["table"] < 30)).all()


def changed(place: int, value: Any) -> list[Any]:
    args = given(5, 7)
    args[place] = value
    return args


def appended(qkv: Any = None, pages: Any = None, slots: tuple[int, int] = (3, 4)) -> None:
    """An append with something else in one place."""
    pages = some(1, 30, 2, 4, 8) if pages is None else pages
    append_layers(
        some(1, 2, 80) if qkv is None else qkv, pages, pages.copy(), *angles(24, 8), np.arange(2), np.array(slots)
    )


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: fused_decode_attention(*changed(0, some(2, 81))), "heads of 8 elements"),
        (lambda: fused_decode_attention(*changed(1, some(30, 4, 8))), "pass an array of 4 axes"),
        (lambda: fused_decode_attention(*changed(3, np.array([0, 1]))), "pass an array of 2 axes"),
        (lambda: fused_decode_attention(*changed(3, np.array([[0, 30]] * 2))), "table"),
        (lambda: fused_decode_attention(*changed(6, np.array([0, 24]))), "positions"),
        (lambda: fused_decode_attention(*given(5, 7), scale=-1.0), "scale"),
        (lambda: appended(qkv=some(2, 80)), "(M, N, (H+2*G)*D)"),
        (lambda: appended(pages=some(30, 2, 4, 8)), "(M, P, G, S, D)"),
        (lambda: appended(slots=(3, 3)), "slots"),
    ],
)
def test_a_refusal_names_the_cure(call: Any, word: str) -> None:
    with pytest.raises(tp.LaunchError) as caught:
        call()
    assert word in str(caught.value)
