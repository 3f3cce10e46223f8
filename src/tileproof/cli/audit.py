"""`tileproof audit`: lists every `tp.unsafe` block of some files, with its reason and what it uses of `tp.raw`.

Reads source only, so that it works on any code base. Names are resolved by the imports and plain assignments of a file,
whatever scope they are in, and a name from another module may be tileproof's all the same (`from .common import tp`):
an audit may list a block too many, never one too few.
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
from typing import Final, TypeAlias

from tileproof.diagnostics import Code, Diagnostic, Source, display_path, render
from tileproof.diagnostics.report import Json, finding

from .command_line import Commands, UsageError, add_command, count, wants_color
from .kernel_file import compile_source, read_source

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
With: TypeAlias = ast.With | ast.AsyncWith
Enclosing: TypeAlias = tuple[Definition | With, ...]
"""The definitions and `with` blocks enclosing a node, outermost first."""

_HOMES: Final = ("tileproof.language.unsafe.", "tileproof.language.kernel.")
"""Modules in which public names are defined; `tileproof` is where users find them."""


class Names:
    """Where the names of a file come from, as dotted paths: `tileproof.raw`, or `.common.tp` for a relative import."""

    def __init__(self, tree: ast.Module) -> None:
        self._values: dict[str, list[ast.expr | str]] = {}
        self._stars: list[str] = []
        for node in ast.walk(tree):
            match node:
                case ast.Import(names=aliases):
                    for alias in aliases:
                        root = alias.name.partition(".")[0]
                        self._bind(alias.asname or root, alias.name if alias.asname else root)
                case ast.ImportFrom(names=aliases):
                    module = "." * node.level + (node.module or "")
                    self._stars += [module for alias in aliases if alias.name == "*"]
                    for alias in aliases:
                        self._bind(alias.asname or alias.name, _join(module, alias.name))
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._assign(target, value)
                case ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
                    self._assign(node.target, value)

    def path(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> str | None:
        """Where the thing that an expression names comes from; None if the file does not show it. Of several origins
        tileproof is preferred: `try: import tileproof as tp`, `except: tp = None`."""
        tail: list[str] = []
        while isinstance(node, ast.Attribute):
            tail.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in seen:
            return None
        values = self._values.get(node.id) or [_join(module, node.id) for module in self._stars]
        origins = (value if isinstance(value, str) else self.path(value, seen | {node.id}) for value in values)
        paths = [_public(_join(origin, *tail)) for origin in origins if origin is not None]
        return next((path for path in paths if is_tileproof(path)), paths[0] if paths else None)

    def _bind(self, name: str, value: ast.expr | str) -> None:
        self._values.setdefault(name, []).append(value)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        """`u = tp.unsafe`, and `u, r = tp.unsafe, tp.raw` one by one."""
        match target, value:
            case ast.Name(id=name), _:
                self._bind(name, value)
            case (ast.Tuple(elts=names) | ast.List(elts=names)), (ast.Tuple(elts=values) | ast.List(elts=values)):
                for left, of in zip(names, values, strict=False):
                    self._assign(left, of)


def is_tileproof(path: str) -> bool:
    """Whether a path leads into this package."""
    return path == "tileproof" or path.startswith("tileproof.")


def _public(path: str) -> str:
    home = next((home for home in _HOMES if path.startswith(home)), "tileproof.")
    return "tileproof." + path.removeprefix(home) if is_tileproof(path) and path != "tileproof" else path


def _join(start: str, *names: str) -> str:
    """`tileproof`, `raw` make `tileproof.raw`; `..`, `tp` make `..tp`."""
    for name in names:
        start = start + name if start.endswith(".") else f"{start}.{name}"
    return start


def walk(tree: ast.Module) -> Iterator[tuple[ast.AST, Enclosing]]:
    """Every node and what encloses it, in the order of the source. Without recursion: expressions may be very deep."""
    pending: list[tuple[ast.AST, Enclosing]] = [(tree, ())]
    while pending:
        node, enclosing = pending.pop()
        yield node, enclosing
        inner = (*enclosing, node) if isinstance(node, Definition | With) else enclosing
        pending.extend((child, inner) for child in reversed(list(ast.iter_child_nodes(node))))


def decorator(node: Definition, names: Names) -> str | None:
    """The path of the decorator that makes a function a kernel: one named `kernel`."""
    paths = [names.path(mark.func if isinstance(mark, ast.Call) else mark) for mark in node.decorator_list]
    return next((path for path in paths if path is not None and path.rpartition(".")[2] == "kernel"), None)


def kernel_makers(tree: ast.Module) -> Iterator[str]:
    """The path of everything that makes a kernel at the top level of a file: `@tp.kernel`, and `tp.kernel(f)`."""
    names = Names(tree)
    for node, enclosing in walk(tree):
        if any(isinstance(outer, Definition) for outer in enclosing):
            continue
        if isinstance(node, ast.FunctionDef) and (path := decorator(node, names)):
            yield path
        elif isinstance(node, ast.Call) and names.path(node.func) == "tileproof.kernel":
            yield "tileproof.kernel"


EXAMPLES = """\
examples:
  tileproof audit src                       every unsafe block below a folder
  tileproof audit src --max 0               exit 1 if there is any: for CI
  tileproof audit kernels.py --format json  for an editor, a dashboard or an agent

