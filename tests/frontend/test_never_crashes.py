"""A kernel that was spoilt at random is accepted or refused with codes: never an exception of another kind."""

from __future__ import annotations

import ast
import copy
import io
import keyword
import os
import random
import tokenize
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kernel_files import found_in, load

import tileproof as tp
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import render_all

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MIXED = """
import math

import tileproof as tp
from tileproof import In, Index, InOut, Max, Out, Sum, T, bf16, f32, i8, i32

PAIR = (2.0, (3, 0.5))


def norm(t, eps=1e-6, *, axis=-1):
    scale = tp.rsqrt((t * t).mean(axis=axis, keepdims=True) + eps)
    return t * scale, scale


@tp.kernel
def mixed(
    y: Out[T, "M N D"], z: InOut[f32, "M N"], s: Sum[i32, "V"], top: Max[f32, "M"], x: In[T, "M D"], w: In[f32, "D 3"],
    ids: In[Index["V"], "M"], q: In[i8, "N K"], eps: f32, past: i32, *, D: int, BM: int = 4, BN: int = 2, BK: int = 8,
) -> None:
    tp.require(tp.dim("M") >= 1)
    limit = past + 1
    for i, j in tp.parallel(M=BM, N=BN):
        row = x[i, :].to(f32)
        out, scale = norm(row, eps=eps)
        best, where, n = tp.lowest, 0, 0
        for k in tp.tiles(K=BK, start=0, stop=limit):
            part = q[j, k].to(i32).max(axis=1)
            if part.max() > 3:
                best, where = tp.maximum(best, part.max().to(f32)), k.start
            elif part.min() < -3:
                best = best * PAIR[0]
            else:
                best -= PAIR[1][1]
        while (n < 5) & (best < 100.0):
            n, best = n + 1, best * 2.0 if n % 2 == 0 else best + 1.0
        gathered = w[:, tp.arange(3)].reshape(3, D)[0:2]
        both = tp.cat((gathered, gathered[:, 0:D]), axis=0)
        mixed_up = (out @ w[:, 0:3]) @ tp.full((3, BN), 1.0 if BM > 2 else 0.0)
        z[i, j] = z[i, j] + mixed_up * both.sum() + where.to(f32)
        z[i, j] += tp.where(i.elements[:, None] >= j.elements[None, :], scale, -tp.inf)
        if BN % 2 == 0 or BK != 8:
            y[i, j, :] = out.to(x.dtype)[:, None, :]
        else:
            y[i, j, :] = tp.clip(out, -1, 1).to(x.dtype)[:, None, :]
        s[ids[i]] += 1
        tp.update(top, i, row.max(axis=1) + math.pi)
        for r in range(i.start, i.stop, 2):
            tp.update(top, r, w[0, 1] * (r % 7).to(f32))
"""
"""A kernel that has what the examples have not."""
NAMES = ["mixed", *(path.stem for path in sorted(EXAMPLES.glob("*.py")) if not path.stem.startswith("demo"))]
CASES = int(os.environ.get("TILEPROOF_EXAMPLES", "330")) // len(NAMES)
WORDS = [
    "tp.each", "tp.inf", "tp.lowest", "None", "True", "0", "1", "-1", "2.5", "10**400", "0x" + "F" * 3000, '"M"', "x",
    "tp", "f32", "T", "bool", "i32", "tp.exp", "tp.parallel", "range", "(1, 2)", "()", "[1]", "tp.zeros((2, 2))",
    "D", "BM", "math.nan", "tp.arange(3)", "x.shape", "tp.dim", ":", "...", "not", "if", "else", "*", "lambda: 0",
    "max", "min", "abs", "tp.full((), 1)", "tp.update", "1e400", "b''", "1j", "f''", "tp.mma", "sum", ".T", "[None]",
    "[0:1]",
]  # fmt: skip


