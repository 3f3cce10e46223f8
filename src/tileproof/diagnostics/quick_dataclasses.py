"""Dataclasses whose methods are not compiled one by one while modules load.

The standard library compiles six functions for a frozen dataclass with slots, which takes half a millisecond: of a
first launch whose code is on disk, that was the greatest part. Here an initializer, a comparison and a hash are
compiled when they are first called, and all classes share the rest. To type checkers it is the `dataclass` of the
standard library.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True, repr: bool = True
    ) -> Any:
        """The decorator of the standard library, with the options that are used here."""

        def decorated(cls: type) -> type:
            if not slots:
                return dataclasses.dataclass(frozen=frozen, eq=eq, repr=repr)(cls)
            return _with_slots(cls, frozen=frozen, eq=eq, repr=repr)

        return decorated if cls is None else decorated(cls)


__all__ = ["dataclass"]

_DEFAULT: Final = object()
"""The default of a parameter whose value a factory makes."""


def _with_slots(plain: type, *, frozen: bool, eq: bool, repr: bool) -> type:
    own = vars(plain)
    has_hash = own.get("__hash__") is not None
    cls: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(plain)
    methods: dict[str, Any] = {"__init__": _on_demand(cls, "__init__", _init)}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods["__eq__"] = _on_demand(cls, "__eq__", _equality)
        if not has_hash:
            cls.__hash__ = _on_demand(cls, "__hash__", _hash) if frozen else None
    if frozen:
        cls.__setattr__, cls.__delattr__ = _protection(cls)
        methods |= {"__getstate__": _state_of, "__setstate__": _set_state}
    for name, method in methods.items():
        if name not in own:
            setattr(cls, name, method)
    return cls  # type: ignore[no-any-return]


# Methods that are compiled when they are first called.


def _on_demand(cls: Any, name: str, write: Callable[[Any, dict[str, Any]], str]) -> Callable[..., Any]:
    """A method that compiles the real one and is replaced by it. `write` returns its source and adds its globals."""

    def method(self: Any, *args: Any, **named: Any) -> Any:
        known: dict[str, Any] = {}
        exec(write(cls, known), known)
        compiled = known[name]
        compiled.__qualname__ = f"{cls.__qualname__}.{name}"
        if vars(cls).get(name) is method:
            setattr(cls, name, compiled)
        return compiled(self, *args, **named)

    method.__name__ = name
    return method


def _init(cls: Any, known: dict[str, Any]) -> str:
    known["_DEFAULT"] = _DEFAULT
    parameters, lines = ["self"], []
    for item in dataclasses.fields(cls):
        name, value = item.name, item.name
        known[f"_set_{name}"] = getattr(cls, name).__set__  # of the slot
        has_factory, has_default = item.default_factory is not MISSING, item.default is not MISSING
        if has_factory:
            known[f"_make_{name}"] = item.default_factory
        elif has_default:
            known[f"_default_{name}"] = item.default
        if not item.init:
            if not (has_factory or has_default):
                continue
            value = f"_make_{name}()" if has_factory else f"_default_{name}"
        elif has_factory:
            parameters.append(f"{name}=_DEFAULT")
            value = f"_make_{name}() if {name} is _DEFAULT else {name}"
        else:
            parameters.append(f"{name}=_default_{name}" if has_default else name)
        lines.append(f"_set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"])


def _equality(cls: Any, known: dict[str, Any]) -> str:
    return (
        "def __eq__(self, other):\n"
        " if other.__class__ is not self.__class__:\n"
        "  return NotImplemented\n"
        f" return {_values(cls, 'self')} == {_values(cls, 'other')}"
    )


def _hash(cls: Any, known: dict[str, Any]) -> str:
    return f"def __hash__(self):\n return hash({_values(cls, 'self')})"


def _values(cls: Any, item: str) -> str:
    """The fields of an object that are compared, as the text of a tuple."""
    return f"({''.join(f'{item}.{member.name}, ' for member in dataclasses.fields(cls) if member.compare)})"


# Methods that all classes share.


@recursive_repr()
def _repr(self: Any) -> str:
    parts = (f"{member.name}={getattr(self, member.name)!r}" for member in dataclasses.fields(self) if member.repr)
    return f"{type(self).__qualname__}({', '.join(parts)})"


def _protection(cls: Any) -> tuple[Callable[[Any, str, Any], None], Callable[[Any, str], None]]:
    names = frozenset(cls.__dataclass_fields__)

    def set_field(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete_field(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return set_field, delete_field


def _state_of(self: Any) -> list[Any]:
    return [getattr(self, member.name) for member in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for member, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, member.name, value)
