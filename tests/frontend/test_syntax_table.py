"""Every class of Python's syntax tree is lowered or refused with a code: none is forgotten, none passes in silence."""

from __future__ import annotations

import _ast
import ast

import pytest
from kernel_files import HEAD, codes, mistakes, with_body

from tileproof.diagnostics.codes import Code
from tileproof.frontend import source

CLASSES = {name: found for name, found in vars(_ast).items() if isinstance(found, type) and issubclass(found, ast.AST)}
BASES = {base.__name__ for found in CLASSES.values() for base in found.__mro__[1:]}
CONCRETE = set(CLASSES) - BASES
"""What a tree is made of; the others only group these."""

BODIES = {
    "AsyncFunctionDef": "async def f():\n    pass",
    "ClassDef": "class C:\n    pass",
    "Lambda": "f = lambda a: a",
    "Delete": "del a",
    "Del": "del a",
    "TypeAlias": "type A = int",
    "Match": "match D:\n    case _:\n        pass",
    "match_case": "match D:\n    case 1:\n        pass",
    "MatchValue": "match D:\n    case 1:\n        pass",
    "MatchSingleton": "match D:\n    case None:\n        pass",
    "MatchSequence": "match D:\n    case [1, 2]:\n        pass",
    "MatchMapping": "match D:\n    case {}:\n        pass",
    "MatchClass": "match D:\n    case int():\n        pass",
    "MatchStar": "match D:\n    case [*a]:\n        pass",
    "MatchAs": "match D:\n    case a:\n        pass",
    "MatchOr": "match D:\n    case 1 | 2:\n        pass",
    "Raise": "raise ValueError",
    "Try": "try:\n    pass\nfinally:\n    pass",
    "TryStar": "try:\n    pass\nexcept* ValueError:\n    pass",
    "ExceptHandler": "try:\n    pass\nexcept ValueError:\n    pass",
    "Assert": "assert D > 1",
    "Import": "import math",
    "ImportFrom": "from math import pi",
    "alias": "import math as m",
    "Global": "global held",
    "Nonlocal": "nonlocal held",
    "Break": "for a in range(3):\n    break",
    "Continue": "for a in range(3):\n    continue",
    "NamedExpr": "y[i, j] = (a := x[i, j])",
    "Dict": "a = {}",
    "Set": "a = {1}",
    "ListComp": "a = [b for b in range(3)]",
    "SetComp": "a = {b for b in range(3)}",
    "DictComp": "a = {b: b for b in range(3)}",
    "GeneratorExp": "a = tuple(b for b in range(3))",
    "comprehension": "a = [b for b in range(3) if b]",
    "FormattedValue": "a = f'{D}'",
    "JoinedStr": "a = f'text'",
    "TemplateStr": "a = t'text'",
    "Interpolation": "a = t'{D}'",
    "Starred": "a, *b = 1, 2, 3",
    "Is": "a = D is D",
    "IsNot": "a = D is not D",
    "In": "a = D in (1, 2)",
    "NotIn": "a = D not in (1, 2)",
    "Yield": "a = yield",
    "YieldFrom": "yield from x",
}
"""A body of a kernel that has each class, and no other mistake."""
ASYNC = {"AsyncFor": "async for a in x:\n    pass", "AsyncWith": "async with x:\n    pass", "Await": "await x"}
"""Bodies that Python allows in `async def` only."""
PARAMETERS = {"TypeVar": "A", "ParamSpec": "**A", "TypeVarTuple": "*A"}
"""What can stand in brackets behind a function's name."""


def test_every_class_is_lowered_or_refused() -> None:
    assert CONCRETE - source.LOWERED - set(source.REJECTED) == set()


def test_no_class_is_both_lowered_and_refused() -> None:
    assert source.LOWERED & set(source.REJECTED) == set()


def test_every_refused_class_is_tried() -> None:
    assert set(BODIES) | set(ASYNC) | set(PARAMETERS) == set(source.REJECTED)


@pytest.mark.parametrize("name", [name for name in BODIES if name in CONCRETE])
def test_a_refused_class_gives_its_code(name: str) -> None:
    body = BODIES[name]
    assert name in {type(node).__name__ for node in ast.walk(ast.parse(body))}
    text = with_body(body)
    if name == "Nonlocal":
        text = "def maker():\n    held = 1\n" + indented(text) + "    return k\nk = maker()\n"
    assert codes(text) == [source.REJECTED[name][0]]


def test_a_refused_type_parameter_gives_its_code() -> None:
    for name in CONCRETE & set(PARAMETERS):
        text = with_body("y[i, j] = x[i, j]").replace("def k(", f"def k[{PARAMETERS[name]}](")
        assert codes(text) == [source.REJECTED[name][0]]


@pytest.mark.parametrize("name", ASYNC)
def test_what_only_async_functions_have_is_refused_with_them(name: str) -> None:
    assert source.REJECTED[name][0] is Code.ASYNC
    assert codes(with_body(ASYNC[name]).replace("def k(", "async def k(")) == [Code.ASYNC]


