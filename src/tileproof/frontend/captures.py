"""Names that a kernel captures from outside: which values are allowed, and whether they have changed since.

A kernel captures by value: numbers, element types, helper functions and the names of the language. Captures are
recorded, so that a compiled kernel is not used after a captured constant has changed.

Every launch checks this, so the check is fast. Most captures are entries of a dict: the globals of a function, or the
attributes of a module. While each dict still holds the captured object itself, nothing can have changed. All other
captures are compared one by one.
"""

from __future__ import annotations

import ast
import builtins
import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import field
from types import CellType, FunctionType, ModuleType
from typing import Any, TypeAlias

import numpy as np

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.diagnostics.spans import Span
from tileproof.ir.types import Extent
from tileproof.language.dtypes import ALL, BOOL, DType, DTypeVar

from .source import FunctionSource, reject

MISSING: Any = object()


@dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """A captured value, and the names under which it was found."""

    function: FunctionType
    path: tuple[str, ...]
    value: Any
    made_of: tuple[Any, ...] = field(init=False, repr=False)
    """The code and defaults of a captured helper, which may be replaced later."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "made_of", _made_of(self.value))

    @property
    def is_current(self) -> bool:
        current = find_name(self.function, self.path[0])
        for attribute in self.path[1:]:
            current = getattr(current, attribute, MISSING)
        return same(current, self.value) and (not self.made_of or same(_made_of(current), self.made_of))


def _made_of(value: Any) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return tuple(part for part in map(_made_of, value) if part)
    if not isinstance(value, FunctionType) or is_language(value):
        return ()
    return value.__code__, value.__defaults__, tuple((value.__kwdefaults__ or {}).items())


def is_language(function: FunctionType) -> bool:
    """Whether a function is one of the language's, which never changes, and does not only call itself so.

    `functools.wraps` gives a helper the names of what it wraps.
    """
    module = function.__module__
    own = getattr(sys.modules.get(module), function.__qualname__, None)
    return own is function and module.startswith("tileproof.language.")


def same(left: Any, right: Any) -> bool:
    """Whether two captured values are one and the same constant: type and value, NaN included."""
    if left is right:
        return True
    if type(left) is not type(right) or not isinstance(left, bool | int | float | str | Extent | tuple):
        return False
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float):
        both_nan = math.isnan(left) and math.isnan(right)
        return both_nan or (left == right and math.copysign(1, left) == math.copysign(1, right))
    return bool(left == right)


def find_name(function: FunctionType, name: str) -> Any:
    """The value of `name` as Python resolves it in `function`; `MISSING` if there is none."""
    cells: tuple[CellType, ...] = function.__closure__ or ()
    for free, cell in zip(function.__code__.co_freevars, cells, strict=False):
        if free == name:
            try:
                return cell.cell_contents
            except ValueError:
                return MISSING
    if name in function.__globals__:
        return function.__globals__[name]
    return getattr(builtins, name, MISSING)


def find_expression(function: FunctionType, node: ast.expr) -> Any:
    """The value of a name with attributes, such as `tp.f32`, in `function`; `MISSING` if there is none."""
    match node:
        case ast.Name(id=name):
            return find_name(function, name)
        case ast.Attribute(value=value, attr=attribute):
            return getattr(find_expression(function, value), attribute, MISSING)
        case ast.Constant(value=None):
            return None
        case _:
            return MISSING


def in_reach(text: str, function: FunctionType) -> str:
    """Code for an edit, with `tp.dim` and `f32` spelled by names that `function` can see."""
    package = next((name for name, value in function.__globals__.items() if _is_package(value)), None)
    if package is None:
        return text
    if not _is_package(find_name(function, "tp")):
        text = re.sub(r"\btp\.", f"{package}.", text)
    unseen = [dtype.name for dtype in ALL if dtype is not BOOL and find_name(function, dtype.name) is MISSING]
    return re.sub(rf"\.to\(({'|'.join(unseen)})\)", rf".to({package}.\1)", text) if unseen else text


def _is_package(value: Any) -> bool:
    return isinstance(value, ModuleType) and value.__name__ == "tileproof"


def is_capturable(value: Any) -> bool:
    """Whether a kernel may capture `value`: immutable, and of a kind that the language has."""
    if isinstance(value, tuple):
        return all(map(is_capturable, value))
    if isinstance(value, np.generic):
        return False
    return (
        value is None
        or isinstance(value, bool | int | float | str | DType | DTypeVar | FunctionType | ModuleType | type)
        or callable(value)
        or type(value).__module__.startswith("tileproof.language")
    )


def check_capture(value: Any, name: str, function: FunctionSource, span: Span) -> None:
    """Rejects values that could change while a compiled kernel exists, or have no meaning on a device."""
    if is_capturable(value):
        return
    kind = type(value).__name__
    article = "an" if kind[0] in "aeioun" else "a"
    raise reject(
        Code.MUTABLE_CAPTURE,
        f"`{name}` is {article} {kind}, which a kernel cannot capture",
        span,
        label=f"{article} {kind} from outside `{function.name}`",
        notes=("a kernel captures by value: numbers, element types, tuples of these, and helper functions",),
        help=f"make `{name}` a tuple" if isinstance(value, list) else f"pass `{name}` as a parameter",
    )


def as_dtype(value: Any) -> DType | DTypeVar | None:
    """A captured value as an element type; Python's `bool` is one too."""
    if isinstance(value, DType | DTypeVar):
        return value
    return BOOL if value is bool else None


