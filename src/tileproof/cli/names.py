"""What the names of a file mean, by its source alone: nothing is imported, nothing runs.

A name is followed through scopes, imports and plain assignments to where it comes from, as a dotted path:
`tileproof.raw.load`, or `.common.tp.unsafe` where it came by a relative import.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Binding: TypeAlias = "ast.expr | str | None"
"""What a name stands for: another expression, a path, or something that only running the file would tell."""

_HOMES = ("tileproof.language.unsafe.", "tileproof.language.kernel.")
"""Modules in which public names are defined; `tileproof` is where users find them."""


@dataclass(slots=True)
class Scope:
    """The names a module, class or function binds, in any order: a branch not taken must not hide a binding."""

    outer: Scope | None = None
    is_class: bool = False
    names: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    """Modules of which everything is imported."""

    def path(self, node: ast.expr) -> str | None:
        """Where the thing that an expression names comes from; None if the file does not tell."""
        return self._path(node, frozenset())

    def _path(self, node: ast.expr, seen: frozenset[tuple[int, str]]) -> str | None:
        tail: list[str] = []
        while isinstance(node, ast.Attribute):
            tail.append(node.attr)
            node = node.value
        start = self._origin(node.id, seen) if isinstance(node, ast.Name) else None
        return None if start is None else _public(_below(start, *reversed(tail)))

    def _origin(self, name: str, seen: frozenset[tuple[int, str]]) -> str | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is self or not scope.is_class):
                return scope._bound(name, seen)
            scope = scope.outer
        return _preferred([_below(module, name) for module in self._all_stars()])

    def _bound(self, name: str, seen: frozenset[tuple[int, str]]) -> str | None:
        if (id(self), name) in seen:
            return None
        seen |= {(id(self), name)}
        found = (self._path(each, seen) if isinstance(each, ast.expr) else each for each in self.names[name])
        return _preferred([path for path in found if path is not None])

    def _all_stars(self) -> Iterator[str]:
        scope: Scope | None = self
        while scope is not None:
            yield from scope.stars
            scope = scope.outer


def _preferred(paths: Sequence[str]) -> str | None:
    """Of several origins tileproof, if it is among them: `try: import tileproof as tp`, `except: tp = None`."""
    return next((path for path in paths if is_tileproof(path)), paths[0] if paths else None)


def is_tileproof(path: str) -> bool:
    """Whether a path leads into this package."""
    return path == "tileproof" or path.startswith("tileproof.")


def _public(path: str) -> str:
    for home in _HOMES:
        if path.startswith(home):
            return "tileproof." + path.removeprefix(home)
    return path


def _below(start: str, *names: str) -> str:
    """`tileproof`, `raw` make `tileproof.raw`; `..`, `tp` make `..tp`."""
    for name in names:
        start = start + name if start.endswith(".") else f"{start}.{name}"
    return start


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands."""

    scope: Scope
    functions: tuple[tuple[ast.AST, Scope], ...] = ()
    """The functions and classes around it, outermost first, each with the scope it is defined in."""
    holders: tuple[ast.AST, ...] = ()
    """The `with` blocks around it, outermost first."""


def walk(tree: ast.Module) -> Iterator[tuple[ast.AST, Place]]:
    """Every node with its place, in the order of the source. Without recursion: expressions may be very deep."""
    pending: list[tuple[ast.AST, Place]] = [(tree, Place(_scope(tree.body)))]
    while pending:
        node, place = pending.pop()
        yield node, place
        pending.extend(reversed(list(_children(node, place))))


def _children(node: ast.AST, place: Place) -> Iterator[tuple[ast.AST, Place]]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            arguments = () if isinstance(node, ast.ClassDef) else _arguments(node.args)
            scope = _scope(node.body, arguments, place.scope, isinstance(node, ast.ClassDef))
            inner = Place(scope, (*place.functions, (node, place.scope)), place.holders)
            body: Sequence[ast.AST] = node.body
        case ast.Lambda():
            inner = Place(_scope([], _arguments(node.args), place.scope), place.functions, place.holders)
            body = [node.body]
        case ast.With() | ast.AsyncWith():
            inner = Place(place.scope, place.functions, (*place.holders, node))
            body = node.body
        case _:
            inner, body = place, ()
    inside = {id(child) for child in body}
    for child in ast.iter_child_nodes(node):
        yield child, inner if id(child) in inside else place


def _arguments(arguments: ast.arguments) -> tuple[str, ...]:
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return tuple(each.arg for each in listed if each is not None)


def _scope(
    body: Sequence[ast.stmt], arguments: Sequence[str] = (), outer: Scope | None = None, is_class: bool = False
) -> Scope:
    scope = Scope(outer, is_class, {name: [None] for name in arguments})
    elsewhere: set[str] = set()
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        match node:
            case ast.Global() | ast.Nonlocal():
                elsewhere.update(node.names)
            case ast.Import() | ast.ImportFrom():
                _import(scope, node)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    _assign(scope, target, value)
            case ast.AnnAssign(target=ast.Name(), value=value) if value is not None:
                _assign(scope, node.target, value)
            case ast.NamedExpr(target=target, value=value):
                _assign(scope, target, value)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                _bind(scope, name, None)
                continue
            case ast.Lambda():
                continue
            case ast.Name(id=name, ctx=ast.Store()):
                _bind(scope, name, None)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                _bind(scope, name, None)
        pending.extend(ast.iter_child_nodes(node))
    for name in elsewhere:
        scope.names.pop(name, None)
    return scope


def _bind(scope: Scope, name: str, meaning: Binding) -> None:
    scope.names.setdefault(name, []).append(meaning)


def _assign(scope: Scope, target: ast.expr, value: ast.expr) -> None:
    """`u = tp.unsafe`, and `u, r = tp.unsafe, tp.raw` piece by piece."""
    if isinstance(target, ast.Name):
        _bind(scope, target.id, value)
    elif (
        isinstance(target, ast.Tuple | ast.List)
        and isinstance(value, ast.Tuple | ast.List)
        and len(target.elts) == len(value.elts)
    ):
        for each, meaning in zip(target.elts, value.elts, strict=True):
            _assign(scope, each, meaning)


def _import(scope: Scope, node: ast.Import | ast.ImportFrom) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            _bind(scope, alias.asname or alias.name.partition(".")[0], _imported(alias))
        return
    module = "." * node.level + (node.module or "")
    for alias in node.names:
        if alias.name == "*":
            scope.stars.append(module)
        else:
            _bind(scope, alias.asname or alias.name, _below(module, alias.name))


def _imported(alias: ast.alias) -> str:
    """`import a.b as x` makes x of `a.b`; `import a.b` makes a of `a`."""
    return alias.name if alias.asname else alias.name.partition(".")[0]


def decorated(function: Function, scope: Scope) -> str | None:
    """The path of the decorator that makes a function a kernel: one named `kernel`, tileproof's if it is there."""
    plain = [each.func if isinstance(each, ast.Call) else each for each in function.decorator_list]
    paths = [path for each in plain if (path := scope.path(each)) is not None]
    return _preferred([path for path in paths if path.rpartition(".")[2] == "kernel"])


def kernel_makers(tree: ast.Module) -> Iterator[str]:
    """The path of everything that makes a kernel at the top level of a file: `@tp.kernel`, and `tp.kernel(f)`."""
    for node, place in walk(tree):
        if place.functions:
            continue
        if isinstance(node, ast.FunctionDef) and (path := decorated(node, place.scope)):
            yield path
        elif isinstance(node, ast.Call) and place.scope.path(node.func) == "tileproof.kernel":
            yield "tileproof.kernel"
