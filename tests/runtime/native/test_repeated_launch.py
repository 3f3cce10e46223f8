"""What is asked natively before a plan is followed; whatever is unusual is left to Python."""

from __future__ import annotations

import random
import sys
from contextvars import ContextVar
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from oracles.recording_driver import Driver, plan_of, plans_of
from tileproof.frontend.captures import MISSING
from tileproof.runtime.native import Plans, loader
from tileproof.runtime.native.repeated_launch import PlannedForm, RepeatedLaunch, repeated_launch, use_torch_stream
from tileproof.runtime.native.structures import LaunchContext

Array = np.ndarray[Any, Any]
KEY = b"A_VARIABLE_OF_A_TEST"


class Case:
    """A repeated_launch, and what it looks at."""

    def __init__(self, constants: dict[str, int] | None = None, forms: int = 1, ask: Any = None) -> None:
        self.one: ContextVar[Any] = ContextVar("one", default=None)
        self.two: ContextVar[Any] = ContextVar("two", default=None)
        self.streams: ContextVar[tuple[Any, ...]] = ContextVar("streams", default=())
        self.environment: dict[bytes, bytes] = {b"OTHER": b"1"}
        self.names: list[dict[str, Any]] = [{"a": "first", "b": 2} for _ in range(forms)]
        self.args = tuple(np.zeros(4, np.float32) for _ in range(2))
        self.drivers = [Driver() for _ in range(forms)]
        self.plans: list[Plans] = [plans_of(plan_of(self.args, driver, stream=None)) for driver in self.drivers]
        ways = [
            PlannedForm(((names, "a", names["a"]), (names, "b", names["b"]), (names, "none", MISSING)), ask, plans)
            for names, plans in zip(self.names, self.plans, strict=True)
        ]
        context = LaunchContext((self.one, self.two), self.environment, KEY, self.streams)
        self.follow: RepeatedLaunch = repeated_launch(constants or {}, ways, context)

    def goes(self, **constants: Any) -> bool:
        """Whether a launch follows natively."""
        before = sum(driver.calls for driver in self.drivers)
        went = self.follow(self.args, constants)
        assert sum(driver.calls for driver in self.drivers) - before == went
        return went


@pytest.fixture(autouse=True)
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(loader.loaded(), str):
        pytest.skip("there is no native code here")
    for name in ("torch", "cupy"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.fixture(autouse=True)
def as_before() -> Any:
    """What is looked at is one thing in a process; kernels of other tests want theirs back."""
    native = loader.loaded()
    assert not isinstance(native, str)
    before = bytes(native._runtime)
    yield
    after = type(native._runtime).from_buffer_copy(before)
    for name in ("environment", "key", "streams", "torch", "quiet"):
        setattr(native._runtime, name, getattr(after, name))


def test_what_is_usual_is_followed_natively() -> None:
    case = Case()
    assert case.goes()
    assert case.drivers[0].latest.stream == 0


@pytest.mark.parametrize("name", ["one", "two"])
def test_a_variable_that_is_set_is_for_python(name: str) -> None:
    case = Case()
    variable = getattr(case, name)
    token = variable.set("cpu")
    assert not case.goes()
    variable.set(None)
    assert case.goes()
    variable.reset(token)
    assert case.goes()


def test_the_environment_is_for_python_if_it_has_the_key() -> None:
    case = Case()
    case.environment[KEY] = b""
    assert not case.goes()
    del case.environment[KEY]
    assert case.goes()


def test_names_must_stand_for_what_they_stood_for() -> None:
    case = Case()
    (names,) = case.names
    for name, other in (("a", "".join(["fir", "st"])), ("b", 3), ("none", None)):
        before = names.get(name, MISSING)
        names[name] = other
        assert not case.goes()
        del names[name]
        assert case.goes() is (before is MISSING)
        if before is not MISSING:
            names[name] = before
        assert case.goes()


def test_what_else_is_asked_must_be_true() -> None:
    answers: list[Any] = [True, False, 1, None]

    def ask() -> Any:
        if not answers:
            raise ValueError
        return answers.pop(0)

    case = Case(ask=ask)
    assert [case.goes() for _ in range(5)] == [True, False, False, False, False]


def test_each_form_has_names_of_its_own() -> None:
    case = Case(forms=3)
    for form in range(3):
        assert case.goes()
        assert [driver.calls for driver in case.drivers] == [1] * (form + 1) + [0] * (2 - form)
        case.names[form]["a"] = None
    assert not case.goes()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"A": 1, "B": -300}, True), ({"B": -300, "A": 1}, True), ({"A": 1, "B": int("-300")}, True),
        ({"A": 1}, False), ({}, False), ({"A": 1, "B": -300, "C": 1}, False), ({"A": 1, "C": -300}, False),
        ({"A": True, "B": -300}, False), ({"A": 1.0, "B": -300}, False), ({"A": 2, "B": -300}, False),
        ({"A": 1, "B": 2**64 - 300}, False), ({"A": 1, "B": -(2**70)}, False), ({"A": [1], "B": -300}, False),
    ],
)  # fmt: skip
def test_constants_are_exactly_the_expected_ones(given: dict[str, Any], expected: bool) -> None:
    case = Case({"A": 1, "B": -300})
    assert case.goes(**given) is expected


