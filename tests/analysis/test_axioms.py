"""Every axiom is true: in worlds made at random, whatever is said of the atoms of a formula holds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meaning import floored, holds, value

from support.tiers import examples
from tileproof.analysis.axioms import Axioms
from tileproof.analysis.ranges import Range, Ranges, of_binary
from tileproof.analysis.terms import (
    LANE,
    All,
    Atom,
    AxisExtent,
    DimensionExtent,
    Fact,
    GroupOf,
    Lane,
    Least,
    Live,
    Product,
    Quotient,
    Read,
    Scalar,
    Some,
    Start,
    Term,
    TileNumber,
    Unknown,
    at_most,
    below,
    equals,
    exclusive,
    greatest,
    least,
    number,
    of,
    product,
    quotient,
    remainder,
)
from tileproof.ir.ops import BinaryFn
from tileproof.ir.types import Content
from tileproof.language.dtypes import I32

ELEMENTS: dict[str, Content | Range] = {
    "ids": Content("Index", "V", I32),
    "slots": Content("Unique", "V", I32),
    "grid": Content("Unique", "V", I32),
    "off": Content("Offsets", "N", I32),
    "bytes": Range(0, 255),
    "words": Range(-(1 << 31), (1 << 31) - 1),
}
AXES = {"grid": 2}
"""Tensors have one axis unless named here."""
EDGE = Unknown("edge", -90, 90, args=(LANE,))
OWN_EDGE = Scalar("p", -9, 9)


@dataclass
class World:
    """Extents, scalars, walkers and contents of one launch, chosen by a seed."""

    rng: random.Random
    values: dict[object, int] = field(default_factory=dict)
    tensors: dict[str, dict[tuple[int, ...], int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rng = self.rng
        self.sizes = {"N": rng.randrange(7), "V": rng.randrange(7), "M": rng.randrange(5), "G": rng.randrange(1, 4)}
        self.sizes["H"] = self.sizes["G"] * rng.randrange(4)
        self.borders = rng.randrange(1, 5) if self.sizes["N"] == 0 else rng.randrange(2, 5)
        inner = sorted(rng.randint(0, self.sizes["N"]) for _ in range(self.borders - 2))
        self.offsets = [0, *inner, self.sizes["N"]][: self.borders]
        self.free = rng.sample(range(self.sizes["V"]), self.sizes["V"])

    def leaf(self, atom: Atom, args: tuple[int, ...]) -> int:
        """The value of an atom."""
        match atom:
            case DimensionExtent(name):
                return self.sizes[name]
            case AxisExtent():
                return self.borders
            case Read(tensor, _):
                return self.element(tensor, args)
            case GroupOf(_, dimension, into):
                return floored(args[0], self.sizes[dimension] // self.sizes[into])
            case Unknown(name="edge", copy=copy):
                start = self.leaf(Start("n", True, copy), ())
                return args[0] + start if args[0] < self.leaf(OWN_EDGE, ()) else -args[0]
            case _:
                return self.values.setdefault(atom, self.chosen(atom))

    def chosen(self, atom: Atom) -> int:
        """A value that an atom may have."""
        match atom:
            case Start(walker) | TileNumber(walker) | Live(walker):
                return self.rng.randint(0, max(0, self.sizes["H" if walker.startswith("h") else "N"] - 1))
            case Scalar(_, low, high) | Unknown(_, low, high):
                return self.rng.randint(max(low, -9), min(high, 9))
            case Lane():
                return self.rng.randrange(6)
            case other:
                raise TypeError(other)

    def element(self, tensor: str, place: tuple[int, ...]) -> int:
        """What a tensor holds, as it promises; outside of it, what goes on best."""
        if tensor == "off":
            at = min(max(place[0], 0), self.borders - 1)
            return self.offsets[at]
        held = self.tensors.setdefault(tensor, {})
        if place not in held:
            match ELEMENTS[tensor]:
                case Content("Index"):
                    held[place] = self.rng.randint(-1, self.sizes["V"] - 1)
                case Content():
                    used = set(held.values())
                    left = [entry for entry in self.free if entry not in used]
                    held[place] = self.rng.choice([-1, *left])
                case Range(low, high):
                    held[place] = self.rng.choice([low, high, 0, 1, 2, 7])
        return held[place]


def axioms(world: World) -> Axioms:
    """The rules for the tensors and walkers of a world."""
    walked = {"n": of(DimensionExtent("N")), "i": of(DimensionExtent("N")), "h": of(DimensionExtent("H"))}
    ranges = Ranges(ELEMENTS, walked, lambda name: of(DimensionExtent(name)))
    start, edge, border = of(Start("n", True)), of(EDGE), of(OWN_EDGE)
    definition = Some((
        All((below(LANE, border), equals(edge, LANE + start))),
        All((at_most(border, LANE), equals(edge, -LANE))),
    ))  # fmt: skip
    return Axioms(ranges, {"edge": (definition,)}, {"off": of(AxisExtent("off", 0))})


LEAVES: list[Atom] = [
    DimensionExtent("N"), DimensionExtent("V"), DimensionExtent("M"), AxisExtent("off", 0), Scalar("p", -9, 9),
    Scalar("q", -(1 << 31), (1 << 31) - 1), Start("n", True), Start("n", True, 1), Start("i", False), Live("i"),
    TileNumber("i"), Lane("0"), Lane("0", 1), Unknown("u", -9, 9), Unknown("u", -9, 9, copy=1), Unknown("w", 0, 5),
]  # fmt: skip


def simple(rng: random.Random) -> Term:
    """A leaf, a small number, or a sum of such."""
    total = number(rng.randint(-3, 3))
    for _ in range(rng.randrange(3)):
        total = total + of(rng.choice(LEAVES)).times(rng.choice((1, 1, 1, -1, 2, 4)))
    return total


def divisor(rng: random.Random) -> Term:
    """A number of either sign or 0, an extent, or any term."""
    return rng.choice([number(rng.randint(-5, 5)), of(DimensionExtent("M")), of(OWN_EDGE), simple(rng)])


def edge(lane: Term, copy: int = 0) -> Term:
    """The unknown that has a definition, at a lane of a program."""
    return of(Unknown("edge", -90, 90, args=(lane,), copy=copy))


def of_kind(kind: str, rng: random.Random) -> Iterator[Term]:
    """Terms about which a rule says something."""
    for _ in range(rng.randint(2, 3)):
        match kind:
            case "quotient":
                yield quotient(simple(rng), divisor(rng))
            case "quotients":
                by = number(rng.randint(1, 4)) if rng.random() < 0.5 else of(DimensionExtent("M"))
                yield of(Quotient(simple(rng), by))
                yield of(Quotient(simple(rng), by))
            case "remainder":
                yield remainder(simple(rng), divisor(rng))
            case "digits":
                whole, part = (product(of(DimensionExtent("M")), number(rng.randint(1, 3))) for _ in range(2))
                top, other = simple(rng), of(rng.choice([DimensionExtent("N"), DimensionExtent("V")]))
                yield quotient(top, part)
                yield remainder(quotient(top, part), other)
                yield quotient(top, product(whole, other))
                yield product(product(whole, other), other)
            case "product":
                yield product(simple(rng), simple(rng))
            case "products":
                shared = of(rng.choice(LEAVES))
                yield of(Product(shared, simple(rng)))
                yield of(Product(simple(rng), shared))
            case "multiples":
                shared = of(rng.choice(LEAVES))
                yield of(Product(shared, simple(rng)))
                yield of(Product(of(rng.choice(LEAVES)), shared))
                yield number(rng.randint(2, 9)) - shared
            case "least":
                yield least(simple(rng), simple(rng))
                yield of(Least(simple(rng), simple(rng)))
                yield greatest(simple(rng), simple(rng))
            case "bits":
                by = rng.choice([number(rng.randint(0, 9)), of(DimensionExtent("M")), of(OWN_EDGE), simple(rng)])
                yield exclusive(simple(rng), by)
                yield exclusive(of(rng.choice(LEAVES)), by)
                yield exclusive(simple(rng), rng.choice([by, simple(rng)]))
            case "group":
                yield of(GroupOf(of(Start("h", True)), "H", "G"))
                yield of(GroupOf(rng.choice([of(Start("h", True, 1)), simple(rng)]), "H", "G"))
            case "defined":
                yield edge(rng.choice([LANE, of(Lane("0")), number(2), simple(rng)]), 0)
                yield edge(rng.choice([of(Lane(copy=1)), of(Lane("0", 1)), number(2)]), 1)
            case tensor:
                place = rng.choice((number(rng.randint(-1, 4)), of(Start("n", True)), simple(rng)))
                other = (simple(rng),) * (AXES.get(tensor, 1) - 1)
                yield of(Read(tensor, (place, *other)))
                if rng.random() < 0.3:
                    yield of(Read(tensor, (of(Read(tensor, (place, *other))), *other)))


KINDS = [
    "quotient", "quotients", "remainder", "digits", "product", "products", "multiples", "least", "bits", "group",
    "defined", *ELEMENTS,
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(0, 1 << 40))
@settings(max_examples=examples(150), deadline=None)
def test_an_axiom_holds_in_every_world(kind: str, seed: int) -> None:
    rng = random.Random(seed)
    world = World(rng)
    asked = [Fact(term) for term in of_kind(kind, rng)]
    rules = axioms(world)
    for contracts in (False, True):
        for formula in rules.about(asked, contracts):
            assert holds(formula, world.leaf), f"{formula} with {world.sizes}, {world.values}, {world.tensors}"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "group"])
@given(st.integers(0, 1 << 40))
@settings(max_examples=examples(60), deadline=None)
def test_a_range_contains_every_value(kind: str, seed: int) -> None:
    rng = random.Random(seed)
    world = World(rng)
    for term in of_kind(kind, rng):
        found, bounds = value(term, world.leaf), axioms(world).ranges.of(term)
        assert bounds.low <= found <= bounds.high


def test_intervals_of_quotients_and_remainders_contain_every_value() -> None:
    ranges = [Range(low, high) for low in range(-3, 4) for high in range(low, 4)]
    for top in ranges:
        for by in ranges:
            quotients, remainders = (of_binary(fn, top, by) for fn in (BinaryFn.FLOORDIV, BinaryFn.MOD))
            for x in range(top.low, top.high + 1):
                for y in range(by.low, by.high + 1):
                    assert quotients.contains(Range(x // y, x // y) if y else Range(0, 0))
                    assert remainders.contains(Range(x % y, x % y) if y else Range(x, x))


def test_a_quotient_by_zero_is_zero() -> None:
    assert floored(7, 0) == 0
    world = World(random.Random(0))
    world.sizes["M"] = 0
    term = quotient(number(7) + of(DimensionExtent("M")), of(DimensionExtent("M")))
    assert all(holds(formula, world.leaf) for formula in axioms(world).about([Fact(term)], True))
