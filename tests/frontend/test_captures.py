"""Captured values are watched: every way in which one can change is noticed, and what did not change costs little."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.source_files import load_text
from support.tiers import examples
from tileproof.compiler.proved import Proved
from tileproof.frontend.captures import Capture, watch
from tileproof.runtime.launch.launch import prepare

TEXT = """
import types

import tileproof as tp
from tileproof import In, Out, f32

NUMBER = 2.0
PAIR = (1.0, 2.0)
settings = types.ModuleType("settings")
settings.SCALE = 3.0
settings.inner = types.ModuleType("inner")
settings.inner.DEEP = 4.0


def inner_helper(x):
    return x + NUMBER


def helper(x, by=2.0):
    return inner_helper(x) * by


def keyword_helper(x, *, by=2.0):
    return x * by


def other_helper(x, by=2.0):
    return x - by


def listed_helper(x):
    return x + 1.0


LISTED = (listed_helper, 1.0)
settings.helper = listed_helper


@tp.kernel
def plain(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        t = x[n] * NUMBER + PAIR[0] + settings.SCALE + settings.inner.DEEP
        for i in range(2):
            t = helper(t)
        y[n] = settings.helper(t)


@tp.kernel
def close(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        y[n] = LISTED[0](keyword_helper(x[n])) + LISTED[1]


cell = SHARED = 5.0


def enclosing():
    cell = SHARED  # the same object is also a global of the same name, which is not what the kernel sees

    @tp.kernel
    def closed(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
        for n in tp.parallel(N=4):
            y[n] = x[n] * cell

    def change(value):
        nonlocal cell
        cell = value

    def remove():
        nonlocal cell
        del cell

    return closed, change, remove


closed, change, remove = enclosing()
"""


def proved(module: ModuleType, name: str) -> Proved:
    found, _ = prepare(getattr(module, name), (np.zeros(8, np.float32), np.ones(8, np.float32)), {})
    return found


@pytest.fixture
def module() -> Iterator[ModuleType]:
    """A module of kernels."""
    before = builtins.range
    yield load_text(TEXT)
    builtins.range = before  # type: ignore[misc]


@dataclass(frozen=True)
class Change:
    """A way in which something that a kernel captured changes."""

    kernel: str
    make: Callable[[ModuleType], object]


def _another_range(*given: int, _range: type[range] = range) -> range:
    return _range(*given)


def _replaced_code(module: ModuleType, name: str) -> None:
    getattr(module, name).__code__ = module.other_helper.__code__


CHANGES: dict[str, Change] = {
    "a global is bound again": Change("plain", lambda m: setattr(m, "NUMBER", 2.5)),
    "a global is bound to an equal number of another type": Change("plain", lambda m: setattr(m, "NUMBER", 2)),
    "a global becomes -0.0": Change("plain", lambda m: setattr(m, "NUMBER", -0.0)),
    "a global is deleted": Change("plain", lambda m: delattr(m, "NUMBER")),
    "a global hides a builtin": Change("plain", lambda m: setattr(m, "range", lambda count: [0])),
    "a builtin is replaced": Change("plain", lambda m: setattr(builtins, "range", _another_range)),
    "a value in a tuple": Change("plain", lambda m: setattr(m, "PAIR", (1.5, 2.0))),
    "an attribute of a module": Change("plain", lambda m: setattr(m.settings, "SCALE", 3.5)),
    "an attribute of a module goes": Change("plain", lambda m: delattr(m.settings, "SCALE")),
    "an attribute of a module in a module": Change("plain", lambda m: setattr(m.settings.inner, "DEEP", 1.0)),
    "a module in a module": Change("plain", lambda m: setattr(m.settings, "inner", ModuleType("inner"))),
    "a module": Change("plain", lambda m: setattr(m, "settings", ModuleType("settings"))),
    "a helper": Change("plain", lambda m: setattr(m, "helper", m.other_helper)),
    "a helper that a helper calls": Change("plain", lambda m: setattr(m, "inner_helper", m.listed_helper)),
    "a helper that is an attribute": Change("plain", lambda m: setattr(m.settings, "helper", m.helper)),
    "the code of a helper": Change("plain", lambda m: _replaced_code(m, "helper")),
    "the code of a helper that a helper calls": Change("plain", lambda m: _replaced_code(m, "inner_helper")),
    "the defaults of a helper": Change("plain", lambda m: setattr(m.helper, "__defaults__", (3.0,))),
    "the defaults of a helper go": Change("plain", lambda m: setattr(m.helper, "__defaults__", None)),
    "a helper gets defaults by name": Change("plain", lambda m: setattr(m.helper, "__kwdefaults__", {"by": 3.0})),
    "all defaults by name": Change("close", lambda m: setattr(m.keyword_helper, "__kwdefaults__", {"by": 3.0})),
    "one default by name": Change("close", lambda m: m.keyword_helper.__kwdefaults__.update(by=3.0)),
    "all defaults by name go": Change("close", lambda m: setattr(m.keyword_helper, "__kwdefaults__", None)),
    "the code of a helper in a tuple": Change("close", lambda m: _replaced_code(m, "listed_helper")),
    "a number beside a helper in a tuple": Change("close", lambda m: setattr(m, "LISTED", (m.LISTED[0], 2.0))),
    "a cell of the closure": Change("closed", lambda m: m.change(6.0)),
    "a cell of the closure goes": Change("closed", lambda m: m.remove()),
}  # fmt: skip


@pytest.mark.parametrize("way", CHANGES)
def test_every_change_of_what_was_captured_is_noticed(module: ModuleType, way: str) -> None:
    found = proved(module, CHANGES[way].kernel)
    assert found.watch()
    assert found.elaborated.is_current
    CHANGES[way].make(module)
    assert not found.watch()
    assert not found.elaborated.is_current
    assert not found.is_current


@pytest.mark.parametrize("way", CHANGES)
def test_a_change_before_the_first_question_is_noticed_too(module: ModuleType, way: str) -> None:
    """Captures are made when a kernel is read, and watched from its first launch on."""
    captures = proved(module, CHANGES[way].kernel).elaborated.captures
    CHANGES[way].make(module)
    assert not watch(captures)()


@pytest.mark.parametrize("kernel", ["plain", "close", "closed"])
def test_what_has_nothing_to_do_with_a_kernel_may_change(module: ModuleType, kernel: str) -> None:
    found = proved(module, kernel)
    module.OTHER = 1
    module.other_helper.__defaults__ = (9.0,)
    module.settings.OTHER = 1
    module.helper.__doc__ = "Said otherwise."
    assert found.watch()


def test_an_equal_number_is_the_same_number_to_a_close_look(module: ModuleType) -> None:
    """Watching may doubt without reason; what decides is the close look."""
    found = proved(module, "plain")
    module.NUMBER = float("2.0")
    module.PAIR = (float("1.0"), 2.0)
    assert found.elaborated.is_current
    assert found.is_current


def test_what_changes_back_is_current_again(module: ModuleType) -> None:
    found, before = proved(module, "plain"), module.NUMBER
    module.NUMBER = 7.0
    assert not found.is_current
    module.NUMBER = before
    assert found.watch()
    assert found.is_current


# Any changes, in any order.


@dataclass(frozen=True)
class Step:
    """A change or its undoing, as a name and a value out of few, so that things change back now and then."""

    name: str
    pick: int


def _places(m: Any) -> dict[str, tuple[Any, str, tuple[Any, ...]]]:
    """Where something changes, under which name, and what it may become; the first is what it was."""
    by = {"by": 2.0}
    return {
        "global": (m, "NUMBER", (m.NUMBER, 2, 3.0, float("2.0"), True)),
        "pair": (m, "PAIR", (m.PAIR, (1, 2.0), (1.0, 3.0), (float("1.0"), 2.0), (1.0,))),
        "scale": (m.settings, "SCALE", (m.settings.SCALE, 3, 4.0, float("3.0"), None)),
        "helper": (m, "helper", (m.helper, m.other_helper, 1.0, None, m.listed_helper)),
        "code": (m.helper, "__code__", (m.helper.__code__, m.other_helper.__code__, m.helper.__code__.replace())),
        "defaults": (m.helper, "__defaults__", (m.helper.__defaults__, (3.0,), None, (float("2.0"),), (2,))),
        "named": (m.helper, "__kwdefaults__", (None, {}, {"by": 1.0}, by)),
        "keyword": (m.keyword_helper, "__kwdefaults__", (by, {"by": 2}, None, {}, {"by": 3.0})),
        "listed": (m, "LISTED", (m.LISTED, (m.listed_helper, 1.0), (m.helper, 1.0), (), None)),
        "hidden": (m, "range", (range, abs, None)),
        "cell": (m, "cell", (5.0, 5, 6.0, float("5.0"), None)),
    }


STEPS = st.builds(Step, st.sampled_from(list(_places(load_text(TEXT)))), st.integers(0, 4))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=8), st.integers(0, 8))
def test_watching_never_says_that_what_is_out_of_date_is_current(steps: list[Step], first: int) -> None:
    """`first`: how many of the steps come before the watch begins."""
    module: Any = load_text(TEXT)
    found, places = [proved(module, name).elaborated for name in ("plain", "close", "closed")], _places(module)
    watches = None
    for number, step in enumerate(steps):
        if number >= first and watches is None:
            watches = [watch(each.captures) for each in found]
        where, name, values = places[step.name]
        value = values[step.pick % len(values)]
        module.change(value) if name == "cell" else setattr(where, name, value)
        for is_current, each in zip(watches or [watch(each.captures) for each in found], found, strict=True):
            assert not is_current() or each.is_current, step


# What it costs.


def test_a_plain_kernel_is_not_looked_at_closely(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, closed = proved(module, "plain").watch, proved(module, "closed").watch
    looked: list[Capture] = []

    def look(capture: Capture) -> bool:
        looked.append(capture)
        return True

    monkeypatch.setattr(Capture, "is_current", property(look))
    assert plain()
    assert looked == []
    assert closed()
    assert [capture.path for capture in looked] == [("cell",)]


def test_a_kernel_without_captures_of_its_own_is_current_for_good() -> None:
    assert watch(())()
