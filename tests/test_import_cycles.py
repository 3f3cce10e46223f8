"""No modules import each other in a cycle: each file can be read, tested and moved with only what it is made of.

Imports for types and imports inside functions count: they hide a cycle, and do not remove it.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Mapping, Set
from itertools import pairwise
from typing import TypeAlias

import pytest

from test_layers import PACKAGE, imports

Edges: TypeAlias = Mapping[str, Mapping[str, int]]
"""For each module the modules it imports, each with the line."""


def edges_of(sources: Mapping[str, str], packages: Set[str]) -> Edges:
    """What each module imports of the others. `packages` are the modules that are an `__init__.py`.

    `from .a import b` is an import of the module `a.b` if there is one, and of `a` if not. A module does not import its
    package by being inside of it.
    """
    found: dict[str, dict[str, int]] = {}
    for module, text in sources.items():
        package = module if module in packages else module.rpartition(".")[0]
        found[module] = {}
        for line, parts in imports(ast.parse(text), tuple(package.split("."))):
            names = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
            target = next((name for name in names if name in sources), module)
            if target != module:
                found[module].setdefault(target, line)
    return found


def cycles(edges: Edges) -> list[frozenset[str]]:
    """The sets of modules of which each imports every other, directly or through others."""
    reached = {module: _reached(edges, module) for module in edges}
    joined = {frozenset(other for other in reached[module] if module in reached[other]) for module in edges}
    return sorted((cycle for cycle in joined if cycle), key=lambda cycle: (-len(cycle), sorted(cycle)))


def _reached(edges: Edges, start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = edges[waiting.pop()].keys() - found
        found |= new
        waiting += new
    return found


def shown(cycle: frozenset[str], edges: Edges) -> str:
    """The shortest way round from the first module, an import on each line, and the modules that are not on it."""
    start = min(cycle)
    ways, seen = deque([(start,)]), set()
    while len(ways[0]) == 1 or ways[0][-1] != start:
        way = ways.popleft()
        ahead = sorted((edges[way[-1]].keys() & cycle) - seen)
        seen.update(ahead)
        ways.extend((*way, target) for target in ahead)
    steps = [f"  {one}:{edges[one][other]} imports {other}" for one, other in pairwise(ways[0])]
    rest = sorted(cycle - set(ways[0]))
    last = [f"  with {', '.join(rest)}"] if rest else []
    return "\n".join([f"{len(cycle)} modules import each other:", *steps, *last])


def test_no_modules_import_each_other() -> None:
    sources, packages = {}, set()
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        sources[module] = path.read_text(encoding="utf-8")
        if path.name == "__init__.py":
            packages.add(module)
    edges = edges_of(sources, packages)
    found = cycles(edges)
    report = "\n".join(shown(cycle, edges) for cycle in found)
    assert not found, f"{report}\nMove what they share to a module that all of them import, or make them one module."


@pytest.mark.parametrize(
    "back",
    [
        "from .a import f",
        "from . import a",
        "from p import a",
        "import p.a",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import A",
        "def f():\n    from .a import f",
    ],
)
def test_every_kind_of_import_closes_a_cycle(back: str) -> None:
    assert cycles(edges_of({"p": "", "p.a": "from .b import f", "p.b": back}, {"p"})) == [{"p.a", "p.b"}]


def test_a_module_that_uses_what_its_package_gathers_closes_a_cycle() -> None:
    edges = edges_of({"p": "from .a import f", "p.a": "from . import g", "p.b": "from .a import f"}, {"p"})
    assert cycles(edges) == [{"p", "p.a"}]


def test_modules_of_one_package_that_import_one_way_are_no_cycle() -> None:
    sources = {"p": "from .a import f", "p.a": "from . import b", "p.b": "import os\nfrom p.c import g", "p.c": ""}
    assert cycles(edges_of(sources, {"p"})) == []


def test_a_cycle_is_shown_with_the_lines_that_close_it() -> None:
    sources = {"p.a": "\nfrom .b import f", "p.b": "from . import c, d", "p.c": "from .a import f", "p.d": "import p.b"}
    edges = edges_of(sources, set())
    (cycle,) = cycles(edges)
    assert shown(cycle, edges).splitlines() == [
        "4 modules import each other:",
        "  p.a:2 imports p.b",
        "  p.b:1 imports p.c",
        "  p.c:1 imports p.a",
        "  with p.d",
    ]