Named: TypeAlias = tuple[dict[str, Any], str, Any]
"""A dict, a key, and its value; `MISSING` if there is none."""


def watch(captures: Sequence[Capture]) -> Callable[[], bool]:
    """A function that returns True only while no capture has changed. It may return False although none has."""
    entries, closely = split(captures)

    def is_current() -> bool:
        for where, name, value in entries:
            if where.get(name, MISSING) is not value:
                return False
        return closely is None or closely()

    return is_current


def split(captures: Sequence[Capture]) -> tuple[tuple[Named, ...], Callable[[], bool] | None]:
    """The check in two parts: entries of dicts to compare, and a function for the other captures."""
    by_place: dict[tuple[int, str], Named] = {}
    close: list[Capture] = []
    helpers = []
    for capture in captures:
        entries = _held(capture)
        if entries is None:
            close.append(capture)
            continue
        by_place.update({(id(where), name): (where, name, value) for where, name, value in entries})
        if capture.made_of:
            # The helper as it was captured: its code may have been replaced since.
            code, defaults, named = capture.made_of
            helpers.append((capture.value, code, defaults))
            if named:
                close.append(capture)

    def closely() -> bool:
        for helper, code, defaults in helpers:
            if helper.__code__ is not code or helper.__defaults__ is not defaults or helper.__kwdefaults__:
                return False
        return not close or all(capture.is_current for capture in close)

    return tuple(by_place.values()), closely if helpers or close else None


def _held(capture: Capture) -> list[Named] | None:
    """The dict entries that determine a capture; None if it must be compared in full."""
    function, (first, *attributes) = capture.function, capture.path
    if first in function.__code__.co_freevars or not _is_watchable(capture.value):
        return None
    entries: list[Named] = []
    value = function.__globals__.get(first, MISSING)
    entries.append((function.__globals__, first, value))
    if value is MISSING:
        value = getattr(builtins, first, MISSING)
        entries.append((vars(builtins), first, value))
    for attribute in attributes:
        if not isinstance(value, ModuleType) or attribute not in vars(value):
            return None
        entries.append((vars(value), attribute, vars(value)[attribute]))
        value = vars(value)[attribute]
    return entries if value is capture.value else None


def _is_watchable(value: Any) -> bool:
    """Whether a value cannot change, or is a helper whose code and defaults are quick to compare."""
    if isinstance(value, tuple):
        return not any(isinstance(part, FunctionType | tuple) for part in value)
    return not isinstance(value, FunctionType) or not value.__kwdefaults__ or is_language(value)
