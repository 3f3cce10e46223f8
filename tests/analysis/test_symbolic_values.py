"""What the checker takes a value for is what the interpreter computes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meaning import holds, value

import tileproof as tp
from support.source_files import load_text
from support.tiers import examples
from tileproof.analysis.collect import Collector
from tileproof.analysis.ranges import Ranges
from tileproof.analysis.sites import Account
from tileproof.analysis.terms import (
    Atom,
    DimensionExtent,
    Formula,
    GroupOf,
    Lane,
    Live,
    Read,
    Scalar,
    Start,
    Term,
    TileNumber,
    Unknown,
    everything,
    of,
    terms,
)
from tileproof.compiler.pipeline import passed
from tileproof.frontend.elaborate import accepted
from tileproof.ir import ops
from tileproof.ir.walk import walk

SIZE = 3
LINES = 6
HEAD = """
import tileproof as tp
from tileproof import In, Index, Out, i8, i32, i64, u8


@tp.kernel
def k(
    y: Out[i64, "E N"], x: In[i32, "N"], small: In[i8, "N"], ids: In[Index["M"], "N"], m: In[i32, "M"], g: In[i32, "G"],
    p: i32, w: i64,
) -> None:
"""
WALKS = {
    "each": ("    for n in tp.parallel(N=tp.each):\n", "n", "n"),
    "sized": (f"    for i in tp.parallel(N={SIZE}):\n        n = i.elements\n", "i", "i"),
}
"""The loop, the walker, and what picks its elements."""


class Writer:
    """Writes expressions at random."""

    def __init__(self, rng: random.Random, walk: str, choices: bool = True) -> None:
        self.rng, self.walk, self.choices = rng, walk, choices

    def index(self, depth: int) -> str:
        """Of type index."""
        rng = self.rng
        if depth == 0:
            plain = ["n", "n", 'tp.dim("N")', 'tp.dim("M")', f"(n + {rng.randint(-4, 4)})"]
            own = ["i.start + n * 0", "i.stop + n * 0", "i.number + n * 0"] if self.walk == "sized" else []
            grouped = ['tp.group(n, "G")'] if self.walk == "each" else []
            return f"({rng.choice([*plain, *own, *grouped])})"
        one, two = self.index(depth - 1), self.index(depth - 1)
        c = rng.randint(-4, 4)
        return rng.choice([
            f"({one} + {two})", f"({one} - {two})", f"({one} * {c})", f"({one} // {c})", f"({one} % {c})",
            f"({one} // {two})", f"({one} % {two})", f"tp.cdiv({one}, {rng.randint(1, 4)})", f"(-{one})",
            f"tp.minimum({one}, {two})", f"tp.maximum({one}, {two})", f"tp.abs({one})", f"tp.clip({one}, {c}, 5)",
            f"({one} + {self.whole(depth - 1, 'i32')})",
            f"tp.where({self.truth(depth - 1)}, {one}, {two})" if self.choices else one,
            f"({one} + ids[{self.at}])", f"({one} * tp.dim(\"N\"))",
        ])  # fmt: skip

    @property
    def at(self) -> str:
        return WALKS[self.walk][2]

    def truth(self, depth: int) -> str:
        """Of type bool."""
        sign = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
        if self.rng.random() < 0.3:
            return f"(ids[{self.at}] {sign} {self.rng.randint(-1, 2)})"
        return f"({self.index(depth)} {sign} {self.index(depth)})"

    def whole(self, depth: int, kind: str) -> str:
        """Of an integer type."""
        rng = self.rng
        if depth == 0:
            return rng.choice({
                "i8": [f"small[{self.at}]", f"small[{self.at}]", "n.to(i8)"],
                "i32": [f"x[{self.at}]", "p", "n.to(i32)", f"small[{self.at}].to(i32)"],
                "i64": ["w", f"x[{self.at}].to(i64)", "n.to(i64)", "w // 2", "tp.abs(w)", "tp.minimum(w, 5)"],
            }[kind])  # fmt: skip
        one, two = self.whole(depth - 1, kind), self.whole(depth - 1, kind)
        c = rng.choice((-7, -2, -1, 0, 1, 2, 3, 8, 100))
        return rng.choice([
            f"({one} + {two})", f"({one} - {two})", f"({one} * {two})", f"({one} * {c})", f"({one} // {c})",
            f"({one} % {c})", f"({one} // {two})", f"({one} % {two})", f"(-{one})", f"tp.abs({one})",
            f"tp.minimum({one}, {two})", f"tp.maximum({one}, {c})", f"({one} + {c})",
        ])  # fmt: skip


@dataclass
class Run:
    """One kernel, read by the checker and run by the interpreter."""

    text: str
    account: Account
    ranges: Ranges
    stored: list[Term]
    arguments: list[Any]
    sizes: dict[str, int]

    def leaf(self, position: int, lone: Term, result: int) -> Any:
        """The values of atoms where the walker is at `position`; `lone` has the result, if it is unknown."""
        _, x, small, ids, _, _, p, w = self.arguments
        start = position - position % SIZE
        tensors = {"x": x, "small": small, "ids": ids}

        def found(atom: Atom, args: tuple[int, ...]) -> int:
            match atom:
                case DimensionExtent(name):
                    return self.sizes[name]
                case Scalar(name):
                    return int({"p": p, "w": w}[name])
                case Start(is_each=is_each):
                    return position if is_each else start
                case TileNumber():
                    return position // SIZE
                case Live():
                    return min(SIZE, self.sizes["N"] - start)
                case Lane():
                    return position - start
                case GroupOf():
                    return args[0] // (self.sizes["N"] // self.sizes["G"])
                case Read(tensor):
                    return int(tensors[tensor][args])
                case Unknown() if of(atom) == lone:
                    return result
                case other:
                    raise LookupError(other)

        return found


def run(lines: list[str], walked: str, rng: random.Random, *, kind: str = "index") -> Run:
    """A kernel that stores each of some expressions, and what came of it: of integers with numbers at their limits."""
    loop, _, at = WALKS[walked]
    text = HEAD + f'    tp.require(tp.dim("E") == {len(lines)})\n' + loop
    zero = "n * 0" if kind == "index" else f"n.to({kind}) * 0"
    text += "".join(f"        y[{number}, {at}] = ({line} + {zero}).to(i64)\n" for number, line in enumerate(lines))
    kernel = load_text(text).k
    ir = passed(accepted(kernel, {})).ir
    collector = Collector(ir)
    account = collector.collect()
    sizes = {"N": 2 * rng.randint(1, 3), "M": rng.randint(1, 4), "G": rng.choice((1, 2)), "E": len(lines)}

    def numbers(bits: int) -> list[int]:
        limits = (-(1 << bits - 1), (1 << bits - 1) - 1, -1, 0, 5) if kind != "index" else tuple(range(-9, 10))
        return [rng.choice(limits) for _ in range(sizes["N"])]

    arguments = [
        np.full((len(lines), sizes["N"]), -99, np.int64),
        np.array(numbers(32), np.int32),
        np.array(numbers(8), np.int8),
        np.array([rng.randint(-1, sizes["M"] - 1) for _ in range(sizes["N"])], np.int32),
        np.zeros(sizes["M"], np.int32),
        np.zeros(sizes["G"], np.int32),
        numbers(32)[0],
        numbers(64)[0],
    ]
    stored = [account.terms[op.value] for op in walk(ir.body) if isinstance(op, ops.Store)]
    tp.interpret(kernel, *arguments, sanitize=False)
    return Run(text, account, collector.ranges, stored, arguments, sizes)


def known(term: Term) -> bool:
    """Whether a term says what the value is."""
    return not any(isinstance(atom, Unknown) for atom in everything(term))


def atoms(formula: Formula) -> Iterator[Atom]:
    """Every atom of a formula."""
    for term in terms(formula):
        yield from everything(term)


def check(seen: Run, *, ranges: bool = True) -> None:
    """Compares every value that is known with what was computed."""
    for line, term in enumerate(seen.stored):
        for position in range(seen.sizes["N"]):
            result = int(seen.arguments[0][line, position])
            leaf = seen.leaf(position, term, result)
            if known(term):
                assert value(term, leaf) == result, f"line {line} at {position}: {term}\n{seen.text}"
            if ranges:
                bounds = seen.ranges.of(term)
                assert bounds.low <= result <= bounds.high, f"line {line} at {position}: {term}\n{seen.text}"


@pytest.mark.parametrize("walked", WALKS)
@given(st.integers(0, 1 << 40))
@settings(max_examples=examples(25), deadline=None)
def test_an_index_is_its_term(walked: str, seed: int) -> None:
    rng = random.Random(seed)
    writer = Writer(rng, walked)
    check(run([writer.index(2) for _ in range(LINES)], walked, rng))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("kind", ["i8", "i32", "i64"])
@given(st.integers(0, 1 << 40), st.sampled_from(sorted(WALKS)))
@settings(max_examples=examples(25), deadline=None)
def test_an_integer_that_may_wrap_is_no_term(kind: str, seed: int, walked: str) -> None:
    rng = random.Random(seed)
    writer = Writer(rng, walked)
    check(run([writer.whole(2, kind) for _ in range(LINES)], walked, rng, kind=kind), ranges=kind != "i64")


@pytest.mark.parametrize("walked", WALKS)
@given(st.integers(0, 1 << 40))
@settings(max_examples=examples(25), deadline=None)
def test_a_chosen_index_is_as_it_is_defined(walked: str, seed: int) -> None:
    rng = random.Random(seed)
    writer = Writer(rng, walked, choices=False)
    lines = [f"tp.where({writer.truth(1)}, {writer.index(1)}, {writer.index(1)})" for _ in range(LINES)]
    seen = run(lines, walked, rng)
    for line, term in enumerate(seen.stored):
        lone = term.lone
        facts = seen.account.definitions.get(lone.name, ()) if isinstance(lone, Unknown) else ()
        if any(isinstance(atom, Unknown) and atom != lone for fact in facts for atom in atoms(fact)):
            continue
        for position in range(seen.sizes["N"]):
            leaf = seen.leaf(position, term, int(seen.arguments[0][line, position]))
            assert all(holds(fact, leaf) for fact in facts), f"line {line} at {position}\n{seen.text}"


WRAPS = [
    "tp.abs(w)",
    "tp.abs(w) + 1",
    "w // 2 * 8",
    "p * p",
    "p + p",
    "-p",
    "tp.abs(p)",
    "p // -1",
    "small[n] + small[n]",
    "n.to(i8)",
    "w + w",
    "w * 2",
    "-w",
]
STAYS = ["small[n].to(i32) * 100", "p // 2", "p % 8", "tp.minimum(p, 7)", "n.to(i64) * 3", "small[n].to(i32) + 1000"]


def stored(expression: str) -> Term:
    """What the checker takes an expression of integers for."""
    return run([f"({expression}).to(i64)"], "each", random.Random(0), kind="i64").stored[0]


@pytest.mark.parametrize("expression", WRAPS)
def test_what_may_wrap_is_unknown(expression: str) -> None:
    assert not known(stored(expression))


@pytest.mark.parametrize("expression", STAYS)
def test_what_cannot_wrap_is_exact(expression: str) -> None:
    assert known(stored(expression))