def test_minus_one_is_not_a_number_that_is_too_large() -> None:
    case = Case({"A": -1})
    assert case.goes(A=-1)
    assert not case.goes(A=2**80)


def test_constants_that_are_too_large_are_left_to_python() -> None:
    case = Case({"A": 2**63})
    assert not case.goes(A=2**63)


def test_the_stream_of_the_innermost_block() -> None:
    case = Case()
    case.streams.set((SimpleNamespace(device=0, handle=8), SimpleNamespace(device=0, handle=16)))
    assert case.goes()
    assert case.drivers[0].latest.stream == 16
    case.streams.set((SimpleNamespace(device=1, handle=8),))
    assert not case.goes(), "of another device"
    for odd in (SimpleNamespace(device=None, handle=8), SimpleNamespace(device=0), object(), None):
        case.streams.set((odd,))
        assert not case.goes()


def test_libraries_that_have_streams_are_for_python(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case()
    for name in ("torch", "cupy"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, ModuleType(name))
            assert not case.goes()
    assert case.goes()


def test_a_torch_that_is_known_is_asked_for_its_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    case, torch = Case(), ModuleType("torch")
    native = loader.loaded()
    assert not isinstance(native, str)
    monkeypatch.setitem(sys.modules, "torch", torch)
    use_torch_stream(torch)
    monkeypatch.setattr(native._runtime, "torch_stream", None)
    assert not case.goes()
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    assert not case.goes()


def test_odd_calls_are_refused() -> None:
    case = Case()
    follow: Any = case.follow
    assert not follow(list(case.args), {})
    assert not follow(case.args, None)
    assert not follow(case.args)
    assert not follow(case.args, type("Kind", (dict,), {})())
    assert case.drivers[0].calls == 0


def test_no_reference_is_lost_or_kept() -> None:
    case = Case({"A": 70_000})
    stream = SimpleNamespace(device=0, handle=1 << 40)
    value, streams = object(), (stream,)
    case.streams.set(streams)
    constants = {"A": int("70000")}
    watched = [case.one, case.two, case.streams, streams, stream, stream.handle, case.args, constants, constants["A"],
               case.names[0], case.names[0]["a"], case.plans[0], case.follow, value, None, True, False]  # fmt: skip
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(10_000):
        assert case.follow(case.args, constants)
    case.one.set(value)
    for _ in range(10_000):
        assert not case.follow(case.args, constants)
    case.one.set(None)
    case.names[0]["c"] = None
    after = [sys.getrefcount(each) for each in watched]
    changes = [two - one for one, two in zip(before, after, strict=True)]
    assert all(abs(change) < 50 for change in changes), changes


@pytest.mark.parametrize("seed", range(5))
def test_it_says_what_python_would_say(seed: int) -> None:
    """Random surroundings, and the same questions asked in Python."""
    rng = random.Random(seed)
    case = Case({"A": 1}, forms=2)
    went = 0
    for _ in range(500):
        case.one.set(rng.choice([None, None, None, "cpu"]))
        case.two.set(rng.choice([None, None, None, 0]))
        if rng.random() < 0.2:
            case.environment[KEY] = b"1"
        else:
            case.environment.pop(KEY, None)
        for names in case.names:
            names["a"] = rng.choice(["first", "first", "other"])
            if rng.random() < 0.3:
                names["none"] = 1
            else:
                names.pop("none", None)
        arguments = {"A": rng.choice([1, 1, 1, True, 2])} if rng.random() < 0.9 else {}
        is_quiet = case.one.get() is None and case.two.get() is None and KEY not in case.environment
        is_same = list(arguments) == ["A"] and type(arguments["A"]) is int and arguments["A"] == 1
        is_current = any(names["a"] == "first" and "none" not in names for names in case.names)
        assert case.goes(**arguments) is (is_quiet and is_same and is_current)
        went += is_quiet and is_same and is_current
    assert 20 < went < 400
