"""`tileproof audit`: every `tp.unsafe` block of some files, with its reason and what it uses of `tp.raw`.

Reads source only, so that it works on any code base. A name that comes from elsewhere may be tileproof's all the
same (`from .common import tp`); an audit would rather list such a block, and say so, than miss it.

What the names of a file mean, by its source alone: nothing is imported, nothing runs. A name is followed through
scopes, imports and plain assignments to where it comes from, as a dotted path: `tileproof.raw.load`, or
`.common.tp.unsafe` where it came by a relative import.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeAlias

from tileproof.diagnostics import Code, Diagnostic, Source, render, shown_path
from tileproof.diagnostics.report import Json, finding

from .load import compile_source, read_source
from .usage import UsageError, wants_color

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


EXAMPLES = """\
examples:
  tileproof audit src                       every unsafe block below a folder
  tileproof audit src --max 0               exit 1 if there is any: for CI
  tileproof audit kernels.py --format json  for an editor, a dashboard or an agent

What stands in a block is its author's promise, which nobody proves:

  with tp.unsafe("order is a permutation: the host sorted it"):
      t = tp.raw.load(x, order[n])

Hidden folders and virtual environments are left out. The exit code is 0, 1 if there are more blocks than --max
allows or a file cannot be read, 2 if the command is wrong.
"""

_WORDS = ("unsafe", "kernel")
"""A file without these words has no block, under any alias; most files of a code base are passed over so."""


@dataclass(frozen=True, slots=True)
class Use:
    """One use of `tp.raw`: its line, and `raw.load`."""

    line: int
    name: str


@dataclass(frozen=True, slots=True)
class Block:
    """One `with tp.unsafe(...):`, with the fields that `--format json` prints."""

    file: str
    line: int
    end_line: int
    kind: str
    """What holds it: a `kernel`, a `function`, a `class`, or the `module` itself."""
    name: str
    reason: str | None
    """The reason where it is a literal text, as the language demands."""
    written: str
    """The source of the reason; empty if there is none."""
    certain: bool
    """Whether the file itself shows that the block is tileproof's."""
    raw: list[Use] = field(default_factory=list)


