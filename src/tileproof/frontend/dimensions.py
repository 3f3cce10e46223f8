"""Dimension expressions: `"H+2*G"`, `"P*S"`, `"V/BV"` (ceiling: one per tile), `"N=H+2*G"`.

An expression is a dimension of its own, named by its text or by the name before `=`, with an *equation* that its extent
satisfies. So equal texts are equal extents, and the launch checks each equation once.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Edit
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.diagnostics.spans import Span
from tileproof.diagnostics.values import shortened
from tileproof.ir.types import Dimension, Extent, Fixed, Length, Named, Unnamed, symbol

from .source import Rejected, reject

_DIGITS: Final = 40
"""No memory has extents with numbers of so many digits."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, slots=True, eq=False)
class Equation:
    """A dimension that is computed from others."""

    dimension: str
    expression: ast.expr
    text: str
    span: Span

    @property
    def names(self) -> tuple[str, ...]:
        """The dimensions and constants it is computed from."""
        return tuple(dict.fromkeys(node.id for node in ast.walk(self.expression) if isinstance(node, ast.Name)))

    def value(self, extents: Mapping[str, Length]) -> Length:
        """The extent, where every name has one."""
        return _value(self.expression, extents)


def _value(node: ast.expr, extents: Mapping[str, Length]) -> Length:
    match node:
        case ast.Name(id=name):
            return extents[name]
        case ast.Constant(value=int() as number):
            return number
        case ast.BinOp(left=left, op=operator, right=right):
            one, two = _value(left, extents), _value(right, extents)
            match operator:
                case ast.Add():
                    return one + two
                case ast.Sub():
                    return one - two
                case ast.Mult():
                    return one * two
                case _:
                    return -(-one // two) if isinstance(two, Extent) or two else 0
        case _:
            raise AssertionError(f"not a dimension expression: {ast.unparse(node)}")


def solve(equation: Equation, extent: int, extents: Mapping[str, int]) -> tuple[str, int] | None:
    """The one dimension an equation leaves open, and its extent: `"B+1"` of length 9 makes B 8. None if unclear."""
    missing = [name for name in equation.names if name not in extents]
    if len(missing) != 1:
        return None
    (name,) = missing
    length = equation.value({**extents, name: symbol(name)})
    if not isinstance(length, Extent) or len(length.terms) != 1 or length.terms[0][0] != name:
        return None
    factor = length.terms[0][1]
    value, rest = divmod(extent - length.constant, factor)
    return (name, value) if rest == 0 and value >= 0 else None


def resolve(
    equations: Sequence[Equation], extents: Mapping[str, Any], constants: Mapping[str, Any]
) -> dict[str, Any]:
    """The extents and all that follow from them: an equation determines its dimension, or its one open name.

    Extents may be symbolic integers of torch. Solving an equation turns them into numbers, and torch specializes.
    """
    resolved = dict(extents)
    for _ in equations:
        for equation in equations:
            known = {**constants, **resolved}
            missing = [name for name in equation.names if name not in known]
            if not missing and equation.dimension not in resolved:
                resolved[equation.dimension] = equation.value(known)
            elif missing and equation.dimension in resolved:
                numbers = {name: int(known[name]) for name in equation.names if name in known}
                solved = solve(equation, int(resolved[equation.dimension]), numbers)
                if solved is not None:
                    resolved[solved[0]] = solved[1]
    return resolved


def read_dimensions(text: str, span: Span, equations: list[Equation]) -> tuple[Dimension, ...]:
    """The dimensions of a string, the equations among them added to `equations`."""
    return tuple(read_dimension(word, span, equations) for word in text.split())


def read_dimension(word: str, span: Span, equations: list[Equation]) -> Dimension:
    """One dimension: a name, a number, `_` or an expression."""
    if word == "_":
        return Unnamed()
    if word.isdecimal():
        if len(word) > _DIGITS or int(word) < 1:
            raise _bad(word, span)
        return Fixed(int(word))
    if _NAME.match(word):
        return Named(word)
    name, equals, text = word.partition("=")
    if equals and not _NAME.match(name):
        raise _bad(word, span)
    expression = _parse(text if equals else word, word, span)
    shown = ast.unparse(expression).replace(" ", "")
    dimension = name if equals else shown
    known = next((one for one in equations if one.dimension == dimension), None)
    if known is None:
        equations.append(Equation(dimension, expression, shown, span))
    elif known.text != shown:
        message = f"`{dimension}` is `{known.text}` in one place and `{shown}` in another"
        raise reject(Code.BAD_DIMENSIONS, message, span, help="give them different names")
    return Named(dimension)


def _parse(text: str, word: str, span: Span) -> ast.expr:
    try:
        parsed = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        raise _bad(word, span) from None
    _check(parsed, word, span)
    if isinstance(parsed, ast.Constant):  # 0x10, 1_000: numbers are written plainly
        raise _bad(word, span)
    return parsed


def _check(node: ast.expr, word: str, span: Span) -> None:
    match node:
        case ast.Name():
            return
        case ast.Constant(value=int() as number) if not isinstance(number, bool) and number >= 0:
            return
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            _check(left, word, span)
            _check(right, word, span)
        case _:
            raise _bad(word, span)


def _bad(word: str, span: Span) -> Rejected:
    return reject(
        Code.BAD_DIMENSIONS,
        f"`{shortened(word)}` is not a dimension",
        span,
        edit=Edit(span, " ".join(span.text.replace(",", " ").split())) if "," in word else None,
        notes=(
            "a dimension is a name, a number of at least 1, `_`, or an expression of names and numbers with + - * /",
            'an expression is written without spaces, "H+2*G", and may be named, "N=H+2*G"; / rounds up',
        ),
        help='separate dimensions by spaces: "M K"',
    )