class Spoil(ast.NodeTransformer):
    """Changes one node of a tree, the `target`th it meets."""

    def __init__(self, rng: random.Random, target: int, donors: list[ast.expr]) -> None:
        self.rng, self.left, self.donors = rng, target, donors

    def generic_visit(self, node: ast.AST) -> Any:
        self.left -= 1
        if self.left == 0:
            return self.changed(node)
        return super().generic_visit(node)

    def changed(self, node: ast.AST) -> Any:
        rng = self.rng
        match node:
            case ast.stmt():
                twice = [node, copy.deepcopy(node)]
                return rng.choice([None, twice, ast.If(self.donor(), [node], []), self.looped(node)])
            case ast.Constant():
                return rng.choice([*map(ast.Constant, (0, -1, 3, 2.5, True, None, "M", 2**70)), self.donor()])
            case ast.BinOp():
                node.op = rng.choice(OPERATORS)()
                return node
            case ast.Compare():
                node.ops = [rng.choice(COMPARISONS)() for _ in node.ops]
                return node
            case ast.Call():
                return self.recalled(node)
            case ast.expr():
                return rng.choice([self.donor(), ast.UnaryOp(rng.choice([ast.USub, ast.Invert, ast.Not])(), node)])
            case _:
                return node

    def recalled(self, node: ast.Call) -> ast.expr:
        match self.rng.randrange(5):
            case 0 if node.args:
                del node.args[self.rng.randrange(len(node.args))]
            case 1:
                node.args.insert(self.rng.randint(0, len(node.args)), self.donor())
            case 2 if node.keywords:
                del node.keywords[self.rng.randrange(len(node.keywords))]
            case 3:
                name = self.rng.choice(["axis", "keepdims", "dtype", "M", "stop", "q"])
                node.keywords.append(ast.keyword(name, self.donor()))
            case _:
                return node.func
        return node

    def looped(self, node: ast.stmt) -> ast.stmt:
        counter = ast.Name("spoilt", ast.Store())
        return ast.For(counter, ast.Call(ast.Name("range", ast.Load()), [self.donor()], []), [node], [])

    def donor(self) -> ast.expr:
        return copy.deepcopy(self.rng.choice(self.donors))


OPERATORS = [getattr(ast, name) for name in (
    "Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "Pow", "MatMult", "BitAnd", "BitOr", "BitXor", "LShift", "RShift",
)]  # fmt: skip
COMPARISONS = [ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.In]


