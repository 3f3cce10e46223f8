"""Step 1: the source of a function as a syntax tree, with exact places in its file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field
from functools import lru_cache
from types import CodeType, FunctionType

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic, Edit
from tileproof.diagnostics.records import dataclass
from tileproof.diagnostics.spans import Source, Span
from tileproof.language.kernel import lines_around

from .refusal import Refused


@dataclass(frozen=True, slots=True, eq=False)
class FunctionSource:
    """A function and where it was written."""

    function: FunctionType
    source: Source
    tree: ast.FunctionDef
    _spans: dict[ast.AST, Span] = field(default_factory=dict, repr=False)
    """The places asked for: a helper is read again wherever it is called."""

    @property
    def name(self) -> str:
        return self.tree.name

    def span(self, node: ast.AST) -> Span:
        """The place of a node of this function's tree."""
        found = self._spans.get(node)
        if found is None:
            found = self._spans[node] = self._span(node)
        return found

    def _span(self, node: ast.AST) -> Span:
        line, end_line = getattr(node, "lineno", self.tree.lineno), getattr(node, "end_lineno", self.tree.lineno)
        column, end_column = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
        return Span(
            self.source,
            line,
            _characters(self.source.line(line), column) + 1,
            end_line,
            _characters(self.source.line(end_line), end_column) + 1,
        )

    @property
    def own_names(self) -> tuple[str, ...]:
        """The names the function assigns anywhere: they are its own everywhere in it."""
        code = self.function.__code__
        return (*code.co_varnames, *code.co_cellvars)

    @property
    def header(self) -> Span:
        """The function's name in its `def`."""
        line = self.source.line(self.tree.lineno)
        column = line.find(self.name, line.find("def")) + 1
        return Span(self.source, self.tree.lineno, column, self.tree.lineno, column + len(self.name))


def _characters(line: str, offset: int) -> int:
    """`ast` counts bytes of UTF-8; people and editors count characters."""
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="replace"))


def read_function(function: FunctionType, lines: tuple[str, ...] | None = None) -> FunctionSource:
    """The syntax tree of `function`, parsed from `lines` (its whole file) or from what the interpreter still has."""
    first = function.__code__.co_firstlineno
    if lines is None:
        lines = lines_around(function)
    source = Source(function.__code__.co_filename, lines)
    if not 1 <= first <= len(lines):
        raise Refused(_no_source(function, "Python kept no source text for it"))
    try:
        tree = _statement_at(lines, first)
    except (SyntaxError, ValueError, IndexError):
        raise Refused(_no_source(function, "the text at its place is not a function")) from None
    if isinstance(tree, ast.AsyncFunctionDef):
        raise Refused(_is_async(tree, source, tree.lineno))
    if not isinstance(tree, ast.FunctionDef):
        raise Refused(_no_source(function, "it is not a function written with `def`"))
    if tree.name != function.__code__.co_name:  # code made by `exec` may borrow the name of another text
        raise Refused(_no_source(function, f"the text at its place holds `{tree.name}`"))
    return FunctionSource(function, source, tree)


@lru_cache(maxsize=256)
def _statement_at(lines: tuple[str, ...], first: int) -> ast.stmt:
    """The statement that begins at a line of a file. Nobody changes it: it is that of all who read the same text."""
    # A function inside another is indented; a made-up `if` keeps its columns where they are in the file.
    head, shift = ("if True:\n", first - 2) if lines[first - 1][:1].isspace() else ("", first - 1)
    holder = _first_statement(head, lines, first)
    tree = holder.body[0] if isinstance(holder, ast.If) else holder
    ast.increment_lineno(tree, shift)
    return tree


def _first_statement(head: str, lines: tuple[str, ...], first: int) -> ast.stmt:
    for end in _ends(lines, first):
        with suppress(SyntaxError):
            return ast.parse(head + "".join(lines[first - 1 : end])).body[0]
    return ast.parse(head + "".join(lines[first - 1 :])).body[0]


def _ends(lines: tuple[str, ...], first: int) -> Iterator[int]:
    """The lines that the statement of a line may end before: those that are indented no more than it.

    Inside of brackets and strings lines are indented as one likes, but text that is cut there is no statement. To tell
    by tokens takes longer than all the rest of reading a kernel.
    """
    depth = _indentation(lines[first - 1])
    for number in range(first, len(lines)):
        text = lines[number].lstrip()
        if text and text[0] != "#" and _indentation(lines[number]) <= depth:
            yield number


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def is_text_of(source: FunctionSource) -> bool:
    """Whether compiling the file gives the function's code: an edit after the import would go unseen otherwise.

    The whole file is compiled, because how a function calls another depends on the imports above it. Text that does
    not compile as a file, such as a notebook cell with `await`, is taken at its word.
    """
    code = source.function.__code__
    here = [one for one in _codes(source.source.name, source.source.lines) if one.co_name == code.co_name]
    found = [one for one in here if one.co_firstlineno == code.co_firstlineno]
    return not found or any(_same_code(one, code) for one in found)


@lru_cache(maxsize=64)
def _codes(filename: str, lines: tuple[str, ...]) -> tuple[CodeType, ...]:
    """Every piece of code in a file."""
    try:
        found = [compile("".join(lines), filename, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return ()
    for code in found:  # grows while it is walked
        found.extend(const for const in code.co_consts if isinstance(const, CodeType))
    return tuple(found)


def _same_code(one: CodeType, other: CodeType) -> bool:
    if one.co_code != other.co_code or one.co_names != other.co_names or len(one.co_consts) != len(other.co_consts):
        return False
    return all(
        _same_code(a, b) if isinstance(a, CodeType) and isinstance(b, CodeType) else repr(a) == repr(b)
        for a, b in zip(one.co_consts, other.co_consts, strict=True)
    )


def _is_async(tree: ast.AsyncFunctionDef, source: Source, line: int) -> Diagnostic:
    column = _characters(source.line(line), tree.col_offset) + 1
    span = Span(source, line, column, line, max(source.line(line).find("def", column), column) + 1)
    message = f"`{tree.name}` is async, and kernels are not"
    return Diagnostic(Code.ASYNC, message, span, help="write `def`", edit=Edit(span, ""))


def _no_source(function: FunctionType, why: str) -> Diagnostic:
    return Diagnostic(
        Code.NO_SOURCE,
        f"the source of `{function.__name__}` cannot be read: {why}",
        notes=("a kernel is compiled from its source text, not from its byte code",),
        help="define it with `def` in a file, in a notebook cell, or at the prompt of Python 3.13 or newer",
    )
