"""Step 2: what of Python a kernel may be written in.

The law: every class of Python's `ast` is either lowered or refused with a code. `LOWERED` and `REFUSED` divide them;
a test fails on a class in neither. What is wrong only in its place (`return` in the middle, `else` on a loop) is
refused here too, so that later steps see only what they know.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic

from .source import FunctionSource

_LOWERED_STATEMENTS = "FunctionDef Return Assign AugAssign AnnAssign For While If With Expr Pass"
_LOWERED_EXPRESSIONS = "BoolOp BinOp UnaryOp IfExp Compare Call Constant Attribute Subscript Name List Tuple Slice"
_LOWERED_PARTS = (
    "Load Store And Or Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv "
    "Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE arguments arg keyword withitem"
)
_HOLDERS = "Module Interactive Expression FunctionType TypeIgnore"
"""What holds a kernel and never stands inside one."""
LOWERED = frozenset(f"{_LOWERED_STATEMENTS} {_LOWERED_EXPRESSIONS} {_LOWERED_PARTS} {_HOLDERS}".split())

_STATEMENT = Code.UNSUPPORTED_STATEMENT
_EXPRESSION = Code.UNSUPPORTED_EXPRESSION
_MATCH = (_STATEMENT, "`match` is not part of the language", "write `if`, `elif`, `else`")
_TYPE_PARAMETER = (_STATEMENT, "kernels have no type parameters", "use `T` or `U` as the element type")
_NO_TRY = (_STATEMENT, "a kernel cannot catch exceptions: on a GPU there are none", "remove the `try`")
_NO_IMPORT = (_STATEMENT, "a kernel cannot import", "move the import to the top of the file")
_NO_GLOBAL = (_STATEMENT, "a kernel cannot rebind names outside it", "write the result into an `Out` parameter")
_NO_ASYNC = (Code.ASYNC, "kernels are not async", "write it without `async` and `await`")
_NO_GENERATOR = (Code.COMPREHENSION, "generators are not part of the language", "write a `for` loop")
_NO_TEXT = (Code.STRING, "a kernel cannot make text", "store the values into an `Out` and format them after the launch")
_IDENTITY = (Code.IDENTITY_TEST, "`is` and `in` are not part of the language", "compare with `==` or `!=`")

REFUSED: dict[str, tuple[Code, str, str]] = {
    "AsyncFunctionDef": _NO_ASYNC,
    "AsyncFor": _NO_ASYNC,
    "AsyncWith": _NO_ASYNC,
    "Await": _NO_ASYNC,
    "ClassDef": (Code.NESTED_FUNCTION, "a kernel cannot define a class", "move it out of the kernel"),
    "Lambda": (
        Code.NESTED_FUNCTION,
        "lambda is not allowed here",
        "write a helper function at the top of the file; only `by=` of a combining function takes a lambda",
    ),
    "Delete": (_STATEMENT, "`del` is not part of the language", "tiles are values; leave the name alone"),
    "TypeAlias": (_STATEMENT, "a kernel cannot define types", "move it to the top of the file"),
    "Match": _MATCH,
    "match_case": _MATCH,
    "MatchValue": _MATCH,
    "MatchSingleton": _MATCH,
    "MatchSequence": _MATCH,
    "MatchMapping": _MATCH,
    "MatchClass": _MATCH,
    "MatchStar": _MATCH,
    "MatchAs": _MATCH,
    "MatchOr": _MATCH,
    "Raise": (_STATEMENT, "a kernel cannot raise exceptions", "state the condition with `tp.require(...)`"),
    "Try": _NO_TRY,
    "TryStar": _NO_TRY,
    "ExceptHandler": _NO_TRY,
    "Assert": (
        Code.ASSERTION,
        "`assert` on a device kills the process that launched it",
        "state a contract with `tp.require(...)`",
    ),
    "Import": _NO_IMPORT,
    "ImportFrom": _NO_IMPORT,
    "alias": _NO_IMPORT,
    "Global": _NO_GLOBAL,
    "Nonlocal": _NO_GLOBAL,
    "Break": (Code.LEAVES_LOOP, "`break` is not part of the language", "bound the loop with `stop=`, or use `while`"),
    "Continue": (Code.LEAVES_LOOP, "`continue` is not part of the language", "put the rest of the body under an `if`"),
    "NamedExpr": (_EXPRESSION, "`:=` is not part of the language", "assign on a line of its own"),
    "Dict": (_EXPRESSION, "dictionaries are not part of the language", "use names or a tuple"),
    "Set": (_EXPRESSION, "sets are not part of the language", "use a tuple"),
    "ListComp": (Code.COMPREHENSION, "comprehensions are not part of the language", "write a `for` loop"),
    "SetComp": (Code.COMPREHENSION, "comprehensions are not part of the language", "write a `for` loop"),
    "DictComp": (Code.COMPREHENSION, "comprehensions are not part of the language", "write a `for` loop"),
    "GeneratorExp": _NO_GENERATOR,
    "comprehension": _NO_GENERATOR,
    "Yield": _NO_GENERATOR,
    "YieldFrom": _NO_GENERATOR,
    "FormattedValue": _NO_TEXT,
    "JoinedStr": _NO_TEXT,
    "TemplateStr": _NO_TEXT,
    "Interpolation": _NO_TEXT,
    "Starred": (Code.STARRED, "starred arguments and targets are not part of the language", "name each of them"),
    "Is": _IDENTITY,
    "IsNot": _IDENTITY,
    "In": _IDENTITY,
    "NotIn": _IDENTITY,
    "Del": (_STATEMENT, "`del` is not part of the language", "tiles are values; leave the name alone"),
    "TypeVar": _TYPE_PARAMETER,
    "ParamSpec": _TYPE_PARAMETER,
    "TypeVarTuple": _TYPE_PARAMETER,
}


def check_syntax(function: FunctionSource) -> list[Diagnostic]:
    """Every piece of Python in `function` that kernels do not have."""
    found: list[Diagnostic] = []
    if getattr(function.tree, "type_params", None):
        code, message, cure = _TYPE_PARAMETER
        found.append(Diagnostic(code, message, function.header, help=cure))
    statements = function.tree.body
    for number, statement in enumerate(statements):
        last = number == len(statements) - 1
        if not (last and isinstance(statement, ast.Return)):
            found.extend(_refusals(function, statement))
        elif statement.value is not None:
            found.extend(_refusals(function, statement.value))
    return found


def _refusals(function: FunctionSource, node: ast.AST) -> Iterator[Diagnostic]:
    """Refusals in `node` and below; below a refused node nothing more is said."""
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
    if isinstance(node, ast.Compare):
        for operator in node.ops:
            if type(operator).__name__ in REFUSED:
                code, message, cure = _IDENTITY
                yield Diagnostic(code, message, function.span(node), help=cure)
                return
    if name in REFUSED:
        code, message, cure = REFUSED[name]
        yield Diagnostic(code, message, function.span(node), help=cure)
        return
    match node:
        case ast.Return():
            cure = "put what follows under an `if` instead"
            if node.value is not None:
                cure = "assign the result to a name and return it on the last line"
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
        yield from _refusals(function, child.body if inside and isinstance(child, ast.Lambda) else child)