def kernel_lines(text: str) -> tuple[int, int]:
    """The lines of the kernel of an example, its signature included."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            assert node.end_lineno is not None
            return node.lineno, node.end_lineno
    raise AssertionError("an example without a kernel")


def by_tree(text: str, rng: random.Random) -> str:
    """Nodes dropped, doubled, wrapped, or replaced by others of the same kernel."""
    module = ast.parse(text)
    kernel = next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.decorator_list)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        donors = [node for node in ast.walk(kernel) if isinstance(node, ast.expr) and not is_stored(node)]
        count = sum(1 for statement in kernel.body for _ in ast.walk(statement))
        spoil = Spoil(rng, rng.randint(1, max(count, 1)), donors)
        body: list[ast.stmt] = []
        for statement in kernel.body:
            changed = spoil.visit(statement)
            body += changed if isinstance(changed, list) else [] if changed is None else [changed]
        kernel.body = body or [ast.Pass()]
        ast.fix_missing_locations(module)
    return ast.unparse(module)


def is_stored(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store) or isinstance(node, ast.Slice | ast.Starred)


def by_token(text: str, rng: random.Random) -> str:
    """Tokens of the kernel dropped, doubled, swapped, or replaced by other words."""
    first, last = kernel_lines(text)
    lines = text.splitlines(keepends=True)
    found = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if first <= token.start[0] <= last
        and token.string.strip()
        and token.type != tokenize.COMMENT
        and token.start[0] == token.end[0]
    ]
    words = [token.string for token in found if not keyword.iskeyword(token.string)]
    chosen = rng.sample(found, min(rng.choice([1, 1, 2, 3]), len(found)))
    for token in sorted(chosen, key=lambda token: token.start, reverse=True):
        new = rng.choice(["", token.string * 2, f"{token.string} {token.string}", rng.choice(words), rng.choice(WORDS)])
        row, line = token.start[0] - 1, lines[token.start[0] - 1]
        lines[row] = line[: token.start[1]] + new + line[token.end[1] :]
    return "".join(lines)


def by_line(text: str, rng: random.Random) -> str:
    """Lines of the kernel dropped, doubled, swapped or indented otherwise."""
    first, last = kernel_lines(text)
    lines = text.splitlines(keepends=True)
    one, two = (rng.randint(first, last) - 1 for _ in range(2))
    match rng.randrange(4):
        case 0:
            del lines[one]
        case 1:
            lines.insert(two, lines[one])
        case 2:
            lines[one], lines[two] = lines[two], lines[one]
        case _:
            lines[one] = lines[one][4:] if rng.random() < 0.5 else "    " + lines[one]
    return "".join(lines)


def by_name(text: str, rng: random.Random) -> str:
    """All uses of one name become another."""
    first, last = kernel_lines(text)
    lines = text.splitlines(keepends=True)
    tree = ast.parse("".join(lines[first - 1 : last]))
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
    old, new = rng.choice(names), rng.choice([*names, "missing", "range"])
    words = ast.parse(text)
    for node in ast.walk(words):
        if isinstance(node, ast.Name) and node.id == old and first <= node.lineno <= last and rng.random() < 0.7:
            node.id = new
    return ast.unparse(words)


SPOILERS: list[Callable[[str, random.Random], str]] = [by_tree, by_tree, by_token, by_token, by_line, by_name]


def source(name: str) -> str:
    return MIXED if name == "mixed" else (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")


def spoilt_source(name: str, rng: random.Random) -> str:
    """Changed once or more; Python if that comes of a few tries."""
    spoilt = source(name)
    for _ in range(9):
        try:
            for _ in range(rng.choice([1, 1, 2, 3])):
                spoilt = rng.choice(SPOILERS)(spoilt, rng)
            compile(spoilt, name, "exec")
            break
        except (SyntaxError, tokenize.TokenError, AssertionError, ValueError):
            spoilt = source(name)
    return spoilt


def check_spoilt(name: str, seed: str) -> list[Code] | None:
    """What comes of an example spoilt in the way `seed` says; None where it is not even Python."""
    spoilt = spoilt_source(name, random.Random(f"{name}:{seed}"))
    try:
        module = load(spoilt, head="")
    except Exception:
        return None  # Python's own complaint, or that of something outside the kernel
    kernel = getattr(module, name, None)
    if not isinstance(kernel, tp.Kernel):
        return None
    try:
        found = found_in(kernel)
        shown = render_all(found)
    except Exception as problem:
        problem.add_note(f"seed {seed!r} makes of {name}:\n{spoilt}")
        raise
    assert "Traceback" not in shown
    for diagnostic in found:
        assert diagnostic.message, f"seed {seed!r}: a finding without words\n{spoilt}"
        assert diagnostic.span is not None, f"seed {seed!r}: a finding without a place\n{spoilt}"
    return [diagnostic.code for diagnostic in found]


@pytest.mark.sweep(6)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fresh", [False, True], ids=["fixed", "fresh"])
def test_a_spoilt_kernel_is_accepted_or_refused_with_codes(name: str, fresh: bool) -> None:
    seed = random.SystemRandom().randrange(10**6) if fresh else 0
    print(f"seeds {seed}:0 to {seed}:{CASES - 1}")
    outcomes = [check_spoilt(name, f"{seed}:{number}") for number in range(CASES)]
    assert any(codes for codes in outcomes), "nothing was refused: the kernels were not spoilt enough"


def test_the_examples_themselves_are_accepted() -> None:
    for name in NAMES:
        assert found_in(getattr(load(source(name), head=""), name)) == []
