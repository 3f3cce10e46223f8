"""The source of a function as a syntax tree with exact spans, and the subset of Python that kernels may use.

The law of syntax: every class of Python's `ast` is either lowered or rejected with a code. `LOWERED` and `REJECTED`
divide them; a test fails on a class in neither. What is wrong only in its place (`return` in the middle, `else` on a
loop) is rejected here too, so that later steps see only what they implement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field
from functools import lru_cache
from types import CodeType, FunctionType

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, Edit, KernelError, Label
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.diagnostics.spans import Source, Span
from tileproof.language.kernel import lines_around


class Rejected(Exception):
    """A mistake of the user's; carries the diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class RuledOut(KernelError):
    """A contract of the kernel forbids this choice of its optional parameters."""


class Suppressed(Exception):
    """Something depends on a statement that was rejected: a second error would only repeat the first."""


def reject(
    code: Code,
    message: str,
    span: Span,
    *,
    label: str = "",
    labels: tuple[Label, ...] = (),
    notes: tuple[str, ...] = (),
    help: str = "",
    edit: Edit | None = None,
) -> Rejected:
    """A `Rejected` at `span`, ready to raise."""
    return Rejected(Diagnostic(code, message, span, label, labels, notes, help, edit))


@dataclass(frozen=True, slots=True, eq=False)
class FunctionSource:
    """A function and where it was written."""

    function: FunctionType
    source: Source
    tree: ast.FunctionDef
    _spans: dict[ast.AST, Span] = field(default_factory=dict, repr=False)
    """Spans computed so far: a helper is compiled again wherever it is called."""

    @property
    def name(self) -> str:
        return self.tree.name

    def span(self, node: ast.AST) -> Span:
        """The place of a node of this function's tree."""
        span = self._spans.get(node)
        if span is None:
            span = self._spans[node] = self._span(node)
        return span

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
        raise Rejected(_no_source(function, "Python kept no source text for it"))
    try:
        tree = _statement_at(lines, first)
    except (SyntaxError, ValueError, IndexError):
        raise Rejected(_no_source(function, "the text at its place is not a function")) from None
    if isinstance(tree, ast.AsyncFunctionDef):
        raise Rejected(_is_async(tree, source, tree.lineno))
    if not isinstance(tree, ast.FunctionDef):
        raise Rejected(_no_source(function, "it is not a function written with `def`"))
    if tree.name != function.__code__.co_name:  # code made by `exec` may borrow the name of another text
        raise Rejected(_no_source(function, f"the text at its place holds `{tree.name}`"))
    return FunctionSource(function, source, tree)


@lru_cache(maxsize=256)
def _statement_at(lines: tuple[str, ...], first: int) -> ast.stmt:
    """The statement that begins at a line of a file. The tree is cached and shared, so no caller may change it."""
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
    """Whether the file compiles to the function's code, so that an edit after the import is noticed.

    The whole file is compiled, because how a function calls another depends on the imports above it. Text that does
    not compile as a file, such as a notebook cell with `await`, is accepted as it is.
    """
    code = source.function.__code__
    here = [one for one in _code_objects(source.source.name, source.source.lines) if one.co_name == code.co_name]
    candidates = [one for one in here if one.co_firstlineno == code.co_firstlineno]
    return not candidates or any(_same_code(one, code) for one in candidates)