The code in a block is its author's promise; nothing proves it:

  with tp.unsafe("order is a permutation: the host sorted it"):
      t = tp.raw.load(x, order[n])

Hidden folders and virtual environments are left out. The exit code is 0, 1 if there are more blocks than --max
allows or a file cannot be read, 2 for wrong usage.
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


def add(commands: Commands, summary: str) -> None:
    """Adds the command to the parser."""
    description = "Lists the tp.unsafe blocks of Python files, with their reasons and their uses of tp.raw. Reads the "
    parser = add_command(commands, "audit", summary, description + "files, imports none.", EXAMPLES)
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a Python file, or a folder with such files below")
    parser.add_argument("--max", metavar="N", type=int, help="how many blocks are allowed (default: any number)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
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
        message = f"`{display_path(str(error.filename))}` cannot be listed"
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
        message = f"`{display_path(source.name)}` is nested too deeply for Python's parser"
        return Diagnostic(Code.NOT_PYTHON, message, help="leave the file out")


def blocks(tree: ast.Module, file: str) -> list[Block]:
    """The unsafe blocks of a file in the order of their lines; a use belongs to the innermost block enclosing it."""
    names = Names(tree)
    listed: list[Block] = []
    by_node: dict[int, Block] = {}
    for node, enclosing in walk(tree):
        match node:
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if block := _block(node, item.context_expr, enclosing, names, file):
                        listed.append(block)
                        by_node[id(node)] = block
            case ast.Attribute(ctx=ast.Load()) | ast.Name(ctx=ast.Load()):
                block = next((by_node[id(outer)] for outer in reversed(enclosing) if id(outer) in by_node), None)
                parts = (names.path(node) or "").split(".") if block is not None else []
                if block is not None and len(parts) > 2 and parts[-2] == "raw":
                    block.raw.append(Use(node.lineno, ".".join(parts[-2:])))
    return listed


def _block(node: With, opened: ast.expr, enclosing: Enclosing, names: Names, file: str) -> Block | None:
    """What a `with` opens, if it is `tp.unsafe` or may be. Kernels have no other `with`."""
    if not isinstance(opened, ast.Call):
        return None
    path = names.path(opened.func)
    definitions = [outer for outer in enclosing if isinstance(outer, Definition)]
    match definitions[-1:]:
        case []:
            kind = "module"
        case [ast.ClassDef()]:
            kind = "class"
        case _:
            kind = "kernel" if decorator(definitions[-1], names) == "tileproof.kernel" else "function"
    is_certain = path == "tileproof.unsafe"
    if not is_certain and kind != "kernel":
        root, last = ("", "") if path is None else (path.partition(".")[0], path.rpartition(".")[2])
        if last != "unsafe" or root in ("tileproof", *sys.stdlib_module_names):
            return None
    reason = next((keyword.value for keyword in opened.keywords if keyword.arg == "reason"), None)
    reason = opened.args[0] if opened.args else reason
    literal = reason.value if isinstance(reason, ast.Constant) and isinstance(reason.value, str) else None
    written = "" if reason is None else ast.unparse(reason)
    name = ".".join(definition.name for definition in definitions)
    return Block(file, node.lineno, node.end_lineno or node.lineno, kind, name, literal, written, is_certain)


def _text(audit: Audit, limit: int | None, exceeded: bool) -> Iterator[str]:
    color = wants_color(sys.stdout)
    yield from (f"{render(problem, color=color)}\n" for problem in audit.problems)
    for block in audit.blocks:
        file = display_path(block.file)
        yield f"{file}:{block.line}: {block.kind} {block.name}".rstrip()
        if block.reason is None and block.written:
            yield f"  reason: not a literal: {block.written}"
        else:
            yield f"  reason: {' '.join((block.reason or '').split()) or 'none is given'}"
        if not block.certain:
            yield "  possibly: the file does not show that the block is tileproof's"
        yield from (f"  {file}:{use.line}: tp.{use.name}" for use in block.raw)
        yield "" if block.raw else "  uses no tp.raw: remove the block\n"
    uses = sum(len(block.raw) for block in audit.blocks)
    yield (
        f"{count(len(audit.blocks), 'unsafe block')}, {count(uses, 'use')} of tp.raw, "
        f"{count(audit.files, 'file')} read"
    )
    if audit.problems:
        yield "not everything could be read: there may be more blocks"
    if exceeded:
        yield f"--max {limit} allows fewer: index the tensor and let the checker prove it, or raise the limit"


def _json(audit: Audit, limit: int | None, exceeded: bool) -> str:
    document: Json = {
        "format": 1,
        "files": audit.files,
        "max": limit,
        "exceeded": exceeded,
        "blocks": [asdict(block) | {"file": display_path(block.file)} for block in audit.blocks],
        "findings": [finding(problem) for problem in audit.problems],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)
