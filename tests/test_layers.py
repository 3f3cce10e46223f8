"""Imports go one way: a layer may import the layers before it, itself, and nothing after it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "tileproof"

LAYERS = (
    "diagnostics",
    "language",
    "ir",
    "frontend",
    "analysis",
    "lowering",
    "backends",
    "compiler",
    "runtime",
    "tuning",
    "kernels",
    "llm",
    "cli",
)

RUNTIME = ("native", "interop", "memory", "stream", "tensor", "launch", "graph", "device")
"""The folders of `runtime`, in the order in which one may import another."""

GATHERED = LAYERS.index("runtime")
"""`tileproof` itself gathers public names of the layers up to this one, so only later ones may import it."""

ENTRANCES = ("__init__.py", "__main__.py", "interrupts.py", "pytest_plugin.py")
"""Files that belong to no layer."""


def imports(tree: ast.AST, package: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Line and dotted name, as parts, of every import in a file of `package`, wherever it stands."""
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from ((node.lineno, tuple(alias.name.split("."))) for alias in node.names)
            case ast.ImportFrom():
                base = package[: len(package) - node.level + 1] if node.level else ()
                module = (*base, *(node.module.split(".") if node.module else ()))
                yield from ((node.lineno, (*module, alias.name)) for alias in node.names)


def violations(text: str, path: tuple[str, ...]) -> list[str]:
    """What the file at `path` (its parts below the package) imports that its layer must not know."""
    own = LAYERS.index(path[0])
    found = []
    for line, name in imports(ast.parse(text), ("tileproof", *path[:-1])):
        if name[0] != "tileproof":
            continue
        layer = name[1] if len(name) > 1 else ""
        imported = LAYERS.index(layer) if layer in LAYERS else GATHERED + 0.5
        if imported > own:
            found.append(f"{'/'.join(path)}:{line} imports {'.'.join(name)}")
    return found


FILES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def test_a_file_imports_only_its_own_layer_and_those_before_it() -> None:
    inside = [file for file in FILES if len(file.parts) > 1]
    found = [one for file in inside for one in violations((PACKAGE / file).read_text(encoding="utf-8"), file.parts)]
    assert found == []
    assert len(inside) > 200


def violations_of_subpackages(text: str, path: tuple[str, ...]) -> list[str]:
    """What the file at `path` (its parts below `runtime`) imports of subpackages after its own."""
    later = RUNTIME[RUNTIME.index(path[0]) + 1 :]
    names = imports(ast.parse(text), ("tileproof", "runtime", *path[:-1]))
    return [
        f"{'/'.join(path)}:{line} imports {'.'.join(name)}"
        for line, name in names
        if name[:2] == ("tileproof", "runtime") and name[2:3] and name[2] in later
    ]


def test_a_subpackage_of_the_runtime_imports_only_those_before_it() -> None:
    runtime = PACKAGE / "runtime"
    files = [path.relative_to(runtime) for path in sorted(runtime.rglob("*.py")) if path.parent != runtime]
    assert {file.parts[0] for file in files} == set(RUNTIME)
    texts = {file.parts: (runtime / file).read_text("utf-8") for file in files}
    assert [one for path, text in texts.items() for one in violations_of_subpackages(text, path)] == []


def test_the_rule_for_subpackages_sees_imports_of_later_ones() -> None:
    later = "from tileproof.runtime.launch import binding\nfrom ..graph.graphs import Graph\nfrom .. import device"
    assert len(violations_of_subpackages(later, ("memory", "a.py"))) == 3
    assert len(violations_of_subpackages(later, ("device", "a.py"))) == 0


def test_every_file_belongs_to_a_layer() -> None:
    assert {file.parts[0] for file in FILES} <= {*LAYERS, *ENTRANCES}


@pytest.mark.parametrize(
    ("text", "path", "count"),
    [
        ("from tileproof.ir import ops", ("language", "a.py"), 1),
        ("from ..ir.ops import Load", ("language", "a.py"), 1),
        ("from .. import ir", ("language", "a.py"), 1),
        ("from ...runtime import launch", ("backends", "cpu", "a.py"), 1),
        ("def f():\n    import tileproof.cli.main", ("runtime", "a.py"), 1),
        ("import tileproof as tp", ("frontend", "a.py"), 1),
        ("from tileproof import kernel", ("backends", "a.py"), 1),
        ("import tileproof as tp", ("kernels", "a.py"), 0),
        ("from .. import ir, language", ("frontend", "a.py"), 0),
        ("from . import codes", ("diagnostics", "a.py"), 0),
        ("from .codes import Code\nimport os.path", ("diagnostics", "a.py"), 0),
    ],
)
def test_the_rule_sees_every_way_to_import(text: str, path: tuple[str, ...], count: int) -> None:
    assert len(violations(text, path)) == count
