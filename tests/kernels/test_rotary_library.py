"""Rotations and appends: against float64, on the CPU and the interpreter; gradients; what is not a number; errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileproof as tp
from library_cases.rotary import PLACES, angles, appended_reference, cases, turned
from support.library import Case, assert_close, assert_right, each_choice
from support.tiers import examples
from tileproof.kernels import rotary
from tileproof.kernels.rotary import norm_rope_append, rope, rope_backward

CASES = cases()
RNG = np.random.default_rng(0)


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    return RNG.standard_normal(shape).astype(dtype)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rotations_and_appends_agree_with_float64(case: Case) -> None:
    assert_right(case, "cpu")


@pytest.mark.sweep(4)
@pytest.mark.parametrize("case", [each for each in CASES if each.on_interpreter][::3], ids=lambda case: case.name)
def test_rotations_and_appends_agree_with_float64_on_the_interpreter(case: Case) -> None:
    assert_right(case, "interpreter")


class Step:
    """Rows of one step of an engine: 2 heads of keys, each for 3 of queries, and pages of 4 entries."""

    def __init__(self, rows: int = 9, pages: int = 5) -> None:
        self.qkv, self.cos_sin = normal(rows, 10 * 8), angles(8)
        self.keys, self.values = normal(pages, 2, 4, 8), normal(pages, 2, 4, 8)
        self.positions = RNG.integers(0, PLACES, rows)
        self.slots = RNG.permutation(pages * 4)[:rows]
        self.norms = normal(8), normal(8)

    @property
    def args(self) -> list[Any]:
        return [self.qkv, self.keys, self.values, *self.cos_sin, self.positions, self.slots, *self.norms]


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 20), st.booleans(), st.integers(0, 2**32))
def test_only_named_slots_are_written(rows: int, has_norm: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    step = Step(rows)
    step.slots = np.where(rng.random(rows) < 0.3, -1, rng.permutation(20)[:rows])
    before = step.keys.copy(), step.values.copy()
    args = step.args if has_norm else step.args[:-2]
    wanted = appended_reference(*(each.copy() for each in args))
    q = norm_rope_append(*args)
    for got, want in zip((q, step.keys, step.values), wanted, strict=True):
        assert_close(got, want)
    kept = np.ones(20, bool)
    kept[step.slots[step.slots >= 0]] = False
    for now, then in zip((step.keys, step.values), before, strict=True):
        rest = (each.swapaxes(1, 2).reshape(20, 2, 8)[kept] for each in (now, then))
        assert next(rest).tobytes() == next(rest).tobytes()


@pytest.mark.parametrize("tunable", rotary.TUNABLES, ids=lambda each: each.name)
def test_every_choice_computes_the_same(tunable: Any) -> None:
    if tunable.name.startswith("rope"):
        x, places = normal(9, 5, 8), RNG.integers(0, PLACES, 9)
        sizes, back = {"N": 9, "H": 5, "D": 8, "P": PLACES}, tunable.name == "rope_backward"
        for _ in each_choice(tunable, "f32", sizes):
            cos, sin = angles(8)
            found = (rope_backward if back else rope)(x, cos, sin, places)
            assert_close(found, turned(x, cos, -sin if back else sin, places))
        return
    sizes = {"N": 9, "G": 2, "R": 3, "D": 8, "P": 5, "S": 4, "C": PLACES}
    for _ in each_choice(tunable, "f32", sizes):
        step = Step()
        args = step.args if tunable.name == "norm_rope_append" else step.args[:-2]
        wanted = appended_reference(*(each.copy() for each in args))
        for got, want in zip((norm_rope_append(*args), step.keys, step.values), wanted, strict=True):
            assert_close(got, want)


@pytest.mark.parametrize("tunable", rotary.TUNABLES, ids=lambda each: each.name)
@pytest.mark.parametrize("target", ["cpu", "sm_90"])
def test_a_space_is_small_and_holds_any_size(tunable: Any, target: str) -> None:
    for count in (0, 1, 8, 4096):
        sizes = {"N": count, "H": min(count, 64), "G": 8, "R": 4, "D": 128, "P": 100, "S": 64, "C": 4096}
        labels = [choice.label for choice in tunable.space(sizes, target)]
        assert len(set(labels)) == len(labels)
        assert 1 <= len(labels) <= 40
        assert tunable.default(sizes, target).kernel in tunable.kernels


def test_many_rows_of_four_heads_take_more_groups_on_an_h200() -> None:
    def chosen(rows: int, shared: int, target: str = "sm_90", tunable: Any = rotary.NORM_ROPE_APPEND) -> Any:
        sizes = {"N": rows, "G": 8, "R": shared, "D": 128, "P": 100, "S": 64, "C": 4096}
        return tunable.default(sizes, target)

    def groups(*given: Any, **named: Any) -> int:
        return int(chosen(*given, **named).constants["BG"])

    assert [groups(rows, 4) for rows in (1, 131, 132, 511, 512, 8192)] == [1, 1, 4, 4, 8, 8]
    assert [groups(512, shared) for shared in (1, 2, 8)] == [4, 4, 4]
    assert groups(512, 4, "sm_100") == groups(512, 4, tunable=rotary.NORM_ROPE_APPEND_PLAIN) == 4
    assert [chosen(rows, 4).schedule.occupancy for rows in (511, 512)] == [8, 4], "so many groups need registers"


def test_the_tuner_is_given_positions_and_slots_that_a_launch_takes() -> None:
    step = Step(rows=30)
    named = {"positions": step.positions, "slots": np.zeros(30, np.int32), "cos": step.cos_sin[0], "keys": step.keys}
    rotary.NORM_ROPE_APPEND.inputs(np.random.default_rng(1), named)
    step.slots = named["slots"]
    assert (np.sort(step.slots) == [-1] * 10 + list(range(20))).all()
    norm_rope_append(*step.args)


# What it means.


def test_scores_depend_on_the_difference_of_positions_alone() -> None:
    cos, sin = angles(16)
    q, k = normal(1, 1, 16, dtype=np.float64), normal(1, 1, 16, dtype=np.float64)

    def score(at: int, seen: int) -> float:
        turned_q, turned_k = (rope(each, cos, sin, np.array([place])) for each, place in ((q, at), (k, seen)))
        return float((turned_q * turned_k).sum())

    assert score(40, 37) == pytest.approx(score(3, 0), rel=1e-5)
    assert score(40, 37) != pytest.approx(score(40, 36), rel=1e-3)


def test_position_0_turns_nothing_and_a_turn_is_undone_by_its_gradient() -> None:
    cos, sin = angles(8)
    x, places = normal(9, 5, 8), RNG.integers(0, PLACES, 9)
    assert (rope(x, cos, sin, np.zeros(9, np.int64)) == x).all()
    assert_close(rope_backward(rope(x, cos, sin, places), cos, sin, places), x.astype(np.float64))


@pytest.mark.slow
def test_gradients_are_finite_differences_and_those_of_torch() -> None:
    cos, sin = angles(8)
    x, g, direction = (normal(9, 5, 8, dtype=np.float64) for _ in range(3))
    places = RNG.integers(0, PLACES, 9)
    dx = rope_backward(g, cos, sin, places)
    slope = ((rope(x + 1e-4 * direction, cos, sin, places) - rope(x - 1e-4 * direction, cos, sin, places)) * g).sum()
    assert slope / 2e-4 == pytest.approx((dx * direction).sum(), rel=1e-6)
    torch = pytest.importorskip("torch")
    leaf = torch.from_numpy(x).requires_grad_()
    c, s = (torch.from_numpy(each[places]).double().repeat(1, 2)[:, None] for each in (cos, sin))
    halves = torch.cat((-leaf[..., 4:], leaf[..., :4]), dim=-1)
    (leaf * c + halves * s).backward(torch.from_numpy(g))
    np.testing.assert_allclose(dx, leaf.grad.numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_what_is_not_finite_stays_in_its_head(odd: float) -> None:
    step = Step()
    plain = norm_rope_append(*step.args)
    keys = step.keys.copy()
    step.qkv[4, 2 * 8 + 3] = odd  # head 2 of the queries
    step.qkv[5, 7 * 8 + 1] = odd  # head 1 of the keys
    q = norm_rope_append(*step.args)
    is_odd = np.zeros((9, 6), bool)
    is_odd[4, 2] = True
    assert (q[~is_odd] == plain[~is_odd]).all()
    assert np.isnan(q[4, 2]).any()
    page, entry = divmod(int(step.slots[5]), 4)
    assert np.isnan(step.keys[page, 1, entry]).any()
    step.keys[page, 1, entry] = keys[page, 1, entry]
    assert (step.keys == keys).all()


def test_a_call_that_is_repeated_gives_the_same_bits() -> None:
    step = Step()
    first = norm_rope_append(*step.args).tobytes(), step.keys.tobytes(), step.values.tobytes()
    assert first == (norm_rope_append(*step.args).tobytes(), step.keys.tobytes(), step.values.tobytes())


# Arguments.


def test_results_go_to_out() -> None:
    cos, sin = angles(8)
    x, places, y, q = normal(9, 5, 8), RNG.integers(0, PLACES, 9), np.empty((9, 5, 8), np.float32), normal(9, 6, 8)
    assert rope(x, cos, sin, places, out=y) is y
    assert_close(y, turned(x, cos, sin, places))
    assert rope_backward(x, cos, sin, places, out=y) is y
    step = Step()
    wanted = appended_reference(*(each.copy() for each in step.args))
    assert norm_rope_append(*step.args, out=q) is q
    assert_close(q, wanted[0])


@pytest.mark.slow
def test_tensors_and_torch_come_back_as_they_are() -> None:
    step = Step()
    given = [tp.from_numpy(each) for each in step.args]
    wanted = appended_reference(*step.args)
    q = norm_rope_append(*given)
    assert isinstance(q, tp.Tensor)
    for got, want in zip((q, *given[1:3]), wanted, strict=True):
        assert_close(got.numpy(), want)
    torch = pytest.importorskip("torch")
    given = [torch.from_numpy(each) for each in step.args]
    q = norm_rope_append(*given)
    for got, want in zip((q, *given[1:3]), wanted, strict=True):
        assert_close(got.numpy(), want)


def test_a_step_is_recorded_once_and_replayed_with_other_slots() -> None:
    """With nothing allocated but before, as an engine does it."""
    step = Step()
    given, q = [tp.from_numpy(each) for each in step.args], tp.empty((9, 6, 8))
    with tp.Graph() as graph:
        norm_rope_append(*given, out=q)
    for _ in range(2):
        slots = RNG.permutation(20)[:9]
        tp.copy(given[6], tp.from_numpy(slots))
        step.slots = slots
        wanted = appended_reference(*(each.copy() for each in step.args))
        graph.replay()
        for got, want in zip((q, *given[1:3]), wanted, strict=True):
            assert_close(got.numpy().copy(), want)
        step.keys, step.values = (each.numpy().copy() for each in given[1:3])


def _changed(name: str, value: Any) -> list[Any]:
    step = Step()
    setattr(step, name, value)
    return step.args


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        (lambda: rope(normal(3, 2, 8), *angles(8), np.array([0, 1, PLACES])), "TP0607", "positions"),
        (lambda: rope(normal(3, 2, 8), *angles(8), np.array([0, 1, -1])), "TP0607", "positions"),
        (lambda: rope(normal(3, 2, 8), *angles(16), np.array([0, 1, 1])), "TP0604", "E"),
        (lambda: rope(normal(3, 2, 7), *angles(8), np.array([0, 1, 1])), "TP0604", "D"),
        (lambda: rope(normal(3, 16), *angles(16), np.array([0, 1, 1])), "TP0602", "(N, H, D)"),
        (lambda: rope(normal(3, 2, 8), *angles(8), np.array([0.0, 1, 1])), "TP0603", "positions"),
        (lambda: norm_rope_append(*_changed("slots", np.array([3] * 9))), "TP0607", "slots"),
        (lambda: norm_rope_append(*_changed("slots", np.arange(12, 21))), "TP0607", "slots"),
        (lambda: norm_rope_append(*_changed("qkv", normal(9, 9 * 8))), "TP0604", "multiple of 2"),
        (lambda: norm_rope_append(*_changed("qkv", normal(9, 81))), "TP0604", "heads of 8 elements"),
        (lambda: norm_rope_append(*_changed("qkv", normal(9, 10, 9))), "TP0604", "heads of 8 elements"),
        (lambda: norm_rope_append(*_changed("keys", normal(5, 4, 8))), "TP0602", "(P, G, S, D)"),
        (lambda: norm_rope_append(*_changed("values", normal(5, 2, 3, 8))), "TP0604", "S"),
    ],
)
def test_a_mistake_is_named_with_its_cure(call: Callable[[], Any], code: str, words: str) -> None:
    with pytest.raises(tp.LaunchError) as caught:
        call()
    assert caught.value.diagnostics[0].code.id == code
    assert words in str(caught.value)