@pytest.mark.parametrize("name", [name for name in BODIES if name in CONCRETE - {"Nonlocal"}])
def test_a_refused_class_gives_its_code_in_a_helper(name: str) -> None:
    helper = "def helper(x, y, i, j, D):\n    a = 1\n" + indented(BODIES[name]) + "    return a\n"
    assert codes(with_body("y[i, j] = helper(x, y, i, j, D)", helper)) == [source.REJECTED[name][0]]


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("return", Code.EARLY_RETURN),
        ("for a in range(3):\n    pass\nelse:\n    pass", Code.LOOP_ELSE),
        ("while x[i, j].sum() > 0:\n    pass\nelse:\n    pass", Code.LOOP_ELSE),
        ("def f():\n    pass", Code.NESTED_FUNCTION),
        ("a = ...", Code.UNSUPPORTED_EXPRESSION),
        ("a = x[i, j][..., None]", Code.UNSUPPORTED_EXPRESSION),
        ("a = b'bytes'", Code.UNSUPPORTED_EXPRESSION),
        ("a = 1j", Code.UNSUPPORTED_EXPRESSION),
        ("helper(*x)", Code.STARRED),
        ("tp.exp(**x)", Code.STARRED),
    ],
)
def test_what_is_wrong_only_in_its_place_is_refused(body: str, code: Code) -> None:
    assert codes(with_body(body, "def helper(*a):\n    return a\n")) == [code]


def test_a_body_without_mistakes_is_accepted() -> None:
    assert codes(with_body("y[i, j] = x[i, j]")) == []


def test_every_piece_of_refused_syntax_is_reported_at_its_place() -> None:
    text = with_body("assert D > 1\nfor a in range(3):\n    if D:\n        break\ny[i, j] = x[i, j]\ndel y")
    found = mistakes(text)
    assert [d.code for d in found] == [Code.ASSERTION, Code.LEAVES_LOOP, Code.UNSUPPORTED_STATEMENT]
    assert [d.span.text for d in found if d.span] == ["assert D > 1", "break", "del y"]
    first = (HEAD + text).splitlines().index("        assert D > 1") + 1
    assert [d.span.line for d in found if d.span] == [first, first + 3, first + 5]


def test_below_refused_syntax_nothing_more_is_said() -> None:
    assert codes(with_body("try:\n    assert c\nfinally:\n    del d")) == [Code.UNSUPPORTED_STATEMENT]


# Lowered in one place, refused in all others.


@pytest.mark.parametrize(
    "opened",
    [
        "x[i, j]",
        "x[i, j] as a",
        "tp.exp(x[i, j])",
        "tp.unsafe",
        "tp.unsafe('why') as a",
        "tp.unsafe('one'), tp.unsafe('two')",
        "open('file')",
    ],
)
def test_a_with_that_is_not_tp_unsafe_is_refused(opened: str) -> None:
    body = f"with {opened}:\n    y[i, j] = 0.0"
    assert codes(with_body(body)) == [Code.UNSUPPORTED_STATEMENT]
    helper = "def helper(x, y, i, j):\n" + indented(body)
    assert codes(with_body("helper(x, y, i, j)", helper)) == [Code.UNSUPPORTED_STATEMENT]


def test_a_with_of_tp_unsafe_is_lowered() -> None:
    body = "with tp.unsafe('why'):\n    t = tp.raw.load(x, i, j)\ny[i, j] = t"
    assert codes(with_body(body)) == []
    helper = "def helper(x, y, i, j):\n" + indented(body)
    assert codes(with_body("helper(x, y, i, j)", helper)) == []


@pytest.mark.parametrize("reason", ["", "''", "' '", "3", "WHY", "'one', 'two'", "reason='why'"])
def test_a_tp_unsafe_without_a_written_reason_is_refused(reason: str) -> None:
    body = f"with tp.unsafe({reason}):\n    y[i, j] = 0.0"
    assert codes(with_body(body, "WHY = 'a reason'\n")) == [Code.NO_REASON]


@pytest.mark.parametrize(
    "body",
    [
        "y[i, j] = tp.scan(x[i, j], by=lambda a, b: a + b, axis=1)",
        "v_ = tp.reduce(x[i, j], axis=1, identity=0.0, by=lambda a, b: tp.maximum(a, b))\ny[i, j] = v_[:, None]",
    ],
)
def test_a_lambda_as_by_is_lowered(body: str) -> None:
    assert codes(with_body(body)) == []


@pytest.mark.parametrize(
    "body",
    [
        "y[i, j] = tp.scan(x[i, j], lambda a, b: a + b, axis=1)",
        "by = lambda a, b: a + b",
        "f, g = 1, lambda a: a",
        "y[i, j] = (lambda a: a)(x[i, j])",
        "y[i, j] = tp.scan(x[i, j], by=(lambda a: a, 1)[0], axis=1)",
        "y[i, j] = tp.scan(x[i, j], by=lambda a, b: (lambda c: c)(a), axis=1)",
    ],
)
def test_a_lambda_anywhere_else_is_refused(body: str) -> None:
    assert codes(with_body(body)) == [Code.NESTED_FUNCTION]


def test_syntax_inside_a_lambda_is_checked_too() -> None:
    body = "y[i, j] = tp.scan(x[i, j], by=lambda a, b: [c for c in (a, b)], axis=1)"
    assert codes(with_body(body)) == [Code.COMPREHENSION]
