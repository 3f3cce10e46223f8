"""Which tests call what: found in the text of a tests folder, nothing is run; results come from a JUnit file.

Names are followed from a test through helpers, constants and cases, also of other files of the folder, to the functions
and kernels of the library. A test that finds them in another way (`getattr`) is not seen.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree

from tileproof.diagnostics import Diagnostic

from .. import names
from ..audit import parse
from ..load import read_source
from ..usage import UsageError
from .facts import Outcome, Tested

Node: TypeAlias = tuple[str, str]
"""A name at the top level of a file: the file's stem, and the name."""
Cases: TypeAlias = Mapping[tuple[str, str], tuple[tuple[str, str], ...]]
"""Runs of tests by file and function: what stands in brackets behind it, and how it ended."""
_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n]*)", re.MULTILINE)


@dataclass(slots=True)
class Tests:
    """What a tests folder calls."""

    calls: dict[Node, set[str]] = field(default_factory=dict)
    """For each test, the functions and kernels it reaches."""
    files: dict[str, str] = field(default_factory=dict)
    """Files as they are shown, by stem."""
    known: frozenset[str] = frozenset()
    outcomes: Cases = field(default_factory=dict)

    def of(self, wanted: Collection[str]) -> tuple[Tested, ...]:
        """The tests that reach one of these names, file by file."""
        found: dict[str, list[str]] = {}
        for (stem, test), calls in self.calls.items():
            if calls & set(wanted):
                found.setdefault(stem, []).append(test)
        return tuple(
            Tested(self.files[stem], tuple(tests), self._outcome(stem, tests, wanted))
            for stem, tests in sorted(found.items(), key=lambda pair: self.files[pair[0]])
        )

    def _outcome(self, stem: str, tests: Iterable[str], wanted: Collection[str]) -> Outcome | None:
        """How runs ended, without those that are named after something else of the library."""
        if not self.outcomes:
            return None
        total = Outcome()
        for test in tests:
            for label, ended in self.outcomes.get((stem, test), ()):
                named = self.known.intersection(re.findall(r"\w+", label))
                if not named or named & set(wanted):
                    total += Outcome(**{ended: 1})
        return total


def tests_in(folder: Path, root: Path, modules: Collection[str], known: Collection[str], junit: Path | None) -> Tests:
    """What the tests of a folder reach of some names of some modules. Files are shown from `root`."""
    paths = [path for path in sorted(folder.rglob("*.py")) if "__pycache__" not in path.parts]
    trees = {path: _Tree(tree) for path, tree in _concerned(paths, modules)}
    nodes = {(path.stem, name) for path, tree in trees.items() for name in tree.defined}
    graph: dict[Node, tuple[set[str], set[Node]]] = {node: (set(), set()) for node in nodes}
    for path, tree in trees.items():
        for name, paths_named, names_used in tree.uses():
            calls, edges = graph[path.stem, name]
            calls |= {said for each in paths_named if (said := _of_library(each, modules, known))}
            edges |= {(path.stem, each) for each in names_used} & nodes
            edges |= {pair for each in paths_named if (pair := _imported(each)) in nodes}
    tests = Tests(known=frozenset(known), outcomes={} if junit is None else outcomes_in(junit))
    for path in trees:
        tests.files[path.stem] = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    for node in sorted(nodes):
        if node[1].startswith("test") and node[0].startswith("test"):
            tests.calls[node] = _reached(node, graph)
    return tests


def _concerned(paths: Iterable[Path], modules: Collection[str]) -> Iterator[tuple[Path, ast.Module]]:
    """Files that import a module of the library, and those that import such a file."""
    sources = {path: source for path in paths if not isinstance(source := read_source(path), Diagnostic)}
    imports = {path: set(_imports("".join(source.lines))) for path, source in sources.items()}
    chosen = {path: None for path, names in imports.items() if names & set(modules)}
    while True:
        stems = {path.stem for path in chosen}
        more = [
            path for path, names in imports.items()
            if path not in chosen and stems & {part for name in names for part in name.split(".")[-2:]}
        ]  # fmt: skip
        if not more:
            break
        chosen |= dict.fromkeys(more)
    for path in chosen:
        tree = parse(sources[path])
        if isinstance(tree, ast.Module):
            yield path, tree


def _imports(text: str) -> Iterator[str]:
    """The modules a text imports, and the names it imports from them, which may be modules."""
    for module, listed in _FROM.findall(text):
        yield module
        yield from (f"{module}.{name}" for name in re.findall(r"\w+", listed))
    for listed in _IMPORT.findall(text):
        yield from re.findall(r"[\w.]+", listed)


class _Tree:
    """A file of tests, statement by statement."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._starts = [_first_line(each) for each in tree.body]
        self._names = [tuple(_bound(each)) for each in tree.body]
        self.defined = {name for each in self._names for name in each}

    def uses(self) -> Iterator[tuple[str, set[str], set[str]]]:
        """Every name the file defines: where the names in its statement come from, and names of the file itself."""
        found: list[tuple[set[str], set[str]]] = [(set(), set()) for _ in self._names]
        for node, place in names.walk(self._tree):
            line = getattr(node, "lineno", None)
            if line is None:
                continue
            paths, own = found[bisect_right(self._starts, line) - 1]
            match node:
                case ast.Attribute() | ast.Name(ctx=ast.Load()):
                    if (path := place.scope.path(node)) is not None:
                        paths.add(path)
                    if isinstance(node, ast.Name):
                        own.add(node.id)
                case ast.arg(arg=name):  # a fixture
                    own.add(name)
        for defined, (paths, own) in zip(self._names, found, strict=True):
            for name in defined:
                yield name, paths, own


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _bound(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _of_library(path: str, modules: Collection[str], known: Collection[str]) -> str | None:
    module, _, name = path.rpartition(".")
    return name if name in known and module in modules else None


def _imported(path: str) -> Node:
    """`norms_cases.cases` as a name of another file."""
    module, _, name = path.rpartition(".")
    return module.rpartition(".")[2], name


def _reached(start: Node, graph: Mapping[Node, tuple[set[str], set[Node]]]) -> set[str]:
    calls: set[str] = set()
    seen, waiting = {start}, [start]
    while waiting:
        own, edges = graph[waiting.pop()]
        calls |= own
        waiting += edges - seen
        seen |= edges
    return calls


# Results.


def outcomes_in(junit: Path) -> dict[tuple[str, str], tuple[tuple[str, str], ...]]:
    """How tests ended, from a file that `pytest --junit-xml FILE` writes."""
    try:
        tree = ElementTree.parse(junit)
    except OSError as error:
        raise UsageError(f"--junit {junit}: {error.strerror or error}") from None
    except ElementTree.ParseError as error:
        raise UsageError(f"--junit {junit}: not XML ({error}); `pytest --junit-xml FILE` writes such a file") from None
    found: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {}
    for case in tree.iter("testcase"):
        name, _, label = case.get("name", "").partition("[")
        kinds = {each.tag for each in case}
        ended = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        for stem in _stems(case):
            found[stem, name] = (*found.get((stem, name), ()), (label.removesuffix("]"), ended))
    return found


def _stems(case: ElementTree.Element) -> Iterator[str]:
    """The file of a test: given, or the part of its class name that is one."""
    file = case.get("file")
    if file:
        yield Path(file).stem
    else:
        yield from (part for part in case.get("classname", "").split(".") if part.startswith("test_"))
