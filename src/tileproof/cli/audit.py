"""`tileproof audit`: every `tp.unsafe` block of some files, with its reason and what it uses of `tp.raw`.

Reads source only, so that it works on any code base. A name that comes from elsewhere may be tileproof's all the
same (`from .common import tp`); an audit would rather list such a block, and say so, than miss it.
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

from tileproof.diagnostics import Code, Diagnostic, Source, render, shown_path
from tileproof.diagnostics.report import Json, finding

from . import names
from .load import compile_source, read_source
from .usage import UsageError, wants_color

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
    for node, place in names.walk(tree):
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


def _block(node: ast.With | ast.AsyncWith, opened: ast.expr, place: names.Place, file: str) -> Block | None:
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
    if path is None or names.is_tileproof(path):
        return False
    root, _, _ = path.partition(".")
    return path.rpartition(".")[2] == "unsafe" and root not in sys.stdlib_module_names


def _holder(place: names.Place) -> tuple[str, str]:
    """Kind and qualified name of the innermost function or class around a place."""
    if not place.functions:
        return "module", ""
    node, scope = place.functions[-1]
    name = ".".join(str(getattr(each, "name", "")) for each, _ in place.functions)
    if not isinstance(node, names.Function):
        return "class", name
    return "kernel" if names.decorated(node, scope) == "tileproof.kernel" else "function", name


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
