"""Schedules say how programs are laid over a GPU, and nothing about what a kernel means."""

from __future__ import annotations

import copy
import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tileproof as tp
from support.source_files import load_file
from tileproof import In, Out, Schedule, Sum, f32

# What a schedule may say.

CHOICES: dict[str, tuple[list[Any], str]] = {
    "group": ([1, 2, 8, 10**6], "a whole number of at least 1"),
    "cluster": ([None, 1, 2, 4, 8, 16], "1, 2, 4, 8 or 16"),
    "occupancy": ([None, 1, 2, 32], "a whole number from 1 to 32"),
    "warps": ([None, 4, 8], "4 or 8"),
    "latency": ([None, 1, 5, 10], "a whole number from 1 to 10"),
    "persistent": ([False, True], "True or False"),
    "tma": ([True, False], "True or False"),
}
"""For each word the values that it may have, the first if nothing is said, and how a refusal names them."""
WRONG: dict[str, list[Any]] = {
    "group": [0, -1, None, 1.0, True, "2", np.int64(2)],
    "cluster": [0, 3, 6, 17, 32, 2.0, False, "2"],
    "occupancy": [0, 33, -1, 1.5, True],
    "warps": [0, 1, 2, 6, 16, 4.0, True],
    "latency": [0, 11, -3, 2.5, True],
    "persistent": [0, 1, None, "yes"],
    "tma": [0, 1, None, "no"],
}
SCHEDULES = st.builds(Schedule, **{name: st.sampled_from(values) for name, (values, _) in CHOICES.items()})


def said(schedule: Schedule) -> dict[str, Any]:
    return {name: getattr(schedule, name) for name in CHOICES}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in CHOICES for value in CHOICES[name][0]])
def test_a_schedule_says_what_it_is_told_and_nothing_else(name: str, value: Any) -> None:
    plain = {other: values[0] for other, (values, _) in CHOICES.items()}
    assert said(Schedule()) == plain
    assert said(Schedule(**{name: value})) == {**plain, name: value}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in WRONG for value in WRONG[name]])
def test_a_bad_value_is_refused_with_what_may_stand_there(name: str, value: Any) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 (the whole message is compared)
        Schedule(**{name: value})
    assert str(refused.value) == f"{name} of a schedule is {CHOICES[name][1]}, not {value!r}"


def test_words_are_given_by_name_and_must_exist() -> None:
    with pytest.raises(TypeError):
        Schedule(True)  # type: ignore[misc]
    with pytest.raises(TypeError, match="stages"):
        Schedule(stages=3)  # type: ignore[call-arg]


# Schedules are values.


@given(SCHEDULES, SCHEDULES)
def test_schedules_are_equal_if_they_say_the_same(one: Schedule, other: Schedule) -> None:
    assert (one == other) == (said(one) == said(other)) == (one.key == other.key)
    if one == other:
        assert hash(one) == hash(other)
    assert one == Schedule(**said(one))


def test_a_schedule_is_equal_to_nothing_else() -> None:
    assert Schedule() != ()
    assert Schedule() != Schedule().key
    assert Schedule(persistent=True) != Schedule(group=2)


def test_what_is_said_of_one_word_is_told_apart_from_the_same_of_another() -> None:
    made = [Schedule(**{name: value}) for name, (values, _) in CHOICES.items() for value in values[1:]]
    for one, other in itertools.combinations(made, 2):
        assert one.key != other.key


@given(SCHEDULES)
def test_the_text_of_a_schedule_is_how_it_is_made(schedule: Schedule) -> None:
    assert eval(repr(schedule), {"Schedule": Schedule}) == schedule


def test_the_text_of_a_schedule_says_only_what_is_not_plain() -> None:
    assert repr(Schedule()) == "Schedule()"
    assert repr(Schedule(warps=8, persistent=True, group=1)) == "Schedule(persistent=True, warps=8)"


@given(SCHEDULES)
def test_a_schedule_can_be_written_down_and_copied(schedule: Schedule) -> None:
    for made in (pickle.loads(pickle.dumps(schedule)), copy.copy(schedule), copy.deepcopy(schedule)):
        assert type(made) is Schedule
        assert made == schedule


def test_a_schedule_does_not_change() -> None:
    schedule = Schedule(group=2)
    with pytest.raises(AttributeError, match="make another with group=3"):
        schedule.group = 3
    with pytest.raises(AttributeError, match="does not change"):
        del schedule.group
    with pytest.raises(AttributeError):
        schedule.stages = 3  # type: ignore[attr-defined]
    assert schedule == Schedule(group=2)