@lru_cache(maxsize=64)
def _code_objects(filename: str, lines: tuple[str, ...]) -> tuple[CodeType, ...]:
    """Every code object in a file."""
    try:
        codes = [compile("".join(lines), filename, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return ()
    for code in codes:  # grows while it is walked
        codes.extend(const for const in code.co_consts if isinstance(const, CodeType))
    return tuple(codes)


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


_LOWERED_STATEMENTS = "FunctionDef Return Assign AugAssign AnnAssign For While If With Expr Pass"
_LOWERED_EXPRESSIONS = "BoolOp BinOp UnaryOp IfExp Compare Call Constant Attribute Subscript Name List Tuple Slice"
_LOWERED_PARTS = (
    "Load Store And Or Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv "
    "Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE arguments arg keyword withitem"
)
_HOLDERS = "Module Interactive Expression FunctionType TypeIgnore"
"""Nodes that contain a kernel and never occur in one."""
LOWERED = frozenset(f"{_LOWERED_STATEMENTS} {_LOWERED_EXPRESSIONS} {_LOWERED_PARTS} {_HOLDERS}".split())

_STATEMENT = Code.UNSUPPORTED_STATEMENT
_EXPRESSION = Code.UNSUPPORTED_EXPRESSION
_TYPE_PARAMETER = (_STATEMENT, "kernels have no type parameters", "use `T` or `U` as the element type")
_IDENTITY = (Code.IDENTITY_TEST, "`is` and `in` are not part of the language", "compare with `==` or `!=`")
_LAMBDA_CURE = "write a helper function at the top of the file; only `by=` of a combining function takes a lambda"
_TEXT_CURE = "store the values into an `Out` and format them after the launch"

_REJECTIONS: dict[str, tuple[Code, str, str]] = {
    "AsyncFunctionDef AsyncFor AsyncWith Await": (
        Code.ASYNC, "kernels are not async", "write it without `async` and `await`",
    ),
    "ClassDef": (Code.NESTED_FUNCTION, "a kernel cannot define a class", "move it out of the kernel"),
    "Lambda": (Code.NESTED_FUNCTION, "lambda is not allowed here", _LAMBDA_CURE),
    "Delete Del": (_STATEMENT, "`del` is not part of the language", "tiles are values; leave the name alone"),
    "TypeAlias": (_STATEMENT, "a kernel cannot define types", "move it to the top of the file"),
    "Match match_case MatchValue MatchSingleton MatchSequence MatchMapping MatchClass MatchStar MatchAs MatchOr": (
        _STATEMENT, "`match` is not part of the language", "write `if`, `elif`, `else`",
    ),
    "Raise": (_STATEMENT, "a kernel cannot raise exceptions", "state the condition with `tp.require(...)`"),
    "Try TryStar ExceptHandler": (
        _STATEMENT, "a kernel cannot catch exceptions: on a GPU there are none", "remove the `try`",
    ),
    "Assert": (
        Code.ASSERTION, "`assert` on a device kills the process that launched it",
        "state a contract with `tp.require(...)`",
    ),
    "Import ImportFrom alias": (_STATEMENT, "a kernel cannot import", "move the import to the top of the file"),
    "Global Nonlocal": (
        _STATEMENT, "a kernel cannot rebind names outside it", "write the result into an `Out` parameter",
    ),
    "Break": (Code.LEAVES_LOOP, "`break` is not part of the language", "bound the loop with `stop=`, or use `while`"),
    "Continue": (Code.LEAVES_LOOP, "`continue` is not part of the language", "put the rest of the body under an `if`"),
    "NamedExpr": (_EXPRESSION, "`:=` is not part of the language", "assign on a line of its own"),
    "Dict": (_EXPRESSION, "dictionaries are not part of the language", "use names or a tuple"),
    "Set": (_EXPRESSION, "sets are not part of the language", "use a tuple"),
    "ListComp SetComp DictComp": (
        Code.COMPREHENSION, "comprehensions are not part of the language", "write a `for` loop",
    ),
    "GeneratorExp comprehension Yield YieldFrom": (
        Code.COMPREHENSION, "generators are not part of the language", "write a `for` loop",
    ),
    "FormattedValue JoinedStr TemplateStr Interpolation": (Code.STRING, "a kernel cannot make text", _TEXT_CURE),
    "Starred": (Code.STARRED, "starred arguments and targets are not part of the language", "name each of them"),
    "Is IsNot In NotIn": _IDENTITY,
    "TypeVar ParamSpec TypeVarTuple": _TYPE_PARAMETER,
}  # fmt: skip
REJECTED = {name: rejection for names, rejection in _REJECTIONS.items() for name in names.split()}


def _is_none_test(node: ast.AST) -> bool:
    """Whether this is `x is None` or `x is not None`."""
    match node:
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return True
        case _:
            return False


def check_syntax(function: FunctionSource, *, is_kernel: bool = False) -> list[Diagnostic]:
    """Every piece of Python in `function` that kernels, and helpers, do not have."""
    mistakes: list[Diagnostic] = []
    if getattr(function.tree, "type_params", None):
        code, message, cure = _TYPE_PARAMETER
        mistakes.append(Diagnostic(code, message, function.header, help=cure))
    statements = function.tree.body
    for number, statement in enumerate(statements):
        last = number == len(statements) - 1
        if not (last and isinstance(statement, ast.Return)):
            mistakes.extend(_rejections(function, statement, is_kernel))
        elif statement.value is not None:
            mistakes.extend(_rejections(function, statement.value, is_kernel))
    return mistakes


def _rejections(function: FunctionSource, node: ast.AST, is_kernel: bool) -> Iterator[Diagnostic]:
    """Rejections in `node` and below; nothing below a rejected node is reported."""
    name = type(node).__name__
    if isinstance(node, ast.FunctionDef):
        message = f"the function `{node.name}` is defined inside a kernel"
        yield Diagnostic(
            Code.NESTED_FUNCTION,
            message,
            function.span(node),
            help="move it to the top of the file: helpers are inlined",
        )
        return
    if _is_none_test(node):
        assert isinstance(node, ast.Compare)
        yield from _rejections(function, node.left, is_kernel)
        return
    if isinstance(node, ast.Compare):
        for operator in node.ops:
            if type(operator).__name__ in REJECTED:
                code, message, cure = _IDENTITY
                yield Diagnostic(code, message, function.span(node), help=cure)
                return
    if name in REJECTED:
        code, message, cure = REJECTED[name]
        edit = None
        if isinstance(node, ast.Assert) and is_kernel:
            edit = Edit(function.span(node), f"tp.require({function.span(node.test).text})")
        yield Diagnostic(code, message, function.span(node), help=cure, edit=edit)
        return
    match node:
        case ast.Return():
            cure = "put what follows under an `if` instead"
            if node.value is not None:
                cure = "assign the result to a name and return it on the last line"
                if is_kernel:
                    cure = "a kernel returns nothing: write the result into an `Out` parameter, `y[n] = ...`"
            yield Diagnostic(
                Code.EARLY_RETURN,
                "`return` may only be the last statement of a function",
                function.span(node),
                help=cure,
            )
            return
        case ast.For(orelse=[first, *_]) | ast.While(orelse=[first, *_]):
            message = "a loop cannot have `else`: without `break` it would always run"
            yield Diagnostic(Code.LOOP_ELSE, message, function.span(first), help="move it below the loop")
        case ast.Constant(value=value) if isinstance(value, bytes | complex) or value is ...:
            cure = "write `pass` to do nothing" if value is ... else "numbers are whole or floating"
            yield Diagnostic(
                _EXPRESSION, f"`{ast.unparse(node)}` is not a value of the language", function.span(node), help=cure
            )
        case _:
            pass
    for child in ast.iter_child_nodes(node):
        # A combiner may be written in place: `by=lambda a, b: ...`.
        inside = isinstance(node, ast.keyword) and node.arg == "by" and isinstance(child, ast.Lambda)
        below = child.body if inside and isinstance(child, ast.Lambda) else child
        yield from _rejections(function, below, is_kernel)
