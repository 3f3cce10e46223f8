"""Dataclasses that are compiled on demand: whatever can be seen of them is as the standard library has it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from types import SimpleNamespace
from typing import Any

import pytest

from tileproof.diagnostics import quick_dataclasses

KINDS: Any = {"standard": dataclasses.dataclass, "on demand": quick_dataclasses.dataclass}


def made_with(dataclass: Callable[..., Any]) -> SimpleNamespace:
    """The same classes, made by one of the decorators."""

    @dataclass(frozen=True, slots=True)
    class Base:
        """Has a field that is neither shown nor compared."""

        place: int = field(repr=False, compare=False)

    @dataclass(frozen=True, slots=True)
    class Pair(Base):
        left: object
        right: object = None
        rest: list[int] = field(default_factory=list)

    @dataclass(frozen=True, slots=True)
    class One:
        value: object

    @dataclass(frozen=True, slots=True)
    class Nothing:
        pass

    @dataclass(frozen=True, slots=True, eq=False)
    class Identity:
        name: str

    @dataclass(slots=True)
    class Open:
        name: str
        seen: set[int] = field(init=False, default_factory=set)
        size: int = field(init=False)

        def __post_init__(self) -> None:
            self.size = len(self.name)

    @dataclass(frozen=True, slots=True)
    class Own:
        name: str

        def __repr__(self) -> str:
            return f"<{self.name}>"

        def __eq__(self, other: object) -> bool:
            return repr(self).lower() == repr(other).lower()

        def __hash__(self) -> int:
            return 7

    class Plain(Pair):
        """No dataclass, so it has attributes of its own."""

    return SimpleNamespace(**{name: value for name, value in locals().items() if name != "dataclass"})


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives or raises, to be compared."""
    try:
        return call()
    except Exception as error:
        return type(error)


LOOKS: dict[str, Callable[[Any], Any]] = {
    "repr": lambda of: repr(of.Pair(1, 2, "x")).partition("Pair")[2],
    "repr of a loop": lambda of: repr((items := [], items.append(result := of.One(items)), result)[2]).count("..."),
    "own repr": lambda of: repr(of.Own("a")),
    "defaults": lambda of: (of.Pair(1, 2).right, of.Pair(1, 2).rest, of.Pair(1, 2).rest is of.Pair(1, 2).rest),
    "by name": lambda of: of.Pair(place=1, rest=[3], left=2).rest,
    "missing": lambda of: of.Pair(1),
    "unknown": lambda of: of.Pair(1, 2, wrong=3),
    "too many": lambda of: of.One(1, 2),
    "equal": lambda of: (of.Pair(1, 2) == of.Pair(9, 2), of.Pair(1, 2) == of.Pair(1, 3), of.Pair(1, 2) != of.One(2)),
    "same NaN": lambda of: (lambda nan: of.One(nan) == of.One(nan))(float("nan")),
    "a subclass": lambda of: of.Pair(1, 2) == of.Plain(1, 2),
    "nothing": lambda of: (of.Nothing() == of.Nothing(), hash(of.Nothing()) == hash(())),
    "hash": lambda of: (hash(of.One(5)) == hash((5,)), len({of.One("a"), of.One("a"), of.One("b")})),
    "no hash of lists": lambda of: hash(of.Pair(1, 2)),
    "no hash if open": lambda of: hash(of.Open("a")),
    "open": lambda of: (of.Open("abc").size, of.Open("abc").seen, of.Open("a") == of.Open("a")),
    "identity": lambda of: (of.Identity("a") == of.Identity("a"), len({of.Identity("a"), of.Identity("a")})),
    "own equality": lambda of: (of.Own("a") == of.Own("A"), hash(of.Own("a"))),
    "set": lambda of: setattr(of.One(1), "value", 2),
    "delete": lambda of: delattr(of.One(1), "value"),
    "set in a subclass": lambda of: setattr(of.Plain(1, 2), "left", 2),
    "replace": lambda of: dataclasses.replace(of.Pair(1, 2), left=5).left,
    "replace what is made": lambda of: dataclasses.replace(of.Open("a"), size=5),
    "as a tuple": lambda of: dataclasses.astuple(of.Pair(1, of.One(2))),
    "fields": lambda of: [(each.name, each.init, each.compare) for each in dataclasses.fields(of.Pair)],
    "match": lambda of: of.Pair.__match_args__,
    "slots": lambda of: (of.Pair.__slots__, hasattr(of.Pair(1, 2), "__dict__")),
    "copy": lambda of: (copy.copy(of.One([1])) == of.One([1]), copy.deepcopy(of.Pair(1, [2])).left),
    "annotations": lambda of: of.Pair.__annotations__,
}


@pytest.mark.parametrize("look", LOOKS)
def test_records_are_as_dataclasses_are(look: str) -> None:
    of = {name: made_with(dataclass) for name, dataclass in KINDS.items()}
    seen = {name: [outcome(lambda result=built: LOOKS[look](result)) for _ in range(2)] for name, built in of.items()}
    assert seen["on demand"] == seen["standard"]


def test_frozen_records_raise_the_error_of_frozen_dataclasses() -> None:
    item = made_with(quick_dataclasses.dataclass).One(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'value'"):
        item.value = 2
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'another'"):
        item.another = 2


def test_a_subclass_that_is_no_record_has_attributes_of_its_own() -> None:
    """The standard library raises `TypeError` here, of a class that its slots have replaced."""
    item = made_with(quick_dataclasses.dataclass).Plain(1, 2)
    item.another = 2
    assert item.another == 2


def test_records_survive_pickling(monkeypatch: pytest.MonkeyPatch) -> None:
    one = made_with(quick_dataclasses.dataclass).One
    one.__qualname__ = "One"
    monkeypatch.setattr(sys.modules[__name__], "One", one, raising=False)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(one((1, "a")), protocol)) == one((1, "a"))


def test_methods_are_compiled_when_they_are_first_called() -> None:
    one = made_with(quick_dataclasses.dataclass).One
    assert one.__init__.__code__.co_filename == quick_dataclasses.__file__
    item = one(1)
    assert one.__init__.__code__.co_varnames == ("self", "value")
    assert one.__hash__.__code__.co_filename == quick_dataclasses.__file__
    assert hash(item) == hash(one(1))
    assert one.__hash__.__code__.co_filename != quick_dataclasses.__file__


def test_members_of_one_class_are_not_those_of_a_subclass() -> None:
    """A class that has no methods of its own yet compiles those of its base for its base."""
    of = made_with(quick_dataclasses.dataclass)
    assert of.Plain(1, 2).left == 2
    assert of.Pair(1, 2) == of.Pair(1, 2)
    assert "__init__" not in vars(of.Plain)