# Kernels with a schedule.


@tp.kernel(schedule=Schedule(persistent=True, group=4, cluster=2, occupancy=2, warps=8, latency=3, tma=False))
def doubled(y: Out[f32, "M N"], x: In[f32, "M N"]) -> None:
    """Twice as much."""
    for m, n in tp.parallel(M=2, N=4):
        y[m, n] = x[m, n] * 2


@tp.kernel
def unscheduled(y: Out[f32, "M N"], x: In[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=2, N=4):
        y[m, n] = x[m, n] * 2


@tp.kernel(deny_checks=True, deterministic=True)
def summed(total: Sum[f32, "N"], x: In[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=2, N=4):
        total[n] += x[m, n].sum(axis=0)


def test_a_kernel_keeps_the_schedule_it_is_given() -> None:
    assert doubled.schedule == Schedule(persistent=True, group=4, cluster=2, occupancy=2, warps=8, latency=3, tma=False)
    assert unscheduled.schedule is None


@pytest.mark.parametrize("wrong", [8, "persistent", {"group": 2}, Schedule])
def test_only_a_schedule_is_a_schedule(wrong: Any) -> None:
    for make in (lambda: tp.kernel(schedule=wrong)(unscheduled.function), lambda: unscheduled.with_schedule(wrong)):
        with pytest.raises(TypeError, match=r"made by tp\.Schedule\(\.\.\.\)"):
            make()


@pytest.mark.parametrize("backend", ["interpreter", "cpu"])
def test_the_cpu_and_the_interpreter_pay_no_attention(backend: str) -> None:
    x = np.arange(35, dtype=np.float32).reshape(5, 7)
    results = []
    for kernel in (doubled, unscheduled, doubled.with_schedule(Schedule(group=3))):
        y = np.zeros_like(x)
        with tp.backend(backend):
            kernel(y, x)
        results.append(y)
    for result in results:
        assert np.array_equal(result, x * 2)


def test_a_schedule_changes_no_verdict() -> None:
    assert tp.check(doubled) == tp.check(unscheduled) == []


def test_the_same_kernel_with_another_schedule_is_another_kernel() -> None:
    made = doubled.with_schedule(Schedule(group=2))
    assert made is not doubled
    assert made.schedule == Schedule(group=2)
    assert doubled.schedule is not None
    assert doubled.schedule.persistent
    assert unscheduled.with_schedule(Schedule()).schedule == Schedule()


@pytest.mark.parametrize("kernel", [doubled, unscheduled, summed], ids=lambda kernel: kernel.name)
def test_with_schedule_keeps_everything_else(kernel: tp.Kernel) -> None:
    made = kernel.with_schedule(Schedule(group=2))
    for name in ("function", "name", "filename", "first_line", "source_lines", "deny_checks", "deterministic"):
        assert getattr(made, name) == getattr(kernel, name)
    for name in ("__name__", "__doc__", "__module__", "__qualname__", "__wrapped__"):
        assert getattr(made, name) == getattr(kernel, name)
    assert repr(made) == repr(kernel)


def test_kernels_with_other_schedules_share_nothing_that_changes() -> None:
    made = unscheduled.with_schedule(Schedule(group=2))
    x = np.ones((3, 4), np.float32)
    made(np.zeros_like(x), x)
    shared = [
        name for name, value in vars(made).items()
        if value is vars(unscheduled)[name] and not isinstance(value, str | tuple | frozenset | bool | int | type(None))
    ]  # fmt: skip
    assert set(shared) <= {"function", "__wrapped__", "__annotations__"}
    assert made.memos is not unscheduled.memos
    assert made.launch_cache is not unscheduled.launch_cache


TEXT = """
import tileproof as tp
from tileproof import In, Out, f32

@tp.kernel
def k(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = x[n] * 2
"""


def test_the_source_is_that_of_the_definition_also_if_its_file_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "scheduled.py"
    file.write_text(TEXT)
    kernel = load_file(file).k
    file.write_text(TEXT.replace("* 2", "* 3"))
    made = kernel.with_schedule(Schedule(group=2))
    assert made.source_lines == kernel.source_lines
    x, y = np.ones(6, np.float32), np.zeros(6, np.float32)
    made(y, x)
    assert y.tolist() == [2.0] * 6