@dataclass(slots=True)
class Audit:
    """What was found in all files."""

    files: int = 0
    blocks: list[Block] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser], summary: str) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "audit",
        help=summary,
        description="Lists the tp.unsafe blocks of Python files, with their reasons and their uses of tp.raw. "
        "Reads the files, imports none.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a Python file, or a folder with such files below")
    parser.add_argument("--max", metavar="N", type=int, help="how many blocks are allowed (default: any number)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Carries the command out; gives the exit code."""
    if options.max is not None and options.max < 0:
        raise UsageError(f"--max {options.max}: at least 0")
    audit = examine(options.paths)
    exceeded = options.max is not None and len(audit.blocks) > options.max
    if options.format == "json":
        print(_json(audit, options.max, exceeded))
    else:
        print("\n".join(_text(audit, options.max, exceeded)))
    return 1 if exceeded or audit.problems else 0


def examine(paths: Sequence[str]) -> Audit:
    """Audits files, and those below folders, each once."""
    audit = Audit()
    files = (file for path in paths for file in _files(Path(os.path.abspath(path)), audit.problems))
    for file in dict.fromkeys(files):
        source = read_source(file)
        if isinstance(source, Diagnostic):
            audit.problems.append(source)
            continue
        audit.files += 1
        tree = parse(source)
        if isinstance(tree, Diagnostic):
            audit.problems.append(tree)
        elif any(word in line for line in source.lines for word in _WORDS):
            audit.blocks += blocks(tree, str(file))
    return audit


def _files(path: Path, problems: list[Diagnostic]) -> Iterator[Path]:
    """A path itself, or the Python files below it, in the order of their names; a closed folder is a problem."""

    def closed(error: OSError) -> None:
        message = f"`{shown_path(str(error.filename))}` cannot be listed"
        help = "make the folder readable, or leave it out"
        problems.append(Diagnostic(Code.NO_FILE, message, notes=(error.strerror or str(error),), help=help))

    if not path.is_dir():
        yield path
        return
    for folder, below, files in os.walk(path, onerror=closed):
        below[:] = sorted(name for name in below if not is_left_out(Path(folder, name)))
        yield from (Path(folder, name) for name in sorted(files) if name.endswith(".py"))


def is_left_out(folder: Path) -> bool:
    """Whether a folder is hidden, a virtual environment, or of Python's own."""
    return folder.name.startswith(".") or folder.name == "__pycache__" or (folder / "pyvenv.cfg").is_file()


def parse(source: Source) -> ast.Module | Diagnostic:
    """The syntax tree of a file, or the finding that it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python thinks of other people's escapes is not ours to report
            return ast.parse("".join(source.lines), source.name)
    except (SyntaxError, ValueError):
        problem = compile_source(source)
        assert isinstance(problem, Diagnostic), "what cannot be parsed cannot be compiled"
        return problem
    except (RecursionError, MemoryError):
        message = f"`{shown_path(source.name)}` is nested too deeply for Python's parser"
        return Diagnostic(Code.NOT_PYTHON, message, help="leave the file out")


def blocks(tree: ast.Module, file: str) -> list[Block]:
    """The unsafe blocks of a file in the order of their lines; a use belongs to the innermost block around it."""
    found: dict[int, Block] = {}
    listed: list[Block] = []
    for node, place in walk(tree):
        match node:
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if block := _block(node, item.context_expr, place, file):
                        listed.append(block)
                        found[id(node)] = block
            case ast.Attribute(ctx=ast.Load()) | ast.Name(ctx=ast.Load()):
                around = next((found[id(each)] for each in reversed(place.holders) if id(each) in found), None)
                parts = (place.scope.path(node) or "").split(".") if around is not None else []
                if around is not None and len(parts) > 2 and parts[-2] == "raw":
                    around.raw.append(Use(node.lineno, ".".join(parts[-2:])))
    return listed


def _block(node: ast.With | ast.AsyncWith, opened: ast.expr, place: Place, file: str) -> Block | None:
    if not isinstance(opened, ast.Call):
        return None
    path = place.scope.path(opened.func)
    kind, name = _holder(place)
    if path != "tileproof.unsafe" and not _may_open(path, kind):
        return None
    given = next((each.value for each in opened.keywords if each.arg == "reason"), None)
    reason = opened.args[0] if opened.args else given
    literal = reason.value if isinstance(reason, ast.Constant) and isinstance(reason.value, str) else None
    written = "" if reason is None else ast.unparse(reason)
    end = node.end_lineno or node.lineno
    return Block(file, node.lineno, end, kind, name, literal, written, path == "tileproof.unsafe")


def _may_open(path: str | None, kind: str) -> bool:
    """Whether something may be `tp.unsafe` under another name. Kernels have no other `with`."""
    if kind == "kernel":
        return True
    if path is None or is_tileproof(path):
        return False
    root, _, _ = path.partition(".")
    return path.rpartition(".")[2] == "unsafe" and root not in sys.stdlib_module_names


def _holder(place: Place) -> tuple[str, str]:
    """Kind and qualified name of the innermost function or class around a place."""
    if not place.functions:
        return "module", ""
    node, scope = place.functions[-1]
    name = ".".join(str(getattr(each, "name", "")) for each, _ in place.functions)
    if not isinstance(node, Function):
        return "class", name
    return "kernel" if decorated(node, scope) == "tileproof.kernel" else "function", name


def _text(audit: Audit, limit: int | None, exceeded: bool) -> Iterator[str]:
    color = wants_color(sys.stdout)
    yield from (f"{render(problem, color=color)}\n" for problem in audit.problems)
    for block in audit.blocks:
        file = shown_path(block.file)
        yield f"{file}:{block.line}: {block.kind} {block.name}".rstrip()
        if block.reason is None and block.written:
            yield f"  reason: not a literal: {block.written}"
        else:
            yield f"  reason: {' '.join((block.reason or '').split()) or 'none is given'}"
        if not block.certain:
            yield "  listed to be safe: the file does not show that the block is tileproof's"
        yield from (f"  {file}:{use.line}: tp.{use.name}" for use in block.raw)
        yield "" if block.raw else "  no tp.raw in it: the block can go\n"
    uses = sum(len(block.raw) for block in audit.blocks)
    yield (
        f"{_count(len(audit.blocks), 'unsafe block')}, {_count(uses, 'use')} of tp.raw, "
        f"{_count(audit.files, 'file')} read"
    )
    if audit.problems:
        yield "not everything could be read: there may be more blocks"
    if exceeded:
        yield f"--max {limit} allows fewer: index the tensor and let the checker prove it, or raise the limit"


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _json(audit: Audit, limit: int | None, exceeded: bool) -> str:
    document: Json = {
        "format": 1,
        "files": audit.files,
        "max": limit,
        "exceeded": exceeded,
        "blocks": [asdict(block) | {"file": shown_path(block.file)} for block in audit.blocks],
        "findings": [finding(problem) for problem in audit.problems],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)
