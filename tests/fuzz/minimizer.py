"""Smaller texts of a kernel that still show what was found."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator


def shrink(text: str, shows: Callable[[str], bool], seconds: float) -> str:
    """The smallest text found within the time; each step takes one piece away and keeps what `shows` says of it."""
    end, best = time.monotonic() + seconds, text
    progress = True
    while progress:
        progress = False
        for smaller in smaller_texts(best):
            if time.monotonic() > end:
                return best
            if shows(smaller):
                best, progress = smaller, True
                break
    return best


def smaller_texts(text: str) -> Iterator[str]:
    """Texts with one piece less: a statement, a guard, an operand, a parameter that nothing uses, a helper."""
    tree = ast.parse(text)
    for number in range(sum(1 for _ in pieces(tree))):
        changed = copy.deepcopy(tree)
        list(pieces(changed))[number]()
        made = ast.unparse(ast.fix_missing_locations(changed)) + "\n"
        if made != text:
            yield made


def pieces(tree: ast.Module) -> Iterator[Callable[[], None]]:
    """Ways to take one piece away, largest first."""
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for helper in functions:
        if helper.name not in used and helper.name != "k":
            yield lambda one=helper: tree.body.remove(one)  # type: ignore[misc]
    kernel = next(one for one in functions if one.name == "k")
    for block in _blocks(kernel.body):
        for at, statement in enumerate(block):
            if len(block) > 1 or not isinstance(statement, ast.Pass):
                rest = [] if len(block) > 1 else [ast.Pass()]
                yield lambda b=block, i=at, r=rest: b.__setitem__(slice(i, i + 1), r)  # type: ignore[misc]
            if isinstance(statement, ast.If):
                for side in (statement.body, statement.orelse):
                    if side:
                        yield lambda b=block, i=at, s=side: b.__setitem__(slice(i, i + 1), s)  # type: ignore[misc]
                if statement.orelse:
                    yield lambda s=statement: setattr(s, "orelse", [])  # type: ignore[misc]
    inside = {node.id for statement in kernel.body for node in ast.walk(statement) if isinstance(node, ast.Name)}
    for parameter in kernel.args.args:
        if parameter.arg not in inside:
            yield lambda one=parameter: kernel.args.args.remove(one)  # type: ignore[misc]
    for node in ast.walk(kernel):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Sub | ast.BitAnd | ast.BitOr):
                for side in (value.left, value.right):
                    yield lambda n=node, f=name, s=side: setattr(n, f, s)  # type: ignore[misc]


def _blocks(block: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    yield block
    for statement in block:
        for name in ("body", "orelse"):
            inner = getattr(statement, name, None)
            if inner:
                yield from _blocks(inner)
