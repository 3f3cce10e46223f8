"""What kernels say, as one number: records of times hold as long as it is the same.

It is made of syntax, without docstrings, comments and places, so that moving a kernel or explaining it changes nothing.
Functions and constants that a kernel names belong to it, and so on from function to function. It is the same in every
version of Python.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any, Final

from tileproof.frontend.names import MISSING, find_name, is_language
from tileproof.frontend.source import read_function
from tileproof.language.dtypes import DType, DTypeVar
from tileproof.language.kernel import Kernel

_UNSAID: Final = frozenset(("ctx", "kind", "type_comment", "type_params", "decorator_list"))
"""Fields of syntax that say nothing, or that not every version of Python has."""
_LENGTH: Final = 16


def source_hash(kernels: Iterable[Kernel]) -> str:
    """The number of some kernels together."""
    said = []
    for kernel in sorted(kernels, key=lambda each: each.name):
        how = (kernel.name, kernel.deterministic, repr(kernel.schedule) if kernel.schedule else "")
        said.append((how, _function(kernel.function, kernel.source_lines or None, {kernel.function: kernel.name})))
    return hashlib.sha256(repr(said).encode()).hexdigest()[:_LENGTH]


def _function(function: FunctionType, lines: tuple[str, ...] | None, seen: dict[FunctionType, str]) -> object:
    """A function's syntax, and what the names in it stand for."""
    tree = read_function(function, lines).tree
    names = sorted(set(_paths(tree)))
    meanings = [(".".join(path), _meaning(_value(function, path), seen)) for path in names]
    return _said(tree), [pair for pair in meanings if pair[1] is not None]


def _said(node: object) -> object:
    """Syntax as nested tuples."""
    match node:
        case ast.AST():
            fields = ((name, getattr(node, name, None)) for name in node._fields if name not in _UNSAID)
            parts = tuple(
                (name, _said(_undocumented(node, name, value))) for name, value in fields if value not in (None, [])
            )
            return (type(node).__name__, parts)
        case list():
            return tuple(map(_said, node))
        case _:
            return repr(node)


def _undocumented(node: ast.AST, field: str, value: Any) -> Any:
    if field == "body" and isinstance(node, ast.FunctionDef):
        match value:
            case [ast.Expr(value=ast.Constant(value=str())), *rest]:
                return rest
    if field == "value" and isinstance(node, ast.Constant) and value is None:
        return "None"  # unlike a field that is not there
    return value


def _paths(tree: ast.AST) -> Iterator[tuple[str, ...]]:
    """The names in a function, with the attributes that are read of them: `f`, `module.f`."""
    inner = set()
    for node in ast.walk(tree):
        path = _path(node)
        if path and node not in inner:
            yield path
        if isinstance(node, ast.Attribute):
            inner.add(node.value)


def _path(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.Name(id=name):
            return (name,)
        case ast.Attribute(value=value, attr=attribute):
            before = _path(value)
            return (*before, attribute) if before else ()
        case _:
            return ()


def _value(function: FunctionType, path: tuple[str, ...]) -> Any:
    """What a path leads to: attributes are followed through modules."""
    if path[0] in function.__code__.co_varnames:
        return MISSING
    value = find_name(function, path[0])
    for attribute in path[1:]:
        if not isinstance(value, ModuleType):
            break
        value = getattr(value, attribute, MISSING)
    return value


def _meaning(value: Any, seen: dict[FunctionType, str]) -> object:
    """What a name stands for; None for what is the same everywhere."""
    match value:
        case bool() | int() | float() | str() | bytes():
            return repr(value)
        case tuple():
            return tuple(_meaning(each, seen) for each in value)
        case DType() | DTypeVar():
            return repr(value)
        case FunctionType() if not is_language(value) and value not in seen:
            seen[value] = value.__qualname__
            defaults = [_meaning(each, seen) for each in (value.__defaults__ or ())]
            return _function(value, None, seen), defaults
        case _:
            return None
